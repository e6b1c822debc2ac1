"""Posting lists: for each term the documents that hold it, and search over them. BM25 and SPLADE score with these.

The score of a document is the sum, over the query's terms t, of factor(t) * weight(t, document): a product of two
sparse vectors. Every document that shares a term with the query is scored, so that a quantity score can be added to the
whole ranking (*Numbers Matter* eq. 5 and 9). Nothing is skipped, and sums are in double precision.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from qbench.scoring.ranking import LARGE, LEAST, best_above, selected, top_k

Terms = Sequence[int] | NDArray[np.integer[Any]]


@dataclass(frozen=True)
class Postings:
    """For each term the documents that hold it, and what each adds to a score.

    Attributes:
        starts: shape (terms + 1,), int64: the postings of term t are starts[t] to starts[t + 1].
        docs: shape (postings,), int32, ascending within a term.
        weights: shape (postings,), float64 or float32.
        size: number of documents.
    """

    starts: NDArray[np.int64]
    docs: NDArray[np.int32]
    weights: NDArray[np.floating[Any]]
    size: int

    def of(self, term: int) -> slice:
        """Where the postings of a term lie."""
        return slice(int(self.starts[term]), int(self.starts[term + 1]))

    def weight(self, term: int, doc: int) -> float:
        """The weight of a term in a document; 0 where it does not hold the term."""
        part = self.of(term)
        at = part.start + int(np.searchsorted(self.docs[part], doc))
        return float(self.weights[at]) if at < part.stop and self.docs[at] == doc else 0.0


def score(postings: Postings, terms: Terms, factors: NDArray[np.floating[Any]] | None = None) -> NDArray[np.float64]:
    """The scores of all documents.

    Args:
        postings: of n documents.
        terms: shape (m,), the query's terms, by number; a repeated one counts each time.
        factors: shape (m,), what each term weighs in the query; None where each weighs 1.

    Returns:
        shape (n,), float64; 0 for documents that hold none of the terms.

    >>> made = Postings(np.array([0, 2, 3]), np.array([0, 2, 2], np.int32), np.array([1.0, 2.0, 4.0]), 3)
    >>> score(made, [0, 1]), score(made, [0, 1], np.array([1.0, 0.5]))
    (array([1., 0., 6.]), array([1., 0., 4.]))
    """
    if factors is not None or sum(part.stop - part.start for part in map(postings.of, terms)) >= LARGE:
        # Long lists: a compiled loop needs no copy of them. A few words do not repay the loading of numba.
        from qbench.scoring.posting_kernel import add

        sums_of_all = np.zeros(postings.size)
        add(*_lists(postings, terms, factors), sums_of_all)
        return sums_of_all
    parts = [postings.of(term) for term in terms]
    if not parts:
        return np.zeros(postings.size)
    docs = np.concatenate([postings.docs[part] for part in parts])
    weights = np.concatenate([postings.weights[part] for part in parts])
    totals: NDArray[np.float64] = np.bincount(docs, weights=weights, minlength=postings.size).astype(
        np.float64, copy=False
    )
    return totals


def _lists(
    postings: Postings, terms: Terms, factors: NDArray[np.floating[Any]] | None = None
) -> tuple[NDArray[np.int32], NDArray[Any], NDArray[np.float64], NDArray[np.int64], NDArray[np.int64]]:
    """What the compiled loops take: documents and weights of all lists; of each term its factor, its start, its end.

    Starts are copies, since the loops move them on.
    """
    numbers = np.asarray(terms, np.int64)
    doubles = np.ones(numbers.size) if factors is None else np.asarray(factors, np.float64)
    return postings.docs, postings.weights, doubles, postings.starts[numbers], postings.starts[numbers + 1]


def matching(postings: Postings, terms: Terms, scores: NDArray[np.float64]) -> NDArray[np.intp]:
    """The documents that hold at least one of the terms, ascending.

    Args:
        postings: in each list all weights are above zero, or none is.
        terms: the query's, by number.
        scores: shape (documents,), what `score` gave for them; with factors, if any, above zero.
    """
    if _all_positive(postings, terms):
        return np.flatnonzero(scores > 0)
    # Weights may be zero or negative (small corpora, terms in nearly every document): then a score says nothing.
    held = np.zeros(postings.size, dtype=bool)
    for term in terms:
        held[postings.docs[postings.of(term)]] = True
    return np.flatnonzero(held)


def hits(postings: Postings, terms: Terms) -> tuple[NDArray[np.intp], NDArray[np.float64]]:
    """The documents that hold at least one of the terms, ascending, and their scores.

    Args:
        postings: in each list all weights are above zero, or none is.
        terms: the query's, by number.
    """
    scores = score(postings, terms)
    if not _sums_tell(postings, terms):
        docs = matching(postings, terms, scores)
        return docs, scores[docs]
    from qbench.scoring.posting_kernel import collect

    # One place more, since each document is written down before it is known to be one.
    size = np.count_nonzero(scores) + 1
    found, theirs = np.empty(size, np.int64), np.empty(size)
    collect(scores, found, theirs)
    return found[:-1], theirs[:-1]


def sums(postings: Postings, terms: Terms) -> NDArray[np.float64] | None:
    """`score` where it tells by itself which documents hold a term, and where that is quicker than `hits`; else None.

    Args:
        postings, terms: as for `hits`.
    """
    return score(postings, terms) if _sums_tell(postings, terms) else None


SHARE = 1000
"""One document in so many, or fewer, are found without the sums of all: 1.0 to 1.7 times as fast, by the size of the
corpus (`benchmarks/bm25_latency.py --lists`)."""


def best(postings: Postings, terms: Terms, k: int) -> tuple[NDArray[np.intp], NDArray[np.float64]]:
    """The k best of `hits`, best first; of equal scores the lower document first.

    Args:
        postings, terms: as for `hits`.
        k: how many; fewer come back where fewer hold a term.
    """
    if k <= 0 or not _sums_tell(postings, terms):
        docs, scores = hits(postings, terms)
        chosen = top_k(scores, k)
        return docs[chosen], scores[chosen]
    if k > postings.size // SHARE:
        scores = score(postings, terms)
        chosen = best_above(scores, k)
        return chosen, scores[chosen]
    return _best_of_blocks(postings, terms, k)


def _best_of_blocks(postings: Postings, terms: Terms, k: int) -> tuple[NDArray[np.intp], NDArray[np.float64]]:
    """`best` where all weights are above zero, without the sums of all documents."""
    from qbench.scoring import posting_kernel

    # Whenever there is no room left, the k best stay and fewer count from then on: with twice the room that happens
    # once for k documents found, soon enough for most of the corpus to be passed over.
    room = 2 * k + 4 * posting_kernel.GROUP
    found, theirs, spare = np.empty(room, np.int64), np.empty(room), np.empty(room)
    sums_of_some = np.empty(posting_kernel.BLOCK)
    size = posting_kernel.best(*_lists(postings, terms), postings.size, k, sums_of_some, found, theirs, spare)
    chosen = top_k(theirs[:size], k)
    return found[chosen], theirs[chosen]


MANY = 100
"""Documents from which a compiled loop looks for them in another list."""


def load_loops(postings: Postings) -> None:
    """Load the compiled loops that long lists of this kind take, lest the first query waits for them."""
    if postings.size >= LARGE:
        from qbench.scoring.posting_kernel import collect, held, raise_held

        best(postings, [], 1)
        for few in (postings.docs[:1], np.empty(0, np.int32)):
            _common(few, postings.docs[:1])
        none = score(postings, [], np.empty(0))
        selected(none, 1, floor=LEAST)
        raise_held(np.empty(0, np.int32), np.empty(0), 1.0, none)
        for among in (none, np.empty(0, np.bool_)):
            held(0, 0, np.empty(0, np.int32), among, np.empty(1, np.int32))
        collect(none[:1], np.empty(2, np.int64), np.empty(2))


def _sums_tell(postings: Postings, terms: Terms) -> bool:
    """Whether a sum above zero says that a document holds a term, in a corpus that repays compiled loops."""
    return postings.size >= LARGE and _all_positive(postings, terms)


def _all_positive(postings: Postings, terms: Terms) -> bool:
    """Whether the weights in the lists of all terms are above zero."""
    return all(postings.weights[postings.of(term)][:1].min(initial=1.0) > 0 for term in terms)


def holding_all(postings: Postings, terms: Terms) -> NDArray[np.int32]:
    """The documents that hold every one of the terms, ascending; none for a query without terms."""
    lists = sorted((postings.docs[postings.of(term)] for term in {int(term) for term in terms}), key=len)
    if not lists:
        return np.empty(0, dtype=np.int32)
    found = lists[0]
    for docs in lists[1:]:
        if not found.size or not docs.size:
            return found[:0]
        if found.size < MANY:
            positions = np.searchsorted(docs, found)
            found = found[docs[np.minimum(positions, docs.size - 1)] == found]
        else:
            found = _common(found, docs)
    return found


def _common(few: NDArray[np.int32], docs: NDArray[np.int32]) -> NDArray[np.int32]:
    """The documents of a list that are in a longer one, too."""
    from qbench.scoring.posting_kernel import common

    out = np.empty(few.size, np.int32)
    return out[: common(few, docs, out)]
