"""The loops of the self-join, compiled by numba. Import it inside functions only: numba takes half a second to load.

A bag is a text without the order of its words; equal texts are one bag. Terms have labels, 0 the most frequent. The
first `BITS` are *frequent*: bit masks say which of them a bag holds. All others are *rare*: their lists are walked.

A score is a whole number (fixed point), so that its sum is the same in any order, and whatever is skipped on the way.
A bag is skipped only where an upper bound of its score is below the worst of the k best results so far, or equal to
it with a later position: that makes every skip exact. The idea is MaxScore (Turtle and Flood, 1995), with bit
masks for the lists that it would look into.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from qbench.compiling import lean as compiled
from qbench.compiling import merged as inlined

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Whole = int | np.signedinteger[Any]


WORDS = 4
BITS = 64 * WORDS
ONE = np.uint64(1)
LAST = np.int32(2**31 - 1)
"""After every bag."""
SHARED = 2**15 - 1
"""Upper limit of the number of shared terms."""


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
        places: shape (B, BITS + 1), int64: where its postings lie in the next two.
        frequent: int32, bags, counted from the block's first.
        heads: uint64, word 0 of those bags' masks, so that a walk stays within one list.
        lists: shape (T + 1,), int64: where the postings of a rare term lie in the next two (frequent ones have none).
        rare: int32, bags, ascending.
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
    places: NDArray[np.int64]
    frequent: NDArray[np.int32]
    heads: NDArray[np.uint64]
    lists: NDArray[np.int64]
    rare: NDArray[np.int32]
    values: NDArray[np.int32]
    tops: NDArray[np.int32]
    floors: NDArray[np.int64]


class Best(NamedTuple):
    """The best k bags of each of Q queries: a heap with the worst on top while searching, best first afterwards.

    Attributes:
        scores: shape (Q, k), int64.
        bags: shape (Q, k), int32.
        shared: shape (Q, k), int16: number of different terms in both.
        sizes: shape (Q,), int32: number of results.
    """

    scores: NDArray[np.int64]
    bags: NDArray[np.int32]
    shared: NDArray[np.int16]
    sizes: NDArray[np.int32]


class Scratch(NamedTuple):
    """Working memory of one search.

    Attributes:
        sums: shape (bags in a block,), int64: score so far, shifted left, plus the number of terms so far.
        touched: the bags in the block whose sum is not 0.
        limits: shape (Q,): score that a result must reach.
        behind: shape (Q,): position that a result with this very score must precede.
        most: shape (Q,): most that the rare terms can add.
        cursors: shape (entries of the queries' rows,): position in each rare list.
        nexts: of the same shape: the bag there.
        wanted, seen, must: shape (WORDS,), uint64: frequent terms of the query; already walked; not to be missed.
        peak, times: shape (BITS,): most that a frequent term can add in this block; its count in the query.
    """

    sums: NDArray[np.int64]
    touched: NDArray[np.int32]
    limits: NDArray[np.int64]
    behind: NDArray[np.int64]
    most: NDArray[np.int64]
    cursors: NDArray[np.int64]
    nexts: NDArray[np.int32]
    wanted: NDArray[np.uint64]
    seen: NDArray[np.uint64]
    must: NDArray[np.uint64]
    peak: NDArray[np.int64]
    times: NDArray[np.int64]


@inlined
def ones(word: np.uint64) -> Whole:
    """The number of bits set (LLVM makes one instruction of it)."""
    word = word - ((word >> ONE) & np.uint64(0x5555555555555555))
    word = (word & np.uint64(0x3333333333333333)) + ((word >> np.uint64(2)) & np.uint64(0x3333333333333333))
    word = (word + (word >> np.uint64(4))) & np.uint64(0x0F0F0F0F0F0F0F0F)
    return np.int64((word * np.uint64(0x0101010101010101)) >> np.uint64(56))


@inlined
def bit_of(label: Whole) -> np.uint64:
    """The bit of a frequent term in its word."""
    return ONE << np.uint64(label & 63)


@inlined
def worse(score: Whole, position: Whole, other: Whole, other_position: Whole) -> bool:
    """Whether a result comes after another: lower score, or the same and a later position."""
    return bool(score < other or (score == other and position > other_position))


@inlined
def most(word: np.uint64, number: Whole, peak: NDArray[np.int64]) -> Whole:
    """The most that the terms of one word can add."""
    total = np.int64(0)
    while word:
        left = word & (word - ONE)
        total += peak[64 * number + ones((word ^ left) - ONE)]
        word = left
    return total


@inlined
def ceiling(index: Index, scratch: Scratch, bag: Whole) -> Whole:
    """The most that a bag's frequent terms can add."""
    total = np.int64(0)
    for word in range(WORDS):
        total += most(index.masks[bag, word] & scratch.wanted[word], word, scratch.peak)
    return total


@inlined
def admit(index: Index, scratch: Scratch, best: Best, query: Whole, bag: Whole, score: Whole, number: Whole) -> None:
    """Add what the bag's frequent terms add, and take the bag into the heap if it is among the best k."""
    entry = index.starts[bag]
    for word in range(WORDS):
        mask = index.masks[bag, word]
        held = mask & scratch.wanted[word]
        while held:
            left = held & (held - ONE)
            below = (held ^ left) - ONE
            # Rows are sorted by label, so that the bits below a term's count the entries before it.
            score += index.weights[entry + ones(mask & below)] * scratch.times[64 * word + ones(below)]
            number += 1
            held = left
        entry += ones(mask)
    if not worse(score, index.first[bag], scratch.limits[query], scratch.behind[query]):
        push(index, best, query, bag, score, min(number, SHARED))
        if best.sizes[query] == best.bags.shape[1]:
            scratch.limits[query] = best.scores[query, 0]
            scratch.behind[query] = index.first[best.bags[query, 0]]


@compiled
def push(index: Index, best: Best, query: Whole, bag: Whole, score: Whole, number: Whole) -> None:
    """Put a result on the heap; on a full one in the place of the worst."""
    at, position = best.sizes[query], index.first[bag]
    if at == best.bags.shape[1]:
        sink(index, best, query, at, bag, score, number)
        return
    best.sizes[query] = at + 1
    while at > 0:
        parent = (at - 1) >> 1
        if not worse(score, position, best.scores[query, parent], index.first[best.bags[query, parent]]):
            break
        move(best, query, parent, at)
        at = parent
    best.scores[query, at], best.bags[query, at], best.shared[query, at] = score, bag, number


@compiled
def sink(index: Index, best: Best, query: Whole, size: Whole, bag: Whole, score: Whole, number: Whole) -> None:
    """Replace the top of a heap of `size` best."""
    at, position, first = 0, index.first[bag], index.first
    scores, bags = best.scores, best.bags
    while 2 * at + 1 < size:
        child = 2 * at + 1
        if child + 1 < size and worse(
            scores[query, child + 1], first[bags[query, child + 1]], scores[query, child], first[bags[query, child]]
        ):
            child += 1
        if not worse(scores[query, child], first[bags[query, child]], score, position):
            break
        move(best, query, child, at)
        at = child
    scores[query, at], bags[query, at], best.shared[query, at] = score, bag, number


@inlined
def move(best: Best, query: Whole, source: Whole, target: Whole) -> None:
    """Copy a result within a heap."""
    best.scores[query, target] = best.scores[query, source]
    best.bags[query, target] = best.bags[query, source]
    best.shared[query, target] = best.shared[query, source]


def scratch_for(index: Index, rows: NDArray[np.int32]) -> Scratch:
    """Working memory for a search with the bags `rows`."""
    widest = int(np.diff(index.lows).max(initial=0))
    entries = int((index.starts[rows + 1] - index.starts[rows]).sum())
    return Scratch(
        sums=np.zeros(widest, np.int64),
        touched=np.empty(widest + 1, np.int32),
        limits=np.full(rows.size, -(2**62)),
        behind=np.full(rows.size, -1),
        most=np.zeros(rows.size, np.int64),
        cursors=np.empty(entries, np.int64),
        nexts=np.empty(entries, np.int32),
        wanted=np.zeros(WORDS, np.uint64),
        seen=np.zeros(WORDS, np.uint64),
        must=np.zeros(WORDS, np.uint64),
        peak=np.zeros(BITS, np.int64),
        times=np.zeros(BITS, np.int64),
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
    cursor: Whole = 0
    for query in range(rows.size):
        for entry in range(index.starts[rows[query]], index.starts[rows[query] + 1]):
            label = index.labels[entry]
            # k other bags have the floor, so that the k-th best has it too.
            floor = index.floors[label] * index.counts[entry] - 1
            scratch.limits[query] = max(scratch.limits[query], floor)
            if label >= BITS:
                scratch.most[query] += max(np.int64(0), np.int64(index.tops[label]) * index.counts[entry])
                scratch.cursors[cursor] = index.lists[label]
                scratch.nexts[cursor] = index.rare[index.lists[label]]
            cursor += 1
    for block in range(index.lows.size - 1):
        cursor = np.int64(0)
        for query in range(rows.size):
            meet(index, scratch, best, rows[query], query, block, cursor, shift)
            cursor += index.starts[rows[query] + 1] - index.starts[rows[query]]
    for query in range(rows.size):
        for last in range(best.sizes[query] - 1, 0, -1):
            score, bag, number = best.scores[query, last], best.bags[query, last], best.shared[query, last]
            move(best, query, 0, last)
            sink(index, best, query, last, bag, score, number)


@inlined
def meet(
    index: Index, scratch: Scratch, best: Best, me: Whole, query: Whole, block: Whole, cursor: Whole, shift: Whole
) -> None:
    """One query against the bags of one block."""
    begin, end, low = index.starts[me], index.starts[me + 1], index.lows[block]
    split, common = begin, np.int64(0)
    for word in range(WORDS):
        scratch.wanted[word] = 0
    while split < end and index.labels[split] < BITS:
        label, times = index.labels[split], np.int64(index.counts[split])
        scratch.times[label] = times
        scratch.peak[label] = max(np.int64(0), index.peaks[block, label] * times)
        scratch.wanted[label >> 6] |= bit_of(label)
        common += scratch.peak[label]
        split += 1
    if worse(common + scratch.most[query], index.earliest[block], scratch.limits[query], scratch.behind[query]):
        return
    size = gather(index, scratch, split, end, block, cursor + split - begin, shift)
    for slot in range(size):
        bag = low + scratch.touched[slot]
        held = scratch.sums[scratch.touched[slot]]
        score = held >> shift
        if bag == me or score + common < scratch.limits[query]:
            continue
        if score + ceiling(index, scratch, bag) >= scratch.limits[query]:
            admit(index, scratch, best, query, bag, score, held & ((1 << shift) - 1))
    walk(index, scratch, best, me, query, block, begin, split, common)
    for slot in range(size):
        scratch.sums[scratch.touched[slot]] = 0


@inlined
def gather(
    index: Index, scratch: Scratch, split: Whole, end: Whole, block: Whole, cursor: Whole, shift: Whole
) -> Whole:
    """Add up the rare terms of the block's bags; returns the number of bags with any."""
    low, high, size = index.lows[block], index.lows[block + 1], 0
    for entry in range(split, end):
        at = cursor + entry - split
        if scratch.nexts[at] >= high:
            continue
        times = np.int64(index.counts[entry])
        posting, stop = scratch.cursors[at], index.lists[index.labels[entry] + 1]
        # Blocks that were skipped have left the cursor behind.
        while posting < stop and index.rare[posting] < low:
            posting += 1
        while posting < stop and index.rare[posting] < high:
            local = index.rare[posting] - low
            before = scratch.sums[local]
            scratch.touched[size] = local
            size += before == 0
            scratch.sums[local] = before + ((index.values[posting] * times) << shift) + 1
            posting += 1
        scratch.cursors[at] = posting
        scratch.nexts[at] = index.rare[posting] if posting < stop else LAST
    return size


@inlined
def walk(
    index: Index,
    scratch: Scratch,
    best: Best,
    me: Whole,
    query: Whole,
    block: Whole,
    begin: Whole,
    split: Whole,
    common: Whole,
) -> None:
    """The block's bags that hold none of the query's rare terms.

    Lists are walked from the least frequent term on, until what is left cannot reach the limit together. A bag
    is looked at in the first of its lists, and only if it holds every term without which it cannot reach the limit.
    """
    low, remain, others = index.lows[block], common, np.int64(0)
    for word in range(WORDS):
        scratch.seen[word] = 0
    for word in range(1, WORDS):
        others += most(scratch.wanted[word], word, scratch.peak)
    for entry in range(split - 1, begin - 1, -1):
        if worse(remain, index.earliest[block], scratch.limits[query], scratch.behind[query]):
            return
        for word in range(WORDS):
            scratch.must[word] = 0
        for other in range(begin, entry + 1):
            needed = index.labels[other]
            if remain - scratch.peak[needed] < scratch.limits[query]:
                scratch.must[needed >> 6] |= bit_of(needed)
        label, seen, must, wanted = index.labels[entry], scratch.seen[0], scratch.must[0], scratch.wanted[0]
        for posting in range(index.places[block, label], index.places[block, label + 1]):
            head = index.heads[posting]
            if (head & seen) | (must & ~head):
                continue
            if most(head & wanted, 0, scratch.peak) + others < scratch.limits[query]:
                continue
            local = index.frequent[posting]
            bag, missed = low + local, np.uint64(0)
            for word in range(1, WORDS):
                mask = index.masks[bag, word]
                missed |= (mask & scratch.seen[word]) | (scratch.must[word] & ~mask)
            if missed or scratch.sums[local] or bag == me:
                continue
            bound = ceiling(index, scratch, bag)
            if not worse(bound, index.first[bag], scratch.limits[query], scratch.behind[query]):
                admit(index, scratch, best, query, bag, np.int64(0), np.int64(0))
        scratch.seen[label >> 6] |= bit_of(label)
        remain -= scratch.peak[label]


@compiled
def expand(
    best: Best,
    slots: NDArray[np.int64],
    texts: NDArray[np.int64],
    bags: NDArray[np.int32],
    starts: NDArray[np.int64],
    members: NDArray[np.int32],
    own: NDArray[np.int64],
    sizes: NDArray[np.int16],
    unit: float,
    tied: NDArray[np.int64],
    docs: NDArray[np.int32],
    scores: NDArray[np.float32],
    shared: NDArray[np.int16],
) -> None:
    """Expand results from bags to texts: equal scores by position, the query's own text left out.

    Args:
        best: results of `search`.
        slots: shape (R,), the row in `best` of each query text.
        texts: shape (R,), its position.
        bags: shape (Q,), the bag of each row of `best`.
        starts, members, own, sizes: those of `join_layout.Bags`.
        unit: what 1 is worth.
        tied: shape ((k + 1)²,), scratch.
        docs, scores, shared: shape (R, k), -1 and 0 before; filled here.
    """
    k = docs.shape[1]
    for row in range(slots.size):
        slot, me, taken, at = slots[row], texts[row], 0, 0
        bag = bags[slot]
        left = sizes[bag] > 0
        while taken < k and (left or at < best.sizes[slot]):
            mine = left and (at == best.sizes[slot] or own[bag] >= best.scores[slot, at])
            score = own[bag] if mine else best.scores[slot, at]
            size: Whole = np.int64(0)
            if mine:
                left = False
                size = collect(tied, size, bag, me, np.int64(sizes[bag]), starts, members, k)
            while at < best.sizes[slot] and best.scores[slot, at] == score:
                size = collect(tied, size, best.bags[slot, at], me, np.int64(best.shared[slot, at]), starts, members, k)
                at += 1
            arrange(tied, size)
            for tie in range(min(size, k - taken)):
                docs[row, taken] = tied[tie] >> 16
                scores[row, taken] = score * unit
                shared[row, taken] = tied[tie] & 0xFFFF
                taken += 1


@inlined
def arrange(numbers: NDArray[np.int64], size: Whole) -> None:
    """Sort the first `size` numbers, by insertion in shrinking steps (Shell); nearly always there is one."""
    step = size // 2
    while step > 0:
        for start in range(step, size):
            number = numbers[start]
            at: Whole = start
            while at >= step and numbers[at - step] > number:
                numbers[at] = numbers[at - step]
                at -= step
            numbers[at] = number
        step //= 2


@inlined
def collect(
    tied: NDArray[np.int64],
    size: Whole,
    bag: Whole,
    me: Whole,
    number: Whole,
    starts: NDArray[np.int64],
    members: NDArray[np.int32],
    k: Whole,
) -> Whole:
    """Append the first k texts of a bag, position and number of shared terms in one; returns the new size."""
    room = k
    for entry in range(starts[bag], starts[bag + 1]):
        if room == 0:
            break
        if members[entry] != me:
            tied[size] = (np.int64(members[entry]) << 16) | number
            size += 1
            room -= 1
    return size
