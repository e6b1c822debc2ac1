"""Every query lies in one bucket of each dimension, and means are those of its bucket."""

from __future__ import annotations

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from qbench.benchmark.types import Query
from qbench.evaluation.buckets import (
    ALPHA,
    DIMENSIONS,
    MAGNITUDES,
    bucket_means,
    bucket_schema,
    magnitude,
    query_buckets,
)
from qbench.quantities.types import COMPARATORS, Condition

FAMILIES = {"kilogram": "mass", "gram": "mass", "dollar": "currency"}


OF_QUERIES = [name for name in DIMENSIONS if name != ALPHA]


def condition(comparator="=", value=5.0, unit="kilogram") -> Condition:
    return Condition(comparator, value, value, unit, unit, value, value)


def family(unit: str) -> str:
    return FAMILIES.get(unit, "")


def buckets(*queries: Query) -> dict[tuple[str, str], str]:
    return {(q, d): b for q, d, b in query_buckets(queries, family).iter_rows()}


def test_buckets_of_one_condition():
    found = buckets(Query("q", "t", conditions=(condition("<", 250.0, "dollar"),), kind="unseen"))
    assert found == {
        ("q", "comparator"): "<",
        ("q", "kind"): "unseen",
        ("q", "family"): "currency",
        ("q", "magnitude"): "100-1k",
        ("q", "constraints"): "1",
    }


def test_several_conditions_agree_or_are_mixed():
    both = (condition("<", 5.0, "kilogram"), condition("<", 7.0, "dollar"))
    found = buckets(Query("q", "t", conditions=both))
    assert found["q", "comparator"] == "<"
    assert found["q", "magnitude"] == "1-10"
    assert found["q", "family"] == "mixed"
    assert found["q", "constraints"] == "2"


def test_without_conditions_only_the_kind_is_known():
    found = buckets(Query("q", "t", kind="given"))
    assert {d: found["q", d] for d in OF_QUERIES} == {**dict.fromkeys(OF_QUERIES, "unknown"), "kind": "given"}


def test_a_bare_number_has_no_unit():
    assert buckets(Query("q", "t", conditions=(condition(unit=""),)))["q", "family"] == "no unit"


@pytest.mark.parametrize(
    ("value", "bucket"),
    [
        (0, "0"),
        (-0.0, "0"),
        (5e-324, "under 1"),
        (0.999, "under 1"),
        (1, "1-10"),
        (-9.99, "1-10"),
        (10, "10-100"),
        (999, "100-1k"),
        (1000, "1k-1M"),
        (999_999, "1k-1M"),
        (1e6, "1M up"),
        (1e300, "1M up"),
    ],
)
def test_magnitudes(value, bucket):
    assert magnitude(value) == bucket


conditions = st.builds(
    condition,
    st.sampled_from([c for c in COMPARATORS if c != "between"]),
    st.floats(-1e9, 1e9),
    st.sampled_from([*FAMILIES, "", "parsec"]),
)


@settings(max_examples=30, deadline=None)
@given(st.lists(st.lists(conditions, max_size=3).map(tuple), min_size=1, max_size=12))
def test_buckets_of_a_dimension_share_out_the_queries(drawn):
    queries = [Query(f"q{i}", "t", conditions=found) for i, found in enumerate(drawn)]
    scores = pl.DataFrame(
        {
            "label": ["s"] * len(queries),
            "query_id": [q.query_id for q in queries],
            "topic": [""] * len(queries),
            "measure": ["AP"] * len(queries),
            "value": [i / 10 for i in range(len(queries))],
        }
    )
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("qbench.evaluation.buckets.FEWEST", 1)
        means = bucket_means(scores, query_buckets(queries, family))
    assert dict(means.schema) == bucket_schema()
    assert means["topics"].equals(means["queries"], check_names=False)
    for dimension in OF_QUERIES:
        part = means.filter(dimension=dimension)
        assert part["queries"].sum() == len(queries)
        total = (part["mean"] * part["queries"]).sum()
        assert total == pytest.approx(scores["value"].sum())


def test_few_topics_have_no_mean():
    """Twelve queries: of twelve topics in one bucket, of three and a query without a topic in the other."""
    queries = [Query(f"q{i}", "t", conditions=(condition("<" if i < 12 else ">"),)) for i in range(24)]
    topics = [f"t{i}" for i in range(12)] + [f"u{i % 3}" for i in range(11)] + [""]
    columns = {"query_id": [q.query_id for q in queries], "topic": topics, "value": [i / 100 for i in range(24)]}
    scores = pl.DataFrame(columns).with_columns(label=pl.lit("s"), measure=pl.lit("AP"))
    buckets_of = query_buckets(queries, family)
    found = bucket_means(scores, buckets_of).filter(dimension="comparator")
    rows = [("<", pytest.approx(0.055), 12, 12), (">", None, 12, 4)]
    assert found.select("bucket", "mean", "queries", "topics").rows() == rows
    by_query = bucket_means(scores, buckets_of, by="query").filter(dimension="comparator", bucket=">")
    assert by_query.select("mean", "topics").row(0) == (pytest.approx(0.175), 4)


def test_means_and_their_order(monkeypatch):
    monkeypatch.setattr("qbench.evaluation.buckets.FEWEST", 1)
    queries = [
        Query("a", "t", conditions=(condition(">", 5),)),
        Query("b", "t", conditions=(condition("=", 5),)),
        Query("c", "t", conditions=(condition("=", 50),)),
        Query("d", "t"),
        Query("not scored", "t", conditions=(condition("!=", 5),)),
    ]
    rows = [
        (label, q, m, v + shift)
        for label, shift in (("second", 0.0), ("first", 0.5))
        for m in ("RR@10", "AP")
        for q, v in (("a", 0.0), ("b", 0.1), ("c", 0.3), ("d", 0.4))
    ]
    scores = pl.DataFrame(rows, schema=["label", "query_id", "measure", "value"], orient="row")
    scores = scores.with_columns(topic=pl.lit(""))
    means = bucket_means(scores, query_buckets(queries, family))
    part = means.filter(dimension="comparator")
    assert part["bucket"].unique(maintain_order=True).to_list() == ["=", ">", "unknown"]
    assert part.filter(bucket="=").select("label", "measure", "queries").rows() == [
        ("second", "RR@10", 2),
        ("second", "AP", 2),
        ("first", "RR@10", 2),
        ("first", "AP", 2),
    ]
    assert part.filter(bucket="=")["mean"].to_list() == pytest.approx([0.2, 0.2, 0.7, 0.7])
    found = means.filter(dimension="magnitude")["bucket"].unique(maintain_order=True).to_list()
    assert found == [b for b in [*MAGNITUDES, "unknown"] if b in found]
    assert means["dimension"].unique(maintain_order=True).to_list() == OF_QUERIES
