"""Numbers in two units that are the same as far as they are written."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from qbench.generation.labels import holds, meets
from qbench.generation.rounding import asked_half_place, half_place, same_as_written
from qbench.quantities.types import Condition, Quantity
from qbench.quantities.units import load_units

UNITS = load_units()


def said(text: str, unit: str, comparator: str = "=") -> Quantity:
    value, digits = float(text), len(text.replace(".", "").lstrip("0"))
    kind, base = UNITS.get(unit), UNITS.to_base(value, unit)
    return Quantity(value, value, comparator, unit, kind.family, kind.base_unit, base, base, ("screen",), digits)


def asked(comparator: str, value: float, unit: str) -> Condition:
    base = UNITS.to_base(value, unit)
    return Condition(comparator, value, value, unit, UNITS.get(unit).base_unit, base, base, ("screen",))


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (("35.6", "centimetre"), (14, "inch")),
        (("14", "inch"), (35.6, "centimetre")),
        (("2.23", "kilogram"), (4.92, "pound-mass")),
        (("4.92", "pound-mass"), (2.23, "kilogram")),
        (("72", "fahrenheit"), (22, "celsius")),
        (("100", "mile per hour"), (161, "kilometre per hour")),
        (("2.49", "dollar per pound-mass"), (5.49, "dollar per kilogram")),
    ],
)
def test_a_number_and_its_rounding_in_another_unit_decide_nothing(one, other):
    assert said(*one).base_unit == asked("=", *other).base_unit
    for comparator in ("=", ">", ">=", "<", "<=", "!="):
        condition = asked(comparator, *other)
        assert meets(said(*one), condition) is None
        assert holds([condition], [said(*one)]) == "unclear"


@pytest.mark.parametrize(
    ("one", "other", "met"),
    [
        (("35", "centimetre"), (14, "inch"), False),  # 35 cm are no 14 in that are rounded
        (("36", "centimetre"), (14, "inch"), None),  # 14 in are 36 cm, and 36 cm 14 in
        (("35.7", "centimetre"), (14, "inch"), True),
        (("2.3", "kilogram"), (4.92, "pound-mass"), True),
        (("25.4", "millimetre"), (1, "inch"), False),  # exactly as much is no rounding
        (("1500", "metre"), (1.5, "kilometre"), False),
        (("1501", "metre"), (1.5, "kilometre"), True),
        (("35.6", "centimetre"), (35.56, "centimetre"), True),  # of one unit, what is written counts
    ],
)
def test_what_lies_further_off_is_compared(one, other, met):
    assert meets(said(*one), asked(">", *other)) is met


@given(st.decimals("0.001", "1e9", places=3))
def test_half_a_place_is_what_a_number_may_be_rounded_by(number):
    text = f"{number:.3f}"
    value = float(text)
    digits = max(1, len(text.replace(".", "").lstrip("0")))
    assert half_place(value, digits) == pytest.approx(0.0005)
    assert asked_half_place(value) >= 0.0005 * 0.999


def test_other_kinds_and_zero_are_left_alone():
    assert not same_as_written(said("14", "inch"), asked("=", 14, "kilogram"))
    assert not same_as_written(said("0", "inch"), asked("=", 0.1, "centimetre"))
    assert not same_as_written(said("14", "widget"), asked("=", 14, "wheel"))
