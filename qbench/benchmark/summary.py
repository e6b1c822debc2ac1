"""Queries as people read them."""

from __future__ import annotations

from collections.abc import Sequence

from qbench.benchmark.types import Query
from qbench.quantities.mentions import asked
from qbench.store import digest


def condition_text(query: Query) -> str:
    """The conditions of a query in one line, in their units: "weight < 2 kilogram; price between 5 and 8 dollar"."""
    return "; ".join(" ".join((*condition.concept, asked(condition))) for condition in query.conditions)


def sample_queries(queries: Sequence[Query], count: int) -> list[Query]:
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
