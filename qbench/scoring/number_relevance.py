"""DeepQuant's score from stored arrays: MaxSim of the words, relevance of the numbers, a weight between both.

    score(D | Q) = (1 - alpha) sum over a of max over b of rel(b | a) + alpha text(D | Q)
    rel(b | a) = sum over op of Pr(op | a) rel(u_b | u_a) N(op, a, b),  N(op, a, b) = sigmoid(N_op,q(a) . N_op,d(b))
    rel(u_b | u_a) = exp(u_a . u_b) / the sum of that over the document's numbers

Source: *DeepQuant* eq. 4 to 6, 10, 11 and 16. A query without numbers is scored by its words alone; a document without
numbers has a quantity score of 0.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from qbench.scoring.maxsim import COLUMNS, Tokens, blocks, maxsim
from qbench.scoring.maxsim import rerank as rerank_words
from qbench.scoring.ranking import top_k

Floats = NDArray[np.floating[Any]]


@dataclass(frozen=True)
class AskedNumbers:
    """A query.

    Attributes:
        words: shape (tokens, dimension), the vectors of its words.
        operators: shape (m, 3), Pr(op) of each of its numbers, over <, = and >.
        towers: shape (m, 3, h), N_op,q of each.
        units: shape (m, units), u of each.
        alpha: weight of the words' score.
        divisor: of that score: 1, or the number of its tokens.
    """

    words: NDArray[np.float32]
    operators: Floats
    towers: Floats
    units: Floats
    alpha: float
    divisor: float = 1.0


@dataclass(frozen=True)
class StatedNumbers:
    """The numbers of n documents, one document after the other.

    Attributes:
        starts: shape (n + 1,); those of document i are rows starts[i] to starts[i + 1].
        towers: shape (numbers, 3, h), N_op,d of each; may be mapped from disk, in half precision.
        units: shape (numbers, units), u of each.
    """

    starts: NDArray[np.int64]
    towers: Floats
    units: Floats

    def chosen(self, docs: NDArray[np.integer[Any]]) -> StatedNumbers:
        """The numbers of some documents, in their order, in single precision."""
        counts = self.starts[docs + 1] - self.starts[docs]
        starts = np.append(0, np.cumsum(counts)).astype(np.int64)
        rows = np.arange(starts[-1]) + np.repeat(self.starts[docs] - starts[:-1], counts)
        return StatedNumbers(starts, self.towers[rows].astype(np.float32), self.units[rows].astype(np.float32))

    def between(self, first: int, last: int) -> StatedNumbers:
        """The numbers of the documents first to last, in single precision."""
        starts = self.starts[first : last + 1]
        rows = slice(int(starts[0]), int(starts[-1]))
        towers, units = self.towers[rows].astype(np.float32), self.units[rows].astype(np.float32)
        return StatedNumbers(starts - starts[0], towers, units)


@dataclass(frozen=True)
class Relevance:
    """How well each number of some documents answers each number of a query.

    Attributes:
        attention: shape (m, numbers), rel(u_b | u_a).
        believed: shape (m, numbers, 3), N(op, a, b).
        relevance: shape (m, numbers), rel(b | a).
    """

    attention: NDArray[np.float32]
    believed: NDArray[np.float32]
    relevance: NDArray[np.float32]


def number_relevance(query: AskedNumbers, numbers: StatedNumbers) -> Relevance:
    """Eq. 4 to 6 and 16 for all pairs of a query's numbers and some documents' numbers.

    >>> less, unit, words = np.array([[1, 0, 0]]), np.ones((1, 1)), np.zeros((0, 2), np.float32)
    >>> query = AskedNumbers(words, less, np.full((1, 3, 1), 9.0), unit, 0.5)
    >>> both = StatedNumbers(np.array([0, 2]), np.array([[[9.]] * 3, [[-9.]] * 3]), np.array([[0.], [0.]]))
    >>> number_relevance(query, both).relevance.round(3)
    array([[0.5, 0. ]], dtype=float32)
    """
    units, towers = (array.astype(np.float32, copy=False) for array in (numbers.units, numbers.towers))
    attention = segment_softmax(query.units.astype(np.float32) @ units.T, numbers.starts)
    logits = np.einsum("moh,noh->mno", query.towers.astype(np.float32), towers, optimize=True)
    believed = _sigmoid(logits)
    marginal = np.einsum("mo,mno->mn", query.operators.astype(np.float32), believed)
    return Relevance(attention, believed, attention * marginal)


def segment_softmax(logits: NDArray[np.float32], starts: NDArray[np.int64]) -> NDArray[np.float32]:
    """The softmax within each document's columns.

    Args:
        logits: shape (m, numbers).
        starts: shape (documents + 1,), where each document's columns begin.

    >>> segment_softmax(np.array([[0.0, 0.0, 5.0]], np.float32), np.array([0, 2, 2, 3]))
    array([[0.5, 0.5, 1. ]], dtype=float32)
    """
    filled = np.flatnonzero(np.diff(starts))
    if not filled.size:
        return logits
    first, counts = starts[filled], np.diff(starts)[filled]
    powers = np.exp(logits - np.repeat(np.maximum.reduceat(logits, first, axis=1), counts, axis=1))
    shares: NDArray[np.float32] = powers / np.repeat(np.add.reduceat(powers, first, axis=1), counts, axis=1)
    return shares


def quantity_scores(query: AskedNumbers, numbers: StatedNumbers) -> NDArray[np.float64]:
    """The sum over the query's numbers of the best relevance of a document's (eq. 11), shape (documents,).

    0 for a document without numbers.
    """
    scores = np.zeros(numbers.starts.size - 1)
    filled = np.flatnonzero(np.diff(numbers.starts))
    if filled.size and len(query.operators):
        relevance = number_relevance(query, numbers).relevance
        best = np.maximum.reduceat(relevance, numbers.starts[filled], axis=1)
        scores[filled] = best.sum(axis=0, dtype=np.float64)
    return scores


def mixed(query: AskedNumbers, words: NDArray[np.float64], quantities: NDArray[np.float64]) -> NDArray[np.float64]:
    """(1 - alpha) quantities + alpha words (eq. 10), shape (documents,)."""
    return (1 - query.alpha) * quantities + query.alpha * words / query.divisor


def scored(
    tokens: Tokens, numbers: StatedNumbers, query: AskedNumbers, docs: NDArray[np.integer[Any]]
) -> NDArray[np.float64]:
    """The scores of one query and given documents, shape (documents,).

    Args:
        tokens: word vectors of all documents.
        numbers: of all documents.
        query: the query.
        docs: shape (n,), in any order.
    """
    words = rerank_words(tokens, query.words, docs)
    if not len(query.operators):
        return mixed(query, words, np.zeros(len(docs)))
    return mixed(query, words, quantity_scores(query, numbers.chosen(np.asarray(docs))))


def search(
    tokens: Tokens, numbers: StatedNumbers, queries: Sequence[AskedNumbers], k: int
) -> list[tuple[NDArray[np.intp], NDArray[np.float64]]]:
    """The k documents with the highest scores for each query, highest first; of equal ones the lower document first.

    Documents are read in blocks, once for as many queries as fit into a matrix product.

    Args:
        tokens: word vectors of n documents.
        numbers: their numbers.
        queries: the queries.
        k: how many; fewer come back if n is smaller.

    Returns:
        for each query documents and scores, each of shape (min(k, n),).
    """
    results = []
    for group in _groups(queries):
        found: list[list[NDArray[np.float64]]] = [[] for _ in group]
        for first, last in blocks(tokens.starts):
            borders = tokens.starts[first : last + 1]
            rows = tokens.rows(int(borders[0]), int(borders[-1]))
            words = maxsim([query.words for query in group], rows, borders - borders[0])
            stated = numbers.between(first, last)
            for place, query in enumerate(group):
                found[place].append(mixed(query, words[:, place], quantity_scores(query, stated)))
        for parts in found:
            whole = np.concatenate([np.empty(0), *parts])
            best = top_k(whole, k)
            results.append((best, whole[best]))
    return results


def _groups(queries: Sequence[AskedNumbers]) -> list[list[AskedNumbers]]:
    ends = np.cumsum([0, *(len(query.words) for query in queries)], dtype=np.int64)
    return [list(queries[first:last]) for first, last in blocks(ends, COLUMNS)]


def _sigmoid(logits: NDArray[np.float32]) -> NDArray[np.float32]:
    of_positive = 1 / (1 + np.exp(-np.abs(logits)))
    return np.where(logits >= 0, of_positive, 1 - of_positive).astype(np.float32, copy=False)
