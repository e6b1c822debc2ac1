"""Quantities as vectors whose dot product says whether a value satisfies a condition: reserved dimensions of MaxSim.

A mention's code x and a condition's code w, with s = 1 if their units compare and about 0 if not:

    x . w = s - (number of its ends that do not satisfy the condition)

so that it is 1 for a mention that satisfies the condition, and about 0 or less for every other. Blocks of dimensions:

    value       a mention's ends, a half each, on a grid of its unit's values in the corpus: at a knot, or shared by the
                two knots beside it. A condition has 0 at knots that satisfy it, -2 at those that do not, and at the
                knot before a value that lies between two as much as makes x . w = s - 1/2 just there.
    equal       cos and sin of log|value| at fixed frequencies: their kernel is 1 for the same value, 0.70 for one that
                is 0.1 % off, 0.57 at 0.3 %, 0.32 at 1 %, 0.27 at 10 %.
    unit        a dimension of its own for each of the corpus' most frequent units, random signs drawn from the name of
                any other: 1 for the same unit, 0 or a small random number for two.

Values are in the unit in which they compare, converted before they are encoded. Knots are the ends of the corpus' own
mentions, all of them or evenly many: two values are told apart if a knot lies between them, and "=" by the equal block,
too. An end that a mention excludes ("more than 500") is a value of its own beside it, so that it satisfies "> 500" and
500 does not.
"""

from __future__ import annotations

import hashlib
import math
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from qbench.quantities.types import Condition, Quantity

KNOTS = 62
"""Values on a unit's grid; before and behind them is a place for an open end."""

FREQUENT, SIGNS = 16, 32
"""Units with a dimension of their own; random signs of all others."""
FREQUENCIES = 16

WORD_SIGNS = 64
"""Numbers in a word's code."""

_ENDS = KNOTS + 2
DIMENSION = _ENDS + 2 * FREQUENCIES + FREQUENT + SIGNS
"""Numbers in a code."""

_VALUE = slice(0, _ENDS)
_EQUAL = slice(_ENDS, _ENDS + 2 * FREQUENCIES)
_UNIT = slice(_ENDS + 2 * FREQUENCIES, DIMENSION)

_OUTSIDE = -2.0
"""Of a condition at a knot that does not satisfy it: an end counts a half in a mention's code."""

_BESIDE = 1e-6
"""How far the end that a mention excludes is moved inwards: more than values that are equal may differ."""

_NEAR = 1e-9
"""How far, relative to it, values may be from another to be the same."""

_RATES = 3.0 * 1.6 ** np.arange(FREQUENCIES)
"""Radians per unit of log value: the kernel's width runs from a factor of two to a hundredth of a percent."""


@dataclass(frozen=True)
class ValueCode:
    """The grids of a corpus' units.

    Attributes:
        knots: of each unit, ascending; units of `Quantity.base_unit` with the change, as `unit_name` gives them.
        frequent: the dimension of each unit that has one of its own.
    """

    knots: dict[str, NDArray[np.float64]]
    frequent: dict[str, int] = field(default_factory=dict)

    @classmethod
    def of(cls, units: Iterable[str], values: NDArray[np.float64]) -> ValueCode:
        """The grids of a corpus.

        Args:
            units: n names.
            values: shape (n,), such as the `ends` of mentions; those that are not finite are left out.
        """
        names = np.array(list(units), dtype=object)
        finite = np.isfinite(values)
        counts = Counter(names[finite])
        knots = {str(unit): _grid(values[finite & (names == unit)]) for unit in sorted(counts)}
        frequent = sorted(counts, key=lambda unit: (-counts[unit], unit))[:FREQUENT]
        return cls(knots, {str(unit): place for place, unit in enumerate(frequent)})

    def mention(self, quantity: Quantity) -> NDArray[np.float32]:
        """The code of a mention, shape (DIMENSION,); zeros where its value is not finite."""
        code = np.zeros(DIMENSION, np.float32)
        name = unit_name(quantity.base_unit, quantity.change)
        if not (math.isfinite(quantity.base_value) and math.isfinite(quantity.base_high)):
            return code
        knots = self.knots.get(name, np.empty(0))
        both = ends(*(np.array([value]) for value in (quantity.base_value, quantity.base_high, quantity.comparator)))
        low, high = (float(end[0]) for end in both)
        code[_VALUE] = (_hat(knots, low) + _hat(knots, high)) / 2
        if low == high:
            code[_EQUAL] = _waves(low)
        code[_UNIT] = self._unit(name)
        return code

    def condition(self, condition: Condition) -> NDArray[np.float32]:
        """The code of a condition, shape (DIMENSION,)."""
        code = np.zeros(DIMENSION, np.float32)
        name = unit_name(condition.base_unit, condition.change)
        knots = self.knots.get(name, np.empty(0))
        low, high = condition.base_value, condition.base_high
        comparator = condition.comparator
        if comparator == "=":
            # The knots beside it satisfy it as far as the grid knows; the kernel tells the rest.
            first, last = _beside(knots, low)
            code[_VALUE] = np.minimum(_outside(knots, first, below=True), _outside(knots, last, below=False)) - 1.0
            code[_EQUAL] = _waves(low)
        elif comparator == "!=":
            code[_EQUAL] = -_waves(low)
        if comparator in (">", ">=", "between"):
            code[_VALUE] = _outside(knots, low, below=True, itself=comparator == ">")
        if comparator in ("<", "<=", "between"):
            above = _outside(knots, high, below=False, itself=comparator == "<")
            code[_VALUE] = np.minimum(code[_VALUE], above)
        code[_UNIT] = self._unit(name)
        return code

    def _unit(self, name: str) -> NDArray[np.float32]:
        """What says that it is this unit, of length 1; shape (FREQUENT + SIGNS,)."""
        made = np.zeros(FREQUENT + SIGNS, np.float32)
        if name in self.frequent:
            made[self.frequent[name]] = 1.0
        else:
            made[FREQUENT:] = _signs(name, SIGNS)
        return made


def ends(
    low: NDArray[np.float64], high: NDArray[np.float64], comparators: NDArray[Any]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """The lowest and the highest possible values of n mentions, each of shape (n,), infinite where they are open.

    Args:
        low, high: `base_value` and `base_high` of the mentions.
        comparators: theirs.

    >>> low, high = ends(np.array([500.0, 2.0]), np.array([500.0, 2.0]), np.array([">", "<="]))
    >>> low, high
    (array([500.0005,     -inf]), array([inf,  2.]))
    """
    moved = _BESIDE * np.abs(low), _BESIDE * np.abs(high)
    above = low + np.where(comparators == ">", np.maximum(moved[0], np.finfo(float).tiny), 0.0)
    below = high - np.where(comparators == "<", np.maximum(moved[1], np.finfo(float).tiny), 0.0)
    return (
        np.where(np.isin(comparators, ("<", "<=")), -np.inf, above),
        np.where(np.isin(comparators, (">", ">=")), np.inf, below),
    )


def word_code(word: str) -> NDArray[np.float32]:
    """Random signs drawn from a word, of length 1; shape (WORD_SIGNS,).

    The dot product of two is 1 for the same word, and for others small and 0 on average.
    """
    return _signs(f"word {word}", WORD_SIGNS)


def unit_name(base_unit: str, change: str) -> str:
    """What compares: a unit, and the size of a rise or of a fall in it.

    >>> unit_name("percent", ""), unit_name("percent", "up")
    ('percent', 'percent up')
    """
    return f"{base_unit} {change}".strip()


def _grid(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """At most `KNOTS` of some values, ascending; each stands for as many mentions as others."""
    distinct = np.unique(values)
    if distinct.size <= KNOTS:
        return distinct
    ranked = np.sort(values)
    return np.unique(ranked[np.linspace(0, ranked.size - 1, KNOTS).round().astype(int)])


def _outside(knots: NDArray[np.float64], value: float, *, below: bool, itself: bool = False) -> NDArray[np.float32]:
    """A condition's weights at the knots: `_OUTSIDE` below a value, or above it, 0 beyond; shape (KNOTS + 2,).

    Where the value lies between two knots, the one outside has as much as takes a half off a mention just there.

    Args:
        knots: of the unit, ascending.
        value: the border.
        below: the values below it are outside; else those above.
        itself: the value itself is outside, too.
    """
    if not below:
        return _outside(-knots[::-1], -value, below=True, itself=itself)[_mirrored(len(knots))]
    near = abs(value) * _NEAR
    places = np.concatenate([[-math.inf], knots, [math.inf] * (_ENDS - 1 - len(knots))])
    out = places <= value + near if itself else places < value - near
    weights = np.where(out, _OUTSIDE, 0.0).astype(np.float32)
    last = int(out.sum()) - 1
    if last >= 1 and places[last] < value - near and last + 1 <= len(knots):
        share = (places[last + 1] - value) / (places[last + 1] - places[last])
        weights[last] = max(_OUTSIDE, _OUTSIDE / 4 / max(share, _NEAR))
    return weights


def _beside(knots: NDArray[np.float64], value: float) -> tuple[float, float]:
    """The knots before and behind a value, or itself where there is none, or where it is a knot."""
    near = abs(value) * _NEAR
    first = int(np.searchsorted(knots, value + near, side="right")) - 1
    last = int(np.searchsorted(knots, value - near, side="left"))
    return float(knots[first]) if first >= 0 else value, float(knots[last]) if last < len(knots) else value


def _mirrored(count: int) -> NDArray[np.int64]:
    """Where each place of a grid of `count` knots is on the grid of their negatives."""
    return np.array([count + 1, *range(count, 0, -1), *[0] * (_ENDS - 1 - count)])


def _hat(knots: NDArray[np.float64], value: float) -> NDArray[np.float32]:
    """Where a value lies on a grid: shares of the two knots beside it, which add up to 1; shape (KNOTS + 2,)."""
    shares = np.zeros(_ENDS, np.float32)
    if value == -math.inf or not len(knots):
        shares[0] = 1.0
    elif value == math.inf:
        shares[-1] = 1.0
    else:
        at = float(np.interp(value, knots, np.arange(1.0, len(knots) + 1)))
        below = int(at)
        shares[below] = below + 1 - at
        if at > below:
            shares[below + 1] = at - below
    return shares


def _waves(value: float) -> NDArray[np.float32]:
    """Cos and sin of log|value| at all rates, with the value's sign; their dot product with themselves is 1."""
    size = math.log(abs(value)) if value else -700.0
    both = np.concatenate([np.cos(_RATES * size), np.sin(_RATES * size)]) / math.sqrt(FREQUENCIES)
    signed: NDArray[np.float32] = np.asarray(-both if value < 0 else both, np.float32)
    return signed


@lru_cache(maxsize=65_536)
def _signs(name: str, count: int) -> NDArray[np.float32]:
    """At most 256 random signs from a name, of length 1; shape (count,)."""
    digest = hashlib.sha256(name.encode()).digest()
    bits = np.unpackbits(np.frombuffer(digest, np.uint8))[:count]
    return ((2.0 * bits - 1) / math.sqrt(count)).astype(np.float32)


def codes(code: ValueCode, mentions: Sequence[Quantity]) -> NDArray[np.float32]:
    """The codes of n mentions, shape (n, DIMENSION)."""
    rows = [code.mention(mention) for mention in mentions]
    return np.array(rows, np.float32).reshape(len(rows), DIMENSION)
