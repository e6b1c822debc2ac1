"""Every surface form of the units file, written around generated numbers, is read back as that number and unit."""

from typing import NamedTuple

from hypothesis import given, settings
from hypothesis import strategies as st

from qbench.quantities.english.rules import RulesExtractor
from qbench.quantities.english.unit_forms import NEVER_SPACED, RISKY_CODES
from qbench.quantities.units import fold, load_units
from tests.quantities.english.senses import senses_of

UNITS = load_units()
RULES = RulesExtractor(UNITS)

MAGNITUDE_LETTERS = ("K", "k", "M", "B")
"""Glued to a number these are a magnitude ("5k"): a unit that begins so is written with a space."""
SCALE_LIKE = {"mN", "MN"}
"""Read as "mn", million, in any case: a newton's multiples are written out or with another prefix."""


class Form(NamedTuple):
    """A way to write a unit: "{n} {form}", "{n}{form}", "{n}-{form}", "{form}{n}" or "{form} {n}"."""

    unit: str
    form: str
    pattern: str


def legal_forms() -> list[Form]:
    """All of them but the impossible ones, each for a reason that stands here."""
    forms = []
    for unit in UNITS:
        if unit.family == "date" or unit.name == "dozen":
            continue  # a calendar year is no amount; "37 dozen" is 444
        for name in unit.names:
            if UNITS.named(fold(name)) is not unit:
                continue  # an earlier unit has the name
            forms.append(Form(unit.name, name, "it had {n} {form} there"))
            if not name.startswith(("US", "U.S.", "UK", "N.Z.", "H.K.")):  # "10-US" is a code, like "10-K"
                forms.append(Form(unit.name, name.replace(" ", "-"), "the {n}-{form} thing"))
        for symbol in unit.symbols:
            if UNITS.symbol(symbol) is not unit or symbol in SCALE_LIKE or symbol == "toe":
                continue  # ... and a toe is a tonne of oil only beside words of energy
            if symbol not in NEVER_SPACED:  # letters and words that only context makes a unit after a space
                forms.append(Form(unit.name, symbol, "it had {n} {form} there"))
            if symbol.split("/")[0] not in MAGNITUDE_LETTERS and not symbol.startswith(("TH", "pm")) and symbol != "s":
                forms.append(Form(unit.name, symbol, "it had {n}{form} there"))  # "5th", "5pm", "the 90s"
        for sign in unit.before:
            if UNITS.preceding(sign) is unit:
                forms.append(Form(unit.name, sign, "it had {form}{n} there"))
                if sign != "PS":  # pounds in scraped news, only without a space
                    forms.append(Form(unit.name, sign, "it had {form} {n} there"))
    return forms


FORMS = legal_forms()
WHOLE = st.integers(11, 9_999).map(str)
THOUSANDS = st.integers(1_000, 99_999_999).map(lambda n: f"{n:,}")
DECIMALS = st.builds("{}.{}".format, st.integers(1, 9_999), st.integers(1, 99))
MAGNITUDES = st.builds("{} {}".format, st.integers(2, 999), st.sampled_from(["thousand", "million", "billion"]))
SCALES = {"thousand": 1e3, "million": 1e6, "billion": 1e9}


def value_of(number: str) -> float:
    digits, _, scale = number.partition(" ")
    return float(digits.replace(",", "")) * SCALES.get(scale, 1.0)


def readings(form: Form) -> set[str]:
    """The unit itself, and what the ambiguity rules may make of the form."""
    return {form.unit, *senses_of(form.form), *senses_of(form.form.lower())}


def check(form: Form, number: str) -> None:
    if " " in number and "{n} {form}" not in form.pattern and "{form}{n}" not in form.pattern:
        return  # "5 millionkg" is no English
    if form.form in RISKY_CODES and number.isdecimal():
        return  # "TOP 10": a code that is a word needs a sum that looks like money
    text = form.pattern.format(n=number, form=form.form)
    amounts = RULES.extract(text)
    assert len(amounts) == 1, text
    found = amounts[0]
    assert found.unit in readings(form), text
    sense_is_magnitude = found.unit == ""
    assert sense_is_magnitude or found.value == value_of(number), text
    assert text[slice(*found.value_span)] == number
    assert found.unit_span is None or form.form in text[slice(*found.unit_span)]


@settings(max_examples=1500, deadline=None)
@given(st.sampled_from(FORMS), st.one_of(WHOLE, THOUSANDS, DECIMALS, MAGNITUDES))
def test_value_and_unit_come_back(form, number):
    check(form, number)


def test_every_form_once():
    for form in FORMS:
        check(form, "3,720.5")


def test_thousands_of_distinct_forms_are_covered():
    assert len({form.form for form in FORMS}) > 2_000
    assert len({form.unit for form in FORMS}) > 700
