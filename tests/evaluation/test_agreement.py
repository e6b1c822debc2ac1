"""Cohen's kappa, beside another implementation."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from qbench.evaluation.agreement import cohens_kappa

GRADES = st.lists(st.tuples(st.integers(0, 2), st.integers(0, 2)), min_size=1, max_size=30)


def test_a_table_by_hand():
    # 20 both yes, 15 both no, 5 and 10 apart: p_o = 0.7, p_e = 0.5 * 0.6 + 0.5 * 0.4 = 0.5.
    first = [1] * 25 + [0] * 25
    second = [1] * 20 + [0] * 5 + [1] * 10 + [0] * 15
    assert cohens_kappa(first, second) == pytest.approx((0.7 - 0.5) / 0.5)


def test_what_cannot_be_said_is_none():
    assert cohens_kappa([], []) is None
    assert cohens_kappa([1, 1], [1, 1]) is None
    assert cohens_kappa([1, 1], [0, 0]) == 0
    with pytest.raises(ValueError):
        cohens_kappa([1], [])


@given(GRADES)
def test_it_is_symmetric_and_one_only_in_full_agreement(pairs):
    first, second = map(list, zip(*pairs, strict=True))
    kappa = cohens_kappa(first, second)
    assert kappa == cohens_kappa(second, first)
    if kappa is not None:
        assert -1 <= kappa <= 1
        assert (kappa == 1) == (first == second)


def test_agrees_with_scikit_learn():
    metrics = pytest.importorskip("sklearn.metrics")
    first, second = [0, 1, 2, 1, 0, 2, 2, 1, 0, 0], [0, 1, 1, 1, 0, 2, 0, 1, 1, 0]
    assert math.isclose(cohens_kappa(first, second), metrics.cohen_kappa_score(first, second))
