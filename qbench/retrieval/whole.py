"""A first stage's scores of all documents, ordered with those of Q, Bind or the filter: the best come out, no others.

`qbench.retrieval.finishing` does the same with a list of what a first stage retrieved. Where that is a large part of a
large corpus, writing the list down takes longer than all the rest. Here one array of sums stays where it is: what the
quantities add is put on it in the model's own scale, and the k best are divided by the highest at the end.
"""

from __future__ import annotations

from typing import cast

import numpy as np
from numpy.typing import NDArray

from qbench.retrieval.binding_index import BindingIndex
from qbench.retrieval.finishing import Conditions, with_parts
from qbench.retrieval.quantity_index import QuantityIndex
from qbench.retrieval.ranker_options import BindOptions, LexicalScoreOptions, QuantityScoreOptions
from qbench.retrieval.rankers import Candidates, LexicalRanker, Search, SumRanker
from qbench.scoring.binding import Asked, best_satisfying
from qbench.scoring.ranking import best_above


def best_filtered(sums: NDArray[np.float64], index: QuantityIndex, wanted: Conditions, depth: int) -> Candidates:
    """The best documents with a sum above zero that hold a mention that meets every condition.

    Args:
        sums: shape (documents,), none below zero; changed.
        index: of all documents.
        wanted: the conditions; without any, all documents stay.
        depth: how many.
    """
    if wanted.conditions:
        sums *= index.satisfied(wanted.conditions)
    best = best_above(sums, depth)
    return Candidates(best, sums[best])


def best_with_quantities(
    sums: NDArray[np.float64],
    ranker: SumRanker,
    search: Search,
    index: QuantityIndex,
    wanted: Conditions,
    options: QuantityScoreOptions,
    depth: int,
) -> Candidates:
    """The best of `finishing.with_quantity_score`, to rounding.

    Args:
        sums: shape (documents,), none below zero; changed.
        ranker, search: what gave them.
        index: of all documents.
        wanted: the conditions.
        options: of Q.
        depth: how many.
    """
    from qbench.scoring.posting_kernel import raise_held

    high = sums.max(initial=0.0)
    low = sums[sums > 0].min(initial=high) if options.scale == "minmax" else 0.0
    if low == high:  # equal scores become 1, and the quantities alone order them
        sums[sums > 0] = high = 1.0
        low = 0.0
    if wanted.conditions:
        # Only the quantities of documents whose score is raised are looked at.
        among: NDArray[np.float64] | NDArray[np.bool_] = sums
        if isinstance(options, LexicalScoreOptions) and options.terms == "all":
            among = np.zeros(sums.size, np.bool_)
            among[cast("LexicalRanker", ranker).holding(search, "all")] = True
        factor = options.alpha * (high - low) / len(wanted.conditions)
        for docs, weights in index.weighted(wanted.conditions, options.phi, wanted.units, options.norm, among):
            raise_held(docs, weights, factor, sums)
    return _divided(best_above(sums, depth), sums, low, high - low)


def best_with_binding(
    sums: NDArray[np.float64], index: BindingIndex, asked: Asked, options: BindOptions, depth: int
) -> Candidates:
    """The best of `finishing.with_binding` as a first stage, to rounding.

    Args:
        sums: shape (documents,), none below zero.
        index: of all documents.
        asked: the query.
        options: the weights; `own` above zero.
        depth: how many.
    """
    high = sums.max(initial=0.0)
    weight = options.satisfied * (high or 1.0) / options.own
    kept = best_satisfying(sums, high, index.entries, asked, weight, max(options.pool, depth))
    # Where no document holds a word, those with a value are left, and their equal scores become 1.
    own = sums[kept] / high if high else np.ones(kept.size)
    scored = with_parts(Candidates(kept.astype(np.intp), own), index, asked, options)
    order = np.argsort(-scored.scores, kind="stable")[:depth]
    return Candidates(scored.docs[order], scored.scores[order])


def _divided(docs: NDArray[np.intp], sums: NDArray[np.float64], low: float, width: float) -> Candidates:
    """Some documents by their sum less the lowest, divided by what lies between that and the highest."""
    docs = np.sort(docs)
    scores = (sums[docs] - low) / width
    order = np.argsort(-scores, kind="stable")
    return Candidates(docs[order], scores[order])
