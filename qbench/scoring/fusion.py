"""Scores of one query made comparable, and combined.

Everything here works on one query at a time: scores of different queries are never normalised together.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray


def normalised(scores: NDArray[np.float64], *, from_lowest: bool = False) -> NDArray[np.float64]:
    """Scores of one query's documents divided by their maximum (*Numbers Matter* eq. 5).

    The division needs scores that are not negative and not all zero. Where some are negative (log-probabilities, BM25
    of a term that is in nearly every document), they are shifted and scaled to [0, 1] instead; equal scores become 1.

    Args:
        scores: shape (n,).
        from_lowest: shift and scale in any case.

    Returns:
        shape (n,), at most 1.

    >>> normalised(np.array([2.0, 4.0])), normalised(np.array([-3.0, -1.0])), normalised(np.array([0.0, 0.0]))
    (array([0.5, 1. ]), array([0., 1.]), array([1., 1.]))
    """
    if scores.size == 0:
        return scores
    low, high = scores.min(), scores.max()
    if from_lowest or low < 0 or high == 0:
        if low == high:
            return np.ones_like(scores)
        scores, high = scores - low, high - low
    shares: NDArray[np.float64] = scores / high
    return shares


def with_quantities(
    terms: NDArray[np.float64],
    quantity: NDArray[np.float64],
    alpha: float,
    applies: NDArray[np.bool_] | None = None,
) -> NDArray[np.float64]:
    """Term scores plus alpha times quantity scores (*Numbers Matter* eq. 5, 7 and 9).

    Args:
        terms: shape (n,), normalised term scores.
        quantity: shape (n,), the quantity scores qs of the same documents.
        alpha: weight of the quantity score; with 0 the term scores stay as they are.
        applies: shape (n,), the indicator of the search terms; None where it holds for every document.

    Returns:
        shape (n,).

    >>> with_quantities(np.array([1.0, 0.5]), np.array([0.2, 0.9]), 1.0, np.array([True, False]))
    array([1.2, 0.5])
    """
    added = quantity if alpha == 1 else quantity * alpha
    if applies is not None:
        added = added * applies
    return terms + added


def interpolated(
    first: NDArray[np.float64], second: NDArray[np.float64], alpha: float, *, raw: bool = False
) -> NDArray[np.float64]:
    """(1 - alpha) * second + alpha * first, the linear interpolation of *WolfPQ* eq. 5.10.

    Args:
        first: shape (n,), scores of the first stage (BM25 in the thesis).
        second: shape (n,), scores of the reranker; NaN, no score, counts as its lowest one.
        alpha: weight of the first stage, from 0 to 1.
        raw: combine the scores as they are, as the thesis does; else each is divided by its maximum.

    Returns:
        shape (n,).

    >>> interpolated(np.array([10.0, 5.0]), np.array([0.2, 0.8]), 0.5)
    array([0.625, 0.75 ])
    """
    missing = np.isnan(second)
    second = np.where(missing, 0.0 if missing.all() else np.nanmin(second), second)
    if not raw:
        first, second = normalised(first), normalised(second)
    mixed: NDArray[np.float64] = (1 - alpha) * second + alpha * first
    return mixed


def reciprocal_rank(scores: Sequence[NDArray[np.float64]], k: int = 60) -> NDArray[np.float64]:
    """Reciprocal rank fusion: the sum of 1 / (k + rank) over the rankings (Cormack et al. 2009).

    Args:
        scores: of the same n documents by each ranker; NaN where it has none, which adds nothing. Equal scores share
            the best of their ranks.
        k: dampens the top ranks.

    Returns:
        shape (n,).

    >>> reciprocal_rank([np.array([3.0, 2.0]), np.array([np.nan, 0.5])], k=1)
    array([0.5       , 0.83333333])
    """
    total = np.zeros(len(scores[0]))
    for row in scores:
        ranked = np.flatnonzero(~np.isnan(row))
        ordered = np.sort(-row[ranked])
        total[ranked] += 1 / (k + 1 + np.searchsorted(ordered, -row[ranked]))
    return total
