"""Mantissas, exponents, lists of units, and the tokens of numbers."""

from __future__ import annotations

import json
import math
from dataclasses import fields

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from qbench.errors import InputError, OptionError
from qbench.models.encoders import open_encoder
from qbench.models.numbers import (
    MAX_EXPONENT,
    Number,
    UnitList,
    number_of,
    number_row,
    scientific,
    token_owners,
    with_number_tokens,
)


@pytest.mark.parametrize(
    ("value", "mantissa", "exponent"),
    [
        (256, 2.56, 2),
        (1000, 1.0, 3),
        (999.9999999999999, 9.999999999999998, 2),
        (-0.05, -5.0, -2),
        (0.0, 0.0, 0),
        (-0.0, 0.0, 0),
        (1e300, 1.0, MAX_EXPONENT),
        (-1e300, -1.0, MAX_EXPONENT),
        (1e-300, 1.0, -MAX_EXPONENT),
        (5e-324, 4.940656458412465, -MAX_EXPONENT),
        (1e20, 1.0, 20),
        (1e21, 1.0, 20),
    ],
)
def test_mantissas_and_exponents(value, mantissa, exponent):
    mantissas, exponents = scientific([value])
    assert mantissas[0] == pytest.approx(mantissa, rel=1e-14)
    assert not math.copysign(1, mantissas[0]) < 0 or value < 0
    assert exponents[0] == exponent


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_a_value_is_mantissa_times_power_of_ten(value):
    (mantissa,), (exponent,) = scientific([value])
    assert value == 0 or 1 <= abs(mantissa) < 10
    if abs(exponent) < MAX_EXPONENT:
        assert mantissa * 10.0**exponent == pytest.approx(value, rel=1e-12)


@pytest.mark.parametrize("value", [float("nan"), float("inf"), float("-inf")])
def test_what_is_no_number_has_no_target(value):
    with pytest.raises(OptionError, match="mantissa"):
        scientific([1.0, value])


def test_no_numbers_have_no_targets():
    mantissas, exponents = scientific([])
    assert (mantissas.shape, exponents.shape) == ((0,), (0,))


def test_a_list_of_units_takes_over_another_by_name():
    old = UnitList(("gram", "dollar", ""))
    new = UnitList(("", "dollar", "metre"))
    assert new.places_in(old).tolist() == [0, 3, 2, -1]
    assert old.with_units(new.names).names == ("gram", "dollar", "", "metre")
    assert [new.name(number) for number in new.ids(["parsec", "metre"])] == ["(unknown)", "metre"]
    assert len(UnitList(())) == 1


def test_a_unit_stands_once_in_a_list():
    with pytest.raises(InputError, match="once"):
        UnitList(("metre", "metre"))


@pytest.fixture(scope="module")
def tokenizer(tiny):
    """Knows [num] as its last token."""
    _, tokenizer = open_encoder(tiny)
    tokenizer.add_tokens(["[num]"], special_tokens=True)
    return tokenizer


def test_numbers_become_one_token_and_units_stay(tokenizer):
    token = len(tokenizer) - 1
    text = "revenue of 12.5 km in 2019"
    numbers = [Number(12.5, "kilometre", (11, 15), (16, 18)), Number(2019, "", (22, 26))]
    texts = [text, "the staff", "[num] tax", ""]
    made = with_number_tokens(tokenizer, texts, [numbers, [], [], []], token)
    words = [tokenizer.convert_ids_to_tokens(each.ids) for each in made]
    assert words[0] == ["revenue", "of", "[num]", "k", "##m", "in", "[num]"]
    assert made[0].places == [2, 6]
    assert words[1] == ["the", "staff"]
    assert (token in made[2].ids, made[2].places) == (False, [])  # what a user wrote is text
    assert made[3].ids == []
    cut = made[0].cut(5)
    assert (len(cut.ids), cut.places) == (5, [2])


def test_owners_of_tokens_as_a_tokenizer_gives_them(tokenizer):
    text = "staff 2019 km"
    encoded = tokenizer([text], return_offsets_mapping=True)["offset_mapping"][0]
    number = Number(2019, "kilometre", (6, 10), (11, 13))
    values, units = token_owners(encoded, [number.span]), token_owners(encoded, [number.unit_span])
    pieces = np.array([text[start:end] for start, end in encoded])
    assert "".join(pieces[values == 0]) == "2019"
    assert "".join(pieces[units == 0]) == "km"
    assert token_owners(encoded, [None]).tolist() == [-1] * len(encoded)


spans = st.tuples(st.integers(0, 99), st.integers(0, 99))
numbers = st.builds(
    Number,
    value=st.floats(allow_nan=False, allow_infinity=False),
    unit=st.sampled_from(["", "dollar per share", "元"]),
    span=spans,
    unit_span=st.none() | spans,
    source=st.integers(0, 9),
    operator=st.sampled_from(["", "<", "=", ">"]),
)


@given(numbers)
def test_a_number_is_the_same_after_json(number):
    again = number_of(json.loads(json.dumps(number_row(number))))
    assert again == number
    assert len(number_row(number)) == len(fields(Number))
    assert hash(again) == hash(number), "spans are tuples"
