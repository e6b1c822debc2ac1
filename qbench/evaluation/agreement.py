"""Agreement between annotators, and what becomes of items that they grade differently."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Mapping, Sequence
from itertools import combinations
from typing import Any, Literal

Resolve = Literal["fail", "first", "lowest", "highest"]
"""What becomes of an item that two annotators grade differently: an error, the grade of the annotator named first, or
the lowest or the highest grade."""


def cohens_kappa(first: Sequence[Hashable], second: Sequence[Hashable]) -> float | None:
    """Cohen's kappa (Cohen 1960): agreement beyond chance, (p_o - p_e) / (1 - p_e).

    p_o is the share of equal grades, p_e the share that would be equal if each annotator assigned as many of each grade
    to items at random. Grades are categories: 0 against 2 is as far apart as 0 against 1.

    Args:
        first: one annotator's grades.
        second: the other's, of the same items in the same order.

    Returns:
        at most 1; None where it is undefined: there is no item, or both gave one and the same grade throughout.

    Raises:
        ValueError: the two sequences differ in length.

    >>> cohens_kappa([1, 1, 0, 0], [1, 0, 0, 0])
    0.5
    """
    equal = sum(a == b for a, b in zip(first, second, strict=True))
    if not first:
        return None
    n = len(first)
    counts, others = Counter(first), Counter(second)
    chance = sum(counts[grade] * others[grade] for grade in counts)
    return None if chance == n * n else (equal * n - chance) / (n * n - chance)


def agreements(judged: Sequence[tuple[str, Mapping[Any, int]]]) -> dict[str, dict[str, float | None]]:
    """The agreement of each two annotators who graded some of the same items: share of equal grades and Cohen's kappa.

    Where there are more than two grades, `kappa_relevant` is the kappa of grade 0 against all others.

    Args:
        judged: (name, item -> grade) of each annotator.

    Returns:
        "anna and ben" -> figures, rounded to four digits.
    """
    pairs: dict[str, dict[str, float | None]] = {}
    for (name, grades), (other, others) in combinations(judged, 2):
        both = [item for item in grades if item in others]
        if both:
            first, second = [grades[item] for item in both], [others[item] for item in both]
            equal = sum(a == b for a, b in zip(first, second, strict=True)) / len(both)
            figures: dict[str, float | None] = {
                "judged_by_both": len(both),
                "equal": round(equal, 4),
                "kappa": _kappa(first, second),
            }
            if len({*first, *second}) > 2:
                figures["kappa_relevant"] = _kappa([grade > 0 for grade in first], [grade > 0 for grade in second])
            pairs[f"{name} and {other}"] = figures
    return pairs


def settled(grades: Sequence[int], resolve: Resolve) -> int:
    """The grade of an item that several annotators graded, given their grades in the order of the annotators.

    >>> settled([2, 0, 1], "first"), settled([2, 0, 1], "lowest"), settled([2, 0, 1], "highest")
    (2, 0, 2)
    """
    return min(grades) if resolve == "lowest" else max(grades) if resolve == "highest" else grades[0]


def _kappa(first: Sequence[Hashable], second: Sequence[Hashable]) -> float | None:
    kappa = cohens_kappa(first, second)
    return None if kappa is None else round(kappa, 4)
