"""Groups of concepts, their splits, and the sentences that are held out."""

from __future__ import annotations

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from qbench.generation.expansions import Expansions
from qbench.generation.mentions import folded, load_mentions
from qbench.generation.options import GenerationOptions
from qbench.generation.pairs import Pair, joint_pairs
from qbench.generation.splits import alternatives, group_concepts, shares_no_word, split_concepts
from qbench.quantities.types import Quantity, quantity_schema, to_row

WORDS = ["income", "incomes", "net income", "income net", "profit", "gross profit", "staff", "rate", "yield", "price"]


def mentions_of(docs):
    """One sentence for each tuple of (concept, unit, value)."""
    ids = [f"d{number}" for number in range(len(docs))]
    rows = [
        to_row(name, Quantity(value, value, "=", unit, "", unit, value, value, tuple(concept.split())))
        for name, found in zip(ids, docs, strict=True)
        for concept, unit, value in found
    ]
    return load_mentions(pl.DataFrame({"doc_id": ids, "text": ids}), pl.DataFrame(rows, schema=quantity_schema()))


def pairs_of(*concepts):
    return [Pair(tuple(concept.split()), "dollar") for concept in concepts]


def test_what_makes_two_concepts_one_group():
    expansions = Expansions({"profit": ["earnings"], "net income": ["earnings"], "staff": ["people"]})
    groups = group_concepts(pairs_of("income net", "net incomes", "profit", "staff", "rate", "person"), expansions)
    assert [group.concepts for group in groups] == [
        (("income", "net"), ("net", "incomes"), ("profit",)),
        (("person",), ("staff",)),
        (("rate",),),
    ]
    assert [group.pairs for group in groups] == [3, 2, 1]
    assert frozenset({"earning"}) in groups[0].held


@given(
    st.lists(st.lists(st.tuples(st.sampled_from(WORDS), st.just("dollar"), st.integers(1, 9)), max_size=3), min_size=3),
    st.integers(0, 99),
)
@settings(max_examples=60, deadline=None)
def test_no_concept_of_training_is_or_holds_one_that_is_held_out(docs, seed):
    mentions = mentions_of(docs)
    concepts = sorted({concept for found in docs for concept, _, _ in found})
    if not concepts:
        return
    expansions = Expansions({"profit": ["gain"], "net income": ["gain"]})
    splits = split_concepts(pairs_of(*concepts), mentions, expansions, GenerationOptions(seed=seed))
    assert set(splits.split_of) == {tuple(concept.split()) for concept in concepts}
    assert "train" in splits.split_of.values()
    held = [folded(concept) for concept, split in splits.split_of.items() if split != "train"]
    shared = [folded(name.split()) for name in ("profit", "net income", "gain")]
    if any(words in shared for words in held):
        held += shared  # whatever shares an expansion is held out with it, said or not
    for number, found in enumerate(docs):
        carries = any(words <= folded(concept.split()) for words in held for concept, _, _ in found)
        assert bool(splits.blocked["train"][number]) is carries
        if splits.blocked["dev"][number]:
            assert splits.blocked["train"][number]
    if {("profit",), ("net", "income")} <= set(splits.split_of):
        assert splits.split_of["profit",] == splits.split_of["net", "income"]


def test_a_generic_concept_stays_in_training():
    docs = [[("rate", "dollar", n)] for n in range(50)] + [[(f"special rate {n}", "dollar", 1)] for n in range(50)]
    docs += [[(f"thing{n}", "dollar", 1)] for n in range(40)]
    mentions = mentions_of(docs)
    pairs = pairs_of("rate", *(f"thing{n}" for n in range(40)))
    for seed in range(20):
        splits = split_concepts(pairs, mentions, Expansions(), GenerationOptions(seed=seed))
        assert splits.split_of["rate",] == "train"
        assert splits.groups["test"] == 9
        assert splits.groups["dev"] == 5


def test_few_groups_still_give_a_test_part():
    docs = [[(concept, "dollar", n)] for concept in ("staff", "profit", "price") for n in range(5)]
    splits = split_concepts(
        pairs_of("staff", "profit", "price"), mentions_of(docs), Expansions(), GenerationOptions(seed=1)
    )
    assert splits.groups == {"train": 1, "dev": 1, "test": 1}


def test_alternatives_and_words_in_common():
    mentions = mentions_of(
        [[("phone price", "dollar", 1)], [("handset price", "dollar", 2)], [("gadget", "dollar", 3)]]
    )
    table = {"phone price": ["device cost", "phone cost"], "handset price": ["device cost"], "absent": ["device cost"]}
    expansions = Expansions(table | {"gadget": ["gadget thing"], "thing": ["gadget"]})
    assert alternatives("device cost", mentions, expansions) == (("handset", "price"), ("phone", "price"))
    assert shares_no_word("device cost", mentions, expansions)
    assert not shares_no_word("phone cost", mentions, expansions)
    assert alternatives("gadget", mentions, expansions) == (("gadget",),)
    assert not shares_no_word("gadget", mentions, expansions)


@pytest.mark.parametrize(
    ("one", "other", "joint"),
    [("profit", "staff", True), ("profit", "gross profit", False), ("income", "incomes", False)],
)
def test_joint_pairs_are_of_different_things(one, other, joint):
    mentions = mentions_of([[(one, "dollar", n), (other, "dollar", n)] for n in range(4)])
    assert bool(joint_pairs(pairs_of(*sorted((one, other))), mentions)) is joint


def test_joint_pairs_need_enough_sentences_and_no_table():
    few = mentions_of([[("profit", "dollar", 1), ("staff", "dollar", 2)]] * 2)
    assert joint_pairs(pairs_of("profit", "staff"), few) == []
    words = [f"word{n}" for n in range(9)]
    table = mentions_of([[(word, "dollar", 1) for word in words]] * 5)
    assert joint_pairs(pairs_of(*words), table) == []


def test_joint_queries_are_of_one_thing():
    of_one = [[("boat price", "dollar", n, (0, 4)), ("boat length", "dollar", n, (0, 4))] for n in range(4)]
    of_two = [[("boat price", "dollar", n, (0, 4)), ("raft length", "dollar", n, (9, 13))] for n in range(4)]
    joint = joint_pairs(pairs_of("boat length", "boat price", "raft length"), named_mentions_of(of_one + of_two))
    assert joint == [tuple(pairs_of("boat length", "boat price"))]


def named_mentions_of(docs):
    """As `mentions_of`, with the place where each thing is named."""
    ids = [f"d{number}" for number in range(len(docs))]
    rows = [
        to_row(name, Quantity(v, v, "=", unit, "", unit, v, v, tuple(concept.split()), concept_spans=(place,)))
        for name, found in zip(ids, docs, strict=True)
        for concept, unit, v, place in found
    ]
    texts = pl.DataFrame({"doc_id": ids, "text": ["boat and raft"] * len(ids)})
    return load_mentions(texts, pl.DataFrame(rows, schema=quantity_schema()), given=True)
