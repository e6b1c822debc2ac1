"""The best k of many scores, in one fixed order."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

LARGE = 20_000
"""Numbers from which compiled loops repay the loading of numba."""


def top_k(scores: NDArray[np.float64], k: int) -> NDArray[np.intp]:
    """Positions of the k highest scores, highest first; of equal scores the lower position comes first.

    Args:
        scores: shape (n,), finite.
        k: how many; fewer come back if n is smaller.

    Returns:
        shape (min(k, n),).

    >>> top_k(np.array([1.0, 3.0, 3.0, 2.0]), 3)
    array([1, 2, 3])
    """
    if k <= 0:
        return np.empty(0, dtype=np.intp)
    if scores.size <= k:
        return np.argsort(-scores, kind="stable")
    if scores.size >= LARGE and (found := selected(scores, k)) is not None:
        return found
    # Partitioning is linear in n, so that only the k chosen ones are sorted.
    threshold = np.partition(scores, scores.size - k)[scores.size - k]
    reaching = np.flatnonzero(scores >= threshold)
    theirs = scores[reaching]
    above, level = reaching[theirs > threshold], reaching[theirs == threshold]
    return np.concatenate((above[np.argsort(-scores[above], kind="stable")], level[: k - above.size]))


def selected(scores: NDArray[np.float64], k: int, floor: float = -np.inf) -> NDArray[np.intp] | None:
    """`top_k` by a compiled loop, much faster where k is small; None where it cannot say.

    Args:
        scores: shape (n,), finite.
        k: from 1 to n.
        floor: lower scores do not count.
    """
    from qbench.scoring.selection_kernel import PLACES, SAMPLE, select

    room = SAMPLE + PLACES * k
    if room > scores.size:
        return None
    docs, values, spare = np.empty(room, dtype=np.int64), np.empty(room), np.empty(room)
    size = select(np.ascontiguousarray(scores, np.float64), floor, k, docs, values, spare)
    return docs[:size][np.argsort(-values[:size], kind="stable")] if size >= 0 else None


LEAST = float(np.nextafter(0, 1))
"""The least number above zero."""


def best_above(scores: NDArray[np.float64], k: int) -> NDArray[np.intp]:
    """Positions of the k highest of the scores that are above zero, as `top_k` orders them.

    Args:
        scores: shape (n,), finite, none below zero.
        k: from 1; fewer come back if fewer are above zero.

    >>> best_above(np.array([1.0, 0.0, 3.0]), 5)
    array([2, 0])
    """
    if scores.size >= LARGE and k < scores.size and (found := selected(scores, k, floor=LEAST)) is not None:
        return found
    held = np.flatnonzero(scores)
    return held[top_k(scores[held], k)]
