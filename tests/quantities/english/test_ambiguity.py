"""Forms that several units share, in sentences of our own: the words around say which is meant."""

import pytest

from qbench.quantities.english.ambiguity import is_magnitude, is_shared, resolve, shared_forms
from qbench.quantities.english.rules import RulesExtractor
from qbench.quantities.english.tokens import tokenize
from qbench.quantities.units import load_units
from tests.quantities.english.senses import senses_of

UNITS = load_units()
RULES = RulesExtractor(UNITS)


def read(text):
    return [(q.value, q.unit) for q in RULES.extract(text)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Bake the loaf at 190 C until golden.", (190, "celsius")),
        ("The plates hold a charge of 4 C.", (4, "coulomb")),
        ("Each sticker costs 40 c.", (40, "cent")),
        ("The oven was heated to 390 F.", (390, "fahrenheit")),
        ("The clothes line is 15 m and its price is $12.", (15, "metre")),
        ("The watering hose is 25 m and its price is 30 euros.", (25, "metre")),
        ("A capacitor of 2 F stored it.", (2, "farad")),
        ("It flew at 300 kt, a good speed for the aircraft.", (300, "knot")),
        ("The warhead had a yield of 90 kt.", (90, "kiloton")),
        ("Winds of 45 kn battered the ship.", (45, "knot")),
        ("A ferry ticket in Croatia costs 90 kn.", (90, "croatian kuna")),
        ("The fund declared a 12-ct per unit distribution.", (12, "cent per unit")),
        ("The parcel weighs 7 pounds.", (7, "pound-mass")),
        ("The parcel costs 7 pounds.", (7, "pound sterling")),
        ("She paid 7,000 pounds in Cairo.", (7000, "egyptian pound")),
        ("In Tokyo it sells for ¥900.", (900, "yen")),
        ("In Shanghai it sells for ¥900.", (900, "yuan")),
        ("He earns 900 pesos in Manila.", (900, "philippine peso")),
        ("He earns 900 pesos in Mexico.", (900, "mexican peso")),
        ("They paid 900 rupees in Karachi.", (900, "pakistani rupee")),
        ("They paid 900 rupees.", (900, "indian rupee")),
        ("a sauce of 2 drams of oil", (2, "dram")),
        ("The shop in Yerevan sold it for 2,000 drams.", (2000, "armenian dram")),
        ("a radiation dose of 3 R", (3, "roentgen")),
        ("a bus ticket in Johannesburg at 30 R", (30, "south african rand")),
        ("a viscosity of 12 P", (12, "poise")),
        ("a file of 800 B on the disk", (800, "byte")),
        ("a neutron cross-section of 3 b", (3, "barn")),
        ("a nebula 800 pc from us", (800, "parsec")),
        ("sales grew 3 pc", (3, "percentage")),
        ("The wall is 9' tall.", (9, "foot")),
        ("The lecture lasts 50'.", (50, "minute")),
        ('The pipe has a diameter of 9".', (9, "inch")),
        ('He ran the lap in 58" and set a record.', (58, "second")),
        ("The genome fragment has 900 bp.", (900, "base pair")),
        ("Treasury yields rose 9 bp.", (9, "basis point")),
        ("a laser wavelength of 630 nm", (630, "nanometre")),
        ("a torque of 300 nm at 2,000 rpm", (300, "newton metre")),
        ("a magnetic field of 3 T", (3, "tesla")),
        ("turned by 30 degrees at an angle", (30, "degree")),
        ("the garden covers 12 a and grows", (12, "acre")),
    ],
)
def test_context_decides(text, expected):
    assert read(text)[0] == expected


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("They sold 35m of their phones.", 35e6),
        ("net income of 12 m", 12e6),
        ("It has 35m users.", 35e6),
        ("2b people", 2e9),
    ],
)
def test_a_letter_may_be_a_magnitude(text, value):
    (found,) = RULES.extract(text)
    assert found.value == value


@pytest.mark.parametrize("text", ["a tower 35m tall", "He swam 35 m in the pool.", "the 100m hurdles", "35 m wide"])
def test_and_it_may_be_a_metre(text):
    assert [unit for _, unit in read(text)] == ["metre"]


@pytest.mark.parametrize(
    ("text", "units"),
    [
        ("at 5 at the time", [""]),
        ("there were 10 in 2019", [""]),
        ("we saw 5 a day", [""]),
        ("an INR of 2.5 on warfarin", [""]),
        ('the so-called "top 20" of them', [""]),
        ("She got 15 marks in the exam.", ["mark"]),  # of a school, by the noun: no currency
    ],
)
def test_no_unit_where_a_word_only_looks_like_one(text, units):
    found = RULES.extract(text)
    assert [q.unit for q in found] == units
    assert all(q.family != "currency" for q in found)


def test_every_sense_is_a_unit_of_the_file():
    for form, default in shared_forms():
        assert is_shared(form)
        for name in (default, *senses_of(form)):
            assert name == "" or name in UNITS, (form, name)


def test_cues_of_another_sentence_do_not_count():
    tokens = tokenize("The oven is hot. It holds 5 C. Voltage is low.")
    k = next(i for i, t in enumerate(tokens) if t.text == "C")
    sense = resolve("C", tokens, k, k + 1)
    assert sense is not None
    assert not sense.cued
    assert resolve("kg", tokens, k, k + 1) is None


def test_magnitude_interface():
    tokens = tokenize("35m of its devices")
    assert is_magnitude("m", tokens, 1) == 1e6
    assert is_magnitude("m", tokenize("35m tall"), 1) is None
    assert is_magnitude("q", tokenize("35q of its devices"), 1) is None
