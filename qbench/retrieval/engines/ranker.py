"""What the rankers of all engines have in common."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence

import numpy as np
from numpy.typing import NDArray

from qbench.keys import key, revision
from qbench.retrieval.engines.tables import Weights
from qbench.retrieval.lexical import with_tokens
from qbench.retrieval.rankers import Candidates, RankerContext, Search


class ServedRanker(ABC):
    """BM25 that a server computes.

    Args:
        size: number of documents.
        language: code of the texts' language.
    """

    def __init__(self, size: int, language: str) -> None:
        self.size, self.language = size, language

    def encoded(self, searches: Sequence[Search]) -> list[Search]:
        """The searches with what is known of them before they are answered."""
        return self.prepared(searches)

    def prepared(self, searches: Sequence[Search]) -> list[Search]:
        """The searches with the tokens of their texts."""
        return with_tokens(searches, self.language)

    @abstractmethod
    def search(self, search: Search) -> Candidates:
        """The documents that hold at least one of the tokens, with their BM25 scores."""

    def rerank(self, searches: Sequence[Search], candidates: Sequence[Candidates]) -> list[NDArray[np.float64]]:
        """The BM25 scores of each search's candidates."""
        scores = []
        for search, some in zip(searches, candidates, strict=True):
            found, of_all = self.search(search), np.zeros(self.size)
            of_all[found.docs] = found.scores
            scores.append(of_all[some.docs])
        return scores


def ranked(rows: Iterable[Sequence[float]]) -> Candidates:
    """Rows of score and position as candidates, in their order."""
    pairs = list(rows)
    docs = np.fromiter((doc for _, doc in pairs), np.intp, len(pairs))
    return Candidates(docs, np.fromiter((score for score, _ in pairs), np.float64, len(pairs)))


def tables_key(context: RankerContext, weights: Weights) -> str:
    """Names the content of the tables of a benchmark's corpus."""
    return key("served tables", corpus=context.corpus_key, mentions=context.quantities().digest, weights=repr(weights),
               analysis=revision("analysis"), language=context.language)  # fmt: skip
