"""Negatives with the right value of something else: all satisfy the conditions, and none may satisfy the query."""

from __future__ import annotations

from dataclasses import replace

import polars as pl
import pytest

from qbench.errors import InputError
from qbench.training.batch import Batch
from qbench.training.satisfying import MOST, SatisfyingTexts, satisfying
from qbench.training.triples import read_triples
from tests.factories import condition
from tests.training.test_coded import LENGTHS, own_value_benchmark

BENCHMARK = own_value_benchmark()
DATA = read_triples(BENCHMARK)
STATED = DATA.stated


@pytest.mark.parametrize("comparator", [">", "<", "=", ">="])
def test_texts_satisfy_every_condition(comparator):
    asked = [condition("boats", comparator, 14, "metre"), condition("boats", ">", 1500, "centimetre")]
    found = set(satisfying(STATED, asked).tolist())
    compare = {">": float.__gt__, "<": float.__lt__, "=": float.__eq__, ">=": float.__ge__}[comparator]
    for text in range(len(DATA.texts)):
        values = [one.value for one in DATA.mentions(text)]
        assert (text in found) == (
            any(compare(value, 14.0) for value in values) and any(value > 15 for value in values)
        )


def test_another_unit_or_no_condition_finds_nothing():
    assert satisfying(STATED, [condition("boats", ">", 1, "kilogram")]).size == 0
    assert satisfying(STATED, []).size == 0


def test_negatives_are_of_something_else_and_are_drawn_again():
    # A boat's sizes stand in one text, so that each text may satisfy each query: here only one of them is named.
    words = [frozenset({"boat", LENGTHS[place % len(LENGTHS)]}) for place in range(len(DATA.texts))]
    data = replace(DATA, words=words, perhaps=[set() for _ in DATA.queries])
    drawn = data.draw(3, "0", 0)
    assert all(negatives == [] for _, _, negatives in drawn)
    pool = SatisfyingTexts(data, seed=3)
    first, again, second = (pool.added(drawn, 2, epoch) for epoch in ("0", "0", "1"))
    assert first == again != second
    assert sum(len(negatives) for _, _, negatives in first) > len(drawn)
    for query, _, negatives in first:
        assert len(set(negatives)) == len(negatives) <= 2
        for text in negatives:
            assert not data.may_satisfy(query, text)
            assert text in satisfying(STATED, data.queries[query].conditions)
    batch = Batch.of(data, first[:8])
    assert batch.own.sum() == sum(len(negatives) for _, _, negatives in first[:8])
    assert max(len(texts) for texts in pool._texts.values()) <= MOST


def test_texts_that_all_name_the_concept_are_an_error():
    with pytest.raises(InputError, match="of something else"):
        SatisfyingTexts(DATA, seed=3).added(DATA.draw(3, "0", 0), 1, "0")


def test_what_is_undecided_is_no_negative():
    undecided = BENCHMARK.qrels.head(1).with_columns(grade=pl.lit(-1, BENCHMARK.qrels.schema["grade"]))
    query_id, doc_id, _ = undecided.row(0)
    judged = pl.concat([undecided, BENCHMARK.qrels.slice(1)])
    data = read_triples(replace(BENCHMARK, qrels=judged))
    query = next(n for n, one in enumerate(data.queries) if one.query_id == query_id)
    apart = replace(data, concepts=[[] for _ in data.queries])
    documents = sorted({*BENCHMARK.samples["doc_id"].to_list()})
    of_it = [text for text in range(len(data.texts)) if documents[data.sources[text]] == doc_id]
    assert of_it
    assert all(apart.may_satisfy(query, text) for text in of_it)
