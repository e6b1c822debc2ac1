"""Whether two people who judged the same things mean the same."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Sequence


def cohens_kappa(first: Sequence[Hashable], second: Sequence[Hashable]) -> float | None:
    """Cohen's kappa (Cohen 1960): agreement beyond chance, (p_o - p_e) / (1 - p_e).

    p_o is the share of equal judgments, p_e the share that would be equal if each judge gave the grades as often as
    now, to things at random. Grades are categories: 0 against 2 is as far apart as 0 against 1.

    Args:
        first: one judge's grades.
        second: the other's, of the same things in the same order.

    Returns:
        at most 1; None where it is undefined: there is nothing, or both gave one and the same grade throughout.

    Raises:
        ValueError: the judges have not judged the same number of things.

    >>> cohens_kappa([1, 1, 0, 0], [1, 0, 0, 0])
    0.5
    """
    seen = sum(a == b for a, b in zip(first, second, strict=True))
    if not first:
        return None
    n = len(first)
    counts, others = Counter(first), Counter(second)
    chance = sum(counts[grade] * others[grade] for grade in counts)
    return None if chance == n * n else (seen * n - chance) / (n * n - chance)
