"""What grounding found: coverage of each column, and every disagreement between text and table."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from qbench.errors import InputError
from qbench.index.facts import STATUSES, Status
from qbench.index.show import aligned, number, unit_name
from qbench.sheets import one_line, write_sheet
from qbench.store import read_json, write_json, write_text
from qbench.synth.mapping import TableMapping

REPORT_MD, REPORT_JSON, DISAGREEMENTS = "report.md", "report.json", "disagreements.csv"
"""Files of the report in the index's folder."""

SHOWN = 200
"""How many disagreements report.md shows; the others are in the CSV file."""

COLUMNS = ("document", "title", "column", "table", "unit", "text says", "passage")


def read_report(folder: Path) -> list[tuple[str, ...]]:
    """The disagreements of a grounded index, a row of `COLUMNS` first; [] where there are none.

    Raises:
        InputError: the report is missing or damaged.
    """
    try:
        rows = read_json(folder / REPORT_JSON)["disagreements"]
        return [COLUMNS, *(tuple(str(row[column]) for column in COLUMNS) for row in rows)] if rows else []
    except (KeyError, TypeError) as fault:
        message = "not a report of disagreements"
        raise InputError(
            message, file=folder / REPORT_JSON, value=str(fault), remedy="Ground the table again"
        ) from None


@dataclass(frozen=True, slots=True)
class Disagreement:
    """A fact of which the text says another value.

    Attributes:
        source_id, title: the document.
        attribute: number of the mapping's attribute.
        value, unit: the table's.
        words: what the text says instead.
        context: the text around it.
    """

    source_id: str
    title: str
    attribute: int
    value: float
    unit: str
    words: str
    context: str


@dataclass
class Report:
    """Counts by attribute and status, and the disagreements, in the order of the corpus."""

    mapping: TableMapping
    counts: list[Counter[Status]] = field(default_factory=list)
    disagreements: list[Disagreement] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.counts = [Counter() for _ in self.mapping.attributes]

    def coverage(self) -> list[dict[str, Any]]:
        """One entry per attribute: its column and name, and the number of facts by status."""
        return [
            {"column": attribute.column, "name": attribute.name, "facts": sum(counts.values())}
            | {status: counts[status] for status in STATUSES}
            for attribute, counts in zip(self.mapping.attributes, self.counts, strict=True)
        ]

    def summary(self) -> dict[str, Any]:
        """What the manifest says: the coverage, and the number of disagreements."""
        return {"coverage": self.coverage(), "disagreements": len(self.disagreements)}

    def rows(self) -> list[tuple[str, ...]]:
        """The disagreements as cells of `COLUMNS`."""
        return [
            (
                each.source_id,
                each.title,
                self.mapping.attributes[each.attribute].column,
                number(each.value),
                unit_name(each.unit),
                one_line(each.words),
                one_line(each.context),
            )
            for each in self.disagreements
        ]

    def write(self, folder: Path, counts: dict[str, Any]) -> None:
        """Write the report's three files."""
        rows = self.rows()
        write_sheet(folder / DISAGREEMENTS, COLUMNS, rows)
        named = [dict(zip(COLUMNS, row, strict=True)) for row in rows]
        write_json(folder / REPORT_JSON, {**counts, "coverage": self.coverage(), "disagreements": named})
        write_text(folder / REPORT_MD, self._markdown(rows, counts))

    def _markdown(self, rows: Sequence[Sequence[str]], counts: dict[str, Any]) -> str:
        lines = ["# What the documents say of the table's facts", ""]
        lines += [f"{counts['grounded']:,} documents of {counts['read']:,} have a row. Coverage by column:", ""]
        lines += ["    " + line for line in coverage_lines(self.coverage())]
        lines += ["", f"## {len(rows):,} disagreements", ""]
        shown = [COLUMNS[:-1], *(row[:-1] for row in rows[:SHOWN])]
        # Indented, as the lines are texts of the user's: nothing in them is markup.
        short = [[one_line(cell)[:60] for cell in row] for row in shown]
        lines += ["    " + line for line in aligned(short, right=(3,))]
        if len(rows) > SHOWN:
            lines += ["", f"The first {SHOWN} are shown; all of them are in {DISAGREEMENTS}."]
        return "\n".join(lines) + "\n"


def coverage_lines(coverage: Sequence[dict[str, Any]]) -> list[str]:
    """Coverage as a table of plain text; shares are of the facts."""
    table = [["column", "facts", *STATUSES, "stated"]]
    for row in coverage:
        share = f"{100 * row['stated'] / row['facts']:.1f} %" if row["facts"] else "-"
        name = row["column"] if row["name"] == row["column"] else f"{row['column']} ({row['name']})"
        table.append([name, f"{row['facts']:,}", *(f"{row[status]:,}" for status in STATUSES), share])
    return aligned(table, right=range(1, len(STATUSES) + 3))
