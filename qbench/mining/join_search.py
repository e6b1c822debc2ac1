"""The loops of the self-join, compiled by numba. Import it inside functions only: numba takes half a second to load.

A bag is a text without the order of its words; equal texts are one bag. Terms have labels, 0 the most frequent. The
first ones are *frequent*: rows of bits say which bags of a block hold each of them. All others are *rare*: their lists
are walked.

A score is a whole number (fixed point), so that its sum is the same in any order, and whatever is skipped on the way.
A bag is skipped only where an upper bound of its score is below the worst of the k best results so far, or equal to
it with a later position: that makes every skip exact. Bounds come block by block, as in block-max MaxScore (Turtle and
Flood, 1995; Ding and Suel, 2011): the most that each term adds in a block. They are summed for all bags of a block at
once, in bytes or numbers of 16 bits, rounded up (`qbench.mining.join_sums`). Where all bags of a block have the same
length, what a bag's rows add is its score, as there are rows for those that hold a term twice, or more often, too; if
it is not, the bag is *uneven*, and its terms are walked.

Bags with few results yet would be compared with many. So a sample of all bags, which comes first, says where the limit
will lie. It is a guess: if fewer than k results are above it, the bag is searched again without it.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from qbench.compiling import lean as compiled
from qbench.compiling import merged as inlined
from qbench.mining.join_arrays import NOTHING, Index, Scratch
from qbench.mining.join_results import SHARED, Best, Heap, order, push, worse
from qbench.mining.join_sums import LANES, STEP, mark_sums

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Whole = int | np.signedinteger[Any]


ONE = np.uint64(1)
MOST, WIDE_MOST = 2**8 - 1, 2**16 - 1
"""The largest sums, of bytes and of 16 bits."""
UNITS, WIDE_UNITS = 240, 60_000
"""What must be reached, in such sums; at most the largest one."""
FEW_ROWS = 24
"""A query with more rows than this needs 16 bits: rounded up so often, a sum of bytes says too little."""
SIGMAS = 2.5
"""How many standard deviations more of a sample's results than expected are above the limit that is guessed."""


@inlined
def ones(word: np.uint64) -> Whole:
    """The number of bits set (LLVM makes one instruction of it)."""
    word = word - ((word >> ONE) & np.uint64(0x5555555555555555))
    word = (word & np.uint64(0x3333333333333333)) + ((word >> np.uint64(2)) & np.uint64(0x3333333333333333))
    word = (word + (word >> np.uint64(4))) & np.uint64(0x0F0F0F0F0F0F0F0F)
    return np.int64((word * np.uint64(0x0101010101010101)) >> np.uint64(56))


@inlined
def unsigned(begin: Whole, end: Whole) -> range:
    """The numbers from `begin` to `end`: of a signed one, numba asks each time whether it counts from the end."""
    return range(np.uint64(begin), np.uint64(end))


@compiled
def search(index: Index, rows: NDArray[np.int32], scratch: Scratch, best: Best) -> None:
    """The best k bags, themselves left out, of the bags `rows`.

    Args:
        index: all bags.
        rows: shape (Q,), int32, the queries, 32,767 at most.
        scratch: of `scratch_for`.
        best: empty; filled here, best first.
    """
    k, blocks, sampled = best.bags.shape[1], index.lows.size - 1, index.sampled[0]
    for query in range(rows.size):
        start(index, scratch, rows[query], query)
    bring(index, scratch, rows)
    # Of the k best, about a Poisson-distributed number lies in the sample.
    expected = k * index.lows[sampled] / max(1, index.first.size)
    few = min(k, math.ceil(expected + SIGMAS * math.sqrt(expected)))
    if not 0 < sampled < blocks:
        few = k
    # The loops are compiled to each place that they are called from: hence two calls for three turns.
    for end, kept, again in ((sampled, few, False), (blocks, k, True)):
        pass_over(index, scratch, best, rows, 0, end, kept, False, again)
        if not again:
            if few < k:
                guess(scratch, best, few)
            pass_over(index, scratch, best, rows, sampled, blocks, k, True, False)
            if not wrong_guesses(index, scratch, best, rows):
                break
    for query in range(rows.size):
        heap = Heap(best.scores[query], scratch.positions[query], best.bags[query], best.shared[query])
        order(heap, best.sizes[query])


@inlined
def guess(scratch: Scratch, best: Best, few: Whole) -> None:
    """Take the worst of a full heap of `few` results for a limit that k bags of all are above."""
    for query in range(best.sizes.size):
        if best.sizes[query] == few:
            scratch.guesses[query], scratch.behind[query] = scratch.limits[query], -1


@inlined
def wrong_guesses(index: Index, scratch: Scratch, best: Best, rows: NDArray[np.int32]) -> bool:
    """Whether there are any; those queries begin anew."""
    k, wrong = best.bags.shape[1], False
    for query in range(rows.size):
        settle(index, scratch, best, query)
        # Results of the sample as good as the guess may have been dropped: all k must be better.
        if best.sizes[query] == k and best.scores[query, 0] > scratch.guesses[query]:
            scratch.guesses[query] = NOTHING
        elif scratch.guesses[query] > NOTHING:
            wrong = True
            best.sizes[query] = 0
            start(index, scratch, rows[query], query)
    return wrong


@inlined
def start(index: Index, scratch: Scratch, me: Whole, query: Whole) -> None:
    """Set the limits of a query before it is searched."""
    limit, most = np.int64(NOTHING), np.int64(0)
    for entry in range(index.starts[me], index.starts[me + 1]):
        label, times = index.labels[entry], np.int64(index.counts[entry])
        if index.floors[label] >= 0:
            # k other bags have the floor, so that the k-th best has it too.
            limit = max(limit, index.floors[label] * times - 1)
        most += max(np.int64(0), np.int64(index.tops[label]) * times)
    scratch.limits[query], scratch.behind[query], scratch.most[query] = limit, -1, most


@inlined
def bring(index: Index, scratch: Scratch, rows: NDArray[np.int32]) -> None:
    """Bring the postings of all queries' rare terms into the order of blocks.

    Lists are read from one end to the other here: later each block finds its part in one place.
    """
    ends, end = scratch.ends, np.int64(0)
    for query in range(rows.size):
        for entry in range(index.starts[rows[query]], index.starts[rows[query] + 1]):
            label = index.labels[entry]
            for posting in unsigned(index.lists[label], index.lists[label + 1]):
                ends[index.rare[posting] >> np.uint32(16)] += 1
    for block in range(ends.size):
        scratch.bounds[block] = end
        end += ends[block]
        ends[block] = scratch.bounds[block]
    for query in range(rows.size):
        for entry in range(index.starts[rows[query]], index.starts[rows[query] + 1]):
            label, times = index.labels[entry], np.int64(index.counts[entry])
            for posting in unsigned(index.lists[label], index.lists[label + 1]):
                place = index.rare[posting]
                at = np.uint64(ends[place >> np.uint32(16)])
                scratch.places[at] = ((index.values[posting] * times) << 16) | np.int64(place & np.uint32(0xFFFF))
                scratch.owners[at] = query
                ends[place >> np.uint32(16)] += 1


@inlined
def pass_over(
    index: Index,
    scratch: Scratch,
    best: Best,
    rows: NDArray[np.int32],
    begin: Whole,
    end: Whole,
    k: Whole,
    wait: bool,
    again: bool,
) -> None:
    """Search the blocks from `begin` to `end`.

    Args:
        index, scratch, best, rows: as elsewhere.
        begin, end: blocks.
        k: how many results are kept.
        wait: whether results are put on the heap later, many at a time.
        again: whether to search with those bags alone whose guess was wrong.
    """
    for block in range(begin, end):
        at: Whole = scratch.bounds[block]
        for query in range(rows.size):
            if not again or scratch.guesses[query] > NOTHING:
                at = meet(index, scratch, best, rows[query], query, block, at, k, wait)


@inlined
def meet(
    index: Index,
    scratch: Scratch,
    best: Best,
    me: Whole,
    query: Whole,
    block: Whole,
    at: Whole,
    k: Whole,
    wait: bool,
) -> Whole:
    """One query against the bags of one block.

    Args:
        index, scratch, best: as elsewhere.
        me, query: the bag that asks, and its number among the queries.
        block: which.
        at: a posting of the block, not behind the query's first one.
        k, wait: as in `pass_over`.

    Returns:
        the end of the query's postings in the block.
    """
    stop: Whole = scratch.bounds[block + 1]
    while at < stop and scratch.owners[at] < query:
        at += 1
    end: Whole = at
    while end < stop and scratch.owners[end] == query:
        end += 1
    count, frequent = rows_of(index, scratch, me, block)
    bound = frequent + (scratch.most[query] if at < end else 0)
    # A bag that is as good as the limit is of use only if it may precede its position.
    need = scratch.limits[query] + (index.earliest[block] > scratch.behind[query])
    if bound < need or (at == end and not count):
        return end
    words = (index.lows[block + 1] - index.lows[block] + LANES - 1) // LANES
    holders, rows, marked = index.holders, scratch.rows, scratch.marked
    if frequent < need:
        groups = mark_rare(scratch, at, end, words)
    elif count <= FEW_ROWS:
        least = add_up(scratch, scratch.sums, scratch.worths, at, end, count, need, UNITS, MOST)
        groups = mark_sums(holders, block, rows, scratch.worths, count, words, least, scratch.sums, marked)
    else:
        sums, worths = scratch.wide_sums, scratch.wide_worths
        least = add_up(scratch, sums, worths, at, end, count, need, WIDE_UNITS, WIDE_MOST)
        groups = mark_sums(holders, block, rows, worths, count, words, least, sums, marked)
    if groups:
        sum_rare(scratch, at, end)
        take_marked(index, scratch, best, me, query, block, count, groups, k, wait)
    return end


@inlined
def rows_of(index: Index, scratch: Scratch, me: Whole, block: Whole) -> tuple[Whole, Whole]:
    """Write down the rows of a query in a block, and their peaks; returns how many there are, and the peaks' sum."""
    count: Whole = 0
    bound: Whole = np.int64(0)
    once, twice, thrice, often = index.tiers[0], index.tiers[1], index.tiers[2], index.tiers[3]
    for entry in unsigned(index.starts[me], index.starts[me + 1]):
        label = np.int64(np.uint32(index.labels[entry]))
        if label >= once:
            break
        row = label
        for tier in (once, twice, thrice, often):
            if label >= tier or index.peaks[block, row] < 0:
                break
            peak = np.int64(index.peaks[block, row]) * index.counts[entry]
            scratch.rows[count], scratch.peak[count] = row, peak
            bound += peak
            count += 1
            row += tier
    return count, bound


@inlined
def add_up(
    scratch: Scratch,
    sums: NDArray[Any],
    worths: NDArray[Any],
    at: Whole,
    end: Whole,
    count: Whole,
    need: Whole,
    units: Whole,
    most: Whole,
) -> Whole:
    """Bring what is needed to at most `units`, the peaks of rows likewise, and add the postings of rare terms to sums.

    Each summand is rounded up, so that no bag that reaches `need` is below it.

    Args:
        scratch: of the search.
        sums, worths: of bytes or of 16 bits; written to.
        at, end: the query's postings in the block.
        count: of its rows.
        need: score.
        units, most: of numbers of this kind.

    Returns:
        the sum that is needed.
    """
    least, inverse = np.int64(1), 0.0
    if need > 0:
        unit = need // units + 1
        least = np.int64(-(-need // unit))
        inverse = 1.0 / unit * (1 + 2.0**-48)  # a product that is rounded down is no less than the quotient
    for place in range(count):
        peak = np.int64(scratch.peak[place])
        # Where nothing is needed, to share a term is enough.
        worth = np.int64(peak * inverse) + 1 if peak > 0 or need <= 0 else np.int64(0)
        worths[place] = min(worth, np.int64(most))
    for posting in unsigned(at, end):
        local = scratch.places[posting] & 0xFFFF
        worth = np.int64(max(np.int64(0), scratch.places[posting] >> 16) * inverse) + 1
        sums[local] = min(np.int64(sums[local]) + worth, np.int64(most))
    return least


@inlined
def mark_rare(scratch: Scratch, at: Whole, end: Whole, words: Whole) -> np.uint64:
    """Mark the bags with a rare term, if no other one can have enough; returns groups of words as `mark_sums` does."""
    scratch.marked[: (words + STEP - 1) // STEP * STEP] = 0
    groups = np.uint64(0)
    for posting in unsigned(at, end):
        local = scratch.places[posting] & 0xFFFF
        scratch.marked[local >> 6] |= ONE << np.uint64(local & 63)
        groups |= ONE << np.uint64(local // (STEP * LANES))
    return groups


@inlined
def sum_rare(scratch: Scratch, at: Whole, end: Whole) -> None:
    """Add up the rare terms of the marked bags."""
    for posting in unsigned(at, end):
        local = scratch.places[posting] & 0xFFFF
        if (scratch.marked[local >> 6] >> np.uint64(local & 63)) & ONE:
            scratch.held[local] += scratch.places[posting] >> 16
            scratch.numbers[local] += 1


@inlined
def take_marked(
    index: Index,
    scratch: Scratch,
    best: Best,
    me: Whole,
    query: Whole,
    block: Whole,
    count: Whole,
    groups: np.uint64,
    k: Whole,
    wait: bool,
) -> None:
    """Score the marked bags of a block, and take those that are among the best."""
    asked = False
    while groups:
        others = groups & (groups - ONE)
        group = ones((groups ^ others) - ONE)
        groups = others
        for word in range(STEP * group, STEP * group + STEP):
            found = scratch.marked[word]
            while found:
                left = found & (found - ONE)
                bit = ones((found ^ left) - ONE)
                found = left
                local = LANES * word + bit
                bag = index.lows[block] + local
                score, number = scratch.held[local], scratch.numbers[local]
                scratch.held[local], scratch.numbers[local] = 0, 0
                if bag != me:
                    if (index.uneven[block, word] >> np.uint64(bit)) & ONE:
                        if not asked:
                            ask(index, scratch, me, 1)
                            asked = True
                        more, shared = walk(index, scratch, bag)
                    else:
                        more, shared = look_up(index, scratch, block, word, bit, count)
                    offer(index, scratch, best, query, bag, score + more, number + shared, k, wait)
    if asked:
        ask(index, scratch, me, 0)


@inlined
def ask(index: Index, scratch: Scratch, me: Whole, factor: Whole) -> None:
    """Write down how often each frequent term is in a query, times 1 or 0."""
    for entry in unsigned(index.starts[me], index.starts[me + 1]):
        label = np.uint32(index.labels[entry])
        if label >= scratch.asked.size:
            break
        scratch.asked[label] = factor * index.counts[entry]


@inlined
def look_up(index: Index, scratch: Scratch, block: Whole, word: Whole, bit: Whole, count: Whole) -> tuple[Whole, Whole]:
    """What a bag's frequent terms add, and how many are shared, by the rows."""
    score, number, once = np.int64(0), np.int64(0), index.tiers[0]
    for place in range(count):
        row = scratch.rows[place]
        has = np.int64((index.holders[block, row, word] >> np.uint64(bit)) & ONE)
        score += scratch.peak[place] & -has
        number += has & (row < once)
    return score, number


@inlined
def walk(index: Index, scratch: Scratch, bag: Whole) -> tuple[Whole, Whole]:
    """What a bag's frequent terms add, and how many are shared, by its own terms."""
    score, number = np.int64(0), np.int64(0)
    for entry in unsigned(index.starts[bag], index.starts[bag + 1]):
        label = np.uint32(index.labels[entry])
        if label >= scratch.asked.size:
            break
        times = np.int64(scratch.asked[label])
        score += index.weights[entry] * times
        number += times > 0
    return score, number


@inlined
def offer(
    index: Index,
    scratch: Scratch,
    best: Best,
    query: Whole,
    bag: Whole,
    score: Whole,
    number: Whole,
    k: Whole,
    wait: bool,
) -> None:
    """Take a bag that shares any term if it is among the best k."""
    if not number or worse(score, index.first[bag], scratch.limits[query], scratch.behind[query]):
        return
    number = min(number, SHARED)
    if wait:
        at = scratch.sizes[query]
        scratch.waiting[query, at, 0] = score
        scratch.waiting[query, at, 1] = (np.int64(bag) << 16) | number
        scratch.sizes[query] = at + 1
        if at + 1 == scratch.waiting.shape[1]:
            settle(index, scratch, best, query)
    else:
        take(index, scratch, best, query, bag, score, number, k)


@inlined
def take(
    index: Index, scratch: Scratch, best: Best, query: Whole, bag: Whole, score: Whole, number: Whole, k: Whole
) -> None:
    """Put a bag on the heap of a query's best k."""
    heap = Heap(best.scores[query, :k], scratch.positions[query, :k], best.bags[query, :k], best.shared[query, :k])
    best.sizes[query] = push(heap, best.sizes[query], score, index.first[bag], bag, number)
    if best.sizes[query] == k:
        scratch.limits[query], scratch.behind[query] = heap.scores[0], heap.positions[0]


@compiled
def settle(index: Index, scratch: Scratch, best: Best, query: Whole) -> None:
    """Put the results that wait on the heap."""
    for at in range(scratch.sizes[query]):
        score, both = scratch.waiting[query, at, 0], scratch.waiting[query, at, 1]
        if not worse(score, index.first[both >> 16], scratch.limits[query], scratch.behind[query]):
            take(index, scratch, best, query, both >> 16, score, both & 0xFFFF, best.bags.shape[1])
    scratch.sizes[query] = 0
