"""Shares of a sample, and the interval in which the share of the whole lies."""

from __future__ import annotations

import math
from statistics import NormalDist

LEVEL = 0.95


def wilson(successes: int, n: int, level: float = LEVEL) -> tuple[float, float]:
    """Wilson's score interval of a proportion (Wilson 1927).

    (p + z^2 / 2n -+ z sqrt(p (1 - p) / n + z^2 / 4n^2)) / (1 + z^2 / n), with p = successes / n. Unlike the interval of
    Wald it stays within 0 and 1, and is not empty where all of the sample, or none, are successes.

    Args:
        successes: number of successes, at most n.
        n: size of a random sample.
        level: coverage, between 0 and 1.

    Returns:
        low and high; (0, 1) for an empty sample, which says nothing.

    Raises:
        ValueError: the successes are no part of n, or the level is no probability.

    >>> low, high = wilson(93, 100)
    >>> round(low, 4), round(high, 4)
    (0.8625, 0.9657)
    """
    if not 0 <= successes <= n:
        raise ValueError(f"{successes} successes in {n}")
    if not 0 < level < 1:
        raise ValueError(f"the level {level} is not between 0 and 1")
    if n == 0:
        return 0.0, 1.0
    z = NormalDist().inv_cdf((1 + level) / 2)
    p, spread = successes / n, z * z / n
    middle = p + spread / 2
    reach = z * math.sqrt(p * (1 - p) / n + spread / (4 * n))
    # At the ends the interval closes exactly; what rounding leaves there is taken off.
    low = 0.0 if successes == 0 else (middle - reach) / (1 + spread)
    high = 1.0 if successes == n else (middle + reach) / (1 + spread)
    return low, high
