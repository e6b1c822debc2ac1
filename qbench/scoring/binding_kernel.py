"""The loops of `qbench.scoring.binding`, compiled by numba. Import it inside functions only: numba is slow to load.

Comparators are whole numbers here: of mentions = ~ < <= > >= between, of conditions = != < <= > >= between, from 0.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from qbench.compiling import inlined, lean, merged
from qbench.quantities.conditions import RELATIVE_TOLERANCE
from qbench.scoring.records import AT_CODES, AT_WORDS, HEAD, LEAD

_COUNTED, _BARE, _AGE, _YEAR = 1, 2, 3, 4
_AHEAD, _LINE = 32, 16
"""Documents whose memory is read ahead, and numbers of four bytes in a line of it."""
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
    at: int,
    cells: NDArray[np.int32],
    doubles: NDArray[np.float64],
    c: int,
    whole: NDArray[np.int64],
    real: NDArray[np.float64],
    setting: NDArray[np.float64],
) -> tuple[float, bool, bool]:
    """How comparable a mention is with a condition, whether it satisfies it, and whether its unit says so.

    Args:
        at: where the mention's head is among the cells.
        cells, doubles: of `Records`.
        c: the condition.
        whole, real: the tables of `qbench.scoring.binding`.
        setting: tiers, what a change is worth, and the floor.
    """
    codes, numbers = at + AT_CODES, at >> 1
    base, mine, theirs, amount = cells[codes], cells[codes + 1], whole[c, 1], cells[codes + 4]
    low, high = doubles[numbers], doubles[numbers + 1]
    x, y, a, b = doubles[numbers + 2], doubles[numbers + 3], real[c, 2], real[c, 3]
    strong = True
    if base == whole[c, 0]:
        tier, x, y, a, b = setting[_SAME], low, high, real[c, 0], real[c, 1]
    elif amount >= 0 and amount == whole[c, 0]:
        factor = doubles[numbers + 4]
        tier, x, y, a, b = setting[_RATE], low * factor, high * factor, real[c, 0], real[c, 1]
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
    if cells[codes + 3] != whole[c, 3]:
        tier *= setting[_CHANGED]
    return tier, met(x, y, cells[codes + 2], whole[c, 2], a, b), strong


@merged
def _touch(docs: NDArray[np.int64], starts: NDArray[np.int64], cells: NDArray[np.int32]) -> int:
    """Read from each line of memory that some documents' records are in: many at a time, which is how memory is quick.

    Args:
        docs: shape (n,).
        starts, cells: of `Records`.
    """
    total = 0
    for n in range(docs.size):
        total += starts[docs[n]] & 1
    for n in range(docs.size):
        for at in range(2 * starts[docs[n]], 2 * starts[docs[n] + 1], _LINE):
            total += cells[at] & 1
    return total


@merged
def _texts(
    n: int,
    first: int,
    last: int,
    cells: NDArray[np.int32],
    terms: NDArray[np.int32],
    slots: NDArray[np.int16],
    word_weights: NDArray[np.float64],
    pair_weights: NDArray[np.float64],
    seen: NDArray[np.int32],
    out: NDArray[np.float64],
) -> None:
    """The shares of words and pairs of the nth document, whose tokens are cells `first` to `last`; else as `score`."""
    before = -1
    for token in range(first, last):
        slot = slot_of(cells[token], terms, slots)
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
    starts: NDArray[np.int64],
    cells: NDArray[np.int32],
    doubles: NDArray[np.float64],
    terms: NDArray[np.int32],
    slots: NDArray[np.int16],
    word_weights: NDArray[np.float64],
    pair_weights: NDArray[np.float64],
    place_weights: NDArray[np.float64],
    whole: NDArray[np.int64],
    real: NDArray[np.float64],
    bindings: NDArray[np.float64],
    setting: NDArray[np.float64],
    seen: NDArray[np.int32],
    out: NDArray[np.float64],
    weights: NDArray[np.float64],
    totals: NDArray[np.float64],
) -> int:
    """The parts of the score of some documents, and their weighted sum.

    Args:
        docs: shape (n,).
        starts, cells, doubles: of `Records`.
        terms, slots: as in `slot_of`.
        word_weights, pair_weights, bindings: of `Asked`, s words.
        place_weights: shape (places,).
        whole, real: shape (conditions, 5) and (conditions, 6), the conditions.
        setting: as in `comparison`.
        seen: shape (s + 1, s), zeros; working memory: the number of the last document with each word, and each pair.
        out: shape (n, 5), zeros; filled in.
        weights: shape (5,), of the parts.
        totals: shape (n,); the parts times their weights are added, one after the other.

    Returns:
        a number that means nothing: without it nothing would be read ahead.
    """
    floor, conditions, touched = setting[_FLOOR], whole.shape[0], 0
    for n in range(docs.size):
        if n % _AHEAD == 0:
            touched += _touch(docs[n : n + _AHEAD], starts, cells)
        head = 2 * starts[docs[n]]
        mentions, tokens = cells[head], cells[head + 1]
        heads = head + LEAD
        text = heads + HEAD * mentions
        _texts(n, text, text + tokens, cells, terms, slots, word_weights, pair_weights, seen, out)
        for c in range(conditions):
            sat, best, best_of_all, last = 0.0, 0.0, 0.0, text + tokens
            for at in range(heads, text, HEAD):
                word, last = last, last + cells[at + AT_WORDS]
                tier, meets, strong = comparison(at, cells, doubles, c, whole, real, setting)
                if tier == 0.0:
                    continue
                bind = 0.0
                for w in range(word, last):
                    slot = slot_of(cells[w] >> 2, terms, slots)
                    if slot >= 0:
                        bind += bindings[c, slot] * place_weights[cells[w] & 3]
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
        for part in range(weights.size):
            totals[n] += out[n, part] * weights[part]
    return touched


@lean
def nearest_meaning(
    docs: NDArray[np.int64],
    starts: NDArray[np.int64],
    cells: NDArray[np.int32],
    doubles: NDArray[np.float64],
    whole: NDArray[np.int64],
    real: NDArray[np.float64],
    setting: NDArray[np.float64],
    cosines: NDArray[np.float64],
    out: NDArray[np.float64],
) -> None:
    """The mean over the conditions of the highest tier * cosine of the mentions that satisfy each.

    Args:
        docs: shape (n,).
        starts, cells, doubles: of `Records`.
        whole, real, setting: as in `score`.
        cosines: shape (mentions of all docs,), in their order; below zero counts as zero.
        out: shape (n,), zeros; filled in.
    """
    before = 0
    for n in range(docs.size):
        head = 2 * starts[docs[n]]
        for c in range(whole.shape[0]):
            best = 0.0
            for m in range(cells[head]):
                tier, meets, strong = comparison(head + LEAD + HEAD * m, cells, doubles, c, whole, real, setting)
                if meets and strong:
                    best = max(best, tier * cosines[before + m])
            out[n] += best / whole.shape[0]
        before += cells[head]
