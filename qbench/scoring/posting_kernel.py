"""The loops over posting lists, compiled by numba. Import it inside functions only: numba is slow to load."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from qbench.compiling import compiled, lean, merged
from qbench.scoring.selection_kernel import lowest, shrink

BLOCK = 1 << 15
"""Documents whose sums are made at a time: 256 kB, which stay in a core's cache while list after list is added."""

GROUP = 64
"""Documents that are looked at one by one if any of them counts; `BLOCK` is a multiple of it."""


@merged
def part_end(docs: NDArray[np.int32], low: int, high: int, doc: int) -> int:
    """The first of the postings low to high whose document is `doc` or a later one, else `high`."""
    while low < high:
        middle = (low + high) >> 1
        if docs[middle] < doc:
            low = middle + 1
        else:
            high = middle
    return low


@merged
def add_block(
    docs: NDArray[np.int32],
    weights: NDArray[np.floating[Any]],
    factors: NDArray[np.float64],
    at: NDArray[np.int64],
    ends: NDArray[np.int64],
    first: int,
    last: int,
    sums: NDArray[np.float64],
) -> None:
    """Add factor * weight to the sum of every document from first to last in some lists.

    Args:
        docs, weights: as in `qbench.scoring.postings.Postings`.
        factors, at, ends: shape (m,): of each list its factor, the next posting, which is moved on in place, and where
            it ends.
        first, last: range of documents.
        sums: shape (last - first or more,); changed in place, list after list, so that equal input gives equal bits.
    """
    for entry in range(at.size):
        factor, end = factors[entry], part_end(docs, at[entry], ends[entry], last)
        for posting in range(at[entry], end):
            sums[docs[posting] - first] += factor * weights[posting]
        at[entry] = end


@lean
def add(
    docs: NDArray[np.int32],
    weights: NDArray[np.floating[Any]],
    factors: NDArray[np.float64],
    at: NDArray[np.int64],
    ends: NDArray[np.int64],
    sums: NDArray[np.float64],
) -> None:
    """Add factor * weight to the sum of every document in some lists.

    Args:
        docs, weights, factors, at, ends: as in `add_block`.
        sums: shape (documents,); changed in place.
    """
    for first in range(0, sums.size, BLOCK):
        last = min(first + BLOCK, sums.size)
        add_block(docs, weights, factors, at, ends, first, last, sums[first:last])


@lean
def best(
    docs: NDArray[np.int32],
    weights: NDArray[np.floating[Any]],
    factors: NDArray[np.float64],
    at: NDArray[np.int64],
    ends: NDArray[np.int64],
    size: int,
    k: int,
    sums: NDArray[np.float64],
    found: NDArray[np.int64],
    scores: NDArray[np.float64],
    spare: NDArray[np.float64],
) -> int:
    """The k documents with the highest sums above zero, ascending, and these; of equal ones the first count.

    No more than the sums of a block are in memory.

    Args:
        docs, weights, factors, at, ends: as in `add_block`.
        size: number of documents.
        k: from 1.
        sums: shape (BLOCK,), working memory.
        found, scores: shape (k + GROUP or more,), written.
        spare: of that shape, working memory.

    Returns:
        how many there are.
    """
    count, least = 0, 0.0  # a sum counts that is higher
    for first in range(0, size, BLOCK):
        last = min(first + BLOCK, size)
        sums[:] = 0.0
        add_block(docs, weights, factors, at, ends, first, last, sums)
        for start in range(0, last - first, GROUP):
            # Behind the last document of all lie zeros, which are never higher.
            some, higher = sums[start : start + GROUP], 0
            for doc in range(GROUP):  # from 0, so that one instruction does several of them
                higher += some[doc] > least
            if not higher:
                continue
            if count + GROUP > found.size:
                shrink(found, scores, spare, count, k)
                count, least = k, lowest(scores, k)
            for doc in range(min(GROUP, last - first - start)):
                # Written down before it is known to be one: a branch that nobody can foresee takes longer.
                found[count], scores[count] = first + start + doc, some[doc]
                count += some[doc] > least
    if count > k:
        shrink(found, scores, spare, count, k)
    return min(count, k)


@compiled
def raise_held(
    docs: NDArray[np.int32],
    weights: NDArray[np.float64],
    factor: float,
    sums: NDArray[np.float64],
) -> None:
    """Add factor * weight to the sums of documents that are above zero.

    Args:
        docs, weights: shape (n,); a document counts each time.
        factor: of the weights.
        sums: shape (documents,); changed in place.
    """
    for n in range(docs.size):
        doc = docs[n]
        if sums[doc] > 0:
            sums[doc] += factor * weights[n]


@lean
def common(few: NDArray[np.int32], docs: NDArray[np.int32], out: NDArray[np.int32]) -> int:
    """The documents of a list that are in a longer one, too; both ascending.

    From where the last one was found the next is sought in steps that double, since it is seldom far.

    Args:
        few: shape (n,).
        docs: shape (1 or more,).
        out: shape (n or more,), written; may be `few`.

    Returns:
        how many there are.
    """
    at, size = 0, 0
    for n in range(few.size):
        doc, step = few[n], 1
        while at + step < docs.size and docs[at + step] <= doc:
            at += step
            step *= 2
        while step > 1:
            step //= 2
            if at + step < docs.size and docs[at + step] <= doc:
                at += step
        out[size] = doc
        size += docs[at] == doc
    return size


@lean
def held(
    first: int,
    last: int,
    docs: NDArray[np.int32],
    among: NDArray[np.float64] | NDArray[np.bool_],
    out: NDArray[np.int32],
) -> int:
    """Which of some entries are of documents that are wanted.

    Args:
        first, last: range of the entries.
        docs: of all entries.
        among: shape (documents,), above zero for those.
        out: shape (entries + 1 or more,), positions of entries; written.

    Returns:
        how many there are.
    """
    count = 0
    for entry in range(first, last):
        # Written down before it is known to be one: a branch that nobody can foresee takes longer.
        out[count] = entry
        count += among[docs[entry]] > 0
    return count


@compiled
def scatter(
    starts: NDArray[np.int64],
    terms: NDArray[np.int32],
    weights: NDArray[np.float32],
    first: int,
    low: int,
    ends: NDArray[np.int64],
    docs: NDArray[np.int32],
    values: NDArray[np.float32],
) -> None:
    """Put what the rows of a block have of some terms at the ends of those terms' lists.

    Args:
        starts: shape (rows + 1,): the entries of row r are starts[r] to starts[r + 1] of the next two.
        terms, weights: of the entries.
        first: the number of the block's first row.
        low: the first of the terms.
        ends: shape (some terms,): where the next posting of each goes; moved on.
        docs, values: shape (their postings,): the numbers of rows, and their weights; filled in.
    """
    for row in range(starts.size - 1):
        for entry in range(starts[row], starts[row + 1]):
            term = terms[entry] - low
            if 0 <= term < ends.size:
                end = ends[term]
                docs[end] = first + row
                values[end] = weights[entry]
                ends[term] = end + 1


@compiled
def collect(sums: NDArray[np.float64], docs: NDArray[np.int64], scores: NDArray[np.float64]) -> None:
    """The documents with a sum above zero, ascending, and their sums.

    Args:
        sums: shape (documents,), none below zero.
        docs, scores: shape (those documents + 1,), written; the last place means nothing.
    """
    size = 0
    for doc in range(sums.size):
        docs[size], scores[size] = doc, sums[doc]
        size += sums[doc] > 0
