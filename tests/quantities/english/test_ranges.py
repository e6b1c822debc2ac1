"""Ranges, lists that share a unit, tolerances and results of games, in sentences of our own."""

import sys

import pytest

from qbench.quantities.english.amounts import AmountFinder
from qbench.quantities.english.ranges import join
from qbench.quantities.english.tokens import tokenize
from qbench.quantities.units import load_units

FINDER = AmountFinder(load_units())


def read(text):
    tokens = tokenize(text)
    return [
        ((a.low, a.high) if a.is_range else a.low, a.unit.name)
        for a in join(tokens, FINDER.find(tokens, text))
        if not a.year
    ]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("5-8 kg", [((5, 8), "kilogram")]),
        ("5–8 kg", [((5, 8), "kilogram")]),
        ("5 to 8 kg", [((5, 8), "kilogram")]),
        ("from 5 to 8 kg", [((5, 8), "kilogram")]),
        ("between 5 and 8 kg", [((5, 8), "kilogram")]),
        ("between 5 kg and about 8 kg", [((5, 8), "kilogram")]),
        ("five to six weeks", [((5, 6), "week")]),
        ("six to seven billion dollars", [((6e9, 7e9), "dollar")]),
        ("between six and seven million", [((6e6, 7e6), "")]),
        ("one hundred to two hundred thousand euros", [((1e5, 2e5), "euro")]),
        ("one hundred to two hundred euros", [((100, 200), "euro")]),
        ("5 kg-10 kg", [((5, 10), "kilogram")]),
        ("5m-10m euros", [((5e6, 10e6), "euro")]),
        ("from 450 sq ft up to 900 sq ft", [((450, 900), "square foot")]),
        ("from $200 to $4 million", [((200, 4e6), "dollar")]),
        ("it fell from 5 to 3 billion dollars", [(5e9, "dollar"), (3e9, "dollar")]),
        ("it fell by a quarter to $5 million", [(0.25, ""), (5e6, "dollar")]),
        ("two thirds or 5 kg", [(2 / 3, ""), (5, "kilogram")]),
        ("0-to-60-mph", [((0, 60), "mile per hour")]),
        ("from up to 310 miles to 345 miles", [((310, 345), "mile")]),
        ("10 per cent to 12 per cent", [((10, 12), "percentage")]),
        ("between $62 and $68", [((62, 68), "dollar")]),
        ("a road contract of 4 million to 6 million dollars", [((4e6, 6e6), "dollar")]),
        ("between $62 and $68 per share", [((62, 68), "dollar per share")]),
        ("between $48,000 and $90,000 a year", [((48000, 90000), "dollar per year")]),
        ("the ages of 18 to 34", [((18, 34), "year of age")]),
        ("-5 to 8 °C", [((-5, 8), "celsius")]),
        ("-8 to -5 °C", [((-8, -5), "celsius")]),
        # one magnitude for both ends, where both are of like size
        ("$10 to $15 billion", [((10e9, 15e9), "dollar")]),
        ("33-35 billion euros", [((33e9, 35e9), "euro")]),
        ("from 9.5 to 11 million kg", [((9.5e6, 11e6), "kilogram")]),
        ("$900,000 to $1.3 million", [((900000, 1.3e6), "dollar")]),
        ("45-50,000 tonnes", [((45e3, 50e3), "tonne")]),
        ("45-500,000 tonnes", [((45, 500e3), "tonne")]),
        # two units of one kind
        ("between 95 cents and one dollar", [((0.95, 1), "dollar")]),
        ("from 500 ml to 2 litres", [((0.5, 2), "litre")]),
        ("it rose from 500 ml to 2 litres", [(500, "millilitre"), (2, "litre")]),
        # signs that are said, that have lost a space, or that only join
        ("(-5.2 kg to +0.4 kg)", [((-5.2, 0.4), "kilogram")]),
        ("it fell by 1.7 kg (-1.9 to-1.4)", [(1.7, "kilogram"), ((-1.9, -1.4), "kilogram")]),
        ("5 % -7 % lower", [((5, 7), "percentage")]),
        ("7 % -5 % lower", [(7, "percentage"), (-5, "percentage")]),
        # an interval without its name
        ("an odds ratio of 2.1 (1.4, 3.2)", [(2.1, ""), ((1.4, 3.2), "")]),
        ("a ratio of 9.1 (1.4, 3.2)", [(9.1, ""), (1.4, ""), (3.2, "")]),
        # pages between dashes
        ("within 60 days - 77 - of receipt", [(60, "day")]),
        ("60 - 77 - 80 days", [((60, 77), ""), (80, "day")]),
        # a verb of change before "from ... to": two levels
        ("it rose from 5 to 8 kg", [(5, "kilogram"), (8, "kilogram")]),
        (
            "it rose from 5 to 8 kg in treated cats and from 6 to 9 kg in others",
            [(5, "kilogram"), (8, "kilogram"), (6, "kilogram"), (9, "kilogram")],
        ),
        ("loads range from 5 to 8 kg here and from 6 to 9 kg there", [((5, 8), "kilogram"), ((6, 9), "kilogram")]),
        ("a rise in load from 5 kg to about 8", [(5, "kilogram"), (8, "kilogram")]),
        ("it dropped from $1,999 to $1,499", [(1999, "dollar"), (1499, "dollar")]),
        ("loads ranged from 5 to 8 kg", [((5, 8), "kilogram")]),
        ("loads rose and ranged from 5 to 8 kg", [((5, 8), "kilogram")]),
        ("it fell; loads from 5 to 8 kg", [((5, 8), "kilogram")]),
        ("from 5 to 8 kg it rose", [((5, 8), "kilogram")]),
        ("it rose 5 kg to 8 kg", [(5, "kilogram"), (8, "kilogram")]),
        # the upper end first
        ("it slowed from 4.8 to 4.7 per cent", [(4.8, "percentage"), (4.7, "percentage")]),
        ("from 208 kg to 193", [(208, "kilogram"), (193, "kilogram")]),
        ("from $40 a year ago to $35", [(40, "dollar"), (35, "dollar")]),
        ("a current of 1.3 A to 0.03 A", [((0.03, 1.3), "ampere")]),
        # a hyphen binds tighter than words
        ("to climb from 24 to 33-35 billion euros", [(24e9, "euro"), ((33e9, 35e9), "euro")]),
        # ages and rates that one end says for both
        ("aged 18-55 years", [((18, 55), "year of age")]),
        ("age 18 to 55 years", [((18, 55), "year of age")]),
        ("between the ages of 18 and 55", [((18, 55), "year of age")]),
        ("age 1-12 months", [((1, 12), "month of age")]),
        ("a score of 0~2", [((0, 2), "")]),
        ("a visit 4-7 days later", [((4, 7), "day")]),
        ("- Age 25 to 65 years old", [((25, 65), "year of age")]),
        ("ages 5 to 12", [((5, 12), "year of age")]),
        ("men 18–65 years of age", [((18, 65), "year of age")]),
        ("from $75 U.S. per barrel to $45.88", [(75, "dollar per barrel"), (45.88, "dollar per barrel")]),
        # a year is no end
        ("from 3 tonnes in 2011 to 4 tonnes in 2012", [(3, "tonne"), (4, "tonne")]),
        ("in 2018 to $31,560", [(31560, "dollar")]),
        ("53% in 1978 and 55% in 1984", [(53, "percentage"), (55, "percentage")]),
        ("2000 to 3000 tonnes of tea", [((2000, 3000), "tonne")]),
        # confidence intervals
        ("95% CI 1.2, 3.4", [((1.2, 3.4), "")]),
        ("95 % C.I. -3; 4 kg", [((-3, 4), "kilogram")]),
        ("99% confidence interval: 5 to 9 days", [((5, 9), "day")]),
        ("CI95% = (0.3, 5.2)", [((0.3, 5.2), "")]),
        ("(CI 95%, 5-9)", [((5, 9), "")]),
        ("95% CI -4;-2", [((-4, -2), "")]),
        ("between the age of 18 and 75", [((18, 75), "year of age")]),
        ("CI = −£97, £149", [((-97, 149), "pound sterling")]),
        ("95% of 3, 4 and 5 kg", [(95, "percentage"), (3, "kilogram"), (4, "kilogram"), (5, "kilogram")]),
        ("a 95% stake", [(95, "percentage")]),
        ("at the 95% confidence level", [(95, "percentage")]),
        # no ranges
        ("crude lost $1.20 to $78.45 a barrel", [(1.2, "dollar"), (78.45, "dollar per barrel")]),
        ("it eased 20 cents to $4.10", [(20, "cent"), (4.1, "dollar")]),
        ("it costs £50/$65", [(50, "pound sterling"), (65, "dollar")]),
        ("lost 190 points to 5,040", [(190, "point"), (5040, "point")]),
        ("it weighs 5 kg and 8 cm", [(5, "kilogram"), (8, "centimetre")]),
        ("5 kg to 8 cm", [(5, "kilogram"), (8, "centimetre")]),
        ("thousands of kg to 5 kg", [((1000, 10000), "kilogram"), (5, "kilogram")]),
        # results of games
        ("they won 3-2", []),
        ("a 3-2 vote", []),
        ("a 5-4 decision", []),
        ("a 9-2 lead", []),
        ("he stands 6-foot-2", [(6, "foot"), (2, "")]),
        ("a 2-2 draw", []),
        ("beaten 2-5 at home, lost 0-3 away", [((2, 5), "")]),
        # shared units
        ("eight or nine euros", [(8, "euro"), (9, "euro")]),
        ("8 or $9", [(8, "dollar"), (9, "dollar")]),
        ("5, 6 and 7 inches", [(5, "inch"), (6, "inch"), (7, "inch")]),
        ("5, 6, or 7 inches", [(5, "inch"), (6, "inch"), (7, "inch")]),
        ("5 x 7 inches", [(5, "inch"), (7, "inch")]),
        ("8 or 9 million euros", [(8e6, "euro"), (9e6, "euro")]),
        ("two or three million euros", [(2e6, "euro"), (3e6, "euro")]),
        ("at 0, 3 and 6 months", [(0, "month"), (3, "month"), (6, "month")]),
        ("12- and 40-week terms", [(12, "week"), (40, "week")]),
        ("after three-, six- and 12 months", [(3, "month"), (6, "month"), (12, "month")]),
        ("at 3, 6, 12 months", [(3, "month"), (6, "month"), (12, "month")]),
        ("on shelf 3, 12 months ago", [(3, ""), (12, "month")]),
        ("for 18/24 weeks", [(18, "week"), (24, "week")]),
        ("2,227,000 or four cents", [(2227000, ""), (4, "cent")]),
        # tolerances
        ("16.8 +/- 1.2 mm", [(16.8, "millimetre")]),
        ("5 ± 2 mm", [(5, "millimetre")]),
        ("5 ± 2 ± 1 mm", [(5, ""), (1, "millimetre")]),
    ],
)
def test_reads(text, expected):
    got = read(text)
    assert [unit for _, unit in got] == [unit for _, unit in expected]
    for (value, _), (wanted, _) in zip(got, expected, strict=True):
        assert value == pytest.approx(wanted, rel=1e-12)


@pytest.mark.parametrize("text", ["8-5 kg", "a current of 8 A to 5 A", "between 8 and 5 kg", "-5 to -8 °C"])
def test_the_low_end_comes_first(text):
    (amount,) = join(tokens := tokenize(text), FINDER.find(tokens, text))
    assert amount.is_range
    assert amount.low < amount.high


def _calls(text):
    """How many Python functions reading a text calls."""
    count = 0

    def tick(frame, event, arg):
        nonlocal count
        count += event == "call"

    tokens = tokenize(text)
    before = sys.getprofile()
    sys.setprofile(tick)
    try:
        join(tokens, FINDER.find(tokens, text))
    finally:
        sys.setprofile(before)
    return count


@pytest.mark.parametrize(
    "piece",
    [
        "1-", "1,", "5, ", "[1,", "(", "$", "a ", "tens of ", "one million ", "two and a half and ", "-5", "10^",
        "1e5e", "G2-", "Ab, 5, ", "Dec 5 to ", "p<<", "5 or ", "from 5 to ",
        "5 ± ", "1 000 ", "5 vs ", "1,11,", "1.111.", "5\u00a0555",
        "a\u0301", "\u0663,",
    ],
)  # fmt: skip
def test_work_grows_with_the_text(piece):
    short, long = (_calls(piece * (n // len(piece))) for n in (1_000, 8_000))
    assert long <= 9 * short + 1000
