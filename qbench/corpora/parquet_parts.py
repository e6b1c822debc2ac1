"""Rows of Parquet files, by their numbers: a worker reads those of its chunk itself, from a path or a URL."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from functools import lru_cache
from itertools import accumulate
from typing import Any, NamedTuple

from qbench.corpora.clean import checked
from qbench.corpora.fields import choose
from qbench.corpora.formats import batch_rows, rows_of, used_columns
from qbench.corpora.remote import opened_at
from qbench.corpora.streams import reading_parquet
from qbench.corpora.types import Document, Problems, ReadOptions
from qbench.errors import InputError


class Row(NamedTuple):
    """Where a document lies.

    Attributes:
        place: path or URL of a Parquet file.
        file: its name, for ids and for people.
        sha256: of its content.
        row: number of the row, from 1.
    """

    place: str
    file: str
    sha256: str
    row: int


def parts_of(rows: Sequence[Row], reading: ReadOptions) -> list[dict[str, Any]]:
    """Rows in order as parts of files, as JSON can hold them: the file, how it is read, and runs of rows."""
    parts: list[dict[str, Any]] = []
    for place, file, sha256, row in rows:
        if not parts or parts[-1]["place"] != place:
            parts.append({"place": place, "file": file, "sha256": sha256, "reading": reading.key(), "rows": []})
        runs = parts[-1]["rows"]
        if runs and runs[-1][1] == row - 1:
            runs[-1][1] = row
        else:
            runs.append([row, row])
    return parts


def read_part(part: dict[str, Any]) -> Iterator[Document]:
    """The documents of a part of a file, none of which is bad.

    Raises:
        InputError: the file cannot be read, or is not as it was.
    """
    reader = _reader(part["place"], part["file"], reading_of(part["reading"]))
    for first, last in part["rows"]:
        yield from reader.documents(first, last)


def reading_of(key: dict[str, Any]) -> ReadOptions:
    """The inverse of `ReadOptions.key`, after JSON."""
    chosen: dict[str, Any] = {name: tuple(value) if isinstance(value, list) else value for name, value in key.items()}
    return ReadOptions(**chosen)


class _Reader:
    """An open file. Rows that are asked for in ascending order are decoded once each, a batch at a time."""

    def __init__(self, place: str, file: str, reading: ReadOptions) -> None:
        import pyarrow.parquet as pq

        self._file = file
        self._open = ExitStack()
        with reading_parquet(file):
            source = self._open.enter_context(opened_at(place)) if "://" in place else place
            self._table = self._open.enter_context(pq.ParquetFile(source))
        metadata = self._table.metadata
        sizes = [metadata.row_group(i).num_rows for i in range(metadata.num_row_groups)]
        self._starts = [0, *accumulate(sizes)]
        self._fields = choose(self._table.schema_arrow.names, reading, file)
        self._group, self._batches = -1, iter(())
        # The batch that is held, and the row that it starts with, from 0.
        self._rows: list[dict[str, Any]] = []
        self._first = 0

    def documents(self, first: int, last: int) -> Iterator[Document]:
        """The documents of the rows from the first to the last one, counted from 1."""
        for row in range(first, last + 1):
            self._seek(row - 1)
            record = self._fields.record(self._file, row, row, self._rows[row - 1 - self._first])
            document = checked(record, Problems())
            if document is None:
                raise InputError("the file has changed while it was read", file=self._file, line=row)
            yield document

    def _seek(self, row: int) -> None:
        """Hold the batch with a row."""
        if not 0 <= row < self._starts[-1]:
            raise InputError("the file has changed while it was read", file=self._file, line=row + 1)
        group = bisect_right(self._starts, row) - 1
        with reading_parquet(self._file):
            if group != self._group or row < self._first:
                self._group, self._first, self._rows = group, self._starts[group], []
                self._batches = self._table.iter_batches(
                    batch_rows(self._table.metadata), row_groups=[group], columns=used_columns(self._fields)
                )
            while row >= self._first + len(self._rows):
                self._first += len(self._rows)
                self._rows = list(rows_of(next(self._batches)))


@lru_cache(maxsize=1)
def _reader(place: str, file: str, reading: ReadOptions) -> _Reader:
    return _Reader(place, file, reading)
