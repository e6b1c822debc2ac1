"""Codes of quantities: their product says what `verdict` says, exactly where knots tell values apart."""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache

import numpy as np
import pytest

from qbench.quantities.conditions import verdict
from qbench.quantities.units import load_units
from qbench.retrieval.rates import amount_of
from qbench.scoring.value_code import CELLS, DIMENSION, LEVELS, TURNS, Grid, ValueCode, _waves, compared_units, ends
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
    return float((code.mention(one) @ code.condition(asked)).max())


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
    assert product(code, mention(2.0), asked) < 1e-5
    assert product(code, mention(7.0), asked) == pytest.approx(1, abs=1e-5)
    outside = condition("length", "!=", 2, "metre", 7)
    assert [product(code, mention(value), outside) > 0.99 for value in VALUES] == [
        not 2 <= value <= 7 for value in VALUES
    ]
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
    """Without a level of 70, 2 to 70 would end at 60."""
    lows = [mention(value) for value in (1.0, 2.0, 60.0, 1000.0)]
    whole = mention(2.0, high=70.0, base_high=70.0, comparator="between")
    code = of_mentions(*lows, whole)
    assert 70.0 in code.grids["metre"].first
    assert product(code, whole, condition("length", "<=", 70, "metre")) > 0.99
    assert product(code, whole, condition("length", "<", 70, "metre")) < 0.6


def test_the_kernel_of_equality_is_what_the_page_says():
    waves = [_waves(value) for value in (100.0, 100.1, 100.3, 101.0, 110.0)]
    np.testing.assert_allclose([waves[0] @ other for other in waves], [1, 0.70, 0.57, 0.32, 0.27], atol=0.02)


@lru_cache
def steps(count):
    """Values apart, the code of a corpus that has each once, and its codes of mentions of them."""
    values = np.arange(1.0, count + 1)
    code = ValueCode.of(["metre"] * count, values)
    return values, code, [code.mention(mention(value)) for value in values]


@pytest.mark.parametrize("count", [1, 2, CELLS, CELLS + 1, 3 * CELLS + 5, LEVELS])
@pytest.mark.parametrize("comparator", ["=", "!=", "<", "<=", ">", ">="])
def test_values_are_told_apart_exactly_while_each_has_a_level(count, comparator):
    values, code, rows = steps(count)
    assert max(len(some) for some in rows) == (1 if count <= CELLS else 2)
    # In the middle of a cell, at its ends, beyond all values, and between two of them.
    for asked in (values[0], values[-1], values[count // 2], values[count // 3] + 0.5, 0.5, count + 7.0):
        wanted = condition("length", comparator, float(asked), "metre")
        asks = code.condition(wanted)
        found = np.array([(some @ asks).max() for some in rows])
        met = np.array([verdict(mention(value), wanted) == "met" for value in values])
        np.testing.assert_allclose(found[met], 1, atol=1e-5)
        assert (found[~met] < 1e-5).all()


@pytest.mark.parametrize(("low", "high"), [(100, 100), (100, 103), (100, 117), (100, 900), (1, LEVELS), (0, 5000)])
def test_ranges_are_exact_but_where_both_borders_are_in_cells_of_one_turn(low, high):
    values, code, rows = steps(LEVELS)
    wanted = condition("length", "between", float(low), "metre", float(high))
    found = np.array([(some @ code.condition(wanted)).max() for some in rows])
    met = (values >= low) & (values <= high)
    grid = code.grids["metre"]
    cells = [grid.level(float(value)) // grid.of_cell for value in (low, high)]
    if cells[0] != cells[1] and (cells[1] - cells[0]) % TURNS == 0:
        inside = np.isin(np.arange(len(values)) // grid.of_cell, cells)
        assert set(found[inside].round(3)) <= {0.5, 1.0, -1.0, 0.0}
        met, found = met[~inside], found[~inside]
    np.testing.assert_allclose(found[met], 1, atol=1e-5)
    assert (found[~met] < 1e-5).all()


def test_stated_ranges_have_both_ends_within():
    code = steps(LEVELS)[1]
    for low, high in ((100, 103), (100, 140), (300, 800)):
        one = mention(float(low), high=float(high), base_high=float(high), comparator="between")
        assert len(code.mention(one)) == 4
        for comparator, border in ((">", low - 1), (">=", low), ("<=", high), ("<", high + 1)):
            assert product(code, one, condition("length", comparator, border, "metre")) == pytest.approx(1, abs=1e-5)
        for comparator, border in ((">", low), (">", high), ("<", high), ("<", low)):
            assert product(code, one, condition("length", comparator, border, "metre")) < 1e-5


def test_more_values_than_levels_the_frequent_ones_are_exact():
    rare = np.linspace(1, 1000, 5000)
    round_ones = np.repeat(np.arange(50.0, 1000.0, 50.0), 20)
    code = ValueCode.of(["metre"] * (rare.size + round_ones.size), np.concatenate([rare, round_ones]))
    grid = code.grids["metre"]
    assert grid.first.size <= LEVELS
    assert (grid.first <= grid.last).all()
    assert (grid.last[:-1] < grid.first[1:]).all()
    for border in (50.0, 500.0, 950.0):
        asked = condition("length", ">=", border, "metre")
        assert product(code, mention(border), asked) == pytest.approx(1, abs=1e-5)
        assert product(code, mention(float(rare[rare < border][-1])), asked) < 0.6
    # Values that share a level count a half at a border among them, and "=" is told by the kernel.
    level = int(np.argmax(grid.last - grid.first))
    among = rare[(rare >= grid.first[level]) & (rare <= grid.last[level])]
    assert among.size > 1
    middle = float(among[among.size // 2])
    more = [product(code, mention(float(value)), condition("length", ">", middle, "metre")) for value in among]
    np.testing.assert_allclose(more, 0.5, atol=1e-5)
    same = condition("length", "=", middle, "metre")
    assert product(code, mention(middle), same) > 0.99
    assert product(code, mention(middle + 300), same) < 0.6


@pytest.mark.parametrize("count", [LEVELS + 1, 5000, 20_000])
def test_values_that_are_all_different_share_levels_evenly(count):
    grid = Grid.of(np.random.default_rng(3).lognormal(8, 2, count))
    assert LEVELS / 2 <= grid.first.size <= LEVELS
    code = ValueCode.of(["metre"] * count, np.arange(1.0, count + 1))
    sizes = np.diff(np.append(code.grids["metre"].first, count + 1))
    assert sizes.max() <= -(-count // LEVELS) + 1


def test_codes_have_a_round_number_of_dimensions():
    """Product quantisation needs parts of one size: 128 and 256 numbers have many."""
    assert DIMENSION == 256


def test_values_that_no_document_has_take_the_nearest_level():
    grid = Grid.of(np.array([1.0, 2.0, 4.0]))
    assert [grid.level(value) for value in (-5.0, 1.0, 1.4, 1.6, 2.9, 3.1, 4.0, 9.0)] == [0, 0, 0, 1, 1, 2, 2, 2]
    assert Grid.of(np.empty(0)).level(3.0) == 0


def test_bad_values():
    code = ValueCode.of(["metre"] * 4, np.array([np.nan, np.inf, 1.0, 2.0]))
    assert code.grids["metre"].first.tolist() == [1, 2]
    broken = mention(1.0, base_value=float("nan"))
    assert code.mention(broken).shape == (1, DIMENSION)
    assert not code.mention(broken).any()
    for asked in (condition("x", ">", 1e300, "metre"), condition("x", "=", 5, "parsec"), condition("x", "<", -1e-300)):
        for one in (mention(v, u) for v in (-1e300, 0.0, 1e-300, 1e300) for u in ("metre", "second", "")):
            assert np.isfinite(code.mention(one) @ code.condition(asked)).all()


@pytest.mark.parametrize("value", [1.0, 7.0])
def test_what_is_counted_satisfies_a_bound_without_a_unit_too(value):
    """ "fewer than 5 teams" and "number of teams below 5" ask for the same."""
    code = grid(units=("team", ""))
    counted = replace(mention(value), unit="team", base_unit="team", family="count")
    bare, same = condition("teams", "<", 5, ""), replace(condition("teams", "<", 5, ""), unit="team", base_unit="team")
    for asked in (bare, same):
        assert (product(code, counted, asked) > 0.99) == (value < 5)
    assert product(code, mention(value, ""), same) < 0.6
    measured = replace(counted, family="mass")
    assert product(code, measured, bare) < 0.6


@pytest.mark.parametrize("value", [1.0, 4.0, 9.0])
def test_a_rate_satisfies_a_bound_of_the_amount_too(value):
    """ "$4 annually" is less than "$5", and no less than a rate of a dollar a year."""
    units = load_units()
    amounts = {name: amount_of(name, units) for name in ("dollar per year", "visitor per year")}
    per_year, per_second = quantity("x", "x", value, "dollar per year"), quantity("x", "x", value, "visitor per year")
    names, values = [], []
    for one in (per_year, per_second):
        for name, factor in compared_units(one.base_unit, one.family, one.change, amounts[one.unit]):
            names += [name] * 3
            values += [(one.base_value * factor) * share for share in (0.5, 1, 2)]
    code = ValueCode.of(names, np.array(values), amounts)
    for one, unit in ((per_year, "dollar"), (per_year, "dollar per year"), (per_second, "visitor"), (per_second, "")):
        asked = condition("x", "<", 5, unit)
        assert (product(code, one, asked) > 0.99) == (value < 5), unit
    assert product(code, per_year, condition("x", "<", 5)) < 0.3
