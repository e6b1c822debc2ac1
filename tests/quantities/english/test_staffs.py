"""Numbers of the persons that a staff or a crowd has."""

import pytest

from qbench.quantities.extractors import ExtractorOptions, get_extractor

RULES = get_extractor(ExtractorOptions())


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("The firm, with a staff of 62, makes pumps.", [(62, "person")]),
        ("It has a workforce of about 1,200.", [(1200, "person")]),
        ("Personnel on average numbered 517, against 498.", [(517, "person"), (498, "person")]),
        ("It cut headcount from 900 to 700.", [(900, "person"), (700, "person")]),
        ("The workforce fell to 3,000 from 3,500.", [(3000, "person"), (3500, "person")]),
        ("It will reduce its personnel by 40 in May.", [(40, "person")]),
        ("The move brings its workforce to over 90.", [(90, "person")]),
        ("A crowd of 20,000 came.", [(20_000, "person")]),
        # what is said of the number goes first, and what is no number of persons
        ("It has a staff of 40 welders.", [(40, "welder")]),
        ("Its workforce fell by 12%.", [(12, "percentage")]),
        ("The staff was 4 minutes late.", [(4, "minute")]),
        ("Staff costs of 300 were booked.", [(300, "")]),
        ("The audience rating rose to 34.", [(34, "")]),
        ("The audience rose to 34.", [(34, "")]),
        ("The staff rated it at 3.5.", [(3.5, "")]),
        ("It cut headcount to 700 and prices to 30.", [(700, "person"), (30, "")]),
        ("The staff of 3 Mobile was there.", [(3, "")]),
    ],
)
def test_a_staff_has_so_many_persons(text, expected):
    assert [(quantity.value, quantity.unit) for quantity in RULES.extract(text)] == expected


def test_a_query_is_read_alike():
    assert [(quantity.value, quantity.unit) for quantity in RULES.extract_query("mills with staff over 500")] == [
        (500, "person")
    ]
