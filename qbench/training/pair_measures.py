"""Measures of scores that are to tell paraphrases from confusing pairs (*Quantity Retrieval*, section 5.1)."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray


def best_threshold(scores: NDArray[np.float64], positive: NDArray[np.bool_]) -> float:
    """The threshold with the highest F1 of "a pair that scores at least this is a paraphrase".

    It lies halfway between two scores; of several with the same F1 the highest is taken.

    Args:
        scores: shape (n,), n of at least 1.
        positive: shape (n,), with at least one True.

    >>> best_threshold(np.array([0.9, 0.75, 0.25, 0.1]), np.array([True, True, False, False]))
    0.5
    """
    order = np.argsort(-scores, kind="stable")
    ranked, right = scores[order], np.cumsum(positive[order])
    taken = np.arange(1, len(ranked) + 1)
    f1 = 2 * right / (taken + right[-1])
    # A threshold cannot separate equal scores.
    f1[:-1][ranked[:-1] == ranked[1:]] = -1
    best = int(np.argmax(f1))
    below = ranked[best + 1] if best + 1 < len(ranked) else ranked[best]
    halfway = float((ranked[best] + below) / 2)
    # Between neighbouring numbers there is nothing halfway.
    return halfway if halfway > below else float(ranked[best])


def classification(scores: NDArray[np.float64], positive: NDArray[np.bool_], threshold: float) -> dict[str, float]:
    """Precision, recall and F1 of "a pair that scores at least the threshold is a paraphrase"; 0 where undefined.

    >>> classification(np.array([0.9, 0.8, 0.4]), np.array([True, False, True]), 0.5)
    {'precision': 0.5, 'recall': 0.5, 'f1': 0.5}
    """
    predicted = scores >= threshold
    right = int((predicted & positive).sum())
    total = int(predicted.sum()) + int(positive.sum())
    return {
        "precision": right / max(int(predicted.sum()), 1),
        "recall": right / max(int(positive.sum()), 1),
        "f1": 2 * right / max(total, 1),
    }


def nearest_is_paraphrase(
    scores: NDArray[np.float64], positive: NDArray[np.bool_], starts: NDArray[np.int64]
) -> float | None:
    """Of the queries that have both kinds of pairs, the share whose best one is a paraphrase.

    A tie between the kinds is a miss.

    Args:
        scores, positive: shape (n,), a query's pairs together.
        starts: shape (queries,), where each query's pairs begin.

    Returns:
        None if no query has both.

    >>> nearest_is_paraphrase(np.array([0.9, 0.8, 0.1, 0.2]), np.array([True, False, True, False]), np.array([0, 2]))
    0.5
    """
    if not len(starts):
        return None
    for_it = np.maximum.reduceat(np.where(positive, scores, -np.inf), starts)
    against = np.maximum.reduceat(np.where(positive, -np.inf, scores), starts)
    both = np.isfinite(for_it) & np.isfinite(against)
    return float((for_it > against)[both].mean()) if both.any() else None
