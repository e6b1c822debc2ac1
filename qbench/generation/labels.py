"""Relevant sentences and hard negatives of a query (*Numbers Matter* 3.3.3, look-up and lists)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import reduce
from math import inf
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from qbench.generation.mentions import Mentions
from qbench.quantities.concept_match import concept_grade, stated_concept
from qbench.quantities.conditions import BROKEN, MET, RELATIVE_TOLERANCE, verdicts
from qbench.quantities.languages import ENGLISH
from qbench.quantities.types import Condition, Quantity

Holds = Literal["yes", "no", "unclear"]


@dataclass(frozen=True, slots=True)
class Labels:
    """The sentences of one query, as rows of `Mentions.texts`, ascending.

    Attributes:
        relevant: sentences that satisfy the query; grades: 2 for the exact concept, 1 for a more specific one.
        positives: s+, sentences of grade 2.
        negatives: s-, sentences with the exact concept that certainly do not satisfy the query.
    """

    relevant: NDArray[np.int64]
    grades: NDArray[np.int8]
    positives: NDArray[np.int64]
    negatives: NDArray[np.int64]


def label(conditions: Sequence[Condition], mentions: Mentions) -> Labels:
    """Label all sentences for a query whose conditions must all be met, each by some mention of the sentence.

    A sentence is relevant if for every condition it has a mention of the concept (or a more specific one) that is met;
    its grade is the least over the conditions. It is a negative if it has a mention of every condition's very concept,
    in a comparable unit, and some condition is met or left open by no mention at all whose concept shares a word
    with the query's or is unknown. All others are neither.
    """
    results = [_look_up(condition, mentions) for condition in conditions]
    relevant = reduce(np.intersect1d, [docs for docs, _, _ in results])
    grades = reduce(np.minimum, [grades[np.searchsorted(docs, relevant)] for docs, grades, _ in results])
    spoken = np.setdiff1d(reduce(np.intersect1d, [docs for _, _, docs in results]), relevant, assume_unique=True)
    broken = np.zeros(spoken.size, dtype=bool)
    for condition in conditions:
        broken |= _surely_broken(condition, spoken, mentions)
    return Labels(relevant, grades, relevant[grades == 2], spoken[broken])


def _look_up(condition: Condition, mentions: Mentions) -> tuple[NDArray[np.int64], NDArray[np.int8], NDArray[np.int64]]:
    """The sentences that meet a condition, their grades, and the sentences with its exact concept."""
    codes, grades = mentions.graded(condition.concept)
    rows = mentions.rows_of_concepts(codes)
    rows = rows[mentions.base[rows] == mentions.base_code.get(condition.base_unit, -1)]
    grade = grades[np.searchsorted(codes, mentions.concept[rows])]
    met = _codes(condition, rows, mentions) == MET
    docs, position = np.unique(mentions.doc[rows[met]], return_inverse=True)
    best = np.zeros(docs.size, dtype=np.int8)
    np.maximum.at(best, position, grade[met])
    return docs, best, mentions.docs_of(rows[grade == 2])


def _surely_broken(condition: Condition, docs: NDArray[np.int64], mentions: Mentions) -> NDArray[np.bool_]:
    """Shape (docs,): whether no mention that could be meant meets the condition or leaves it open."""
    rows = mentions.rows_of_docs(docs)
    rows = rows[mentions.base[rows] == mentions.base_code.get(condition.base_unit, -1)]
    rows = rows[np.isin(mentions.concept[rows], mentions.related(condition.concept))]
    possible = mentions.doc[rows[_codes(condition, rows, mentions) != BROKEN]]
    return ~np.isin(docs, possible)


def _codes(condition: Condition, rows: NDArray[np.int64], mentions: Mentions) -> NDArray[np.int8]:
    low, high, comparator = mentions.low[rows], mentions.high[rows], mentions.comparator[rows]
    return verdicts(low, high, comparator, condition, mentions.change[rows])


def meets(quantity: Quantity, condition: Condition) -> bool | None:
    """Whether a mention meets a condition by unit, value and change; None if undecided.

    The answers of `qbench.quantities.conditions.verdict`, worked out in another way: the values that the mention allows
    and those that the condition allows are two intervals, and one lies inside the other, apart from it, or neither.
    """
    if quantity.base_unit != condition.base_unit:
        return False
    comparator, wanted = quantity.comparator, condition.comparator
    low, low_open = (-inf, False) if comparator in ("<", "<=") else (quantity.base_value, comparator == ">")
    high, high_open = (inf, False) if comparator in (">", ">=") else (quantity.base_high, comparator == "<")
    start, start_open = (-inf, False) if wanted in ("<", "<=") else (condition.base_value, wanted == ">")
    end, end_open = (inf, False) if wanted in (">", ">=") else (condition.base_high, wanted == "<")
    after, before = _side(low, start), _side(high, end)
    inside = (after > 0 or (after == 0 and (low_open or not start_open))) and (
        before < 0 or (before == 0 and (high_open or not end_open))
    )
    above, below = _side(low, end), _side(high, start)
    apart = (above > 0 or (above == 0 and (low_open or end_open))) or (
        below < 0 or (below == 0 and (high_open or start_open))
    )
    met, broken = (apart, inside) if wanted == "!=" else (inside, apart)
    if broken or {quantity.change, condition.change} == {"up", "down"}:
        return False
    return True if met and quantity.change == condition.change else None


def _side(value: float, mark: float) -> int:
    """-1 below the mark, 0 at it (as exactly as units convert), 1 above it."""
    if value == mark or abs(value - mark) <= RELATIVE_TOLERANCE * abs(mark) < inf:
        return 0
    return 1 if value > mark else -1


def holds(conditions: Iterable[Condition], quantities: Sequence[Quantity], language: str = ENGLISH) -> Holds:
    """Whether a sentence with these quantities satisfies a query: the check before a label is written.

    Checks the mentions one by one, independently of `label` except for the rule for concepts.

    Returns:
        "yes" for a positive, "no" for a negative, "unclear" for neither.
    """
    certain, possible = True, True
    for condition in conditions:
        met = maybe = False
        for quantity in quantities:
            answer = meets(quantity, condition)
            if answer is False:
                continue
            stated = stated_concept(quantity.concept, quantity.unit, quantity.family, language)
            grade = concept_grade(condition.concept, stated, language)
            met |= answer is True and grade > 0
            maybe |= grade != 0
        certain &= met
        possible &= maybe
    return "yes" if certain else "unclear" if possible else "no"


def confirmed(
    conditions: Iterable[Condition], docs: NDArray[np.int64], grades: NDArray[np.int8], mentions: Mentions
) -> NDArray[np.bool_]:
    """Check judgments before they are written, by sentence instead of by concept.

    Args:
        conditions: of the query.
        docs: shape (n,), judged sentences, ascending.
        grades: shape (n,), their judgments.
        mentions: mentions of the sentences.

    Returns:
        shape (n,), whether the mentions of each sentence give exactly that grade.
    """
    rows = mentions.rows_of_docs(docs)
    position = np.searchsorted(docs, mentions.doc[rows])
    concepts, code = np.unique(mentions.concept[rows], return_inverse=True)
    least = np.full(docs.size, 2, dtype=np.int8)
    for condition in conditions:
        of_concepts = [concept_grade(condition.concept, mentions.concepts[c], mentions.language) for c in concepts]
        grade = np.maximum(np.array(of_concepts, dtype=np.int8), 0)[code]
        comparable = mentions.base[rows] == mentions.base_code.get(condition.base_unit, -1)
        met = comparable & (_codes(condition, rows, mentions) == MET)
        best = np.zeros(docs.size, dtype=np.int8)
        np.maximum.at(best, position[met], grade[met])
        least = np.minimum(least, best)
    same: NDArray[np.bool_] = least == grades
    return same
