"""The best k of many scores, in one fixed order."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray


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
    # Partitioning is linear in n, so that only the k chosen ones are sorted.
    threshold = np.partition(scores, scores.size - k)[scores.size - k]
    reaching = np.flatnonzero(scores >= threshold)
    theirs = scores[reaching]
    above, level = reaching[theirs > threshold], reaching[theirs == threshold]
    return np.concatenate((above[np.argsort(-scores[above], kind="stable")], level[: k - above.size]))
