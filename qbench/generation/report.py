"""What is said of a generated benchmark: some of its queries, whether rejections are normal, units nobody asks in."""

from __future__ import annotations

from collections.abc import Mapping

import polars as pl

from qbench.benchmark.benchmark import Benchmark
from qbench.benchmark.card import spread
from qbench.benchmark.types import SPLITS, Query
from qbench.generation.arithmetic import TIES
from qbench.generation.other_units import REASONS
from qbench.generation.samples import NOT_ALLOWED, SHARED

MAIN_SHARE, MAIN_COUNT = 0.05, 20
"""A main unit has this share of a corpus' mentions with a unit, and this many of them."""

MOST_QUERIES, MOST_SAMPLES = 0.3, 0.2
"""The shares of queries and of samples whose rejection for one reason is normal."""

_QUERY, _SAMPLE = "query: ", " permutation: "

_BY_DESIGN = (
    "query: its topic has enough",
    "query: no training query asks about its concept",
    "query: repeats an earlier one",
    "unit permutation: a noun or a bare number has no other unit",
    *(f"unit permutation: {reason}" for reason in (NOT_ALLOWED, SHARED, *REASONS)),
    *(f"value permutation: {reason}" for reason in TIES),
)
"""Rejections that say nothing of the text, however many there are."""


def sample_queries(benchmark: Benchmark, count: int = 10) -> list[Query]:
    """Queries at even distances, of the test split if it has enough."""
    of_split = [benchmark.queries_of(split) for split in reversed(SPLITS)]
    return spread(next((some for some in of_split if len(some) >= count), benchmark.queries), count)


def unusual(benchmark: Benchmark, rejected: Mapping[str, int]) -> dict[str, str]:
    """The reasons of rejections that are not normal, and what they mean.

    Args:
        benchmark: what was made.
        rejected: reason -> number.
    """
    drafts = len(benchmark.queries) + sum(n for reason, n in rejected.items() if reason.startswith(_QUERY))
    samples = dict(benchmark.samples.group_by("method").len().iter_rows())
    found = {}
    for reason, number in rejected.items():
        if reason == "judgment does not hold":
            found[reason] = "a label failed its second check: please report this"
        elif reason in _BY_DESIGN:
            continue
        elif reason.startswith(_QUERY) and number > MOST_QUERIES * drafts:
            found[reason] = f"of {drafts:,} queries that were tried: more text, or a lower --min-sentences, helps"
        elif _SAMPLE in reason:
            tried = samples.get(reason.partition(_SAMPLE)[0], 0) + number
            if number > MOST_SAMPLES * tried:
                found[reason] = f"of {tried:,} samples that were tried: look at some sentences and their quantities"
    return found


def unasked_units(benchmark: Benchmark) -> list[str]:
    """A warning for each main unit of the corpus in which no query asks."""
    if benchmark.quantities is None:
        return []
    asked = {condition.base_unit for query in benchmark.queries for condition in query.conditions}
    with_unit = benchmark.quantities.filter((pl.col("unit") != "") & (pl.col("family") != "count"))
    units = (
        with_unit.group_by("base_unit")
        .agg(pl.col("unit").mode().sort().first(), mentions=pl.len(), named=(pl.col("concept") != "").sum())
        .sort("mentions", "base_unit", descending=[True, False])
    )
    return [
        f"no query asks in {unit}, the unit of {count:,} of {with_unit.height:,} mentions; "
        + (f"{named:,} of these have a concept, and none is asked about" if named else "none of these has a concept")
        for base, unit, count, named in units.iter_rows()
        if base not in asked and count >= max(MAIN_COUNT, MAIN_SHARE * with_unit.height)
    ]
