"""Exact search by dot product, in blocks: memory stays flat however many documents there are."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from qbench.scoring.ranking import top_k

if TYPE_CHECKING:
    from numpy.typing import NDArray

ROWS = 16_384
QUERIES = 256
"""Documents and queries of one matrix product: its result is 16 MB."""


def nearest(
    vectors: NDArray[np.float32], queries: NDArray[np.float32], k: int
) -> tuple[NDArray[np.intp], NDArray[np.float64]]:
    """The k rows with the highest dot product for each query, highest first; of equal ones the lower row first.

    Args:
        vectors: shape (n, d); may be mapped from disk, it is read once per `QUERIES` queries.
        queries: shape (q, d).
        k: how many; fewer come back if n is smaller.

    Returns:
        rows and products, each of shape (q, min(k, n)).

    >>> rows, products = nearest(np.eye(3, dtype=np.float32), np.array([[0, 2, 1]], dtype=np.float32), 2)
    >>> rows, products
    (array([[1, 2]]), array([[2., 1.]]))
    """
    shape = len(queries), min(k, len(vectors))
    rows, products = np.empty(shape, dtype=np.intp), np.empty(shape)
    for first in range(0, len(queries), QUERIES):
        part = slice(first, first + QUERIES)
        rows[part], products[part] = _nearest(vectors, queries[part], shape[1])
    return rows, products


def _nearest(
    vectors: NDArray[np.float32], queries: NDArray[np.float32], k: int
) -> tuple[NDArray[np.intp], NDArray[np.float64]]:
    best = [(np.empty(0, dtype=np.intp), np.empty(0)) for _ in queries]
    for start in range(0, len(vectors), ROWS):
        block = queries @ vectors[start : start + ROWS].T
        for i, products in enumerate(block):
            rows, found = best[i]
            # A later row wins over none that is as good, so that few of a block's rows are looked at.
            hits = np.flatnonzero(products > found[-1]) if rows.size == k else np.arange(products.size)
            if hits.size:
                rows, found = np.append(rows, start + hits), np.append(found, products[hits])
                chosen = top_k(found, k)
                best[i] = rows[chosen], found[chosen]
    shape = len(queries), k
    return np.array([rows for rows, _ in best]).reshape(shape), np.array([found for _, found in best]).reshape(shape)
