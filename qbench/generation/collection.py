"""The queries, judgments and samples of a benchmark that is being generated."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field

import numpy as np
import polars as pl
from numpy.typing import NDArray

from qbench.benchmark.judgments import Judgments
from qbench.benchmark.types import SPLITS, Query, Split, sample_schema, triple_schema
from qbench.generation.samples import Row, triples


@dataclass
class Collection:
    """What has been made so far.

    Attributes:
        queries: in the order in which they were made.
        rejected: reason -> how many.
    """

    queries: list[Query] = field(init=False, default_factory=list)
    rejected: Counter[str] = field(init=False, default_factory=Counter)
    _judged: list[tuple[str, NDArray[np.int32], NDArray[np.int8]]] = field(init=False, default_factory=list)
    _samples: list[Row] = field(init=False, default_factory=list)
    _triples: list[Row] = field(init=False, default_factory=list)
    _texts: set[str] = field(init=False, default_factory=set)
    _split_of: dict[str, Split] = field(init=False, default_factory=dict)

    def ordered(self) -> list[Query]:
        """All queries, by split, then by id."""
        return sorted(self.queries, key=lambda query: (SPLITS.index(query.split), query.query_id))

    def qrels(self, doc_ids: pl.Series) -> Judgments:
        """All judgments, by query, then in the order of the corpus, whose ids are given."""
        judged = sorted(self._judged, key=lambda item: item[0])
        return Judgments(
            [name for name, _, _ in judged],
            doc_ids,
            [docs for _, docs, _ in judged],
            [grades for _, _, grades in judged],
        )

    def samples(self) -> pl.DataFrame:
        """All samples, by query."""
        return pl.DataFrame(self._samples, schema=sample_schema()).sort("query_id", maintain_order=True)

    def triples(self) -> pl.DataFrame:
        """All triples, by query."""
        return pl.DataFrame(self._triples, schema=triple_schema()).sort("query_id", maintain_order=True)

    def _judge(self, name: str, docs: NDArray[np.int64], grades: NDArray[np.int8]) -> None:
        """Keep a query's judgments: its judged documents, ascending, and how they are judged."""
        self._judged.append((name, docs.astype(np.int32), grades.astype(np.int8)))

    def _add_samples(self, rows: list[Row]) -> None:
        self._samples += rows
        self._triples += triples(rows)
