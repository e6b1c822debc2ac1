"""Numbers of rows: those of some ranges, one range after the other, and sets of them."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

MANY = 128
"""Numbers are many if they are more than one in so many: then flags for all are quicker than sorting."""


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


def distinct(numbers: NDArray[np.int64]) -> NDArray[np.int64]:
    """Some numbers, each once, ascending.

    `numpy.unique` gives the same; without counts it hashes integers from NumPy 2.3 on, which takes up to ten times as
    long as sorting them.

    >>> distinct(np.array([3, 1, 3])).tolist()
    [1, 3]
    """
    ordered = np.sort(numbers)
    first: NDArray[np.bool_] = np.append(True, ordered[1:] != ordered[:-1])[: ordered.size]
    return ordered[first]


def one_each(numbers: NDArray[np.integer[Any]], size: int) -> NDArray[np.int64]:
    """Some numbers from 0 to `size` - 1, each once, ascending: flags do it where they are many.

    >>> one_each(np.array([3, 1, 3]), 1000).tolist(), one_each(np.array([3, 1, 3]), 4).tolist()
    ([1, 3], [1, 3])
    """
    if numbers.size * MANY > size:
        flags = np.zeros(size, dtype=np.bool_)
        flags[numbers] = True
        return np.flatnonzero(flags)
    return distinct(numbers.astype(np.int64, copy=False))


def common(a: NDArray[np.int64], b: NDArray[np.int64]) -> NDArray[np.int64]:
    """What is in both of two arrays that have each number once, in the order of the first."""
    return a[np.isin(a, b, assume_unique=True)]
