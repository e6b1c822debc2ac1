"""Which mentions are sure."""

from __future__ import annotations

import re

import polars as pl
import pytest

from qbench.generation.evidence import sure_mentions
from qbench.quantities.types import Quantity, quantity_schema, to_row


def read(text, change=""):
    """A text with {concept} and <number> marked, each number about the concept that stands first, as a table."""
    plain, spans, values = "", [], []
    for part in re.split(r"(\{.*?\}|<.*?>)", text):
        span = (len(plain), len(plain) + len(part.strip("{}<>")))
        (spans if part.startswith("{") else values if part.startswith("<") else []).append(span)
        plain += part.strip("{}<>")
    words = tuple(word for first, last in spans for word in plain[first:last].lower().split())
    rows = [
        Quantity(
            5.0,
            5.0,
            "=",
            "dollar",
            "currency",
            "dollar",
            5.0,
            5.0,
            words,
            value_span=at,
            concept_spans=(*spans,),
            change=change,
        )
        for at in values
    ]
    table = pl.DataFrame([to_row("d", row) for row in rows], schema=quantity_schema())
    return sure_mentions(table, [plain] * len(rows)).tolist()


@pytest.mark.parametrize(
    "text",
    [
        "The {ferry fare} was <5>.",
        "The {ferry fare} totaled about <5>.",
        "{Ferry fares} for 2022 were <5>.",
        "A <5> {ferry fare} is charged.",
        "They took <5> of {ferry fares}.",
        "{Fare}: <5>, {tolls}",
        "the {fare} (<5>) and",
    ],
)
def test_beside_their_concept(text):
    assert read(text)[0]


@pytest.mark.parametrize(
    "text",
    [
        "The {ferry fare}, which the town board had long debated, is <5>.",
        "The {ferry fare} table shows that children pay <5>.",
        "The {ferry fare} includes <5>.",
        "The {ferry fare} rose by <5>.",
        "The {ferry fare} was up <5>.",
        "The {ferry fare} was <5> higher.",
        "The {ferry fare} was <5> a head.",
        "A decline in the {ferry fare} of <5> followed.",
        "They count the income from {ferry fares} of <5>.",
        "A reserve for {ferry fares} of <5> was made.",
        "It bought the ferry for <5> in {cash}.",
    ],
)
def test_parted_from_their_concept(text):
    assert not read(text)[0]


@pytest.mark.parametrize(
    ("text", "sure"),
    [
        ("The {ferry fare} was up by <5>.", True),
        ("Exchange rates raised the {ferry fare} by <5>.", False),
        ("Fuel impacted the {ferry fare} by <5>.", False),
        ("The {ferry fare} was <5> higher than the toll.", False),
    ],
)
def test_what_one_cause_did_and_gaps_are_no_sure_changes(text, sure):
    assert read(text, "up") == [sure]


def test_another_number_between_and_lists_told_apart():
    assert read("The {ferry fare} was <4> to <5>.") == [True, False]
    assert read("The {ferry fare} was <4>, <5>, respectively.") == [False, False]


def test_tables_need_the_label_right_before_the_number():
    many = " ".join(f"Item <{n}>" for n in range(20, 40))
    assert read("{Fares} <5> " + many)[0]
    assert not read("{Fares} were <5> " + many)[0]


def test_a_mention_without_spans_is_sure():
    quantity = Quantity(5.0, 5.0, "=", "metre", "length", "metre", 5.0, 5.0, ("x",), value_span=(0, 1))
    assert sure_mentions(pl.DataFrame([to_row("d", quantity)], schema=quantity_schema()), ["5 m"]).tolist() == [True]
