"""Scores that bind a value to what it is about: is the number that satisfies the one that the query's words name?

For a document d and a query of conditions c, each with weighted words (its concept and counted noun 1, the other words
of its clause less, the farther the less):

    bind(m, c)  = the share of c's words, weighted by their idf over mentions, that stand in m's concept, unit or
                  subject, or near it with no other number between (each place counts as `PLACES` says)
    value(m, c) = comparable(m, c) * (bind(m, c) + floor) / (1 + floor)
    sat(c)      = the highest comparable(m, c) of the mentions of d that satisfy c
    S(c)        = the highest value(m, c) of those
    ratio(c)    = S(c) over the highest value(m, c) of all mentions of d, satisfying or not

comparable(m, c) comes in tiers: 1 for the same base unit, less for nouns that are counted, for a rate and an amount,
for a year of age and a year, and least for a bare number and any unit, which the words alone must bind (no floor, no
sat). A change and a level compare by half. Beside these stand the share of the query's words, weighted by idf, that the
document holds (`words`), and the share of its pairs of neighbouring words (`pairs`).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final

import numpy as np
from numpy.typing import NDArray

from qbench.quantities.conditions import RELATIVE_TOLERANCE
from qbench.quantities.types import COMPARATORS, Comparator
from qbench.scoring.ranking import LARGE, best_above, top_k
from qbench.scoring.records import AGE, BARE, COUNTED, PLACES, YEAR, Mentions, Records
from qbench.scoring.scratch import scratch, zeros

if TYPE_CHECKING:
    from qbench.scoring.satisfying_kernel import Reached

WEIGHTS: Final[Mapping[str, float]] = {"concept": 1.0, "unit": 1.0, "subject": 0.8, "near": 0.6}
"""What a word counts by its place."""

TIERS: Final[Mapping[str, float]] = {"same": 1.0, "rate": 0.8, "count": 0.7, "age": 0.6, "bare": 0.3}
"""How comparable a mention and a condition are: by one base unit, as rate and amount, as counted or bare, as year of
age and year, as a bare number and any unit."""

CHANGED: Final = 0.5
"""What a change is worth where a level is asked for, and the other way round."""

FLOOR: Final = 0.15
"""What a comparable mention is worth that no word binds."""

PARTS: Final = ("words", "pairs", "satisfied", "binding", "ratio")
"""The columns of `parts`: the shares of words and of pairs; the means over the conditions of sat, S and ratio."""

MEANING: Final = "meaning"
"""The part of `meanings`, for which a mention needs a vector."""


@dataclass(frozen=True)
class Entries:
    """The same mentions by what they are compared as, each group ascending by its lower value.

    There is a group for each base unit, in which a rate stands as an amount, too; and at the end three, by value as
    stated: all counted and bare numbers, all years of age, and all years.

    Attributes:
        size: number of documents.
        starts: shape (groups + 1,), int64: the entries of group g are starts[g] to starts[g + 1].
        docs: shape (entries,), int32.
        low, high: shape (entries,), in the group's unit.
        comparator, change: as of `Mentions`.
        worth: shape (entries,), float32: the tier of a rate as an amount, else 1.
    """

    size: int
    starts: NDArray[np.int64]
    docs: NDArray[np.int32]
    low: NDArray[np.float64]
    high: NDArray[np.float64]
    comparator: NDArray[np.uint8]
    change: NDArray[np.int8]
    worth: NDArray[np.float32]

    @cached_property
    def simple(self) -> NDArray[np.bool_]:
        """Which are plain numbers in their own unit, and no changes; shape (entries,)."""
        plain = (self.comparator < 2) & (self.low == self.high)  # = and ~
        simple: NDArray[np.bool_] = plain & (self.change == 0) & (self.worth == 1)
        return simple

    def reach(self, group: int, comparator: Comparator, low: float, high: float) -> Iterator[tuple[int, int, bool]]:
        """The entries of a group that can satisfy a condition: ranges, and whether the plain numbers in each do."""
        first, last = int(self.starts[group]), int(self.starts[group + 1])
        values = self.low[first:last]
        # Equal to the one value or the other, or between them, but for rounding.
        start = first + int(np.searchsorted(values, low - abs(low) * RELATIVE_TOLERANCE))
        stop = first + int(np.searchsorted(values, high + abs(high) * RELATIVE_TOLERANCE, side="right"))
        if comparator in ("<", "<=", "!="):
            yield first, start, True
        yield start, stop, comparator in ("=", "between", "<=", ">=")
        if comparator in (">", ">=", "!="):
            yield stop, last, True


def entries_of(mentions: Mentions, units: int) -> Entries:
    """The entries of some mentions.

    Args:
        mentions: of n documents.
        units: number of base units.
    """
    docs = np.repeat(np.arange(mentions.starts.size - 1), np.diff(mentions.starts))
    kind, amount, factor = mentions.code("kind"), mentions.code("amount"), mentions.number("factor")
    everything, rates = np.arange(docs.size), np.flatnonzero(amount >= 0)
    stated = [np.flatnonzero(np.isin(kind, kinds)) for kinds in ((COUNTED, BARE), (AGE,), (YEAR,))]
    which = np.concatenate([everything, rates, *stated])
    groups = np.concatenate(
        [mentions.code("base"), amount[rates], *(np.full(some.size, units + n) for n, some in enumerate(stated))]
    )
    lows, highs = (
        np.concatenate(
            [
                mentions.number(own),
                mentions.number(own)[rates] * factor[rates],
                *(mentions.number(as_stated)[some] for some in stated),
            ]
        )
        for own, as_stated in (("low", "value"), ("high", "value_high"))
    )
    worth = np.ones(which.size, np.float32)
    worth[everything.size : everything.size + rates.size] = TIERS["rate"]
    order = np.lexsort((which, lows, groups))
    return Entries(
        mentions.starts.size - 1,
        np.searchsorted(groups[order], np.arange(units + 4)).astype(np.int64),
        docs[which][order].astype(np.int32),
        lows[order],
        highs[order],
        mentions.code("comparator")[which][order].astype(np.uint8),
        mentions.code("change")[which][order].astype(np.int8),
        worth[order],
    )


@dataclass(frozen=True)
class Target:
    """A condition as numbers.

    Attributes:
        base: number of its base unit; -1 for one that no mention has.
        kind: `OTHER` to `YEAR`.
        comparator: of the condition.
        low, high: in its base unit.
        value, value_high: as stated.
        change: 1, -1 or 0.
        amount: base unit of the amount where it is a rate of money or counted things per time, else -1.
        amount_low, amount_high: its values in that.
    """

    base: int
    kind: int
    comparator: Comparator
    low: float
    high: float
    value: float
    value_high: float
    change: int = 0
    amount: int = -1
    amount_low: float = 0.0
    amount_high: float = 0.0


@dataclass(frozen=True)
class Asked:
    """A query as numbers.

    Attributes:
        terms: shape (s,), the distinct terms of the query that some document holds; slot i stands for terms[i].
        words: shape (s,), the weight of each as a word of the query; they sum to 1, or are all 0.
        pairs: shape (s, s), the weight of each pair of neighbours; they sum to 1, or are all 0.
        targets: c conditions.
        bindings: shape (c, s), the weight of each as a word of each condition; each row sums to at most 1.
        vector: shape (dimension,), what an encoder makes of its words; None without one.
    """

    terms: NDArray[np.int32]
    words: NDArray[np.float64]
    pairs: NDArray[np.float64]
    targets: tuple[Target, ...]
    bindings: NDArray[np.float64]
    vector: NDArray[np.float32] | None = None


def parts(records: Records, asked: Asked, docs: NDArray[np.integer[Any]]) -> NDArray[np.float64]:
    """The parts of the score of some documents.

    Args:
        records: of all documents.
        asked: the query.
        docs: shape (n,), the documents to score.

    Returns:
        shape (n, 5), each in [0, 1]; columns as in `PARTS`.
    """
    return _scored(records, asked, docs, np.empty(0), np.empty(0))


def add_parts(
    totals: NDArray[np.float64],
    records: Records,
    asked: Asked,
    docs: NDArray[np.integer[Any]],
    weights: Mapping[str, float],
) -> None:
    """Add the weighted parts to the scores of some documents, one part after the other.

    Args:
        totals: shape (n,); changed in place.
        records, asked, docs: as for `parts`.
        weights: of all `PARTS`, and perhaps of others.
    """
    _scored(records, asked, docs, np.array([weights[part] for part in PARTS]), totals)


def _scored(
    records: Records,
    asked: Asked,
    docs: NDArray[np.integer[Any]],
    weights: NDArray[np.float64],
    totals: NDArray[np.float64],
) -> NDArray[np.float64]:
    from qbench.scoring.binding_kernel import score

    whole, real = _numbers(asked)
    out = np.zeros((docs.size, len(PARTS)))
    seen = np.zeros((asked.terms.size + 1, asked.terms.size), np.int32)
    score(
        np.asarray(docs, np.int64), records.starts, records.cells, records.doubles, asked.terms, _slots(asked.terms),
        asked.words, asked.pairs, _PLACES, whole, real, asked.bindings, _SETTING, seen, out, weights, totals,
    )  # fmt: skip
    return out


def load_loops(records: Records, entries: Entries) -> None:
    """Load the compiled loops, lest the first query waits for them."""
    target = Target(0, BARE, "=", 1.0, 1.0, 1.0, 1.0)
    asked = Asked(np.zeros(1, np.int32), np.zeros(1), np.zeros((1, 1)), (target,), np.zeros((1, 1)))
    one = Mentions(
        np.array([0, 1]), np.array([[0, BARE, 0, 0, -1]], np.int32), np.ones((1, 5)), np.zeros(2, np.int64),
        np.empty(0, np.int32),
    )  # fmt: skip
    for size, targets in ((1, (target,)), (1, (target, target)), (LARGE, (target,))):
        best_satisfying(np.zeros(size), 0.0, entries_of(one, 1), replace(asked, targets=targets), 1.0, 1)
    satisfied(entries, asked)
    parts(records, asked, np.empty(0, np.int64))


def meanings(
    records: Records, asked: Asked, docs: NDArray[np.integer[Any]], cosines: NDArray[np.floating[Any]]
) -> NDArray[np.float64]:
    """How near in meaning the query is to the mentions that satisfy its conditions.

    Args:
        records: of all documents.
        asked: the query.
        docs: shape (n,), the documents to score.
        cosines: shape (mentions of these documents,), of the query and each mention, in the order of `docs`.

    Returns:
        shape (n,), each in [0, 1]: the mean over the conditions of the highest comparable(m, c) * cosine(m).
    """
    from qbench.scoring.binding_kernel import nearest_meaning

    whole, real = _numbers(asked)
    out = np.zeros(docs.size)
    nearest_meaning(
        np.asarray(docs, np.int64), records.starts, records.cells, records.doubles, whole, real, _SETTING,
        np.asarray(cosines, np.float64), out,
    )  # fmt: skip
    return out


def satisfied(entries: Entries, asked: Asked) -> NDArray[np.float32]:
    """The mean of sat(c) over the query's conditions, of every document; shape (documents,), 0 without conditions."""
    from qbench.scoring.satisfying_kernel import mark

    total = np.zeros(entries.size, np.float32)
    for number, target in enumerate(asked.targets):
        out = np.zeros(entries.size, np.float32) if number else total
        mark(_reached(entries, target), out)
        if number:
            total += out
    return total if len(asked.targets) < 2 else total / np.float32(len(asked.targets))


def best_satisfying(
    sums: NDArray[np.float64], highest: float, entries: Entries, asked: Asked, weight: float, k: int
) -> NDArray[np.integer[Any]]:
    """The k best documents by their sum plus the weighted mean of sat(c), ascending.

    Args:
        sums: shape (documents,), none below zero; a document with 0 counts where it holds a value that satisfies.
        highest: of the sums.
        entries, asked: as for `satisfied`.
        weight: of the mean; above zero.
        k: how many; fewer come back where fewer count.
    """
    if len(asked.targets) == 1:
        found = _foremost(sums, highest, entries, asked.targets[0], weight, k)
        if found is not None:
            return found
    # The others come in by their sum alone, so that only the best of them can.
    others = best_above(sums, k)
    with zeros("satisfying", entries.size, np.float32) as sat:
        marked = _satisfying(entries, asked, sat)
        theirs = sat[marked] / np.float32(max(len(asked.targets), 1))
        others = others[sat[others] == 0]
        sat[marked] = 0
    docs = np.append(marked, others)
    scores = np.append(sums[marked] + weight * theirs, sums[others])
    order = np.argsort(docs)
    return np.sort(docs[order[top_k(scores[order], k)]])


def _foremost(
    sums: NDArray[np.float64], highest: float, entries: Entries, target: Target, weight: float, k: int
) -> NDArray[np.int64] | None:
    """`best_satisfying` for one condition by one compiled pass; None where it cannot say."""
    from qbench.scoring.satisfying_kernel import coded, foremost
    from qbench.scoring.selection_kernel import PLACES, SAMPLE

    if sums.size < max(LARGE, k):
        return None
    room = min(_ROOM * (SAMPLE + PLACES * k), sums.size)
    codes = scratch("codes", sums.size, np.uint8)
    codes[:] = 0
    scores, spare = scratch("scores", room, np.float64), scratch("spare", room, np.float64)
    docs = np.empty(room, np.int64)
    some = _reached(entries, target)
    few = coded(some, _LEVELS, codes) < k
    top = float(np.float32(some.real[:, 2].max(initial=0.0)))
    size = foremost(_LEVELS, codes, few, top, sums, highest, weight, k, docs, scores, spare)
    return docs[:size] if size >= 0 else None


def _satisfying(entries: Entries, asked: Asked, total: NDArray[np.float32]) -> NDArray[np.int32]:
    """The documents that hold a value that satisfies a condition, in no order.

    Args:
        entries, asked: as for `satisfied`.
        total: shape (documents,), zeros; gets the sum of sat(c) over the conditions.
    """
    from qbench.scoring.satisfying_kernel import gathered, listed

    found = np.empty(0, np.int32)
    for target in asked.targets:
        some = _reached(entries, target)
        marked = np.empty(int((some.whole[:, 1] - some.whole[:, 0]).sum()) + 1, np.int32)
        if len(asked.targets) == 1:
            return marked[: listed(some, total, marked)]
        with zeros("satisfying one", entries.size, np.float32) as sat:
            marked = marked[: listed(some, sat, marked)]
            before = found.size
            found = np.append(found, marked)
            found = found[: gathered(marked, sat, total, found, before)]
    return found


def _reached(entries: Entries, target: Target) -> Reached:
    """The ranges of entries that may satisfy a condition, with it."""
    from qbench.scoring.satisfying_kernel import Reached

    code, whole, real = COMPARATORS.index(target.comparator), [], []
    for group, tier, low, high in _groups(entries, target):
        for first, last, plain in entries.reach(group, target.comparator, low, high):
            if last > first:
                whole.append((first, last, code, target.change, plain))
                real.append((low, high, tier, CHANGED, (CHANGED if target.change else 1.0) * tier if plain else 0.0))
    numbers = np.array(whole, np.int64).reshape(-1, 5), np.array(real, np.float64).reshape(-1, 5)
    e = entries
    return Reached(*numbers, e.docs, e.simple, e.low, e.high, e.comparator, e.change, e.worth)


def _groups(entries: Entries, target: Target) -> Iterator[tuple[int, float, float, float]]:
    """The groups that may satisfy a condition, with the tier of the comparison and the condition's values in it."""
    counted, ages, years = range(entries.starts.size - 4, entries.starts.size - 1)
    stated = target.value, target.value_high
    if target.base >= 0:
        yield target.base, TIERS["same"], target.low, target.high
    if target.amount >= 0:
        yield target.amount, TIERS["rate"], target.amount_low, target.amount_high
    if target.kind in (COUNTED, BARE):
        yield counted, TIERS["count"], *stated
    if target.kind in (AGE, YEAR):
        yield (years if target.kind == AGE else ages), TIERS["age"], *stated


_ROOM = 4
"""Times the room that a selection has: many documents have the very sum of the least that is taken."""
_PLACES = np.array([WEIGHTS[place] for place in PLACES])
_LEVELS = np.array(
    sorted(
        {
            0.0,
            *(
                tier * change * rate
                for tier in TIERS.values()
                for change in (1, CHANGED)
                for rate in (1, TIERS["rate"])
            ),
        }
    ),
    np.float32,
)
"""All that an entry can be worth."""
_SETTING = np.array([*(TIERS[tier] for tier in ("same", "rate", "count", "age", "bare")), CHANGED, FLOOR])


def _numbers(asked: Asked) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """The conditions as a table of whole numbers and one of others, as the kernel takes them."""
    whole = [(t.base, t.kind, COMPARATORS.index(t.comparator), t.change, t.amount) for t in asked.targets]
    real = [(t.low, t.high, t.value, t.value_high, t.amount_low, t.amount_high) for t in asked.targets]
    return np.array(whole, np.int64).reshape(-1, 5), np.array(real, np.float64).reshape(-1, 6)


def _slots(terms: NDArray[np.int32]) -> NDArray[np.int16]:
    """The table in which the loops look up a query's terms: as small as its terms end in different bits there."""
    size, numbers = 256, terms.tolist()
    while len({term & (size - 1) for term in numbers}) < len(numbers):
        size *= 2
    slots = np.zeros(size, np.int16)
    slots[terms & (size - 1)] = np.arange(1, terms.size + 1)
    return slots
