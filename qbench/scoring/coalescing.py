"""Sequential coalescing: neighbouring passages of one document with similar vectors share their mean.

Passages are taken in their order. As long as the next one is nearer to the mean of the group so far than a threshold,
by cosine distance, it joins the group; else it begins another.
Source: Leonhardt et al. (2022), *Efficient neural ranking using forward indexes*, algorithm 1; *WolfPQ* 4.1.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray


def coalesced(vectors: NDArray[np.float32], delta: float) -> tuple[NDArray[np.int64], NDArray[np.float32]]:
    """The groups of one document's passages, and their means.

    Args:
        vectors: shape (n, d), in the order of the passages.
        delta: the distance, 1 - cosine, from which on a passage begins another group; 0 lets none join.

    Returns:
        sizes, shape (groups,), of consecutive passages; means, shape (groups, d).

    >>> sizes, means = coalesced(np.array([[1, 0], [0.8, 0.6], [0, 1]], np.float32), 0.3)
    >>> sizes, means.round(2)  # (.8, .6) is 0.2 from the first; (0, 1) is 0.68 from their mean
    (array([2, 1]), array([[0.9, 0.3],
           [0. , 1. ]], dtype=float32))
    """
    sizes: list[int] = []
    sums: list[NDArray[np.float64]] = []
    for vector in vectors.astype(np.float64):
        if sums and _distance(vector, sums[-1]) < delta:
            sums[-1] = sums[-1] + vector
            sizes[-1] += 1
        else:
            sums.append(vector)
            sizes.append(1)
    counts = np.array(sizes, np.int64)
    means = np.array(sums).reshape(len(sums), vectors.shape[1]) / np.maximum(counts, 1)[:, None]
    return counts, means.astype(np.float32)


def _distance(vector: NDArray[np.float64], total: NDArray[np.float64]) -> float:
    """1 - cosine; a vector of zeros is as far from all as one that is orthogonal to them."""
    lengths = float(np.linalg.norm(vector) * np.linalg.norm(total))
    return 1 - float(vector @ total) / lengths if lengths > 0 else 1.0
