"""Codes of quantities: their product says what `verdict` says, exactly where knots tell values apart."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from qbench.quantities.conditions import verdict
from qbench.scoring.value_code import DIMENSION, KNOTS, ValueCode, _waves, codes, ends
from tests.factories import condition, quantity

VALUES = [-40.0, -1.5, 0.0, 0.02, 1.0, 2.0, 2.5, 7.0, 100.0, 1e6, 1e300, 1e-300]


def mention(value, unit="metre", **changes):
    return replace(quantity("x", "x", value, unit), **changes)


def of_mentions(*mentions):
    """The grids of a corpus that has these mentions of lengths."""
    names = ("base_value", "base_high", "comparator")
    both = ends(*(np.array([getattr(one, name) for one in mentions]) for name in names))
    return ValueCode.of(["metre"] * 2 * len(mentions), np.concatenate(both))


def grid(values=VALUES, units=("metre", "second", "")):
    return ValueCode.of([unit for unit in units for _ in values], np.tile(np.array(values), len(units)))


def product(code, one, asked):
    return float(code.mention(one) @ code.condition(asked))


@pytest.mark.parametrize("comparator", ["=", "<", "<=", ">", ">=", "between"])
@pytest.mark.parametrize("asked", [-1.5, 0.0, 1.0, 2.5, 50.0, 1e6])
def test_a_product_is_one_for_what_satisfies_and_small_for_all_else(comparator, asked):
    code = grid()
    wanted = condition("length", comparator, asked, "metre", asked * 3 + 10 if comparator == "between" else None)
    for value in VALUES:
        for unit in ("metre", "second", ""):
            one = mention(value, unit)
            found = product(code, one, wanted)
            if verdict(one, wanted) == "met":
                assert found > 0.99, value
            else:
                assert found < 0.6, (value, unit)


def test_units_are_converted_before():
    code = grid()
    asked = condition("length", ">", 5, "metre")
    assert product(code, mention(7000, "millimetre"), asked) == pytest.approx(product(code, mention(7, "metre"), asked))


def test_not_equal_and_changes():
    code = grid(units=("metre", "metre up"))
    asked = condition("length", "!=", 2, "metre")
    assert product(code, mention(2.0), asked) == pytest.approx(0, abs=1e-5)
    assert product(code, mention(7.0), asked) > 0.4
    level = condition("length", ">", 1, "metre")
    assert product(code, mention(7.0, change="up"), level) < 0.6  # a change is no level
    assert product(code, mention(7.0, change="up"), replace(level, change="up")) > 0.99


def test_open_ends_and_ranges():
    code = grid()
    more, less = condition("length", ">", 1, "metre"), condition("length", "<", 100, "metre")
    assert product(code, mention(2.0, comparator=">"), more) > 0.99  # more than 2 is more than 1
    assert product(code, mention(2.0, comparator=">"), less) < 0.1  # and may be anything above
    whole = mention(2.0, high=7.0, base_high=7.0, comparator="between")
    assert product(code, whole, more) > 0.99
    assert product(code, whole, condition("length", "<", 5, "metre")) < 0.6


@pytest.mark.parametrize("value", [500.0, -500.0, 0.0, 1e-12])
@pytest.mark.parametrize("stated", ["=", ">", ">=", "<", "<="])
@pytest.mark.parametrize("asked", [">", ">=", "<", "<="])
def test_an_end_that_is_excluded_is_not_the_value_itself(value, stated, asked):
    """As `verdict` says: "more than 500" satisfies "> 500", and 500 does not."""
    one, other = mention(value, comparator=stated), mention(value)
    code = of_mentions(one, other, mention(-700.0), mention(700.0))
    wanted = condition("length", asked, value, "metre")
    assert (product(code, one, wanted) > 0.99) == (verdict(one, wanted) == "met")
    assert (product(code, one, wanted) < 0.6) == (verdict(one, wanted) != "met")


def test_upper_ends_of_ranges_are_values_of_the_grid():
    """Without a knot at 70, 2 to 70 would lie between 60 and 1000 as 70 does not."""
    lows = [mention(value) for value in (1.0, 2.0, 60.0, 1000.0)]
    whole = mention(2.0, high=70.0, base_high=70.0, comparator="between")
    code = of_mentions(*lows, whole)
    assert 70.0 in code.knots["metre"]
    assert product(code, whole, condition("length", "<=", 70, "metre")) > 0.99
    assert product(code, whole, condition("length", "<", 70, "metre")) < 0.6


def test_the_kernel_of_equality_is_what_the_page_says():
    waves = [_waves(value) for value in (100.0, 100.1, 100.3, 101.0, 110.0)]
    np.testing.assert_allclose([waves[0] @ other for other in waves], [1, 0.70, 0.57, 0.32, 0.27], atol=0.02)


def test_between_knots_a_product_rises_with_the_value():
    values = np.linspace(1, 1000, 5000)
    code = ValueCode.of(["metre"] * len(values), values)
    asked = condition("length", ">", 500, "metre")
    found = [product(code, mention(value), asked) for value in (300, 480, 510, 530, 560, 900)]
    assert found == sorted(found)
    assert found[1] < 0.6
    assert found[-2] > 0.99
    assert len(code.knots["metre"]) == KNOTS
    same = condition("length", "=", 500.5, "metre")
    assert product(code, mention(500.5), same) > 0.99
    assert product(code, mention(530.0), same) < 0.6


def test_bad_values():
    code = ValueCode.of(["metre"] * 4, np.array([np.nan, np.inf, 1.0, 2.0]))
    assert code.knots["metre"].tolist() == [1, 2]
    broken = mention(1.0, base_value=float("nan"))
    assert not code.mention(broken).any()
    assert codes(code, []).shape == (0, DIMENSION)
    for asked in (condition("x", ">", 1e300, "metre"), condition("x", "=", 5, "parsec"), condition("x", "<", -1e-300)):
        made = codes(code, [mention(v, u) for v in (-1e300, 0.0, 1e-300, 1e300) for u in ("metre", "second", "")])
        assert np.isfinite(made @ code.condition(asked)).all()
