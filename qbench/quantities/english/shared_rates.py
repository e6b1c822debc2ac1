"""Money by what another amount beside it is by: "412.75 dlrs an ounce, up 3.25 dlrs", "rose 50 cents to $18 a barrel".

This is read last: it takes what each amount changes and what it is of.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from qbench.quantities.english.amounts import Amount
from qbench.quantities.english.elided import REACH, is_compared
from qbench.quantities.english.lent import Read, is_led
from qbench.quantities.english.tokens import Token
from qbench.quantities.units import Units


def share_rates(tokens: Sequence[Token], reads: Sequence[Read], units: Units) -> list[Read]:
    """The readings, amounts of money by what the amount before or after them is by.

    Args:
        tokens: of the text.
        reads: what was read, in order.
        units: the known units.
    """
    shared = list(reads)
    for k in range(1, len(shared)):
        a, b = shared[k - 1], shared[k]
        if _lends(a[0], b[0], units) and (_is_compared(tokens, a[0], b[0]) or _is_of_same(tokens, a, b, units)):
            shared[k] = _by(b, a[0], units)
        elif _lends(b[0], a[0], units) and _leads_to(tokens, a, b, units):
            shared[k - 1] = _by(a, b[0], units)
        elif k > 1 and _lends(shared[k - 2][0], b[0], units) and _restate(tokens, shared[k - 2][0], a[0], b[0]):
            shared[k] = _by(b, shared[k - 2][0], units)
    return shared


def _by(read: Read, rate: Amount, units: Units) -> Read:
    amount, reading, concept = read
    bottom = rate.unit.name.partition(" per ")[2]
    own = replace(amount, unit=units.get(f"{amount.unit.name} per {bottom}"), how=(*amount.how, "shared rate"))
    return own, reading, concept


def _lends(rate: Amount, amount: Amount, units: Units) -> bool:
    """Whether a rate is one of the very money that an amount is of, and both are told in full: no "$2 million"."""
    top, per, _ = rate.unit.name.partition(" per ")
    money = amount.unit.family == "currency" and not (amount.number.scaled or rate.number.scaled)
    return bool(per) and money and units.get(top).base_unit == amount.unit.base_unit


def _is_compared(tokens: Sequence[Token], a: Amount, b: Amount) -> bool:
    """Whether b is what the rate a is compared with: "$1.20 per share versus $1.05", "against a profit of $1.05"."""
    if a.is_range or b.is_range or b.first - a.last > REACH:
        return False
    gap = [token.low for token in tokens[a.last : b.first]]
    named = gap[-1:] == ["of"] and next((k for k in range(len(gap) - 1, 0, -1) if gap[k] in ("a", "an")), None)
    return is_compared(tokens, a, b, gap[:named] if named else gap)


def _is_of_same(tokens: Sequence[Token], a: Read, b: Read, units: Units) -> bool:
    """Whether b is one more level of what the rate a is of, or a change of that: "19 cts a bushel, up two cents"."""
    (rate, told, of), (amount, reading, concept) = a, b
    gap = tokens[rate.last : reading.first]
    same = {tokens[k].low for k in of.words} == {tokens[k].low for k in concept.words}
    if not same or told.change or len(gap) > REACH or any(token.text in _ENDS for token in gap):
        return False
    times = _size(amount, units) / (_size(rate, units) or 1.0)
    if reading.change:
        return 0 < times <= 1
    led = reading.first > 0 and tokens[reading.first - 1].low not in _LISTING and is_led(tokens, reading.first - 1)
    return (led or amount.is_range) and 1 / _LIKE <= times <= _LIKE and reading.comparator in ("=", "~", "between")


def _leads_to(tokens: Sequence[Token], a: Read, b: Read, units: Units) -> bool:
    """Whether an amount changes, or leads to, the rate right behind it: "rose 50 cents to $18 a barrel"."""
    gap = [token.low for token in tokens[a[0].last : b[0].first]]
    small = 0 < _size(a[0], units) <= (1 if a[1].change else _LIKE) * _size(b[0], units)
    return small and (gap == ["to"] or (gap == ["from"] and bool(a[1].change)))


def _restate(tokens: Sequence[Token], rate: Amount, total: Amount, amount: Amount) -> bool:
    """Whether a sum is told by one as the one before it was: the 21 of "or 40 cts a share, vs 1 mln, or 21 cts"."""
    before = tokens[max(0, rate.first - 1)].low
    gap = [token.low for token in tokens[total.last : amount.first] if token.text != ","]
    return before == "or" and gap == ["or"] and total.number.scaled and total.unit.family in ("", "currency")


def _size(amount: Amount, units: Units) -> float:
    top = amount.unit.name.partition(" per ")[0]
    return abs(units.to_base(amount.high, top))


_ENDS = frozenset(".;:!?")
_LISTING = frozenset(", and or but".split())
_LIKE = 3
"""How many times as large as another a level of the same thing is at most."""
