"""A toy Phi score: one function. A test makes it a row of the table."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray


@np.errstate(over="ignore")
def reciprocal(x: float, v: NDArray[np.float64], unit: float) -> NDArray[np.float64]:
    """1 / (1 + |x - v|), the distance counted in the query's unit.

    >>> reciprocal(2.0, np.array([2.0, 3.0]), 1.0)
    array([1. , 0.5])
    """
    nearness: NDArray[np.float64] = 1.0 / (1.0 + np.abs(v - x) / unit)
    return nearness
