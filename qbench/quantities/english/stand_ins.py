"""Plain words that stand in for the amounts of a sentence while it is parsed."""

from __future__ import annotations

from collections.abc import Sequence

from qbench.quantities.english.amounts import Amount
from qbench.quantities.english.dates import names_a_year
from qbench.quantities.english.parse import StandIn
from qbench.quantities.english.tokens import HYPHENS, Token

YEAR_WORDS = frozenset("the fiscal its our in of since by for until from during".split())
"""Words before a year-like number that make it a year whatever follows: "the 2019 plans"."""
_OF_YEARS = frozenset(
    "earnings sales revenue revenues profits losses results figures items levels prices dividends expenses costs "
    "exports imports shipments taxes elections accounts".split()
)
"""What a year has, and nobody counts by the thousand: "1987 earnings"."""
PLAIN_UNIT = 3
"""Letters from which a unit's word is left as it is; shorter ones ("kW", "mm") are no words to a parser."""


def stand_ins(tokens: Sequence[Token], amounts: Sequence[Amount]) -> list[StandIn]:
    """What the parser reads in place of each amount."""
    read = (a for a in amounts if not a.year or may_be_counted(tokens, a))
    return without_restatements(tokens, [StandIn(a.first, a.last, _words(tokens, a)) for a in read])


def without_restatements(tokens: Sequence[Token], mentions: Sequence[StandIn]) -> list[StandIn]:
    """The stand-ins of a text; a restatement in brackets ("7 miles (11 km)") is left out with its brackets."""
    stand_ins: list[StandIn] = []
    for mention in mentions:
        first, last = mention.first, mention.last
        if stand_ins and stand_ins[-1].last == first - 1 and _in_brackets(tokens, first, last):
            stand_ins.append(StandIn(first - 1, last + 1, ()))
        else:
            stand_ins.append(mention)
    return stand_ins


def may_be_counted(tokens: Sequence[Token], year: Amount) -> bool:
    """Whether a year-like number may count what follows ("2000 employees"), by the words on both sides of it."""
    if names_a_year(tokens, year.number.first):
        return False
    before = tokens[year.first - 1].low if year.first else ""
    noun = tokens[year.last] if year.last < len(tokens) else None
    return noun is not None and before not in YEAR_WORDS and noun.text.islower() and noun.low not in _OF_YEARS


def _in_brackets(tokens: Sequence[Token], first: int, last: int) -> bool:
    return first > 0 and last < len(tokens) and tokens[first - 1].text in "([" and tokens[last].text in ")]"


def _words(tokens: Sequence[Token], amount: Amount) -> tuple[str, ...]:
    if amount.bare or amount.year:
        return in_place_of(amount.number.value, "", ())
    return in_place_of(amount.number.value, amount.unit.family, tokens[amount.number.last : amount.last])


def in_place_of(value: float, family: str, after: Sequence[Token]) -> tuple[str, ...]:
    """Plain words for a mention.

    Args:
        value: its number.
        family: of its unit; "" for a bare or a counting number.
        after: the tokens after the number, up to the mention's end.
    """
    if not family:
        return ("one",) if value == 1 else ("5",)
    if family.startswith("currency"):
        return ("$", "5")
    if family == "ratio":
        return ("5", "percent")
    words = [t for t in after if t.kind == "word"]
    unit = words[0].low if words and len(words[0].text) >= PLAIN_UNIT else "miles"
    return ("5", "-", unit) if after and after[0].text in HYPHENS else ("5", unit)
