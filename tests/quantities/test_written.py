"""The numbers of texts and queries, with their places."""

from __future__ import annotations

from dataclasses import replace

import pytest

from qbench.quantities.extractors import ExtractorOptions, get_extractor
from qbench.quantities.types import Quantity
from qbench.quantities.written import asked_numbers, condition_spans, stated_numbers
from tests.factories import condition


def test_spans_of_conditions_that_share_a_number_or_are_not_written():
    heavy, long = condition("weight", ">", 5, "kg"), condition("length", "<", 5, "m")
    spans = condition_spans("weight over 5 kg, length under 5 m, not 5.5", [heavy, long])
    assert [one.value for one in spans] == [(12, 13), (31, 32)]
    assert [one.unit for one in spans] == [(14, 16), (33, 34)]
    (chinese,) = condition_spans("员工超过50人,利润5亿", [condition("员工", ">", 50)])
    assert chinese.value == (4, 6)
    (absent,) = condition_spans("weight over five", [heavy])
    assert (absent.value, absent.unit) == (None, None)


@pytest.fixture(scope="module")
def extractor():
    return get_extractor(ExtractorOptions())


@pytest.mark.parametrize(
    ("text", "written"),
    [
        ("The kettle holds 1.7 litres.", [("1.7", "litres", 1.7)]),
        ("A pump for $3.5 million.", [("3.5 million", "$", 3.5e6)]),
        ("Boxes of 5 to 8 kg", [("5", "kg", 5), ("8", "kg", 8)]),
        ("Lamps weigh 8 to 5 kg.", [("8", "kg", 8), ("5", "kg", 5)]),
        ("between 20 and 30 million euros", [("20", "euros", 2e7), ("30 million", "euros", 3e7)]),
        ("The mast is five to seven feet tall.", [("five to seven", "feet", 5)]),
        ("Cellars are kept at -5 degrees Celsius.", [("-5", "degrees Celsius", -5)]),
        ("The old harbour reopened.", []),
    ],
)
def test_numbers_of_sentences(extractor, text, written):
    numbers = stated_numbers(text, extractor.extract(text))
    assert [(text[slice(*n.span)], text[slice(*n.unit_span)], n.value) for n in numbers] == written
    assert not any(number.operator for number in numbers)


@pytest.mark.parametrize(
    ("text", "asked"),
    [
        ("kettles under 2 litres", [("2", "<")]),
        ("kettles of at least 2 litres and up to 40 dollars", [("2", ">"), ("40", "<")]),
        ("bags between 5 and 8 kg", [("5", ">"), ("8", "<")]),
        ("bags of 5 kg", [("5", "=")]),
        ("not 5 kg bags", [("5", "")]),
        ("bags", []),
    ],
)
def test_numbers_of_queries(extractor, text, asked):
    conditions = extractor.parse_query(text).conditions
    numbers = asked_numbers(text, conditions)
    assert [(text[slice(*number.span)], number.operator) for number in numbers] == asked
    assert {number.source for number in numbers} <= set(range(len(conditions)))


def test_both_ends_of_a_range_belong_to_one_condition():
    length = replace(condition("length", "between", 3, "m", high=9), value_text="3 to 9")
    numbers = asked_numbers("length 3 to 9 m", [length])
    assert [(number.value, number.source) for number in numbers] == [(3, 0), (9, 0)]


def test_a_condition_that_is_not_written_gives_no_number_and_the_others_keep_their_places():
    heavy, long = condition("weight", ">", 7, "kg"), condition("length", "<", 5, "m")
    (number,) = asked_numbers("length under 5 m", [heavy, long])
    assert (number.value, number.source) == (5, 1)


def test_what_cannot_be_replaced_is_left_out():
    text = "1 2 3"
    base = Quantity(1.0, 1.0, "=", "", "", "", 1.0, 1.0, value_span=(0, 1))
    mentions = [
        base,
        replace(base, value=float("nan"), high=float("nan"), value_span=(2, 3)),
        replace(base, value=float("inf"), high=float("inf"), value_span=(2, 3)),
        replace(base, value_span=(0, 3)),  # has a character of the first
        replace(base, value_span=(4, 6)),  # outside
        replace(base, value_span=(4, 4)),  # nowhere
        replace(base, value=1e300, high=1e300, value_span=(4, 5)),
    ]
    assert [(number.span, number.source) for number in stated_numbers(text, mentions)] == [((0, 1), 0), ((4, 5), 6)]
