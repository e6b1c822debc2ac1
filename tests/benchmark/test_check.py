import dataclasses
import json

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from qbench.benchmark.benchmark import Benchmark
from qbench.benchmark.check import check, check_files
from qbench.benchmark.disk import write_benchmark
from qbench.benchmark.matching import Matcher
from qbench.benchmark.types import Query
from qbench.quantities.concept_match import concept_grade
from qbench.quantities.conditions import verdict
from qbench.quantities.types import COMPARATORS, Quantity, quantity_schema, to_row
from tests.factories import condition, frame, quantity, tiny_benchmark


def changed(**parts):
    """The tiny benchmark with some parts replaced; functions get the old part."""
    made = tiny_benchmark()
    new = {name: part(getattr(made, name)) if callable(part) else part for name, part in parts.items()}
    return dataclasses.replace(made, **new)


def rules(benchmark):
    return {(finding.rule, finding.severity, finding.where): finding for finding in check(benchmark)}


def add(table, *rows):
    return lambda old: old.vstack(frame(table, rows))


TWO = "Of two laptops one weighs 1 kg and one 1.5 kg."


def mention(doc_id, text, written, value, unit, concept):
    return to_row(doc_id, quantity(text, written, value, unit, concept))


def test_a_sound_benchmark_has_no_findings():
    assert check(tiny_benchmark()) == []


def swap_label(sample_id):
    flipped = pl.when(pl.col("sample_id") == sample_id).then(1 - pl.col("label")).otherwise("label").cast(pl.Int8)
    return lambda old: old.with_columns(label=flipped)


QUERY = tiny_benchmark().queries
BROKEN = {
    "duplicate document": (
        {"corpus": add("corpus", ("d13", "the  WEATHER was\tfine.", "", "p"))},
        ("duplicate-documents", "warning", "corpus"),
        ("d12 d13",),
    ),
    "document id used twice": (
        {"corpus": add("corpus", ("d12", "Another text.", "", "p"))},
        ("duplicate-ids", "error", "corpus"),
        ("d12",),
    ),
    "query id used twice": (
        {"queries": [*QUERY, dataclasses.replace(QUERY[3], text="other words", kind="seen")]},
        ("duplicate-ids", "error", "queries"),
        ("q4",),
    ),
    "pair judged twice": (
        {"qrels": add("qrels", ("q1", "d01", 2))},
        ("duplicate-ids", "error", "qrels"),
        ("q1 d01",),
    ),
    "sample id used twice": (
        {"samples": lambda old: old.vstack(old.head(1))},
        ("duplicate-ids", "error", "samples"),
        ("s1",),
    ),
    "query twice in one split": (
        {
            "queries": [*QUERY, dataclasses.replace(QUERY[3], query_id="q8", text="Laptop weight  over 2 kg")],
            "qrels": add("qrels", ("q8", "d03", 2)),
        },
        ("duplicate-queries", "warning", "queries"),
        ("q4 q8",),
    ),
    "empty document": (
        {"corpus": add("corpus", ("d13", " \t", "", "p"))},
        ("empty-texts", "warning", "corpus"),
        ("d13",),
    ),
    "empty query": (
        {"queries": [dataclasses.replace(QUERY[0], text=" "), *QUERY[1:]]},
        ("empty-texts", "error", "queries"),
        ("q1",),
    ),
    "infinite quantity": (
        {
            "quantities": lambda old: old.with_columns(
                high=pl.when(pl.col("doc_id") == "d05").then(float("inf")).otherwise("high")
            )
        },
        ("not-finite", "error", "quantities"),
        ("d05",),
    ),
    "sample without a number": (
        {"samples": lambda old: old.with_columns(value=pl.lit(float("nan")))},
        ("not-finite", "error", "samples"),
        ("s1", "s2", "s3", "s4"),
    ),
    "judgment of no document": (
        {"qrels": add("qrels", ("q1", "d99", 1))},
        ("dangling-ids", "error", "qrels"),
        ("d99",),
    ),
    "judgment of no query": (
        {"qrels": add("qrels", ("q99", "d01", 1))},
        ("dangling-ids", "error", "qrels"),
        ("q99",),
    ),
    "sample of no document": (
        {"samples": add("samples", ("s9", "q1", "d99", "5 kg", 0, "value", 5.0, "kilogram", 0, 1))},
        ("dangling-ids", "error", "samples"),
        ("d99",),
    ),
    "triple of no sample": (
        {"triples": add("triples", ("q1", "s1", "s99"))},
        ("dangling-ids", "error", "triples"),
        ("s99",),
    ),
    "quantity of no document": (
        {"quantities": lambda old: old.with_columns(doc_id=pl.col("doc_id").replace({"d05": "d99"}))},
        ("dangling-ids", "error", "quantities"),
        ("d99",),
    ),
    "triple with its ends swapped": (
        {"triples": add("triples", ("q1", "s2", "s1"))},
        ("broken-triples", "error", "triples"),
        None,
    ),
    "triple of two queries": (
        {"triples": add("triples", ("q1", "s1", "s4"))},
        ("broken-triples", "error", "triples"),
        ("q1 s4",),
    ),
    "query without a positive": (
        {"qrels": lambda old: old.filter(pl.col("query_id") != "q4")},
        ("queries-without-positives", "error", "queries"),
        ("q4",),
    ),
    "samples of a test query": (
        {"samples": lambda old: old.with_columns(query_id=pl.col("query_id").replace({"q2": "q4"}))},
        ("test-samples", "error", "samples"),
        ("s3", "s4"),
    ),
    "the same text in train and test": (
        {"queries": [*QUERY[:3], dataclasses.replace(QUERY[3], text="Laptop WEIGHT under 2 kg"), *QUERY[4:]]},
        ("leak-query-text", "error", "queries"),
        ("q1 q4",),
    ),
    "the same condition in train and test": (
        {
            "queries": [
                *QUERY,
                Query("q8", "light laptop", "x", (condition("laptop weight", "<", 2000, "gram"),), kind="seen"),
            ],
            "qrels": add("qrels", ("q8", "d01", 2), ("q8", "d02", 2)),
        },
        ("leak-conditions", "error", "queries"),
        ("q1 q8",),
    ),
    "a held-out concept in training": (
        {
            "queries": [
                *QUERY,
                Query("q8", "staff over 800", "staff", (condition("staff", ">", 800, "employee"),), "train", "seen"),
            ],
            "qrels": add("qrels", ("q8", "d10", 2)),
        },
        ("leak-concepts", "error", "queries"),
        ("q5 q8 staff",),
    ),
    "a sentence with a held-out concept in training": (
        {
            "samples": add(
                "samples",
                ("s9", "q1", "d11", "Corax has 40 employees in two plants.", 0, "original", 40.0, "employee", 10, 12),
            )
        },
        ("leak-held-out-sentences", "error", "samples"),
        ("s9 d11",),
    ),
    "a test positive in training": (
        {
            "samples": add(
                "samples",
                ("s9", "q1", "d08", "The profit of Corax fell to $3 million.", 0, "original", 3e6, "dollar", 29, 38),
            )
        },
        ("leak-test-positives", "error", "samples"),
        ("s9 d08",),
    ),
    "a positive that breaks the condition": (
        {"qrels": add("qrels", ("q4", "d01", 2))},
        ("label-positive", "error", "qrels"),
        ("q4 d01",),
    ),
    "a positive with another concept": (
        {"qrels": add("qrels", ("q3", "d09", 2))},
        ("label-positive", "error", "qrels"),
        ("q3 d09",),
    ),
    "a positive that meets one of two constraints": (
        {"qrels": add("qrels", ("q7", "d04", 2))},
        ("label-positive", "error", "qrels"),
        ("q7 d04",),
    ),
    "a grade of 2 for a more specific concept": (
        {
            "queries": [
                *QUERY,
                Query("q8", "income of $7m", "income", (condition("net income", "=", 7e6, "dollar"),), kind="unseen"),
            ],
            "qrels": add("qrels", ("q8", "d07", 2)),
        },
        ("label-grade", "error", "qrels"),
        ("q8 d07",),
    ),
    "a negative that meets the condition": (
        {"qrels": lambda old: old.with_columns(grade=pl.when(pl.col("doc_id") == "d09").then(0).otherwise("grade"))},
        ("label-negative", "error", "qrels"),
        ("q5 d09",),
    ),
    "a negative that may meet the condition": (
        {
            "queries": [
                *QUERY,
                Query("q8", "staff under 950", "staff", (condition("staff", "<", 950, "employee"),), kind="unseen"),
            ],
            "qrels": add("qrels", ("q8", "d09", 2), ("q8", "d11", 2), ("q8", "d10", 0)),
        },
        ("label-undecided", "error", "qrels"),
        ("q8 d10",),
    ),
    "an answer that is not judged": (
        {"qrels": lambda old: old.filter((pl.col("query_id") != "q1") | (pl.col("doc_id") != "d02"))},
        ("label-missing", "warning", "qrels"),
        ("q1 d02",),
    ),
    "a positive sample that breaks the condition": (
        {"samples": swap_label("s2")},
        ("sample-positive", "error", "samples"),
        ("s2",),
    ),
    "a negative sample that meets the condition": (
        {"samples": swap_label("s1")},
        ("sample-negative", "error", "samples"),
        ("s1",),
    ),
    "an original negative that answers by another quantity": (
        {
            "samples": add(
                "samples",
                (
                    "s9",
                    "q1",
                    "d02",
                    "The Brio laptop weighs 900 g and costs $1500.",
                    0,
                    "original",
                    1500.0,
                    "dollar",
                    40,
                    44,
                ),
            )
        },
        ("sample-negative", "error", "samples"),
        ("s9",),
    ),
    "a permuted negative whose sentence answers by another mention": (
        {
            "corpus": add("corpus", ("d13", TWO, "", "p")),
            "quantities": lambda old: old.vstack(
                pl.DataFrame(
                    [
                        mention("d13", TWO, "1 kg", 1, "kilogram", "laptop weight"),
                        mention("d13", TWO, "1.5", 1.5, "kilogram", "laptop weight"),
                    ],
                    schema=quantity_schema(),
                )
            ),
            "qrels": add("qrels", ("q1", "d13", 2)),
            "samples": add(
                "samples",
                ("s9", "q1", "d13", TWO.replace("1.5", "4.5"), 0, "value", 4.5, "kilogram", 39, 42),
            ),
        },
        ("sample-negative", "error", "samples"),
        ("s9",),
    ),
    "a permuted positive about something else": (
        {
            "samples": add(
                "samples", ("s9", "q1", "d04", "A Delta laptop sells for 1 kg.", 1, "unit", 1.0, "kilogram", 25, 26)
            )
        },
        ("sample-positive", "error", "samples"),
        ("s9",),
    ),
    "an original sample that is not the document": (
        {"samples": lambda old: old.with_columns(text=pl.col("text").str.replace("Aria", "Brio"))},
        ("sample-text", "error", "samples"),
        ("s1",),
    ),
    "a span outside the text": (
        {"samples": lambda old: old.with_columns(value_end=pl.lit(99, pl.Int32))},
        ("sample-span", "error", "samples"),
        ("s1", "s2", "s3", "s4"),
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", BROKEN.values(), ids=BROKEN.keys())
def test_each_fault_is_found(case):
    parts, key, examples = case
    found = rules(changed(**parts))
    assert key in found
    assert examples is None or set(examples) <= set(found[key].examples)
    assert found[key].count >= len(found[key].examples) > 0


def test_a_rise_is_a_negative_of_a_query_for_a_fall():
    """A rise of 7 million is no fall by less than 8 million, though 7 is less than 8."""
    text = "Acme's annual net income was $7 million."
    fall = dataclasses.replace(condition("annual net income", "<", 8e6, "dollar"), change="down")
    rise = dataclasses.replace(fall, change="up")
    for asked, faulty in ((fall, False), (rise, True)):
        made = changed(
            queries=[*QUERY, Query("q8", "change of net income", "net income", (asked,), "train", "seen")],
            samples=add("samples", ("s9", "q8", "d07", text, 0, "original", 7e6, "dollar", 30, 39)),
            quantities=lambda old: old.with_columns(
                change=pl.when(pl.col("doc_id") == "d07").then(pl.lit("up")).otherwise("change")
            ),
        )
        assert (("sample-negative", "error", "samples") in rules(made)) == faulty


def test_a_grade_may_be_lower_than_the_concepts_give():
    """The mention with the very concept may be one that is not surely bound."""
    lower = {"qrels": lambda old: old.with_columns(grade=pl.when(pl.col("grade") == 2).then(1).otherwise("grade"))}
    assert ("label-grade", "error", "qrels") not in rules(changed(**lower))


def test_a_sample_keeps_the_comparator_of_its_sentence():
    """The words "more than 900" meet "> 900", though 900 itself does not."""
    text = "Bolt employs more than 900 people."
    made = changed(
        queries=[
            *(query for query in QUERY if query.kind != "unseen" or query.split != "test"),
            Query("q8", "staff over 900", "staff", (condition("staff", ">", 900, "employee"),), "train", "seen"),
        ],
        qrels=lambda old: old.filter(pl.col("query_id") != "q5").vstack(frame("qrels", [("q8", "d10", 2)])),
        samples=add("samples", ("s9", "q8", "d10", text, 1, "original", 900.0, "employee", 23, 26)),
    )
    assert check(made) == []


def test_a_held_out_query_of_several_constraints_needs_one_new_concept():
    both = (condition("staff", "<", 300, "employee"), condition("laptop weight", "<", 9, "kilogram"))
    text = "Acme has 250 employees."
    made = changed(
        queries=[*QUERY, Query("q8", "small firms with light laptops", "x", both, kind="unseen")],
        corpus=add("corpus", ("d13", "Dorn has 90 employees and 3 kg laptops.", "", "p")),
        quantities=lambda old: old.vstack(
            pl.DataFrame(
                [
                    mention("d13", "Dorn has 90 employees and 3 kg laptops.", "90", 90, "employee", "staff"),
                    mention("d13", "Dorn has 90 employees and 3 kg laptops.", "3", 3, "kilogram", "laptop weight"),
                ],
                schema=quantity_schema(),
            )
        ),
        qrels=add("qrels", ("q8", "d13", 2), ("q4", "d13", 2)),
    )
    assert check(made) == []
    known = Query("q9", "staff over 200", "x", (condition("staff", ">", 200, "employee"),), "train", "seen")
    leaking = dataclasses.replace(
        made,
        queries=[*made.queries, known],
        qrels=made.qrels.vstack(frame("qrels", [("q9", "d09", 2), ("q9", "d10", 2)])),
        samples=made.samples.vstack(
            frame("samples", [("s9", "q9", "d09", text, 1, "original", 250.0, "employee", 9, 12)])
        ),
    )
    found = rules(leaking)
    # q8 asks for nothing new any more, and neither does q5
    assert found[("leak-concepts", "error", "queries")].examples == ("q5 q9 staff", "q8 q9 staff")
    assert found[("leak-test-positives", "error", "samples")].examples == ("s9 d09",)


def test_what_cannot_be_checked_is_said():
    made = tiny_benchmark()
    bare = dataclasses.replace(made, quantities=None)
    assert [(f.rule, f.severity) for f in check(bare)] == [("labels", "skipped")]
    plain = [Query(q.query_id, q.text, split=q.split) for q in made.queries]
    assert [(f.rule, f.severity) for f in check(dataclasses.replace(made, queries=plain))] == [("labels", "skipped")]


def test_quantities_without_concepts_are_compared_by_value_and_unit():
    found = rules(changed(quantities=lambda old: old.with_columns(concept=pl.lit(""))))
    assert ("label-concepts", "skipped", "qrels") in found
    assert not any(severity == "error" for _, severity, _ in found)


def test_labels_of_imported_benchmarks_are_warnings():
    made = changed(qrels=add("qrels", ("q4", "d01", 2)))
    imported = dataclasses.replace(made, params={"importer": "quant"})
    assert ("label-positive", "warning", "qrels") in rules(imported)
    assert not any(severity == "error" for _, severity, _ in rules(imported))


def test_examples_are_few_and_the_count_is_whole():
    made = changed(corpus=lambda old: old.vstack(frame("corpus", [(f"e{n}", "", "", "p") for n in range(30)])))
    finding = rules(made)[("empty-texts", "warning", "corpus")]
    assert finding.count == 30
    assert len(finding.examples) == 5


def test_files_that_were_edited(tmp_path):
    write_benchmark(tiny_benchmark(), tmp_path / "bench")
    assert check_files(tmp_path / "bench") == []
    path = tmp_path / "bench" / "triples.parquet"
    raw = bytearray(path.read_bytes())
    raw[10] ^= 1
    path.write_bytes(raw)
    (tmp_path / "bench" / "README.md").write_text("edited", encoding="utf-8")
    assert [finding.examples for finding in check_files(tmp_path / "bench")] == [("triples.parquet",)]


def test_findings_are_json():
    findings = check(changed(qrels=add("qrels", ("q4", "d01", 2))))
    assert json.loads(json.dumps([dataclasses.asdict(finding) for finding in findings]))


@st.composite
def tables(draw):
    """Mentions of few concepts, units and values, so that conditions hit them."""
    rows = []
    for _ in range(draw(st.integers(1, 12))):
        concept = draw(st.sampled_from([(), ("a",), ("b",), ("a", "b"), ("b", "a"), ("a", "b", "c")]))
        value = float(draw(st.integers(0, 4)))
        unit = draw(st.sampled_from(["kilogram", "dollar"]))
        comparator = draw(st.sampled_from(["=", "~", "<", "<=", ">", ">=", "between"]))
        high = value + 1 if comparator == "between" else value
        one = Quantity(value, high, comparator, unit, "f", unit, value, high, concept)
        rows.append((f"d{draw(st.integers(0, 3))}", one))
    return rows


@st.composite
def asked(draw):
    concept = draw(st.sampled_from(["", "a", "a b", "c", "a | b", "c | a b", "-", "a | -"]))
    comparator = draw(st.sampled_from(COMPARATORS))
    value = draw(st.integers(0, 4))
    high = value + 1 if comparator == "between" else None
    return condition(concept, comparator, value, draw(st.sampled_from(["kilogram", "dollar"])), high)


@settings(deadline=None)
@given(tables(), st.lists(asked(), min_size=1, max_size=2).map(tuple))
def test_the_matcher_agrees_with_one_mention_at_a_time(rows, conditions):
    table = pl.DataFrame([to_row(doc, one) for doc, one in rows], schema=quantity_schema())
    matcher = Matcher(table)
    expected = {}
    for doc in {doc for doc, _ in rows}:
        grades = []
        for one in conditions:
            best = None
            for mention_doc, quantity_ in rows:
                grade = concept_grade(one.concept, quantity_.concept) if matcher.knows_concepts else 2
                said = verdict(quantity_, one)
                if mention_doc == doc and grade > 0 and said != "broken":
                    best = max(best or 0, grade if said == "met" else 0)
            grades.append(best)
        if None not in grades:
            expected[doc] = min(grades)
    assert matcher.grades(conditions) == expected


def test_a_benchmark_of_nothing_but_a_corpus():
    corpus = frame("corpus", [("d", "text", "", "d")])
    assert [f.severity for f in check(Benchmark("b", corpus, [], frame("qrels", [])))] == ["skipped"]
