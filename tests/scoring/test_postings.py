"""Posting lists against plain matrix products."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from qbench.scoring.posting_kernel import place
from qbench.scoring.postings import Postings, holding_all, matching, score

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
            place(indptr, indices, some.data, first, low, ends, docs[part], values[part])
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
