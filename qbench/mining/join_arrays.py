"""What the loops of the self-join read and write: all bags, laid out by blocks, and working memory.

What bags, blocks and rows are is in the head of `qbench.mining.join_search`. Import it inside functions only, as that.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from qbench.mining.join_sums import LANES
from qbench.ranges import range_rows

if TYPE_CHECKING:
    from numpy.typing import NDArray

NOTHING = -(2**62)
"""Less than any score."""
WAITING = 256
"""Results of a bag that are kept before they are put on its heap."""


class Index(NamedTuple):
    """All bags, M of them with T terms, as `qbench.mining.join_layout` lays them out.

    Attributes:
        starts: shape (M + 1,), int64: the row of bag i is starts[i] to starts[i + 1] of the next three.
        labels: int32, ascending within a row. Terms that only one bag holds are left out.
        counts: int32, occurrences of the term in the bag.
        weights: int32, contribution of the term to the bag's score per occurrence in the query.
        first: shape (M,), int32: position of the first text with this bag.
        lows: shape (B + 1,), int64: the bags of block b are lows[b] to lows[b + 1].
        sampled: shape (1,), int64: how many blocks have the sample.
        earliest: shape (B,), int64: the smallest `first` of a block.
        tiers: shape (4,), int64, descending: labels below the first are frequent. They have a row of bits each for the
            bags that hold the term; those below the second one for the bags that hold it twice, too, and so on.
        peaks: shape (B, rows), int32: the most that a row adds to a weight in a block, 0 at least; -1 without any bag.
        holders: shape (B, rows, words), uint64: the bags of a block in a row, a bit each.
        uneven: shape (B, words), uint64: the bags with a weight that is not the sum of the peaks of its term's rows.
        lists: shape (T + 1,), int64: where the postings of a rare term lie in the next two (frequent ones have none).
        rare: uint32, bags, ascending: the block, shifted left by 16, plus the number counted from the block's first.
        values: int32, their weights.
        tops: shape (T,), int32: the largest weight of a rare term.
        floors: shape (T,), int64: at least k other bags have this weight or more, and nothing is ever subtracted; -1
            where that is not so.
    """

    starts: NDArray[np.int64]
    labels: NDArray[np.int32]
    counts: NDArray[np.int32]
    weights: NDArray[np.int32]
    first: NDArray[np.int32]
    lows: NDArray[np.int64]
    sampled: NDArray[np.int64]
    earliest: NDArray[np.int64]
    tiers: NDArray[np.int64]
    peaks: NDArray[np.int32]
    holders: NDArray[np.uint64]
    uneven: NDArray[np.uint64]
    lists: NDArray[np.int64]
    rare: NDArray[np.uint32]
    values: NDArray[np.int32]
    tops: NDArray[np.int32]
    floors: NDArray[np.int64]


class Scratch(NamedTuple):
    """Working memory of one search with Q bags.

    Attributes:
        limits: shape (Q,): score that a result must reach.
        behind: shape (Q,): position that a result with this very score must precede.
        guesses: shape (Q,): limits that are guesses; `NOTHING` for others.
        most: shape (Q,): most that the rare terms can add.
        positions: shape (Q, k): `Index.first` of the results.
        waiting: shape (Q, WAITING, 2): results that are not on the heap yet: score; bag and number of terms in one.
        sizes: shape (Q,): how many there are.
        bounds: shape (B + 1,): where the postings of a block lie in the next two.
        places: of the queries' rare terms, block by block, in the order of queries within each: the bag's number in its
            block, and what it adds to the score, shifted left by 16.
        owners: int16, the queries that they belong to.
        ends: shape (B + 1,): where postings are added.
        rows: which rows of bits a query has in the block.
        peak: the most that each of them adds.
        worths: the same in units of what is needed, rounded up.
        sums: shape (bags in a block,), uint8: 0 between calls.
        wide_worths, wide_sums: the same of 16 bits.
        marked: uint64, one bit for each bag of a block.
        asked: shape (frequent terms,), int32: how often the query has each; 0 between calls.
        held, numbers: shape (bags in a block,): score and number of rare terms of marked bags, 0 between calls.
    """

    limits: NDArray[np.int64]
    behind: NDArray[np.int64]
    guesses: NDArray[np.int64]
    most: NDArray[np.int64]
    positions: NDArray[np.int32]
    waiting: NDArray[np.int64]
    sizes: NDArray[np.int64]
    bounds: NDArray[np.int64]
    places: NDArray[np.int64]
    owners: NDArray[np.int16]
    ends: NDArray[np.int64]
    rows: NDArray[np.int64]
    peak: NDArray[np.int64]
    worths: NDArray[np.uint8]
    sums: NDArray[np.uint8]
    wide_worths: NDArray[np.uint16]
    wide_sums: NDArray[np.uint16]
    marked: NDArray[np.uint64]
    asked: NDArray[np.int32]
    held: NDArray[np.int64]
    numbers: NDArray[np.int64]


def rare_postings(index: Index, rows: NDArray[np.int32]) -> NDArray[np.int64]:
    """The number of postings of each bag's rare terms, shape (Q,)."""
    sizes = index.starts[rows + 1] - index.starts[rows]
    labels = index.labels[range_rows(index.starts[rows], sizes)]
    sums = np.append(0, np.cumsum(index.lists[labels + 1] - index.lists[labels]))
    ends = np.cumsum(sizes)
    counts: NDArray[np.int64] = sums[ends] - sums[ends - sizes]
    return counts


def scratch_for(index: Index, rows: NDArray[np.int32], k: int) -> Scratch:
    """Working memory for a search with the bags `rows` and k results each."""
    count, words, blocks = rows.size, index.holders.shape[2], index.lows.size - 1
    postings = int(rare_postings(index, rows).sum())
    return Scratch(
        limits=np.full(count, NOTHING),
        behind=np.full(count, -1),
        guesses=np.full(count, NOTHING),
        most=np.zeros(count, np.int64),
        positions=np.empty((count, k), np.int32),
        waiting=np.empty((count, WAITING, 2), np.int64),
        sizes=np.zeros(count, np.int64),
        bounds=np.zeros(blocks + 1, np.int64),
        places=np.empty(postings, np.int64),
        owners=np.empty(postings, np.int16),
        ends=np.zeros(blocks + 1, np.int64),
        rows=np.empty(index.peaks.shape[1], np.int64),
        peak=np.empty(index.peaks.shape[1], np.int64),
        worths=np.empty(index.peaks.shape[1], np.uint8),
        sums=np.zeros(words * LANES, np.uint8),
        wide_worths=np.empty(index.peaks.shape[1], np.uint16),
        wide_sums=np.zeros(words * LANES, np.uint16),
        marked=np.empty(words, np.uint64),
        asked=np.zeros(int(index.tiers[0]), np.int32),
        held=np.zeros(words * LANES, np.int64),
        numbers=np.zeros(words * LANES, np.int64),
    )
