"""In which other units a person could have written an amount."""

from __future__ import annotations

import re

import polars as pl
import pytest

from qbench.generation.mentions import load_mentions
from qbench.generation.other_units import (
    NO_CURRENCY,
    NO_RATE,
    NO_UNIT,
    SAID_AGAIN,
    TOO_NEAR,
    OtherUnits,
)
from qbench.quantities.types import Condition, Quantity, quantity_schema, to_row
from qbench.quantities.units import load_units

UNITS = load_units()


def mention(text, concept, unit):
    """The mention of the first number of a text, its unit the last word after it or the first one before it."""
    known, number = UNITS.get(unit), re.search(r"\d[\d.,]*", text)
    value = float(number[0].replace(",", "").rstrip("."))
    place = re.compile(r"\s*([^\W\d]+)").match(text, number.end())
    return Quantity(
        value, value, "=", unit, known.family, known.base_unit, UNITS.to_base(value, unit), UNITS.to_base(value, unit),
        tuple(concept.split()), value_span=number.span(), unit_span=place.span(1) if place else None,
    )  # fmt: skip


def corpus(*said):
    """The other units of a corpus of (text, concept, unit)."""
    texts = pl.DataFrame({"doc_id": [f"d{n}" for n in range(len(said))], "text": [text for text, *_ in said]})
    rows = [to_row(f"d{n}", mention(*each)) for n, each in enumerate(said)]
    return OtherUnits(load_mentions(texts, pl.DataFrame(rows, schema=quantity_schema())), UNITS)


def choices(units, text, concept, unit, asked):
    """The choices for a mention that an "=" query for another number of the same unit... is broken by."""
    known = UNITS.get(unit)
    low, high = (UNITS.to_base(end, unit) for end in asked)
    condition = Condition("between", *asked, unit, known.base_unit, low, high, tuple(concept.split()))
    return units.choices(text, mention(text, concept, unit), tuple(concept.split()), condition)


MONEY = corpus(
    ("the ferry fund had 2,000,000 dollars", "fund", "dollar"),
    ("the ferry fund had 3,000,000 yen", "fund", "yen"),
    ("for Oldport the fund had 4,000,000 dollars", "fund", "dollar"),
    ("for Oldport the fund had 5,000,000 euros", "fund", "euro"),
    ("for Oldport the fund had 6,000,000 euros", "fund", "euro"),
    ("for Newport the fund had 6,000,000 dollars", "fund", "dollar"),
    ("all of it: 9,000,000 francs", "fund", "french franc"),
)


def test_a_text_that_names_nobody_may_be_of_any_country():
    names, reason = choices(MONEY, "the fund had 9,000,000 dollars", "fund", "dollar", (8e6, 9e6))
    assert {"yen", "indian rupee", "french franc"} <= set(names)
    assert reason == ""
    assert "euro" not in names  # as much, at some rate


def test_a_name_ties_a_text_to_the_currencies_beside_it():
    text = "for Oldport the fund had 9,000,000 dollars"
    assert choices(MONEY, text, "fund", "dollar", (8.9e6, 9e6)) == ([], NO_RATE)
    assert choices(MONEY, text, "fund", "dollar", (8.9e6, 9e6))[0] == []
    assert choices(MONEY, "In May Newport had 9,000,000 dollars", "fund", "dollar", (8e6, 9e6)) == ([], NO_CURRENCY)
    assert choices(MONEY, "the federal fund had 9,000,000 dollars", "fund", "dollar", (8e6, 9e6)) == ([], NO_CURRENCY)


def test_a_currency_of_few_is_that_of_the_concept():
    assert "french franc" not in choices(MONEY, "the tolls were 9,000,000 dollars", "toll", "dollar", (8e6, 9e6))[0]


def test_prices_stay_about_as_high():
    names, _ = choices(MONEY, "the fund had 90 dollars", "fund", "dollar", (80.0, 95.0))
    assert not {"yen", "indian rupee"} & set(names)


DOSES = corpus(
    *((f"tarrine was given: {n} milligrams", "tarrine", "milligram") for n in (2, 4, 5, 8)),
    *((f"hempine was given: {n} milligrams", "hempine", "milligram") for n in (2, 4, 5, 8)),
    *((f"hempine was given: {n} micrograms", "hempine", "microgram") for n in (2, 4, 900)),
    *((f"sugar was given: {n} grams", "sugar", "gram") for n in range(1, 20)),
    *((f"hemp came in: {n} bushels", "hemp", "bushel") for n in range(5, 25)),
    *((f"tar came in: {n} barrels", "tar", "barrel") for n in range(5, 25)),
    *((f"ale came in: {n} gallons", "ale", "gallon") for n in range(5, 25)),
    *((f"the drill was long: {n} weeks", "drill", "week") for n in range(5, 25)),
    *((f"the drill was long: {n} months", "drill", "month") for n in (2, 4, 6, 9)),
)


@pytest.mark.parametrize(
    ("text", "concept", "unit", "asked", "found", "reason"),
    [
        ("5 milligrams of tarrine", "tarrine", "milligram", (4, 6), [], NO_UNIT),
        ("5 milligrams of hempine", "hempine", "milligram", (4, 6), ["microgram"], ""),
        ("8 bushels of hemp", "hemp", "bushel", (7, 9), ["gallon"], ""),
        ("8 bushels of hemp at 3 per bushel", "hemp", "bushel", (7, 9), [], SAID_AGAIN),
        ("5 months of drill", "drill", "month", (4, 6), ["week"], ""),
        ("9 weeks of drill", "drill", "week", (1, 37), [], TOO_NEAR),
        ("9 weeks of drill", "drill", "week", (8, 10), ["month"], ""),
        ("400 milligrams of hempine", "hempine", "milligram", (300, 500), ["microgram"], ""),
        ("4000 milligrams of hempine", "hempine", "milligram", (3000, 5000), [], NO_UNIT),
    ],
)
def test_units_that_somebody_would_write(text, concept, unit, asked, found, reason):
    names, why = choices(DOSES, text, concept, unit, asked)
    assert (names if len(found) < 2 else set(names), why) == (found, reason)
