"""Tables, row by row: CSV, TSV, JSON lines (plain, gz, zst) and Parquet."""

from __future__ import annotations

import csv
import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from qbench.corpora.formats import rows_of
from qbench.corpora.streams import LONGEST_LINE, Meter, SourceFile, text_lines
from qbench.corpora.types import Problems
from qbench.errors import InputError

Row = dict[str, Any]

SUFFIXES = {
    ".csv": "csv",
    ".tsv": "tsv",
    ".jsonl": "json",
    ".ndjson": "json",
    ".json": "json",
    ".parquet": "parquet",
}
"""File name ending -> format; all but Parquet may be followed by .gz or .zst."""

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

    Raises:
        InputError: the file is missing, or of no known kind.
    """

    path: Path
    problems: Problems = field(default_factory=Problems)
    meter: Meter = field(default_factory=Meter)

    def __post_init__(self) -> None:
        if not self.path.is_file():
            raise InputError("no such table", file=self.path)
        suffixes = [suffix.lower() for suffix in self.path.suffixes]
        packed = bool(suffixes) and suffixes[-1] in (".gz", ".zst")
        kind = SUFFIXES.get(suffixes[-1 - packed]) if len(suffixes) > packed else None
        if kind is None or (packed and kind == "parquet"):
            known = ", ".join(SUFFIXES)
            raise InputError(
                "not a table that qbench reads", file=self.path, remedy=f"Known: {known}; .gz, .zst of these"
            )
        self._file = SourceFile(self.path, self.path.name, kind)

    def rows(self, problems: Problems | None = None) -> Iterator[tuple[int, Row]]:
        """The rows with their numbers, from 1; other `problems` may be told this time.

        Raises:
            InputError: the table is empty or broken, or a line cannot be read and that is fatal.
        """
        told = problems or self.problems
        self.meter.done, self.meter.total = 0, self.path.stat().st_size
        if self._file.kind == "parquet":
            rows = self._parquet()
        elif self._file.kind == "json":
            rows = self._json(told)
        else:
            rows = self._csv(told)
        number = 0
        for number, row in enumerate(rows, start=1):
            yield number, row
        if not number:
            examples = "; ".join(told.examples[:3])
            raise InputError("no row of this table can be used" if told.total else "the table has no rows",
                             file=self.path, remedy=examples or None)  # fmt: skip

    def _json(self, problems: Problems) -> Iterator[Row]:
        for number, line in text_lines(self._file, ENCODINGS, problems, self.meter):
            if not line.strip():
                continue
            try:
                row = json.loads(line)
            except (ValueError, RecursionError) as fault:
                problems.bad(
                    "bad JSON", InputError(f"not valid JSON: {fault}", file=self.path.name, line=number, value=line)
                )
                continue
            if not isinstance(row, dict):
                message = "not a JSON object; one object a line is needed"
                problems.bad("not an object", InputError(message, file=self.path.name, line=number, value=line))
                continue
            yield _flat(row)

    def _csv(self, problems: Problems) -> Iterator[Row]:
        before = csv.field_size_limit(LONGEST_LINE)
        try:
            yield from self._csv_rows(problems)
        finally:
            csv.field_size_limit(before)

    def _csv_rows(self, problems: Problems) -> Iterator[Row]:
        at = _Lines(text_lines(self._file, ENCODINGS, problems, self.meter))
        first = next(at, "")
        delimiter = "\t" if self._file.kind == "tsv" else max(",;\t|", key=first.count)
        header = [name.strip() for name in next(csv.reader([first], delimiter=delimiter), [])]
        twice = sorted({name for name in header if name and header.count(name) > 1})
        if twice:
            raise InputError("the header names a column twice", file=self.path.name, line=1, value=twice[0])
        reader = csv.reader(at, delimiter=delimiter)
        while True:
            start = at.number + 1
            try:
                cells = next(reader)
            except StopIteration:
                return
            except csv.Error as fault:
                problems.bad("bad row", InputError(f"not a readable row: {fault}", file=self.path.name, line=start))
                continue
            if len(cells) == len(header):
                yield dict(zip(header, cells, strict=True))
            elif cells:
                message = f"{len(cells)} cells in a row, and the header has {len(header)}"
                problems.bad(
                    "wrong number of cells", InputError(message, file=self.path.name, line=start, value=cells[0])
                )

    def _parquet(self) -> Iterator[Row]:
        import pyarrow as pa
        import pyarrow.parquet as pq

        try:
            with pq.ParquetFile(self.path) as table:
                self.meter.total = table.metadata.num_rows
                for batch in table.iter_batches(4096):
                    for row in rows_of(batch):
                        yield _flat(row)
                    self.meter.done += batch.num_rows
        except (pa.ArrowException, OSError) as fault:
            message = f"not a readable Parquet file: {(str(fault).splitlines() or ['damaged'])[0]}"
            raise InputError(message, file=self.path) from None


class _Lines(Iterator[str]):
    """Lines for `csv.reader`, with the number of the last one given."""

    def __init__(self, lines: Iterator[tuple[int, str]]) -> None:
        self._lines = lines
        self.number = 0

    def __next__(self) -> str:
        self.number, line = next(self._lines)
        return line + "\n"


def _flat(row: Row, prefix: str = "", depth: int = 0) -> Row:
    """Nested objects as dotted columns."""
    flat: Row = {}
    for key, value in row.items():
        if isinstance(value, dict) and depth < _DEPTH:
            flat.update(_flat(value, f"{prefix}{key}.", depth + 1))
        else:
            flat[f"{prefix}{key}"] = value
    return flat
