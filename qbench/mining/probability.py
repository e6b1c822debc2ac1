"""How sure a coincidence is: estimates of P(F | D, Q), *Quantity Retrieval*, section 3.2.

F: two records state the same fact; D: their descriptions are similar; Q: their values agree. The paper derives

    P(F|D,Q) ~ 1 / (1 + P(D|not F) P(Q|not F) / P(F))      P(F) = r / N,  P(Q|not F) = 10^-s

for N records, r records per fact and values that agree on s significant digits. For P(D|not F) it takes 1 / V^l: each
of the l terms of a description is one of V equally frequent ones. That is nearly 0 for any l > 1, and so no guide to a
threshold. Ours takes the terms that both descriptions hold, each as frequent as it is: the product of df / N over them.
What both do not model: that the same words mean different things, and that some values are more frequent than others.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

RECORDS_PER_FACT = 2.0
"""The paper's r: as many as a pair needs."""


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
    log_similar = -terms * np.log(max(vocabulary, 1))
    return _estimate(log_similar, digits, records, per_fact)


def term_estimate(
    digits: NDArray[np.integer],
    log_frequencies: NDArray[np.float64],
    *,
    records: int,
    per_fact: float = RECORDS_PER_FACT,
) -> NDArray[np.float64]:
    """The same with the frequencies of the shared terms for 1/V.

    Args:
        digits: shape (n,), s of each pair.
        log_frequencies: shape (n,), the sum of log(df / N) over the terms that both descriptions hold.
        records: N.
        per_fact: r.

    Returns:
        shape (n,), probabilities.

    >>> term_estimate(np.array([3, 5]), np.log([0.02, 0.02]), records=100_000).round(3)
    array([0.5 , 0.99])
    """
    return _estimate(log_frequencies, digits, records, per_fact)


def _estimate(
    log_similar: NDArray[np.float64], digits: NDArray[np.integer], records: int, per_fact: float
) -> NDArray[np.float64]:
    odds = log_similar - digits * np.log(10.0) + np.log(max(records, 1) / per_fact)
    estimate: NDArray[np.float64] = 1.0 / (1.0 + np.exp(np.minimum(odds, 700.0)))
    return estimate
