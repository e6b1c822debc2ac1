"""Numbers in two units that are the same as far as they are written."""

from __future__ import annotations

import dataclasses

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from qbench.generation.labels import holds, meets
from qbench.generation.mentions import load_mentions
from qbench.generation.rounding import asked_half_place, half_place, rows_same_as_written, same_as_written
from qbench.quantities.types import Condition, Quantity, quantity_schema, to_row
from qbench.quantities.units import load_units

UNITS = load_units()


def said(text: str, unit: str, comparator: str = "=") -> Quantity:
    value, digits = float(text), len(text.replace(".", "").lstrip("-0"))
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
        (("1", "kilogram"), (2, "pound-mass"), True),  # a tenth apart: no one writes one for the other
        (("1", "mile"), (2, "kilometre"), False),
        (("1", "mile"), (1.6, "kilometre"), None),
        (("0", "fahrenheit"), (-18, "celsius"), None),
        (("-18", "celsius"), (0, "fahrenheit"), None),
        (("34", "fahrenheit"), (1, "celsius"), None),
        (("0", "inch"), (0.1, "centimetre"), False),
    ],
)
def test_what_lies_further_off_is_compared(one, other, met):
    assert meets(said(*one), asked(">", *other)) is met


def test_what_is_over_a_number_is_not_under_what_rounds_to_it():
    assert meets(said("14", "inch", "<"), asked(">", 36, "centimetre")) is False
    assert meets(said("36", "centimetre", ">"), asked("<", 14, "inch")) is False
    assert meets(said("14", "inch", ">"), asked(">", 36, "centimetre")) is None


def test_a_fall_is_no_rise_of_the_number_that_it_rounds_to():
    fell = dataclasses.replace(said("14", "inch"), change="down")
    rise = dataclasses.replace(asked(">", 35.6, "centimetre"), change="up")
    assert meets(fell, rise) is False
    assert meets(dataclasses.replace(fell, change="up"), rise) is None


WRITTEN = [
    said(text, unit, comparator)
    for text, unit in (
        ("35.6", "centimetre"), ("14", "inch"), ("0", "inch"), ("1000", "metre"), ("0", "fahrenheit"),
        ("-18", "celsius"), ("5", "widget"), ("2.2", "pound-mass"), ("1", "kilogram"), ("1", "mile"),
    )
    for comparator in ("=", "~", "<", ">=")
]  # fmt: skip
WRITTEN.append(dataclasses.replace(WRITTEN[0], digits=0))


@pytest.mark.parametrize("comparator", ["=", ">", "<", ">=", "<=", "!="])
@pytest.mark.parametrize(
    ("value", "unit"),
    [(14, "inch"), (35.6, "centimetre"), (35.56, "centimetre"), (36, "centimetre"), (0, "fahrenheit"), (-18, "celsius"),
     (0.0, "centimetre"), (1.09, "yard"), (3281, "foot"), (5, "widget"), (5, "wheel"), (1, "kilogram"),
     (2.2, "pound-mass"), (1.6, "kilometre"), (2, "kilometre")],
)  # fmt: skip
def test_a_column_is_told_what_each_of_its_mentions_is_told(comparator, value, unit):
    texts = pl.DataFrame({"doc_id": ["d"], "text": ["A text."]})
    mentions = load_mentions(texts, pl.DataFrame([to_row("d", q) for q in WRITTEN], schema=quantity_schema()))
    condition = asked(comparator, value, unit)
    kept = [to_row("d", quantity) for quantity in WRITTEN]
    rows = np.flatnonzero(mentions.base == mentions.base_code.get(condition.base_unit, -1))
    told = rows_same_as_written(condition, rows, mentions)
    table = mentions.table
    for row, near in zip(rows.tolist(), told.tolist(), strict=True):
        told_of = table[row]
        same = [
            same_as_written(quantity, condition)
            for quantity, one in zip(WRITTEN, kept, strict=True)
            if all(one[name] == told_of[name].item() for name in ("value", "unit", "comparator", "digits"))
        ]
        assert same
        assert near is same[0]


@given(st.decimals("0.001", "1e9", places=3))
def test_half_a_place_is_what_a_number_may_be_rounded_by(number):
    text = f"{number:.3f}"
    value = float(text)
    digits = max(1, len(text.replace(".", "").lstrip("0")))
    assert half_place(value, digits) == pytest.approx(0.0005)
    assert asked_half_place(value) >= 0.0005 * 0.999


def test_other_kinds_are_left_alone():
    assert not same_as_written(said("14", "inch"), asked("=", 14, "kilogram"))
    assert not same_as_written(said("14", "widget"), asked("=", 14, "wheel"))
