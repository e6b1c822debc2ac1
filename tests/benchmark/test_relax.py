"""Relaxed equality: what is near gets a grade of its own, and everything comes back."""

from __future__ import annotations

from dataclasses import replace

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from qbench.benchmark.check import check
from qbench.benchmark.disk import open_benchmark, write_benchmark
from qbench.benchmark.relax import Tolerances, relax_benchmark, strict_benchmark, widened
from qbench.benchmark.types import Query
from qbench.errors import InputError, OptionError
from qbench.evaluation.measures import score_run
from qbench.quantities.types import quantity_schema, to_row
from tests.factories import condition, frame, quantity, tiny_benchmark

SENTENCES = [
    ("e1", "Bezos has a net worth of 177 billion dollars.", "177 billion", 177e9, "dollar", "net worth"),
    ("e2", "Bezos has a net worth of 176.6 billion dollars.", "176.6 billion", 176.6e9, "dollar", "net worth"),
    ("e3", "The family net worth is 177.5 billion dollars.", "177.5 billion", 177.5e9, "dollar", "family net worth"),
    ("e4", "Sales were 177.1 billion dollars.", "177.1 billion", 177.1e9, "dollar", "sales"),
    ("e5", "A net worth of 150 billion dollars.", "150 billion", 150e9, "dollar", "net worth"),
    ("e6", "The interest rate is 1.00 percent.", "1.00", 1.0, "percentage", "interest rate"),
    ("e7", "The interest rate is 1.05 percent.", "1.05", 1.05, "percentage", "interest rate"),
    ("e8", "The room temperature was 20.3 °C.", "20.3", 20.3, "celsius", "room temperature"),
    ("e9", "The room temperature was 21 °C.", "21", 21.0, "celsius", "room temperature"),
    ("e0", "The room temperature was 20 °C.", "20", 20.0, "celsius", "room temperature"),
]
QRELS = [("w", "e1", 2), ("w", "e2", 0), ("w", "e5", 0), ("r", "e7", 2), ("t", "e0", 2), ("m", "e1", 2), ("m", "e2", 2)]


def near_benchmark():
    rows = [
        to_row(doc, quantity(text, written, value, unit, about)) for doc, text, written, value, unit, about in SENTENCES
    ]
    queries = [
        Query("w", "worth 177 billion", "net worth", (condition("net worth", "=", 177e9, "dollar"),)),
        Query("r", "rates = 1.05", "rates", (condition("interest rate", "=", 1.05, "percentage"),)),
        Query("t", "68 °F", "room", (condition("room temperature", "=", 68, "fahrenheit"),)),
        Query("m", "worth over 160 billion", "net worth", (condition("net worth", ">", 160e9, "dollar"),)),
    ]
    return replace(
        tiny_benchmark(),
        corpus=frame("corpus", [(doc, text, "", doc) for doc, text, *_ in SENTENCES]),
        queries=queries,
        qrels=frame("qrels", [*QRELS, ("m", "e3", 1)]),
        quantities=pl.DataFrame(rows, schema=quantity_schema()),
        samples=None,
        triples=None,
    )


def grades(benchmark, query_id):
    return dict(benchmark.qrels.filter(query_id=query_id).select("doc_id", "grade").iter_rows())


def test_what_is_near_has_grade_1_and_strict_grades_are_doubled():
    relaxed = relax_benchmark(near_benchmark())
    # Raised from 0, and added; another concept stays out, and so does what is far.
    assert grades(relaxed, "w") == {"e1": 4, "e2": 1, "e5": 0, "e3": 1}
    assert grades(relaxed, "r") == {"e7": 4}, "the example that DeepQuant's authors did not mark"
    assert grades(relaxed, "m") == {"e1": 4, "e2": 4, "e3": 2}
    assert relaxed.params["counts"]["relaxed"] == {
        "queries_with_a_tolerance": 3,
        "queries_with_something_near": 2,
        "judgments_raised": 1,
        "judgments_added": 2,
    }


def test_a_share_is_one_of_the_value_in_the_unit_of_the_query():
    # One percent of 68 °F is 0.68 °F, so 20.3 °C (68.54 °F) is near; it is not within one percent of 20 °C.
    assert grades(relax_benchmark(near_benchmark()), "t") == {"e0": 4, "e8": 1}


def test_it_comes_back_row_by_row(tmp_path):
    strict = write_benchmark(near_benchmark(), tmp_path / "bench")
    relaxed = write_benchmark(relax_benchmark(strict), tmp_path / "relaxed")
    assert relaxed.digest != strict.digest
    back = write_benchmark(strict_benchmark(relaxed), tmp_path / "back" / "bench")
    assert back.qrels.equals(strict.qrels)
    for path in (tmp_path / "bench").iterdir():
        assert (tmp_path / "back" / "bench" / path.name).read_bytes() == path.read_bytes()
    with pytest.raises(OptionError, match="not relaxed"):
        strict_benchmark(strict)
    with pytest.raises(OptionError, match=r"relaxed already.*--undo"):
        relax_benchmark(relaxed)


@given(
    st.lists(st.sampled_from([-1, 0, 1, 2, 3]), min_size=4, max_size=4),
    st.sampled_from([0.0, 0.002, 0.01, 0.2, 1]),
)
def test_whatever_the_grades_they_come_back(given_grades, tolerance):
    rows = [("w", doc, grade) for doc, grade in zip(("e1", "e2", "e3", "e5"), given_grades, strict=True)]
    strict = replace(near_benchmark(), qrels=frame("qrels", [("m", "e1", 2), *rows]))
    back = strict_benchmark(relax_benchmark(strict, Tolerances(tolerance)))
    assert back.qrels.equals(strict.qrels)
    assert back.params == strict.params


def test_figures_of_the_strict_judgments_are_still_there():
    strict = near_benchmark()
    relaxed = relax_benchmark(strict)
    run = frame("qrels", [("m", "e3", 0), ("m", "e1", 0), ("w", "e2", 0), ("w", "e1", 0)])
    run = run.with_columns(rank=pl.Series([1, 2, 1, 2]))
    names = ["m", "w"]
    one = score_run(run, strict.qrels, ["nDCG@10", "P@2"], names)
    two = score_run(run, relaxed.qrels, ["nDCG@10", "P(rel=2)@2"], names)
    assert one.filter(query_id="m")["value"].to_list() == pytest.approx(two.filter(query_id="m")["value"].to_list())
    assert one.filter(pl.col("measure") == "P@2")["value"].to_list() == [1.0, 0.5]
    assert two.filter(pl.col("measure").str.starts_with("P("))["value"].to_list() == [1.0, 0.5]
    assert score_run(run, relaxed.qrels, ["P@2"], ["w"])["value"].to_list() == [1.0]


def test_tolerances_of_queries_go_before_those_of_families():
    rule = Tolerances(0.01, {"currency": 0.5}, {"w": 0.001})
    assert [rule.of("w", "currency"), rule.of("x", "currency"), rule.of("x", "mass")] == [0.001, 0.5, 0.01]
    assert grades(relax_benchmark(near_benchmark(), rule), "w") == {"e1": 4, "e2": 0, "e5": 0}
    wide = Tolerances(0.0, {"currency": 0.2})
    assert grades(relax_benchmark(near_benchmark(), wide), "w") == {"e1": 4, "e2": 1, "e5": 1, "e3": 1}
    assert grades(relax_benchmark(near_benchmark(), wide), "t") == {"e0": 4}


def test_units_of_a_users_own_are_relaxed_too():
    own = replace(condition("x", "=", 5), unit="flop", base_unit="hopp", base_value=10, base_high=10)
    (wide,) = widened(Query("q", "", "", (own,)), Tolerances(0.1), {"flop": "jumps"})
    assert (wide.comparator, wide.base_value, wide.base_high) == ("between", 9.0, 11.0)


def test_a_negative_value_has_its_ends_in_order():
    cold = condition("x", "=", -10, "fahrenheit")
    (wide,) = widened(Query("q", "", "", (cold,)), Tolerances(0.1), {})
    assert (wide.value, wide.high) == (-11, -9)
    assert (wide.base_value, wide.base_high) == pytest.approx((-215 / 9, -205 / 9))
    assert widened(Query("q", "", "", (condition("x", "=", 0),)), Tolerances(0.1), {})[0].comparator == "="


def test_its_labels_are_still_checked(tmp_path):
    relaxed = write_benchmark(relax_benchmark(near_benchmark()), tmp_path / "relaxed")
    assert not [finding for finding in check(relaxed) if finding.rule.startswith("label-")]
    wrong = replace(relaxed, qrels=relaxed.qrels.with_columns(grade=pl.lit(4, pl.Int16)))
    assert "label-positive" in {finding.rule for finding in check(wrong)}
    assert "values near the one asked for" in (tmp_path / "relaxed" / "README.md").read_text(encoding="utf-8")
    assert open_benchmark(tmp_path / "relaxed").params["relaxed"]["judgments_added"] == 2


def test_what_cannot_be_relaxed_is_told():
    benchmark = near_benchmark()
    with pytest.raises(InputError, match="no quantities to compare"):
        relax_benchmark(replace(benchmark, quantities=None))
    bare = benchmark.quantities.with_columns(concept=pl.lit(""))
    with pytest.raises(InputError, match="have no concepts"):
        relax_benchmark(replace(benchmark, quantities=bare))
    plain = [replace(query, conditions=()) for query in benchmark.queries]
    with pytest.raises(InputError, match="no query of this benchmark has conditions"):
        relax_benchmark(replace(benchmark, queries=plain))
    with pytest.raises(InputError, match=r"an unknown query.*ghost"):
        relax_benchmark(benchmark, Tolerances(queries={"ghost": 0.1}))
    with pytest.raises(InputError, match=r"of no query \(found 'mass'\).*ask for .*currency"):
        relax_benchmark(benchmark, Tolerances(families={"mass": 0.1}))
    high = benchmark.qrels.with_columns(grade=pl.lit(20_000, pl.Int16))
    with pytest.raises(InputError, match="too high to be doubled"):
        relax_benchmark(replace(benchmark, qrels=high))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("default = ", "not valid TOML"),
        ("units = 3", r"unknown entry \(found 'units'\)\. Known: default, family, query"),
        ("family = 3", "family should be a table"),
        ("[family]\nmass = 2", r"t\.toml:2: family, mass lies between 0 and 1 \(found 2.0\)"),
        ("[query]\nq1 = nan", "query, q1 lies between"),
        ("default = true", "default should be a number"),
        ('[query]\nq1 = "1 %"', "query, q1 should be a number"),
    ],
)
def test_a_file_of_tolerances_that_cannot_be_read(tmp_path, text, message):
    (tmp_path / "t.toml").write_text(text)
    with pytest.raises(InputError, match=message):
        Tolerances.load(tmp_path / "t.toml")


def test_a_file_of_tolerances(tmp_path):
    (tmp_path / "t.toml").write_text('default = 0.02\n[family]\ncurrency = 0\n[query]\n"q 1" = 0.5\n')
    assert Tolerances.load(tmp_path / "t.toml") == Tolerances(0.02, {"currency": 0}, {"q 1": 0.5})
    assert Tolerances.load(tmp_path / "t.toml", 0.3).default == 0.3
