"""Points that are percentage points: "fell 3.3 points to 70.9 %", "13.4 pct, a fall of 0.2 point".

An index rises by points, too, and often by so many percent: "rose 20 points, or 3 %". This is read last: it takes what
each amount changes and what it is of.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from qbench.quantities.english.amounts import Amount
from qbench.quantities.english.lent import Read, changes_verb
from qbench.quantities.english.parse import Parse
from qbench.quantities.english.tokens import Token
from qbench.quantities.units import Unit, Units


def percentage_points(tokens: Sequence[Token], reads: Sequence[Read], units: Units, parse: Parse | None) -> list[Read]:
    """The readings, points that are changes of a percentage by what they are, and levels that they lead to.

    Args:
        tokens: of the text.
        reads: what was read, in order.
        units: the known units.
        parse: of the text, if there is one.
    """
    told = list(reads)
    for k, read in enumerate(reads):
        if not _are_of_percentages(tokens, told, k, parse):
            continue
        told[k] = _with(read, units.get(PERCENTAGE_POINT))
        level = told[k + 1] if k + 1 < len(told) else None
        if level is not None and level[0].unit.name == POINT and _gap(tokens, read[0], level[0]) == ["to"]:
            told[k + 1] = _with(level, units.get(PERCENTAGE))  # "from 33 pct, rose six points to 39"
    return told


def _are_of_percentages(tokens: Sequence[Token], reads: Sequence[Read], k: int, parse: Parse | None) -> bool:
    """Whether the k-th amount is points by which a percentage changes."""
    amount, reading, _ = reads[k]
    if amount.unit.name != POINT or amount.low >= _ALL or not amount.first:
        return False
    leads = k + 1 < len(reads) and _to_percentage(tokens, amount, reads[k + 1][0])
    changes = k > 0 and _is_of_percentage(tokens, reads[k - 1], reads[k], parse)
    changed = bool(reading.change) or tokens[amount.first - 1].low == "by"  # "and the next rate by 0.1 points to 7 pct"
    return (leads and changed) or (bool(reading.change) and (changes or _is_of_rate(tokens, reads[k])))


def _with(read: Read, unit: Unit) -> Read:
    amount, reading, concept = read
    return replace(amount, unit=unit, how=(*amount.how, "points of percentages")), reading, concept


def _gap(tokens: Sequence[Token], a: Amount, b: Amount) -> list[str]:
    return [token.low for token in tokens[a.last : b.first]]


def _to_percentage(tokens: Sequence[Token], a: Amount, b: Amount) -> bool:
    """Whether points lead to a percentage; "fell 20 points to 3 % below its peak" does not."""
    after = tokens[b.last].low if b.last < len(tokens) else ""
    return b.unit.family == "ratio" and _gap(tokens, a, b) == ["to"] and after not in _AWAY


def _is_of_rate(tokens: Sequence[Token], read: Read) -> bool:
    """Whether few points are of a rate of interest or a yield: "cut the prime rate by half a point"."""
    amount, _, concept = read
    return amount.low <= _LARGEST_OF_RATE and bool(concept.words) and tokens[concept.words[-1]].low in _RATES


def _is_of_percentage(tokens: Sequence[Token], a: Read, b: Read, parse: Parse | None) -> bool:
    """Whether points change the percentage before them: "13.4 pct in February, a fall of 0.2 point"."""
    (level, said, of), (points, _, concept) = a, b
    between = tokens[level.last : points.first]
    if parse is None or said.change or level.unit.name != PERCENTAGE or len(between) > _REACH:
        return False
    if any(token.text in _ENDS for token in between) or changes_verb(between, parse.tags[level.last :]):
        return False
    return {tokens[k].low for k in of.words} == {tokens[k].low for k in concept.words}


POINT, PERCENTAGE, PERCENTAGE_POINT = "point", "percentage", "percentage point"
_ALL = 100
_AWAY = frozenset("below above under over off less more lower higher of".split())
_RATES = frozenset("rate rates yield yields".split())
_LARGEST_OF_RATE = 5
"""Points of a rate of interest that it changes by at once, at most: a heart rate changes by more."""
_REACH = 14
_ENDS = frozenset(".;:!?(")
