"""Plain words that stand in for the amounts of a sentence while it is parsed."""

from __future__ import annotations

from collections.abc import Sequence

from qbench.quantities.amounts import Amount
from qbench.quantities.changes import BEFORE_NOUNS, LIGHT, MOVES, NOUNS_TOO, PLACES
from qbench.quantities.dates import names_a_year
from qbench.quantities.parse import StandIn
from qbench.quantities.tokens import HYPHENS, Token

YEAR_WORDS = frozenset("the fiscal its our in of since by for until from during".split())
"""Words before a year-like number that make it a year whatever follows: "the 2019 plans"."""
REACH = 6
"""Tokens back from an amount at most, to find its verb."""
PLAIN_UNIT = 3
"""Letters from which a unit's word is left as it is; shorter ones ("kW", "mm") are no words to a parser."""


def stand_ins(tokens: Sequence[Token], amounts: Sequence[Amount]) -> list[StandIn]:
    """What the parser reads in place of each amount; a restatement in brackets ("7 miles (11 km)") is left out."""
    found: list[StandIn] = []
    for amount in amounts:
        first, last = amount.first, amount.last
        verb = _verb_before(tokens, first, found[-1].last if found else 0)
        if verb is not None:
            found.append(verb)
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


def _verb_before(tokens: Sequence[Token], first: int, floor: int) -> StandIn | None:
    """A commoner verb for one of change right before an amount: "slid to", "plummets by about", taken for no noun."""
    k = first - 1
    while k > max(floor, first - REACH) and (tokens[k].low in LIGHT or tokens[k].low in PLACES):
        k -= 1
    if k <= floor or tokens[k].low not in MOVES or tokens[k].low in ("up", "down"):
        return None
    if tokens[k].low in NOUNS_TOO:
        follows_noun = tokens[k - 1].kind == "word" and tokens[k - 1].low not in BEFORE_NOUNS
        return StandIn(k, k + 1, ("falls",)) if tokens[k].low.endswith("s") and follows_noun else None
    return None if tokens[k].low.endswith("ing") else StandIn(k, k + 1, ("fell",))


def _in_brackets(tokens: Sequence[Token], first: int, last: int) -> bool:
    return first > 0 and last < len(tokens) and tokens[first - 1].text in "([" and tokens[last].text in ")]"


def _words(tokens: Sequence[Token], amount: Amount) -> tuple[str, ...]:
    if amount.bare or amount.year:
        return ("one",) if amount.number.value == 1 else ("5",)
    if amount.unit.family.startswith("currency"):
        return ("$", "5")
    if amount.unit.family == "ratio":
        return ("5", "%")
    words = [t for t in tokens[amount.number.last : amount.last] if t.kind == "word"]
    unit = words[0].low if words and len(words[0].text) >= PLAIN_UNIT else "miles"
    hyphened = amount.number.last < len(tokens) and tokens[amount.number.last].text in HYPHENS
    return ("5", "-", unit) if hyphened else ("5", unit)
