"""MaxSim, the late interaction of ColBERT: each query token takes its best document token, and these are summed.

    score(q, d) = sum over the query's vectors e_q of the maximum over the document's vectors e_d of e_q . e_d

Source: Khattab and Zaharia (2020); *Numbers Matter* eq. 6; *WolfPQ* eq. 2.6. All of it is exact for the vectors as they
are stored. Documents are read in blocks, so that memory stays flat however many there are.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from qbench.ranges import range_rows
from qbench.scoring.quantised import restored
from qbench.scoring.ranking import top_k

ROWS = 4096
"""Document tokens of one matrix product."""
COLUMNS = 512
"""Query tokens of one matrix product, whose result is then 8 MB: a processor's cache holds most of it."""


class Tokens(Protocol):
    """The token vectors of n documents, one document after the other, however they are kept."""

    @property
    def starts(self) -> NDArray[np.int64]:
        """Shape (n + 1,); those of document i are rows starts[i] to starts[i + 1]."""
        ...

    @property
    def dimension(self) -> int:
        """Numbers in a vector."""
        ...

    def rows(self, first: int, last: int) -> NDArray[np.float32]:
        """The vectors first to last in single precision, shape (last - first, d)."""
        ...

    def chosen(self, rows: NDArray[np.int64]) -> NDArray[np.float32]:
        """The vectors of these rows in single precision, shape (rows, d)."""
        ...


@dataclass(frozen=True)
class TokenVectors:
    """The token vectors of n documents, one document after the other.

    Attributes:
        starts: shape (n + 1,); those of document i are rows starts[i] to starts[i + 1].
        vectors: shape (tokens, d), float32, float16 or int8; may be mapped from disk.
        scales: shape (tokens,), what each int8 vector is multiplied by; None for the other kinds.
    """

    starts: NDArray[np.int64]
    vectors: NDArray[Any]
    scales: NDArray[np.float32] | None = None

    def __len__(self) -> int:
        return self.starts.size - 1

    @property
    def dimension(self) -> int:
        """Numbers in a vector."""
        return int(self.vectors.shape[1])

    def rows(self, first: int, last: int) -> NDArray[np.float32]:
        """The vectors first to last in single precision, shape (last - first, d)."""
        scales = None if self.scales is None else self.scales[first:last]
        return single_precision(self.vectors[first:last], scales)

    def chosen(self, rows: NDArray[np.int64]) -> NDArray[np.float32]:
        """The vectors of these rows in single precision, shape (rows, d)."""
        return single_precision(self.vectors[rows], None if self.scales is None else self.scales[rows])


def single_precision(vectors: NDArray[Any], scales: NDArray[np.float32] | None = None) -> NDArray[np.float32]:
    """Stored vectors in single precision again, shape (n, d); halves quicker than numpy widens them.

    >>> single_precision(np.array([[64, -127]], np.int8), np.array([1 / 127], np.float32)).round(2)
    array([[ 0.5, -1. ]], dtype=float32)
    """
    if vectors.dtype == np.float16:
        from qbench.scoring import maxsim_kernel

        wide = np.empty(vectors.shape, np.float32)
        maxsim_kernel.widened(vectors.view(np.uint16), maxsim_kernel.HALVES, wide)
        return wide
    return restored(vectors, scales)


def maxsim(
    queries: Sequence[NDArray[np.float32]], vectors: NDArray[np.float32], starts: NDArray[np.int64]
) -> NDArray[np.float64]:
    """The MaxSim of every document with every query.

    Args:
        queries: for each its vectors, shape (query tokens, d).
        vectors: shape (tokens, d), those of all documents.
        starts: shape (documents + 1,); document i has the rows starts[i] to starts[i + 1]. One without a row scores 0.

    Returns:
        shape (documents, queries).

    >>> query = np.array([[1, 0], [0, 1]], np.float32)
    >>> vectors = np.array([[1, 0], [0.6, 0.8], [-1, 0]], np.float32)
    >>> maxsim([query], vectors, np.array([0, 2, 3])).round(2)  # 1 + 0.8; -1 + 0
    array([[ 1.8],
           [-1. ]])
    """
    from qbench.scoring import maxsim_kernel

    stacked, borders = _stacked(queries, vectors.shape[1])
    scores = np.empty((starts.size - 1, len(queries)))
    # Document tokens by query tokens: a row's maxima are then taken 8 or 16 at a time.
    products = vectors @ stacked.T
    best = np.empty(stacked.shape[0], np.float32)
    maxsim_kernel.sums_of_maxima(products, starts.astype(np.int64, copy=False), borders, best, scores)
    return scores


def rerank(tokens: Tokens, query: NDArray[np.float32], docs: NDArray[np.integer[Any]]) -> NDArray[np.float64]:
    """The MaxSim of one query with given documents.

    Args:
        tokens: of all documents.
        query: shape (query tokens, d).
        docs: shape (n,), in any order, repeated or not.

    Returns:
        shape (n,).
    """
    docs = np.asarray(docs, dtype=np.int64)
    lengths = tokens.starts[docs + 1] - tokens.starts[docs]
    ends = np.append(0, np.cumsum(lengths))
    scores = np.empty(docs.size)
    for first, last in blocks(ends):
        some = docs[first:last]
        borders = ends[first : last + 1] - ends[first]
        rows = range_rows(tokens.starts[some], lengths[first:last])
        scores[first:last] = maxsim([query], tokens.chosen(rows), borders)[:, 0]
    return scores


def search(
    tokens: Tokens, queries: Sequence[NDArray[np.float32]], k: int
) -> list[tuple[NDArray[np.intp], NDArray[np.float64]]]:
    """The k documents with the highest MaxSim for each query, highest first; of equal ones the lower document first.

    Args:
        tokens: of n documents; they are read once for as many queries as have `COLUMNS` tokens together.
        queries: for each its vectors, shape (query tokens, d).
        k: how many; fewer come back if n is smaller.

    Returns:
        for each query documents and scores, each of shape (min(k, n),).

    >>> tokens = TokenVectors(np.array([0, 2, 3]), np.array([[1, 0], [0.6, 0.8], [-1, 0]], np.float32))
    >>> [(docs, scores)] = search(tokens, [np.array([[0, 1]], np.float32)], 1)
    >>> docs, scores.round(2)
    (array([0]), array([0.8]))
    """
    results = []
    for group in _groups(queries):
        best = [(np.empty(0, dtype=np.intp), np.empty(0)) for _ in group]
        for first, last in blocks(tokens.starts):
            borders = tokens.starts[first : last + 1]
            rows = tokens.rows(int(borders[0]), int(borders[-1]))
            scores = maxsim(group, rows, borders - borders[0])
            best = [_merged(*row, first, column, k) for row, column in zip(best, scores.T, strict=True)]
        results += best
    return results


def blocks(starts: NDArray[np.int64], rows: int | None = None) -> Iterator[tuple[int, int]]:
    """Runs of documents that have at most so many rows together, or are one document: (first, last).

    >>> list(blocks(np.array([0, 3, 5, 20, 21]), rows=6))
    [(0, 2), (2, 3), (3, 4)]
    """
    first, most = 0, rows or ROWS
    while first < starts.size - 1:
        last = int(np.searchsorted(starts, starts[first] + most, side="right")) - 1
        last = max(last, first + 1)
        yield first, last
        first = last


def _groups(queries: Sequence[NDArray[np.float32]]) -> Iterator[list[NDArray[np.float32]]]:
    ends = np.cumsum([0, *(len(query) for query in queries)], dtype=np.int64)
    return (list(queries[first:last]) for first, last in blocks(ends, COLUMNS))


def _stacked(queries: Sequence[NDArray[np.float32]], dimension: int) -> tuple[NDArray[np.float32], NDArray[np.int64]]:
    """The vectors of all queries, and where each query's begin."""
    stacked = np.concatenate([np.empty((0, dimension), np.float32), *queries])
    return stacked, np.cumsum([0, *(len(query) for query in queries)], dtype=np.int64)


def _merged(
    docs: NDArray[np.intp], scores: NDArray[np.float64], first: int, block: NDArray[np.float64], k: int
) -> tuple[NDArray[np.intp], NDArray[np.float64]]:
    """The best k of those so far and of a block's, which are later documents: equal scores do not move them."""
    hits = np.flatnonzero(block > scores[-1]) if docs.size == k > 0 else np.arange(block.size)
    if not hits.size:
        return docs, scores
    docs, scores = np.append(docs, first + hits), np.append(scores, block[hits])
    chosen = top_k(scores, k)
    return docs[chosen], scores[chosen]
