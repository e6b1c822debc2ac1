"""Notations of amounts and what only looks like one, in texts of our own."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from qbench.quantities.extractors import ExtractorOptions, get_extractor

RULES = get_extractor(ExtractorOptions(spacy_model="none"))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        # two currencies, currencies in frames
        ("sales of 140 mln euro $ 188.9 mln", [(140e6, "euro"), (188.9e6, "dollar")]),
        ("a cost of ( EUR ) 35 million", [(35e6, "euro")]),
        ("a cost of & euro ; 4.8 million", [(4.8e6, "euro")]),
        ("a cost of x20ac 4.8 million", [(4.8e6, "euro")]),
        ("40 pack-years of smoke", [(40, "pack-year")]),
        ("a tv at 1 200-1 500 €", [(1200, "euro")]),
        ("a tv at 900–1 500 euros", [(900, "euro")]),
        ("a sheet of 2000 × 1500 mm", [(2000, "millimetre"), (1500, "millimetre")]),
        ("a grid of 1920 x 1080", [(1920, ""), (1080, "")]),
        ("it has 2,796 x 1,290 pixels, 460 ppi", [(2796, "pixel"), (1290, "pixel"), (460, "pixel per inch")]),
        ("79.3 years for men and 83.6 for women", [(79.3, "year"), (83.6, "year")]),
        ("3.4 kg in boys, 3.2 in girls", [(3.4, "kilogram"), (3.2, "kilogram")]),
        ("6 kg in weight and 5 in number", [(6, "kilogram"), (5, "")]),
        ("in 1998 x 3 were sold", [(3, "")]),
        ("they won 3-1 500 people saw it", [(500, "people")]),
        ("3.4 kg in boys and 3.2 of girls", [(3.4, "kilogram"), (3.2, "")]),
        # so many of so many are no fraction
        ("9/16 patients liked it", [(9, "patient"), (16, "patient")]),
        ("4/8 in one arm", [(4, ""), (8, "")]),
        ("add 3/4 cup", [(0.75, "cup")]),
        ("he drank 1/2 a litre", [(0.5, "litre")]),
        ("use a 2 1/2 in pipe", [(2.5, "inch")]),
        ("he scored 1/2 in spring", [(0.5, "")]),
        ("a 24 x 36 in was hung", [(24, "inch"), (36, "inch")]),
        ("one in 10 trees fell", [(0.1, "")]),
        ("one in 7 trees fell", [(7, "tree")]),
        ("stored for 17 d", [(17, "day")]),
        ("a 21-d trial of diet", [(21, "day")]),
        ("a 3-d scene", [(3, "")]),
        ("stars 12 ly away", [(12, "light-year")]),
        ("plans cost $5/$8 a month", [(5, "dollar per month"), (8, "dollar per month")]),
        ("a flat of 120 m2 for 900 euros", [(120, "square metre"), (900, "euro")]),
        # lengths of time, and times of day
        ("she ran it in 2:15 hours", [(2.25, "hour")]),
        ("the song lasts 4:30 minutes", [(4.5, "minute")]),
        ("he rowed for 1:12:36 hours", [(1.21, "hour")]),
        ("a video of 1:30 h", [(1.5, "hour")]),
        ("the ferry leaves at 14:30 hours", []),
        ("at the 2:70 hours mark", []),
        ("they rowed from 2:15 to 4:30 hours later", []),
        ("on 2:15 boats", []),
        # two levels and two moves are no range
        ("its stake rose in Mill S.A. from 49 % to 85 %", [(49, "percentage"), (85, "percentage")]),
        ("the bill went from $96 to $143", [(96, "dollar"), (143, "dollar")]),
        ("orders doubled from 31 kg to 62 kg", [(31, "kilogram"), (62, "kilogram")]),
        ("cider sales 11 per cent to 18.3 million", [(11, "percentage"), (18.3e6, "")]),
        (
            "it rose 5 % or 49 billion dollars to 855 billion dollars",
            [(5, "percentage"), (49e9, "dollar"), (855e9, "dollar")],
        ),
        # letters that are no magnitude, names of substances, quarters of years
        ("5,400,000 B shares and 5 B people", [(5.4e6, ""), (5e9, "people")]),
        ("less 25-hydroxyvitamin D, 25(OH)D, 5-ALA and 4-methylumbelliferone", []),
        ("it sees 1987 first quarter results", []),
        # how often
        ("500 mg twice a day or once daily", [(500, "milligram"), (2, "count per day"), (1, "count per day")]),
        ("a once-daily pill that I took once", []),
    ],
)
def test_amounts(text, expected):
    read = [(q.value, q.unit.removeprefix("b ")) for q in RULES.extract(text)]
    assert read == [(pytest.approx(value), unit) for value, unit in expected]


def test_a_range_may_fall_where_it_spreads():
    (found,) = RULES.extract("the levels ranged from 9.8 mmHg to 8.7 mmHg")
    assert (found.value, found.high) == (8.7, 9.8)


def test_a_tolerance_at_both_ends_makes_two_levels():
    assert [q.value for q in RULES.extract("4.1 ± 0.3 to 4.0 ± 0.2 s")] == [4.1, 4.0]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        # ratios
        ("They were randomised 1:1 to rye or oats.", [(1, "")]),
        ("They were allocated 2:2:1.", [(2, "")]),
        ("a dilution of 1:100,000", [(1e-5, "")]),
        ("a contrast of 1,200:1", [(1200, "")]),
        ("a 3-for-2 stock split and a one-for-four rights issue", [(1.5, ""), (0.25, "")]),
        ("It began at 10:15 and ended 3:2 for us.", []),
        ("a two-for-one offer", []),
        # one magnitude, unit or rate for two
        ("a cost of $7/$9 million", [(7e6, "dollar"), (9e6, "dollar")]),
        ("a price of $7/$9", [(7, "dollar"), (9, "dollar")]),
        ("a loss of ($4.5) million", [(-4.5e6, "dollar")]),
        ("a price ($4.5) that fell", [(4.5, "dollar")]),
        ("They paid C$6 (US$4.46) per share.", [(6, "canadian dollar per share"), (4.46, "dollar per share")]),
        ("$1.20 per share versus $1.05", [(1.2, "dollar per share"), (1.05, "dollar per share")]),
        ("$1.20 per share, compared with $5 million", [(1.2, "dollar per share"), (5e6, "dollar")]),
        ("a profit of $606 million, or $0.68 per share", [(606e6, "dollar"), (0.68, "dollar per share")]),
        (
            "a weight gain (3.9 (SD 3.1) vs. 2.7 (SD 3.7) kg)",
            [(3.9, "kilogram"), (3.1, "kilogram"), (2.7, "kilogram"), (3.7, "kilogram")],
        ),
        ("1/4 of a mile away", [(0.25, "mile")]),
        ("1/4 of a team", [(0.25, "")]),
        ("a result of EUR 0.2 (1.3) million", [(2e5, "euro"), (1.3e6, "euro")]),
        ("a result of EUR 57.7 11.1 million", [(57.7e6, "euro"), (11.1e6, "euro")]),
        ("a price of EUR 57 (11 shares)", [(57, "euro"), (11, "share")]),
        # when, and no end of a range
        ("in the second quarter of 2007 to 5.0 mln euro", [(5e6, "euro")]),
        ("from 7.8% during period 1 to 17.1% during period 2", [(7.8, "percentage"), (17.1, "percentage")]),
        (
            "the total rose 5.44 billion to 222.22 billion marks",
            [(5.44e9, "deutsche mark"), (222.22e9, "deutsche mark")],
        ),
        ("cuts the deficit of 171 billion dollars to 134 billion dollars", [(171e9, "dollar"), (134e9, "dollar")]),
        ("from 2007 to 5000 euros", [(2007, "euro")]),
        # parts
        ("three of every five fields", [(0.6, "")]),
        ("100 boats, half from abroad", [(100, "boat"), (0.5, "")]),
        ("just over half (56 %) stayed", [(0.5, ""), (56, "percentage")]),
        ("£nil (2017: £2.1m)", [(0, "pound sterling"), (2.1e6, "pound sterling")]),
        ("the half from abroad", []),
    ],
)
def test_what_belongs_to_two_numbers(text, expected):
    read = [(q.value, q.unit) for q in RULES.extract(text)]
    assert read == [(pytest.approx(value), unit) for value, unit in expected]


@given(
    low=st.integers(1, 400),
    more=st.integers(1, 500),
    sign=st.sampled_from("$£€"),
    per=st.sampled_from(["week", "month"]),
)
def test_the_rate_of_a_range_of_money_is_said_once(low, more, sign, per):
    high = low + more
    for text in (f"a rent of {sign}{low}-{high} per {per}", f"a rent of {sign}{low} to {high} a {per}"):
        (found,) = RULES.extract(text)
        (whole,) = RULES.extract(f"a rent of {sign}{high} per {per}")
        assert (found.value, found.high, found.unit) == (low, high, whole.unit)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Rates are EUR 40-60 per hour.", [(40, 60, "euro per hour")]),
        ("Tickets cost $20-30 each.", [(20, 30, "dollar")]),
        ("It cost $5 to 6 a year ago.", [(5, 6, "dollar")]),
        # the size of a change, between two; a level has a currency of its own
        ("Prices rose by INR 2 to 3 per litre.", [(2, 3, "indian rupee per litre")]),
        ("Shares rose by $2 to $3.", [(2, 2, "dollar"), (3, 3, "dollar")]),
        ("Shares rose by $2 to 30.", [(2, 2, "dollar"), (30, 30, "")]),
        # feet and inches
        ("He stands 6 ft 2 and rows.", [(74 / 12, 74 / 12, "foot")]),
        ("a 6-foot-2 rower, 5 feet 4 tall", [(74 / 12, 74 / 12, "foot"), (64 / 12, 64 / 12, "foot")]),
        ("They live 5 feet 2 doors down.", [(5, 5, "foot"), (2, 2, "door")]),
        ("a wall of 6 ft 20 long", [(6, 6, "foot"), (20, 20, "")]),
        # parts of an inch
        ("a drill of 40/64 inch", [(0.625, 0.625, "inch")]),
        ("a 1/1.7-inch sensor", [(1 / 1.7, 1 / 1.7, "inch")]),
        ("40/64 of them", [(40, 40, ""), (64, 64, "")]),
        # a share of things that have a unit, too
        ("with three of every five hectares sown", [(0.6, 0.6, "")]),
        # lists
        ("taken at 30 minutes, 2, 4, and 24 hours", [(30, 30, "minute"), *((h, h, "hour") for h in (2, 4, 24))]),
        ("taken at 0, 1, 4 and 24 h", [(h, h, "hour") for h in (0, 1, 4, 24)]),
        ("in 3,400, 2 and 5 hours", [(3400, 3400, ""), (2, 2, "hour"), (5, 5, "hour")]),
        # no ends of a range
        ("randomised 1:1 to 18 months of rye", [(1, 1, ""), (18, 18, "month")]),
        ("Exports fell in calendar 1986 to 15.9 billion dollars.", [(15.9e9, 15.9e9, "dollar")]),
        ("a change of -0.8, 95% CI -2.1, +0.5", [(-0.8, -0.8, ""), (-2.1, 0.5, "")]),
        ("a life from2 to 5 years", [(2, 5, "year")]),
        ("built 9,000-10 ,000 square metres", [(9000, 10000, "square metre")]),
        ("money at 4.60/70 pct", [(4.6, 4.7, "percentage")]),
        ("doses of 4.60/70 were given", [(4.6, 4.6, ""), (70, 70, "")]),
    ],
)
def test_ends_of_ranges(text, expected):
    read = [(q.value, q.high, q.unit) for q in RULES.extract(text)]
    assert read == [(pytest.approx(low), pytest.approx(high), unit) for low, high, unit in expected]
