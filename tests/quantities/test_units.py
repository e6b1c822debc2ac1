"""Units: the file, the surfaces, arithmetic by pint."""

import runpy
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from qbench.errors import InputError, OptionError
from qbench.quantities.english.amounts import AmountFinder
from qbench.quantities.english.inflection import plural, singular
from qbench.quantities.english.rules import RulesExtractor
from qbench.quantities.english.tokens import tokenize
from qbench.quantities.units import (
    UNITS_FILE,
    Converter,
    fold,
    kept_factors,
    load_units,
)

ROOT = Path(__file__).parents[2]
UNITS = load_units()
CONVERTIBLE = [u for u in UNITS if u.base_unit != u.name]


@pytest.mark.parametrize(
    ("value", "source", "target", "expected"),
    [
        (2, "pound-mass", "kilogram", 0.90718474),
        (100, "celsius", "fahrenheit", 212),
        (0, "kelvin", "celsius", -273.15),
        (1, "mile", "metre", 1609.344),
        (36, "kilometre per hour", "metre per second", 10),
        (8, "megabit", "megabyte", 1),
        (50, "cent", "dollar", 0.5),
        (25, "basis point", "percentage point", 0.25),
        (1, "year", "month", 12),
        (3, "dozen", "item", 36),
        (1, "therm", "british thermal unit", 100_000),
        (1, "acre-foot", "cubic metre", 1233.48183754752),
        (1, "mega british thermal unit", "gigajoule", 1.055056),
        (760, "torr", "atmosphere", 1),
        (1, "curie", "gigabecquerel", 37),
        (100, "rem", "sievert", 1),
        (1, "kilometre per litre", "mile per gallon", 2.352145833),
        (1, "foot-pound", "joule", 1.3558179483),
        (1, "fathom", "foot", 6),
        (640, "acre", "square mile", 1),
        (12, "month of age", "year of age", 1),
        (1, "guinea", "shilling", 21),
        (500, "rankine", "fahrenheit", 40.33),
    ],
)
def test_worked_conversions(value, source, target, expected):
    assert UNITS.convert(value, source, target) == pytest.approx(expected, rel=1e-9)


@given(st.sampled_from(CONVERTIBLE), st.floats(1e-3, 1e9))
def test_conversion_there_and_back(unit, value):
    there = UNITS.convert(value, unit.name, unit.base_unit)
    # What a microkelvin is above absolute zero drowns in the last bits of -273.15 degrees.
    rounding = 4 * 2.3e-16 * abs(unit.offset) / unit.factor
    assert UNITS.convert(there, unit.base_unit, unit.name) == pytest.approx(value, rel=1e-9, abs=max(1e-9, rounding))


def test_every_base_unit_is_a_unit_of_the_same_family():
    for unit in UNITS:
        base = UNITS.get(unit.base_unit)
        assert base.base_unit == base.name, unit.name
        assert base.family == unit.family, unit.name
        assert unit.factor > 0


def test_every_unit_is_found_by_its_own_forms_or_by_an_earlier_unit():
    lost = [
        (unit.name, form)
        for unit in UNITS
        for form in (*unit.names, *unit.symbols, *unit.before)
        if UNITS.lookup(form) is None
    ]
    assert lost == []


def test_kept_factors_are_what_pint_says():
    # The file saves loading pint. After a change of units.txt, run scripts/unit_factors.py.
    ask, kept = Converter({}), kept_factors()
    definitions = runpy.run_path(str(ROOT / "scripts" / "unit_factors.py"))["built_in_definitions"]()
    assert {pair: ask(*pair) for pair in definitions} == kept


def test_a_users_definition_may_be_any_expression_of_pint(tmp_path: Path):
    file = tmp_path / "mine.txt"
    file.write_text("[length: metre]\nblip = 3 * foot + 0 * inch ; blip ; blp\n[beauty]\nhelen = = ; ~ ; hln\n")
    units = load_units(file)
    assert units.convert(1, "blip", "metre") == pytest.approx(0.9144)
    assert units.named("helens").name == "helen"
    found = RulesExtractor(units).extract("a face of 3.5 blips, 2hln and 4 BLP")
    assert [(q.value, q.unit) for q in found] == [(3.5, "blip"), (2, "helen"), (4, "blip")]


@pytest.mark.parametrize(
    ("form", "name"),
    [
        ("miles per hour", "mile per hour"),
        ("millimeters of mercury", "millimetre of mercury"),
        ("degrees Fahrenheit", "fahrenheit"),
        ("liters per minute", "litre per minute"),
        ("Percentage Points", "percentage point"),
        ("deutsche marks", "deutsche mark"),
        ("pound-feet", "pound-foot"),
        ("years-old", "year of age"),
        ("pesos", "mexican peso"),
    ],
)
def test_plurals_and_spellings_are_made(form, name):
    assert UNITS.lookup(form).name == name


def test_each_iso_code_is_a_unit_before_and_after():
    codes = [
        s for u in UNITS if u.family == "currency" for s in u.before if len(s) == 3 and s.isalpha() and s.isupper()
    ]
    assert len(codes) > 150
    for code in set(codes) - {"XEU", "CNH", "RUR", "ROL", "ZMK", "SLL"}:  # former codes, read but not written
        assert UNITS.preceding(code) is UNITS.symbol(code), code


def test_currencies_do_not_convert():
    with pytest.raises(OptionError, match="cannot convert"):
        UNITS.convert(1, "dollar", "euro")


def test_compound_compares_by_the_quotient_of_its_parts():
    unit = UNITS.get("cent per share")
    assert (unit.base_unit, unit.factor) == ("dollar per share", pytest.approx(0.01))
    assert UNITS.get("employee").family == "count"
    assert UNITS.get("").base_unit == ""


def test_a_unit_by_so_many_of_another_compares_with_that_by_one():
    many, one = UNITS.get("milligram per 5 millilitres"), UNITS.get("gram per litre")
    assert (many.base_unit, many.factor) == (one.base_unit, pytest.approx(0.2 * one.factor))
    hundred, thousand = UNITS.get("per 100 births"), UNITS.get("per thousand births")
    assert hundred.base_unit == thousand.base_unit == "per birth"
    assert 5 * hundred.factor == pytest.approx(50 * thousand.factor)
    assert UNITS.get("super fan").base_unit == "fan"


def test_case_matters_for_symbols_and_not_for_names():
    assert UNITS.lookup("MB").name == "megabyte"
    assert UNITS.lookup("Mb").name == "megabit"
    assert UNITS.lookup("Per-Cent").name == "percentage"
    assert UNITS.lookup("mW").name == "milliwatt"
    assert UNITS.lookup("MW").name == "megawatt"


def test_a_users_file_adds_and_overrides(tmp_path: Path):
    file = tmp_path / "mine.txt"
    file.write_text(
        "# mine\n[length: metre]\nsmoot = 1.7018 * meter ; smoot ; smt\nfurlong = 200 * meter ; furlong ;\n"
    )
    units = load_units(file)
    assert units.convert(1, "smoot", "metre") == pytest.approx(1.7018)
    assert units.lookup("smoots").name == "smoot"
    assert units.convert(1, "furlong", "metre") == pytest.approx(200)


def test_a_users_form_is_read_whatever_the_words_around_say(tmp_path: Path):
    file = tmp_path / "mine.txt"
    file.write_text("[thermostat setting]\nclick = = ; click ; C\n")
    (found,) = RulesExtractor(load_units(file)).extract("the oven was set to 5 C")
    assert found.unit == "click"


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("[length: metre]\nnonsense", ":2:"),
        ("x = 3 ; y", "neither a"),
        ("[length: metre]\nblip = flurb * 3 ; blip ;", "pint cannot read"),
        ("[length: metre]\nblip = kilogram ; blip ;", "pint cannot read"),
        ("[length]\nblip = 3 * meter ; blip ;", "no base"),
        ("[length: metre]\nblip = 0 * meter ; blip ;", "a positive number"),
        ("[length: metre]\nblip = -1 * meter ; blip ;", "a positive number"),
        (
            "[length: metre]\nblip = 3 * meter ; blip ;\nblip = 4 * meter ; blip ;",
            ":3: .*defined before|defined before",
        ),
        ("[length: metre]\nblip = 3 * meter ; blip ; b ; B ; C", "more than four"),
    ],
)
def test_a_bad_line_is_named(tmp_path: Path, line, message):
    file = tmp_path / "bad.txt"
    file.write_text(line)
    with pytest.raises(InputError, match=message):
        load_units(file)


def test_a_bad_line_names_file_line_and_value(tmp_path: Path):
    file = tmp_path / "bad.txt"
    file.write_text("# mine\n\n[length: metre]\nsmoot : 1.7 m\n")
    with pytest.raises(InputError) as fault:
        load_units(file)
    assert all(part in str(fault.value) for part in ("bad.txt", ":4:", "smoot : 1.7 m"))


def test_missing_and_undecodable_files(tmp_path: Path):
    with pytest.raises(InputError, match="no such"):
        load_units(tmp_path / "none.txt")
    file = tmp_path / "latin.txt"
    file.write_bytes(b"[length: metre]\n\xe9 = meter ;")
    with pytest.raises(InputError, match="UTF-8"):
        load_units(file)


@pytest.mark.parametrize(
    "noun",
    [
        "employee", "company", "box", "share", "day", "match", "vote", "city", "prize", "size", "blaze", "stimulus",
        "criterion", "analysis", "cargo", "life", "wolf", "tooth",
    ],
)  # fmt: skip
def test_singular_undoes_plural(noun):
    assert singular(plural(noun)) == noun


def test_fold():
    assert fold("Year-Old") == fold("year  old") == "year old"


def test_the_file_is_large_enough_to_be_useful():
    assert len(UNITS) > 750
    assert len({unit.family for unit in UNITS}) > 80
    assert UNITS_FILE.read_text(encoding="utf-8").startswith("#")


@pytest.mark.parametrize(
    ("text", "unit"),
    [
        ("5 km s −1", "kilometre per second"),
        ("5 km s-1", "kilometre per second"),
        ("5 km/s", "kilometre per second"),
        ("10 W m−2", "watt per square metre"),
        ("1,200 kg m-3", "kilogram per cubic metre"),
        ("5 mol L−1", "mole per litre"),
        ("5 mg kg-1 day-1", "milligram per kilogram per day"),
        ("12 cm 2 of leaf", "square centimetre"),
        ("50 microg/ml", "microgram per millilitre"),
        ("EURO 128.7 million", "euro"),
        ("70 mln U.S. Dlr", "dollar"),
    ],
)
def test_spellings_of_one_unit(text, unit):
    tokens = tokenize(text)
    assert [a.unit.name for a in AmountFinder(load_units()).find(tokens, text)] == [unit]


def test_lengths_side_by_side_are_no_area():
    text = "12 m 2 dm"
    assert [a.low for a in AmountFinder(load_units()).find(tokenize(text), text)] == [12, 2]


@pytest.mark.parametrize("definition", ["9**9**9 gram", "10 ** 999999999 gram", "9^(9^9) gram", "2**1e9 gram"])
def test_a_definition_that_would_take_forever_is_refused(tmp_path: Path, definition):
    (tmp_path / "u.txt").write_text(f"[mass: kilogram]\nheap = {definition} ; heap ; hp\n")
    with pytest.raises(InputError, match="exponents of more than two digits"):
        load_units(tmp_path / "u.txt")
