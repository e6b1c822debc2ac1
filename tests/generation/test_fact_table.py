"""Exact judgments from facts: what the table says, what the text says, and what nobody can tell."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from qbench.generation.fact_table import NO, OPEN, YES, FactTable, Sayings
from qbench.generation.things import categories
from qbench.generation.wording import Attribute, load_wording, wording_file
from qbench.quantities.codes import comparator_codes
from qbench.quantities.types import Condition

NAN = float("nan")


def table(values, sayings, kinds=None):
    """Things with a weight (and a price), a document each; sayings are (attribute, thing, value, agrees)."""
    values = np.array(values, dtype=float).reshape(len(values), -1)
    by_attribute = []
    for number in range(values.shape[1]):
        rows = [(thing, value, agrees) for attribute, thing, value, agrees in sayings if attribute == number]
        said = np.array([value for _, value, _ in rows], dtype=float)
        by_attribute.append(
            Sayings(
                unit=np.array([thing for thing, _, _ in rows], dtype=np.int64),
                low=said,
                high=said,
                comparator=comparator_codes(["="] * said.size),
                agrees=np.array([agrees for _, _, agrees in rows], dtype=bool),
                start=np.zeros(said.size, dtype=np.int64),
            )
        )
    size = len(values)
    attributes = (Attribute("w", "weight", unit="kilogram"), Attribute("p", "price", unit="euro"))
    return FactTable(
        attributes=attributes[: values.shape[1]],
        base=("kilogram", "euro")[: values.shape[1]],
        values=values,
        kinds=kinds or ["kettle"] * size,
        qualifiers=[""] * size,
        noun="kettle",
        synonyms={},
        doc_ids=[str(at) for at in range(size)],
        thing=np.arange(size),
        sayings=by_attribute,
    )


def below(value, unit="kilogram"):
    return Condition("<", value, value, unit, unit, value, value)


@pytest.mark.parametrize(
    ("value", "said", "agrees", "grade"),
    [
        (1.5, 1.5, True, 2),
        (1.5, None, True, 1),
        (2.5, None, True, 0),
        (2.5, 2.5, True, 0),
        (2.5, 1.5, False, 0),  # the table contradicts the text
        (1.5, 2.5, False, -1),  # the text contradicts the table
        (1.5, 1.7, False, 2),  # they differ, but both meet what is asked: a variant
        (1.98, 2.0, True, -1),  # rounded to the other side of the bound
        (2.02, 1.99, True, -1),
        (NAN, None, True, -1),
    ],
)
def test_one_condition(value, said, agrees, grade):
    facts = table([value], [] if said is None else [(0, 0, said, agrees)])
    assert facts.judge(facts.category(), [(0, below(2.0))]).grades.tolist() == [grade]


def test_what_only_the_table_says_may_be_left_open():
    facts = table([1.5], [])
    assert facts.judge(facts.category(), [(0, below(2.0))], table_only=False).grades.tolist() == [-1]


def test_all_conditions_are_of_one_thing():
    facts = table(
        [[1.5, 40], [1.5, 90], [1.5, NAN], [2.5, NAN]], [(0, at, 1.5, True) for at in range(3)] + [(1, 0, 40, True)]
    )
    judged = facts.judge(facts.category(), [(0, below(2.0)), (1, below(50, "euro"))])
    assert judged.grades.tolist() == [2, 0, -1, 0]
    assert judged.things.tolist() == [YES, NO, OPEN, NO]


def test_the_kind_is_part_of_the_question():
    facts = table([1.5, 1.5, 1.5], [(0, at, 1.5, True) for at in range(3)], kinds=["glass kettle", "steel kettle", ""])
    assert facts.judge(facts.category("glass kettle"), [(0, below(2.0))]).grades.tolist() == [2, 0, -1]


def test_a_noun_that_is_a_kind_means_that_kind():
    kinds = ["kettle"] * 10 + ["samovar"] * 10
    wording = load_wording(wording_file("products"))
    facts = replace(table([1.0] * 20, [], kinds=kinds), qualifiers=["Ada", "Bo"] * 10)
    scopes = {category.names[0]: category.scope for category in categories(facts, wording)}
    assert scopes["kettle"].tolist() == [YES] * 10 + [NO] * 10
    assert scopes["samovar"].tolist() == [NO] * 10 + [YES] * 10
    assert scopes["Ada kettle"].tolist() == [YES, NO] * 5 + [NO] * 10
    general = replace(facts, noun="vessel")
    scopes = {category.names[0]: category.scope for category in categories(general, wording)}
    assert scopes["vessel"].tolist() == [YES] * 20
    assert scopes["Ada vessel"].tolist() == [YES, NO] * 10
