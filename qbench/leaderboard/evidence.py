"""What stands behind a leaderboard's scores: the queries, the heads of the runs, the judgments, the documents."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

import polars as pl

from qbench.benchmark.types import Query

HEAD = 10
"""Documents of each query that are kept of a run."""


@dataclass(frozen=True)
class Collection:
    """What some rows of a leaderboard searched.

    Attributes:
        runs: columns label, query_id, doc_id, rank; the first `HEAD` ranks.
        qrels: columns query_id, doc_id, grade.
        corpus: columns doc_id, text, title; None where the documents are not known.
        quantities: gives the documents' quantities (`quantity_schema`), or None where nobody extracted them.
    """

    runs: pl.DataFrame
    qrels: pl.DataFrame
    corpus: pl.DataFrame | None = None
    quantities: Callable[[], pl.DataFrame | None] = lambda: None


@dataclass(frozen=True)
class Evidence:
    """Everything that a reader can look up behind the scores.

    Attributes:
        queries: those that are known by more than their ids.
        buckets: columns query_id, dimension, bucket; None where they were not asked for.
        collections: one for each benchmark that was searched; two views of a test set are two.
    """

    queries: tuple[Query, ...] = ()
    buckets: pl.DataFrame | None = None
    collections: tuple[Collection, ...] = ()


def heads(runs: Mapping[str, pl.DataFrame] | Iterable[tuple[str, pl.DataFrame]]) -> pl.DataFrame:
    """The first `HEAD` documents of every query of some runs.

    Args:
        runs: label -> columns query_id, doc_id, rank.

    Returns:
        columns label, query_id, doc_id, rank.
    """
    columns = ("label", "query_id", "doc_id", "rank")
    parts = [
        run.filter(pl.col("rank") <= HEAD).with_columns(pl.col("rank").cast(pl.Int32), label=pl.lit(label))
        for label, run in (runs.items() if isinstance(runs, Mapping) else runs)
    ]
    if not parts:
        types = (pl.String, pl.String, pl.String, pl.Int32)
        return pl.DataFrame(schema=dict(zip(columns, types, strict=True)))
    return pl.concat([part.select(columns) for part in parts])
