"""How the candidates of a benchmark's queries are shown: conditions, texts, and the quantities in them."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any

import polars as pl

from qbench.annotation.form import Item, Pair, Piece
from qbench.annotation.options import HIGHEST, Scale
from qbench.annotation.page import pieces
from qbench.benchmark.benchmark import Benchmark
from qbench.benchmark.card import describe
from qbench.benchmark.types import Query
from qbench.errors import QbenchError
from qbench.quantities.types import Condition
from qbench.quantities.units import load_units
from qbench.sheets import one_line

COLUMNS: tuple[str, ...] = ("query_id", "query", "condition", "doc_id", "title", "text", "grade", "comment")

LABELS: Mapping[Scale, tuple[str, ...]] = {
    "binary": ("not relevant", "relevant"),
    "graded": ("not relevant", "partly", "relevant"),
}
"""Names of the grades, from 0."""

TONES: Mapping[Scale, tuple[str, ...]] = {"binary": ("no", "yes"), "graded": ("no", "part", "yes")}
"""How the buttons of the grades look, from 0."""


class QueryForm:
    """The `qbench.annotation.form.Form` of a benchmark's queries.

    Args:
        benchmark: that the items are of.
        items: all items of the sheet, in order.
        key: of the sheet.
        scale: of the grades.
        queries: with conditions, where those of the benchmark have none.
        near: query id -> its conditions widened by the tolerance, if there is one.
    """

    columns: tuple[str, ...] = COLUMNS
    grade, text = "grade", "text"
    words = False
    question = "Which texts answer the query?"
    causes: tuple[str, ...] = ()

    def __init__(
        self,
        benchmark: Benchmark,
        items: Sequence[Item],
        *,
        key: str,
        scale: Scale,
        queries: Sequence[Query] | None = None,
        near: Mapping[str, Sequence[Condition]] | None = None,
    ) -> None:
        self.key, self.labels, self.tones, self.highest = key, LABELS[scale], TONES[scale], HIGHEST[scale]
        self._items = {item.pair: item for item in items}
        self._queries = {query.query_id: query for query in queries or benchmark.queries}
        self._near = near or {}
        wanted = pl.DataFrame({"doc_id": sorted({item.doc_id for item in items})}, schema={"doc_id": pl.String})
        rows = benchmark.corpus.join(wanted, on="doc_id", how="semi").select("doc_id", "title", "text").iter_rows()
        self._texts = {doc_id: (title, text) for doc_id, title, text in rows}
        self._mentions: dict[str, list[dict[str, Any]]] = {}
        if benchmark.quantities is not None:
            for row in benchmark.quantities.join(wanted, on="doc_id", how="semi").iter_rows(named=True):
                self._mentions.setdefault(row["doc_id"], []).append(row)

    def cells(self, item: Item) -> list[str]:
        """The row of an item."""
        text, lines = self.query(item.query_id)
        title, body = self._texts[item.doc_id]
        return [item.query_id, one_line(text), "; ".join(lines), item.doc_id, one_line(title), one_line(body), "", ""]

    def query(self, query_id: str) -> tuple[str, list[str]]:
        """A query's text and its conditions."""
        query = self._queries[query_id]
        return query.text, conditions(query, self._near.get(query_id, ()))

    def claim(self, item: Item) -> str:
        """Nothing is claimed."""
        return ""

    def document(self, item: Item) -> tuple[str, list[Piece]]:
        """A document's title and text, with the quantities that compare with those of the query marked."""
        units = {condition.base_unit: condition.unit for condition in self._queries[item.query_id].conditions}
        title, text = self._texts[item.doc_id]
        return title, pieces(text, _marks(self._mentions.get(item.doc_id, ()), units))

    def texts(self, pair: Pair) -> tuple[str, str] | None:
        """The texts of the query and the document of an item."""
        return (self._queries[pair[0]].text, self._texts[pair[1]][1]) if pair in self._items else None

    def items(self, pairs: Collection[Pair]) -> list[Item]:
        """The items of some pairs, in the order of the sheet."""
        return [item for pair, item in self._items.items() if pair in pairs]


def with_tolerance(guideline: str, tolerance: float, scale: Scale) -> str:
    """A guideline that states the tolerance of the sheet; unchanged if there is none, or if it states it already.

    Args:
        guideline: text as `qbench.annotation.page.read_guideline` returns it.
        tolerance: a share of the value of an "=".
        scale: of the grades: near values have grade 1, as in `qbench benchmark relax`.
    """
    if not tolerance:
        return guideline
    exact = "; the value itself is 2" if HIGHEST[scale] > 1 else ", as the value itself is"
    section = (
        "# The tolerance of this sheet\n\n"
        f'- "=" has a tolerance of {100 * tolerance:.6g} %: a value that is off by no more than this is near. '
        f"Near is 1, {LABELS[scale][1]}{exact}.\n"
        "- What is near is written beside the condition of each query. All other conditions are meant as written.\n"
    )
    return guideline if section in guideline else f"{section}\n{guideline}"


def conditions(query: Query, near: Sequence[Condition] = ()) -> list[str]:
    """A query's conditions as a person would write them, each with its near values.

    Args:
        query: any.
        near: its conditions, each "=" replaced by the range of the tolerance; () if there is none.
    """
    return [
        describe(condition)
        if wide == condition
        else f"{describe(condition)} (near: {wide.value:.6g} to {wide.high:.6g})"
        for condition, wide in zip(query.conditions, near or query.conditions, strict=True)
    ]


def _marks(mentions: Iterable[Mapping[str, Any]], units: Mapping[str, str]) -> list[tuple[int, int, str]]:
    """The spans of the mentions that compare with the query's conditions, each with its value in the query's unit.

    Whether a mention meets the condition is not shown: that is the question.

    Args:
        mentions: rows of the document's quantities.
        units: base unit -> unit of the query.
    """
    marks = []
    for row in mentions:
        if row["base_unit"] not in units:
            continue
        spans = [(row["value_start"], row["value_end"]), (row["unit_start"], row["unit_end"])]
        spans = [span for span in spans if 0 <= span[0] < span[1]]
        if not spans:
            continue
        note = _converted(row, units[row["base_unit"]])
        start, end = min(spans)[0], max(span[1] for span in spans)
        inside = sum(b - a for a, b in spans)
        if end - start - inside <= 1:  # value and unit stand together
            marks.append((start, end, note))
        else:
            marks += [(a, b, note if (a, b) == spans[0] else "") for a, b in spans]
    return marks


def _converted(row: Mapping[str, Any], unit: str) -> str:
    """A mention's amount in another unit of its family; "" if it is in that unit."""
    if row["unit"] == unit:
        return ""
    low, high, base = row["base_value"], row["base_high"], row["base_unit"]
    units = load_units()
    try:
        return _amount(units.convert(low, base, unit), units.convert(high, base, unit), unit)
    except QbenchError:
        # A unit of the user's own file: the base unit says it as well.
        return _amount(low, high, base)


def _amount(low: float, high: float, unit: str) -> str:
    value = f"{low:.6g}" if low == high else f"{low:.6g} to {high:.6g}"
    return f"{value} {unit}".strip()
