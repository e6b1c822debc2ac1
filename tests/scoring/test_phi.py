"""The Phi scores: the paper's formulas, and what the paper leaves open."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from qbench.errors import UnknownNameError
from qbench.quantities.codes import comparator_codes
from qbench.quantities.conditions import MET, verdicts
from qbench.quantities.types import Condition
from qbench.retrieval.entries import REGISTRY
from qbench.scoring.phi import FAMILIES, family, phi, phi_of_satisfying

values = st.one_of(st.integers(-20, 20).map(float), st.floats(-1e6, 1e6), st.floats(-1e300, 1e300))
comparators = st.sampled_from(["=", "!=", "<", "<=", ">", ">=", "between"])
bounds = st.sampled_from(["=", "~", "<", "<=", ">", ">=", "between"])


def asks(comparator, low, high=None):
    low, high = min(low, low if high is None else high), max(low, low if high is None else high)
    high = high if comparator == "between" else low
    return Condition(comparator, low, high, "", "", low, high)


def one(name, condition, low, high=None, bound="=", unit=1.0):
    high = low if high is None else high
    return float(phi(name, condition, np.array([low]), np.array([high]), comparator_codes([bound]), unit)[0])


@pytest.mark.parametrize(
    ("name", "comparator", "x", "v", "score"),
    [
        ("ratio", "=", 5, 5, 1),
        ("ratio", "=", 5, 7, math.exp(-2)),
        ("ratio", ">", 5, 20, 5 / 20),
        ("ratio", ">", 5, 5, 0),
        ("ratio", ">", 5, 4, 0),
        ("ratio", ">=", 5, 5, 1),
        ("ratio", "<", 20, 5, 5 / 20),
        ("ratio", "<", 5, 20, 0),
        ("ratio", "<=", 5, 5, 1),
        ("ratio", "!=", 5, 5, 0),
        ("ratio", "!=", 5, 500, 1),
        ("exponential", ">", 5, 7, math.exp(-2)),
        ("exponential", "<", 5, 3, math.exp(-2)),
        ("exponential", "<", 5, 7, 0),
        ("relative", "=", 100, 110, math.exp(-0.1)),
        ("relative", ">", 100, 150, math.exp(-0.5)),
        ("relative", "=", 0, 2, math.exp(-2)),
        # no ratio: a mirror for two negative values, next to nothing across zero
        ("ratio", ">", -8, -4, 4 / 8),
        ("ratio", "<", -4, -8, 4 / 8),
        ("ratio", ">", -4, 4, 1e-9 / 3),
        ("ratio", ">", 0, 7, 1 / 8),
        ("ratio", "<", 5, 0, 1e-9 / 2),
        ("ratio", ">=", 0, 0, 1),
    ],
)
def test_plain_values(name, comparator, x, v, score):
    assert one(name, asks(comparator, x), v) == pytest.approx(score)


@pytest.mark.parametrize(
    ("condition", "low", "high", "bound", "score"),
    [
        (asks(">", 3), 5, 5, ">", 3 / 5),
        (asks(">", 6), 5, 5, ">", 0),
        (asks(">", 3), 5, 8, "between", 3 / 5),
        (asks("<", 10), 5, 8, "between", 8 / 10),
        (asks("<", 10), 5, 5, "<", 5 / 10),
        (asks("=", 6), 5, 8, "between", (math.exp(-1) + math.exp(-2)) / 2),
        (asks("=", 5), 5, 5, ">", 1 / 2),
        (asks("=", 5), 5, 5, "~", 1),
        (asks("between", 4, 9), 5, 8, "between", 1),
        (asks("between", 6, 9), 5, 8, "between", 0),
        (asks("between", 4, 9), 9, 9, "=", 1),
        (asks("!=", 5), 6, 8, "between", 1),
    ],
)
def test_mentions_that_are_intervals(condition, low, high, bound, score):
    assert one("ratio", condition, low, high, bound) == pytest.approx(score)


def test_distances_are_counted_in_the_querys_unit():
    pound = 0.45359237
    assert one("ratio", asks("=", 2 * pound), 3 * pound, unit=pound) == pytest.approx(math.exp(-1))
    assert one("exponential", asks(">", 2 * pound), 5 * pound, unit=pound) == pytest.approx(math.exp(-3))


def test_values_that_differ_by_rounding_are_equal():
    x = 3e12 * 0.1
    assert one("ratio", asks("=", x), x * (1 + 1e-12)) == 1
    assert one("ratio", asks(">", x), x * (1 + 1e-12)) == 0


@given(st.sampled_from(sorted(FAMILIES)), comparators, values, values, values, values, bounds)
@settings(deadline=None)
def test_zero_means_not_satisfied_and_satisfied_scores_in_0_1(name, comparator, x, x2, v, v2, bound):
    condition = asks(comparator, x, x2)
    low, high = (min(v, v2), max(v, v2)) if bound == "between" else (v, v)
    score = one(name, condition, low, high, bound)
    arrays = np.array([low]), np.array([high]), comparator_codes([bound])
    met = verdicts(*arrays, condition)[0] == MET
    assert 0 <= score <= 1
    if comparator == "=":
        assert score == 1 or not met
    else:
        assert (score > 0) == met


NEAREST_FIRST = sorted(FAMILIES.keys() - {"far"})


@given(st.floats(0.1, 1e6), st.floats(0.1, 1e6), st.floats(0.1, 1e6))
def test_a_farther_value_never_scores_less_where_far_is_asked_for(x, v, w):
    for comparator, way in ((">", 1), ("<", -1)):
        scores = [one("far", asks(comparator, x), value) for value in sorted((v, w), reverse=way < 0)]
        assert scores[0] <= scores[1] + 1e-12
    assert one("far", asks(">", 2.0), 8.0) == pytest.approx(0.75)
    assert one("far", asks("=", 2.0), 2.0) == 1.0


@given(st.sampled_from(NEAREST_FIRST), st.floats(0.1, 1e6), st.floats(0.1, 1e6), st.floats(0.1, 1e6))
@example("exponential", 1.0, 691.0, 746.0)  # below what a satisfied bound scores at least, and not yet zero
@settings(deadline=None)
def test_a_nearer_value_never_scores_less(name, x, v, w):
    near, far = sorted((x + v, x + w))
    assert one(name, asks(">", x), near) >= one(name, asks(">", x), far)
    assert one(name, asks("=", x), near) >= one(name, asks("=", x), far)


@given(
    st.sampled_from(NEAREST_FIRST),
    st.sampled_from(["<", ">", "="]),
    st.floats(-50, 50),
    st.floats(0, 90),
    st.floats(0, 90),
)
def test_nearness_counts_across_zero_too(name, comparator, x, d, e):
    near, far = sorted((d, e))
    side = -1 if comparator == "<" else 1
    scores = [one(name, asks(comparator, x), x + side * distance) for distance in (near, far)]
    # A value that does not satisfy the bound (distance 0) scores 0; of two that do, the nearer scores no less.
    assert scores[0] >= scores[1] - 1e-15 or scores[0] == 0


@given(st.sampled_from(sorted(FAMILIES)), comparators, st.floats(-100, 100), st.floats(-100, 100))
@settings(deadline=None)
def test_the_quick_path_for_satisfying_values_agrees(name, comparator, x, v):
    condition = asks(comparator, x, x + 10)
    score = one(name, condition, v)
    if comparator == "=" or score > 0:
        assert phi_of_satisfying(name, condition, np.array([v]))[0] == pytest.approx(score, abs=1e-300)


def test_the_registry_offers_exactly_the_families():
    parameter = next(p for p in REGISTRY.find("Q", "quantity score").parameters if p.name == "phi")
    assert set(parameter.choices) == set(FAMILIES)


def test_an_unknown_family_names_the_known_ones():
    with pytest.raises(UnknownNameError, match="ratio, exponential, relative"):
        family("linear")
