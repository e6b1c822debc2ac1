"""Exact search by dot product, in blocks: memory stays flat however many documents there are."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from qbench.scoring.quantised import restored
from qbench.scoring.ranking import top_k

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
        k: number of rows; n if that is smaller.
        scales: shape (n,): row i of `vectors` stands for scales[i] times itself. Needed for 8-bit integers.

    Returns:
        rows and products, each of shape (q, min(k, n)).

    >>> rows, products = nearest(np.eye(3, dtype=np.float32), np.array([[0, 2, 1]], dtype=np.float32), 2)
    >>> rows, products
    (array([[1, 2]]), array([[2., 1.]]))
    """

    def scored(some: NDArray[np.float32]) -> Callable[[slice], NDArray[np.floating[Any]]]:
        return lambda rows: products(some, vectors[rows], None if scales is None else scales[rows])

    return highest(scored, len(vectors), queries, k)


def products(
    queries: NDArray[np.float32], vectors: Stored, scales: NDArray[np.float32] | None = None
) -> NDArray[np.floating[Any]]:
    """The dot products of queries with vectors.

    Args:
        queries: shape (q, d).
        vectors: shape (n, d).
        scales: shape (n,), as in `nearest`.

    Returns:
        shape (q, n), in single precision; in double precision with scales.
    """
    # Codes are multiplied as they are, and the few products scaled: the same up to rounding, and half the work.
    dots: NDArray[np.floating[Any]] = queries @ restored(vectors).T
    return dots if scales is None else dots * scales.astype(np.float64)


def highest(
    scored: Callable[[NDArray[np.float32]], Callable[[slice], NDArray[np.floating[Any]]]],
    count: int,
    queries: NDArray[np.float32],
    k: int,
) -> tuple[NDArray[np.intp], NDArray[np.float64]]:
    """The k rows with the highest scores for each query, by any way to score rows; order and shapes as in `nearest`.

    Args:
        scored: from queries, shape (q, d), to a function from a range of rows to their scores, shape (q, rows): what
            depends on the queries alone is done once.
        count: n, number of rows.
        queries: shape (q, d).
        k: number of rows.

    Returns:
        rows and scores, each of shape (q, min(k, n)).
    """
    shape = len(queries), min(k, count)
    rows, scores = np.empty(shape, dtype=np.intp), np.empty(shape)
    for first in range(0, len(queries), QUERIES):
        some = queries[first : first + QUERIES]
        rows[first : first + QUERIES], scores[first : first + QUERIES] = _highest(
            scored(some), count, len(some), shape[1]
        )
    return rows, scores


def _highest(
    scores: Callable[[slice], NDArray[np.floating[Any]]], count: int, queries: int, k: int
) -> tuple[NDArray[np.intp], NDArray[np.float64]]:
    best = [(np.empty(0, dtype=np.intp), np.empty(0)) for _ in range(queries)]
    for start in range(0, count, ROWS):
        for i, block in enumerate(scores(slice(start, min(start + ROWS, count)))):
            rows, top = best[i]
            # A later row wins over none that is as good, so that few of a block's rows are looked at.
            hits = np.flatnonzero(block > top[-1]) if rows.size == k else np.arange(block.size)
            if hits.size:
                rows, top = np.append(rows, start + hits), np.append(top, block[hits])
                chosen = top_k(top, k)
                best[i] = rows[chosen], top[chosen]
    shape = queries, k
    return np.array([rows for rows, _ in best]).reshape(shape), np.array([top for _, top in best]).reshape(shape)
