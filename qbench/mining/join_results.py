"""What the self-join finds: heaps of the best bags while it searches, and from bags to texts, compiled by numba.

Import it inside functions only, as `qbench.mining.join_search`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from qbench.compiling import lean as compiled
from qbench.compiling import merged as inlined

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Whole = int | np.signedinteger[Any]

SHARED = 2**15 - 1
"""Upper limit of the number of shared terms."""


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


class Heap(NamedTuple):
    """The results of one query with the worst on top: rows of `Best`, and of `Scratch.positions`."""

    scores: NDArray[np.int64]
    positions: NDArray[np.int32]
    bags: NDArray[np.int32]
    shared: NDArray[np.int16]


@inlined
def worse(score: Whole, position: Whole, other: Whole, other_position: Whole) -> bool:
    """Whether a result comes after another: lower score, or the same and a later position."""
    return bool(score < other or (score == other and position > other_position))


@compiled
def push(heap: Heap, size: Whole, score: Whole, position: Whole, bag: Whole, number: Whole) -> Whole:
    """Put a result on a heap of `size` results, on a full one in the place of the worst; returns the new size."""
    if size == heap.bags.size:
        sink(heap, size, score, position, bag, number)
        return size
    at: Whole = size
    while at > 0:
        parent = (at - 1) >> 1
        if not worse(score, position, heap.scores[parent], heap.positions[parent]):
            break
        move(heap, parent, at)
        at = parent
    put(heap, at, score, position, bag, number)
    return size + 1


@inlined
def sink(heap: Heap, size: Whole, score: Whole, position: Whole, bag: Whole, number: Whole) -> None:
    """Replace the top of a heap of `size` results."""
    at = 0
    while 2 * at + 1 < size:
        child = 2 * at + 1
        if child + 1 < size and worse(
            heap.scores[child + 1], heap.positions[child + 1], heap.scores[child], heap.positions[child]
        ):
            child += 1
        if not worse(heap.scores[child], heap.positions[child], score, position):
            break
        move(heap, child, at)
        at = child
    put(heap, at, score, position, bag, number)


@inlined
def move(heap: Heap, source: Whole, target: Whole) -> None:
    """Copy a result within a heap."""
    put(heap, target, heap.scores[source], heap.positions[source], heap.bags[source], heap.shared[source])


@inlined
def put(heap: Heap, at: Whole, score: Whole, position: Whole, bag: Whole, number: Whole) -> None:
    """Write a result into a heap."""
    heap.scores[at], heap.positions[at], heap.bags[at], heap.shared[at] = score, position, bag, number


@compiled
def order(heap: Heap, size: Whole) -> None:
    """Bring the results of a heap into their order, best first."""
    for last in range(size - 1, 0, -1):
        score, position, bag, number = heap.scores[last], heap.positions[last], heap.bags[last], heap.shared[last]
        move(heap, 0, last)
        sink(heap, last, score, position, bag, number)


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
