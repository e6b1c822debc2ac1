"""Which values queries ask for: peaks, near the mean, quantiles, or any observed one (*Numbers Matter* 3.3.2, B.3)."""

from __future__ import annotations

import itertools
import math

import numpy as np
from numpy.typing import NDArray

from qbench.generation.pairs import Distribution
from qbench.generation.round_values import usual
from qbench.generation.surfaces import clean
from qbench.quantities.types import Comparator

Ask = tuple[float, float]
"""Both ends of what is asked; equal for a single value."""

DIGITS = 3
"""Nobody asks for exactly 0.0589970501475 or 12,141,733, though some text says it."""

ROUND = 2
"""Digits of a bound: people ask for more than 12 million, not for more than 12,141,733."""

LEEWAY = 0.1
"""Of all observations, the share that may change sides when a bound is made plainer: 23 mg to 25, 0.59 to 0.6."""

CLOSE = 1e-6
"""How far a value may be from a multiple of a step, in steps."""

MOST = 0.8
"""Share of the observations that are multiples of a step."""

FINEST = 12
"""Digits after the first to which values are compared with steps."""

FAR, SOME = 30.0, 5
"""How many times as large or small as the next value is what nobody else has observed, of so many observations."""

OF_A_SIZE = 10
"""Things of each of the `usual` values, in the mean, from which on these are sizes: a text repeats its figures, too."""

NEAREST = 3
"""Number of candidates nearest to the mean, of which one is drawn as an inequality's value."""


def choose_value(
    comparator: Comparator,
    seen: Distribution,
    rng: np.random.Generator,
    *,
    at_random: bool = False,
    avoid: frozenset[Ask] = frozenset(),
    enough: int = 2,
) -> Ask | None:
    """What a query with this comparator asks for, given the observed values; None if nothing sensible is left.

    Args:
        comparator: of the query.
        seen: the observed values, in the query's unit.
        rng: decides between equally good values.
        at_random: any observed value with something on both sides, instead of peaks and means.
        avoid: what other queries ask already.
        enough: how many observations a bound near the mean should have on either side.

    Returns:
        (value, value), or (low, high) for "between".
    """
    if seen.values.size < 2:
        return None
    if comparator == "between":
        return _range(seen, rng, at_random, avoid)
    if comparator in ("=", "!="):
        return _point(seen, rng, at_random, avoid)
    return _bound(comparator, seen, rng, at_random, avoid, enough)


def sizes(seen: Distribution) -> NDArray[np.float64] | None:
    """The few values that nearly all of many things have (4, 8, 16 GB); None if they have others, or are few things."""
    few = usual(np.repeat(seen.values, seen.counts))
    return few if few is not None and seen.total >= OF_A_SIZE * few.size else None


def _slips(seen: Distribution) -> NDArray[np.bool_]:
    """Which values may be slips of the pen: an end observed once, `FAR` from all others ("a 100 billion dlr bond")."""
    slips = np.zeros(seen.values.size, dtype=bool)
    if seen.total >= SOME and seen.values.size > 2:
        for end, next_one in ((0, 1), (-1, -2)):
            low, high = sorted((abs(float(seen.values[end])), abs(float(seen.values[next_one]))))
            slips[end] = seen.counts[end] == 1 and 0 < low * FAR <= high
    return slips


def _short(values: NDArray[np.float64]) -> NDArray[np.bool_]:
    """Which values have few enough digits to be asked for."""
    return np.array([rounded(value, DIGITS) == value for value in values.tolist()], dtype=bool)


def rounded(value: float, digits: int) -> float:
    """A value rounded to significant digits, as people ask for it.

    >>> rounded(4813.7, 2), rounded(0.04813, 1)
    (4800.0, 0.05)
    """
    return float(f"{value:.{digits - 1}e}")


def _plainer(value: float) -> list[float]:
    """Numbers near a value that people say rather than it, the plainest first.

    >>> _plainer(23.4), _plainer(0.59)
    ([20.0, 25.0], [0.6])
    """
    if not value:
        return []
    step = 10.0 ** math.floor(math.log10(abs(value)))
    near = [clean(round(value / size) * size) for size in (step, step / 2)]
    return [each for each in dict.fromkeys(near) if each and each != value]


def _point(seen: Distribution, rng: np.random.Generator, at_random: bool, avoid: frozenset[Ask]) -> Ask | None:
    """A peak of the distribution, or any observed value; another value must have been observed too."""
    free = np.array([(value, value) not in avoid for value in seen.values.tolist()]) & _short(seen.values)
    free &= ~_slips(seen)
    if not free.any():
        return None
    values, counts = seen.values[free], seen.counts[free]
    peaks = values if at_random else values[counts == counts.max()]
    value = float(peaks[rng.integers(peaks.size)])
    return value, value


def _bound(
    comparator: Comparator,
    seen: Distribution,
    rng: np.random.Generator,
    at_random: bool,
    avoid: frozenset[Ask],
    enough: int,
) -> Ask | None:
    mean, few = seen.mean, sizes(seen)
    candidates = {rounded(value, ROUND) for value in seen.values.tolist()} if few is None else set(few.tolist())
    if not at_random and mean and few is None:
        step = _step(seen)
        near = {rounded(mean, digits) for digits in range(1, ROUND + 1)}
        candidates |= {value for value in near if abs(value / step - round(value / step)) < CLOSE}
    if (seen.values % 1 == 0).all():
        # Nobody asks for more than 8.8 gears where only whole ones were seen.
        candidates = {float(round(value)) for value in candidates}
    values = np.array(sorted(value for value in candidates if (value, value) not in avoid))
    met = _met(comparator, values, seen)
    smaller = np.minimum(met, seen.total - met)
    # Sentences on both sides come first, nearness to the mean second: a few huge values pull the mean to the tail.
    if not values.size or smaller.max() == 0:
        return None
    remaining = values[smaller >= (1 if at_random else min(enough, int(smaller.max())))]
    if not at_random:
        remaining = remaining[np.argsort(np.abs(remaining - mean), kind="stable")][:NEAREST]
    value = float(remaining[rng.integers(remaining.size)])
    if not at_random and few is None:
        value = _plain_bound(comparator, value, seen, avoid)
    return value, value


def _step(seen: Distribution) -> float:
    """Half of the roundest number of which most values are multiples: nobody asks for more than 51 mg of 20, 40 and 80.

    >>> _step(Distribution(np.array([20.0, 40.0, 80.0]), np.array([1, 3, 1])))
    5.0
    >>> _step(Distribution(np.array([0.2, 0.25, 0.5]), np.array([1, 2, 3])))
    0.025
    """
    largest = float(np.abs(seen.values).max(initial=0.0))
    if not largest:
        return 1.0
    power = math.floor(math.log10(largest))
    for exponent in range(power, power - FINEST, -1):
        for size in (5 * 10.0**exponent, 10.0**exponent):
            steps = seen.values / size
            multiples = np.abs(steps - np.round(steps)) < CLOSE
            if int(seen.counts[multiples].sum()) >= MOST * seen.total:
                return clean(size / 2)
    return 10.0 ** (power - FINEST)


def _plain_bound(comparator: Comparator, value: float, seen: Distribution, avoid: frozenset[Ask]) -> float:
    """The plainest number that parts the observations nearly as a bound does."""
    whole = bool((seen.values % 1 == 0).all())
    plainer = [v for v in _plainer(value) if (v, v) not in avoid and not (whole and v % 1)]
    here, *there = _met(comparator, np.array([value, *plainer]), seen).tolist()
    for number, met in zip(plainer, there, strict=True):
        if 0 < met < seen.total and abs(met - here) <= LEEWAY * seen.total:
            return number
    return value


def _met(comparator: Comparator, bounds: NDArray[np.float64], seen: Distribution) -> NDArray[np.int64]:
    """How many observations meet each of some bounds."""
    until = np.concatenate([[0], np.cumsum(seen.counts)])
    below = until[np.searchsorted(seen.values, bounds, side="left")]
    at_most = until[np.searchsorted(seen.values, bounds, side="right")]
    return {"<": below, "<=": at_most, ">": seen.total - at_most, ">=": seen.total - below}[comparator]


WIDEST = 20.0
"""Of a range that somebody would ask for, the upper end by the lower."""


def _range(seen: Distribution, rng: np.random.Generator, at_random: bool, avoid: frozenset[Ask]) -> Ask | None:
    """From a lower to an upper quantile, rounded where that keeps observations inside and outside."""
    if seen.values.size < 3:
        return None
    if at_random:
        first, second = sorted(rng.choice(seen.values.size, size=2, replace=False).tolist())
        low, high = float(seen.values[first]), float(seen.values[second])
        ends = [(rounded(low, ROUND), rounded(high, ROUND))]
    else:
        repeated = np.repeat(seen.values, seen.counts)
        low, high = (
            clean(float(np.quantile(repeated, q, method="nearest")))
            for q in (rng.uniform(0.15, 0.4), rng.uniform(0.6, 0.85))
        )
        ends = [(rounded(low, digits), rounded(high, digits)) for digits in (ROUND, DIGITS)]
    # With few values the quantiles may take in all of them.
    few = [(float(seen.values[0]), float(seen.values[-2])), (float(seen.values[1]), float(seen.values[-1]))]
    ends += [(rounded(low, digits), rounded(high, digits)) for digits in (ROUND, DIGITS) for low, high in few]
    # Values of very different sizes may have no narrow range but those from one value to the next.
    ends += list(itertools.pairwise(seen.values[_short(seen.values)].tolist()))
    for low, high in ends:
        if _is_range(low, high, seen) and (low, high) not in avoid:
            return (low, high) if at_random else _plain_range(low, high, seen, avoid)
    return None


def _inside(low: float, high: float, seen: Distribution) -> NDArray[np.bool_]:
    inside: NDArray[np.bool_] = (seen.values >= low) & (seen.values <= high)
    return inside


def _is_range(low: float, high: float, seen: Distribution) -> bool:
    inside = _inside(low, high, seen)
    return low < high and (low <= 0 or high <= WIDEST * low) and bool(inside.any()) and not inside.all()


def _plain_range(low: float, high: float, seen: Distribution, avoid: frozenset[Ask]) -> Ask:
    """The range with the plainest ends that holds nearly the same observations."""
    here = _inside(low, high, seen)
    for ends in itertools.product([*_plainer(low), low], [*_plainer(high), high]):
        moved = int(seen.counts[here != _inside(*ends, seen)].sum())
        if moved <= LEEWAY * seen.total and _is_range(*ends, seen) and ends not in avoid:
            return ends
    return low, high


def askable(comparator: Comparator, value: float, seen: Distribution) -> Comparator:
    """The comparator with which a value can be asked for: "<" instead of ">" where it is 0 and no value is less.

    >>> once = np.array([1, 1])
    >>> [askable(">", 0.0, Distribution(np.array(seen), once)) for seen in ([0.0, 2.0], [-1.0, 0.0])]
    ['<', '>']
    """
    return "<" if comparator == ">" and value == 0 and not (seen.values < 0).any() else comparator


def around(
    comparator: Comparator,
    value: float,
    seen: Distribution,
    rng: np.random.Generator,
    few: NDArray[np.float64] | None = None,
) -> Ask:
    """What to ask so that `value` meets it: for queries whose constraints must all hold for one sentence.

    A bound is the next observed value beyond `value`, rounded away from it, or one a little further off; see
    `askable` for values that nothing is beyond.

    Args:
        comparator: of the constraint.
        value: of the sentence.
        seen: the values of the sentences that have all that is asked about.
        rng: decides between the nearest values.
        few: the `sizes` of all that has such a value, if there are such: one of these is asked for.
    """
    if comparator in ("=", "<=", ">="):
        return value, value
    up = comparator == "<"
    known = seen.values if few is None else few
    beyond = known[known > value] if up else known[known < value][::-1]
    further = value + (0.1 if up else -0.1) * (abs(value) or 1.0)
    if (seen.values % 1 == 0).all() and abs(further) >= 1:
        further = float(math.ceil(further) if up else math.floor(further))
    bound = float(beyond[rng.integers(min(beyond.size, NEAREST))]) if beyond.size else further
    if few is not None and beyond.size:
        return bound, bound
    for candidate in (rounded(bound, ROUND), rounded(bound, DIGITS), rounded(further, ROUND)):
        if candidate > value if up else candidate < value:
            return candidate, candidate
    return bound, bound
