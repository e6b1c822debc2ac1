"""The page that annotators work in: one file, which needs no network and sends nothing."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from qbench.annotation.candidates import Item, texts
from qbench.benchmark.card import describe
from qbench.errors import QbenchError
from qbench.pages import static_page
from qbench.sheets import LONGEST
from qbench.store import read_text

if TYPE_CHECKING:
    from qbench.benchmark.disk import Benchmark
    from qbench.benchmark.types import Query
    from qbench.quantities.types import Condition

DATA = Path(__file__).parent / "data"

_GRADES = {1: ("not relevant", "relevant"), 2: ("not relevant", "partly", "relevant")}

Piece = str | list[str]
"""A stretch of text: as it is, or with the note on the quantity that it is ("" for none)."""


def read_guideline(path: Path | None) -> str:
    """The guideline for annotators: of a file, or qbench's own.

    Lines that start with "# " are headings, with "- " points; all others are text.

    Raises:
        InputError: the file is missing or not UTF-8.
    """
    return read_text(DATA / "guideline.md" if path is None else path, "guideline")


def with_tolerance(guideline: str, tolerance: float, highest: int) -> str:
    """A guideline that says which tolerance the sheet has; as it is where there is none, or where it says it already.

    Args:
        guideline: as `read_guideline` gives it.
        tolerance: a share of the value of an "=".
        highest: the highest grade: what is near has grade 1, as in `qbench benchmark relax`.
    """
    if not tolerance:
        return guideline
    grade = f"1, {_GRADES[highest][1]}" + ("; the value itself is 2" if highest > 1 else ", as the value itself is")
    told = (
        "# The tolerance of this sheet\n\n"
        f'- "=" has a tolerance of {100 * tolerance:.6g} %: a value that is off by no more than this is near. '
        f"Near is {grade}.\n"
        "- What is near is written beside the condition of each query. All other conditions are meant as written.\n"
    )
    return guideline if told in guideline else f"{told}\n{guideline}"


def conditions(query: Query, near: Sequence[Condition] = ()) -> list[str]:
    """A query's conditions as a person would write them, each with what is near it.

    Args:
        query: any.
        near: its conditions, "=" made the range of the tolerance; () where there is none.
    """
    told = [describe(one) for one in query.conditions]
    return [
        said if wide == one else f"{said} (near: {wide.value:.6g} to {wide.high:.6g})"
        for said, one, wide in zip(told, query.conditions, near or query.conditions, strict=True)
    ]


def page(
    benchmark: Benchmark,
    queries: Mapping[str, Query],
    items: Sequence[Item],
    guideline: str,
    *,
    key: str,
    name: str,
    highest: int,
    said: Mapping[tuple[str, str], Sequence[str]] | None = None,
    near: Mapping[str, Sequence[Condition]] | None = None,
) -> str:
    """The HTML of a sheet.

    Args:
        benchmark: that the items are of.
        queries: by id.
        items: what is judged, the items of a query one after the other.
        guideline: as `read_guideline` gives it.
        key: of the sheet; answers carry it.
        name: of this page; saved answers are named by it.
        highest: the highest grade.
        said: (query, document) -> what others said, for those who settle disagreements.
        near: query -> its conditions as the tolerance widens them, where there is one.
    """
    told = texts(benchmark, items)
    mentions = _mentions(benchmark, told)
    groups: dict[str, dict[str, Any]] = {}
    for item in items:
        query = queries[item.query_id]
        group = groups.setdefault(
            item.query_id,
            {
                "id": item.query_id,
                "text": query.text,
                "asks": conditions(query, (near or {}).get(item.query_id, ())),
                "items": [],
            },
        )
        title, text = told[item.doc_id]
        units = {condition.base_unit: condition.unit for condition in query.conditions}
        shown: dict[str, Any] = {
            "id": item.doc_id,
            "text": pieces(text, _marks(mentions.get(item.doc_id, ()), units)),
        }
        if title:
            shown["title"] = title[:LONGEST]
        if said is not None:
            shown["said"] = list(said[item.query_id, item.doc_id])
        group["items"].append(shown)
    data = {
        "sheet": key,
        "name": name,
        "scale": list(_GRADES[highest]),
        "guideline": _blocks(guideline),
        "queries": list(groups.values()),
    }
    style, script = (read_text(DATA / file, "page") for file in ("page.css", "page.js"))
    return static_page(f"{name}: which texts answer the query?", style, script, data)


def pieces(text: str, marks: Sequence[tuple[int, int, str]]) -> list[Piece]:
    """A text cut at its marks; white space becomes single spaces, and a very long text is cut.

    Args:
        text: any.
        marks: half-open character spans with notes; what overlaps an earlier one is left out.

    >>> pieces("It weighs 900 g.", [(10, 15, "0.9 kilogram")])
    ['It weighs ', ['900 g', '0.9 kilogram'], '.']
    """
    parts: list[Piece] = []
    at = 0
    end = min(len(text), LONGEST)
    for start, stop, note in sorted(marks):
        if at <= start < stop <= end:
            parts += [_spaced(text[at:start]), [_spaced(text[start:stop]), note]]
            at = stop
    parts.append(_spaced(text[at:end]) + ("…" if end < len(text) else ""))
    return [part for part in parts if part]


def _spaced(text: str) -> str:
    return re.sub(r"\s+", " ", text)


def _converted(row: Mapping[str, Any], unit: str) -> str:
    """A mention's amount in another unit of its family; "" where it is in that unit."""
    from qbench.quantities.units import load_units

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


def _mentions(benchmark: Benchmark, told: Mapping[str, object]) -> dict[str, list[dict[str, Any]]]:
    import polars as pl

    if benchmark.quantities is None:
        return {}
    wanted = pl.DataFrame({"doc_id": sorted(told)}, schema={"doc_id": pl.String})
    found: dict[str, list[dict[str, Any]]] = {}
    for row in benchmark.quantities.join(wanted, on="doc_id", how="semi").iter_rows(named=True):
        found.setdefault(row["doc_id"], []).append(row)
    return found


def _marks(mentions: Sequence[Mapping[str, Any]], units: Mapping[str, str]) -> list[tuple[int, int, str]]:
    """The spans of the mentions that compare with what is asked, each with its value in the unit that is asked in.

    `units` gives that unit for each base unit.

    Whether a mention meets the condition is not shown: that is what is asked.
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


def _blocks(guideline: str) -> list[list[str]]:
    """[kind, text] of each heading ("h"), point ("l") and paragraph ("p"); a line that follows one belongs to it."""
    blocks: list[list[str]] = []
    fresh = True
    for line in map(str.strip, guideline.splitlines()):
        if line.startswith("#"):
            blocks.append(["h", line.lstrip("# ")])
        elif line.startswith("- "):
            blocks.append(["l", line[2:].strip()])
        elif line and not fresh:
            blocks[-1][1] += f" {line}"
        elif line:
            blocks.append(["p", line])
        fresh = not line or line.startswith("#")
    return blocks
