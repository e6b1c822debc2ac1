"""Amounts are read alike wherever they stand in a query: each with every bound, before and behind others."""

from itertools import permutations

import pytest

from qbench.quantities.english.queries import parse_query
from qbench.quantities.extractors import ExtractorOptions, get_extractor

EXTRACTOR = get_extractor(ExtractorOptions(language="en"))
AMOUNTS = {
    "$450": (450, "dollar"), "70 euros": (70, "euro"), "35 quid": (35, "pound sterling"), "12 kg": (12, "kilogram"),
    "30cm": (30, "centimetre"), "19 inches": (19, "inch"), "65%": (65, "percentage"), "400 miles": (400, "mile"),
    "9 hours": (9, "hour"), "2000": (2000, ""), "1600": (1600, ""), "45k": (45000, ""), "750w": (750, "watt"),
    "$15 an hour": (15, "dollar per hour"),
}  # fmt: skip
BEFORE = {
    "under": "<", "less than": "<", "up to": "<=", "max": "<=", "at most": "<=", "no more than": "<=", "not over": "<=",
    "a maximum of": "<=", "over": ">", "above": ">", "at least": ">=", "min": ">=", "not under": ">=", "sub": "<",
    "nothing over": "<=", "anything under": "<", "ideally under": "<", "a bit over": ">", "not exceeding": "<=",
}  # fmt: skip
BEHIND = {"{} or more": ">=", "{} or less": "<=", "{} or under": "<=", "{} or above": ">=", "{} and up": ">="}
CONTEXTS = ("crates {}", "grey crates {} steel", "crates {} 6gb ram")
PARTS = (
    "under $450", "6gb ram", "17 inch screen", "less than 3 kg", "battery over 9 hours", "rating 4+", "750w", "3 ports",
    "at least 4500 mah", "up to 25 litres", "40-90 cm", "below 250", "width 70cm", "3 year warranty", "score over 70",
)  # fmt: skip


def read(query):
    return [(c.comparator, c.value, c.unit) for c in parse_query(query, EXTRACTOR).conditions]


@pytest.mark.parametrize("context", CONTEXTS)
@pytest.mark.parametrize("bound", BEFORE)
def test_a_bound_before_an_amount_is_read_in_every_context(bound, context):
    for amount, (value, unit) in AMOUNTS.items():
        query = context.format(f"{bound} {amount}")
        assert read(query)[:1] == [(BEFORE[bound], value, unit)], query


@pytest.mark.parametrize("context", CONTEXTS)
@pytest.mark.parametrize("bound", BEHIND)
def test_a_bound_behind_an_amount_is_read_in_every_context(bound, context):
    for amount, (value, unit) in AMOUNTS.items():
        if bound == "{} and up" and amount in ("2000", "$15 an hour"):
            continue  # the first may be a year
        query = context.format(bound.format(amount))
        assert read(query)[:1] == [(BEHIND[bound], value, unit)], query


@pytest.mark.parametrize("joint", [" ", ", ", " with "])
def test_two_conditions_are_those_that_each_is_alone(joint):
    alone = {part: read(f"crates {part}") for part in PARTS}
    assert all(len(each) == 1 for each in alone.values()), alone
    wrong = []
    for a, b in permutations(PARTS, 2):
        query = f"crates {a}{joint}{b}"
        if sorted(read(query)) != sorted(alone[a] + alone[b]):
            wrong.append(query)
    assert len(wrong) <= 4, wrong
