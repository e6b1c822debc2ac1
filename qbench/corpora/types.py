"""Documents, as readers return them; options of readers, and the handling of bad records."""

from __future__ import annotations

import codecs
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any, Literal, NamedTuple

from qbench.errors import InputError, OptionError
from qbench.options import option
from qbench.quantities.types import Quantity

OnError = Literal["skip", "fail"]

EXAMPLES = 10
"""How many messages of left-out records are kept."""

HOPELESS = 1_000
"""A source whose first records, so many, are all bad is not read to its end."""


@dataclass(frozen=True, slots=True)
class Document:
    """One document of a corpus.

    Attributes:
        doc_id: unique in its source.
        text: cleaned (`qbench.corpora.clean.clean_text`), as long as what the source holds but where a wrong decoding
            was undone (`qbench.quantities.decoding`).
        title: "" where there is none.
        quantities: the quantities that came with the document, spans into `text`; None where none were given.
    """

    doc_id: str
    text: str
    title: str = ""
    quantities: tuple[Quantity, ...] | None = None


@dataclass(frozen=True)
class ReadOptions:
    """How a source is read.

    Fields may be named by the 1-based numbers of columns of a CSV or TSV file without a header. Several text fields are
    joined by a blank line.

    Raises:
        OptionError: an encoding is unknown, or cannot be cut into lines byte by byte (UTF-16, UTF-32).
    """

    id_field: str | None = option(None, help="Field of the id. [default: recognised, else FILE#ROW]")
    text_fields: tuple[str, ...] = option(
        (), help="Field of the text; repeat it to join several. [default: recognised]", flag="text-field"
    )
    title_field: str | None = option(None, help="Field of the title. [default: recognised]")
    encodings: tuple[str, ...] = option(
        ("utf-8",), help="Encoding; repeat it to try several on each line. [default: utf-8]", flag="encoding"
    )

    def __post_init__(self) -> None:
        if not self.encodings:
            raise OptionError("at least one encoding is needed", remedy="The default is utf-8")
        for name in self.encodings:
            try:
                plain = codecs.lookup(name).encode("\n,a")[0] == b"\n,a"
            except (LookupError, ValueError):
                raise OptionError("unknown encoding", value=name, remedy="Examples: utf-8, cp1252, latin-1") from None
            if not plain:
                raise OptionError(
                    "this encoding cannot be read line by line", value=name, remedy="Convert the file to UTF-8 first"
                )

    def key(self) -> dict[str, Any]:
        """For digests and manifests."""
        return asdict(self)


class Record(NamedTuple):
    """What a reader found, before anything is checked.

    Attributes:
        file: name of the file, or of the part of a data set.
        row: 1-based number that makes a stable id where the source gives none.
        line: 1-based line (or row, where there are no lines) for a person who wants to look.
        doc_id, title: as found; None where the source has no such field.
        texts: the text fields as found; None where one is missing in this record.
        has_ids: whether the source gives ids.
    """

    file: str
    row: int
    line: int
    doc_id: object
    texts: tuple[object, ...]
    title: object
    has_ids: bool


class Problems:
    """What is done with a record that cannot be used: "fail" stops at it, "skip" leaves it out and counts it.

    Attributes:
        counts: reason -> number of records left out.
        notes: reason -> number of records that were repaired and used.
        used: number of records that were used.
        examples: the first messages, for a person.
    """

    def __init__(self, on_error: OnError = "skip") -> None:
        if on_error not in ("skip", "fail"):
            raise OptionError("unknown way to handle bad records", value=on_error, remedy="Use skip or fail")
        self.on_error = on_error
        self.counts: dict[str, int] = {}
        self.notes: dict[str, int] = {}
        self.used = 0
        self.examples: list[str] = []

    def bad(self, reason: str, error: InputError) -> None:
        """One record cannot be used.

        Raises:
            InputError: `error`, where bad records are fatal, or nothing but bad records was found so far.
        """
        if self.on_error == "fail":
            raise error
        self.left_out(reason, message=str(error))
        if not self.used and self.total >= HOPELESS:
            raise InputError(f"none of the first {HOPELESS:,} records is usable", remedy="; ".join(self.examples[:3]))

    def left_out(self, reason: str, count: int = 1, message: str = "") -> None:
        """Something is left out, and that is never fatal."""
        if count:
            self.counts[reason] = self.counts.get(reason, 0) + count
        self._keep(message)

    def note(self, reason: str, message: str = "") -> None:
        """A record was used, repaired or with a remark; never fatal."""
        self.notes[reason] = self.notes.get(reason, 0) + 1
        self._keep(message)

    def summary(self) -> dict[str, Any]:
        """What a manifest says of them."""
        return {
            "bad": dict(sorted(self.counts.items())),
            "bad_examples": self.examples,
            "mended": dict(sorted(self.notes.items())),
        }

    @property
    def total(self) -> int:
        """Number of records left out."""
        return sum(self.counts.values())

    def _keep(self, message: str) -> None:
        if message and len(self.examples) < EXAMPLES:
            self.examples.append(message)


class Fields(NamedTuple):
    """Which fields of a record hold what; `text` is never empty."""

    doc_id: str | None
    text: tuple[str, ...]
    title: str | None

    def record(self, file: str, row: int, line: int, values: Mapping[str, object]) -> Record:
        """Take the fields out of one record."""
        return Record(
            file,
            row,
            line,
            None if self.doc_id is None else values.get(self.doc_id),
            tuple(values.get(name) for name in self.text),
            None if self.title is None else values.get(self.title),
            self.doc_id is not None,
        )
