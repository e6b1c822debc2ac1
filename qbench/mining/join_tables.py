"""Into the layout that the self-join searches, and from what it found back to texts: compiled loops.

Import it inside functions only, as `qbench.mining.join_kernel`. Compiled code is kept by the file that it comes from:
so nothing here depends on a constant of that module but through the shape of an array.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from qbench.mining.join_kernel import compiled, inlined

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from qbench.mining.join_kernel import Found, Index, Whole

ONE = np.uint64(1)


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
def list_frequent(index: Index, at: NDArray[np.int64]) -> None:
    """Fill `Index.places`, `frequent`, `heads` and `peaks`; all are zeros before. `at`: shape (BITS,), scratch."""
    bits = index.peaks.shape[1]
    place = 0
    for block in range(index.lows.size - 1):
        low, high = index.starts[index.lows[block]], index.starts[index.lows[block + 1]]
        for entry in range(low, high):
            if index.labels[entry] < bits:
                index.places[block, index.labels[entry] + 1] += 1
        index.places[block, 0] = place
        for label in range(bits):
            index.places[block, label + 1] += index.places[block, label]
        place = index.places[block, bits]
        for label in range(bits):
            at[label] = index.places[block, label]
        for bag in range(index.lows[block], index.lows[block + 1]):
            for entry in range(index.starts[bag], index.starts[bag + 1]):
                label = index.labels[entry]
                if label >= bits:
                    break
                new = at[label] == index.places[block, label]
                if new or index.weights[entry] > index.peaks[block, label]:
                    index.peaks[block, label] = index.weights[entry]
                index.frequent[at[label]] = bag - index.lows[block]
                index.heads[at[label]] = index.masks[bag, 0]
                at[label] += 1


@compiled
def list_rare(index: Index, at: NDArray[np.int64]) -> None:
    """Fill `Index.rare` and `values`. `at` is a copy of `lists`."""
    for bag in range(index.starts.size - 1):
        for entry in range(index.starts[bag], index.starts[bag + 1]):
            label = index.labels[entry]
            if label >= index.peaks.shape[1]:
                index.rare[at[label]] = bag
                index.values[at[label]] = index.weights[entry]
                at[label] += 1


@compiled
def expand(
    found: Found,
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
    """From the bags found to texts: equal scores by position, the query's own text left out.

    Args:
        found: what `search` gave.
        slots: shape (R,), for each text asked about its row in `found`.
        texts: shape (R,), its position.
        bags: shape (Q,), the bag of each row of `found`.
        starts, members, own, sizes: those of `join_index.Bags`.
        unit: what 1 is worth.
        tied: shape ((k + 1)²,), scratch.
        docs, scores, shared: shape (R, k), -1 and 0 before; filled here.
    """
    k = docs.shape[1]
    for row in range(slots.size):
        slot, me, taken, at = slots[row], texts[row], 0, 0
        bag = bags[slot]
        left = sizes[bag] > 0
        while taken < k and (left or at < found.sizes[slot]):
            mine = left and (at == found.sizes[slot] or own[bag] >= found.scores[slot, at])
            score = own[bag] if mine else found.scores[slot, at]
            size: Whole = np.int64(0)
            if mine:
                left = False
                size = collect(tied, size, bag, me, np.int64(sizes[bag]), starts, members, k)
            while at < found.sizes[slot] and found.scores[slot, at] == score:
                size = collect(
                    tied, size, found.bags[slot, at], me, np.int64(found.shared[slot, at]), starts, members, k
                )
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
        for place in range(step, size):
            number = numbers[place]
            at: Whole = place
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
    """Append the first k texts of a bag, position and number of shared terms in one; how many there are now."""
    room = k
    for place in range(starts[bag], starts[bag + 1]):
        if room == 0:
            break
        if members[place] != me:
            tied[size] = (np.int64(members[place]) << 16) | number
            size += 1
            room -= 1
    return size
