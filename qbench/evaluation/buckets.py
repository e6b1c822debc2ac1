"""Means by kind of query: which queries a system answers well.

The buckets of *Numbers Matter*, figure 1 (comparator, kind of query) and of *DeepQuant*, section 4.5 (magnitude,
comparator, and alpha, figure 6), with unit family and number of constraints beside them. In each dimension every query
lies in exactly one bucket, so that the sizes add up to the number of queries.

A mean over few topics says more of these topics than of the kind of query: a bucket with fewer than `FEWEST` has none.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable

import polars as pl

from qbench.benchmark.types import Query
from qbench.evaluation.significance import By
from qbench.quantities.types import COMPARATORS, Condition

FEWEST = 10
"""Number of topics from which a bucket has means."""

UNKNOWN = "unknown"
"""The bucket of queries without conditions."""

MIXED = "mixed"
"""The bucket of queries whose conditions differ in a dimension."""

ALPHA = "alpha"
"""The weight of a query's words in DeepQuant's score, which its model says, and not the query."""

DIMENSIONS: tuple[str, ...] = ("comparator", "kind", "family", "magnitude", "constraints", ALPHA)
"""All dimensions in their order; `query_buckets` gives all but the last."""

MAGNITUDES: tuple[str, ...] = ("0", "under 1", "1-10", "10-100", "100-1k", "1k-1M", "1M up")


def bucket_schema() -> dict[str, pl.DataType | type[pl.DataType]]:
    """Columns of `bucket_means`; a mean is null where there are too few topics."""
    return {
        "dimension": pl.String,
        "bucket": pl.String,
        "label": pl.String,
        "measure": pl.String,
        "mean": pl.Float64,
        "queries": pl.Int64,
        "topics": pl.Int64,
    }


def magnitude(value: float) -> str:
    """The bucket of a number's size, its sign left out; a lower end belongs to its bucket.

    >>> [magnitude(x) for x in (0, -0.5, 1, 99.9, 1e6)]
    ['0', 'under 1', '1-10', '10-100', '1M up']
    """
    size = abs(value)
    if size == 0:
        return MAGNITUDES[0]
    edges = (1.0, 10.0, 100.0, 1_000.0, 1_000_000.0, math.inf)
    return MAGNITUDES[1 + next(i for i, edge in enumerate(edges) if size < edge)]


def quarter(share: float) -> str:
    """The quarter of [0, 1] that a share lies in; a lower end belongs to its quarter.

    >>> [quarter(x) for x in (0.0, 0.25, 0.74, 1.0)]
    ['0-0.25', '0.25-0.5', '0.5-0.75', '0.75-1']
    """
    names = ("0-0.25", "0.25-0.5", "0.5-0.75", "0.75-1")
    return names[min(int(4 * share), 3)]


def query_buckets(queries: Iterable[Query], family: Callable[[str], str]) -> pl.DataFrame:
    """The buckets of each query.

    Args:
        queries: with conditions; magnitudes are of values in the unit of the query (the lower end of a range).
        family: maps a unit's canonical name to its family, "" for none.

    Returns:
        columns query_id, dimension, bucket; one row per query and dimension.
    """
    rows: list[tuple[str, str, str]] = []
    for query in queries:
        conditions = query.conditions
        buckets = {
            "comparator": _common(conditions, lambda c: c.comparator),
            "kind": query.kind,
            "family": _common(conditions, lambda c: family(c.unit) or "no unit"),
            "magnitude": _common(conditions, lambda c: magnitude(c.value)),
            "constraints": str(len(conditions)) if conditions else UNKNOWN,
        }
        rows.extend((query.query_id, dimension, bucket) for dimension, bucket in buckets.items())
    return pl.DataFrame(rows, schema=["query_id", "dimension", "bucket"], orient="row")


def bucket_means(scores: pl.DataFrame, buckets: pl.DataFrame, by: By = "topic") -> pl.DataFrame:
    """The mean of each measure for each system in each bucket.

    Args:
        scores: columns label, query_id, measure, value, and topic ("" for a query that is a topic of its own).
        buckets: as `query_buckets` returns them; queries without a score are left out.
        by: whether `FEWEST` counts topics or queries.

    Returns:
        `bucket_schema`, ordered by dimension, bucket (in the natural order of each dimension), label, measure as they
        first appear in `scores`.
    """
    first = {name: scores[name].unique(maintain_order=True).to_list() for name in ("label", "measure")}
    topics = pl.struct("topic", pl.when(pl.col("topic") == "").then("query_id")).n_unique()
    enough = pl.col("topics" if by == "topic" else "queries") >= FEWEST
    means = (
        scores.join(buckets, on="query_id")
        .group_by("dimension", "bucket", "label", "measure")
        .agg(
            pl.col("value").sort().mean().alias("mean"),
            pl.len().cast(pl.Int64).alias("queries"),
            topics.cast(pl.Int64).alias("topics"),
        )
        .with_columns(pl.when(enough).then("mean").alias("mean"))
    )
    rows = sorted(
        means.select(list(bucket_schema())).rows(),
        key=lambda row: (
            DIMENSIONS.index(row[0]),
            _order(row[1]),
            first["label"].index(row[2]),
            first["measure"].index(row[3]),
        ),
    )
    return pl.DataFrame(rows, schema=bucket_schema(), orient="row")


def _common(conditions: tuple[Condition, ...], of: Callable[[Condition], str]) -> str:
    values = {of(condition) for condition in conditions}
    return UNKNOWN if not values else values.pop() if len(values) == 1 else MIXED


def _order(bucket: str) -> tuple[int, int, str]:
    """Sort key: comparators and magnitudes in their own order, other names alphabetically, mixed and unknown last."""
    if bucket in (MIXED, UNKNOWN):
        return (1, (MIXED, UNKNOWN).index(bucket), bucket)
    for names in (COMPARATORS, MAGNITUDES):
        if bucket in names:
            return (0, names.index(bucket), bucket)
    return (0, 0, bucket)
