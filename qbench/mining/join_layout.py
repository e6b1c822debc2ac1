"""The term matrix -> bags of words in the layout that the self-join searches.

Texts with the same words are one bag, searched once. N, df and lengths count texts, so that scores are those of BM25
over all texts. Import it inside functions only, as `qbench.mining.join_search`.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from qbench.compiling import lean as compiled
from qbench.mining.join_results import SHARED
from qbench.mining.join_search import BITS, ONE, WORDS, Index
from qbench.mining.terms import TermMatrix
from qbench.ranges import range_rows
from qbench.scoring import bm25

BLOCK = 2**12
"""Number of bags in a block: their masks and sums fit a core's second-level cache."""
FIRST = 2**8
"""Number of bags in the first block."""
CHUNK = 100_000
"""Number of rows handled at a time if each entry takes many bytes."""
MANY = np.uint64(0x9E3779B97F4A7C15)
MORE = np.uint64(0xBF58476D1CE4E5B9)


@dataclass(frozen=True)
class Bags:
    """Texts grouped by their words, M groups in the order of the index.

    Attributes:
        of: shape (N,), int32, the bag of each text.
        starts: shape (M + 1,), int64: the texts of bag i are members[starts[i] : starts[i + 1]].
        members: shape (N,), int32, positions, ascending within a bag.
        own: shape (M,), int64: the score of a text of the bag for another one.
        sizes: shape (M,), int16: number of different terms of the bag, without dropped ones, up to `SHARED`.
    """

    of: NDArray[np.int32]
    starts: NDArray[np.int64]
    members: NDArray[np.int32]
    own: NDArray[np.int64]
    sizes: NDArray[np.int16]


@dataclass(frozen=True)
class Searchable:
    """The arguments of a search.

    Attributes:
        index: for the kernel.
        bags: from texts to bags and back.
        unit: score of 1 in the kernel's whole numbers, a power of two.
        shift: bits that hold the number of shared terms beside a score.
    """

    index: Index
    bags: Bags
    unit: float
    shift: int


def build(matrix: TermMatrix, *, k: int, k1: float, b: float, epsilon: float, drop_terms: int) -> Searchable:
    """Lay out a term matrix for the search; the parameters are those of `JoinOptions`."""
    labels = np.empty(matrix.df.size, np.int64)
    labels[np.argsort(-matrix.df, kind="stable")] = np.arange(matrix.df.size)
    dropped = labels < drop_terms
    idf = bm25.idf(matrix.df, len(matrix), epsilon)
    shift = int(np.diff(matrix.starts).max(initial=0)).bit_length()
    exponent = _exponent(float(np.abs(idf).max(initial=0)) * (k1 + 1), int(matrix.lengths.max(initial=0)), shift)
    idf *= ~dropped
    weights = _weights(matrix, idf * 2.0**exponent, k1, b)

    group, first = group_equal(matrix)
    sizes = np.diff(matrix.starts)[first]
    held = np.bincount(matrix.terms[range_rows(matrix.starts[first], sizes)], minlength=labels.size)
    # A term that only one bag holds adds to nobody's score but that bag's own.
    labels = np.where(dropped | (held < 2), -1, labels)
    useful = np.flatnonzero(labels >= 0)
    labels[useful[np.argsort(labels[useful])]] = np.arange(useful.size)

    order = _order(matrix, labels, first)
    bags = _bags(matrix, weights, dropped, group, first, order)
    return Searchable(_index(matrix, weights, labels, first[order], useful.size, k), bags, 2.0**-exponent, shift)


def group_equal(matrix: TermMatrix) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Group texts with the same words and counts.

    Returns:
        the group of each text, shape (N,), numbered by first occurrence, and the first text of each group.
    """
    mixed = (matrix.terms.astype(np.uint64) * MANY + matrix.counts.astype(np.uint64)) * MORE
    mixed = (mixed ^ (mixed >> np.uint64(29))) * MANY
    sums = np.concatenate((np.zeros(1, np.uint64), np.cumsum(mixed ^ (mixed >> np.uint64(32)), dtype=np.uint64)))
    _, first, group = np.unique(
        sums[matrix.starts[1:]] - sums[matrix.starts[:-1]], return_index=True, return_inverse=True
    )
    leader = first[group]
    # Other words with the same hash would be most unlikely; such a text becomes a group of its own.
    for texts in _chunks(np.flatnonzero(leader != np.arange(len(matrix)))):
        other = _unlike(matrix, texts, leader[texts])
        leader[texts[other]] = texts[other]
    first, group = np.unique(leader, return_inverse=True)
    return group, first


def _unlike(matrix: TermMatrix, texts: NDArray[np.int64], leaders: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Which texts differ from their leaders."""
    sizes = np.diff(matrix.starts)
    unlike: NDArray[np.bool_] = sizes[texts] != sizes[leaders]
    same = np.flatnonzero(~unlike)
    mine = range_rows(matrix.starts[texts[same]], sizes[texts[same]])
    theirs = range_rows(matrix.starts[leaders[same]], sizes[texts[same]])
    wrong = (matrix.terms[mine] != matrix.terms[theirs]) | (matrix.counts[mine] != matrix.counts[theirs])
    unlike[np.repeat(same, sizes[texts[same]])[wrong]] = True
    return unlike


def _exponent(weight: float, length: int, shift: int) -> int:
    """The largest power of two that keeps weights within int32, and a sum with its number of terms within int64."""
    if not weight or not length:
        return 0
    return min(30, 61 - shift - length.bit_length()) - math.frexp(weight)[1]


def _weights(matrix: TermMatrix, idf: NDArray[np.float64], k1: float, b: float) -> NDArray[np.int32]:
    """The weight of each entry of the matrix, rounded to whole units."""
    weights = np.empty(matrix.terms.size, np.int32)
    mean = float(matrix.lengths.mean()) if matrix.lengths.any() else 1.0
    for texts in _chunks(np.arange(len(matrix))):
        low, high = texts[0], texts[-1] + 1
        entries = slice(matrix.starts[low], matrix.starts[high])
        lengths = np.repeat(matrix.lengths[low:high], np.diff(matrix.starts[low : high + 1]))
        worth = bm25.saturation(matrix.counts[entries].astype(np.int64), lengths, mean, k1=k1, b=b)
        weights[entries] = np.rint(worth * idf[matrix.terms[entries]])
    return weights


def _order(matrix: TermMatrix, labels: NDArray[np.int64], first: NDArray[np.int64]) -> NDArray[np.int64]:
    """The groups in an order that makes blocks alike, so that a block's peaks say much about each of its bags.

    A weight depends on the text's length and on how often the term is in it: texts without repeated terms come first,
    then those that repeat only the most frequent ones, and so on, each by length.
    """
    repeated = np.zeros(first.size, np.int64)
    sizes = np.diff(matrix.starts)[first]
    for groups in _chunks(np.arange(first.size)):
        entries = range_rows(matrix.starts[first[groups]], sizes[groups])
        term = np.where(matrix.counts[entries] > 1, labels[matrix.terms[entries]] + 1, 0)
        np.maximum.at(repeated, np.repeat(groups, sizes[groups]), np.log2(term + 1).astype(np.int64))
    return np.lexsort((first, matrix.lengths[first], repeated))


def _bags(
    matrix: TermMatrix,
    weights: NDArray[np.int32],
    dropped: NDArray[np.bool_],
    group: NDArray[np.int64],
    first: NDArray[np.int64],
    order: NDArray[np.int64],
) -> Bags:
    position = np.empty(order.size, np.int32)
    position[order] = np.arange(order.size)
    of = position[group]
    starts = np.concatenate(([0], np.cumsum(np.bincount(of, minlength=order.size)))).astype(np.int64)
    own, sizes = np.zeros(order.size, np.int64), np.zeros(order.size, np.int32)
    lengths = np.diff(matrix.starts)[first[order]]
    for bags in _chunks(np.arange(order.size)):
        entries = range_rows(matrix.starts[first[order[bags]]], lengths[bags])
        owner = np.repeat(bags, lengths[bags])
        np.add.at(own, owner, weights[entries].astype(np.int64) * matrix.counts[entries])
        np.add.at(sizes, owner, (~dropped[matrix.terms[entries]]).astype(np.int32))
    members = np.argsort(of, kind="stable").astype(np.int32)
    return Bags(of, starts, members, own, np.minimum(sizes, SHARED).astype(np.int16))


def _index(
    matrix: TermMatrix,
    weights: NDArray[np.int32],
    labels: NDArray[np.int64],
    texts: NDArray[np.int64],
    terms: int,
    k: int,
) -> Index:
    """The kernel's index of the bags whose first texts are `texts`."""
    rows = [_rows(matrix, labels, chunk, terms) for chunk in _chunks(texts)]
    entries = np.concatenate([row[0] for row in rows]) if rows else np.empty(0, np.int64)
    starts = np.concatenate([np.zeros(1, np.int64), *(row[1] for row in rows)]).cumsum()
    del rows
    own_labels = labels[matrix.terms[entries]].astype(np.int32)
    bags = texts.size
    lows = _blocks(bags)
    frequent = int((own_labels < BITS).sum())
    per_term = np.bincount(own_labels, minlength=terms)
    per_term[:BITS] = 0
    index = Index(
        starts=starts,
        labels=own_labels,
        counts=matrix.counts[entries],
        weights=np.append(weights[entries], np.int32(0)),
        first=texts.astype(np.int32),
        masks=np.zeros((bags, WORDS), np.uint64),
        lows=lows,
        earliest=np.minimum.reduceat(texts, lows[:-1]).astype(np.int64) if bags else np.empty(0, np.int64),
        peaks=np.zeros((lows.size - 1, BITS), np.int32),
        holders=np.zeros((lows.size - 1, BITS, -(-int(np.diff(lows).max(initial=0)) // 64)), np.uint64),
        lists=np.concatenate(([0], np.cumsum(per_term))).astype(np.int64),
        rare=np.empty(entries.size - frequent, np.int32),
        values=np.empty(entries.size - frequent, np.int32),
        tops=np.zeros(terms, np.int32),
        floors=np.zeros(terms, np.int64),
    )
    mark(index.starts, index.labels, index.masks)
    mark_holders(index)
    list_rare(index, index.lists.copy())
    _bounds(index, k)
    return index


def _blocks(bags: int) -> NDArray[np.int64]:
    """Bounds of the blocks: small ones first, which give limits at little cost."""
    sizes, left = [FIRST], bags - FIRST
    while left > 0:
        sizes.append(min(2 * sizes[-1], BLOCK))
        left -= sizes[-1]
    return np.minimum(np.concatenate(([0], np.cumsum(sizes))), bags).astype(np.int64)[: len(sizes) + 1 if bags else 1]


def _rows(
    matrix: TermMatrix, labels: NDArray[np.int64], texts: NDArray[np.int64], terms: int
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The entries of some texts, sorted by label within each, and the number of entries of each."""
    sizes = matrix.starts[texts + 1] - matrix.starts[texts]
    entries = range_rows(matrix.starts[texts], sizes)
    owner, label = np.repeat(np.arange(texts.size), sizes), labels[matrix.terms[entries]]
    labelled = np.flatnonzero(label >= 0)
    by_label = np.argsort(owner[labelled] * max(terms, 1) + label[labelled])
    return entries[labelled[by_label]], np.bincount(owner[labelled], minlength=texts.size)


def _bounds(index: Index, k: int) -> None:
    """Fill `tops` and `floors`."""
    if index.values.size:
        index.tops[BITS:] = np.maximum.reduceat(index.values, index.lists[BITS:-1])
    if index.weights.min(initial=0) < 0:
        # A result may lose what it has by another term.
        index.floors[:] = -(2**50)
        return
    frequent = np.flatnonzero(index.labels < BITS)
    order = frequent[np.argsort(index.labels[frequent].astype(np.uint8), kind="stable")]
    ends = np.cumsum(np.bincount(index.labels[frequent], minlength=BITS))
    for term in range(min(BITS, index.floors.size)):
        index.floors[term] = _largest(index.weights[order[ends[term - 1] if term else 0 : ends[term]]], k)
    for term in np.flatnonzero(np.diff(index.lists) > k).tolist():
        index.floors[term] = _largest(index.values[index.lists[term] : index.lists[term + 1]], k)


def _largest(values: NDArray[np.int32], k: int) -> int:
    """The largest weight after the first k, 0 where there are no more: one of the k + 1 may be the query itself."""
    return int(np.partition(values, values.size - k - 1)[values.size - k - 1]) if values.size > k else 0


def _chunks(numbers: NDArray[np.int64]) -> Iterator[NDArray[np.int64]]:
    for start in range(0, numbers.size, CHUNK):
        yield numbers[start : start + CHUNK]


@compiled
def mark(starts: NDArray[np.int64], labels: NDArray[np.int32], masks: NDArray[np.uint64]) -> None:
    """Fill `Index.masks`."""
    for bag in range(starts.size - 1):
        for entry in range(starts[bag], starts[bag + 1]):
            label = labels[entry]
            if label >= 64 * masks.shape[1]:
                break
            masks[bag, label >> 6] |= ONE << np.uint64(label & 63)


@compiled
def mark_holders(index: Index) -> None:
    """Fill `Index.holders` and `peaks`; all are zeros before."""
    for block in range(index.lows.size - 1):
        low = index.lows[block]
        for bag in range(low, index.lows[block + 1]):
            bit = ONE << np.uint64((bag - low) & 63)
            for entry in range(index.starts[bag], index.starts[bag + 1]):
                label = index.labels[entry]
                if label >= index.peaks.shape[1]:
                    break
                index.peaks[block, label] = max(index.peaks[block, label], index.weights[entry])
                index.holders[block, label, (bag - low) >> 6] |= bit


@compiled
def list_rare(index: Index, at: NDArray[np.int64]) -> None:
    """Fill `Index.rare` and `values`. `at` is a copy of `lists`."""
    for block in range(index.lows.size - 1):
        for bag in range(index.lows[block], index.lows[block + 1]):
            for entry in range(index.starts[bag], index.starts[bag + 1]):
                label = index.labels[entry]
                if label >= index.peaks.shape[1]:
                    index.rare[at[label]] = (block << 16) + bag - index.lows[block]
                    index.values[at[label]] = index.weights[entry]
                    at[label] += 1
