"""Surface forms say exactly the value and the unit that they stand for."""

from __future__ import annotations

import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from qbench.generation.surfaces import (
    UnitForm,
    clean,
    pick_form,
    read_value,
    unit_forms,
    usual_forms,
    value_forms,
    write_like,
)
from qbench.quantities.units import load_units

UNITS = load_units()
people_write = st.one_of(
    st.integers(-(10**7), 10**7).map(float),
    st.tuples(st.integers(-99_999, 99_999), st.integers(-4, 9)).map(lambda p: float(f"{p[0]}e{p[1]}")),
)


@given(people_write)
def test_every_form_reads_back_to_the_value(value):
    forms = value_forms(value)
    assert "plain" in forms
    for text in forms.values():
        assert read_value(text).value == clean(value)
        assert "e" not in text.lower().replace("trillion", "")


def test_forms_of_the_paper():
    assert value_forms(10_000_000.0) == {
        "plain": "10000000",
        "comma": "10,000,000",
        "word": "10 million",
        "letter": "10M",
    }
    assert value_forms(5_000.0) == {"plain": "5000", "comma": "5,000", "letter": "5K"}
    assert value_forms(1_234_567.0) == {"plain": "1234567", "comma": "1,234,567"}
    assert value_forms(3.3 * 1e6)["word"] == "3.3 million"


@given(people_write, st.sampled_from(["3.5 million", "1,250", "5.00", "7", "12 mln", "$", "five", "0.25", "4K"]))
def test_a_number_written_like_another_keeps_its_value(value, original):
    written = read_value(write_like(value, original))
    assert written is not None
    assert written.value == clean(value)


@pytest.mark.parametrize(
    ("value", "original", "expected"),
    [
        (4.2e6, "3.5 million", "4.2 million"),
        (950.0, "3.5 million", "950"),
        (950.0, "1,250", "950"),
        (2500.0, "1,250", "2,500"),
        (7.0, "5.00", "7.00"),
        (4.5e6, "12 mln", "4.5 mln"),
        (1250.0, "900", "1,250"),
        (12_000.0, "5", "12,000"),
    ],
)
def test_writing_alike(value, original, expected):
    assert write_like(value, original) == expected


@pytest.mark.parametrize("text", ["five", "5 5", "5 frogs", "", "1-7/8", "5 million million"])
def test_what_is_no_single_number_is_not_read(text):
    assert read_value(text) is None


@pytest.mark.parametrize("name", sorted(unit.name for unit in UNITS))
def test_every_surface_of_a_unit_names_that_unit(name):
    for form in unit_forms(UNITS.get(name), UNITS, 5.0):
        found = UNITS.preceding(form.bare) if form.before else UNITS.lookup(form.bare)
        assert found is None or found.name == name


def test_a_unit_is_written_as_the_corpus_does_and_agrees_with_the_number():
    said = {("dlrs", False): 40, ("dlr", False): 30, ("$", True): 20, ("bucks", False): 1, ("pounds", False): 50}
    written = usual_forms(said, UNITS.get("dollar"), UNITS, 5.0)
    assert [(form.before, form.after, number) for form, number in written] == [("", " dlrs", 70), ("$", "", 20)]
    months = {("month", False): 9, ("months", False): 3}
    assert [form.after for form, _ in usual_forms(months, UNITS.get("month"), UNITS, 6.0)] == [" months"]
    assert [form.after for form, _ in usual_forms({("days", False): 3}, UNITS.get("day"), UNITS, 1.0)] == [" day"]
    ages = usual_forms({("year old", False): 3}, UNITS.get("year of age"), UNITS, 53.0)
    assert [form.after for form, _ in ages] == [" years old"]
    assert not usual_forms({("year-old", False): 3}, UNITS.get("year of age"), UNITS, 6.0)
    assert not usual_forms({("EUR €", True): 3}, UNITS.get("euro"), UNITS, 6.0)
    assert usual_forms({}, UNITS.get("month"), UNITS, 6.0) == []


def test_large_numbers_are_seldom_written_out():
    form = UnitForm(before="$")
    usual = [pick_form(554e6, form, np.random.default_rng(n))[0] for n in range(40)]
    assert set(usual) == {"554 million", "554M"}
    assert "554000000" in {pick_form(554e6, form, np.random.default_rng(n), odd=True)[0] for n in range(40)}


def test_names_agree_with_the_number():
    def named(unit, value):
        return {form.bare for form in unit_forms(UNITS.get(unit), UNITS, value) if form.named}

    assert named("foot", 1) == {"foot"}
    assert named("foot", 2) == {"feet"}
    assert named("employee", 30) == {"employees"}
    assert "degrees celsius" in named("celsius", 5)
    assert "degree celsius" not in named("celsius", 5)
    assert unit_forms(UNITS.get(""), UNITS, 5) == (UnitForm(),)


def test_a_second_plural_does_not_leave_the_singular():
    penny = UNITS.get("penny")
    assert not {"penny", "new penny"} & {form.bare for form in unit_forms(penny, UNITS, 2.25)}
    assert "penny" in {form.bare for form in unit_forms(penny, UNITS, 1.0)}


def test_symbols_stand_where_people_write_them():
    dollar = {form.before or form.after for form in unit_forms(UNITS.get("dollar"), UNITS, 5)}
    assert {"$", "USD ", " dollars"} <= dollar
    assert {form.after for form in unit_forms(UNITS.get("percentage"), UNITS, 5)} >= {"%", " percent"}


def test_odd_forms_are_read_and_not_written():
    written = {form.bare for name in ("dollar", "kilometre") for form in unit_forms(UNITS.get(name), UNITS, 5)}
    assert not written & {"greenbacks", "bucks", "klicks", "dlrs"}
    assert UNITS.lookup("greenbacks") == UNITS.get("dollar")


@given(
    st.integers(1, 10**10).map(float), st.integers(0, 2**32), st.sampled_from(["kilogram", "dollar", "employee", ""])
)
def test_magnitudes_go_with_money_and_names_only(value, seed, unit):
    for form in unit_forms(UNITS.get(unit), UNITS, value):
        low, high = pick_form(value, form, np.random.default_rng(seed))
        assert low == high
        assert read_value(low).value == clean(value)
        if re.search("[A-Za-z]", low):
            assert form.named or form.before or not form.after


def test_both_ends_of_a_range_are_written_alike():
    seen = {pick_form(5e6, UnitForm(before="$"), np.random.default_rng(seed), 8e6, odd=True) for seed in range(40)}
    assert seen == {("5000000", "8000000"), ("5,000,000", "8,000,000"), ("5 million", "8 million"), ("5M", "8M")}
    assert pick_form(5.0, UnitForm(after=" kg"), np.random.default_rng(0), 3e9) == ("5", "3000000000")
