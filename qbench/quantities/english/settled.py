"""Units that the subject of a sentence gives: "the number of boats rose to 300 from 280"."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from qbench.quantities.english.amounts import Amount
from qbench.quantities.english.nouns import ADJECTIVES, NOUNS, plural_noun
from qbench.quantities.english.parse import Parse
from qbench.quantities.english.tokens import Token, abbreviates
from qbench.quantities.units import Unit, Units

_REACH = 30
_FINITE = frozenset({"VBD", "VBZ", "VBP", "MD", "VB"})


def settle(tokens: Sequence[Token], amounts: Sequence[Amount], units: Units, parse: Parse | None) -> list[Amount]:
    """The amounts, bare ones with the unit that the subject of the sentence gives; without a parse, as they are."""
    settled: list[Amount] = []
    for amount in amounts:
        unit = _numbered(tokens, amount, settled, units, parse) if amount.bare and parse is not None else None
        settled.append(amount if unit is None else replace(amount, unit=unit, how=(*amount.how, "noun of the subject")))
    return settled


def _numbered(
    tokens: Sequence[Token], amount: Amount, before: Sequence[Amount], units: Units, parse: Parse
) -> Unit | None:
    """ "The number of open posts rose to 300 from 280": what the subject of the verb counts."""
    if not amount.low.is_integer() or amount.number.rule == "fraction":
        return None
    verb = False
    for k in range(amount.first - 1, max(0, amount.first - _REACH), -1):
        if tokens[k].text in ".;:!?" and not abbreviates(tokens, k):
            return None
        verb = verb or parse.tags[k] in _FINITE
        if tokens[k].low == "of" and tokens[k - 1].low in ("number", "numbers"):
            if k > 1 and tokens[k - 2].low in ("a", "any"):
                return None  # "a number of tests" are several
            head = _head(tokens, k + 1, amount.first, parse)
            others = [a for a in before if a.first > k and not a.bare and not a.year and a.unit.family != "ratio"]
            if head is None or not verb or any(a.unit.family != "count" for a in others):
                return None
            return plural_noun(tokens, head, units)
    return None


def _head(tokens: Sequence[Token], k: int, stop: int, parse: Parse) -> int | None:
    """The plural noun of the phrase that starts at token k."""
    head = None
    while k < stop and (tokens[k].low == "the" or parse.tags[k] in NOUNS | ADJECTIVES | {"VBN", "VBG", "CC", "HYPH"}):
        if parse.tags[k] in ("NNS", "NNPS") or tokens[k].low in ("people", "staff", "personnel"):
            head = k
        k += 1
    return head
