"""Judgments as numbers: a query of a large corpus may have millions, whose ids would fill the memory."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np
import polars as pl
from numpy.typing import NDArray
from polars.io.plugins import register_io_source

from qbench.benchmark.types import qrels_schema
from qbench.errors import InputError

ROWS = 122_880
"""About how many judgments a block has: as many as a row group that polars makes of a table, for the same bytes."""


@dataclass(frozen=True, eq=False)
class Judgments:
    """The graded judgments of queries, five bytes each; their ids are looked up block by block.

    Called, it gives them as one table (`qrels_schema`), which takes some sixty bytes a judgment.

    Attributes:
        queries: ids of queries, in the order of the table.
        doc_ids: ids of all documents.
        docs: of each query, shape (judged,), the judged documents, as rows of `doc_ids`, ascending.
        grades: of each query, shape (judged,).

    Raises:
        InputError: a query has two judgments of one document, or stands there twice.
    """

    queries: Sequence[str]
    doc_ids: pl.Series
    docs: Sequence[NDArray[np.int32]]
    grades: Sequence[NDArray[np.int8]]

    def __post_init__(self) -> None:
        for name, docs in zip(self.queries, self.docs, strict=True):
            if (np.diff(docs) <= 0).any():
                raise InputError("a query's judged documents should ascend, each once", file="qrels", value=name)
        if len(set(self.queries)) < len(self.queries):
            raise InputError("the judgments of a query should stand together", file="qrels")

    @cached_property
    def _ends(self) -> NDArray[np.int64]:
        """Shape (queries,): how many judgments there are up to each query's last."""
        return np.cumsum([docs.size for docs in self.docs], dtype=np.int64)

    @property
    def height(self) -> int:
        """How many judgments there are."""
        return int(self._ends[-1]) if self._ends.size else 0

    def __call__(self) -> pl.DataFrame:
        """All of them."""
        return self.scan().collect()

    def of(self, query_ids: Collection[str]) -> pl.DataFrame:
        """Those of some queries, in the order of the table."""
        wanted = set(query_ids)
        places = [place for place, name in enumerate(self.queries) if name in wanted]
        return Judgments(
            [self.queries[place] for place in places],
            self.doc_ids,
            [self.docs[place] for place in places],
            [self.grades[place] for place in places],
        )()

    def scan(self) -> pl.LazyFrame:
        """All of them, made block by block as they are used."""

        def blocks(
            columns: list[str] | None, predicate: pl.Expr | None, rows: int | None, _: int | None
        ) -> Iterator[pl.DataFrame]:
            for start, end in _cut(self.height if rows is None else min(rows, self.height)):
                block = self._block(start, end, columns or list(qrels_schema()))
                yield block if predicate is None else block.filter(predicate)

        return register_io_source(blocks, schema=qrels_schema())

    def named(self, column: str) -> pl.Series:
        """The distinct ids of a column (query_id, doc_id) that have a judgment."""
        if column == "query_id":
            judged = [name for name, docs in zip(self.queries, self.docs, strict=True) if docs.size]
            return pl.Series(column, judged, dtype=pl.String)
        found = np.zeros(self.doc_ids.len(), dtype=bool)
        for docs in self.docs:
            found[docs] = True
        return self.doc_ids.filter(pl.Series(found)).alias(column)

    def write(self, path: Path) -> None:
        """Write them as a Parquet file, with the bytes that the table would have."""
        self.scan().sink_parquet(path, compression="zstd", statistics=True)

    def _block(self, start: int, end: int, columns: Sequence[str]) -> pl.DataFrame:
        """Some columns of the rows from `start` up to `end`."""
        first, last = (int(place) for place in np.searchsorted(self._ends, [start, end - 1], side="right"))
        numbers = range(first, min(last + 1, len(self.queries)))
        within = [
            slice(max(0, start - int(self._ends[number]) + self.docs[number].size), self.docs[number].size)
            for number in numbers
        ]
        sizes = [piece.stop - piece.start for piece in within]

        def joined(arrays: Sequence[NDArray[np.int32]] | Sequence[NDArray[np.int8]], dtype: type) -> pl.Series:
            pieces = [arrays[number][piece] for number, piece in zip(numbers, within, strict=True)]
            return pl.Series(np.concatenate([np.empty(0, dtype), *pieces])[: end - start])

        names = pl.Series([self.queries[number] for number in numbers], dtype=pl.String)
        makers = {
            "query_id": lambda: names.gather(np.repeat(np.arange(len(sizes)), sizes)[: end - start]),
            "doc_id": lambda: self.doc_ids.gather(joined(self.docs, np.int32)),
            "grade": lambda: joined(self.grades, np.int8).cast(pl.Int16),
        }
        return pl.DataFrame({column: makers[column]() for column in columns})


def _cut(rows: int) -> Iterator[tuple[int, int]]:
    """The start and end of blocks as near to `ROWS` as can be, one at least; the first ones may have one row more.

    >>> list(_cut(200_001))
    [(0, 100001), (100001, 200001)]
    """
    number = max(1, rows // ROWS)
    number += rows / number - ROWS > ROWS - rows / (number + 1)
    size, larger = divmod(rows, number)
    for block in range(number):
        start = block * size + min(block, larger)
        yield start, start + size + (block < larger)
