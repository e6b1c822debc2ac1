"""Which mentions are sure."""

from __future__ import annotations

import polars as pl
import pytest

from qbench.generation.evidence import cut_short, doubts, unscaled
from qbench.quantities.types import Quantity, quantity_schema, to_row
from tests.marked_texts import table_of


def read(text, change="", **unit):
    """Which mentions of a marked text are sure."""
    table, plain = table_of(text, change, **unit)
    return [doubt == "" for doubt in doubts(table, [plain] * table.height)]


@pytest.mark.parametrize(
    "text",
    [
        "The {ferry fare} was <5>.",
        "The {ferry fare} totaled about <5>.",
        "The {ferry} weighs about <5>.",
        "They raised the {ferry fare} to <5>.",
        "{Toll charges} (<5>) before taxes.",
        "Lower {ferry fare}: <5>",
        "Tolls 9 mln, a 10 pct increase {Ferry fare} <5>",
        "{Ferry fares} for 2022 were <5>.",
        "A <5> {ferry fare} is charged.",
        "They took <5> of {ferry fares}.",
        "{Fare}: <5>, {tolls}",
        "the {fare} (<5>) and",
        "Tolls rose and {ferry fares} were <5>.",
        "The plan failed. The {ferry fare} was <5>.",
        "In May the {ferry fare} was <5>.",
        "The {ferry} is new. It costs about <5>.",
        "The {ferry}, built by us, is new. It has 2 decks. It lasts 9 years and costs <5>.",
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
        "The town is raising {ferry fares} about <5>.",
        "The {toll charges} ($<5> after tax) were paid.",
        "{Toll charges} (<5> net of tax) were paid.",
        "They cut their {ferry fares} <5> in May.",
        "Tolls total <5>.6 {Ferry fares} are due in May.",
        "The {ferry fare} was up <5>.",
        "The {ferry fare} was <5> higher.",
        "The {ferry fare} was <5> a head.",
        "The {ferry fare} was <5> shr.",
        "It put the {ferry fare} <5> over his budget.",
        "A 58 pct to <5> {margin} was reached.",
        "A decline in the {ferry fare} of <5> followed.",
        "The shortfall in {milk deliveries} of <900> litres was made up.",
        "They count the income from {ferry fares} of <5>.",
        "A reserve for {ferry fares} of <5> was made.",
        "It bought the ferry for <5> in {cash}.",
        "It bought the ferry for <5> of {cash}.",
        "It repaid <5> in {capital} {interest}.",
        "It earned <5> on {ferry fares}.",
        "It paid <5> to {ferry owners}.",
        "It moved <5> of its {ferry fares} elsewhere.",
        "An offer valuing the whole {ferry fleet} at <5> was made.",
        "After {ferry repairs} of <5> it sails again.",
        "A gap in the {ferry fund} of <5> is known.",
        "The {ferry fare} of the <5> journey changed.",
        "In group <5> {ferry fares} were paid.",
        "A four for <5> {ferry swap} was agreed.",
        "A non-{ferry fare} of <5> was paid.",
        "There was <5> of unrecognized {ferry expense}.",
        "Unused {ferry credit} was <5>.",
        "It lay below a {ferry depth} of <5>.",
        "A docking and {ferry fee} of <5> was paid.",
        "There were benefits of <5> in {ferry revenue}.",
        "There was <5> of {ferry expense} exceeding fares.",
        "They will lose <5> in {ferry revenue}.",
        "The board expects a {ferry fare} of <5>.",
        "If all sail, this would result in a {ferry fare} of <5>.",
        "They may raise the {ferry fare} to <5>.",
        "It expects to spend 3.65 dollars, with a {ferry fare} of <5>.",
        "The {ferry fare} is probably <5>.",
    ],
)
def test_parted_from_their_concept(text):
    assert not read(text)[0]


@pytest.mark.parametrize(
    ("text", "sure"),
    [
        ("The {ferry fare} was up by <5>.", True),
        ("The {ferry fare} fell by more than <5>.", True),
        ("{Ferry fares} have increased <5> since May.", True),
        ("{Ferry fares} fell and tolls rose by <5>.", False),
        ("The {ferry fare} rose <5> more than the toll.", False),
        ("Exchange rates raised the {ferry fare} by <5>.", False),
        ("Fuel impacted the {ferry fare} by <5>.", False),
        ("The {ferry fare} was <5> higher than the toll.", False),
    ],
)
def test_what_one_cause_did_and_gaps_are_no_sure_changes(text, sure):
    assert read(text, "up") == [sure]


def test_a_concept_that_follows_another_number_is_that_ones():
    assert read("Of the <5> {frozen fares} <4> is owed.")[1] is False
    assert read("Net <5> {Fares} <4> Staff")[1]


@pytest.mark.parametrize(
    ("text", "sure"),
    [
        ("It counted <5> {ferries}.", True),
        ("Of these, <5> {ferries} sank.", False),
        ("In the gale <5> {ferries} had leaks.", False),
        ("Last year <5> {ferries} were lost.", False),
        ("In all <5> (84%) {ferries} sailed.", False),
        ("After excluding <5> {ferries} few were left.", False),
        ("Then <5> {ferries} were in the control group.", False),
        ("Then <5> {ferries} in control group sailed.", False),
        ("Three groups of <5> {ferries} sailed.", False),
    ],
)
def test_a_count_of_a_part_is_none_of_all(text, sure):
    assert read(text, unit=("ferry", "count")) == [sure]
    assert read(text, unit=("ferry", "count"), value=1.0) == [False]


@pytest.mark.parametrize(
    ("text", "unit", "sure"),
    [
        ("<5> of {gold} were found.", ("gram", "mass"), True),
        ("<5> of {gold} a ton were found.", ("gram", "mass"), False),
        ("<5> of {gold} and some silver per tonne of rock.", ("gram", "mass"), False),
        ("A <5> {coupon} is paid.", ("percentage", "ratio"), True),
        ("A <5> {coupon and par pricing} is paid.", ("percentage", "ratio"), False),
        ("39 of ferries against <5> {barges} vs. 8", ("percentage", "ratio"), False),
        ("The 5-year {survival} was <5>.", ("year", "time"), True),
        ("A <5> {survival} of a half.", ("year", "time"), False),
        ("Within <5> of {leaving port} it sank.", ("day", "time"), False),
        ("Since the {ferry contract} <5> ago it sails.", ("year", "time"), False),
        ("The {ferry contract} was for <5>.", ("year", "time"), True),
    ],
)
def test_families_with_rules_of_their_own(text, unit, sure):
    assert read(text, unit=unit) == [sure]


def test_nothing_costs_millions_a_share():
    unit = ("dollar per share", "currency per count")
    assert read("The {ferry offer} is <5>.", unit=unit) == [True]
    assert read("The {ferry offer} is <5>.", unit=unit, value=2e6) == [False]


def test_amounts_whose_scale_stands_elsewhere():
    table, text = table_of("The {ferry fare} was <5>, <5.25>, <5 million>.")
    assert unscaled(table, [text] * 3, [0, 0, 0]).tolist() == [False] * 3
    both = pl.concat([table, table])
    texts = [text] * 3 + [f"{text} (in millions)"] * 3
    assert unscaled(both, texts, [0] * 6).tolist() == 2 * [True, False, False]
    assert unscaled(both, texts, [0] * 3 + [1] * 3).tolist() == [False] * 3 + [True, False, False]


def test_a_concept_cut_out_of_a_longer_one():
    longer, text = table_of("{harbour fare} <5> <5> <5>")
    shorter, cut = table_of("The harbour {fare} was <5>.")
    whole, other = table_of("The new {fare} was <5>.")
    table = pl.concat([longer, shorter, whole])
    assert cut_short(table, [text] * 3 + [cut, other], "en").tolist() == [False] * 3 + [True, False]


def test_another_number_between_and_lists_told_apart():
    assert read("The {ferry fare} was <4> to <5>.") == [True, False]
    assert read("The {ferry fare} was <4>, <5>, respectively.") == [False, False]


def test_tables_need_the_label_right_before_the_number():
    many = " ".join(f"Item <{n}>" for n in range(20, 40))
    assert read("{Fares} <5> " + many)[0]
    assert not read("{Fares} were <5> " + many)[0]


def test_a_mention_without_spans_is_sure():
    quantity = Quantity(5.0, 5.0, "=", "metre", "length", "metre", 5.0, 5.0, ("x",), value_span=(0, 1))
    assert doubts(pl.DataFrame([to_row("d", quantity)], schema=quantity_schema()), ["5 m"]) == [""]
