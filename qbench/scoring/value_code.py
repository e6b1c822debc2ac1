"""Quantities as vectors whose dot product says whether a value satisfies a condition: reserved dimensions of MaxSim.

A mention has one or more codes x, and a condition a code w, with s = 1 if their units compare and about 0 if not:

    max over x of x . w = s - (number of the mention's ends that do not satisfy the condition)

so that it is 1 for a mention that satisfies the condition, and about 0 or less for others, with the exceptions below.
The values of a unit in the corpus, in order, are its levels, and neighbouring levels a cell. One code says in which
cell an end lies, another also which level of the cell it is: a condition asks of the one whether the whole cell
satisfies it, and of the other, in the cell of its border, which levels do. MaxSim takes the code that has the answer.
Blocks of dimensions:

    cells       the cell of each end, a half for each; places before and behind for ends that are open. A condition has
                0 at cells that satisfy it as a whole, -2 at those that do not.
    borders     the cell of each end, in codes that say its level, too. A condition has 0 at cells that satisfy it in
                part, -2 at the others.
    levels      the level within that cell, in one of three places that cells have in turn. A condition has 0 at levels
                that satisfy it, -2 at those that do not.
    equal       cos and sin of log|value| at fixed frequencies: their kernel is 1 for the same value, 0.70 for one that
                is 0.1 % off, 0.57 at 0.3 %, 0.32 at 1 %, 0.27 at 10 %: for "=" among values that share a level.
    unit        a dimension of its own for each of the corpus' most frequent units, random signs drawn from the name of
                any other: 1 for the same unit, 0 or a small random number for two.

Values are in the unit in which they compare, converted before they are encoded. Where a unit has more values than
levels, neighbours share one, and count a half at a border that lies among them; so do levels where a range ("between")
has its two borders in two cells of one turn. An end that a mention excludes ("more than 500") is a value of its own
beside it, so that it satisfies "> 500" and 500 does not. Of a stated range "!=" sees the two ends alone.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import product
from typing import Any

import numpy as np
from numpy.typing import NDArray

from qbench.quantities.types import Condition, Quantity

CELLS, FINE = 64, 16
"""Cells of a unit, and levels of a cell, at most."""

TURNS = 3
"""Cells in turn have levels of their own: a range has two borders, most often in cells of different turns."""

LEVELS = CELLS * FINE

FREQUENT, SIGNS = 16, 30
"""Units with a dimension of their own; random signs of all others: so many that codes have 256 numbers."""
FREQUENCIES = 16

WORD_SIGNS = 64
"""Numbers in a word's code."""

_BEFORE, _CELLS, _BEHIND = 0, 1, CELLS + 1
_BORDERS = CELLS + 2
_LEVELS = _BORDERS + CELLS
_EQUAL = slice(_LEVELS + TURNS * FINE, _LEVELS + TURNS * FINE + 2 * FREQUENCIES)
_UNIT = slice(_EQUAL.stop, _EQUAL.stop + FREQUENT + SIGNS)

DIMENSION = _UNIT.stop
"""Numbers in a code."""

_OUTSIDE = -2.0
"""Of a condition at what does not satisfy it: an end counts a half in a mention's code."""

_BESIDE = 1e-6
"""How far the end that a mention excludes is moved inwards: more than values that are equal may differ."""

_NEAR = 1e-9
"""How far, relative to it, values may be from another to be the same."""

_RATES = 3.0 * 1.6 ** np.arange(FREQUENCIES)
"""Radians per unit of log value: the kernel's width runs from a factor of two to a hundredth of a percent."""

Place = tuple[int, ...]
"""Dimensions that an end has a half in."""

Amount = tuple[str, float]
"""Of a rate per time: the base unit of the amount in a period, and what turns base values of the rate into its."""


@dataclass(frozen=True)
class Grid:
    """The values of a unit in order, as levels: one value each, or neighbours where there are more than `LEVELS`.

    Attributes:
        first, last: shape (n,), the lowest and the highest value of each level, ascending.
    """

    first: NDArray[np.float64]
    last: NDArray[np.float64]

    @classmethod
    def of(cls, values: NDArray[np.float64]) -> Grid:
        """The grid of finite values.

        If they are too many, the most frequent have levels of their own, at most half of them, for these are asked
        about most; of those between, as few as will do share one.
        """
        distinct, counts = np.unique(values, return_counts=True)
        if distinct.size <= LEVELS:
            return cls(distinct, distinct)
        own = counts > np.partition(counts, -LEVELS // 2)[-LEVELS // 2]
        apart = np.append(True, own[1:] | own[:-1])
        within = np.arange(distinct.size) - np.maximum.accumulate(np.where(apart, np.arange(distinct.size), 0))
        shared = 2
        while np.count_nonzero(within % shared == 0) > LEVELS:
            shared += 1
        starts = np.flatnonzero(within % shared == 0)
        return cls(distinct[starts], distinct[np.append(starts[1:], distinct.size) - 1])

    @property
    def of_cell(self) -> int:
        """Number of levels of a cell, the last one's apart."""
        return max(-(-self.first.size // CELLS), 1)

    def level(self, value: float) -> int:
        """The level of a value, or the nearest; 0 without any."""
        at = int(np.searchsorted(self.last, value - abs(value) * _NEAR))
        if at == self.first.size:
            return max(at - 1, 0)
        before = at and value < self.first[at] and value - self.last[at - 1] < self.first[at] - value
        return at - 1 if before else at

    def places(self, end: float) -> list[Place]:
        """The dimensions of an end, by its cell, and by its level where a cell is not enough to tell it.

        Args:
            end: a value, or infinite.
        """
        if not math.isfinite(end) or not self.first.size:
            return [(_BEHIND if end == math.inf else _BEFORE,)]
        level = self.level(end)
        cell, within = divmod(level, self.of_cell)
        coarse = (_CELLS + cell,)
        if self.of_cell == 1 and self.first[level] == self.last[level]:
            return [coarse]
        return [coarse, (_BORDERS + cell, _LEVELS + FINE * (cell % TURNS) + within)]

    def satisfied(self, condition: Condition) -> NDArray[np.float64]:
        """Shares of levels that satisfy a condition: 1, 0, or a half where only some of a level's values do."""
        if condition.comparator == "!=":
            return 1.0 - self._within(condition.base_value, condition.base_high)
        low, high = condition.base_value, condition.base_high
        if condition.comparator in ("<", "<="):
            return self._within(-math.inf, high, beyond=condition.comparator == "<")
        if condition.comparator in (">", ">="):
            return self._within(low, math.inf, beyond=condition.comparator == ">")
        return self._within(low, low if condition.comparator == "=" else high)

    def _within(self, low: float, high: float, *, beyond: bool = False) -> NDArray[np.float64]:
        """Shares of levels within two values, which count, too, unless it is `beyond` them."""
        near = [abs(value) * _NEAR if math.isfinite(value) else 0.0 for value in (low, high)]
        if beyond:
            lowest, highest = low + near[0], high - near[1]
            whole, part = (self.first > lowest) & (self.last < highest), (self.last > lowest) & (self.first < highest)
        else:
            lowest, highest = low - near[0], high + near[1]
            whole, part = (
                (self.first >= lowest) & (self.last <= highest),
                (self.last >= lowest) & (self.first <= highest),
            )
        return (whole.astype(float) + part) / 2


_NO_GRID = Grid(np.empty(0), np.empty(0))


@dataclass(frozen=True)
class ValueCode:
    """The grids of a corpus' units.

    Attributes:
        grids: of each unit; units of `Quantity.base_unit` with the change, as `unit_name` gives them.
        frequent: the dimension of each unit that has one of its own.
        amounts: of each `Quantity.unit` that is a rate in which an amount is meant, too ("dollar per year").
    """

    grids: dict[str, Grid]
    frequent: dict[str, int] = field(default_factory=dict)
    amounts: Mapping[str, Amount] = field(default_factory=dict)

    @classmethod
    def of(
        cls, units: Iterable[str], values: NDArray[np.float64], amounts: Mapping[str, Amount] | None = None
    ) -> ValueCode:
        """The grids of a corpus.

        Args:
            units: n names.
            values: shape (n,), such as the `ends` of mentions; those that are not finite are left out.
            amounts: of the units of mentions.
        """
        of_unit: dict[str, list[float]] = {}
        for unit, value in zip(units, values.tolist(), strict=True):
            if math.isfinite(value):
                of_unit.setdefault(unit, []).append(value)
        grids = {unit: Grid.of(np.array(some)) for unit, some in sorted(of_unit.items())}
        frequent = sorted(of_unit, key=lambda unit: (-len(of_unit[unit]), unit))[:FREQUENT]
        return cls(grids, {unit: place for place, unit in enumerate(frequent)}, amounts or {})

    def mention(self, quantity: Quantity) -> NDArray[np.float32]:
        """The codes of a mention, shape (1, 2 or 4 for each of its `compared_units`, DIMENSION).

        One of zeros where its value is not finite.
        """
        rows = []
        amount = self.amounts.get(quantity.unit)
        for name, factor in compared_units(quantity.base_unit, quantity.family, quantity.change, amount):
            low, high = quantity.base_value * factor, quantity.base_high * factor
            if math.isfinite(low) and math.isfinite(high):
                both = ends(np.array([low]), np.array([high]), np.array([quantity.comparator]))
                rows += self._codes(name, *(float(end[0]) for end in both))
        return np.array(rows) if rows else np.zeros((1, DIMENSION), np.float32)

    def _codes(self, name: str, low: float, high: float) -> list[NDArray[np.float32]]:
        """The codes of a mention in a unit, from its lowest to its highest possible value."""
        grid = self.grids.get(name, _NO_GRID)
        # An end that is the other has its place, too.
        pairs = (
            [(one, one) for one in grid.places(low)] if low == high else product(grid.places(low), grid.places(high))
        )
        rows = []
        for pair in pairs:
            code = np.zeros(DIMENSION, np.float32)
            for place in (place for end in pair for place in end):
                code[place] += 0.5
            if low == high:
                code[_EQUAL] = _waves(low)
            code[_UNIT] = self._unit(name)
            rows.append(code)
        return rows

    def condition(self, condition: Condition) -> NDArray[np.float32]:
        """The code of a condition, shape (DIMENSION,)."""
        code = np.zeros(DIMENSION, np.float32)
        name = unit_name(condition.base_unit, condition.change)
        grid = self.grids.get(name, _NO_GRID)
        shares = grid.satisfied(condition)
        if condition.comparator == "=" and ((shares > 0) & (shares < 1)).any():
            # Values that share the level satisfy it as far as the grid knows; the kernel tells the rest.
            shares = np.ceil(shares)
            code[:_LEVELS] = -1.0
            code[_EQUAL] = _waves(condition.base_value)
        code[_BEFORE] += 0.0 if condition.comparator in ("<", "<=", "!=") else _OUTSIDE
        code[_BEHIND] += 0.0 if condition.comparator in (">", ">=", "!=") else _OUTSIDE
        _add_weights(code, shares, grid.of_cell)
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


def _add_weights(code: NDArray[np.float32], shares: NDArray[np.float64], of_cell: int) -> None:
    """Add a condition's weights at cells and levels to its code.

    Args:
        code: shape (DIMENSION,), changed.
        shares: of each level that satisfies it.
        of_cell: levels of a cell.
    """
    code[_CELLS:_BEHIND] += _OUTSIDE
    code[_BORDERS:_LEVELS] += _OUTSIDE
    borders: list[list[NDArray[np.float64]]] = [[] for _ in range(TURNS)]
    for cell, start in enumerate(range(0, len(shares), of_cell)):
        levels = shares[start : start + of_cell]
        if (levels == 1).all():
            code[_CELLS + cell] -= _OUTSIDE
        elif levels.any():
            code[_BORDERS + cell] -= _OUTSIDE
            borders[cell % TURNS].append(np.pad(levels, (0, FINE - len(levels))))
    for turn, some in enumerate(borders):
        if some:
            first = _LEVELS + FINE * turn
            # What is half sure takes a half off a mention both of whose ends are there.
            code[first : first + FINE] += _OUTSIDE * (1 - np.mean(some, axis=0)) ** 2


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


def compared_units(base_unit: str, family: str, change: str, amount: Amount | None = None) -> list[tuple[str, float]]:
    """What a mention compares in, and the factor that turns its base values into values of it.

    In its unit; what is counted without a unit, too; and a rate of money or counted things as the amount that it is.

    Args:
        base_unit, family, change: of the mention.
        amount: the amount of its unit.

    >>> compared_units("kilogram", "mass", ""), compared_units("team", "count", "")
    ([('kilogram', 1.0)], [('team', 1.0), ('', 1.0)])
    >>> compared_units("viewer per second", "count per time", "", ("viewer", 60.0))
    [('viewer per second', 1.0), ('viewer', 60.0), ('', 60.0)]
    """
    found = [(base_unit, 1.0)]
    if amount:
        found.append(amount)
    if base_unit and family == ("count per time" if amount else "count"):
        found.append(("", found[-1][1]))
    return [(unit_name(name, change), factor) for name, factor in found]


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
