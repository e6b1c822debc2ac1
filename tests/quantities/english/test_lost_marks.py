"""Texts of the web: lists whose marks are lost, pages, posts and telephones."""

import pytest

from qbench.quantities.extractors import ExtractorOptions, get_extractor

READER = get_extractor(ExtractorOptions())


def read(text):
    return [part for q in READER.extract(text) for part in (q.value, q.unit)]


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
        "Chapters, p. 3 of 10.",
        "The zip code is 48166.",
        "Definition of mowing. 1 1: the act. 2 2 : the grass.",
        "1 Hinges are parts of doors.",
        "Ada Lund (1566 – 1624) drew it.",
        "The temple is old (276-194 BC).",
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
        ("Call +44 (0)", [0, ""]),
        ("It won 2 2:1 games.", [2, ""]),
        ("You need: 1 Egg. 2 Cups of flour. 3 Tablespoons of oil.", [1, "egg", 2, "cup", 3, "tablespoon"]),
        ("In May (10000) were sold.", [10000, ""]),
        ("1 Lamp is lit.", [1, "lamp"]),
        ("The output (1200 – 1300) was good.", [1200, ""]),
        ("About one in 50,000 people is ill.", [2e-05, ""]),
        ("One in 1,234 lorries fails.", [1234, "lorry"]),
        ("The 2009 Real Gardens Survey had 5 real people.", [5, "real people"]),
        ("It costs 5 reais.", [5, "brazilian real"]),
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
