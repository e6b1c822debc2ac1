"""The best dependency tree under scores of arcs (Chu and Liu 1965, Edmonds 1967)."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

ROOT = 0
FORBIDDEN = -1e9


def best_tree(scores: NDArray[np.float32]) -> NDArray[np.int64]:
    """The heads that together score highest among those that form a tree under the root; several words may be roots.

    No word is its own head, whatever the score of that.

    Args:
        scores: shape (words, words + 1); row i holds the score of each head of word i: the root, then the words.

    Returns:
        Shape (words,): 0 for the root, k + 1 for word k.

    >>> best_tree(np.array([[1.0, 0.0, 9.0], [5.0, 8.0, 0.0]], dtype=np.float32)).tolist()
    [2, 0]
    """
    square = np.vstack([np.full(scores.shape[1], FORBIDDEN), scores])
    np.fill_diagonal(square, FORBIDDEN)
    return _arborescence(square)[1:]


def _arborescence(scores: NDArray[np.float64]) -> NDArray[np.int64]:
    """Heads of all nodes for scores of shape (nodes, nodes), node 0 the root: rings are contracted one at a time."""
    heads: NDArray[np.int64] = scores.argmax(axis=1)
    heads[ROOT] = ROOT
    ring = _ring(heads)
    if not ring:
        return heads
    inside = np.zeros(len(heads), dtype=bool)
    inside[ring] = True
    outside = np.flatnonzero(~inside)
    members = np.array(ring)
    # What it costs to break the ring at a member, for a head outside; and which member heads an outer node best.
    entering = scores[np.ix_(members, outside)] - scores[members, heads[members]][:, None]
    leaving = scores[np.ix_(outside, members)]
    small = np.full((len(outside) + 1, len(outside) + 1), FORBIDDEN)
    small[:-1, :-1] = scores[np.ix_(outside, outside)]
    small[:-1, -1] = leaving.max(axis=1)
    small[-1, :-1] = entering.max(axis=0)
    contracted = _arborescence(small)
    result = heads.copy()
    by = np.append(outside, -1)[contracted[:-1]]
    result[outside] = np.where(by == -1, members[leaving.argmax(axis=1)], by)
    entry = contracted[-1]
    result[members[entering[:, entry].argmax()]] = outside[entry]
    result[ROOT] = ROOT
    return result


def _ring(heads: NDArray[np.int64]) -> list[int]:
    """The nodes of one ring, in the order of their heads; [] where there is none."""
    seen_from = [-1] * len(heads)
    for start in range(1, len(heads)):
        node = start
        while node != ROOT and seen_from[node] == -1:
            seen_from[node] = start
            node = int(heads[node])
        if node != ROOT and seen_from[node] == start:
            ring, at = [node], int(heads[node])
            while at != node:
                ring.append(at)
                at = int(heads[at])
            return ring
    return []
