"""Numbers of ranges, one range after the other: the rows of some texts in an array that holds those of all."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray


def range_rows(starts: NDArray[np.integer[Any]], sizes: NDArray[np.integer[Any]]) -> NDArray[np.int64]:
    """starts[0], starts[0] + 1, ... sizes[0] of them, then those of starts[1], and so on.

    Args:
        starts, sizes: shape (ranges,).

    Returns:
        shape (sum of sizes,).

    >>> range_rows(np.array([7, 2]), np.array([2, 3])).tolist()
    [7, 8, 2, 3, 4]
    """
    ends = np.cumsum(sizes, dtype=np.int64)
    rows: NDArray[np.int64] = np.arange(ends[-1] if ends.size else 0) + np.repeat(starts - ends + sizes, sizes)
    return rows
