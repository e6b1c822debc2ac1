"""Typed queries -> search words and conditions."""

import pytest

from qbench.quantities.extractors import ExtractorOptions, get_extractor
from qbench.quantities.queries import parse_query

EXTRACTOR = get_extractor(ExtractorOptions(years=True))


@pytest.mark.parametrize(
    ("text", "terms", "conditions"),
    [
        ("laptop under 2 lb", "laptop", [("<", 2, 2, "pound-mass")]),
        ("unemployment rate above 4 percent", "unemployment rate", [(">", 4, 4, "percentage")]),
        (
            "phone battery over 4000 mAh and between $300 and $500, not 5 inches",
            "phone battery",
            [(">", 4000, 4000, "milliampere hour"), ("between", 300, 500, "dollar"), ("!=", 5, 5, "inch")],
        ),
        ("storage exactly 64 GB", "storage", [("=", 64, 64, "gigabyte")]),
        ("price other than 20 euros", "price", [("!=", 20, 20, "euro")]),
        (
            "leagues with revenue (USD) less than 1566891818",
            "leagues revenue",
            [("<", 1566891818, 1566891818, "dollar")],
        ),
        ("films released before 1990", "films released", [("<", 1990, 1990, "calendar year")]),
        ("staff of at least 1,200 employees", "staff employees", [(">=", 1200, 1200, "employee")]),
        ("revenue beneath U.S.$525,000", "revenue", [("<", 525000, 525000, "dollar")]),
        ("cost between U.S. $48 million and U.S. $124 million", "cost", [("between", 48e6, 124e6, "dollar")]),
        ("cost different from 9 mo", "cost", [("!=", 9, 9, "month")]),
        ("cost, anything but 9 kg", "cost", [("!=", 9, 9, "kilogram")]),
        ("how to tie a knot", "tie knot", []),
        ("", "", []),
    ],
)
def test_parses(text, terms, conditions):
    parsed = parse_query(text, EXTRACTOR)
    assert parsed.terms == terms
    assert [(c.comparator, c.value, c.high, c.unit) for c in parsed.conditions] == conditions


def test_written_forms_are_kept():
    (asked,) = parse_query("revenue above $3.5 million", EXTRACTOR).conditions
    assert (asked.value_text, asked.unit_text, asked.base_value) == ("3.5 million", "$", 3.5e6)
