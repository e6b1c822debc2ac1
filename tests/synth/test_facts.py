"""Cells and rows: what becomes a quantity, what does not, and what is counted."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from qbench.synth.facts import ThingReader, clean, read_cell
from qbench.synth.mapping import Attribute, TableMapping

WEIGHT = Attribute("w", "weight", unit="kilogram")
BARE = Attribute("n", "number")


@pytest.mark.parametrize(
    ("cell", "expected"),
    [
        ("1.37kg", (1.37, "kilogram")),
        ("1.37", (1.37, "kilogram")),
        (" 1,250 g ", (1250.0, "gram")),
        ("2 lbs", (2.0, "pound-mass")),
        ("-3", (-3.0, "kilogram")),
        ("1.234,5 kg", (1234.5, "kilogram")),
        ("1,5", (1.5, "kilogram")),
        ("1,500", (1500.0, "kilogram")),
        ("3 (about)", (3.0, "kilogram")),
        (3, (3.0, "kilogram")),
        (0.5, (0.5, "kilogram")),
        ("12 GB", None),  # does not compare with kilograms
        ("12abc", None),
        ("5-7 kg", None),
        ("1.2 x 3.4", None),
        ("heavy", None),
        ("3rd", None),
        (True, None),
        ([1], None),
        (math.inf, None),
        ("1" * 30, None),
        (1e15, None),
        (10**400, None),
        (1e-9, None),
        ("1 " + "x" * 300, None),
    ],
)
def test_reading_a_cell(cell, expected, units):
    assert read_cell(cell, WEIGHT, units) == expected


@pytest.mark.parametrize(
    ("cell", "expected"),
    [
        ("128GB SSD", (128.0, "gigabyte")),
        ("$1,200", (1200.0, "dollar")),
        ("€ 3.5 million", (3.5e6, "euro")),
        ("12 °C", (12.0, "celsius")),
        ("42", (42.0, "")),
        ("8 cores", (8.0, "")),
        ("~5 kg", None),
    ],
)
def test_a_cell_may_bring_its_unit(cell, expected, units):
    assert read_cell(cell, BARE, units) == expected


def test_reading_counts_what_it_leaves_out(units):
    mapping = TableMapping(name=("n",), attributes=(WEIGHT,))
    reader = ThingReader(mapping, units)
    cells = ["2kg", "NULL", "", None, float("nan"), "n/a", "two", "5-7", "5-7", float("inf")]
    things = [reader.read(i, {"n": "x", "w": cell}) for i, cell in enumerate(cells, start=1)]
    assert [thing is not None for thing in things] == [True] + [False] * 9
    assert (reader.cells[0].used, reader.cells[0].empty, reader.cells[0].unreadable) == (1, 5, 4)
    assert reader.cells[0].examples == ["two", "5-7", "inf"]
    assert reader.skipped == {"no quantity": 9}
    assert reader.read(11, {"n": " \x00", "w": 1}) is None
    assert reader.read(12, {"w": 1}) is None
    assert reader.skipped["no name"] == 2


def test_a_pattern_finds_the_quantity(units):
    attribute = Attribute("m", "storage", unit="gigabyte", pattern=r"(\d+[GT]B) SSD")
    reader = ThingReader(TableMapping(attributes=(attribute,)), units)
    assert reader.read(7, {"m": "128GB SSD +  1TB HDD"}).facts[0].value == 128
    assert reader.read(7, {"m": "128GB SSD +  1TB HDD"}).name == "item 7"
    assert reader.read(8, {"m": "1TB HDD"}) is None


def test_decimals_round(units):
    reader = ThingReader(TableMapping(attributes=(Attribute("w", "weight", decimals=1),)), units)
    assert reader.read(1, {"w": "1.26"}).facts[0].value == 1.3


def test_kind_qualifier_and_their_places(units):
    mapping = TableMapping(
        name=("n",), category="k", qualifier="q", noun="laptop", categories={"Gaming": ("gaming laptop",)},
        attributes=(WEIGHT,),
    )  # fmt: skip
    reader = ThingReader(mapping, units)
    thing = reader.read(1, {"n": "Acme Gaming Laptop 5", "k": "gaming", "q": "ACME", "w": 1})
    assert (thing.kind, thing.kind_words, thing.qualifier_words) == ("gaming laptop", ("gaming", "laptop"), ("acme",))
    assert (thing.kind_at, thing.qualifier_at, thing.broader) == ((5, 18), (0, 4), "laptop")
    plain = reader.read(2, {"n": "Velora", "k": None, "q": "", "w": 1})
    assert (plain.kind, plain.qualifier, plain.broader, plain.kind_at) == ("", "", "", None)
    assert reader.read(3, {"n": "Velora", "k": "Gaming", "q": "laptop", "w": 1}).qualifier == ""


@pytest.mark.parametrize(
    ("cell", "kind"), [("Touring", "touring bike"), ("Racing Bike", "racing bike"), ("Cargo", "cargo")]
)
def test_a_category_that_only_narrows_a_noun_down_is_named_with_it(cell, kind, units):
    reader = ThingReader(TableMapping(name=("n",), category="k", noun="bike", attributes=(WEIGHT,)), units)
    assert reader.read(1, {"n": "Velora", "k": cell, "w": 1}).kind == kind


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("Milk Cookies, plain", "cookie"),
        ("Goat MILK", "milk"),
        ("Almond Milk", "almond milk"),
        ("Cheesecake", ""),
        ("Cheese in Milk", "cheese"),
        ("Milk - fresh cheese", "milk"),
        ("Cookies (milk)", "cookie"),
        ("Cheese Sticks", ""),
        ("Cookies & Milk", ""),
        ("Crisps, Cheese", ""),
        ("Salt & Pepper Goat Cheese", "cheese"),
        ("", ""),
    ],
)
def test_words_pick_what_the_name_ends_with(name, kind, units):
    words = ("cookie", "milk", "almond milk", "cheese")
    reader = ThingReader(TableMapping(name=("n", "i"), category="n", words=words, attributes=(WEIGHT,)), units)
    assert reader.read(1, {"n": name, "i": "x", "w": 1}).kind == kind


def test_words_are_kinds_whatever_they_end_in(units):
    """ "Racing" in a column of kinds is a racing bike; where kinds are listed, "dressing" is one as it stands."""
    mapping = TableMapping(name=("n",), category="n", words=("dressing",), noun="food", attributes=(WEIGHT,))
    assert ThingReader(mapping, units).read(1, {"n": "Ranch Dressing", "w": 1}).kind == "dressing"


@given(st.text())
def test_clean_text_is_one_visible_line(text):
    cleaned = clean(text)
    assert len(cleaned) <= 80
    assert cleaned == " ".join(cleaned.split())
    assert all(c.isprintable() or c in "\u200c\u200d" for c in cleaned)
    cleaned.encode("utf-8")
