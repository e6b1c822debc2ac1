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
from qbench.mining.join_arrays import Index
from qbench.mining.join_results import SHARED
from qbench.mining.join_search import ONE
from qbench.mining.join_sums import GROUP, LANES
from qbench.mining.terms import TermMatrix
from qbench.ranges import range_rows
from qbench.scoring import bm25

TIERS = (512, 128, 8, 2)
"""How many of the most frequent terms have a row of bits for the bags that hold them; that hold them twice or more; 3
times or more; 4 times or more."""
BLOCK = 2**12
"""Most bags of a block: their sums and its rows fit a core's second-level cache."""
PIECE, SAMPLE_PIECE = 2**9, 2**8
"""Number of bags after which a block, or one of the sample, ends where the length of bags changes."""
EVERY = 16
"""One bag of so many is in the sample."""
FEWEST = 2**13
"""Number of bags from which on there is a sample."""
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
    """

    index: Index
    bags: Bags
    unit: float


def build(matrix: TermMatrix, *, k: int, k1: float, b: float, epsilon: float, drop_terms: int) -> Searchable:
    """Lay out a term matrix for the search; the parameters are those of `JoinOptions`."""
    labels = np.empty(matrix.df.size, np.int64)
    labels[np.argsort(-matrix.df, kind="stable")] = np.arange(matrix.df.size)
    dropped = labels < drop_terms
    idf = bm25.idf(matrix.df, len(matrix), epsilon)
    exponent = _exponent(float(np.abs(idf).max(initial=0)) * (k1 + 1), int(matrix.lengths.max(initial=0)))
    idf = idf * ~dropped * 2.0**exponent
    weights = _weights(matrix, idf, k1, b)

    group, first = group_equal(matrix)
    sizes = np.diff(matrix.starts)[first]
    held = np.bincount(matrix.terms[range_rows(matrix.starts[first], sizes)], minlength=labels.size)
    # A term that only one bag holds adds to nobody's score but that bag's own.
    labels = np.where(dropped | (held < 2), -1, labels)
    useful = np.flatnonzero(labels >= 0)
    labels[useful[np.argsort(labels[useful])]] = np.arange(useful.size)

    order, sampled = _sample_first(_order(matrix, labels, first))
    bags = _bags(matrix, weights, dropped, group, first, order)
    index = _index(matrix, weights, labels, first[order], sampled, useful.size, k)
    # The weights that terms would have if they were in the bag once, twice, and so on.
    lengths, length_of = np.unique(matrix.lengths[first[order]], return_inverse=True)
    times = np.arange(1, len(TIERS))[:, None]
    worths = bm25.saturation(times, lengths, bm25.mean_length(matrix.lengths), k1=k1, b=b)
    by_label = np.zeros(useful.size)
    by_label[labels[labels >= 0]] = idf[labels >= 0]
    mark_rows(index, worths, length_of, by_label)
    mark_uneven(index)
    return Searchable(index, bags, 2.0**-exponent)


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


def _exponent(weight: float, length: int) -> int:
    """The largest power of two that keeps weights within int32, and sums within 46 bits (`Scratch.places`)."""
    if not weight or not length:
        return 0
    return min(30, 46 - length.bit_length()) - math.frexp(weight)[1]


def _weights(matrix: TermMatrix, idf: NDArray[np.float64], k1: float, b: float) -> NDArray[np.int32]:
    """The weight of each entry of the matrix, rounded to whole units."""
    weights = np.empty(matrix.terms.size, np.int32)
    mean = bm25.mean_length(matrix.lengths)
    for texts in _chunks(np.arange(len(matrix))):
        low, high = texts[0], texts[-1] + 1
        entries = slice(matrix.starts[low], matrix.starts[high])
        lengths = np.repeat(matrix.lengths[low:high], np.diff(matrix.starts[low : high + 1]))
        worth = bm25.saturation(matrix.counts[entries].astype(np.int64), lengths, mean, k1=k1, b=b)
        weights[entries] = np.rint(worth * idf[matrix.terms[entries]])
    return weights


def _order(matrix: TermMatrix, labels: NDArray[np.int64], first: NDArray[np.int64]) -> NDArray[np.int64]:
    """The groups in an order that makes blocks alike, so that a block's peaks say much about each of its bags.

    A weight depends on the text's length and on how often the term is in it: of each length, texts without repeated
    terms come first, then those that repeat only the most frequent ones, and so on. Of each kind, texts lie together
    whose least frequent one of the frequent terms is the same: many blocks are without a term then.
    """
    repeated, least = np.zeros(first.size, np.int64), np.full(first.size, -1)
    sizes = np.diff(matrix.starts)[first]
    for groups in _chunks(np.arange(first.size)):
        entries, owner = range_rows(matrix.starts[first[groups]], sizes[groups]), np.repeat(groups, sizes[groups])
        label = labels[matrix.terms[entries]]
        term = np.where(matrix.counts[entries] > 1, label + 1, 0)
        np.maximum.at(repeated, owner, np.log2(term + 1).astype(np.int64))
        np.maximum.at(least, owner, np.where(label < TIERS[0], label, -1))
    return np.lexsort((first, least, repeated, matrix.lengths[first]))


def _sample_first(order: NDArray[np.int64]) -> tuple[NDArray[np.int64], int]:
    """Bring one group of `EVERY` to the front, if there are many; returns the order and the number of those."""
    sample = np.zeros(order.size, np.bool_)
    if order.size >= FEWEST:
        sample[EVERY // 2 :: EVERY] = True
    return np.concatenate((order[sample], order[~sample])), int(sample.sum())


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
    sampled: int,
    terms: int,
    k: int,
) -> Index:
    """The kernel's index of the bags whose first texts are `texts`, of which the first `sampled` are the sample.

    Its rows of bits are empty.
    """
    rows = [_rows(matrix, labels, chunk, terms) for chunk in _chunks(texts)]
    entries = np.concatenate([row[0] for row in rows]) if rows else np.empty(0, np.int64)
    starts = np.concatenate([np.zeros(1, np.int64), *(row[1] for row in rows)]).cumsum()
    del rows
    own_labels = labels[matrix.terms[entries]].astype(np.int32)
    bags = texts.size
    sample, lows = _blocks(matrix.lengths[texts], sampled)
    frequent = int((own_labels < TIERS[0]).sum())
    per_term = np.bincount(own_labels, minlength=terms)
    per_term[: TIERS[0]] = 0
    words = -(-int(np.diff(lows).max(initial=0)) // GROUP) * GROUP // LANES
    index = Index(
        starts=starts,
        labels=own_labels,
        counts=matrix.counts[entries],
        weights=weights[entries],
        first=texts.astype(np.int32),
        lows=lows,
        sampled=np.array([sample]),
        earliest=np.minimum.reduceat(texts, lows[:-1]).astype(np.int64) if bags else np.empty(0, np.int64),
        tiers=np.array(TIERS),
        peaks=np.full((lows.size - 1, sum(TIERS)), -1, np.int32),
        holders=np.zeros((lows.size - 1, sum(TIERS), words), np.uint64),
        uneven=np.zeros((lows.size - 1, words), np.uint64),
        lists=np.concatenate(([0], np.cumsum(per_term))).astype(np.int64),
        rare=np.empty(entries.size - frequent, np.uint32),
        values=np.empty(entries.size - frequent, np.int32),
        tops=np.zeros(terms, np.int32),
        floors=np.zeros(terms, np.int64),
    )
    list_rare(index, index.lists.copy())
    _bounds(index, k)
    return index


def _blocks(lengths: NDArray[np.int64], sampled: int) -> tuple[int, NDArray[np.int64]]:
    """Bounds of the blocks of bags with these lengths, and how many blocks the first `sampled` bags make."""
    lows, counts = [0], []
    # So few blocks that their numbers fit `Index.rare`, in 16 bits.
    piece = PIECE if lengths.size < PIECE << 15 else BLOCK
    for end, enough in ((sampled, SAMPLE_PIECE), (lengths.size, piece)):
        while lows[-1] < end:
            low, high = lows[-1], min(lows[-1] + BLOCK, end)
            changes = low + 1 + np.flatnonzero(np.diff(lengths[low : high + 1 if high < end else high]))
            changes = changes[changes >= low + enough]
            lows.append(int(changes[0]) if changes.size else high)
        counts.append(len(lows) - 1)
    return counts[0], np.array(lows, np.int64)


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
        index.tops[TIERS[0] :] = np.maximum.reduceat(index.values, index.lists[TIERS[0] : -1])
    if index.weights.min(initial=0) < 0:
        # A result may lose what it has by another term.
        index.floors[:] = -1
        return
    frequent = np.flatnonzero(index.labels < TIERS[0])
    order = frequent[np.argsort(index.labels[frequent].astype(np.uint16), kind="stable")]
    ends = np.cumsum(np.bincount(index.labels[frequent], minlength=TIERS[0]))
    for term in range(min(TIERS[0], index.floors.size)):
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
def mark_rows(
    index: Index, worths: NDArray[np.float64], length_of: NDArray[np.int64], idf: NDArray[np.float64]
) -> None:
    """Fill `Index.holders` and `peaks`.

    A weight is split: what the term would add if it were in the bag once is the part of the first row, what it adds
    more if it is there twice that of the second one, and so on; the last row has what is left.

    Args:
        index: without rows.
        worths: shape (tiers - 1, U), before idf: of terms that are there once, twice, and so on, by the bag's length.
        length_of: shape (M,), which of U lengths a bag has.
        idf: shape (T,), in units of weights.
    """
    tiers = index.tiers
    for block in range(index.lows.size - 1):
        low = index.lows[block]
        for bag in range(low, index.lows[block + 1]):
            bit = ONE << np.uint64((bag - low) % LANES)
            for entry in range(index.starts[bag], index.starts[bag + 1]):
                label, weight = np.int64(index.labels[entry]), np.int64(index.weights[entry])
                if label >= tiers[0]:
                    break
                row = label
                for tier in range(tiers.size):
                    last = tier + 1 == tiers.size or index.counts[entry] <= tier + 1 or label >= tiers[tier + 1]
                    part = weight if last else np.int64(np.rint(worths[tier, length_of[bag]] * idf[label]))
                    # What came before is taken away from the next part.
                    before = np.int64(np.rint(worths[tier - 1, length_of[bag]] * idf[label])) if tier else np.int64(0)
                    index.peaks[block, row] = max(np.int64(index.peaks[block, row]), part - before, np.int64(0))
                    index.holders[block, row, (bag - low) // LANES] |= bit
                    if last:
                        break
                    row += tiers[tier]


@compiled
def mark_uneven(index: Index) -> None:
    """Fill `Index.uneven`."""
    for block in range(index.lows.size - 1):
        low = index.lows[block]
        for bag in range(low, index.lows[block + 1]):
            word, bit = (bag - low) // LANES, ONE << np.uint64((bag - low) % LANES)
            for entry in range(index.starts[bag], index.starts[bag + 1]):
                row = np.int64(index.labels[entry])
                if row >= index.tiers[0]:
                    break
                left = np.int64(index.weights[entry])
                for tier in range(index.tiers.size):
                    if index.labels[entry] >= index.tiers[tier] or index.counts[entry] <= tier:
                        break
                    left -= index.peaks[block, row]
                    row += index.tiers[tier]
                if left:
                    index.uneven[block, word] |= bit
                    break


@compiled
def list_rare(index: Index, at: NDArray[np.int64]) -> None:
    """Fill `Index.rare` and `values`. `at` is a copy of `lists`."""
    for block in range(index.lows.size - 1):
        for bag in range(index.lows[block], index.lows[block + 1]):
            for entry in range(index.starts[bag], index.starts[bag + 1]):
                label = index.labels[entry]
                if label >= index.tiers[0]:
                    index.rare[at[label]] = (block << 16) + bag - index.lows[block]
                    index.values[at[label]] = index.weights[entry]
                    at[label] += 1
