"""Units and nouns that stand elsewhere in a sentence of our own."""

import pytest

from qbench.quantities.extractors import ExtractorOptions, get_extractor

RULES = get_extractor(ExtractorOptions())


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("We saw 6 tame and 7 wild geese.", [(6, "tame goose"), (7, "wild goose")]),
        ("He bought 12 red, 10 white and 8 blue shirts.", [(12, "red shirt"), (10, "white shirt"), (8, "blue shirt")]),
        (
            "The yard employs 40 full-time and 12 part-time welders.",
            [(40, "full-time welder"), (12, "part-time welder")],
        ),
        ("The herd has 20 male and 30 female goats.", [(20, "male goat"), (30, "female goat")]),
        ("They sold 12 new and 30 used boats.", [(12, "new boat"), (30, "boat")]),
        ("They have 3 dogs and 5 small cats.", [(3, "dog"), (5, "small cat")]),
        ("The 30 staff and 12 large rooms are busy.", [(30, "staff"), (12, "large room")]),
        ("Some 30-odd boats sank.", [(30, "boat")]),
    ],
)
def test_nouns_that_are_said_once(text, expected):
    assert [(quantity.value, quantity.unit) for quantity in RULES.extract(text)] == expected


def test_none_has_the_adjectives_of_another():
    first, second = RULES.extract("The yard has 40 permanent and 12 temporary welders.")
    assert "temporary" not in first.concept
    assert "permanent" not in second.concept


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Its customers grew to 4,200.", [(4200, "customer")]),
        ("Deaths totaled 300 last week.", [(300, "death")]),
        ("Subscribers stood at about 90.", [(90, "subscriber")]),
        ("Visitors were 1,500 on the day.", [(1500, "visitor")]),
        ("Shares rose to 45 at noon.", [(45, "")]),
        ("Shares rose to 45,000 in all.", [(45_000, "share")]),
        ("Margins grew to 42.", [(42, "")]),
        ("The score of the members was 42.", [(42, "")]),
        ("Its customers grew to 4.2.", [(4.2, "")]),
    ],
)
def test_a_level_of_what_is_counted_counts_it(text, expected):
    assert [(quantity.value, quantity.unit) for quantity in RULES.extract(text)] == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("It hired 300 of the port's welders.", [(300, "welder")]),
        ("It sold 2.5 mln of its common shares.", [(2.5e6, "common share")]),
        ("Some 41 of the 60 members spoke.", [(41, "member"), (60, "member")]),
        ("A score of 41 of the 40 members is wrong.", [(41, ""), (40, "member")]),
        ("It sold 40 of gold.", [(40, "")]),
        ("A third of the 60 members spoke.", [(1 / 3, ""), (60, "member")]),
    ],
)
def test_some_of_what_is_counted(text, expected):
    assert [(quantity.value, quantity.unit) for quantity in RULES.extract(text)] == expected
