"""Which values are asked for: peaks, near the mean, quantiles; always something on both sides."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from qbench.generation.pairs import distribution, sane
from qbench.generation.values import WIDEST, around, askable, choose_value, rounded, sizes

observed = st.lists(st.sampled_from([0.5, 1, 2, 3, 5, 8, 10, 12.5, 40, 100, 1e6]), min_size=2, max_size=30)
COMPARATORS = ["=", "!=", "<", "<=", ">", ">=", "between"]


def meets(comparator, values, low, high):
    return {
        "=": values == low,
        "!=": values != low,
        "<": values < low,
        "<=": values <= low,
        ">": values > low,
        ">=": values >= low,
        "between": (values >= low) & (values <= high),
    }[comparator]


@given(observed, st.sampled_from(COMPARATORS), st.booleans(), st.integers(0, 2**32))
def test_a_chosen_value_has_observations_on_both_sides(values, comparator, at_random, seed):
    values = np.array(values)
    ask = choose_value(comparator, distribution(values), np.random.default_rng(seed), at_random=at_random)
    if ask is None:
        # A bound may have become one of the values, or left them all on one side, when it was rounded;
        # a range may be too wide.
        close = {rounded(value, 1) for value in values.tolist()}
        observed = np.unique(values)
        narrow = (observed[:-1] <= 0) | (observed[1:] <= WIDEST * observed[:-1])
        too_wide = comparator == "between" and not narrow.any()
        assert too_wide or len(close) < (3 if comparator in ("between", "<", ">", "<=", ">=") else 2)
        return
    low, high = ask
    assert low <= high
    met = meets(comparator, values, low, high)
    assert met.any()
    assert not met.all()


@given(observed, st.sampled_from(COMPARATORS), st.integers(0, 2**32))
def test_what_is_avoided_is_not_asked(values, comparator, seed):
    seen = distribution(np.array(values))
    taken = set()
    for _ in range(5):
        ask = choose_value(comparator, seen, np.random.default_rng(seed), avoid=frozenset(taken))
        assert ask not in taken
        if ask is None:
            break
        taken.add(ask)


def test_equal_queries_ask_for_the_peak_and_bounds_near_the_mean():
    seen = distribution(np.array([1, 2, 2, 2, 3, 4, 5, 6, 7, 8, 9, 10.0]))
    rng = np.random.default_rng(0)
    assert choose_value("=", seen, rng) == (2, 2)
    bounds = {choose_value(">", seen, np.random.default_rng(i))[0] for i in range(30)}
    assert len(bounds) > 1
    assert all(abs(bound - seen.mean) < 1.1 for bound in bounds)


def test_whole_observations_give_whole_bounds():
    seen = distribution(np.array([1, 2, 3, 4, 11, 40.0]))
    for seed in range(30):
        low, _ = choose_value(">=", seen, np.random.default_rng(seed))
        assert low == int(low)


def test_long_numbers_are_not_asked_for_where_there_are_others():
    seen = distribution(np.array([0.0589970501475] * 9 + [0.1, 0.2, 0.3]))
    for comparator in ("=", "<=", ">"):
        for seed in range(10):
            low, _ = choose_value(comparator, seen, np.random.default_rng(seed), at_random=seed % 2 == 0)
            assert len(str(low)) < 8
    only = distribution(np.array([0.0589970501475, 0.1589970501475]))
    assert choose_value("=", only, np.random.default_rng(0)) is None
    assert choose_value(">", only, np.random.default_rng(0)) in {(0.06, 0.06), (0.1, 0.1)}


def test_bounds_have_two_digits():
    seen = distribution(np.array([12_141_733.0, 14_338_121, 17_912_400, 21_388_010, 33_001_222]))
    for comparator in ("<", "<=", ">", ">="):
        for seed in range(20):
            low, _ = choose_value(comparator, seen, np.random.default_rng(seed), at_random=seed % 2 == 0)
            assert low == rounded(low, 2)


def test_random_values_cover_the_distribution():
    seen = distribution(np.array([1, 2, 2, 2, 3, 9.0]))
    asked = {choose_value("=", seen, np.random.default_rng(i), at_random=True)[0] for i in range(60)}
    assert asked == {1, 2, 3, 9}


def test_a_huge_outlier_does_not_pull_the_bound_into_the_empty_tail():
    seen = distribution(np.array([1, 2, 3, 4, 5, 6, 1e12]))
    low, _ = choose_value(">", seen, np.random.default_rng(0), enough=2)
    assert low < 1e12
    assert (seen.values > low).sum() >= 2


def test_ranges_are_rounded_quantiles():
    seen = distribution(np.linspace(1003, 1997, 200))
    low, high = choose_value("between", seen, np.random.default_rng(1))
    assert rounded(low, 2) == low
    assert 1000 < low < 1500 < high < 2000


@given(observed, st.sampled_from(["<", ">", "=", "<=", ">="]), st.integers(0, 2**32), st.data())
def test_a_constraint_around_a_value_holds_for_it(values, comparator, seed, data):
    values = np.array(values, dtype=float)
    value = data.draw(st.sampled_from(values.tolist()))
    low, high = around(comparator, value, distribution(values), np.random.default_rng(seed))
    assert low == high
    assert meets(comparator, np.array([value]), low, high).all()


@given(st.lists(st.sampled_from([0.0, 0.5, 3.0, 40.0]), min_size=2), st.sampled_from(["<", ">", "="]), st.data())
def test_nobody_asks_for_more_than_a_value_below_nought(values, comparator, data):
    seen, value = distribution(np.array(values)), data.draw(st.sampled_from(values))
    asked = askable(comparator, value, seen)
    low, _ = around(asked, value, seen, np.random.default_rng(0))
    assert low >= 0
    assert meets(asked, np.array([value]), low, low).all()
    assert asked == comparator or (comparator, value) == (">", 0)


@pytest.mark.parametrize(
    ("concept", "good"),
    [("net income", True), ("", False), ("the", False), ("2019", False), ("a | b", False), ("word " * 9, False)],
)
def test_concepts_that_can_be_searched_for(concept, good):
    assert sane(concept) is good


def test_bounds_are_said_plainly_where_that_moves_few_observations():
    doses = distribution(np.array([5, 8, 12, 19, 23, 28, 31, 44, 52, 61, 77, 90.0]))
    for seed in range(20):
        low, _ = choose_value(">", doses, np.random.default_rng(seed))
        assert low % 5 == 0
    # Rounded to tens, all of these would be one side.
    temperatures = distribution(np.array([36.4, 36.6, 36.8, 37.1, 37.4, 37.9]))
    for seed in range(20):
        low, _ = choose_value(">", temperatures, np.random.default_rng(seed))
        assert 36 < low < 38


def test_ranges_are_said_plainly_where_that_moves_few_observations():
    students = distribution(np.arange(20, 140, 3.0))
    for seed in range(20):
        low, high = choose_value("between", students, np.random.default_rng(seed))
        assert low % 5 == 0 or high % 5 == 0


@pytest.mark.parametrize(
    ("values", "strange"),
    [
        ([20.0, 30.0, 50.0, 100.0, 100_000.0], 100_000.0),
        ([0.002, 30.0, 50.0, 100.0, 100.0], 0.002),
        ([20.0, 30.0, 50.0, 100.0, 2000.0], None),
        ([20.0, 30.0, 50.0, 100_000.0, 100_000.0], None),
        ([20.0, 100_000.0, 30.0], None),
    ],
)
def test_a_slip_of_the_pen_is_not_asked_for(values, strange):
    seen = distribution(np.array(values))
    asked = {choose_value("=", seen, np.random.default_rng(seed), at_random=True)[0] for seed in range(60)}
    assert asked == {*values} - {strange}


SIZES = np.array([2.0] * 5 + [4.0] * 20 + [8.0] * 30 + [16.0] * 10 + [32.0] * 3)
"""Gigabytes of memory: things come in a few sizes."""


@given(comparator=st.sampled_from(["<", "<=", ">", ">="]), seed=st.integers(0, 500), at_random=st.booleans())
def test_sizes_are_asked_for_as_they_are(comparator, seed, at_random):
    ask = choose_value(comparator, distribution(SIZES), np.random.default_rng(seed), at_random=at_random)
    assert ask is not None
    assert ask[0] in SIZES


@given(comparator=st.sampled_from(["<", ">"]), value=st.sampled_from([4.0, 8.0, 16.0]), seed=st.integers(0, 500))
def test_sizes_beyond_a_value_are_those_of_all_things(comparator, value, seed):
    one = distribution(np.array([value, value]))
    low, _ = around(comparator, value, one, np.random.default_rng(seed), sizes(distribution(SIZES)))
    assert low in SIZES
    assert low > value if comparator == "<" else low < value


def test_figures_that_a_text_repeats_are_no_sizes():
    assert sizes(distribution(np.array([18.3, 18.3, 23.5, 23.5, 23.5]))) is None
    assert sizes(distribution(SIZES)).tolist() == [2.0, 4.0, 8.0, 16.0, 32.0]


@pytest.mark.parametrize(("value", "bound"), [(8.0, 7.0), (12.0, 10.0), (1.0, 0.9)])
def test_a_bound_below_whole_numbers_is_one_where_it_can_be(value, bound):
    assert around(">", value, distribution(np.array([value, value])), np.random.default_rng(0)) == (bound, bound)
