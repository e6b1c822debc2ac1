"""One unit or one value replaced, and nothing else."""

from __future__ import annotations

import pytest

from qbench.generation.permute import with_unit, with_value
from qbench.generation.recheck import NO_LONGER, READS_DIFFERENTLY, STILL_SATISFIES, Rechecker
from qbench.generation.surfaces import UnitForm, read_value
from qbench.quantities.extractors import get_extractor
from qbench.quantities.types import Condition
from qbench.quantities.units import load_units

UNITS = load_units()
EXTRACTOR = get_extractor()


def mentions(text):
    found = EXTRACTOR.extract(text)
    assert found
    return found


def form(unit, surface):
    known = UNITS.get(unit)
    if surface in known.before and surface not in known.names:  # "euro" is written on either side
        return UnitForm(before=surface)
    return UnitForm(after=surface if surface == "%" else f" {surface}", named=surface in known.names)


@pytest.mark.parametrize(
    ("text", "unit", "surface", "expected"),
    [
        ("The laptop weighs 2 lb.", "kilogram", "kg", "The laptop weighs 2 kg."),
        ("It cost $5 million last year.", "euro", "€", "It cost €5 million last year."),
        ("It cost $5 million last year.", "euro", "euro", "It cost 5 million euro last year."),
        ("It cost 5 million dollars last year.", "euro", "€", "It cost €5 million last year."),
        ("The laptop weighs 2 kg.", "pound-mass", "lb.", "The laptop weighs 2 lb."),
        ("It weighs 2 lb. at most, he said.", "kilogram", "kg", "It weighs 2 kg at most, he said."),
        ("Rates rose 5 % in May.", "percentage", "percent", "Rates rose 5 percent in May."),
        ("A 5-year bond was sold.", "month", "month", "A 5-month bond was sold."),
        ("A 5-year bond was sold.", "month", "mo", None),
        ("Rates rose six percent in May.", "percentage", "%", None),
        ("The laptop weighs 2 kg.", "kilogram", "kg", None),
        ("The 5 and 8 kg bags sold.", "gram", "g", None),
        ("It ended after 4 weeks' sailing.", "month", "months", None),
        ("It sailed for 5 full calendar years.", "month", "months", None),
        ("A trip costs 50 cents to a dollar.", "euro", "euro", None),
    ],
)
def test_units(text, unit, surface, expected):
    made = with_unit(text, mentions(text), 0, unit, form(unit, surface), UNITS)
    assert (made and made.text) == expected
    if made:
        assert made.quantity.unit == unit
        assert read_value(made.text[slice(*made.value_span)]).value == made.quantity.value
        assert made.mentions[0] == made.quantity


@pytest.mark.parametrize(
    ("text", "value", "expected"),
    [
        ("It cost $3.5 million.", 4.2e6, "It cost $4.2 million."),
        ("They employ 1,250 people.", 900.0, "They employ 900 people."),
        ("They employ 900 people in 3 towns.", 12_500.0, "They employ 12,500 people in 3 towns."),
        ("The term is 2 years.", 1.0, None),
        ("They employ five people.", 9.0, None),
        ("They sold 5 to 8 kg.", 7.0, None),
        ("They employ 900 people.", 900.0, None),
    ],
)
def test_values(text, value, expected):
    made = with_value(text, mentions(text), 0, value, UNITS)
    assert (made and made.text) == expected
    if made:
        assert read_value(made.text[slice(*made.value_span)]).value == value


def test_everything_else_stays():
    text = "In 3 towns they sold 12 kg of tea for $5, at 40 cents."
    found = mentions(text)
    for place, mention in enumerate(found):
        made = with_value(text, found, place, 77.0, UNITS)
        start, end = mention.value_span
        assert made.text == text[:start] + "77" + text[end:]
        assert [m for n, m in enumerate(made.mentions) if n != place] == [m for n, m in enumerate(found) if n != place]


def weight(comparator, value, unit="pound-mass"):
    known = UNITS.get(unit)
    base = UNITS.to_base(value, unit)
    return Condition(comparator, value, value, unit, known.base_unit, base, base, ("laptop",))


def test_a_unit_of_the_family_may_still_satisfy_after_arithmetic():
    text = "The laptop weighs 2 lb."
    found = mentions(text)
    assert found[0].concept == ("laptop",)
    in_kilograms = with_unit(text, found, 0, "kilogram", form("kilogram", "kg"), UNITS)
    for extractor in (EXTRACTOR, None):
        checker = Rechecker(extractor)
        assert checker.permuted([in_kilograms], [weight(">", 1)], positive=False) == [STILL_SATISFIES]
        assert checker.permuted([in_kilograms], [weight("<", 3)], positive=False) == [None]
        assert checker.permuted([in_kilograms], [weight("<", 3)], positive=True) == [NO_LONGER]


def test_a_text_that_reads_differently_is_refused():
    text = "The laptop weighs 2 lb."
    # "2 of metres" is a bare number: what counts is what the extractor says.
    made = with_unit(text, mentions(text), 0, "metre", UnitForm(after=" of metres"), UNITS)
    still_good = with_unit(text, mentions(text), 0, "kilogram", form("kilogram", "kg"), UNITS)
    samples = [made, still_good, made]
    found = Rechecker(EXTRACTOR).permuted(samples, [weight("<", 3)], positive=False)
    assert found == [READS_DIFFERENTLY, None, READS_DIFFERENTLY]
    assert Rechecker(None).permuted(samples, [weight("<", 3)], positive=False) == [None] * 3


def test_the_amounts_of_a_sentence_stay_in_one_currency():
    text = "The loan was $9 million, of which $2 million was repaid."
    assert with_unit(text, mentions(text), 0, "euro", form("euro", "€"), UNITS) is None
    assert with_unit(
        "The loan was $9 million.", mentions("The loan was $9 million."), 0, "euro", form("euro", "€"), UNITS
    )
