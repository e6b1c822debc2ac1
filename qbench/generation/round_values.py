"""The numbers that people ask for: round as shops round them, or those that things really have."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from qbench.generation.surfaces import clean
from qbench.quantities.types import Comparator

STEPS = (1.0, 1.5, 2.0, 2.5, 3.0, 4.0, 5.0, 6.0, 8.0)
"""Times a power of ten, where values spread widely: below $300, under $1,500."""

EVEN = (1.0, 2.0, 5.0)
FEWEST, SPREAD = 6, 20.0
"""Where the largest value is less than `SPREAD` times the smallest: multiples of an even step, at least so many."""

FEW, COVERED = 24, 0.9
"""With no more values than this for such a share of the things, people ask for these: 8 and 16 GB."""

POPULAR = 0.005
"""Share of the things with a value from which on it is a usual one."""

OFTEN = 0.05
"""Share of the things with a value from which on people ask for exactly it."""

WIDEST = 4.0
"""Of a range that people ask for, the upper end by the lower."""


def popular(values: NDArray[np.float64], share: float = POPULAR) -> NDArray[np.float64]:
    """The distinct values that at least a share of the things has, ascending.

    >>> popular(np.array([4.0, 8.0, 8.0, 7.9]), share=0.5)
    array([8.])
    """
    distinct, counts = np.unique(np.array([clean(value) for value in values.tolist()]), return_counts=True)
    return distinct[counts >= max(2, share * values.size)]


def rounds(low: float, high: float) -> NDArray[np.float64]:
    """The round numbers from one positive value to another, ascending.

    >>> rounds(0.9, 2.3).tolist(), rounds(40.0, 2_500.0).tolist()[:6]
    ([1.0, 1.2, 1.4, 1.6, 1.8, 2.0, 2.2], [40.0, 50.0, 60.0, 80.0, 100.0, 150.0])
    """
    if not 0 < low <= high:
        return np.empty(0)
    if low < high < SPREAD * low:
        widest = (high - low) / FEWEST
        power = 10.0 ** math.floor(math.log10(widest))
        # Where rounding has left `widest` just below a power of ten, its logarithm may be that of the power.
        step = max((size * power for size in EVEN if size * power <= widest), default=power)
        step = max(step, 10.0 ** (math.floor(math.log10(high)) - 2))  # a number with more digits is not round
        return np.array(
            [clean(n * step) for n in range(math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9) + 1)]
        )
    first, last = math.floor(math.log10(low)), math.ceil(math.log10(high))
    ladder = np.array([clean(step * 10.0**power) for power in range(first, last + 1) for step in STEPS])
    return ladder[(ladder >= low) & (ladder <= high)]


def usual(values: NDArray[np.float64]) -> NDArray[np.float64] | None:
    """The few values that nearly all things have, ascending; None if they have many.

    >>> usual(np.array([4.0, 8.0, 8.0, 4.0, 16.0, 16.0])), usual(np.array([1.3, 1.37, 2.1]))
    (array([ 4.,  8., 16.]), None)
    """
    common = popular(values) if values.size else values
    few = 0 < common.size <= FEW and np.isin(np.round(values, 9), np.round(common, 9)).mean() >= COVERED
    return common if few else None


def candidates(values: NDArray[np.float64], among: NDArray[np.float64] | None = None) -> NDArray[np.float64]:
    """The bounds that people may ask for.

    Args:
        values: shape (n,), of the things that are asked about; finite.
        among: the `usual` values of all things, if there are such.
    """
    if among is not None:
        return among
    positive = values[values > 0]
    return rounds(*np.quantile(positive, (0.02, 0.98)).tolist()) if positive.size else np.empty(0)


def choose(
    comparator: Comparator,
    values: NDArray[np.float64],
    shares: tuple[float, float],
    rng: np.random.Generator,
    among: NDArray[np.float64] | None = None,
) -> tuple[float, float] | None:
    """What to ask for, so that the share of the things that meet it lies between two; None if nothing does.

    Args:
        comparator: of the constraint.
        values: shape (n,), of the things that are asked about, in the unit of the constraint.
        among: the `usual` values of all things, in that unit, if there are such.
        shares: the least and the greatest share.
        rng: chooses among what fits.

    Returns:
        (value, value), or both ends of a range.
    """
    if values.size < 2:
        return None
    if comparator == "=":
        fit = [(value, value) for value in popular(values, OFTEN).tolist()]
    else:
        bounds = candidates(values, among).tolist()
        if comparator == "between":
            fit = [(a, b) for a in bounds for b in bounds if a < b <= WIDEST * a]
        else:
            fit = [(value, value) for value in bounds]
    fit = [ends for ends in fit if shares[0] <= met(comparator, values, ends) <= shares[1]]
    return fit[int(rng.integers(len(fit)))] if fit else None


def met(comparator: Comparator, values: NDArray[np.float64], ends: tuple[float, float]) -> float:
    """The share of values that meet a constraint."""
    low, high = ends
    near = 1e-9 * max(abs(low), abs(high))
    holds = {
        "=": np.abs(values - low) <= near,
        "<": values < low - near,
        "<=": values <= low + near,
        ">": values > low + near,
        ">=": values >= low - near,
        "between": (values >= low - near) & (values <= high + near),
    }[comparator]
    return float(holds.mean())
