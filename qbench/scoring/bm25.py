"""BM25 as rank-bm25's `BM25Okapi` computes it, over posting lists.

The score of a document is the sum over the query's tokens t, each occurrence counted, of

    idf(t) * tf * (k1 + 1) / (tf + k1 * (1 - b + b * length / mean length))
    idf(t) = log(N - df + 0.5) - log(df + 0.5)

where a negative idf (a term in more than half of the documents) is replaced by `epsilon` times the mean idf over the
vocabulary. That product does not depend on the query, so it is computed once per posting.
Source: Robertson and Zaragoza (2009), in the variant of Trotman et al. (2014) that rank-bm25 implements.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from qbench.scoring.postings import Postings, best, hits, holding_all, load_loops, matching, score, sums

__all__ = [
    "Postings", "best", "build", "counted", "hits", "holding_all", "idf", "load_loops", "matching", "mean_length",
    "saturation", "score", "sums",
]  # fmt: skip


def build(
    tokens: NDArray[np.int32],
    lengths: NDArray[np.int64],
    terms: int,
    *,
    k1: float = 1.5,
    b: float = 0.75,
    epsilon: float = 0.25,
) -> Postings:
    """Posting lists with BM25 weights.

    Args:
        tokens: shape (n,), the token ids of all documents one after the other. Ids are numbered by first occurrence,
            so that the mean idf is summed in rank-bm25's order.
        lengths: shape (documents,), number of tokens of each document; their sum is n.
        terms: number of distinct ids.
        k1, b, epsilon: the parameters of BM25Okapi.

    >>> found = build(np.array([0, 1, 0, 2], dtype=np.int32), np.array([2, 1, 1]), 3)
    >>> found.docs, found.starts
    (array([0, 1, 0, 2], dtype=int32), array([0, 2, 3, 4]))
    """
    starts, docs, counts = counted(tokens, lengths, terms)
    mean, weights = mean_length(lengths), np.empty(docs.size)
    for first in range(0, docs.size, BLOCK):
        some = slice(first, first + BLOCK)
        weights[some] = saturation(counts[some], lengths[docs[some]], mean, k1=k1, b=b)
    del counts  # as large as the weights' half: gone before all of these are multiplied
    weights *= np.repeat(idf(np.diff(starts), lengths.size, epsilon), np.diff(starts))
    return Postings(starts, docs, weights, lengths.size)


BLOCK = 2_000_000
"""About how many tokens, or postings, are in work at a time: what is computed from each takes eight bytes or more."""


def counted(
    tokens: NDArray[np.int32], lengths: NDArray[np.int64], terms: int
) -> tuple[NDArray[np.int64], NDArray[np.int32], NDArray[np.int32]]:
    """Which documents hold each term, and how often.

    Args:
        tokens, lengths, terms: as for `build`.

    Returns:
        starts, shape (terms + 1,), int64: the postings of term t are starts[t] to starts[t + 1]; docs, shape
        (postings,), int32, ascending within a term; counts, likewise.
    """
    ends = np.append(0, np.cumsum(lengths))
    cuts = np.unique(np.searchsorted(ends, np.arange(0, max(tokens.size, 1), BLOCK), side="left"))
    blocks = [
        _postings(tokens[ends[first] : ends[last]], lengths[first:last], first)
        for first, last in zip(cuts, [*cuts[1:], lengths.size], strict=True)
    ]
    sizes = np.zeros(terms, np.int64)
    for held, _, _ in blocks:
        sizes += np.bincount(held, minlength=terms)
    starts = np.append(0, np.cumsum(sizes))
    docs, counts = np.empty(starts[-1], np.int32), np.empty(starts[-1], np.int32)
    free = starts[:-1].copy()
    while blocks:
        held, some, often = blocks.pop(0)  # a block is gone when its postings have their place
        added = np.bincount(held, minlength=terms)
        # Postings of a block are grouped by term: each has its place within the group, behind those of blocks before.
        places = np.arange(held.size) + np.repeat(free - (np.cumsum(added) - added), added)
        docs[places], counts[places] = some, often
        free += added
    return starts, docs, counts


def _postings(
    tokens: NDArray[np.int32], lengths: NDArray[np.int64], first: int
) -> tuple[NDArray[np.int32], NDArray[np.int32], NDArray[np.int32]]:
    """The terms, documents and counts of the postings of some documents in a row, by term, then by document.

    Args:
        tokens: of these documents.
        lengths: number of tokens of each.
        first: number of the first one.
    """
    size = max(lengths.size, 1)
    # One number per (term, document) pair: sorting them groups the tokens as posting lists need them.
    pairs = tokens.astype(np.int64) * size
    pairs += np.repeat(np.arange(lengths.size), lengths)
    pairs.sort()
    at = np.flatnonzero(np.concatenate(([True], pairs[1:] != pairs[:-1]))) if pairs.size else np.empty(0, np.int64)
    counts = np.diff(np.append(at, pairs.size))
    term, docs = np.divmod(pairs[at], size)
    return term.astype(np.int32), (docs + first).astype(np.int32), counts.astype(np.int32)


def mean_length(lengths: NDArray[np.int64]) -> float:
    """The mean number of tokens of a document, above zero; shape of `lengths`: (documents,)."""
    return float(lengths.sum() / lengths.size) if lengths.size and lengths.any() else 1.0


def saturation(
    counts: NDArray[np.integer[Any]], lengths: NDArray[np.int64], mean: float, *, k1: float = 1.5, b: float = 0.75
) -> NDArray[np.float64]:
    """What a term's occurrences are worth, before idf: tf * (k1 + 1) / (tf + k1 * (1 - b + b * length / mean)).

    Args:
        counts: shape (n,), how often a term is in a document.
        lengths: shape (n,), number of tokens of that document.
        mean: number of tokens of a document, on average.

    Returns:
        shape (n,), between 0 and k1 + 1.

    >>> saturation(np.array([1, 2]), np.array([4, 4]), 4.0).round(3)
    array([1.   , 1.429])
    """
    worth: NDArray[np.float64] = counts * (k1 + 1) / (counts + k1 * (1 - b + b * lengths / mean))
    return worth


def idf(frequencies: NDArray[np.int64], size: int, epsilon: float = 0.25) -> NDArray[np.float64]:
    """The weight of each term by the number of documents that hold it.

    Args:
        frequencies: shape (terms,), in the order of the terms' first occurrence, which is that of rank-bm25's sum.
        size: number of documents.
        epsilon: a negative idf is replaced by this share of the mean.

    Returns:
        shape (terms,). There are few distinct frequencies, so `math.log` gives the reference's very numbers.
    """
    distinct, which = np.unique(frequencies, return_inverse=True)
    values = np.array([math.log(size - df + 0.5) - math.log(df + 0.5) for df in distinct.tolist()])
    weights: NDArray[np.float64] = values[which] if frequencies.size else np.empty(0)
    if weights.size:
        mean = sum(weights.tolist()) / weights.size
        weights[weights < 0] = epsilon * mean
    return weights
