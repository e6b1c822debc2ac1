"""What a number is by where what it counts is not said: "12/min", "1,200 per km2", "250 × 10⁹/L".

This is read last, of amounts that nothing else gave a unit: "20 cigarettes per day, then 10 per day" is of cigarettes,
and "£900 to 1,100 per month" a range of money.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from qbench.quantities.english.amounts import Amount
from qbench.quantities.english.composites import PROPORTION
from qbench.quantities.english.compounds import UnitMatch
from qbench.quantities.english.ratios import RATIO
from qbench.quantities.english.tokens import HYPHENS, Token, glued
from qbench.quantities.english.unit_forms import UnitReader
from qbench.quantities.units import PER

_ESTIMATES = frozenset("OR HR RR IRR aOR aHR β".split())
_ESTIMATED = frozenset("ratio ratios odds hazard risk coefficient".split())
"""What says before a number that it is how much a risk rises by a unit: "OR 1.02 per kg/m2"."""
_LARGEST_ESTIMATE = 20
_VITAL = ("per second", "per minute")
"""What a pulse ("HR 80 per minute") and breaths ("RR 18 per minute") are by, and a risk seldom."""
_IN_LISTS = frozenset({",", "and", "or", "to", "vs", "vs.", "versus", ",and", ",or"})


def with_denominators(tokens: Sequence[Token], text: str, amounts: Sequence[Amount], forms: UnitReader) -> list[Amount]:
    """The amounts, bare ones with what they are by; in a list the last one says it for all."""
    found = list(amounts)
    for k in range(len(found) - 1, -1, -1):
        amount = found[k]
        if not amount.bare or amount.how[-1:] == (PROPORTION,) or RATIO in amount.how:
            continue
        match = forms.per(tokens, text, amount.last)
        if match is not None and _fits(tokens, amount, match):
            unit, last, span = match
            found[k + 1 :] = [other for other in found[k + 1 :] if other.first >= last]  # the 3 of "/cm^3"
            found[k] = replace(amount, unit=unit, last=last, unit_span=span, how=(*amount.how, "unit after"))
        elif k + 1 < len(found) and found[k + 1].unit.name.startswith(PER):
            between = "".join(t.low for t in tokens[amount.last : found[k + 1].first])
            if between in _IN_LISTS:
                found[k] = replace(amount, unit=found[k + 1].unit, how=(*amount.how, "shared unit"))
    return found


def _fits(tokens: Sequence[Token], amount: Amount, match: UnitMatch) -> bool:
    """Whether a number is by what stands behind it."""
    unit, last, _ = match
    first = amount.last
    after = tokens[last] if last < len(tokens) else None
    joined = after is not None and glued(tokens[last - 1], after)
    if after is not None and joined and (after.text in HYPHENS or after.text == "/"):
        return False  # "3 per week-end", "5/year-old", "40/s/"
    if len(tokens[last - 1].text) == 1 and tokens[last - 1].text.isalpha() and tokens[first].text == "/":
        if after is not None and not joined and after.text[:1].isupper():
            return False  # "12/d Main Street"
    start = amount.number.first
    if start > 1 and tokens[start - 1].text == "/" and glued(tokens[start - 1], tokens[start]):
        return False  # "12/25/year"
    before = tokens[max(0, start - 3) : start]
    rises = any(t.text in _ESTIMATES or t.low in _ESTIMATED for t in before)
    return not (rises and amount.low < _LARGEST_ESTIMATE and unit.name not in _VITAL)
