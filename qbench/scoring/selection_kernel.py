"""The best k of many scores, compiled by numba. Import it inside functions only: numba is slow to load.

A sample says which score about twice as many as wanted will pass; one pass takes those; the k best of them are chosen.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from qbench.compiling import lean, merged

SAMPLE = 4096
PLACES = 4
"""Places for each of the k."""


@merged
def kth(values: NDArray[np.float64], size: int, k: int) -> float:
    """The k-th highest of the first `size` values, which change their places (Hoare's selection).

    Args:
        values: shape (size or more,).
        size: at least k.
        k: from 1.
    """
    low, high, at = 0, size - 1, k - 1
    while low < high:
        pivot = values[(low + high) >> 1]
        i, j = low, high
        while i <= j:
            while values[i] > pivot:
                i += 1
            while values[j] < pivot:
                j -= 1
            if i <= j:
                values[i], values[j] = values[j], values[i]
                i += 1
                j -= 1
        if at <= j:
            high = j
        elif at >= i:
            low = i
        else:
            break
    return float(values[at])


@merged
def likely(values: NDArray[np.float64], k: int, spare: NDArray[np.float64]) -> float:
    """A score that somewhat more than k values probably reach.

    Args:
        values: shape (n,).
        k: from 1 to n.
        spare: shape (SAMPLE or more,), working memory.
    """
    step = max(values.size // SAMPLE, 1)
    size = min(values.size // step, SAMPLE)
    for slot in range(size):
        spare[slot] = values[slot * step]
    # Twice the expected number, and a few more for chance where that is small.
    return kth(spare, size, min(2 * k * size // values.size + 8, size))


@merged
def shrink(docs: NDArray[np.int64], scores: NDArray[np.float64], spare: NDArray[np.float64], size: int, k: int) -> None:
    """Keep the k best of `size` candidates in their order; of equal ones the first.

    Args:
        docs, scores, spare: shape (size or more,); the last is working memory.
        size: at least k.
        k: from 1.
    """
    for slot in range(size):
        spare[slot] = scores[slot]
    least = kth(spare, size, k)
    level = k
    for slot in range(size):
        level -= scores[slot] > least
    kept = 0
    for slot in range(size):
        score = scores[slot]
        docs[kept], scores[kept] = docs[slot], score
        kept += score > least or (score == least and level > 0)
        level -= score == least


@merged
def lowest(scores: NDArray[np.float64], size: int) -> float:
    """The lowest of the first `size` scores, one at least."""
    found = scores[0]
    for slot in range(1, size):
        found = min(found, scores[slot])
    return float(found)


@lean
def select(
    values: NDArray[np.float64],
    floor: float,
    k: int,
    docs: NDArray[np.int64],
    scores: NDArray[np.float64],
    spare: NDArray[np.float64],
) -> int:
    """The positions of the k highest values and these, by position; of equal ones the first count.

    Args:
        values: shape (n,), finite.
        floor: lower values do not count.
        k: from 1 to n.
        docs, scores, spare: shape (SAMPLE + PLACES * k,), of which the first two are written.

    Returns:
        How many there are; -1 where the sample promised too many, and nothing can be said.
    """
    least, size, room = max(likely(values, k, spare), floor), 0, scores.size
    start = 0
    while start < values.size:
        stopped = values.size
        for doc in range(start, values.size):
            if values[doc] >= least:
                if size == room:
                    stopped = doc
                    break
                docs[size], scores[size] = doc, values[doc]
                size += 1
        start = stopped
        if start < values.size:
            # Many have the very same value: of those that come now only higher ones count.
            shrink(docs, scores, spare, size, k)
            size = k
            least = np.nextafter(lowest(scores, k), np.inf)
    if size < k and least > floor:
        return -1
    if size > k:
        shrink(docs, scores, spare, size, k)
    return min(size, k)
