"""Does a quantity meet a condition? One answer for a pair, the same answers for whole columns.

A mention says which values are possible: "5" or "about 5" one, "5 to 8" an interval, "more than 5" an open one. A
condition is *met* if every possible value meets it, *broken* if none does, *undecided* otherwise ("more than 500
employees" against "> 600"). Undecided mentions become neither positives nor negatives.

The size of a change is no level: "rose 5%" leaves "above 4%" undecided at best. A fall breaks a condition on a rise.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

import numpy as np

from qbench.errors import OptionError
from qbench.quantities.codes import CHANGE_SIGNS, COMPARATOR_CODES, change_signs, comparator_codes
from qbench.quantities.types import Condition, Quantity

if TYPE_CHECKING:
    import polars as pl
    from numpy.typing import NDArray

    from qbench.quantities.units import Units

Verdict = Literal["met", "broken", "undecided"]

MET, UNDECIDED, BROKEN = 1, 0, -1

_LESS, _AT_MOST = COMPARATOR_CODES["<"], COMPARATOR_CODES["<="]
_MORE, _AT_LEAST = COMPARATOR_CODES[">"], COMPARATOR_CODES[">="]

_KEPT = 1e-6
"""Factors of units may have been corrected in so many places since a condition was written."""
RELATIVE_TOLERANCE = 1e-9
"""Two values are equal if they differ by at most this share: unit conversion rounds in the last bits."""


def equal(a: float, b: float) -> bool:
    """Whether two values are the same but for the rounding of a conversion."""
    return abs(a - b) <= RELATIVE_TOLERANCE * max(abs(a), abs(b))


def refuse_impossible(condition: Condition, units: Units) -> None:
    """Refuse a condition of others whose numbers in the base unit are not those of its unit.

    Raises:
        OptionError: the unit is unknown (neither listed, nor a counted noun, nor a rate of those), or a number in the
            base unit is not the same quantity.
    """
    unit = units.get(condition.unit)
    if unit.base_unit != condition.base_unit:
        raise OptionError(f"unknown unit, or it does not compare in {condition.base_unit!r}", value=condition.unit)
    for given, base in ((condition.value, condition.base_value), (condition.high, condition.base_high)):
        expected = units.to_base(given, unit.name)
        if not abs(base - expected) <= _KEPT * abs(expected) + _KEPT**2 < float("inf"):
            raise OptionError(f"{given:g} {unit.name} is not this in {unit.base_unit}".replace("  ", " "), value=base)


def verdict(quantity: Quantity, condition: Condition) -> Verdict:
    """Whether one mention meets one condition, by unit and value; concepts are not compared.

    Quantities whose base unit differs from the condition's are "broken": they do not compare.
    """
    if quantity.base_unit != condition.base_unit:
        return "broken"
    code = verdicts(
        np.array([quantity.base_value]),
        np.array([quantity.base_high]),
        comparator_codes([quantity.comparator]),
        condition,
        change_signs([quantity.change]),
    )[0]
    return "met" if code == MET else "broken" if code == BROKEN else "undecided"


def verdicts(
    low: NDArray[np.float64],
    high: NDArray[np.float64],
    comparator: NDArray[np.integer],
    condition: Condition,
    change: NDArray[np.int8] | None = None,
) -> NDArray[np.int8]:
    """MET, UNDECIDED or BROKEN for n mentions that already have the condition's base unit.

    Args:
        low, high: shape (n,), `base_value` and `base_high` of the mentions.
        comparator: shape (n,), `comparator_codes` of them.
        condition: the condition of the query.
        change: shape (n,), `change_signs` of them; None to compare values alone.

    Returns:
        shape (n,), int8.

    Raises:
        TypeError: the comparators are no codes.
    """
    if comparator.dtype.kind not in "iu":
        raise TypeError("comparators are numbers here: see comparator_codes")
    codes = _value_verdicts(low, high, comparator, condition)
    if change is None:
        return codes
    other = change != CHANGE_SIGNS[condition.change]
    opposite = opposed(change, condition)
    return np.where(opposite, BROKEN, np.where(other, np.minimum(codes, UNDECIDED), codes)).astype(np.int8)


def opposed(change: NDArray[np.int8], condition: Condition) -> NDArray[np.bool_]:
    """Which changes are others than the rise or the fall that is asked for: they break it whatever their size.

    Args:
        change: shape (n,), `change_signs` of mentions.
        condition: of a query.

    Returns:
        shape (n,).
    """
    asked = CHANGE_SIGNS[condition.change]
    contrary: NDArray[np.bool_] = (change != asked) & (change != 0) & (asked != 0)
    return contrary


def _value_verdicts(
    low: NDArray[np.float64], high: NDArray[np.float64], comparator: NDArray[np.integer], condition: Condition
) -> NDArray[np.int8]:
    # A mention's possible values are the interval from `lo` to `hi`; an open end is a value that is itself impossible.
    open_lo, open_hi = comparator == _MORE, comparator == _LESS
    lo = np.where(open_hi | (comparator == _AT_MOST), -np.inf, low)
    hi = np.where(open_lo | (comparator == _AT_LEAST), np.inf, high)
    a, b = condition.base_value, condition.base_high
    if condition.comparator in ("=", "between", "!="):
        inside = _at_least(lo, a) & _at_most(hi, b)
        apart = _below(hi, a) | _above(lo, b) | (open_hi & _same(hi, a)) | (open_lo & _same(lo, b))
        return _code(apart, inside) if condition.comparator == "!=" else _code(inside, apart)
    if condition.comparator == ">":
        return _code(_above(lo, a) | (open_lo & _same(lo, a)), _at_most(hi, a))
    if condition.comparator == ">=":
        return _code(_at_least(lo, a), _below(hi, a) | (open_hi & _same(hi, a)))
    if condition.comparator == "<":
        return _code(_below(hi, a) | (open_hi & _same(hi, a)), _at_least(lo, a))
    return _code(_at_most(hi, a), _above(lo, a) | (open_lo & _same(lo, a)))


def frame_verdicts(quantities: pl.DataFrame, condition: Condition) -> NDArray[np.int8]:
    """`verdicts` for the rows of a quantity table; rows with another base unit are BROKEN."""
    codes = np.full(quantities.height, BROKEN, dtype=np.int8)
    rows = np.flatnonzero((quantities["base_unit"] == condition.base_unit).to_numpy())
    if rows.size:
        part = quantities[rows]
        codes[rows] = verdicts(
            part["base_value"].to_numpy(),
            part["base_high"].to_numpy(),
            comparator_codes(part["comparator"]),
            condition,
            change_signs(part["change"]),
        )
    return codes


def _code(met: NDArray[np.bool_], broken: NDArray[np.bool_]) -> NDArray[np.int8]:
    return np.where(met, MET, np.where(broken, BROKEN, UNDECIDED)).astype(np.int8)


def _same(x: NDArray[np.float64], v: float) -> NDArray[np.bool_]:
    # What np.isclose(x, v, rtol=..., atol=0) says for a finite v, at a tenth of its cost for a handful of mentions.
    return np.abs(x - v) <= RELATIVE_TOLERANCE * abs(v)


def _above(x: NDArray[np.float64], v: float) -> NDArray[np.bool_]:
    return (x > v) & ~_same(x, v)


def _below(x: NDArray[np.float64], v: float) -> NDArray[np.bool_]:
    return (x < v) & ~_same(x, v)


def _at_least(x: NDArray[np.float64], v: float) -> NDArray[np.bool_]:
    return ~_below(x, v)


def _at_most(x: NDArray[np.float64], v: float) -> NDArray[np.bool_]:
    return ~_above(x, v)
