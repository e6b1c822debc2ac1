"""Quantities as vectors whose dot product says whether a value satisfies a condition: reserved dimensions of MaxSim.

A mention's code x and a condition's code w, with s = 1 if their units compare and about 0 if not:

    x . w = s - (0 if its lowest value is high enough) - (0 if its highest value is low enough)

so that it is 1 for a mention that satisfies the condition, and about 0 or less for every other. Blocks of dimensions:

    low, high   a mention's ends on a grid of its unit's values in the corpus: 1 at a knot, shared by two knots between
                them. A condition has 0 at knots that satisfy it, -1 at those that do not.
    equal       cos and sin of log|value| at fixed frequencies: their kernel is 1 for the same value, 0.70 for one that
                is 0.1 % off, 0.57 at 0.3 %, 0.32 at 1 %, 0.27 at 10 %.
    unit        random signs drawn from the unit's name: 1 for the same unit, a small random number for two.

Values are in the unit in which they compare, converted before they are encoded. Knots are the ends of the corpus' own
mentions, all of them or evenly many: two values are told apart if a knot lies between them, and "=" by the equal block,
too. An end that a mention excludes ("more than 500") is a value of its own beside it, so that it satisfies "> 500" and
500 does not.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from qbench.quantities.types import Condition, Quantity

KNOTS = 30
"""Values on a unit's grid; before and behind them is a place for an open end."""

UNIT = 48
FREQUENCIES = 16

_ENDS = KNOTS + 2
DIMENSION = 2 * _ENDS + 2 * FREQUENCIES + UNIT
"""Numbers in a code."""

_LOW, _HIGH = slice(0, _ENDS), slice(_ENDS, 2 * _ENDS)
_EQUAL = slice(2 * _ENDS, 2 * _ENDS + 2 * FREQUENCIES)
_UNIT = slice(2 * _ENDS + 2 * FREQUENCIES, DIMENSION)

_BESIDE = 1e-6
"""How far the end that a mention excludes is moved inwards: more than values that are equal may differ."""

_RATES = 3.0 * 1.6 ** np.arange(FREQUENCIES)
"""Radians per unit of log value: the kernel's width runs from a factor of two to a hundredth of a percent."""


@dataclass(frozen=True)
class ValueCode:
    """The grids of a corpus' units.

    Attributes:
        knots: of each unit, ascending; units of `Quantity.base_unit` with the change, as `unit_name` gives them.
    """

    knots: dict[str, NDArray[np.float64]]

    @classmethod
    def of(cls, units: Iterable[str], values: NDArray[np.float64]) -> ValueCode:
        """The grids of a corpus.

        Args:
            units: n names.
            values: shape (n,), such as the `ends` of mentions; those that are not finite are left out.
        """
        names = np.array(list(units), dtype=object)
        finite = np.isfinite(values)
        return cls({str(unit): _grid(values[finite & (names == unit)]) for unit in sorted(set(names[finite]))})

    def mention(self, quantity: Quantity) -> NDArray[np.float32]:
        """The code of a mention, shape (DIMENSION,); zeros where its value is not finite."""
        code = np.zeros(DIMENSION, np.float32)
        name = unit_name(quantity.base_unit, quantity.change)
        if not (math.isfinite(quantity.base_value) and math.isfinite(quantity.base_high)):
            return code
        knots = self.knots.get(name, np.empty(0))
        both = ends(*(np.array([value]) for value in (quantity.base_value, quantity.base_high, quantity.comparator)))
        low, high = (float(end[0]) for end in both)
        code[_LOW], code[_HIGH] = _hat(knots, low), _hat(knots, high)
        if low == high:
            code[_EQUAL] = _waves(low)
        code[_UNIT] = _signs(name)
        return code

    def condition(self, condition: Condition) -> NDArray[np.float32]:
        """The code of a condition, shape (DIMENSION,)."""
        code = np.zeros(DIMENSION, np.float32)
        name = unit_name(condition.base_unit, condition.change)
        knots = self.knots.get(name, np.empty(0))
        places = np.concatenate([[-math.inf], knots, [math.inf] * (_ENDS - 1 - len(knots))])
        low, high = condition.base_value, condition.base_high
        near, comparator = 1e-9, condition.comparator
        if comparator == "=":
            # Its own knots satisfy it, on either side where it lies between two; the kernel tells the rest.
            at = float(np.interp(low, knots, np.arange(1.0, len(knots) + 1))) if len(knots) else 0.0
            code[_LOW][: int(at)] = -1.0
            code[_HIGH][math.ceil(at) + 1 :] = -1.0
            code[_EQUAL] = _waves(low)
            code[_LOW] -= 1.0  # a mention has 1 in this block in all
        if comparator in (">", ">=", "between"):
            edge = low + abs(low) * near if comparator == ">" else low - abs(low) * near
            code[_LOW] -= places <= edge if comparator == ">" else places < edge
        if comparator in ("<", "<=", "between"):
            edge = high - abs(high) * near if comparator == "<" else high + abs(high) * near
            code[_HIGH] -= places >= edge if comparator == "<" else places > edge
        if comparator == "!=":
            code[_EQUAL] = -_waves(low)
        code[_UNIT] = _signs(name)
        return code


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


@lru_cache(maxsize=4096)
def _signs(name: str) -> NDArray[np.float32]:
    """Random signs from a name, of length 1; shape (UNIT,)."""
    digest = hashlib.sha256(name.encode()).digest()
    bits = np.unpackbits(np.frombuffer(digest, np.uint8))[:UNIT]
    return ((2.0 * bits - 1) / math.sqrt(UNIT)).astype(np.float32)


def codes(code: ValueCode, mentions: Sequence[Quantity]) -> NDArray[np.float32]:
    """The codes of n mentions, shape (n, DIMENSION)."""
    rows = [code.mention(mention) for mention in mentions]
    return np.array(rows, np.float32).reshape(len(rows), DIMENSION)
