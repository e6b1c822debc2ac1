"""The loops over the entries of Bind's index, by unit and value, compiled by numba. Import it inside functions only.

Comparators are whole numbers here, as in `qbench.scoring.binding_kernel`.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from qbench.compiling import compiled, inlined, lean, merged
from qbench.scoring.binding_kernel import met
from qbench.scoring.selection_kernel import kth, shrink

_FEW = 2048
"""Documents of a sample."""
_BLOCK = 64
"""Documents that are looked at together: the bits of a number."""
_LEAST = float(np.nextafter(0, 1))


class Reached(NamedTuple):
    """Ranges of entries that may satisfy a condition, and the condition.

    Attributes:
        whole: shape (ranges, 5): first and last entry, the condition's comparator and change, and whether plain numbers
            in the range satisfy it.
        real: shape (ranges, 5): the condition's values, what entries of its own unit are worth, what a change is worth
            for a level, and what simple entries are worth in this range.
        docs, simple, ..., worth: columns of `qbench.scoring.binding.Entries`.
    """

    whole: NDArray[np.int64]
    real: NDArray[np.float64]
    docs: NDArray[np.int32]
    simple: NDArray[np.bool_]
    low: NDArray[np.float64]
    high: NDArray[np.float64]
    comparator: NDArray[np.uint8]
    change: NDArray[np.int8]
    worth: NDArray[np.float32]


@inlined
def worth_of(entry: int, at: int, some: Reached) -> np.float32:
    """What one of the entries is worth for the condition; 0 where it does not satisfy it.

    Args:
        entry: its number.
        at: the number of its range.
        some: the ranges.
    """
    whole, real = some.whole, some.real
    if some.simple[entry]:
        return np.float32(real[at, 4])
    low, high, comparator = some.low[entry], some.high[entry], some.comparator[entry]
    if comparator < 2 and low == high:
        meets = whole[at, 4] != 0
    else:
        meets = met(low, high, comparator, whole[at, 2], real[at, 0], real[at, 1])
    scale = real[at, 2] if some.change[entry] == whole[at, 3] else real[at, 2] * real[at, 3]
    return np.float32(scale * some.worth[entry] if meets else 0.0)


@inlined
def level_of(score: np.float32, levels: NDArray[np.float32]) -> int:
    """The position of what an entry is worth among all that it can be; 0 for nothing.

    Args:
        score: one of the next, to rounding.
        levels: ascending, 0 first.
    """
    at = 0
    while at + 1 < levels.size and levels[at + 1] <= score + np.float32(1e-6):
        at += 1
    return at


@compiled
def mark(
    some: Reached,
    out: NDArray[np.float32],
) -> None:
    """Raise the score of every document that holds an entry that satisfies a condition.

    Args:
        some: the entries, and the condition.
        out: shape (documents,); changed in place.
    """
    for at in range(some.whole.shape[0]):
        for entry in range(some.whole[at, 0], some.whole[at, 1]):
            score = worth_of(entry, at, some)
            if score > out[some.docs[entry]]:
                out[some.docs[entry]] = score


@lean
def coded(some: Reached, levels: NDArray[np.float32], codes: NDArray[np.uint8]) -> int:
    """`mark` with a byte for each document, its position among all that an entry can be worth.

    Args:
        some: as in `mark`.
        levels: ascending, 0 first: all that an entry can be worth.
        codes: shape (documents,), zeros; filled in.

    Returns:
        how many entries there are.
    """
    entries = 0
    for at in range(some.whole.shape[0]):
        entries += some.whole[at, 1] - some.whole[at, 0]
        # An index that cannot be below zero is not looked at twice.
        first, last = np.uintp(some.whole[at, 0]), np.uintp(some.whole[at, 1])
        plain = np.uint8(level_of(np.float32(some.real[at, 4]), levels))
        for entry in range(first, last):
            code = plain if some.simple[entry] else np.uint8(level_of(worth_of(entry, at, some), levels))
            doc = np.uintp(some.docs[entry])
            codes[doc] = max(codes[doc], code)
    return entries


@merged
def _promising(
    first: np.uintp,
    few: bool,
    sums: NDArray[np.float64],
    bar: float,
    codes: NDArray[np.uint8],
    least_code: int,
) -> np.uint64:
    """A bit for each of the documents from `first` on, `_BLOCK` of them, that may be among the best.

    There is no branch in it, so that it is compiled to a few instructions for many documents at once.
    """
    bits = np.uint64(0)
    if few:
        for n in range(np.uintp(_BLOCK)):
            bits |= np.uint64((sums[first + n] >= bar) | (codes[first + n] > 0)) << np.uint64(n)
    else:
        for n in range(np.uintp(_BLOCK)):
            bits |= np.uint64((sums[first + n] >= bar) & (codes[first + n] >= least_code)) << np.uint64(n)
    return bits


@merged
def _below(bit: np.uint64) -> int:
    """How many places are below the one bit of a number of 64 bits, by adding the bits of neighbours together."""
    bits = bit - np.uint64(1)
    bits -= (bits >> np.uint64(1)) & np.uint64(0x5555555555555555)
    bits = (bits & np.uint64(0x3333333333333333)) + ((bits >> np.uint64(2)) & np.uint64(0x3333333333333333))
    bits = (bits + (bits >> np.uint64(4))) & np.uint64(0x0F0F0F0F0F0F0F0F)
    return int((bits * np.uint64(0x0101010101010101)) >> np.uint64(56))


@lean
def foremost(
    levels: NDArray[np.float32],
    codes: NDArray[np.uint8],
    few: bool,
    top: float,
    sums: NDArray[np.float64],
    highest: float,
    weight: float,
    k: int,
    docs: NDArray[np.int64],
    scores: NDArray[np.float64],
    spare: NDArray[np.float64],
) -> int:
    """The k best documents by their sum plus weight * level, ascending.

    A sample says how much somewhat more than k documents probably have, and one pass takes those.

    Args:
        levels, codes: as in `coded`.
        few: whether fewer than k documents have a level above 0: then all of them are taken.
        top: no document has a higher level.
        sums: shape (`_BLOCK` documents or more,), none below zero; with level 0, a document with 0 does not count.
        highest: of the sums.
        weight: of a level.
        k: from 1 to the number of documents.
        docs, scores, spare: shape (k or more,), `_FEW` at least, the first two written.

    Returns:
        how many there are; -1 where the sample was no good, and nothing can be said.
    """
    size, least = 0, _likely(levels, codes, sums, weight, k, spare)
    # Sums alone leave most documents out, and so do levels that the highest sum does not make up for; both a little
    # lower, for what rounding may do.
    bar = least - (0.0 if few else weight * top)
    bar -= 1e-9 * abs(bar)
    least_code = 0
    while least_code + 1 < levels.size and highest + weight * levels[least_code] < least * (1 - 1e-9):
        least_code += 1
    for start in range(0, sums.size, _BLOCK):
        # An index that cannot be below zero is not looked at twice.
        first = np.uintp(min(start, sums.size - _BLOCK))
        bits = _promising(first, few, sums, bar, codes, least_code)
        # The last block begins among documents that have been seen.
        bits &= ~np.uint64(0) << np.uint64(np.uintp(start) - first)
        while bits:
            doc = first + np.uintp(_below(bits & (~bits + np.uint64(1))))
            bits &= bits - np.uint64(1)
            if size == docs.size:
                return -1
            total = sums[doc] + weight * levels[codes[doc]]
            # Written down before it is known to be one: a branch that nobody can foresee takes longer.
            docs[size], scores[size] = doc, total
            size += (total >= least) | (few & (codes[doc] > 0))
    if size < k and least > _LEAST:
        return -1
    if size > k:
        shrink(docs, scores, spare, size, k)
    return min(size, k)


@merged
def _likely(
    levels: NDArray[np.float32],
    codes: NDArray[np.uint8],
    sums: NDArray[np.float64],
    weight: float,
    k: int,
    spare: NDArray[np.float64],
) -> float:
    """What somewhat more than k documents probably have, above 0; the rest as in `foremost`."""
    step = max(sums.size // _FEW, 1)
    sampled = min(sums.size // step, _FEW)
    for slot in range(sampled):
        spare[slot] = sums[slot * step] + weight * levels[codes[slot * step]]
    # More than the expected number by three times its deviation, and a few where that is small.
    expected = k * sampled / sums.size
    return max(kth(spare, sampled, min(int(expected + 3 * np.sqrt(expected)) + 4, sampled)), _LEAST)


@lean
def listed(
    some: Reached,
    out: NDArray[np.float32],
    marked: NDArray[np.int32],
) -> int:
    """`mark`, with a list of the documents.

    Args:
        some: as in `mark`.
        out: shape (documents,), zeros; filled in.
        marked: shape (all entries that are looked at + 1,), the list; written.

    Returns:
        its length.
    """
    count = 0
    for at in range(some.whole.shape[0]):
        for entry in range(some.whole[at, 0], some.whole[at, 1]):
            doc = some.docs[entry]
            score = worth_of(entry, at, some)
            # Written down before it is known to be one: a branch that nobody can foresee takes longer.
            marked[count] = doc
            count += score > out[doc] and out[doc] == 0
            out[doc] = max(score, out[doc])
    return count


@lean
def gathered(
    marked: NDArray[np.int32],
    out: NDArray[np.float32],
    total: NDArray[np.float32],
    all_marked: NDArray[np.int32],
    count: int,
) -> int:
    """Add what documents have for one condition to what they have for those before.

    Args:
        marked: shape (n,), the documents.
        out: shape (documents,), what they have; zeros again afterwards.
        total: shape (documents,); changed.
        all_marked: shape (count + n or more,), the documents with a total; added to.
        count: how many these are.

    Returns:
        how many there are after that.
    """
    for n in range(marked.size):
        doc = marked[n]
        all_marked[count] = doc
        count += total[doc] == 0
        total[doc] += out[doc]
        out[doc] = 0
    return count
