"""Sets of row numbers as ascending arrays.

`numpy.unique` gives the same; without counts it hashes integers from NumPy 2.3 on, which takes up to ten times as long
as sorting them. That matters for arrays as long as a corpus.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

MANY = 128
"""Numbers are many if they are more than one in so many: then flags for all are quicker than sorting."""


def sorted_set(numbers: NDArray[np.int64]) -> NDArray[np.int64]:
    """Some numbers, each once, ascending.

    >>> sorted_set(np.array([3, 1, 3])).tolist()
    [1, 3]
    """
    ordered = np.sort(numbers)
    first: NDArray[np.bool_] = np.append(True, ordered[1:] != ordered[:-1])[: ordered.size]
    return ordered[first]


def sorted_set_below(numbers: NDArray[np.integer[Any]], size: int) -> NDArray[np.int64]:
    """Some numbers from 0 to `size` - 1, each once, ascending: by flags where they are many.

    >>> sorted_set_below(np.array([3, 1, 3]), 1000).tolist(), sorted_set_below(np.array([3, 1, 3]), 4).tolist()
    ([1, 3], [1, 3])
    """
    if numbers.size * MANY > size:
        flags = np.zeros(size, dtype=np.bool_)
        flags[numbers] = True
        return np.flatnonzero(flags)
    return sorted_set(numbers.astype(np.int64, copy=False))


def in_several(sets: Sequence[NDArray[np.integer[Any]]], least: int, size: int) -> NDArray[np.int64]:
    """The numbers from 0 to `size` - 1 that are in so many of some arrays, which have each number once; ascending.

    >>> sets = [np.array([1, 3]), np.array([3, 4])]
    >>> in_several(sets, 2, 1000).tolist(), in_several(sets, 1, 5).tolist()
    ([3], [1, 3, 4])
    """
    if sum(some.size for some in sets) * MANY > size:
        held = np.zeros(size, dtype=np.int32)
        for some in sets:
            held[some] += 1
        return np.flatnonzero(held >= least)
    numbers, counts = np.unique(np.concatenate([np.empty(0, dtype=np.int64), *sets]), return_counts=True)
    found: NDArray[np.int64] = numbers[counts >= least]
    return found


def in_both(a: NDArray[np.int64], b: NDArray[np.int64]) -> NDArray[np.int64]:
    """What is in both of two arrays that have each number once, in the order of the first."""
    return a[np.isin(a, b, assume_unique=True)]
