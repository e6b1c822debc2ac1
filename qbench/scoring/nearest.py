"""Exact search by dot product, in blocks: memory stays flat however many documents there are."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from qbench.scoring.quantised import restored
from qbench.scoring.ranking import top_k

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Stored = NDArray[np.float32] | NDArray[np.float16] | NDArray[np.int8]

ROWS = 16_384
QUERIES = 256
"""Documents and queries of one matrix product: its result is 16 MB."""


def nearest(
    vectors: Stored, queries: NDArray[np.float32], k: int, scales: NDArray[np.float32] | None = None
) -> tuple[NDArray[np.intp], NDArray[np.float64]]:
    """The k rows with the highest dot product for each query, highest first; of equal ones the lower row first.

    Args:
        vectors: shape (n, d); may be mapped from disk, it is read once per `QUERIES` queries. Those that are not in
            float32 are converted block by block.
        queries: shape (q, d).
        k: how many; fewer come back if n is smaller.
        scales: shape (n,): row i of `vectors` stands for scales[i] times itself. Needed for 8-bit integers.

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
        rows[part], products[part] = _nearest(vectors, queries[part], shape[1], scales)
    return rows, products


def _nearest(
    vectors: Stored, queries: NDArray[np.float32], k: int, scales: NDArray[np.float32] | None
) -> tuple[NDArray[np.intp], NDArray[np.float64]]:
    best = [(np.empty(0, dtype=np.intp), np.empty(0)) for _ in queries]
    for start in range(0, len(vectors), ROWS):
        here = slice(start, start + ROWS)
        # Codes are multiplied as they are, and the few products scaled: the same up to rounding, and half the work.
        block = queries @ restored(vectors[here]).T
        if scales is not None:
            block *= scales[here]
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


def dot_products(
    vectors: Stored,
    rows: NDArray[np.integer[Any]],
    query: NDArray[np.float32],
    scales: NDArray[np.float32] | None = None,
) -> NDArray[np.float64]:
    """The dot products of some rows with one query.

    Args:
        vectors: shape (n, d), as in `nearest`.
        rows: shape (r,).
        query: shape (d,).
        scales: shape (n,), as in `nearest`.

    Returns:
        shape (r,), in the order of `rows`.

    >>> dot_products(np.eye(3, dtype=np.float16), np.array([2, 0]), np.array([5, 6, 7], dtype=np.float32))
    array([7., 5.])
    """
    products: NDArray[np.float64] = (restored(vectors[rows]) @ query).astype(np.float64)
    return products if scales is None else products * scales[rows]
