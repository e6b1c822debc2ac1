"""Triples: what is read, how an epoch is drawn, and which texts are no negatives."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from qbench.errors import InputError, OptionError
from qbench.training.batch import Batch
from qbench.training.dev import dev_pool
from qbench.training.triples import read_triples
from tests.encoder_factories import regular_benchmark
from tests.factories import tiny_benchmark

REGULAR = regular_benchmark()
DATA = read_triples(REGULAR)


def test_triples_are_those_of_the_training_part():
    rows = [
        (DATA.queries[query].query_id, DATA.texts[positive], DATA.texts[negative])
        for i, (query, positive) in enumerate(zip(DATA.query, DATA.positive, strict=True))
        for negative in DATA.negatives[DATA.starts[i] : DATA.starts[i + 1]]
    ]
    texts = dict(REGULAR.samples.select("sample_id", "text").iter_rows())
    expected = [(q, texts[p], texts[n]) for q, p, n in REGULAR.triples.iter_rows()]
    assert Counter(rows) == Counter(expected)
    assert {query.split for query in DATA.queries} == {"train"}
    assert DATA.counts["triples"] == len(expected)


def test_methods_and_kinds_are_chosen():
    benchmark = tiny_benchmark()
    assert read_triples(benchmark, methods=["original", "value"]).counts["triples of other methods"] == 1
    with pytest.raises(InputError, match="nothing to learn from"):
        read_triples(benchmark, methods=["original"])
    with pytest.raises(InputError, match="nothing to learn from"):
        read_triples(benchmark, kinds=["expansion"])
    with pytest.raises(OptionError, match="original, unit, value"):
        read_triples(benchmark, methods=["colour"])


@given(st.integers(0, 5), st.integers(1, 4), st.integers(0, 60))
def test_an_epoch_is_drawn_by_its_name_and_queries_take_turns(epoch, negatives, most):
    drawn = DATA.draw(3, str(epoch), negatives, most)
    assert drawn == DATA.draw(3, str(epoch), negatives, most)
    assert len(drawn) == (min(most, len(DATA)) if most else len(DATA))
    pairs = {(q, p): i for i, (q, p) in enumerate(zip(DATA.query.tolist(), DATA.positive.tolist(), strict=True))}
    for query, positive, own in drawn:
        i = pairs[query, positive]
        allowed = DATA.negatives[DATA.starts[i] : DATA.starts[i + 1]].tolist()
        assert set(own) <= set(allowed)
        assert len(set(own)) == len(own) == min(negatives, len(allowed))
    if most:
        turns = Counter(query for query, _, _ in drawn)
        assert max(turns.values()) - min([turns[q] for q in set(DATA.query.tolist())]) <= 1


@given(st.integers(0, 5), st.integers(1, 60), st.integers(1, 60))
def test_a_limit_keeps_some_pairs_and_a_larger_one_more(seed, few, many):
    data = DATA
    few, many = sorted((few, many))
    smaller, larger = data.limited(seed, few), data.limited(seed, many)
    pairs = [[*zip(some.query.tolist(), some.positive.tolist(), strict=True)] for some in (smaller, larger, data)]
    assert set(pairs[0]) <= set(pairs[1]) <= set(pairs[2])
    assert len(smaller) == min(few, len(data)) == smaller.counts["positives"]
    assert pairs[0] == sorted(pairs[0])
    negatives = {pair: data.negatives[data.starts[i] : data.starts[i + 1]].tolist() for i, pair in enumerate(pairs[2])}
    for i, pair in enumerate(pairs[0]):
        assert smaller.negatives[smaller.starts[i] : smaller.starts[i + 1]].tolist() == negatives[pair]
    queries = min(len(set(data.query.tolist())), few)
    assert len(set(smaller.query.tolist())) == queries == smaller.counts["queries"]
    assert data.limited(seed, 0) is data


def test_a_text_that_satisfies_a_query_is_never_its_negative():
    benchmark = tiny_benchmark()
    relevant = {(q, d) for q, d, grade in benchmark.qrels.iter_rows() if grade > 0}
    data = read_triples(benchmark)
    places = {doc: place for place, doc in enumerate(sorted(set(benchmark.samples["doc_id"])))}
    for number, query in enumerate(data.queries):
        for text, source in enumerate(data.sources):
            doc = next(doc for doc, place in places.items() if place == source)
            if (query.query_id, doc) in relevant:
                assert data.may_satisfy(number, text)
    # "weighs 3.1 kg" speaks of laptop weight by its mention's concept, though it lacks the word "weight".
    heavier = next(i for i, text in enumerate(data.texts) if "3.1" in text)
    assert data.may_satisfy([q.query_id for q in data.queries].index("q1"), heavier)


def test_a_batch_compares_with_own_negatives_and_with_what_cannot_satisfy():
    drawn = DATA.draw(1, "1", 2)[:24]
    batch = Batch.of(DATA, drawn)
    texts, positives, own, allowed = batch.text_rows, batch.positives, batch.own, batch.compared
    assert len(set(texts)) == len(texts)
    truth = {(q, d) for q, d, grade in REGULAR.qrels.iter_rows() if grade > 0}
    by_text = dict(REGULAR.corpus.select("text", "doc_id").iter_rows())
    for row, (query, positive, negatives) in enumerate(drawn):
        assert texts[positives[row]] == positive
        assert {texts[column] for column in own[row].nonzero()[0]} == set(negatives)
        against = {texts[column] for column in allowed[row].nonzero()[0]} - {positive}
        assert set(negatives) <= against
        name = DATA.queries[query].query_id
        assert not any((name, by_text[DATA.texts[text]]) in truth for text in against)
    assert allowed.sum() > own.sum() + len(drawn)


def test_judgments_give_triples_where_there_are_none():
    none = {"samples": REGULAR.samples.clear(), "triples": REGULAR.triples.clear()}
    data = read_triples(replace(REGULAR, **none))
    judged = {(q, d) for q, d, _ in REGULAR.qrels.iter_rows()}
    docs = REGULAR.corpus.sort("doc_id")["doc_id"].to_list()
    for i, (query, positive) in enumerate(zip(data.query, data.positive, strict=True)):
        name = data.queries[query].query_id
        assert (name, docs[positive]) in judged
        assert not any((name, docs[n]) in judged for n in data.negatives[data.starts[i] : data.starts[i + 1]])
    with pytest.raises(InputError, match="nothing to learn from"):
        read_triples(replace(REGULAR, **none, qrels=REGULAR.qrels.clear()))


def test_grades_below_the_lowest_are_neither_positives_nor_negatives():
    first = pl.int_range(pl.len()).over("query_id") == 0
    graded = REGULAR.qrels.with_columns(grade=pl.when(first).then(2).otherwise(1).cast(REGULAR.qrels.schema["grade"]))
    other = replace(REGULAR, samples=REGULAR.samples.clear(), triples=REGULAR.triples.clear(), qrels=graded)
    grades = {(q, d): grade for q, d, grade in graded.select("query_id", "doc_id", "grade").iter_rows()}
    docs = other.corpus.sort("doc_id")["doc_id"].to_list()
    for lowest, found in ((1, {1, 2}), (2, {2})):
        data = read_triples(other, lowest_grade=lowest)
        names = [data.queries[query].query_id for query in data.query]
        assert {grades[name, docs[text]] for name, text in zip(names, data.positive, strict=True)} == found
        for i, name in enumerate(names):
            assert not any((name, docs[n]) in grades for n in data.negatives[data.starts[i] : data.starts[i + 1]])


def test_whole_documents_are_learnt_from_with_their_titles():
    titled = REGULAR.corpus.with_columns(title=pl.lit("A title"), source_id="doc_id")
    none = {"samples": REGULAR.samples.clear(), "triples": REGULAR.triples.clear()}
    assert all(text.startswith("A title\n") for text in read_triples(replace(REGULAR, corpus=titled, **none)).texts)
    pool = dev_pool(replace(REGULAR, corpus=titled), 5, 0)
    assert pool is not None
    assert all(text.startswith("A title\n") for text in pool.texts)


def test_a_benchmark_that_is_only_trained_on_may_have_no_training_part():
    queries = [replace(query, split="test") for query in REGULAR.queries]
    none = {"samples": REGULAR.samples.clear(), "triples": REGULAR.triples.clear()}
    other = replace(REGULAR, queries=queries, **none)
    with pytest.raises(InputError, match="nothing to learn from"):
        read_triples(other)
    assert len(read_triples(other, every_split=True).queries) == len(queries)


def test_the_order_of_the_tables_does_not_matter():
    shuffled = replace(
        REGULAR,
        samples=REGULAR.samples.sample(fraction=1, shuffle=True, seed=1),
        triples=REGULAR.triples.sample(fraction=1, shuffle=True, seed=2),
    )
    assert read_triples(shuffled).draw(1, "1", 1) == DATA.draw(1, "1", 1)
    assert isinstance(shuffled.samples, pl.DataFrame)
