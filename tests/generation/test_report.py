"""Which rejections are called normal, which units are missed, which queries are shown."""

from __future__ import annotations

from dataclasses import replace

import polars as pl

from qbench.generation.report import MAIN_COUNT, sample_queries, unasked_units, unusual
from tests.factories import tiny_benchmark


def test_sample_queries_are_test_queries_where_there_are_enough():
    bench = tiny_benchmark()
    many = [replace(bench.queries[0], query_id=f"t{n}", split="test") for n in range(25)]
    assert len(sample_queries(replace(bench, queries=[*bench.queries, *many]))) == 10
    assert all(query.split == "test" for query in sample_queries(replace(bench, queries=[*bench.queries, *many])))
    assert sample_queries(bench) == bench.queries


def test_rejections_by_design_are_normal_however_many():
    bench = tiny_benchmark()
    assert unusual(bench, {"query: its topic has enough": 10**6, "query: no value to ask for": 1}) == {}
    assert unusual(bench, {}) == {}


def test_many_rejections_of_queries_or_samples_and_any_of_labels_are_not():
    bench = tiny_benchmark()
    rejected = {
        "query: no value to ask for": 100,
        "judgment does not hold": 1,
        "unit permutation: positive does not satisfy": 99,
    }
    found = unusual(bench, rejected)
    assert set(found) == set(rejected)
    assert f"of {len(bench.queries) + 100} queries" in found["query: no value to ask for"]


def test_a_main_unit_without_a_query_is_missed():
    bench = tiny_benchmark()
    assert bench.quantities is not None
    row = bench.quantities.filter(pl.col("unit") != "").head(1)
    for concept, told in (("", "none of these has a concept"), ("length", f"{MAIN_COUNT} of these have a concept")):
        odd = row.with_columns(
            unit=pl.lit("lightyear"), base_unit=pl.lit("lightyear"), family=pl.lit("length"), concept=pl.lit(concept)
        )
        often = pl.concat([bench.quantities, *[odd] * MAIN_COUNT])
        (warning,) = unasked_units(replace(bench, quantities=often))
        assert warning.startswith("no query asks in lightyear")
        assert told in warning
    assert unasked_units(bench) == unasked_units(replace(bench, quantities=None)) == []
    few = pl.concat([bench.quantities, *[odd] * (MAIN_COUNT - 1)])
    assert unasked_units(replace(bench, quantities=few)) == []
