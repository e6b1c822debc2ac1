"""Guessed mappings: names, kinds, units; and when there is nothing to guess."""

from pathlib import Path

import pytest

from qbench.errors import InputError
from qbench.synth.guess import guess_mapping
from qbench.synth.mapping import Attribute


def guess(rows, units, name="things.csv"):
    return guess_mapping(rows, units, Path(name))


def column(values, header):
    return [{"Model": f"Velora {chr(65 + i)}", header: value} for i, value in enumerate(values)]


@pytest.mark.parametrize(
    ("header", "cells", "expected"),
    [
        ("Weight", ["1.2kg", "3 kg", None], Attribute("Weight", "weight", unit="kilogram")),
        ("Weight (kg)", ["1.2", "3"], Attribute("Weight (kg)", "weight", unit="kilogram")),
        ("price_euros", ["1.2", "3"], Attribute("price_euros", "price", unit="euro")),
        ("Inches", ["13.3", "15"], Attribute("Inches", "size", unit="inch")),
        ("batteryCapacity", [4000, 3000], Attribute("batteryCapacity", "battery capacity")),
        ("per_100g.fat", [1.0, 2.5], Attribute("per_100g.fat", "fat", unit="gram", per="100 g", uncountable=True)),
        ("salt_amount", [1.0, 2.5], Attribute("salt_amount", "salt", uncountable=True)),
        ("resolution_l", ["720 ", "1080"], Attribute("resolution_l", "resolution l")),
    ],
)  # fmt: skip
def test_a_column_with_quantities(header, cells, expected, units):
    assert guess(column(cells, header), units).attributes == (expected,)


@pytest.mark.parametrize(
    ("header", "cells"),
    [
        ("laptop_ID", [1, 5]),
        ("released_date", [2011, 2012]),
        ("barcode", ["12345", "12346"]),
        ("constant", [5, 5]),
        ("running", list(range(30))),
        ("mixed", ["5 kg", "red", "8 kg"]),
        ("url", ["https://x/1", "https://x/2"]),
    ],
)
def test_a_column_without(header, cells, units):
    rows = column(cells, header)
    for number, row in enumerate(rows):
        row["mass"] = (number % 7) + 0.5
    assert [a.column for a in guess(rows, units).attributes] == ["mass"]


def test_name_kind_maker_and_noun(units):
    rows = [
        {"Maker": maker, "Model": f"Velora {number}", "Type": kind, "Weight": f"{number + 1}kg", "Note": "x " * 50}
        for number, (maker, kind) in enumerate([("Norvik", "Ultrabook"), ("Tesslin", "Gaming")] * 12)
    ]  # fmt: skip
    found = guess(rows, units, "laptops.csv.gz")
    assert (found.name, found.category, found.qualifier, found.noun) == (("Model",), "Type", "Maker", "laptop")
    for row in rows:
        row["Model"] = f"{row['Maker']} {row['Model']}"
    assert guess(rows, units).qualifier == ""  # the name says it already


def test_kinds_from_the_last_words_of_names(units):
    names = ["Oldbarn Cheese", "Goat Cheese", "Plain Biscuits", "Rye Biscuits", "Nut Biscuit", "Green Fat"] * 5
    rows = [{"name": f"{name}", "fat": number * 0.5} for number, name in enumerate(names)]
    found = guess(rows, units, "foods.jsonl")
    assert (found.category, found.words) == ("name", ("biscuit", "cheese"))  # "fat" is what a column is about


def test_attributes_stay_apart(units):
    rows = [{"n": f"Velora {i}", "weight": i * 1.5, "net weight": i * 1.2} for i in range(9)]
    assert [a.name for a in guess(rows, units).attributes] == ["weight", "net-weight"]


def test_a_table_of_one_column(units):
    found = guess([{"weight": 1.5}, {"weight": 2.5}], units)
    assert (found.name, found.category, [a.name for a in found.attributes]) == ((), "", ["weight"])


def test_nothing_to_guess(units):
    with pytest.raises(InputError, match=r"no column of this table holds numbers \(found 'name'\)"):
        guess([{"name": "Velora"}], units)
    with pytest.raises(InputError, match="the table has no rows"):
        guess([], units)
