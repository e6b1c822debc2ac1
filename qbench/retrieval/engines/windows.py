"""Conditions as ranges that an engine can look up: which mentions meet one is said by four comparisons of numbers.

A mention's possible values are an interval; an open end is itself impossible. It meets a condition if the interval lies
within what is asked (`qbench.quantities.conditions.verdicts`), up to the rounding of conversions.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from qbench.quantities.conditions import RELATIVE_TOLERANCE
from qbench.quantities.types import Condition


@dataclass(frozen=True)
class Window:
    """Where the interval of a mention's possible values must lie.

    It does if low >= low_from and (low_open or low >= low_above) and high <= high_to and (high_open or high <=
    high_below), all in the base unit.

    Attributes:
        low_from: least low end.
        low_above: least low end that is itself possible.
        high_to: greatest high end.
        high_below: greatest high end that is itself possible.
    """

    low_from: float = -math.inf
    low_above: float = -math.inf
    high_to: float = math.inf
    high_below: float = math.inf

    def holds(self, low: float, high: float, *, low_open: bool = False, high_open: bool = False) -> bool:
        """Whether a mention's interval lies there, as engines compute it.

        >>> (window,) = windows(Condition(">", 5, 5, "kg", "kg", 5, 5))
        >>> window.holds(5, 5), window.holds(6, 6), window.holds(5, math.inf, low_open=True)
        (False, True, True)
        """
        return (
            low >= self.low_from
            and (low_open or low >= self.low_above)
            and high <= self.high_to
            and (high_open or high <= self.high_below)
        )


def windows(condition: Condition) -> list[Window]:
    """The windows of a condition, which are alternatives: "!=" has two, one on each side, all others have one."""
    a, b = condition.base_value, condition.base_high
    from_a, to_b = a - _rounding(a), b + _rounding(b)
    to_a, from_b = a + _rounding(a), b - _rounding(b)
    below = Window(high_to=to_a, high_below=math.nextafter(from_a, -math.inf))
    above = Window(low_from=from_b, low_above=math.nextafter(to_b, math.inf))
    by_comparator = {
        ">": [above],
        ">=": [Window(low_from=from_a, low_above=from_a)],
        "<": [below],
        "<=": [Window(high_to=to_a, high_below=to_a)],
        "!=": [below, above],
    }
    return by_comparator.get(condition.comparator, [Window(from_a, from_a, to_b, to_b)])


def _rounding(edge: float) -> float:
    return abs(edge) * RELATIVE_TOLERANCE
