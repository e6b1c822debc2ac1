"""Mapping files: what they may say, and what is wrong with the others."""

import pytest

from qbench.errors import InputError, UnknownNameError
from qbench.synth.embedded import MAPPING as EMBEDDED
from qbench.synth.embedded import invented_facts
from qbench.synth.mapping import Attribute, canonical_unit, load_mapping, mapping_toml

COLUMNS = ("Model", "Type", "Maker", "Weight", "Price_euros", "Memory", "per.fat")


def load(tmp_path, text, units, columns=COLUMNS):
    path = tmp_path / "m.toml"
    path.write_text(text, encoding="utf-8")
    return load_mapping(path, columns, units)


def test_a_short_mapping(mapping, units):
    read = load_mapping(mapping, COLUMNS, units)
    assert read.name == ("Model",)
    assert read.categories == {"Gaming": ("gaming laptop", "laptop for gamers")}
    assert read.attributes[0] == Attribute(
        "Weight", "weight", synonyms=("mass",), unit="kilogram", verbs=("weighs {}",)
    )
    assert read.columns == ("Model", "Type", "Maker", "Weight", "Price_euros", "Memory")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[attributes]\nWieght = {}", r"no such column \(found 'Wieght'\). Did you mean Weight\? It has: .*Model"),
        ('name = "Nom"\n[attributes]\nWeight = {}', "no such column .*'Nom'"),
        ('category = "Kind"\n[attributes]\nWeight = {}', "no such column .*'Kind'"),
        ("[attributes]\nWeight = { units = 1 }", "Weight: unknown entry .*'units'.*Did you mean unit.*Known: column"),
        ("[attributes]\nWeight = { pattern = '(' }", "not a regular expression"),
        ("[attributes]\nWeight = { decimals = -1 }", "decimals lies between 0 and 9"),
        ("[attributes]\nWeight = { uncountable = 1 }", "true or false"),
        ('[attributes]\nWeight = { verbs = ["weighs"] }', "one {} for the quantity"),
        ('[attributes]\nWeight = { verbs = ["{}"] }', "needs words"),
        ("[attributes]\nWeight = 5", "should be a table"),
        ("attributes = 5", "should be a table"),
        ('name = [""]\n[attributes]\nWeight = {}', "a text or a list of texts"),
        ('[attributes]\nWeight = { name = "..." }', "the name has no word"),
        ('name = "Model"', "names no quantities"),
        ('words = ["x"]\n[attributes]\nWeight = {}', "are looked for in the category"),
        ("colour = 1\n[attributes]\nWeight = {}", "unknown entry .*'colour'"),
        ('[attributes]\nWeight = {}\nMemory = { name = "net weight" }', "holds all words of another's"),
        ('[attributes]\nWeight = {}\nMemory = { name = "Weight" }', "have the same name"),
        ("name = ", "not valid TOML"),
    ],
)
def test_what_is_wrong_is_named(tmp_path, text, message, units):
    with pytest.raises(InputError, match=message) as error:
        load(tmp_path, text, units)
    assert error.value.file == str(tmp_path / "m.toml")


def test_an_unknown_unit_gets_near_names(tmp_path, units):
    with pytest.raises(UnknownNameError, match=r"unknown unit .*'kilogramm'.*Did you mean kilogram"):
        load(tmp_path, '[attributes]\nWeight = { unit = "kilogramm" }', units)


def test_a_missing_file(tmp_path, units):
    with pytest.raises(InputError, match="no such mapping file"):
        load_mapping(tmp_path / "none.toml", COLUMNS, units)


@pytest.mark.parametrize(
    ("written", "canonical"),
    [
        ("kilogram", "kilogram"),
        ("kg", "kilogram"),
        ("Dollars", "dollar"),
        ("%", "percentage"),
        ("km/h", "kilometre per hour"),
        ("employee/employees", "employee"),
        ("person/people", "person"),
        ("dollar per kilogram", "dollar per kilogram"),
        ("", ""),
        ("blorp", None),
        ("blorp/grumpf", None),
        ("blorp per day", None),
    ],
)
def test_names_of_units(written, canonical, units):
    assert canonical_unit(written, units) == canonical


def test_a_written_mapping_reads_back(tmp_path, mapping, units):
    read = load_mapping(mapping, COLUMNS, units)
    assert load(tmp_path, mapping_toml(read), units) == read
    odd = """
        name = ["Model", "Type"]
        category = "Model"
        words = ["a\\"b", "\\\\", "\\u0007"]
        [attributes]
        "per.fat" = { unit = "gram", per = "100 g", decimals = 0, pattern = '(\\d+) x' }
        more = { column = "per.fat", name = "visitors", unit = "person/people" }
    """
    read = load(tmp_path, odd, units)
    assert load(tmp_path, mapping_toml(read), units) == read


def test_the_embedded_mapping_is_one(units):
    columns = {column for row in invented_facts() for column in row}
    assert len(load_mapping(EMBEDDED, columns, units).attributes) >= 20
