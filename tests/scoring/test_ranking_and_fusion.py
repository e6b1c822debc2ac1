"""The best k, and scores of one query made comparable."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from qbench.scoring.fusion import normalised, with_quantities
from qbench.scoring.ranking import LARGE, selected, top_k

few_values = arrays(np.float64, st.integers(0, 30), elements=st.integers(-3, 3).map(float))
any_values = arrays(np.float64, st.integers(0, 30), elements=st.floats(-1e9, 1e9))


@given(st.one_of(few_values, any_values), st.integers(-1, 40))
@settings(deadline=None)
def test_top_k_is_a_stable_sort_cut_off(scores, k):
    expected = sorted(range(scores.size), key=lambda i: (-scores[i], i))[: max(k, 0)]
    assert top_k(scores, k).tolist() == expected


@given(st.integers(0, 2**32 - 1), st.sampled_from([1, 4, 10**9]), st.sampled_from([1, 50, 1000, LARGE]), st.booleans())
@settings(max_examples=40, deadline=None)
def test_so_is_that_of_many_scores(seed, levels, k, ascending):
    scores = np.random.default_rng(seed).integers(-levels, levels + 1, size=2 * LARGE).astype(np.float64)
    if ascending:  # no sample is like what comes after it
        scores.sort()
    assert top_k(scores, k).tolist() == np.argsort(-scores, kind="stable")[:k].tolist()


def test_scores_below_the_floor_do_not_count():
    scores = np.zeros(LARGE)
    scores[[5, 700]] = 1.0, 2.0
    found = selected(scores, 10, floor=0.5)
    assert found is not None
    assert found.tolist() == [700, 5]


@given(any_values)
@settings(deadline=None)
def test_normalised_scores_keep_their_order_and_end_at_one(scores):
    result = normalised(scores)
    assert result.shape == scores.shape
    if scores.size:
        assert result.max() == 1
        assert result.min() >= 0
        assert (np.diff(result[np.argsort(scores)]) >= 0).all()


def test_scores_that_are_not_negative_are_divided_by_their_maximum():
    assert normalised(np.array([1.0, 4.0, 0.0])).tolist() == [0.25, 1.0, 0.0]


def test_the_indicator_and_alpha_decide_what_is_added():
    terms, quantity = np.array([1.0, 0.5, 0.2]), np.array([0.5, 1.0, 1.0])
    assert with_quantities(terms, quantity, 0.0).tolist() == terms.tolist()
    assert with_quantities(terms, quantity, 2.0, np.array([True, True, False])).tolist() == [2.0, 2.5, 0.2]
    assert quantity.tolist() == [0.5, 1.0, 1.0]
