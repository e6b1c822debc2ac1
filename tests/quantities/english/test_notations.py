"""Notations of amounts and what only looks like one, in texts of our own."""

import pytest

from qbench.quantities.extractors import ExtractorOptions, get_extractor

RULES = get_extractor(ExtractorOptions(spacy_model="none"))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        # two currencies, currencies in frames
        ("sales of 140 mln euro $ 188.9 mln", [(140e6, "euro"), (188.9e6, "dollar")]),
        ("a cost of ( EUR ) 35 million", [(35e6, "euro")]),
        ("a cost of & euro ; 4.8 million", [(4.8e6, "euro")]),
        # so many of so many are no fraction
        ("9/16 patients liked it", [(9, "patient"), (16, "patient")]),
        ("4/8 in one arm", [(4, ""), (8, "")]),
        ("add 3/4 cup", [(0.75, "cup")]),
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
