"""The numbers that people ask for."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from qbench.generation.round_values import candidates, choose, met, rounds, usual
from qbench.randomness import generator

COMPARATORS = ["=", "<", "<=", ">", ">=", "between"]


@example(0.6, 2.0)
@given(st.floats(1e-3, 1e6), st.floats(1.0, 1e4))
def test_round_numbers_are_short_and_within_reach(low, factor):
    found = rounds(low, low * factor)
    assert all(low * (1 - 1e-6) <= value <= low * factor * (1 + 1e-6) for value in found.tolist())
    assert all(len(f"{value:.6e}".partition("e")[0].rstrip("0").replace(".", "")) <= 4 for value in found.tolist())
    assert sorted(set(found.tolist())) == found.tolist()


@pytest.mark.parametrize(
    ("low", "high", "some"),
    [
        (0.9, 3.0, [1.0, 2.0]),
        (150.0, 1500.0, [200.0, 1000.0]),
        (40.0, 3000.0, [50.0, 300.0, 2000.0]),
        (3.5, 6.5, [5.5]),
    ],
)
def test_shops_have_such_numbers(low, high, some):
    assert {*some} <= {*rounds(low, high).tolist()}


def test_nothing_is_round_between_nothing():
    assert rounds(0.0, 5.0).size == 0
    assert rounds(5.0, 4.0).size == 0
    assert candidates(np.array([-3.0, -2.0])).size == 0


def test_few_values_are_asked_for_as_they_are():
    memory = np.array([4.0, 8.0, 16.0] * 20)
    assert usual(memory).tolist() == [4.0, 8.0, 16.0]
    assert usual(np.linspace(1, 2, 200)) is None
    for number in range(20):
        ends = choose(">=", memory, (0.0, 0.9), generator(1, "t", str(number)), usual(memory))
        assert ends in [(8.0, 8.0), (16.0, 16.0)]


@given(
    st.lists(st.floats(0.5, 5_000), min_size=8, max_size=60),
    st.sampled_from(COMPARATORS),
    st.integers(0, 100),
)
def test_what_is_asked_for_has_the_share_that_is_wanted(values, comparator, seed):
    column = np.array(values)
    ends = choose(comparator, column, (0.1, 0.6), generator(seed, "t"))
    if ends is not None:
        assert 0.1 <= met(comparator, column, ends) <= 0.6
        assert (ends[0] < ends[1]) == (comparator == "between")


def test_a_single_thing_leaves_nothing_to_ask():
    assert choose("<", np.array([4.0]), (0, 1), generator(1, "t")) is None
