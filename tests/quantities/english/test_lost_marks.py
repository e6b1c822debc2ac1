"""Texts of the web: lists, degrees and hyphens whose marks are lost; pages, posts and telephones."""

import pytest

from qbench.quantities.english.tokens import tokenize
from qbench.quantities.extractors import ExtractorOptions, get_extractor

READER = get_extractor(ExtractorOptions())


def read(text):
    return [part for q in READER.extract(text) for part in (q.value, q.unit)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("The 34âyearâold keeper left the club.", [34, "year of age"]),
        ("Ice melts at 32 Â°F, and tar at 90Â°C.", [32, "fahrenheit", 90, "celsius"]),
        ("It will be 21â tomorrow.", [21, "degree"]),
        ("It boils at â196 Â°C.", [-196, "celsius"]),
        ("The fence is 6â² high.", [6, "foot"]),
        ("The kilnâs lid weighs 4Â½ pounds.", [4.5, "pound-mass"]),
        ("A ticket costs Â£12.", [12, "pound sterling"]),
    ],
)
def test_marks_that_a_wrong_decoding_lost(text, expected):
    assert read(text) == expected


def test_offsets_stay_those_of_the_text():
    text = "A hedge of 6â²-8â² stood near the château at 32 Â°F."
    (hedge, _) = READER.extract(text)
    assert (hedge.value, hedge.high, hedge.unit) == (6, 8, "foot")
    assert text[slice(*hedge.value_span)] == "6â²-8"
    assert all(token.end <= len(text) for token in tokenize(text))
    assert "château" in [token.text for token in tokenize(text)]


@pytest.mark.parametrize(
    "text",
    [
        "Ways to save fuel: 1 Inflating the tyres. 2 Removing racks. 3 Driving slowly.",
        "Pests of roses. 2 Vine weevil. 3 Slugs.",
        "^ 2 Harbour of Malmo.",
        "1 Rinse the pan. 2 Dry it.",
        "See the report by Lund (2004, p. 88).",
        "See Lund, pp. 88-91.",
        "The office in Munich (80331) is closed.",
        "She starred in The Seven Gardeners of Lund.",
        "Call +44 (0)20 5555 0123 or +49 30 5555-0123.",
        "They met from March 11 through 20 in Lund.",
        "The shop is open nine to five.",
    ],
)
def test_what_marks_a_point_a_page_a_place_or_a_day_is_no_quantity(text):
    assert read(text) == []


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("The team is small. 3 Danes play in it, and 5 Swedes.", [3, "dane", 5, "swede"]),
        ("It sold 2 Fords. 3 Volvos were left.", [2, "ford", 3, "volvo"]),
        ("Lund, 2. May was warm.", []),
        ("The lot (80331) holds 12 vans.", [80331, "", 12, "van"]),
        ("The Seven islands lie off Lund.", [7, "island"]),
        ("It lasts nine to five years.", [5, "year"]),
        ("Grow +12 500 seedlings.", [12, "", 500, "seedling"]),
    ],
)
def test_what_only_looks_like_it_is_read(text, expected):
    assert read(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("The balance was − 12 euros.", [-12, "euro"]),
        ("Sight was poor (mean − 1.5 points).", [-1.5, "point"]),
        ("It cost 20 − 12 euros.", [20, "", 12, "euro"]),
        ("20% - 8% = 12%", [20, "percentage", 8, "percentage", 12, "percentage"]),
    ],
)
def test_minus_signs_that_stand_apart(text, expected):
    assert read(text) == expected
