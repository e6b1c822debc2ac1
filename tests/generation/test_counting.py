"""Numbers that may count what a query asks for, whatever unit they were read with, decide nothing."""

from __future__ import annotations

import polars as pl
import pytest

from qbench.generation.counting import may_count, nouns
from qbench.generation.gists import unmeasured
from qbench.generation.labels import label
from qbench.generation.mentions import load_mentions
from qbench.quantities.types import Condition, Quantity, quantity_schema, to_row


def mention(text, number, unit="", family="count", beside=True):
    """A mention of the first place where a text has a number; a unit that does not stand beside it has no place."""
    start = text.index(number)
    end = start + len(number)
    at = text.index(unit, end) if unit and beside else -1
    return {
        "value_start": start,
        "value_end": end,
        "unit_start": at,
        "unit_end": at + len(unit) if at >= 0 else -1,
        "family": family,
    }


@pytest.mark.parametrize(
    ("text", "number", "asked"),
    [
        ("We trained 14 unpaid young Welsh nurses.", "14", "nurse"),
        ("Of our 60 recruits, 22 (37%) were farmers.", "22", "farmers"),
        ("Of our 60 recruits, 22 [37%] of whom were farmers, few stayed.", "22", "farmer"),
        ("Retired bakers (n = 9) slept well.", "9", "retired baker"),
        ("Some 9 retired workers slept well.", "9", "retired employee"),
    ],
)
def test_what_may_count_a_noun(text, number, asked):
    assert may_count(mention(text, number), text, nouns(tuple(asked.split()), "en"))


@pytest.mark.parametrize(
    ("text", "number", "more"),
    [
        ("After 12 wards had closed, 30 nurses left.", "12", {}),
        ("There were 12 wards. Nurses left.", "12", {}),
        ("We asked 12 clerks.", "12", {}),
        ("Then 12 doctors left the nursery.", "12", {}),
        ("The nurses came in 3 groups.", "3", {}),
        ("We paid 40 dollars to nurses.", "40", {"unit": "dollars", "family": "currency"}),
        ("Some 40 % of the nurses left.", "40", {"unit": "%", "family": "ratio"}),
        ("They taught for 6 weeks the nurses.", "6", {"unit": "weeks", "family": "time"}),
    ],
)
def test_what_counts_nothing_or_another_noun(text, number, more):
    assert not may_count(mention(text, number, **more), text, nouns(("nurse",), "en"))


def test_a_time_that_does_not_stand_beside_its_number_may_count():
    text = "We asked 31 second year nurses."
    assert may_count(mention(text, "31", "year", "time"), text, nouns(("nurse",), "en"))


def test_a_count_with_modifiers_is_undecided_and_one_that_breaks_the_condition_is_not():
    texts = {
        "asked": "We trained 14 nurses.",
        "between": "We trained 15 unpaid nurse helpers.",
        "broken": "We trained 95 unpaid nurse helpers.",
        "other": "We trained 15 unpaid helpers.",
    }
    rows = []
    for name, text in texts.items():
        value, unit = float(text.split()[2]), "nurse" if name == "asked" else "helper"
        spot = mention(text, text.split()[2])
        spans = {"value_span": (spot["value_start"], spot["value_end"])}
        rows.append(to_row(name, Quantity(value, value, "=", unit, "count", unit, value, value, **spans)))
    sentences = pl.DataFrame({"doc_id": [*texts], "text": [*texts.values()]})
    mentions = load_mentions(sentences, pl.DataFrame(rows, schema=quantity_schema()))
    labels = label([Condition("<", 30, 30, "nurse", "nurse", 30, 30, ("nurse",))], mentions)
    assert mentions.doc_ids[labels.relevant].to_list() == ["asked"]
    assert mentions.doc_ids[labels.undecided].to_list() == ["between"]
    given = load_mentions(sentences, pl.DataFrame(rows, schema=quantity_schema()), given=True)
    assert not label([Condition("<", 30, 30, "nurse", "nurse", 30, 30, ("nurse",))], given).undecided.size


def test_a_concept_without_what_its_unit_says_anyway():
    assert unmeasured(("stored", "energy", "|", "stored", "heat"), "energy", "en") == [("stored",)]
    assert unmeasured(("energy",), "energy", "en") == unmeasured(("stored", "energy"), "currency", "en") == []


def test_other_words_for_an_amount_of_energy_are_undecided():
    texts = {"very": "Stored energy was 9 joules.", "less": "Stored heat was 9 joules.", "other": "Heat was 9 joules."}
    rows = []
    for name, text in texts.items():
        words = tuple(text.lower().split(" was ")[0].split())
        length = text.index(" was ")
        spans = {"value_span": (length + 5, length + 6), "concept_spans": ((0, length),)}
        rows.append(to_row(name, Quantity(9, 9, "=", "joule", "energy", "joule", 9, 9, words, **spans)))
    sentences = pl.DataFrame({"doc_id": [*texts], "text": [*texts.values()]})
    mentions = load_mentions(sentences, pl.DataFrame(rows, schema=quantity_schema()))
    labels = label([Condition(">", 5, 5, "joule", "joule", 5, 5, ("stored", "energy"))], mentions)
    assert mentions.doc_ids[labels.relevant].to_list() == ["very"]
    assert mentions.doc_ids[labels.undecided].to_list() == ["less"]


def test_a_noun_alone_stands_for_no_other_one():
    text = "Some 9 workers slept well."
    assert not may_count(mention(text, "9"), text, nouns(("employee",), "en"))
