"""From retrieved candidates to a ranking: quantity scores, filter, fusion, top k."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import cast

import numpy as np
from numpy.typing import NDArray

from qbench.quantities.types import Condition
from qbench.retrieval.binding_index import BindingIndex
from qbench.retrieval.quantity_index import QuantityIndex
from qbench.retrieval.ranker_options import (
    BindOptions,
    InterpolationOptions,
    LexicalScoreOptions,
    QuantityScoreOptions,
    ReciprocalRankOptions,
)
from qbench.retrieval.rankers import Candidates, LexicalRanker, Ranker, Search
from qbench.retrieval.registry import Role
from qbench.scoring.binding import MEANING, PARTS, Asked, add_parts, meanings, parts, satisfied
from qbench.scoring.fusion import interpolated, normalised, reciprocal_rank, with_quantities
from qbench.scoring.ranking import top_k


@dataclass(frozen=True)
class Conditions:
    """The conditions of a query.

    Attributes:
        conditions: conditions, all of which must hold; () if none is known.
        units: for each, the size of its unit in base units.
    """

    conditions: Sequence[Condition] = ()
    units: Sequence[float] = ()


def ranked(candidates: Candidates, depth: int) -> Candidates:
    """The best `depth` candidates, best first; of equal scores the lower position first."""
    best = top_k(candidates.scores, depth)
    return Candidates(candidates.docs[best], candidates.scores[best])


def best_of(candidates: Candidates, k: int) -> Candidates:
    """The best k candidates, in the order of positions."""
    kept = np.sort(top_k(candidates.scores, k))
    return Candidates(candidates.docs[kept], candidates.scores[kept])


def filtered(candidates: Candidates, index: QuantityIndex, wanted: Conditions) -> Candidates:
    """The candidates that hold a mention that meets every condition (BM25_filter of *Numbers Matter*).

    Without conditions, all candidates are kept.
    """
    if not wanted.conditions:
        return candidates
    # Positions, because indexing by them is much faster than by a mask.
    selected = np.flatnonzero(index.satisfied(wanted.conditions)[candidates.docs])
    return Candidates(candidates.docs[selected], candidates.scores[selected])


def with_quantity_score(
    candidates: Candidates,
    ranker: Ranker,
    search: Search,
    index: QuantityIndex,
    wanted: Conditions,
    options: QuantityScoreOptions,
    role: Role = "first stage",
) -> Candidates:
    """The candidates' scores normalised per query, plus alpha times qs (*Numbers Matter* eq. 5, 7).

    A lexical ranker adds it where the document holds any search term, the indicator 1_Tx, or all (`terms=all`). The
    others add it to every candidate, as in eq. 7. Without conditions, the normalised scores are returned.
    """
    terms = normalised(candidates.scores, from_lowest=options.scale == "minmax")
    if wanted.conditions:
        quantity = index.scores(wanted.conditions, options.phi, wanted.units, options.norm)[candidates.docs]
        applies = None
        # What a lexical first stage retrieves holds at least one term.
        if isinstance(options, LexicalScoreOptions) and (options.terms == "all" or role != "first stage"):
            held = np.zeros(index.size, dtype=bool)
            held[cast("LexicalRanker", ranker).holding(search, options.terms)] = True
            applies = held[candidates.docs]
        terms = with_quantities(terms, quantity, options.alpha, applies)
    return Candidates(candidates.docs, terms)


def with_satisfying(candidates: Candidates, index: BindingIndex, asked: Asked) -> Candidates:
    """What a lexical model retrieved, and, with a score of 0, all other documents that hold a value that satisfies.

    Such a document may say what is asked about in other forms of the words.
    """
    held = satisfied(index.entries, asked) > 0
    held[candidates.docs] = False
    others = np.flatnonzero(held)
    docs = np.append(candidates.docs, others)
    order = np.argsort(docs)
    return Candidates(docs[order], np.append(candidates.scores, np.zeros(others.size))[order])


def with_binding(
    candidates: Candidates, index: BindingIndex, asked: Asked, options: BindOptions, depth: int | None = None
) -> Candidates:
    """The candidates with the score of Bind: the weighted sum of their own, normalised per query, and of its parts.

    Args:
        candidates: those of a first stage or a reranker.
        index: of all documents.
        asked: the query.
        options: the weights.
        depth: None to score all of them; else only the best max(pool, depth) by `own` and `satisfied` are kept.
    """
    own = normalised(candidates.scores)
    if depth is None:
        return with_parts(Candidates(candidates.docs, own), index, asked, options)
    rough = options.own * own + options.satisfied * satisfied(index.entries, asked)[candidates.docs]
    kept = np.sort(top_k(rough, max(options.pool, depth)))
    return with_parts(Candidates(candidates.docs[kept], own[kept]), index, asked, options)


def with_parts(candidates: Candidates, index: BindingIndex, asked: Asked, options: BindOptions) -> Candidates:
    """The candidates with the score of Bind.

    Args:
        candidates: with their own scores, normalised.
        index, asked, options: as for `with_binding`.
    """
    weights = options.weights()
    total = candidates.scores * options.own
    add_parts(total, index.records, asked, candidates.docs, weights)
    if (meaning := _meanings(candidates, index, asked)) is not None:
        total = total + meaning * weights[MEANING]
    return Candidates(candidates.docs, total)


def _meanings(candidates: Candidates, index: BindingIndex, asked: Asked) -> NDArray[np.float64] | None:
    """The part of Bind that an encoder gives, shape (n,); None without one."""
    if index.vectors is None or asked.vector is None:
        return None
    cosines = index.vectors.cosines(index.mentions.starts, candidates.docs, asked.vector)
    return meanings(index.records, asked, candidates.docs, cosines)


def binding_parts(candidates: Candidates, index: BindingIndex, asked: Asked) -> list[dict[str, float]]:
    """What `with_binding` adds up for each candidate, without weights: "own", and the parts by name."""
    found = parts(index.records, asked, candidates.docs)
    columns, names = [normalised(candidates.scores), *found.T], ["own", *PARTS]
    if (meaning := _meanings(candidates, index, asked)) is not None:
        columns, names = [*columns, meaning], [*names, MEANING]
    return [dict(zip(names, row, strict=True)) for row in np.column_stack(columns).tolist()]


def reranked(
    ranking: Candidates,
    scores: NDArray[np.float64],
    fusion: InterpolationOptions | ReciprocalRankOptions | None = None,
) -> Candidates:
    """Reorder a ranking by the scores of a reranker, or by their fusion with its own.

    Args:
        ranking: the ranking of the stage before, best first.
        scores: shape (n,), scores of the reranker; NaN for documents without one, which are dropped without fusion.
        fusion: options of I (*WolfPQ* eq. 5.10) or of RRF (Cormack et al. 2009); None for the reranker's scores alone.
    """
    if isinstance(fusion, InterpolationOptions):
        combined = interpolated(ranking.scores, scores, fusion.alpha, raw=fusion.norm == "none")
    elif fusion is not None:
        combined = reciprocal_rank([ranking.scores, scores], fusion.k)
    else:
        scored = np.flatnonzero(~np.isnan(scores))
        ranking, combined = Candidates(ranking.docs[scored], ranking.scores[scored]), scores[scored]
    # Sort by position first, so that ties are broken by it.
    order = np.argsort(ranking.docs)
    return ranked(Candidates(ranking.docs[order], combined[order]), len(order))
