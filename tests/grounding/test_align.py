"""Which mentions state which facts: units, rounding, brackets, ranges, other attributes' numbers."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from qbench.grounding.align import Aligner, Claim, Said, apart, column_steps, step_of
from qbench.quantities.types import Quantity
from qbench.quantities.units import load_units
from qbench.synth.mapping import Attribute

UNITS = load_units()
WEIGHT = Attribute("weight", "weight", unit="kilogram", synonyms=("mass",), verbs=("weighs {}",))
MEMORY = Attribute("ram", "memory", unit="gigabyte", synonyms=("RAM",))
STORAGE = Attribute("disk", "storage", unit="gigabyte")
PRICE = Attribute("price", "price", unit="euro")
SPEED = Attribute("score", "rating")


def claim(number, value, attribute, step=0.01, unit=None):
    unit = attribute.unit if unit is None else unit
    return Claim(number, value, unit, UNITS.get(unit).base_unit, UNITS.to_base(value, unit), step)


def said(written, unit, *, concept=(), before="", after="", comparator="=", high=None, change=""):
    value = float(written.replace(",", ""))
    high = value if high is None else high
    known = UNITS.get(unit)
    quantity = Quantity(
        value,
        high,
        comparator,
        unit,
        known.family,
        known.base_unit,
        UNITS.to_base(value, unit),
        UNITS.to_base(high, unit),
        tuple(concept),
        change=change,
    )
    return Said(quantity, written, before, after)


def statuses(attributes, claims, mentions):
    return [found.status for found in Aligner(attributes, UNITS).align(claims, mentions)]


@pytest.mark.parametrize(
    ("value", "written", "unit"),
    [
        (1.37, "1.37", "kilogram"),
        (1.37, "1.4", "kilogram"),
        (1.37, "3.0", "pound-mass"),
        (1.37, "3", "pound-mass"),
        (1.37, "1370", "gram"),
        (1.37, "1,370", "gram"),
        (1.4, "1.37", "kilogram"),  # where the column has one decimal place
        (0.0, "0", "kilogram"),
    ],
)
def test_a_value_may_be_converted_and_rounded(value, written, unit):
    step = 0.1 if value == 1.4 else 0.01
    assert statuses([WEIGHT], [claim(0, value, WEIGHT, step)], [said(written, unit)]) == ["stated"]


@pytest.mark.parametrize(
    ("value", "written", "unit"),
    [(1.6, "2", "kilogram"), (1.37, "1.5", "kilogram"), (1.4, "1.37", "kilogram"), (1.37, "4", "pound-mass")],
)
def test_another_value_disagrees(value, written, unit):
    mention = said(written, unit, concept=["weight"])
    assert statuses([WEIGHT], [claim(0, value, WEIGHT)], [mention]) == ["disagrees"]


@given(st.floats(0.01, 9_999), st.integers(0, 3))
def test_a_value_written_with_fewer_digits_is_stated(value, decimals):
    written = f"{value:.{decimals}f}"
    if apart(value, float(written)) <= 0.05:
        assert statuses([WEIGHT], [claim(0, value, WEIGHT)], [said(written, "kilogram")]) == ["stated"]


@given(st.floats(0.5, 500), st.floats(1.06, 20))
def test_what_is_farther_away_is_never_stated(value, factor):
    written = f"{value * factor:.3f}"
    assert statuses([WEIGHT], [claim(0, value, WEIGHT)], [said(written, "kilogram")]) == ["disagrees"]


@given(st.sampled_from(["pound-mass", "gram", "ounce", "tonne"]), st.floats(0.2, 80))
def test_units_do_not_matter(unit, value):
    if unit not in UNITS:
        return
    there = UNITS.convert(value, "kilogram", unit)
    assert statuses([WEIGHT], [claim(0, value, WEIGHT)], [said(f"{there:.6f}", unit)]) == ["stated"]


def test_a_bracket_states_the_fact_a_second_time():
    mentions = [said("1.37", "kilogram"), said("3.0", "pound-mass")]
    (found,) = Aligner([WEIGHT], UNITS).align([claim(0, 1.37, WEIGHT)], mentions)
    assert (found.status, found.agreeing) == ("stated", (0, 1))


@pytest.mark.parametrize(
    ("comparator", "low", "high", "status"),
    [
        ("between", "1.2", 1.4, "bounded"),
        ("between", "1.5", 1.8, "disagrees"),
        ("<", "2", None, "bounded"),
        ("<", "1", None, "disagrees"),
        (">=", "1.37", None, "bounded"),
    ],
)
def test_ranges_and_bounds(comparator, low, high, status):
    mention = said(low, "kilogram", concept=["weight"], comparator=comparator, high=high)
    assert statuses([WEIGHT], [claim(0, 1.37, WEIGHT)], [mention]) == [status]


def test_about_allows_more():
    mention = said("1.3", "kilogram", concept=["weight"], comparator="~")
    assert statuses([WEIGHT], [claim(0, 1.355, WEIGHT)], [mention]) == ["stated"]


def test_equal_numbers_of_two_attributes_go_by_their_names():
    claims = [claim(0, 8.0, MEMORY, 1), claim(1, 8.0, STORAGE, 1)]
    mentions = [said("8", "gigabyte", concept=["ram"]), said("64", "gigabyte", concept=["storage"])]
    assert statuses([MEMORY, STORAGE], claims, mentions) == ["stated", "disagrees"]
    beside = [said("8", "gigabyte", after=" of storage"), said("8", "gigabyte", before="Memory: ")]
    found = Aligner([MEMORY, STORAGE], UNITS).align(claims, beside)
    assert [each.agreeing for each in found] == [(1,), (0,)]


def test_a_number_of_something_else_states_nothing():
    mentions = [said("8", "gigabyte", concept=["video"]), said("16", "gigabyte", concept=["cache"])]
    assert statuses([MEMORY], [claim(0, 8.0, MEMORY, 1)], mentions) == ["unstated"]
    assert statuses([MEMORY, STORAGE], [claim(0, 8.0, MEMORY, 1)], mentions[:1]) == ["unstated"]
    assert statuses([PRICE], [claim(0, 900.0, PRICE)], [said("900", "dollar")]) == ["unstated"]
    assert statuses([PRICE], [claim(0, 900.0, PRICE)], [said("900", "euro", change="down")]) == ["unstated"]


def test_a_bare_number_needs_a_name():
    assert statuses([SPEED], [claim(0, 4.5, SPEED, 0.1)], [said("4.5", "")]) == ["unstated"]
    assert statuses([SPEED], [claim(0, 4.5, SPEED, 0.1)], [said("4.5", "", before="Rating: ")]) == ["stated"]


def test_the_only_number_of_a_unit_is_about_its_attribute():
    one = [said("450", "euro", concept=["offer"])]
    assert statuses([PRICE], [claim(0, 400.0, PRICE)], one) == ["disagrees"]
    two = [*one, said("15", "euro", concept=["shipping"])]
    assert statuses([PRICE], [claim(0, 400.0, PRICE)], two) == ["unstated"]


@pytest.mark.parametrize(
    ("written", "value", "step"),
    [("1.4", 1.4, 0.1), ("1,300", 1300, 1), ("1.3 million", 1.3e6, 1e5), ("5k", 5000, 1000)],
)
def test_the_last_place_of_a_number(written, value, step):
    quantity = Quantity(value, value, "=", "", "", "", value, value, digits=2)
    assert step_of(written, quantity) == pytest.approx(step)


def test_the_last_place_of_a_column():
    values = [(0, 6.0), (0, 6.2), (0, 5.5), (1, 8.0), (1, 16.0)]
    assert column_steps(values, 3) == pytest.approx([0.1, 1, 1])
