"""The loops of MaxSim, compiled by numba. Import it inside functions only: numba takes half a second to load.

Numpy's `maximum.reduceat` takes ten times as long, and its conversion of half precision twenty times.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from qbench.compiling import compiled

HALVES = np.arange(2**16, dtype=np.uint16).view(np.float16).astype(np.float32)
"""The number that each pattern of 16 bits stands for in half precision."""


@compiled
def widened(bits: NDArray[np.uint16], table: NDArray[np.float32], out: NDArray[np.float32]) -> None:
    """Half precision to single, by looking each number up.

    Args:
        bits: shape (n, d), the bits of the numbers.
        table: shape (65536,), `HALVES`.
        out: shape (n, d), written.
    """
    for row in range(bits.shape[0]):
        for column in range(bits.shape[1]):
            out[row, column] = table[bits[row, column]]


@compiled
def sums_of_maxima(
    products: NDArray[np.float32],
    starts: NDArray[np.int64],
    queries: NDArray[np.int64],
    best: NDArray[np.float32],
    out: NDArray[np.float64],
) -> None:
    """MaxSim from dot products: over each document's tokens the maximum, over each query's tokens the sum.

    Args:
        products: shape (document tokens, query tokens).
        starts: shape (documents + 1,); the tokens of document i are starts[i] to starts[i + 1]. One without tokens
            scores 0, as if its only vector were zero.
        queries: shape (queries + 1,), the same for queries.
        best: shape (query tokens,), working memory.
        out: shape (documents, queries), written.
    """
    width = products.shape[1]
    for doc in range(starts.size - 1):
        first, last = starts[doc], starts[doc + 1]
        for column in range(width):
            best[column] = products[first, column] if last > first else np.float32(0)
        for row in range(first + 1, last):
            for column in range(width):
                value = products[row, column]
                best[column] = value if value > best[column] else best[column]
        for query in range(queries.size - 1):
            total = 0.0
            for column in range(queries[query], queries[query + 1]):
                total += best[column]
            out[doc, query] = total


@compiled
def sums_over_centroids(
    products: NDArray[np.float32],
    starts: NDArray[np.int64],
    members: NDArray[np.int32],
    docs: NDArray[np.int64],
    best: NDArray[np.float32],
    out: NDArray[np.float64],
) -> None:
    """MaxSim with every document token replaced by its centroid.

    Args:
        products: shape (centroids, query tokens).
        starts: shape (documents + 1,); the centroids of document i are members[starts[i]:starts[i + 1]].
        members: centroids.
        docs: shape (n,), the documents that are scored.
        best: shape (query tokens,), working memory.
        out: shape (n,), written.
    """
    width = products.shape[1]
    for slot in range(docs.size):
        first, last = starts[docs[slot]], starts[docs[slot] + 1]
        for column in range(width):
            best[column] = products[members[first], column] if last > first else np.float32(0)
        for row in range(first + 1, last):
            centroid = members[row]
            for column in range(width):
                value = products[centroid, column]
                best[column] = value if value > best[column] else best[column]
        total = 0.0
        for column in range(width):
            total += best[column]
        out[slot] = total
