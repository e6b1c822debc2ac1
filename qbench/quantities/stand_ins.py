"""Plain words that stand in for the amounts of a sentence while it is parsed."""

from __future__ import annotations

from collections.abc import Sequence

from qbench.quantities.amounts import Amount
from qbench.quantities.dates import names_a_year
from qbench.quantities.parse import StandIn
from qbench.quantities.tokens import HYPHENS, Token

YEAR_WORDS = frozenset("the fiscal its our in of since by for until from during".split())
"""Words before a year-like number that make it a year whatever follows: "the 2019 plans"."""
PLAIN_UNIT = 3
"""Letters from which a unit's word is left as it is; shorter ones ("kW", "mm") are no words to a parser."""


def stand_ins(tokens: Sequence[Token], amounts: Sequence[Amount]) -> list[StandIn]:
    """What the parser reads in place of each amount; a restatement in brackets ("7 miles (11 km)") is left out."""
    found: list[StandIn] = []
    for amount in amounts:
        first, last = amount.first, amount.last
        if amount.year and not may_be_counted(tokens, amount):
            continue
        if found and found[-1].last == first - 1 and _in_brackets(tokens, first, last):
            found.append(StandIn(first - 1, last + 1, ()))
        else:
            found.append(StandIn(first, last, _words(tokens, amount)))
    return found


def may_be_counted(tokens: Sequence[Token], year: Amount) -> bool:
    """Whether a year-like number may count what follows ("2000 employees"), by the words on both sides of it."""
    if names_a_year(tokens, year.number.first):
        return False
    before = tokens[year.first - 1].low if year.first else ""
    return before not in YEAR_WORDS and year.last < len(tokens) and tokens[year.last].text.islower()


def _in_brackets(tokens: Sequence[Token], first: int, last: int) -> bool:
    return first > 0 and last < len(tokens) and tokens[first - 1].text in "([" and tokens[last].text in ")]"


def _words(tokens: Sequence[Token], amount: Amount) -> tuple[str, ...]:
    if amount.bare or amount.year:
        return ("one",) if amount.number.value == 1 else ("5",)
    if amount.unit.family.startswith("currency"):
        return ("$", "5")
    if amount.unit.family == "ratio":
        return ("5", "percent")
    words = [t for t in tokens[amount.number.last : amount.last] if t.kind == "word"]
    unit = words[0].low if words and len(words[0].text) >= PLAIN_UNIT else "miles"
    hyphened = amount.number.last < len(tokens) and tokens[amount.number.last].text in HYPHENS
    return ("5", "-", unit) if hyphened else ("5", unit)
