"""What can be chosen when documents are grounded."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

from qbench.errors import OptionError
from qbench.options import check, option

RetrievalUnit = Literal["document", "passage", "sentence"]
Join = Literal["id", "title"]


@dataclass(frozen=True)
class GroundOptions:
    """How rows and documents are joined, and what is retrieved."""

    id_columns: tuple[str, ...] = option(
        (),
        help="Column with the ids of documents; repeat it to join several by spaces. [default: recognised]",
        flag="id",
        metavar="COLUMN",
    )
    join: Join = option("id", help="What the ids are compared with: the documents' ids, or their titles.")
    sql: str = option(
        "",
        help="Take the rows of a query: SELECT ... FROM facts, which the table is called; or of a database of SQLite "
        "(.sqlite, .db) in its place.",
        metavar="QUERY",
    )
    unit: RetrievalUnit = option("document", help="What is retrieved: whole documents, passages or sentences.")
    passage_words: int = option(100, help="Number of words from which on a passage is full.", low=1)
    carry: bool = option(True, help="Begin each passage and sentence with the title of its document.")

    def __post_init__(self) -> None:
        check(self)
        if self.unit == "document" and not self.carry:
            raise OptionError("a whole document has its title", value="--no-carry", remedy="Choose another --unit")
        if self.unit != "passage" and self.passage_words != type(self).passage_words:
            raise OptionError("only passages have a length", value="--passage-words", remedy="Add --unit passage")

    def key(self) -> dict[str, Any]:
        """For digests and manifests."""
        return {
            "id": list(self.id_columns),
            "join": self.join,
            "unit": self.unit,
            **({"sql": self.sql} if self.sql else {}),
            **({"passage_words": self.passage_words} if self.unit == "passage" else {}),
            **({"carry": self.carry} if self.unit != "document" else {}),
        }
