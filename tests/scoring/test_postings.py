"""Posting lists against plain matrix products."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from qbench.scoring.posting_kernel import BLOCK, GROUP, scatter
from qbench.scoring.posting_kernel import best as kernel_best
from qbench.scoring.postings import SHARE, Postings, best, hits, holding_all, load_loops, matching, score
from qbench.scoring.ranking import LARGE

TERMS = 6
weights = st.one_of(st.just(0.0), st.floats(2.0**-120, 100, width=32))
matrices = st.lists(st.lists(weights, min_size=TERMS, max_size=TERMS), max_size=9)
queries = st.dictionaries(st.integers(0, TERMS - 1), st.floats(2.0**-120, 100, width=32))


def table(rows):
    return np.array(rows, np.float32).reshape(-1, TERMS)


def inverted(rows, block=100, chunk=TERMS):
    """Posting lists by the kernel, from blocks of rows, for some terms at a time."""
    from scipy.sparse import csr_array

    dense = table(rows)
    starts = np.append(0, np.cumsum((dense > 0).sum(axis=0)))
    docs, values = np.empty(starts[-1], np.int32), np.empty(starts[-1], np.float32)
    for low in range(0, TERMS, chunk):
        high = min(low + chunk, TERMS)
        ends, part = starts[low:high] - starts[low], slice(starts[low], starts[high])
        for first in range(0, len(dense), block):
            some = csr_array(dense[first : first + block])
            indptr, indices = some.indptr.astype(np.int64), some.indices.astype(np.int32)
            scatter(indptr, indices, some.data, first, low, ends, docs[part], values[part])
    return Postings(starts, docs, values, len(dense))


@given(matrices, queries)
@settings(max_examples=100, deadline=None)
def test_scores_are_dot_products_and_every_document_with_a_shared_term_matches(rows, query):
    postings, dense = inverted(rows), table(rows).astype(np.float64)
    terms, factors = list(query), np.array(list(query.values()), np.float64)
    found = score(postings, terms, factors)
    np.testing.assert_allclose(found, dense[:, terms] @ factors, rtol=1e-12)
    shared = np.flatnonzero((dense[:, terms] > 0).any(axis=1))
    assert matching(postings, terms, found).tolist() == shared.tolist()
    assert np.flatnonzero(found > 0).tolist() == shared.tolist()
    every = (dense[:, terms] > 0).all(axis=1) if terms else np.zeros(len(dense), bool)
    assert holding_all(postings, terms).tolist() == np.flatnonzero(every).tolist()


@pytest.mark.parametrize("shares", [(0.05, 0.5), (0.2, 0.2, 0.9), (0.3, 0.002), (0.5, 1.0), (0.04, 0.0)])
def test_documents_of_all_terms_are_found_in_long_lists(shares):
    rng = np.random.default_rng(len(shares))
    lists = [np.flatnonzero(rng.random(4_000) < share).astype(np.int32) for share in shares]
    docs = np.concatenate(lists)
    postings = Postings(np.cumsum([0, *map(len, lists)]), docs, np.ones(len(docs), np.float32), 4_000)
    docs.flags.writeable = False
    expected = set(lists[0].tolist()).intersection(*(each.tolist() for each in lists))
    assert holding_all(postings, range(len(lists))).tolist() == sorted(expected)


@given(matrices, st.lists(st.integers(0, TERMS - 1), max_size=8))
@settings(max_examples=50, deadline=None)
def test_factors_of_one_change_nothing(rows, terms):
    postings = inverted(rows)
    np.testing.assert_allclose(score(postings, terms), score(postings, terms, np.ones(len(terms))), rtol=1e-12)


@given(matrices, st.integers(1, 4), st.integers(1, TERMS))
@settings(max_examples=50, deadline=None)
def test_lists_made_from_blocks_are_those_made_at_once(rows, block, chunk):
    once, parts = inverted(rows), inverted(rows, block, chunk)
    for name in ("starts", "docs", "weights"):
        np.testing.assert_array_equal(getattr(once, name), getattr(parts, name))
    for term in range(TERMS):
        assert (np.diff(once.docs[once.of(term)]) > 0).all()


def test_the_product_of_the_smallest_weights_still_counts():
    least = np.float32(1e-45)
    postings = Postings(np.array([0, 1]), np.array([1], np.int32), np.array([least]), 3)
    assert np.flatnonzero(score(postings, [0], np.array([least])) > 0).tolist() == [1]


MANY = 3 * LARGE


def long_lists(seed, levels):
    """Lists of a corpus that is large enough for compiled loops; with few levels of weights, most scores are equal."""
    rng = np.random.default_rng(seed)
    rows = [np.flatnonzero(rng.random(MANY) < share).astype(np.int32) for share in (0.9, 0.5, 0.2, 0.02, 1e-4, 0.0)]
    values = rng.integers(1, levels + 1, size=sum(map(len, rows))) / levels
    return Postings(np.append(0, np.cumsum([len(row) for row in rows])), np.concatenate(rows), values, MANY)


@given(
    st.integers(0, 2**32 - 1),
    st.sampled_from([1, 3, 1_000_000]),
    st.lists(st.integers(0, TERMS - 1), max_size=5),
    st.sampled_from([1, 10, 1000, MANY // 2, MANY]),
)
@settings(max_examples=40, deadline=None)
def test_compiled_loops_find_what_numpy_finds(seed, levels, terms, k):
    postings = long_lists(seed, levels)
    dense = np.zeros(MANY)
    for term in terms:
        part = postings.of(term)
        dense[postings.docs[part]] += postings.weights[part]
    docs, scores = hits(postings, terms)
    assert docs.tolist() == np.flatnonzero(dense).tolist()
    np.testing.assert_array_equal(scores, dense[docs])
    order = docs[np.argsort(-scores, kind="stable")[:k]]
    found, theirs = best(postings, terms, k)
    assert found.tolist() == order.tolist()
    np.testing.assert_array_equal(theirs, dense[order])


def test_weights_that_are_not_above_zero_hold_all_the_same():
    postings = Postings(np.array([0, MANY]), np.arange(MANY, dtype=np.int32), np.full(MANY, -1.0), MANY)
    docs, scores = best(postings, [0], 3)
    assert docs.tolist() == [0, 1, 2]
    assert scores.tolist() == [-1.0] * 3
    assert hits(postings, [0])[0].size == MANY


def test_loading_the_loops_changes_nothing():
    load_loops(long_lists(1, 3))
    load_loops(Postings(np.array([0, 1]), np.array([0], np.int32), np.array([1.0]), 1))


@pytest.mark.parametrize("kind", [np.float64, np.float32])
@pytest.mark.parametrize("size", [LARGE, BLOCK, BLOCK + 1, 2 * BLOCK + GROUP + 1])
def test_sums_and_the_best_of_them_across_blocks(size, kind):
    rng = np.random.default_rng(size)
    lists = [np.flatnonzero(rng.random(size) < share).astype(np.int32) for share in (0.9, 0.3, 0.01)]
    lists[1] = np.union1d(lists[1], [0, size - 1]).astype(np.int32)
    docs, values = np.concatenate(lists), rng.integers(1, 50, sum(map(len, lists))).astype(kind) / 8
    postings = Postings(np.cumsum([0, *map(len, lists)]), docs, values, size)
    for array in (docs, values, postings.starts):
        array.flags.writeable = False  # as what is mapped from disk
    terms, factors = [2, 0, 1, 1], np.array([0.5, 2.0, 1.0, 4.0])
    asked, plain = np.zeros(size), np.zeros(size)
    for term, factor in zip(terms, factors, strict=True):
        asked[lists[term]] += factor * values[postings.of(term)]
        plain[lists[term]] += values[postings.of(term)]
    np.testing.assert_array_equal(score(postings, terms, factors), asked)
    order = np.argsort(-plain, kind="stable")[: np.count_nonzero(plain)]
    for k in (1, GROUP, size // SHARE, size // SHARE + 1):
        found, theirs = best(postings, terms, k)
        assert found.tolist() == order[:k].tolist()
        np.testing.assert_array_equal(theirs, plain[order[:k]])


@pytest.mark.parametrize("k", [1, 5, 1000])
def test_the_best_are_found_with_the_least_room(k):
    postings = long_lists(k, 7)
    starts, ends = postings.starts[:-1].copy(), postings.starts[1:]
    room = [np.empty(k + GROUP, np.int64), np.empty(k + GROUP), np.empty(k + GROUP)]
    factors, sums = np.ones(TERMS), np.empty(BLOCK)
    size = kernel_best(postings.docs, postings.weights, factors, starts, ends, MANY, k, sums, *room)
    docs, scores = hits(postings, range(TERMS))
    chosen = np.sort(np.argsort(-scores, kind="stable")[:k])
    assert room[0][:size].tolist() == docs[chosen].tolist()
    np.testing.assert_array_equal(room[1][:size], scores[chosen])
