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
    size = lengths.size
    starts, doc, counts = counted(tokens, lengths, terms)
    weights = saturation(counts, lengths[doc], mean_length(lengths), k1=k1, b=b)
    weights *= np.repeat(idf(np.diff(starts), size, epsilon), np.diff(starts))
    return Postings(starts, doc.astype(np.int32), weights, size)


def counted(
    tokens: NDArray[np.int32], lengths: NDArray[np.int64], terms: int
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    """Which documents hold each term, and how often.

    Args:
        tokens, lengths, terms: as for `build`.

    Returns:
        starts, shape (terms + 1,): the postings of term t are starts[t] to starts[t + 1]; docs, shape (postings,),
        ascending within a term; counts, likewise.
    """
    size = max(lengths.size, 1)
    # One number per (term, document) pair: sorting them groups the tokens as posting lists need them.
    pairs = tokens.astype(np.int64) * size
    pairs += np.repeat(np.arange(lengths.size), lengths)
    pairs.sort()
    first = np.flatnonzero(np.concatenate(([True], pairs[1:] != pairs[:-1]))) if pairs.size else np.empty(0, np.int64)
    counts = np.diff(np.append(first, pairs.size))
    term, docs = np.divmod(pairs[first], size)
    return np.searchsorted(term, np.arange(terms + 1)).astype(np.int64), docs, counts


def mean_length(lengths: NDArray[np.int64]) -> float:
    """The mean number of tokens of a document, above zero; shape of `lengths`: (documents,)."""
    return float(lengths.sum() / lengths.size) if lengths.size and lengths.any() else 1.0


def saturation(
    counts: NDArray[np.int64], lengths: NDArray[np.int64], mean: float, *, k1: float = 1.5, b: float = 0.75
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
