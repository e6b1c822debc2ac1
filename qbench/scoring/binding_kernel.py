"""The loops of `qbench.scoring.binding`, compiled by numba. Import it inside functions only: numba is slow to load.

Comparators are whole numbers here: of mentions = ~ < <= > >= between, of conditions = != < <= > >= between, from 0.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from qbench.compiling import compiled, inlined, lean, merged
from qbench.quantities.conditions import RELATIVE_TOLERANCE
from qbench.scoring.selection_kernel import kth, shrink

_COUNTED, _BARE, _AGE, _YEAR = 1, 2, 3, 4
_AHEAD, _LINE = 32, 16
"""Documents whose memory is read ahead, and numbers of four bytes in a line of it."""
_FEW = 2048
"""Documents of a sample."""
_SAME, _RATE, _COUNT, _AGES, _ANY, _CHANGED, _FLOOR = range(7)


@inlined
def met(low: float, high: float, comparator: int, asked: int, a: float, b: float) -> bool:
    """Whether every value that a mention allows satisfies a condition: `qbench.quantities.conditions.verdicts` is MET.

    Args:
        low, high, comparator: the mention's.
        asked: the condition's comparator.
        a, b: its values.
    """
    lowest = -np.inf if comparator in (2, 3) else low
    highest = np.inf if comparator in (4, 5) else high
    near_a, near_b = RELATIVE_TOLERANCE * abs(a), RELATIVE_TOLERANCE * abs(b)
    if asked in (0, 6):
        return lowest >= a - near_a and highest <= b + near_b
    if asked == 1:
        below = highest < a - near_a or (comparator == 2 and abs(highest - a) <= near_a)
        return below or lowest > b + near_b or (comparator == 4 and abs(lowest - b) <= near_b)
    if asked == 2:
        return highest < a - near_a or (comparator == 2 and abs(highest - a) <= near_a)
    if asked == 3:
        return highest <= a + near_a
    if asked == 4:
        return lowest > a + near_a or (comparator == 4 and abs(lowest - a) <= near_a)
    return lowest >= a - near_a


@inlined
def slot_of(term: int, terms: NDArray[np.int32], slots: NDArray[np.int16]) -> int:
    """The slot of a term of the query, -1 for any other.

    Args:
        terms: shape (s,), the query's.
        slots: shape (a power of two,): 1 + the slot of the one term that ends in these bits, else 0. It is small, so
            that it stays in the processor's first cache.
    """
    slot = slots[term & (slots.size - 1)] - 1
    return slot if slot >= 0 and terms[slot] == term else -1


@inlined
def comparison(
    m: int,
    codes: NDArray[np.int32],
    numbers: NDArray[np.float64],
    c: int,
    whole: NDArray[np.int64],
    real: NDArray[np.float64],
    setting: NDArray[np.float64],
) -> tuple[float, bool, bool]:
    """How comparable mention m is with a condition, whether it satisfies it, and whether its unit says so.

    Args:
        codes, numbers: of `Mentions`.
        c: the condition.
        whole, real: the tables of `qbench.scoring.binding`.
        setting: tiers, what a change is worth, and the floor.
    """
    base, mine, theirs, amount = codes[m, 0], codes[m, 1], whole[c, 1], codes[m, 4]
    low, high = numbers[m, 0], numbers[m, 1]
    x, y, a, b = numbers[m, 2], numbers[m, 3], real[c, 2], real[c, 3]
    strong = True
    if base == whole[c, 0]:
        tier, x, y, a, b = setting[_SAME], low, high, real[c, 0], real[c, 1]
    elif amount >= 0 and amount == whole[c, 0]:
        tier, x, y, a, b = setting[_RATE], low * numbers[m, 4], high * numbers[m, 4], real[c, 0], real[c, 1]
    elif whole[c, 4] >= 0 and base == whole[c, 4]:
        tier, x, y, a, b = setting[_RATE], low, high, real[c, 4], real[c, 5]
    elif (theirs == _COUNTED and mine in (_COUNTED, _BARE)) or (theirs == _BARE and mine == _COUNTED):
        tier = setting[_COUNT]
    elif (theirs == _AGE and mine == _YEAR) or (theirs == _YEAR and mine == _AGE):
        tier = setting[_AGES]
    elif mine == _BARE or theirs == _BARE:
        tier, strong = setting[_ANY], False
    else:
        return 0.0, False, False
    if codes[m, 3] != whole[c, 3]:
        tier *= setting[_CHANGED]
    return tier, met(x, y, codes[m, 2], whole[c, 2], a, b), strong


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


@lean
def foremost(
    levels: NDArray[np.float32],
    codes: NDArray[np.uint8],
    few: bool,
    sums: NDArray[np.float64],
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
        sums: shape (documents,), none below zero; with level 0, a document with 0 does not count.
        weight: of a level.
        k: from 1 to the number of documents.
        docs, scores, spare: shape (SAMPLE + PLACES * k,), the first two written.

    Returns:
        how many there are; -1 where the sample was no good, and nothing can be said.
    """
    step = max(sums.size // _FEW, 1)
    sampled = min(sums.size // step, _FEW)
    for slot in range(sampled):
        spare[slot] = sums[slot * step] + weight * levels[codes[slot * step]]
    least, size = kth(spare, sampled, min(2 * k * sampled // sums.size + 8, sampled)), 0
    # Sums alone leave most documents out; a little lower, for what rounding may do.
    bar = least - (0.0 if few else weight * levels[levels.size - 1])
    bar -= 1e-9 * abs(bar)
    for doc in range(np.uintp(sums.size)):
        if sums[doc] >= bar or (few and codes[doc] > 0):
            total = sums[doc] + weight * levels[codes[doc]]
            if total > 0 and (total >= least or (few and codes[doc] > 0)):
                if size == docs.size:
                    return -1
                docs[size], scores[size] = doc, total
                size += 1
    if size < k and least > 0:
        return -1
    if size > k:
        shrink(docs, scores, spare, size, k)
    return min(size, k)


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


@merged
def touch(docs: NDArray[np.int64], starts: NDArray[np.int64], values: NDArray[np.int32]) -> int:
    """Read from each line of memory that some documents' values are in: many at a time, which is how memory is quick.

    Args:
        docs: shape (n,).
        starts: the values of document d are starts[d] to starts[d + 1].
        values: of all.
    """
    total = 0
    for n in range(docs.size):
        total += starts[docs[n]] & 1
    for n in range(docs.size):
        for at in range(starts[docs[n]], starts[docs[n] + 1], _LINE):
            total += values[at] & 1
    return total


@merged
def touch_mentions(
    docs: NDArray[np.int64],
    starts: NDArray[np.int64],
    codes: NDArray[np.int32],
    numbers: NDArray[np.float64],
    word_starts: NDArray[np.int64],
    words: NDArray[np.int32],
) -> int:
    """`touch` for the mentions of some documents and their words."""
    total = 0
    for n in range(docs.size):
        total += starts[docs[n]] & 1
    for n in range(docs.size):
        for m in range(starts[docs[n]], starts[docs[n] + 1]):
            total += (word_starts[m] & 1) + (codes[m, 0] & 1) + (numbers[m, 0] > 0)
    for n in range(docs.size):
        for at in range(word_starts[starts[docs[n]]], word_starts[starts[docs[n] + 1]], _LINE):
            total += words[at] & 1
    return total


@merged
def _texts(
    n: int,
    first: int,
    last: int,
    text_terms: NDArray[np.int32],
    terms: NDArray[np.int32],
    slots: NDArray[np.int16],
    word_weights: NDArray[np.float64],
    pair_weights: NDArray[np.float64],
    seen: NDArray[np.int32],
    out: NDArray[np.float64],
) -> None:
    """The shares of words and pairs of the nth document, whose tokens are `first` to `last`; the rest as in `score`."""
    before = -1
    for token in range(first, last):
        slot = slot_of(text_terms[token], terms, slots)
        if slot >= 0:
            if seen[terms.size, slot] != n + 1:
                seen[terms.size, slot] = n + 1
                out[n, 0] += word_weights[slot]
            if before >= 0 and seen[before, slot] != n + 1:
                seen[before, slot] = n + 1
                out[n, 1] += pair_weights[before, slot]
        before = slot


@lean
def score(
    docs: NDArray[np.int64],
    text_starts: NDArray[np.int64],
    text_terms: NDArray[np.int32],
    terms: NDArray[np.int32],
    slots: NDArray[np.int16],
    word_weights: NDArray[np.float64],
    pair_weights: NDArray[np.float64],
    starts: NDArray[np.int64],
    codes: NDArray[np.int32],
    numbers: NDArray[np.float64],
    word_starts: NDArray[np.int64],
    words: NDArray[np.int32],
    place_weights: NDArray[np.float64],
    whole: NDArray[np.int64],
    real: NDArray[np.float64],
    bindings: NDArray[np.float64],
    setting: NDArray[np.float64],
    seen: NDArray[np.int32],
    out: NDArray[np.float64],
) -> int:
    """The parts of the score of some documents.

    Args:
        docs: shape (n,).
        text_starts, text_terms: of `Texts`.
        terms, slots: as in `slot_of`.
        word_weights, pair_weights, bindings: of `Asked`, s words.
        starts, ..., words: of `Mentions`.
        place_weights: shape (places,).
        whole, real: shape (conditions, 5) and (conditions, 6), the conditions.
        setting: as in `comparison`.
        seen: shape (s + 1, s), zeros; working memory: the number of the last document with each word, and each pair.
        out: shape (n, 5), zeros; filled in.

    Returns:
        a number that means nothing: without it nothing would be read ahead.
    """
    floor, conditions, touched = setting[_FLOOR], whole.shape[0], 0
    for n in range(docs.size):
        if n % _AHEAD == 0:
            some = docs[n : n + _AHEAD]
            touched += touch(some, text_starts, text_terms)
            if conditions:
                touched += touch_mentions(some, starts, codes, numbers, word_starts, words)
        doc = docs[n]
        first, last = text_starts[doc], text_starts[doc + 1]
        _texts(n, first, last, text_terms, terms, slots, word_weights, pair_weights, seen, out)
        for c in range(conditions):
            sat, best, best_of_all = 0.0, 0.0, 0.0
            for m in range(starts[doc], starts[doc + 1]):
                tier, meets, strong = comparison(m, codes, numbers, c, whole, real, setting)
                if tier == 0.0:
                    continue
                bind = 0.0
                for w in range(word_starts[m], word_starts[m + 1]):
                    slot = slot_of(words[w] >> 2, terms, slots)
                    if slot >= 0:
                        bind += bindings[c, slot] * place_weights[words[w] & 3]
                worth = tier * (bind + (floor if strong else 0.0)) / (1 + floor)
                best_of_all = max(best_of_all, worth)
                if meets:
                    best = max(best, worth)
                    if strong:
                        sat = max(sat, tier)
            out[n, 2] += sat / conditions
            out[n, 3] += best / conditions
            if best_of_all > 0:
                out[n, 4] += best / best_of_all / conditions
    return touched


@lean
def nearest_meaning(
    docs: NDArray[np.int64],
    starts: NDArray[np.int64],
    codes: NDArray[np.int32],
    numbers: NDArray[np.float64],
    whole: NDArray[np.int64],
    real: NDArray[np.float64],
    setting: NDArray[np.float64],
    cosines: NDArray[np.float64],
    out: NDArray[np.float64],
) -> None:
    """The mean over the conditions of the highest tier * cosine of the mentions that satisfy each.

    Args:
        docs: shape (n,).
        starts, codes, numbers: of `Mentions`.
        whole, real, setting: as in `score`.
        cosines: shape (mentions of all docs,), in their order; below zero counts as zero.
        out: shape (n,), zeros; filled in.
    """
    before = 0
    for n in range(docs.size):
        first, last = starts[docs[n]], starts[docs[n] + 1]
        for c in range(whole.shape[0]):
            best = 0.0
            for m in range(first, last):
                tier, meets, strong = comparison(m, codes, numbers, c, whole, real, setting)
                if meets and strong:
                    best = max(best, tier * cosines[before + m - first])
            out[n] += best / whole.shape[0]
        before += last - first
