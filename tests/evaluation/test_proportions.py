"""Wilson's interval: against its equation, and what an interval of a proportion has to be."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from qbench.evaluation.proportions import wilson


@st.composite
def samples(draw):
    n = draw(st.integers(1, 500))
    return draw(st.integers(0, n)), n


def test_the_published_example():
    """Newcombe (1998), table I, method 3: 81 of 263, 15 of 148, 0 of 20, 1 of 29."""
    expected = {
        (81, 263): (0.2553, 0.3662),
        (15, 148): (0.0624, 0.1605),
        (0, 20): (0, 0.1611),
        (1, 29): (0.0061, 0.1718),
    }
    for (successes, n), ends in expected.items():
        assert wilson(successes, n) == pytest.approx(ends, abs=5e-5)


@given(samples())
def test_its_ends_solve_the_score_equation(sample):
    successes, n = sample
    z = 1.959963984540054
    for end in wilson(successes, n):
        assert 0 <= end <= 1
        assert (successes / n - end) ** 2 == pytest.approx(z * z * end * (1 - end) / n, abs=1e-9)


@given(samples(), st.floats(0.5, 0.99))
def test_it_holds_the_share_mirrors_and_grows_with_the_level(sample, level):
    successes, n = sample
    low, high = wilson(successes, n, level)
    assert low <= successes / n <= high
    mirrored = wilson(n - successes, n, level)
    assert mirrored == pytest.approx((1 - high, 1 - low), abs=1e-12)
    wider = wilson(successes, n, level + 0.009)
    assert wider[0] <= low
    assert high <= wider[1]


@given(samples())
def test_more_of_the_same_narrows_it(sample):
    successes, n = sample
    low, high = wilson(successes, n)
    closer = wilson(10 * successes, 10 * n)
    assert closer[1] - closer[0] < high - low


def test_it_covers_about_as_often_as_it_says():
    """The chance, over all outcomes of 40 draws, that the interval holds the true share."""
    chances = []
    for share in (i / 50 for i in range(1, 50)):
        outcomes = [math.comb(40, k) * share**k * (1 - share) ** (40 - k) for k in range(41)]
        chances.append(sum(p for k, p in enumerate(outcomes) if wilson(k, 40)[0] <= share <= wilson(k, 40)[1]))
    assert sum(chances) / len(chances) == pytest.approx(0.95, abs=0.01)
    assert min(chances) > 0.85


def test_nothing_says_nothing_and_nonsense_is_refused():
    assert wilson(0, 0) == (0, 1)
    for wrong in ((3, 2, 0.95), (-1, 2, 0.95), (1, 2, 0.0), (1, 2, 1.0)):
        with pytest.raises(ValueError, match=r"successes in|level"):
            wilson(*wrong)
