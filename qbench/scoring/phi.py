"""How near a value is to what a query asks: the Phi scores of *Numbers Matter*, eq. 4.

A Phi score is 0 for a mention that does not satisfy the condition, and in (0, 1] for one that does; equality alone is
soft, so that near misses keep some credit. x is the query's value, v the mention's, both in the base unit of
their family; a distance is counted in the query's own unit, as in the paper (2 lb and 3 lb are 1 apart).

    family       =                    < <= > >=              source
    ratio        exp(-|x - v|)        the smaller / larger   *Numbers Matter* eq. 4, read as its authors' code does
    exponential  exp(-|x - v|)        exp(-|x - v|)          Almasian et al. (2022), *QFinder*
    relative     exp(-|x - v| / |x|)  exp(-|x - v| / |x|)    the same without a scale: 10.1 million is near 10 million
    far          exp(-|x - v|)        1 - ratio              *Numbers Matter* A.2: far beyond a bound is better

    In all families: `between` and `!=` give 1 to a mention that satisfies them, else 0. All values inside a range
    are equally good answers, and no value is nearer than another to being different.

What the papers leave open:

- *Zero and negative values in a ratio.* Two negative values are compared by their sizes, as in a mirror. A zero or a
  value of the other sign lies beyond every ratio: it gets at most 1e-9, still less the farther it is, so that nearer
  values always score more. For x = 0 there is no ratio at all, and a distance d gets 1 / (1 + d). Where values cross
  zero (temperatures, growth) `relative` is the better family.
- *Mentions that are intervals.* A bound is satisfied if every value that the mention allows satisfies it, as
  `qbench.quantities.conditions` decides, and scored by the one nearest to x ("more than 5" against "> 3": 3 / 5).
  For equality the score is the mean over the interval's two ends, an open end counting 0 ("5 to 8" against
  "= 6": the mean of exp(-1) and exp(-2)).
- *Values equal but for rounding* count as equal, with the tolerance of `qbench.quantities.conditions`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from qbench.errors import UnknownNameError
from qbench.quantities.codes import comparator_codes
from qbench.quantities.conditions import MET, RELATIVE_TOLERANCE, verdicts
from qbench.quantities.types import Condition

Nearness = Callable[[float, "NDArray[np.float64]", float], "NDArray[np.float64]"]
"""(x, values, size of the query's unit in base units) -> how near each value is to x, in (0, 1]; shape (n,)."""

FAINT = 1e-9
"""The least that values of one sign score by their ratio, and the most that those across zero get."""

_BELOW, _ABOVE = comparator_codes(("<", "<=")), comparator_codes((">", ">="))

LEAST = 1e-300
"""What a satisfied bound scores at least: zero says that it is not satisfied."""

FAR = 40.0
"""A distance at which exp(-distance), 4e-18, is lost in any sum with a term score: equality looks no further."""


@dataclass(frozen=True)
class Family:
    """One way to turn distance into a score: for equality, and for a bound that is satisfied.

    Attributes:
        equal: the score of any value where the query asks for equality.
        bound: the score of a value that satisfies <, <=, > or >=.
        reach: (x, unit) -> the distance from x beyond which `equal` is negligible, in base units; without it every
            value of the unit is scored.
    """

    equal: Nearness
    bound: Nearness
    reach: Callable[[float, float], float] = lambda x, unit: np.inf


@np.errstate(over="ignore")
def decay(x: float, v: NDArray[np.float64], unit: float) -> NDArray[np.float64]:
    """exp(-|x - v|), the distance counted in the query's unit.

    >>> decay(2.0, np.array([2.0, 3.0]), 1.0).round(3)
    array([1.   , 0.368])
    """
    nearness: NDArray[np.float64] = np.exp(-np.abs(v - x) / unit)
    return nearness


def relative(x: float, v: NDArray[np.float64], unit: float) -> NDArray[np.float64]:
    """exp(-|x - v| / |x|); for x = 0 there is no scale, and the query's unit takes its place.

    >>> relative(10.0, np.array([10.0, 20.0]), 1.0).round(3)
    array([1.   , 0.368])
    """
    return decay(x, v, abs(x) or unit)


@np.errstate(over="ignore")
def ratio(x: float, v: NDArray[np.float64], unit: float) -> NDArray[np.float64]:
    """The smaller of |x| and |v| over the larger; for zeros and opposite signs see the module's text.

    >>> ratio(4.0, np.array([8.0, 1.0]), 1.0), ratio(-4.0, np.array([-8.0, 4.0]), 1.0).round(3)
    (array([0.5 , 0.25]), array([0.5, 0. ]))
    """
    scores: NDArray[np.float64]
    if x == 0:
        scores = 1.0 / (1.0 + np.abs(v) / unit)
        return scores
    # Values that satisfy a bound lie on one side of x, and nearly all are positive: no other case needs to cost time.
    low, high = (v.min(), v.max()) if v.size else (x, x)
    if 0 < x <= low:
        scores = np.maximum(x / v, FAINT)
        return scores
    if low > 0 and high <= x:
        scores = np.maximum(v / x, FAINT)
        return scores
    size = np.abs(v)
    by_ratio = np.maximum(np.minimum(size, abs(x)) / np.maximum(size, abs(x)), FAINT)
    with np.errstate(over="ignore"):
        across = FAINT / (1.0 + np.abs(v - x) / abs(x))
    scores = np.where(v * np.sign(x) > 0, by_ratio, across)
    return scores


def far(x: float, v: NDArray[np.float64], unit: float) -> NDArray[np.float64]:
    """1 - `ratio`: of values that satisfy a bound the farthest first; the bound itself gets as little as `FAINT`.

    >>> far(4.0, np.array([4.0, 8.0, 400.0]), 1.0).round(3)
    array([0.  , 0.5 , 0.99])
    """
    scores: NDArray[np.float64] = np.maximum(1.0 - ratio(x, v, unit), FAINT)
    return scores


FAMILIES: dict[str, Family] = {
    "ratio": Family(decay, ratio, lambda x, unit: FAR * unit),
    "exponential": Family(decay, decay, lambda x, unit: FAR * unit),
    "relative": Family(relative, relative, lambda x, unit: FAR * (abs(x) or unit)),
    "far": Family(decay, far, lambda x, unit: FAR * unit),
}


def family(name: str) -> Family:
    """The Phi family of that name.

    Raises:
        UnknownNameError: there is none.
    """
    if name not in FAMILIES:
        raise UnknownNameError("unknown Phi family", value=name, remedy=f"Known: {', '.join(FAMILIES)}")
    return FAMILIES[name]


def phi(
    name: str,
    condition: Condition,
    low: NDArray[np.float64],
    high: NDArray[np.float64],
    comparator: NDArray[np.integer],
    unit: float = 1.0,
) -> NDArray[np.float64]:
    """Phi_c(x, v) of n mentions that have the condition's base unit.

    Args:
        name: a key of `FAMILIES`.
        condition: comparator and value asked for.
        low, high, comparator: shape (n,), the mentions' `base_value`, `base_high` and `comparator_codes`.
        unit: size of the condition's unit in base units (0.4536 for a pound where the base is the kilogram).

    Returns:
        shape (n,), each in [0, 1].
    """
    chosen, x = family(name), condition.base_value
    if condition.comparator == "=":
        below = _near(chosen, x, low, unit) * ~np.isin(comparator, _BELOW)
        above = _near(chosen, x, high, unit) * ~np.isin(comparator, _ABOVE)
        both: NDArray[np.float64] = (below + above) / 2
        return both
    # The end of a satisfying mention that looks towards x is a number: an open one would reach beyond x.
    nearest = low if condition.comparator in (">", ">=") else high
    met = verdicts(low, high, comparator, condition) == MET
    scores: NDArray[np.float64] = np.where(met, phi_of_satisfying(name, condition, nearest, unit), 0.0)
    return scores


def phi_of_satisfying(
    name: str, condition: Condition, v: NDArray[np.float64], unit: float = 1.0
) -> NDArray[np.float64]:
    """Phi_c(x, v) of n plain values that are known to satisfy the condition, or for "=" of any; shape (n,)."""
    chosen, x = family(name), condition.base_value
    if condition.comparator == "=":
        return _near(chosen, x, v, unit)
    if condition.comparator in ("between", "!="):
        return np.ones(v.shape)
    scores = chosen.bound(x, v, unit)
    return scores if scores.min(initial=1.0) >= LEAST else np.maximum(scores, LEAST)


@np.errstate(over="ignore")
def _near(chosen: Family, x: float, v: NDArray[np.float64], unit: float) -> NDArray[np.float64]:
    scores = chosen.equal(x, v, unit)
    # What `np.isclose` says, in a tenth of its time.
    scores[np.abs(v - x) <= RELATIVE_TOLERANCE * abs(x)] = 1.0
    return scores
