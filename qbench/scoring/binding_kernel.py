"""The loops of `qbench.scoring.binding`, compiled by numba. Import it inside functions only: numba is slow to load.

Comparators are whole numbers here: of mentions = ~ < <= > >= between, of conditions = != < <= > >= between, from 0.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from qbench.compiling import compiled, inlined
from qbench.quantities.conditions import RELATIVE_TOLERANCE

_COUNTED, _BARE, _AGE, _YEAR = 1, 2, 3, 4
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
def comparison(
    m: int,
    codes: NDArray[np.int32],
    numbers: NDArray[np.float64],
    whole: NDArray[np.int64],
    real: NDArray[np.float64],
    setting: NDArray[np.float64],
) -> tuple[float, bool, bool]:
    """How comparable mention m is with a condition, whether it satisfies it, and whether its unit says so.

    Args:
        codes, numbers: of `Mentions`.
        whole, real: the condition's row of the tables of `qbench.scoring.binding`.
        setting: tiers, what a change is worth, and the floor.
    """
    base, mine, theirs, amount = codes[m, 0], codes[m, 1], whole[1], codes[m, 4]
    low, high = numbers[m, 0], numbers[m, 1]
    x, y, a, b = numbers[m, 2], numbers[m, 3], real[2], real[3]
    strong = True
    if base == whole[0]:
        tier, x, y, a, b = setting[_SAME], low, high, real[0], real[1]
    elif amount >= 0 and amount == whole[0]:
        tier, x, y, a, b = setting[_RATE], low * numbers[m, 4], high * numbers[m, 4], real[0], real[1]
    elif whole[4] >= 0 and base == whole[4]:
        tier, x, y, a, b = setting[_RATE], low, high, real[4], real[5]
    elif (theirs == _COUNTED and mine in (_COUNTED, _BARE)) or (theirs == _BARE and mine == _COUNTED):
        tier = setting[_COUNT]
    elif (theirs == _AGE and mine == _YEAR) or (theirs == _YEAR and mine == _AGE):
        tier = setting[_AGES]
    elif mine == _BARE or theirs == _BARE:
        tier, strong = setting[_ANY], False
    else:
        return 0.0, False, False
    if codes[m, 3] != whole[3]:
        tier *= setting[_CHANGED]
    return tier, met(x, y, codes[m, 2], whole[2], a, b), strong


@compiled
def mark(
    first: int,
    last: int,
    docs: NDArray[np.int32],
    low: NDArray[np.float64],
    high: NDArray[np.float64],
    comparator: NDArray[np.uint8],
    worth: NDArray[np.float32],
    change: NDArray[np.int8],
    asked: int,
    a: float,
    b: float,
    asked_change: int,
    tier: float,
    changed: float,
    out: NDArray[np.float32],
) -> None:
    """Raise the score of every document that holds one of some entries that satisfies a condition.

    Args:
        first, last: range of the entries.
        docs, ..., change: columns of `qbench.scoring.binding.Entries`.
        asked, a, b, asked_change: the condition's comparator, values and change.
        tier: what entries of the condition's own unit are worth.
        changed: what a change is worth for a level, and the other way round.
        out: shape (documents,); changed in place.
    """
    for entry in range(first, last):
        if met(low[entry], high[entry], comparator[entry], asked, a, b):
            score = np.float32(tier * worth[entry] * (1.0 if change[entry] == asked_change else changed))
            if score > out[docs[entry]]:
                out[docs[entry]] = score


@compiled
def blend(
    docs: NDArray[np.int64], own: NDArray[np.float64], sat: NDArray[np.float32], weight: float, out: NDArray[np.float64]
) -> None:
    """Out = own + weight * sat[docs], in one pass.

    Args:
        docs, own, out: shape (n,).
        sat: shape (documents,).
        weight: of sat.
    """
    for n in range(docs.size):
        out[n] = own[n] + weight * sat[docs[n]]


@compiled
def score(
    docs: NDArray[np.int64],
    text_starts: NDArray[np.int64],
    text_terms: NDArray[np.int32],
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
    out: NDArray[np.float64],
) -> None:
    """The parts of the score of some documents.

    Args:
        docs: shape (n,).
        text_starts, text_terms: of `Texts`.
        slots: shape (terms,), 1 + the slot of each term of the query, else 0.
        word_weights, pair_weights, bindings: of `Asked`.
        starts, ..., words: of `Mentions`.
        place_weights: shape (places,).
        whole, real: shape (conditions, 5) and (conditions, 6), the conditions.
        setting: as in `comparison`.
        out: shape (n, 5), zeros; filled in.
    """
    held = np.zeros(word_weights.size, np.bool_)
    paired = np.zeros(pair_weights.shape, np.bool_)
    floor = setting[_FLOOR]
    for n in range(docs.size):
        doc = docs[n]
        terms = text_terms[text_starts[doc] : text_starts[doc + 1]]
        _texts(terms, slots, word_weights, pair_weights, held, paired, out[n])
        for c in range(whole.shape[0]):
            sat, best, best_of_all = 0.0, 0.0, 0.0
            for m in range(starts[doc], starts[doc + 1]):
                tier, meets, strong = comparison(m, codes, numbers, whole[c], real[c], setting)
                if tier == 0.0:
                    continue
                bind = 0.0
                for w in range(word_starts[m], word_starts[m + 1]):
                    slot = slots[words[w] >> 2]
                    if slot:
                        bind += bindings[c, slot - 1] * place_weights[words[w] & 3]
                worth = tier * (bind + (floor if strong else 0.0)) / (1 + floor)
                best_of_all = max(best_of_all, worth)
                if meets:
                    best = max(best, worth)
                    if strong:
                        sat = max(sat, tier)
            out[n, 2] += sat / whole.shape[0]
            out[n, 3] += best / whole.shape[0]
            if best_of_all > 0:
                out[n, 4] += best / best_of_all / whole.shape[0]


@compiled
def _texts(
    terms: NDArray[np.int32],
    slots: NDArray[np.int16],
    word_weights: NDArray[np.float64],
    pair_weights: NDArray[np.float64],
    held: NDArray[np.bool_],
    paired: NDArray[np.bool_],
    out: NDArray[np.float64],
) -> None:
    """The shares of words and pairs of one text; `held` and `paired` are for use inside."""
    held[:] = False
    paired[:] = False
    before = -1
    for term in terms:
        slot = slots[term] - 1
        if slot >= 0:
            if not held[slot]:
                held[slot] = True
                out[0] += word_weights[slot]
            if before >= 0 and not paired[before, slot]:
                paired[before, slot] = True
                out[1] += pair_weights[before, slot]
        before = slot
