"""Evidence behind a leaderboard's scores: queries, top documents of the runs, judgments, texts."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

import polars as pl

from qbench.benchmark.types import Query
from qbench.leaderboard.pictures import Picture

HEAD = 10
"""Number of documents kept per query and run."""


@dataclass(frozen=True)
class Collection:
    """The collection that some rows of a leaderboard searched.

    Attributes:
        runs: columns label, query_id, doc_id, rank; the first `HEAD` ranks.
        qrels: columns query_id, doc_id, grade.
        corpus: columns doc_id, text, title; None if unknown.
        quantities: returns the documents' quantities (`quantity_schema`), or None if they were not extracted.
    """

    runs: pl.DataFrame
    qrels: pl.DataFrame
    corpus: pl.DataFrame | None = None
    quantities: Callable[[], pl.DataFrame | None] = lambda: None


@dataclass(frozen=True)
class Evidence:
    """Queries, buckets and searched collections of a leaderboard.

    Attributes:
        queries: the queries; empty if only their ids are known.
        buckets: columns query_id, dimension, bucket; None if they were not requested.
        collections: one for each searched benchmark or view of a test set.
        picture: why a document is the best one of a query; None for none.
    """

    queries: tuple[Query, ...] = ()
    buckets: pl.DataFrame | None = None
    collections: tuple[Collection, ...] = ()
    picture: Picture | None = None


def heads(runs: Mapping[str, pl.DataFrame] | Iterable[tuple[str, pl.DataFrame]]) -> pl.DataFrame:
    """The top `HEAD` documents per query of some runs.

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
