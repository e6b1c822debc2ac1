"""The rows of a table by the ids of the documents that they are about."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from difflib import get_close_matches
from typing import Any

from qbench.corpora.fields import IDS
from qbench.corpora.tables import Row, Table
from qbench.corpora.types import Document
from qbench.errors import InputError
from qbench.grounding.options import GroundOptions, Join
from qbench.quantities.units import Units
from qbench.synth.facts import EMPTY, Cells, Thing, ThingReader
from qbench.synth.mapping import TableMapping

EXAMPLES = 3
"""How many ids a message shows."""


@dataclass
class Rows:
    """The things of a table, by id.

    Attributes:
        things: id -> what its row says; None where several rows of that id say different things.
        columns: those that hold the id.
        cells: what became of each attribute's cells.
        skipped: reason -> number of rows left out.
        join: what the ids are compared with.
    """

    things: dict[str, Thing | None]
    columns: tuple[str, ...]
    cells: list[Cells]
    skipped: Counter[str] = field(default_factory=Counter)
    join: Join = "id"
    _met: set[str] = field(default_factory=set)

    def thing(self, document: Document) -> Thing | None:
        """The thing that a document is about; None, counted in `unmet`, where no row says so."""
        name = id_of([document.title if self.join == "title" else document.doc_id], self.join)
        thing = self.things.get(name)
        if thing is not None:
            self._met.add(name)
        return thing

    def repeated(self, document: Document) -> bool:
        """Whether several rows have a document's id, and say different things."""
        name = id_of([document.title if self.join == "title" else document.doc_id], self.join)
        return name in self.things and self.things[name] is None

    @property
    def without_document(self) -> int:
        """How many ids no document had."""
        return sum(name not in self._met for name, thing in self.things.items() if thing is not None)


def read_rows(table: Table, mapping: TableMapping, columns: tuple[str, ...], join: Join, units: Units) -> Rows:
    """Read a table's things by id.

    Rows without an id or a quantity are counted and left out; rows of one id that say the same count once.

    Args:
        table: the table.
        mapping: how it is read.
        columns: those that hold the id.
        join: what the ids are compared with.
        units: to read the cells.

    Raises:
        InputError: the table is empty or broken, or no row has both an id and a quantity.
    """
    reader = ThingReader(mapping, units)
    rows = Rows({}, columns, reader.cells, reader.skipped, join)
    for number, row in table.rows():
        name = id_of([row.get(column) for column in columns], join)
        if not name:
            rows.skipped["no id"] += 1
            continue
        thing = reader.read(number, row)
        if thing is None:
            continue
        earlier = rows.things.setdefault(name, thing)
        if earlier is not thing and (earlier is None or earlier.key != thing.key):
            rows.skipped["id of another row that says other things"] += 1
            rows.things[name] = None
        elif earlier is not thing:
            rows.skipped["same id and facts as another row"] += 1
    if not rows.things:
        reasons = ", ".join(f"{count:,} rows: {reason}" for reason, count in rows.skipped.items())
        read = zip(mapping.attributes, reader.cells, strict=True)
        columns_read = ", ".join(f"{attribute.column}: {cells.examples}" for attribute, cells in read)
        raise InputError(
            "no row of the table has an id and a quantity that can be read",
            file=table.path,
            value=f"{reasons}; {columns_read}",
            remedy="Check --id, and the mapping's columns, units and patterns",
        )
    return rows


def id_of(cells: Sequence[Any], join: Join) -> str:
    """The id that some cells hold: joined by spaces; titles are compared without case. "" for none.

    >>> id_of([7.0], "id"), id_of(["Acme", " Orbit  5"], "title"), id_of([None, "NaN"], "id")
    ('7', 'acme orbit 5', '')
    """
    parts = []
    for cell in cells:
        if isinstance(cell, float) and cell.is_integer():
            cell = int(cell)
        text = "" if cell is None or cell != cell else " ".join(str(cell).split())
        if text.lower() not in EMPTY:
            parts.append(text)
    name = " ".join(parts)
    return name.casefold() if join == "title" else name


def id_columns(options: GroundOptions, mapping: TableMapping, sample: Sequence[Row], table: Table) -> tuple[str, ...]:
    """The columns that hold the ids: those that the options name, else those that look like it.

    Raises:
        InputError: a named column is missing, or none is recognised.
    """
    columns = list(dict.fromkeys(column for row in sample for column in row))
    for name in options.id_columns:
        if name not in columns:
            near = get_close_matches(name, columns, n=1)
            hint = f"Did you mean {near[0]}? " if near else ""
            raise InputError(
                "the table has no such column, which --id names",
                file=table.path,
                value=name,
                remedy=f"{hint}It has: {', '.join(columns[:40])}",
            )
    if options.id_columns:
        return options.id_columns
    if options.join == "title" and mapping.name:
        return mapping.name
    lower = {column.lower(): column for column in reversed(columns)}
    found = [lower[name] for name in IDS if name in lower]
    found += [column for column in columns if column.lower().endswith("_id")]
    if found and options.join == "id":
        return (found[0],)
    raise InputError(
        "no column is recognised as the documents' " + ("titles" if options.join == "title" else "ids"),
        file=table.path,
        value=", ".join(columns[:40]),
        remedy="Name it with --id",
    )
