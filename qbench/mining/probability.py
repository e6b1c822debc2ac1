"""How sure a coincidence is: estimates of P(F | D, Q), *Quantity Retrieval*, section 3.2.

F: two records state the same fact; D: their descriptions are similar; Q: their values agree. The paper derives

    P(F|D,Q) ~ 1 / (1 + P(D|not F) P(Q|not F) / P(F))      P(F) = r / N,  P(Q|not F) = 10^-s

for N records, r records per fact and values that agree on s significant digits. For P(D|not F) it takes 1 / V^l: each
of the l terms of a description is one of V equally frequent ones. That is nearly 0 for any l > 1, and so no guide to a
threshold. Ours measures both factors on the corpus:

- N P(D|not F) is the number of records whose descriptions are at least as similar: the rank of the pair in the search;
- P(Q|not F), given the unit and similar words, is the density of values there times the width of one: the share of the
  candidates that lie within a factor of two, over ln 4, times the value's last digit relative to the value. Numbers
  that end in 5, 25, 75 or 125 stand on a coarser grid ("12.5 cents", "18 1/4 %"). It is no less than the share of all
  records of the unit that have this very value, the r records of the fact itself left out.

So P(F|D,Q) ~ 1 / (1 + rank P(Q|not F) / r).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

RECORDS_PER_FACT = 2.0
"""The paper's r: the two records of a pair."""


def paper_estimate(
    digits: NDArray[np.integer],
    terms: NDArray[np.integer],
    *,
    records: int,
    vocabulary: int,
    per_fact: float = RECORDS_PER_FACT,
) -> NDArray[np.float64]:
    """The paper's estimate.

    Args:
        digits: shape (n,), s of each pair.
        terms: shape (n,), l of each pair: the number of terms of the description.
        records: N.
        vocabulary: V.
        per_fact: r.

    Returns:
        shape (n,), probabilities.

    >>> paper_estimate(np.array([3]), np.array([1]), records=1000, vocabulary=10).round(3)
    array([0.952])
    """
    odds = np.log(max(records, 1) / per_fact) - terms * np.log(max(vocabulary, 1)) - digits * np.log(10.0)
    estimate: NDArray[np.float64] = 1.0 / (1.0 + np.exp(np.minimum(odds, 700.0)))
    return estimate


def rank_estimate(
    rank: NDArray[np.integer], chance: NDArray[np.float64], *, per_fact: float = RECORDS_PER_FACT
) -> NDArray[np.float64]:
    """Our estimate.

    Args:
        rank: shape (n,), from 1.
        chance: shape (n,), P(Q|not F).
        per_fact: r.

    Returns:
        shape (n,), probabilities.

    >>> rank_estimate(np.array([2, 20]), np.array([0.001, 0.01])).round(3)
    array([0.999, 0.909])
    """
    estimate: NDArray[np.float64] = 1.0 / (1.0 + rank * chance / per_fact)
    return estimate


def relative_width(value: NDArray[np.float64], step: NDArray[np.float64]) -> NDArray[np.float64]:
    """The grid spacing of a value, relative to the value.

    Args:
        value: shape (n,).
        step: shape (n,), change of the value per unit of its last significant digit.

    Returns:
        shape (n,), from 0 to 1; 1 for 0.

    >>> relative_width(np.array([4587.0, 12.5, 18.25, 0.0]), np.array([1.0, 0.1, 0.01, 0.0])).round(4)
    array([2.00e-04, 2.00e-01, 1.37e-02, 1.00e+00])
    """
    with np.errstate(divide="ignore", invalid="ignore"):
        whole = np.rint(np.nan_to_num(np.abs(value) / step, posinf=0.0))
        grid = np.ones(value.shape)
        for factor in (5, 25, 125):
            grid = np.where((whole % factor == 0) & (whole >= 4 * factor), factor, grid)
        width: NDArray[np.float64] = np.nan_to_num(step * grid / np.abs(value), nan=1.0, posinf=1.0)
    return np.minimum(width, 1.0)


def value_shares(
    value: NDArray[np.float64],
    unit: NDArray[np.integer],
    usable: NDArray[np.bool_],
    *,
    per_fact: float = RECORDS_PER_FACT,
) -> NDArray[np.float64]:
    """The share of each record's value among the records with its unit.

    Args:
        value: shape (n,), in the base unit. Values that agree on three digits count as one.
        unit: shape (n,), numbers of base units.
        usable: shape (n,), records that count.
        per_fact: number of records of the fact itself, which are subtracted.

    Returns:
        shape (n,), from 0 to 1.

    >>> shares = value_shares(np.array([5.0] * 8 + [7.0, 7.0]), np.zeros(10, dtype=int), np.ones(10, dtype=bool))
    >>> shares[0].item(), shares[9].item()
    (0.6, 0.0)
    """
    with np.errstate(divide="ignore", invalid="ignore"):
        exponent = np.where(value != 0, np.floor(np.log10(np.abs(value))) - 2, 0.0)
    rounded = np.rint(value / 10.0**exponent)
    keys = np.stack([unit.astype(np.float64), exponent, rounded], axis=1)[usable]
    share = np.zeros(value.size)
    if not keys.size:
        return share
    _, where, count = np.unique(keys, axis=0, return_inverse=True, return_counts=True)
    _, unit_where, unit_count = np.unique(unit[usable], return_inverse=True, return_counts=True)
    share[usable] = np.maximum(count[where.ravel()] - per_fact, 0) / unit_count[unit_where]
    return share
