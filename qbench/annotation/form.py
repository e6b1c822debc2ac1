"""What annotators judge: items, the form in which they are shown, and the CSV file of a form."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from qbench.sheets import write_sheet

KEYS = ("query_id", "doc_id")
"""Columns that identify an item in every sheet; the column of grades comes back with them."""

COMMENT = "comment"
"""The column of comments, which a sheet may lack."""

CAUSE = "cause"
"""The column of causes, in sheets whose form has some."""

UNSURE = "?"
"""The answer of an annotator who cannot tell."""

Pair = tuple[str, str]
"""Query id and document id."""

Piece = str | list[str]
"""A stretch of text: plain, or with the note on the quantity that it is ("" for none)."""


@dataclass(frozen=True, slots=True)
class Item:
    """One document to judge for one query.

    Attributes:
        query_id, doc_id: the pair.
        sources: what proposed it: `qbench.annotation.pooling.LOOK_UP`, or names of runs; annotators do not see them.
        sheet: number of its sheet, from 1; 0 for all sheets.
    """

    query_id: str
    doc_id: str
    sources: tuple[str, ...] = ()
    sheet: int = 0

    @property
    def pair(self) -> Pair:
        """Query id and document id."""
        return self.query_id, self.doc_id


class Form(Protocol):
    """How the items of one kind are shown, and what their answers are checked against.

    There is one for the queries of a benchmark (`qbench.annotation.sheet`), one for the records of a test set for
    quantity retrieval (`qbench.mining.judging`), and one for each kind of artefact whose labels are audited
    (`qbench.annotation.audit_form`, `qbench.mining.pair_audit`).

    Attributes:
        key: names the sheet; the answers that a page saves carry it.
        columns: of the CSV file; `KEYS` and `grade` are among them.
        grade, text: names of the columns of grades, and of the document's text.
        labels: of the grades on a page, from 0.
        tones: of the grades on a page, from 0: how the button of each looks, "no", "part" or "yes".
        highest: the highest grade that a CSV file may have.
        words: whether a CSV file has the labels themselves and not their numbers.
        question: what a page asks of each text.
        causes: reasons for every grade but the highest, one of which is asked for; () where none is.
    """

    key: str
    columns: tuple[str, ...]
    grade: str
    text: str
    labels: tuple[str, ...]
    tones: tuple[str, ...]
    highest: int
    words: bool
    question: str
    causes: tuple[str, ...]

    def cells(self, item: Item) -> Sequence[str]:
        """The row of an item, a cell for each column, without an answer."""
        ...

    def query(self, query_id: str) -> tuple[str, list[str]]:
        """The text of a query, and lines that explain it."""
        ...

    def claim(self, item: Item) -> str:
        """What is claimed of an item, and judged, in a sentence; "" where the question says all."""
        ...

    def document(self, item: Item) -> tuple[str, list[Piece]]:
        """The title of an item's document, "" for none, and its text."""
        ...

    def texts(self, pair: Pair) -> tuple[str, str] | None:
        """The texts of the query and the document of a pair; None where the pair is not to be judged."""
        ...

    def items(self, pairs: Collection[Pair]) -> list[Item]:
        """The items of some pairs, in the order of the sheet."""
        ...


def write_csv(form: Form, items: Sequence[Item], path: Path, extra: Mapping[str, Sequence[str]] | None = None) -> None:
    """Write items as a CSV file with empty grades.

    Args:
        form: how they are shown.
        items: in order.
        path: the file to write.
        extra: further columns, a cell for each item.
    """
    extra = extra or {}
    rows = [[*form.cells(item), *(cells[n] for cells in extra.values())] for n, item in enumerate(items)]
    write_sheet(path, [*form.columns, *extra], rows)
