"""A toy reranker: one file and one row of the registry. It looks at texts, quantities and conditions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from qbench.options import option
from qbench.retrieval.rankers import Candidates, OpenedRanker, RankerContext, Search
from qbench.retrieval.registry import Entry
from qbench.retrieval.systems import Stage


@dataclass(frozen=True, kw_only=True)
class LengthOptions:
    """Options of Length."""

    weight: float = option(1.0, help="weight of a mention in a unit of the conditions", low=0)


@dataclass(frozen=True)
class Length:
    """Shorter documents first, and those with mentions in the units of a query's conditions before them."""

    context: RankerContext
    weight: float

    def encoded(self, searches: Sequence[Search]) -> list[Search]:
        """The searches as they are."""
        return list(searches)

    prepared = encoded

    def search(self, search: Search) -> Candidates:
        """All documents."""
        everything = Candidates(np.arange(self.context.corpus.height), np.zeros(self.context.corpus.height))
        return Candidates(everything.docs, self.rerank([search], [everything])[0])

    def rerank(self, searches: Sequence[Search], candidates: Sequence[Candidates]) -> list[NDArray[np.float64]]:
        """Number of mentions in a unit of the conditions, less the length of the text in thousands of characters."""
        return [
            np.array([self._score(search, int(doc)) for doc in some.docs], dtype=np.float64)
            for search, some in zip(searches, candidates, strict=True)
        ]

    def _score(self, search: Search, doc: int) -> float:
        units = {condition.base_unit for condition in search.conditions}
        mentions = [mention for mention in self.context.quantities().of(doc) if mention.base_unit in units]
        return self.weight * len(mentions) - len(self.context.corpus["passage"][doc]) / 1000


def open_length(stage: Stage, options: LengthOptions, context: RankerContext) -> OpenedRanker:
    """Length, which needs no index."""
    return OpenedRanker(Length(context, options.weight), 0.0, 0)


ENTRY = Entry(
    "Length",
    ("first stage", "reranker"),
    "ranks short documents with mentions in the units of the conditions first",
    "a test",
    LengthOptions,
    "tests.retrieval.lengths:open_length",
    reads=("conditions", "quantities"),
)
