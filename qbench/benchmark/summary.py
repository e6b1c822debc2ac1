"""Queries as people read them, and how a notebook shows a benchmark."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from qbench.benchmark.types import Query
from qbench.pages import html_table
from qbench.quantities.types import Condition
from qbench.store import digest

if TYPE_CHECKING:
    from qbench.benchmark.benchmark import Benchmark

SHOWN = 5
"""Queries of a benchmark in a notebook."""


def condition_text(query: Query) -> str:
    """The conditions of a query in one line, in their units: "weight < 2 kilogram; price between 5 and 8 dollar"."""
    return "; ".join(_condition(condition) for condition in query.conditions)


def _condition(condition: Condition) -> str:
    comparison = f"{condition.comparator} {condition.value:,.12g}"
    if condition.comparator == "between":
        comparison = f"between {condition.value:,.12g} and {condition.high:,.12g}"
    words = (" ".join(condition.concept), condition.change, comparison, condition.unit)
    return " ".join(word for word in words if word)


def sample_queries(queries: list[Query] | tuple[Query, ...], count: int) -> list[Query]:
    """Some queries, of as many kinds as there are: kinds are the comparators of a query's conditions.

    The same queries are chosen whatever their order.

    >>> [query.query_id for query in sample_queries([Query("b", "y"), Query("a", "x"), Query("c", "")], 5)]
    ['a', 'b']
    """
    chosen: list[Query] = []
    left = sorted((query for query in queries if query.text), key=lambda query: digest(query.query_id))
    while left and len(chosen) < count:
        kinds = {tuple(condition.comparator for condition in query.conditions): query for query in reversed(left)}
        chosen += sorted(kinds.values(), key=lambda query: (len(query.conditions), query.query_id))[
            : count - len(chosen)
        ]
        ids = {query.query_id for query in chosen}
        left = [query for query in left if query.query_id not in ids]
    return chosen


def benchmark_html(benchmark: Benchmark) -> str:
    """Sizes, and some queries with their conditions and numbers of relevant documents, as HTML."""
    relevant = benchmark.qrels.filter(pl.col("grade") > 0).group_by("query_id").len()
    answers = dict(relevant.iter_rows())
    splits = {split: len(benchmark.queries_of(split)) for split in ("train", "dev", "test")}
    sizes = ", ".join(f"{count:,} {split}" for split, count in splits.items() if count)
    rows = [
        (query.text, condition_text(query), query.split, f"{answers.get(query.query_id, 0):,}")
        for query in sample_queries(benchmark.queries, SHOWN)
    ]
    caption = (
        f"{benchmark.name}: {benchmark.corpus.height:,} documents, {len(benchmark.queries):,} queries ({sizes}), "
        f"{benchmark.qrels.height:,} judgments; some of the queries"
    )
    return html_table(("query", "condition", "split", "relevant"), rows, caption=caption, numbers=(3,))
