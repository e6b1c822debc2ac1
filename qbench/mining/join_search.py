"""The loops of the self-join, compiled by numba. Import it inside functions only: numba takes half a second to load.

A bag is a text without the order of its words; equal texts are one bag. Terms have labels, 0 the most frequent. The
first `BITS` are *frequent*: bit masks say which of them a bag holds. All others are *rare*: their lists are walked.

A score is a whole number (fixed point), so that its sum is the same in any order, and whatever is skipped on the way.
A bag is skipped only where an upper bound of its score is below the worst of the k best results so far, or equal to
it with a later position: that makes every skip exact. The idea is MaxScore (Turtle and Flood, 1995), block by block.
Bags with a rare term of the query come first: they raise the limit nearly to where it ends, and are few. A bag
without rare terms is found by bits: those of a block that hold a set of terms which can reach the limit together
are an intersection, few sets can, and most intersections are empty before they are complete.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from qbench.compiling import lean as compiled
from qbench.compiling import merged as inlined
from qbench.mining.join_results import SHARED, Best, Heap, order, push, worse
from qbench.ranges import range_rows

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Whole = int | np.signedinteger[Any]


WORDS = 4
BITS = 64 * WORDS
ONE = np.uint64(1)
SETS = 10
"""Frequent terms of a query, the least frequent of them, of which sets are tried: at most 252."""
LIGHT = 16
"""The most frequent terms are taken to be held as long as each adds at most this part of what is still needed."""


class Index(NamedTuple):
    """All bags, M of them with T terms, as `qbench.mining.join_layout` lays them out.

    Attributes:
        starts: shape (M + 1,), int64: the row of bag i is starts[i] to starts[i + 1] of the next three.
        labels: int32, ascending within a row. Terms that only one bag holds are left out.
        counts: int32, occurrences of the term in the bag.
        weights: int32, contribution of the term to the bag's score per occurrence in the query.
        first: shape (M,), int32: position of the first text with this bag.
        masks: shape (M, WORDS), uint64: which frequent terms the bag holds.
        lows: shape (B + 1,), int64: the bags of block b are lows[b] to lows[b + 1].
        earliest: shape (B,), int64: the smallest `first` of a block.
        peaks: shape (B, BITS), int32: the largest weight of a frequent term in a block.
        holders: shape (B, BITS, words), uint64: which bags of a block hold a frequent term, a bit each.
        lists: shape (T + 1,), int64: where the postings of a rare term lie in the next two (frequent ones have none).
        rare: int32, bags, ascending: the block, shifted left by 16, plus the number counted from the block's first.
        values: int32, their weights.
        tops: shape (T,), int32: the largest weight of a rare term.
        floors: shape (T,), int64: at least k other bags have this weight or more, and nothing is ever subtracted.
    """

    starts: NDArray[np.int64]
    labels: NDArray[np.int32]
    counts: NDArray[np.int32]
    weights: NDArray[np.int32]
    first: NDArray[np.int32]
    masks: NDArray[np.uint64]
    lows: NDArray[np.int64]
    earliest: NDArray[np.int64]
    peaks: NDArray[np.int32]
    holders: NDArray[np.uint64]
    lists: NDArray[np.int64]
    rare: NDArray[np.int32]
    values: NDArray[np.int32]
    tops: NDArray[np.int32]
    floors: NDArray[np.int64]


class Scratch(NamedTuple):
    """Working memory of one search.

    Attributes:
        sums: shape (bags in a block,), int64: score so far, shifted left, plus the number of terms so far.
        touched: the bags in the block whose sum is not 0.
        limits: shape (Q,): score that a result must reach.
        behind: shape (Q,): position that a result with this very score must precede.
        positions: shape (Q, k): `Index.first` of the results.
        most: shape (Q,): most that the rare terms can add.
        places: the postings of the queries' rare terms as `Index.rare` has them, query by query, by block within each.
        worths: of the same shape: what each adds to a sum.
        cursors, ends: shape (Q,): where the next posting of a query is, and where they end.
        counts: shape (B,): postings by block, of one query.
        union: uint64, one bit for each bag of a block.
        both: shape (SETS + 1, words of it): intersections of the terms on the path, by its length; all bits for none.
        path: shape (SETS,): the terms taken.
        rest: shape (SETS + 1,): most that the first of the terms that can be taken add together, by their number.
        peak: shape (BITS,): most that each frequent term of the query can add in this block.
    """

    sums: NDArray[np.int64]
    touched: NDArray[np.int32]
    limits: NDArray[np.int64]
    behind: NDArray[np.int64]
    positions: NDArray[np.int32]
    most: NDArray[np.int64]
    places: NDArray[np.int32]
    worths: NDArray[np.int64]
    cursors: NDArray[np.int64]
    ends: NDArray[np.int64]
    counts: NDArray[np.int64]
    union: NDArray[np.uint64]
    both: NDArray[np.uint64]
    path: NDArray[np.int64]
    rest: NDArray[np.int64]
    peak: NDArray[np.int64]


@inlined
def ones(word: np.uint64) -> Whole:
    """The number of bits set (LLVM makes one instruction of it)."""
    word = word - ((word >> ONE) & np.uint64(0x5555555555555555))
    word = (word & np.uint64(0x3333333333333333)) + ((word >> np.uint64(2)) & np.uint64(0x3333333333333333))
    word = (word + (word >> np.uint64(4))) & np.uint64(0x0F0F0F0F0F0F0F0F)
    return np.int64((word * np.uint64(0x0101010101010101)) >> np.uint64(56))


@inlined
def offer(
    index: Index,
    scratch: Scratch,
    best: Best,
    query: Whole,
    me: Whole,
    bag: Whole,
    score: Whole,
    number: Whole,
) -> None:
    """Add what the bag's frequent terms add, and take the bag into the heap if it is among the best k.

    Args:
        index, scratch, best, query: as elsewhere.
        me, bag: the bag that asks, and the other one.
        score, number: of the rare terms.
    """
    # Rows are sorted by label, so that the bits below a term's count the entries before it.
    theirs, mine = index.starts[bag], index.starts[me]
    for word in range(WORDS):
        asked, has = index.masks[me, word], index.masks[bag, word]
        both = asked & has
        while both:
            left = both & (both - ONE)
            below = (both ^ left) - ONE
            both = left
            score += np.int64(index.weights[theirs + ones(has & below)]) * index.counts[mine + ones(asked & below)]
            number += 1
        theirs += ones(has)
        mine += ones(asked)
    if not worse(score, index.first[bag], scratch.limits[query], scratch.behind[query]):
        heap = Heap(best.scores[query], scratch.positions[query], best.bags[query], best.shared[query])
        best.sizes[query] = push(heap, best.sizes[query], score, index.first[bag], bag, min(number, SHARED))
        if best.sizes[query] == heap.bags.size:
            scratch.limits[query], scratch.behind[query] = heap.scores[0], heap.positions[0]


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
    widest = int(np.diff(index.lows).max(initial=0))
    postings = int(rare_postings(index, rows).sum())
    return Scratch(
        sums=np.zeros(widest, np.int64),
        touched=np.empty(widest + 1, np.int32),
        limits=np.full(rows.size, -(2**62)),
        behind=np.full(rows.size, -1),
        positions=np.empty((rows.size, k), np.int32),
        most=np.zeros(rows.size, np.int64),
        places=np.empty(postings, np.int32),
        worths=np.empty(postings, np.int64),
        cursors=np.empty(rows.size, np.int64),
        ends=np.empty(rows.size, np.int64),
        counts=np.empty(index.lows.size - 1, np.int64),
        union=np.zeros(index.holders.shape[2], np.uint64),
        both=np.full((SETS + 1, index.holders.shape[2]), ~np.uint64(0)),
        path=np.zeros(SETS, np.int64),
        rest=np.zeros(SETS + 1, np.int64),
        peak=np.zeros(BITS, np.int64),
    )


@compiled
def search(index: Index, rows: NDArray[np.int32], shift: Whole, scratch: Scratch, best: Best) -> None:
    """The best k bags, themselves left out, of the bags `rows`.

    Args:
        index: all bags.
        rows: shape (Q,), int32, the queries.
        shift: how many bits hold the number of shared terms in a sum.
        scratch: of `scratch_for`.
        best: empty; filled here, best first.
    """
    end: Whole = 0
    for query in range(rows.size):
        scratch.cursors[query] = end
        end = bring(index, scratch, rows[query], query, end, shift)
        scratch.ends[query] = end
    many = scratch.places.size >= index.first.size
    for block in range(index.lows.size - 1):
        if many:
            read_ahead(index, scratch, block)
        for query in range(rows.size):
            meet_rare(index, scratch, best, rows[query], query, block, shift)
    for query in range(rows.size):
        scratch.cursors[query] = scratch.ends[query - 1] if query else 0
    for block in range(index.lows.size - 1):
        for query in range(rows.size):
            meet_frequent(index, scratch, best, rows[query], query, block)
    for query in range(rows.size):
        heap = Heap(best.scores[query], scratch.positions[query], best.bags[query], best.shared[query])
        order(heap, best.sizes[query])


@inlined
def read_ahead(index: Index, scratch: Scratch, block: Whole) -> None:
    """Bring masks, starts and weights of a block's bags into the cache for `meet_rare`, in the order of memory.

    Queries that together have a posting for each bag, or more, meet most of them, in no order: each would wait for
    memory on its own.
    """
    low, high = index.lows[block], index.lows[block + 1]
    seen, line = np.uint64(0), 16  # numbers of four bytes in a line of the cache
    for bag in range(low, high):
        seen |= index.masks[bag, 0] | np.uint64(index.starts[bag])
    for entry in range(index.starts[low], index.starts[high], line):
        seen |= np.uint64(index.weights[entry])
    scratch.union[0] = seen  # the compiler leaves out reads whose result is not used


@inlined
def bring(index: Index, scratch: Scratch, me: Whole, query: Whole, start: Whole, shift: Whole) -> Whole:
    """Bring the postings of a query's rare terms into the order of blocks, from `start` on; returns their end.

    Lists are read from one end to the other here, once: later each block finds its part in one place.
    """
    scratch.counts[:] = 0
    for entry in range(index.starts[me], index.starts[me + 1]):
        label, times = index.labels[entry], np.int64(index.counts[entry])
        # k other bags have the floor, so that the k-th best has it too.
        scratch.limits[query] = max(scratch.limits[query], index.floors[label] * times - 1)
        if label >= BITS:
            scratch.most[query] += max(np.int64(0), np.int64(index.tops[label]) * times)
            for posting in range(index.lists[label], index.lists[label + 1]):
                scratch.counts[index.rare[posting] >> np.int32(16)] += 1
    end: Whole = start
    for block in range(scratch.counts.size):
        end += scratch.counts[block]
        scratch.counts[block] = end - scratch.counts[block]
    for entry in range(index.starts[me], index.starts[me + 1]):
        label, times = index.labels[entry], np.int64(index.counts[entry])
        if label >= BITS:
            for posting in range(index.lists[label], index.lists[label + 1]):
                place = index.rare[posting]
                at = scratch.counts[place >> np.int32(16)]
                scratch.places[at] = place
                scratch.worths[at] = ((index.values[posting] * times) << shift) + 1
                scratch.counts[place >> np.int32(16)] = at + 1
    return end


@inlined
def peaks_of(index: Index, scratch: Scratch, me: Whole, block: Whole) -> Whole:
    """Write down the most that each of a query's frequent terms can add in a block; returns their sum."""
    begin, end = index.starts[me], index.starts[me + 1]
    entry, common = begin, np.int64(0)
    while entry < end and index.labels[entry] < BITS:
        peak = max(np.int64(0), np.int64(index.peaks[block, index.labels[entry]]) * index.counts[entry])
        scratch.peak[entry - begin] = peak
        common += peak
        entry += 1
    return common


@inlined
def meet_rare(index: Index, scratch: Scratch, best: Best, me: Whole, query: Whole, block: Whole, shift: Whole) -> None:
    """One query against the bags of one block that hold a rare term of it."""
    common = peaks_of(index, scratch, me, block)
    if worse(common + scratch.most[query], index.earliest[block], scratch.limits[query], scratch.behind[query]):
        return
    low = index.lows[block]
    for slot in range(gather(scratch, query, block)):
        local = scratch.touched[slot]
        held, bag = scratch.sums[local], low + local
        scratch.sums[local] = 0
        if bag != me and within(index, scratch, query, me, bag, held >> shift):
            offer(index, scratch, best, query, me, bag, held >> shift, held & ((1 << shift) - 1))


@inlined
def meet_frequent(index: Index, scratch: Scratch, best: Best, me: Whole, query: Whole, block: Whole) -> None:
    """One query against the bags of one block that hold none of its rare terms."""
    common, earliest = peaks_of(index, scratch, me, block), index.earliest[block]
    if worse(common, earliest, scratch.limits[query], scratch.behind[query]):
        return
    low, need = index.lows[block], scratch.limits[query] + (earliest > scratch.behind[query])
    words = unite(index, scratch, block, me, need)
    if not words:
        return
    leave_out(scratch, query, block)
    for word in range(words):
        found = scratch.union[word]
        while found:
            left = found & (found - ONE)
            bag = low + 64 * word + ones((found ^ left) - ONE)
            found = left
            if bag != me:
                offer(index, scratch, best, query, me, bag, np.int64(0), np.int64(0))


@inlined
def gather(scratch: Scratch, query: Whole, block: Whole) -> Whole:
    """Add up the rare terms of the block's bags; returns the number of bags with any."""
    at, end, size = up_to(scratch, query, block), scratch.ends[query], 0
    while at < end and scratch.places[at] >> np.int32(16) == block:
        local = scratch.places[at] & np.int32(0xFFFF)
        before = scratch.sums[local]
        scratch.touched[size] = local
        size += before == 0
        scratch.sums[local] = before + scratch.worths[at]
        at += 1
    scratch.cursors[query] = at
    return size


@inlined
def leave_out(scratch: Scratch, query: Whole, block: Whole) -> None:
    """Take the bags with rare terms out of `union`."""
    at, end = up_to(scratch, query, block), scratch.ends[query]
    while at < end and scratch.places[at] >> np.int32(16) == block:
        local = np.int64(scratch.places[at] & np.int32(0xFFFF))
        scratch.union[local >> 6] &= ~(ONE << np.uint64(local & 63))
        at += 1
    scratch.cursors[query] = at


@inlined
def up_to(scratch: Scratch, query: Whole, block: Whole) -> Whole:
    """The first posting of a block or of one behind it; blocks that were skipped have left the cursor behind."""
    at: Whole = scratch.cursors[query]
    while at < scratch.ends[query] and scratch.places[at] >> np.int32(16) < block:
        at += 1
    return at


@inlined
def within(index: Index, scratch: Scratch, query: Whole, me: Whole, bag: Whole, score: Whole) -> bool:
    """Whether a bag may be among the best: its score from rare terms, and the most from the frequent ones it holds."""
    place: Whole = 0
    for word in range(WORDS):
        asked = index.masks[me, word]
        both = asked & index.masks[bag, word]
        while both:
            left = both & (both - ONE)
            score += scratch.peak[place + ones(asked & ((both ^ left) - ONE))]
            both = left
        place += ones(asked)
    return bool(score >= scratch.limits[query])


@inlined
def unite(index: Index, scratch: Scratch, block: Whole, me: Whole, need: Whole) -> Whole:
    """Mark in `union` the block's bags whose frequent terms can add up to `need`; returns its words.

    Without any bag it returns 0, and `union` holds anything.

    Every smallest set of the query's terms that reaches it is an intersection of rows of bits, and these are united.
    A set is built term by term, the least frequent first, and given up where the more frequent ones that follow
    would not do. The most frequent terms are taken to be held if they add little, and those before the last `SETS`.
    """
    words: Whole = (index.lows[block + 1] - index.lows[block] + 63) >> 6
    begin, bottom, any_bag = index.starts[me], 0, False
    count: Whole = 0
    for word in range(WORDS):
        count += ones(index.masks[me, word])
    while bottom < count and (bottom < count - SETS or scratch.peak[bottom] * LIGHT <= need):
        need -= scratch.peak[bottom]
        bottom += 1
    if need <= 0:
        for entry in range(begin, begin + count):
            row = index.holders[block, index.labels[entry]]
            any_bag |= unite_both(scratch.union, scratch.both[0], row, words, any_bag)
        return words if any_bag else 0
    for place in range(bottom, count):
        scratch.rest[place - bottom + 1] = scratch.rest[place - bottom] + scratch.peak[place]
    return words if try_sets(index, scratch, block, begin, bottom, count, need, words) else 0


@inlined
def try_sets(
    index: Index,
    scratch: Scratch,
    block: Whole,
    begin: Whole,
    bottom: Whole,
    count: Whole,
    need: Whole,
    words: Whole,
) -> bool:
    """Unite the intersections for `unite`, of the terms from `bottom` to `count`; returns whether there is any bag."""
    depth, total, place, any_bag = 0, np.int64(0), count - 1, False
    while depth >= 0:
        if place < bottom or total + scratch.rest[place - bottom + 1] < need:
            depth -= 1
            if depth >= 0:
                place = scratch.path[depth]
                total -= scratch.peak[place]
        else:
            row, more = index.holders[block, index.labels[begin + place]], scratch.peak[place]
            if total + more >= need:
                any_bag |= unite_both(scratch.union, scratch.both[depth], row, words, any_bag)
            elif more:
                if intersect(scratch.both[depth + 1], scratch.both[depth], row, words):
                    scratch.path[depth] = place
                    depth += 1
                    total += more
        place -= 1
    return any_bag


@inlined
def unite_both(
    union: NDArray[np.uint64], one: NDArray[np.uint64], other: NDArray[np.uint64], words: Whole, more: bool
) -> bool:
    """Add what two sets of bits have in common to a third, of which nothing is kept unless there is `more`.

    Returns:
        whether they have anything in common; nothing is written otherwise.
    """
    any_bits = np.uint64(0)
    for word in range(words):
        any_bits |= one[word] & other[word]
    if not any_bits:
        return False
    for word in range(words):
        union[word] = (union[word] if more else np.uint64(0)) | (one[word] & other[word])
    return True


@inlined
def intersect(both: NDArray[np.uint64], one: NDArray[np.uint64], other: NDArray[np.uint64], words: Whole) -> bool:
    """Write what two sets of bits have in common; returns whether it is anything."""
    any_bits = np.uint64(0)
    for word in range(words):
        both[word] = one[word] & other[word]
        any_bits |= both[word]
    return bool(any_bits)
