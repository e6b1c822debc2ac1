"""Scores of one query made comparable, and combined.

Everything here works on one query at a time: scores of different queries are never normalised together.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray


def normalised(scores: NDArray[np.float64]) -> NDArray[np.float64]:
    """Scores of one query's documents divided by their maximum (*Numbers Matter* eq. 5).

    The division needs scores that are not negative and not all zero. Where some are negative (log-probabilities, BM25
    of a term that is in nearly every document), they are shifted and scaled to [0, 1] instead; equal scores become 1.

    Args:
        scores: shape (n,).

    Returns:
        shape (n,), at most 1.

    >>> normalised(np.array([2.0, 4.0])), normalised(np.array([-3.0, -1.0])), normalised(np.array([0.0, 0.0]))
    (array([0.5, 1. ]), array([0., 1.]), array([1., 1.]))
    """
    if scores.size == 0:
        return scores
    low, high = scores.min(), scores.max()
    if low < 0 or high == 0:
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
