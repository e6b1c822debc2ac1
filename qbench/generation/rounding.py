"""Numbers in two units that are the same as far as they are written: 14 inches and 35.6 cm, though 14 inches are 35.56.

Nobody can tell on which side of the other such a number lies, since either may be the other, rounded.
"""

from __future__ import annotations

from decimal import Decimal
from math import inf

import numpy as np
from numpy.typing import NDArray

from qbench.generation.mentions import Mentions
from qbench.quantities.codes import COMPARATOR_CODES
from qbench.quantities.conditions import RELATIVE_TOLERANCE, equal
from qbench.quantities.types import Condition, Quantity
from qbench.quantities.units import load_units

NEAR = 0.03
"""Share by which two such numbers differ at most: nobody writes 2 lb for 1 kg, which are one in a single digit."""
SCALED = 1e6
"""From here on a number is written with a word ("3.5 million"), and its last zeros are not."""


def half_place(value: float, digits: int) -> float:
    """Half a unit of the last digit of a number, which is as far as it may be rounded.

    Args:
        value: the number.
        digits: how many significant digits it is written with; 0 for unknown, taken as 1.

    >>> half_place(35.6, 3), half_place(1500, 4), half_place(3.5e6, 2)
    (0.05, 0.5, 50000.0)
    """
    # By its decimal digits, since a logarithm falls short of 3 for 1,000.
    size = Decimal(repr(abs(value))).adjusted() if value else 0
    return float(f"5e{size - max(digits, 1)}")


def asked_half_place(value: float) -> float:
    """`half_place` of a number of a query, whose digits are those that it needs.

    >>> asked_half_place(14.0), asked_half_place(2.23), asked_half_place(1500.0), asked_half_place(3.5e6)
    (0.5, 0.005, 0.5, 50000.0)
    """
    written = Decimal(repr(value)).normalize()
    last = written.adjusted() - len(written.as_tuple().digits) + 1
    return float(f"5e{(last if abs(value) >= SCALED else min(last, 0)) - 1}")


def same_as_written(quantity: Quantity, condition: Condition) -> bool:
    """Whether an end of a mention and a bound of a condition in another unit are one number, but for rounding.

    Both must round to the other, and differ by 3 % at most: 14 in and 35.6 cm do, 14 in and 35 cm do not. What is over
    14 in is not under 36 cm for all that.
    """
    if quantity.unit == condition.unit or quantity.base_unit != condition.base_unit:
        return False
    if _SIDES.get(quantity.comparator, 0) * _SIDES.get(condition.comparator, 0) < 0:
        return False
    share = _share(condition)
    stated = half_place(quantity.value, quantity.digits) * _scale(quantity.unit, quantity.value, quantity.base_value)
    return any(
        abs(end - mark) <= min(stated, half, share * max(abs(end), abs(mark))) and not equal(end, mark)
        for mark, half in _bounds(condition)
        for end in (quantity.base_value, quantity.base_high)
    )


def rows_same_as_written(condition: Condition, rows: NDArray[np.int64], mentions: Mentions) -> NDArray[np.bool_]:
    """`same_as_written` for some mentions in the condition's base unit.

    Args:
        condition: of a query.
        rows: shape (n,).
        mentions: of the corpus.

    Returns:
        shape (n,).
    """
    near = np.zeros(rows.size, dtype=bool)
    asked = _SIDES.get(condition.comparator, 0)
    against = [COMPARATOR_CODES[sign] for sign, side in _SIDES.items() if side * asked < 0]
    other = mentions.unit[rows] != mentions.unit_code.get(condition.unit, -1)
    others = np.flatnonzero(other & ~np.isin(mentions.comparator[rows], against))
    if not others.size:
        return near
    some = rows[others]
    value, low, high = mentions.value[some], mentions.low[some], mentions.high[some]
    digits = mentions.table["digits"].gather(some).to_numpy()
    # A little more than the logarithm, which falls short of the 3 of 1,000.
    power = np.floor(np.log10(np.where(value == 0, 1.0, np.abs(value))) + 1e-12)
    stated = 5.0 * 10.0 ** (power - np.maximum(digits, 1)) * _scales(some, mentions)
    for mark, half in _bounds(condition):
        for end in (low, high):
            apart, size = np.abs(end - mark), np.maximum(np.abs(end), abs(mark))
            rounded = (apart <= np.minimum(stated, half)) & (apart <= _share(condition) * size)
            near[others] |= rounded & (apart > RELATIVE_TOLERANCE * size)
    return near


def _share(condition: Condition) -> float:
    """`NEAR`; of temperatures, whose zero is no lack of anything, any share."""
    return inf if load_units().get(condition.unit).family == "temperature" else NEAR


def _bounds(condition: Condition) -> set[tuple[float, float]]:
    """The bounds of a condition, and half of the last place of each, in the base unit."""
    ends = {(condition.value, condition.base_value), (condition.high, condition.base_high)}
    return {(mark, asked_half_place(value) * _scale(condition.unit, value, mark)) for value, mark in ends}


def _scale(unit: str, value: float, base: float) -> float:
    """Base units in one unit, by a value in both, since units of a user's own file need not be known here."""
    known = load_units().get(unit)
    return abs((base - known.offset) / value) if value else known.factor


def _scales(rows: NDArray[np.int64], mentions: Mentions) -> NDArray[np.float64]:
    codes, place = np.unique(mentions.unit[rows], return_inverse=True)
    known = [load_units().get(mentions.units[code]) for code in codes.tolist()]
    offset, factor = (np.array([getattr(unit, part) for unit in known])[place] for part in ("offset", "factor"))
    value = mentions.value[rows]
    scales: NDArray[np.float64] = np.divide(
        np.abs(mentions.low[rows] - offset), np.abs(value), out=factor, where=value != 0
    )
    return scales


_SIDES = {"<": -1, ">": 1}
