"""BM25 against the rank-bm25 package."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from qbench.scoring import bm25

documents = st.lists(st.lists(st.integers(0, 6), max_size=8), min_size=1, max_size=12).filter(any)
queries = st.lists(st.integers(0, 8), max_size=6)


def build(docs, **parameters):
    """Postings over words numbered by first occurrence, and that numbering."""
    flat = [word for doc in docs for word in doc]
    number = {word: i for i, word in enumerate(dict.fromkeys(flat))}
    ids = np.array([number[word] for word in flat], dtype=np.int32)
    return bm25.build(ids, np.array([len(doc) for doc in docs], dtype=np.int64), len(number), **parameters), number


def reference(docs, query, **parameters):
    from rank_bm25 import BM25Okapi

    return BM25Okapi(docs, **parameters).get_scores(query)


# With b = 1 rank-bm25 divides zero by zero in empty documents.
@given(documents, queries, st.floats(0.01, 3), st.floats(0, 0.99), st.floats(0, 1))
@settings(max_examples=100, deadline=None)
def test_scores_are_those_of_rank_bm25(docs, query, k1, b, epsilon):
    parameters = {"k1": k1, "b": b, "epsilon": epsilon}
    postings, number = build(docs, **parameters)
    ours = bm25.score(postings, [number[word] for word in query if word in number])
    np.testing.assert_allclose(ours, reference(docs, query, **parameters), rtol=1e-9, atol=1e-12)


@given(documents, st.integers(1, 9))
@settings(max_examples=100, deadline=None)
def test_posting_lists_are_the_same_in_blocks_of_any_size(docs, block):
    flat = np.array([word for doc in docs for word in doc], dtype=np.int32)
    lengths = np.array([len(doc) for doc in docs], dtype=np.int64)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(bm25, "BLOCK", block)
        starts, held, counts = bm25.counted(flat, lengths, 7)
        weights = bm25.build(flat, lengths, 7).weights
    expected = [(word, n, doc.count(word)) for word in range(7) for n, doc in enumerate(docs) if word in doc]
    assert list(zip(np.repeat(np.arange(7), np.diff(starts)), held, counts, strict=True)) == expected
    np.testing.assert_array_equal(weights, bm25.build(flat, lengths, 7).weights)


@given(documents, queries)
@settings(max_examples=100, deadline=None)
def test_matching_and_holding_all_are_about_words_not_scores(docs, query):
    postings, number = build(docs)
    known = [number[word] for word in query if word in number]
    held = [{number[word] for word in doc} for doc in docs]
    scores = bm25.score(postings, known)
    assert bm25.matching(postings, known, scores).tolist() == [i for i, h in enumerate(held) if h & set(known)]
    every = [i for i, h in enumerate(held) if known and set(known) <= h]
    assert bm25.holding_all(postings, known).tolist() == every


def test_a_repeated_query_term_counts_each_time():
    docs = [[0, 1], [1, 2], [2, 3], [3, 4], [4, 5]]
    postings, _ = build(docs)
    once, thrice = bm25.score(postings, [0]), bm25.score(postings, [0, 0, 0])
    np.testing.assert_allclose(thrice, 3 * once)
    np.testing.assert_allclose(thrice, reference(docs, [0, 0, 0]))


def test_frequent_terms_get_a_share_of_the_mean_idf_even_where_it_is_negative():
    docs = [[0, 1], [0, 1], [0, 1], [0]]
    postings, _ = build(docs)
    scores = bm25.score(postings, [0])
    assert (scores < 0).all()
    np.testing.assert_allclose(scores, reference(docs, [0]))
    assert bm25.matching(postings, [0], scores).tolist() == [0, 1, 2, 3]


@pytest.mark.parametrize("docs", [[], [[], []]])
def test_corpora_without_words(docs):
    postings, _ = build(docs)
    assert bm25.score(postings, []).tolist() == [0.0] * len(docs)
    assert bm25.matching(postings, [], np.zeros(len(docs))).size == 0
    assert bm25.holding_all(postings, []).size == 0


def test_an_empty_document_scores_zero_and_counts_for_the_mean_length():
    docs = [[0, 1], [], [2], [3]]
    postings, _ = build(docs)
    scores = bm25.score(postings, [0])
    assert scores[1] == 0
    np.testing.assert_allclose(scores, reference(docs, [0]))
