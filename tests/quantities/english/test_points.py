"""Points that are percentage points, and parts of a point."""

import pytest

from qbench.quantities.extractors import ExtractorOptions, get_extractor

RULES = get_extractor(ExtractorOptions())
PP = "percentage point"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Margins rose 2 points to 14%.", [(2, PP, "up"), (14, "percentage", "")]),
        ("The bank raised its prime rate a quarter point to 8.5%.", [(0.25, PP, "up"), (8.5, "percentage", "")]),
        ("He raised his stake two points to 30%.", [(2, PP, "up"), (30, "percentage", "")]),
        ("The jobless rate was 13.4% in May, a fall of 0.2 point.", [(13.4, "percentage", ""), (0.2, PP, "down")]),
        ("Turnout was 42%, up three points from May.", [(42, "percentage", ""), (3, PP, "up")]),
        ("The base rate was cut by half a point.", [(0.5, PP, "down")]),
        (
            "Its share fell to 17% and rose six points to 39.",
            [(17, "percentage", ""), (6, PP, "up"), (39, "percentage", "")],
        ),
        (
            "The rate was cut by 0.1 points to 7%, the next by 0.2 points to 6%.",
            [(0.1, PP, "down"), (7, "percentage", ""), (0.2, PP, "down"), (6, "percentage", "")],
        ),
        # an index, a score, another thing, a time before
        ("The index rose 20 points, or 3%.", [(20, "point", "up"), (3, "percentage", "up")]),
        ("The index was up 3%, a gain of 20 points.", [(3, "percentage", "up"), (20, "point", "up")]),
        ("The index fell 20 points to 3% below its peak.", [(20, "point", "down"), (3, "percentage", "down")]),
        ("The Dow gained 5 points while inflation was 3%.", [(5, "point", "up"), (3, "percentage", "")]),
        ("He shot 45% and his score rose 20 points.", [(45, "percentage", ""), (20, "point", "up")]),
        ("The heart rate rose 20 points.", [(20, "point", "up")]),
        ("The index was cut by half a point.", [(0.5, "point", "down")]),
    ],
)
def test_points_are_of_percentages_where_a_percentage_changes_by_them(text, expected):
    assert [(quantity.value, quantity.unit, quantity.change) for quantity in RULES.extract(text)] == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a quarter point", [(0.25, "point")]),
        ("a quarter-percentage-point cut", [(0.25, PP)]),
        ("an eighth of a point", [(0.125, "point")]),
        ("a tenth of a percent", [(0.1, "percentage")]),
        ("three-quarters of a percentage point", [(0.75, PP)]),
        ("a third of a ship", [(1 / 3, "")]),
        ("a quarter point-of-sale terminals", []),
        ("the third quarter points to growth", []),
    ],
)
def test_parts_of_a_point(text, expected):
    assert [(quantity.value, quantity.unit) for quantity in RULES.extract(text)] == expected


@pytest.mark.parametrize(
    ("text", "changes"),
    [
        ("It raised the dividend 2 cents to 35 cents a share.", ["up", ""]),
        ("It cut its price target $5 to $40.", ["down", ""]),
        ("It raised its fee $5 to $3.", ["", ""]),
        ("It raised its fee $5 to €30.", ["", ""]),
    ],
)
def test_what_leads_to_a_level_is_a_change(text, changes):
    assert [quantity.change for quantity in RULES.extract(text)] == changes
