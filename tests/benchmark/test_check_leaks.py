import dataclasses

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from qbench.benchmark.benchmark import Benchmark
from qbench.benchmark.check import check
from qbench.benchmark.check_leaks import _Holders
from qbench.benchmark.types import Query
from qbench.quantities.concept_match import folded
from qbench.quantities.types import quantity_schema, to_row
from tests.factories import condition, frame, quantity

LEAKS = ("leak-concepts", "leak-held-out-sentences", "leak-test-positives", "leak-conditions", "kind-seen")


def asks(query_id, *concepts, split="test", kind="unseen", value=5.0):
    conditions = tuple(condition(concept, "<", value, "kilogram") for concept in concepts)
    return Query(query_id, f"text of {query_id}", "x", conditions, split, kind)


def of(queries, mentions=(), samples=(), **more):
    """A benchmark of queries; of sentences with mentions of concepts; of samples (query, sentence)."""
    text = "It has 5 kg."
    mentions = [*mentions, ("d9", "plant colour")]
    corpus = [(doc_id, text, "", "p") for doc_id in dict(mentions)]
    rows = [to_row(doc_id, quantity(text, "5", 5, "kilogram", concept)) for doc_id, concept in mentions]
    drawn = [
        (f"s{n}", query_id, doc_id, text, 1, "original", 5.0, "kilogram", 7, 8)
        for n, (query_id, doc_id) in enumerate(samples)
    ]
    return Benchmark(
        "made",
        frame("corpus", corpus),
        queries,
        frame("qrels", []),
        quantities=pl.DataFrame(rows, schema=quantity_schema()),
        samples=frame("samples", drawn),
        **more,
    )


def leaks(benchmark):
    return {f.rule: (f.severity, f.count, f.examples) for f in check(benchmark) if f.rule in LEAKS}


TRAIN = asks("t1", "plant output", split="train", kind="seen", value=9.0)


@pytest.mark.parametrize("trained", ["control group", "control groups", "group control", "Groups Control"])
@pytest.mark.parametrize("kind", ["unseen", "expansion", "wo_surface"])
def test_training_must_not_ask_for_a_held_out_concept_in_any_form(trained, kind):
    made = of([asks("t2", trained, split="train", kind="seen", value=7.0), asks("q1", "control group", kind=kind)])
    assert leaks(made) == {"leak-concepts": ("error", 1, ("q1 t2 control group",))}


@pytest.mark.parametrize("trained", ["control groups", "group of controls", "placebo group | control group"])
def test_training_must_not_ask_for_a_more_specific_concept(trained):
    made = of([asks("t2", trained, split="train", kind="expansion", value=7.0), asks("q1", "group")])
    assert leaks(made) == {"leak-concepts": ("error", 1, ("q1 t2 group",))}


@pytest.mark.parametrize(
    "trained",
    [
        "control",
        "output",
        "control arm",
        "controlled group",
        # its samples may show the other alternative, and generation sees to it that they do
        "control group size | placebo arm",
    ],
)
def test_training_may_ask_for_a_wider_concept_or_another_one(trained):
    made = of([asks("t2", trained, split="train", kind="seen", value=7.0), asks("q1", "control group")])
    assert leaks(made) == {}


def test_an_alternative_of_a_held_out_query_is_held_out_too():
    made = of(
        [TRAIN, asks("t2", "profits", split="train", kind="seen", value=7.0), asks("q1", "net income | profit")],
        mentions=[("d1", "incomes net")],
        samples=[("t1", "d1")],
    )
    assert leaks(made) == {"leak-concepts": ("error", 1, ("q1 t2 net income | profit",))}
    made = dataclasses.replace(made, queries=[TRAIN, *made.queries[2:]])
    assert leaks(made) == {"leak-held-out-sentences": ("error", 1, ("s0 d1",))}


@pytest.mark.parametrize(
    "mentioned", ["control group", "control groups", "group control", "Control Group", "size of the control groups"]
)
def test_no_training_sentence_holds_a_held_out_concept_in_any_form(mentioned):
    made = of(
        [TRAIN, asks("q1", "control group")],
        mentions=[("d1", mentioned), ("d2", mentioned), ("d3", "plant output")],
        samples=[("t1", "d1"), ("t1", "d3")],
    )
    assert leaks(made) == {"leak-held-out-sentences": ("error", 1, ("s0 d1",))}


@pytest.mark.parametrize("mentioned", ["control", "group", "controlled group", "plant output", ""])
def test_a_training_sentence_may_hold_a_wider_concept(mentioned):
    made = of([TRAIN, asks("q1", "control group")], mentions=[("d1", mentioned)], samples=[("t1", "d1")])
    assert leaks(made) == {}


words = st.frozensets(st.sampled_from("abcdef"), max_size=4)


@given(st.lists(words, max_size=6), words)
def test_looking_up_holders_is_comparing_with_all(wanted, concept):
    assert _Holders(wanted).held_by(concept) == any(one and one <= concept for one in wanted)


concept_words = st.lists(st.sampled_from(["plant", "output", "company", "box", "price"]), min_size=1, max_size=4)


@given(concept_words, st.randoms(use_true_random=False))
def test_folding_forgets_order_number_and_case(concept, random):
    plural = {"company": "companies", "box": "boxes"}
    other = [random.choice([word, word.upper(), plural.get(word, f"{word}s")]) for word in concept]
    random.shuffle(other)
    assert folded(other) == folded(concept) == set(concept)


def test_what_is_said_to_be_seen_is_in_training():
    seen = [
        asks("q1", "plant outputs", kind="seen"),
        asks("q2", "output plant", "staff", kind="seen"),
        asks("q3", "plant", kind="seen"),
        asks("q4", "yearly plant output", kind="seen"),
        asks("q5", "", kind="seen"),
    ]
    expected = {"kind-seen": ("error", 3, ("q2 staff", "q3 plant", "q4 yearly plant output"))}
    assert leaks(of([TRAIN, *seen])) == expected
    # a development query does not train
    aside = asks("v1", "staff", split="dev", value=7.0)
    assert leaks(of([TRAIN, aside, *seen])) == expected
    learnt = [
        asks(f"t{n}", name, split="train", kind="seen", value=7.0) for n, name in enumerate(("staff", "plant"), 2)
    ]
    assert leaks(of([TRAIN, *learnt, *seen])) == {"kind-seen": ("error", 1, ("q4 yearly plant output",))}


def test_an_imported_benchmark_may_train_elsewhere():
    assert leaks(of([asks("q1", "plant output", kind="seen")], params={"importer": "quant"})) == {}


@pytest.mark.parametrize(("times", "same"), [(1 + 1e-13, True), (1.001, False)])
def test_the_same_amount_is_the_same_whatever_its_last_digits(times, same):
    trained = asks("t2", "plant output", split="train", kind="seen", value=0.3)
    near = asks("q1", "plant output", kind="seen", value=0.3 * times)
    expected = {"leak-conditions": ("error", 1, ("t2 q1",))} if same else {}
    assert leaks(of([trained, near])) == expected
