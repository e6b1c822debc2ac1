"""Amounts of one currency in another one."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from qbench.generation.rates import EVERYWHERE, RATES, compare
from qbench.quantities.units import load_units

UNITS = load_units()


def test_all_are_currencies_of_the_file_of_units():
    assert {UNITS.get(name).family for name in RATES} == {"currency"}
    assert set(EVERYWHERE) <= set(RATES)
    assert all(0 < low <= high for low, high in RATES.values())


@given(st.floats(0.01, 1e9), st.sampled_from(sorted(RATES)), st.sampled_from(sorted(RATES)))
def test_there_and_back_holds_the_amount(value, unit, other):
    low, high = compare(value, unit, other)
    least, most = compare(low, other, unit)[0], compare(high, other, unit)[1]
    assert low <= high
    assert least <= value * (1 + 1e-9)
    assert most >= value * (1 - 1e-9)


def test_an_unknown_currency_has_no_rate():
    assert compare(5.0, "dollar", "galactic credit") is None
