"""Tables, row by row: CSV, TSV, JSON lines (plain, gz, zst) and Parquet."""

from __future__ import annotations

import csv
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import chain
from pathlib import Path
from typing import Any

from qbench.corpora import formats
from qbench.corpora.formats import kind_of, rows_of
from qbench.corpora.streams import (
    Feed,
    Meter,
    SourceFile,
    csv_head,
    csv_rows,
    json_objects,
    long_cells,
    reading_parquet,
    text_lines,
    unique_names,
)
from qbench.corpora.types import Problems
from qbench.errors import InputError

Row = dict[str, Any]

SUFFIXES = tuple(name for name in formats.SUFFIXES if name != ".txt")
"""Endings of tables' names; all but Parquet may be followed by .gz or .zst."""

ENCODINGS = ("utf-8", "cp1252")
"""Tried in turn on each line."""

_DEPTH = 4
"""How deep nested objects are looked into."""


@dataclass
class Table:
    """A table on disk, which can be read more than once.

    Columns of nested objects get dotted names ("per_100g.fat"). Cells are text (CSV, TSV), or whatever JSON and Parquet
    hold. Memory does not grow with the table.

    Attributes:
        path: the file; its suffixes say what it is.
        problems: what is done with lines that cannot be read.
        meter: how far the reader is.
        line: where the row that was read last begins in the file; of Parquet, its number.

    Raises:
        InputError: the file is missing, or of no known kind.
    """

    path: Path
    problems: Problems = field(default_factory=Problems)
    meter: Meter = field(default_factory=Meter)
    line: int = field(default=0, init=False)

    def __post_init__(self) -> None:
        if not self.path.is_file():
            raise InputError("no such table", file=self.path)
        kind = kind_of(self.path)
        if kind is None or kind == "text":
            endings = ", ".join(SUFFIXES)
            raise InputError(
                "not a table that qbench reads", file=self.path, remedy=f"Known: {endings}; .gz, .zst of these"
            )
        self._file = SourceFile(self.path, self.path.name, kind)

    def rows(self, problems: Problems | None = None) -> Iterator[tuple[int, Row]]:
        """The rows with their numbers, from 1; `problems`, if given, collects bad rows instead of the table's own.

        Raises:
            InputError: the table is empty or broken, or a line cannot be read and that is fatal.
        """
        collected = problems or self.problems
        self.meter.done, self.meter.total = 0, self.path.stat().st_size
        if self._file.kind == "parquet":
            rows = self._parquet()
        elif self._file.kind == "json":
            rows = self._json(collected)
        else:
            rows = self._csv(collected)
        number = 0
        for number, row in enumerate(rows, start=1):
            yield number, row
        if not number:
            examples = "; ".join(collected.examples[:3])
            raise InputError("no row of this table can be used" if collected.total else "the table has no rows",
                             file=self.path, remedy=examples or None)  # fmt: skip

    def _json(self, problems: Problems) -> Iterator[Row]:
        numbered = text_lines(self._file, ENCODINGS, problems, self.meter)
        for line, row in json_objects(numbered, self.path.name, problems):
            self.line = line
            yield _flat(row)

    def _csv(self, problems: Problems) -> Iterator[Row]:
        feed = Feed(self._file, ENCODINGS, problems, self.meter)
        with long_cells():
            delimiter, head = csv_head(feed)
            rows = csv.reader(chain(head, feed), delimiter="\t" if self._file.kind == "tsv" else delimiter)
            try:
                header = unique_names(next(rows, []))
            except csv.Error as fault:
                raise InputError(f"not a readable header: {fault}", file=self.path.name, line=1) from None
            for _, line, row in csv_rows(feed, rows, header, line=feed.line):
                self.line = line
                yield row

    def _parquet(self) -> Iterator[Row]:
        import pyarrow.parquet as pq

        with reading_parquet(self.path), pq.ParquetFile(self.path) as table:
            self.meter.total, self.line = table.metadata.num_rows, 0
            for batch in table.iter_batches(4096):
                for row in rows_of(batch):
                    self.line += 1
                    yield _flat(row)
                self.meter.done += batch.num_rows


def _flat(row: Row, prefix: str = "", depth: int = 0) -> Row:
    """Nested objects as dotted columns."""
    flat: Row = {}
    for key, value in row.items():
        if isinstance(value, dict) and depth < _DEPTH:
            flat.update(_flat(value, f"{prefix}{key}.", depth + 1))
        else:
            flat[f"{prefix}{key}"] = value
    return flat
