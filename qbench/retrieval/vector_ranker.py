"""What rankers over stored vectors share: queries are encoded together, and documents read once for many of them."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from qbench.retrieval.rankers import Candidates, Search


class VectorRanker(ABC):
    """A `Ranker` that retrieves for many encoded searches at once."""

    @abstractmethod
    def encoded(self, searches: Sequence[Search]) -> list[Search]:
        """The searches with their vectors, in the ranker's own shape."""

    @abstractmethod
    def _retrieved(self, encoded: Sequence[Search]) -> list[Candidates]:
        """The documents with the highest scores, for each search; of equal ones the lower positions."""

    @abstractmethod
    def _scores(self, vector: Any, docs: NDArray[np.integer[Any]]) -> NDArray[np.float64]:
        """The scores of given documents for a search's vector, shape (docs,)."""

    def prepared(self, searches: Sequence[Search]) -> list[Search]:
        """The searches with their hits: encoding and searching many at once is many times quicker."""
        encoded = self.encoded(searches)
        return [replace(search, hits=hits) for search, hits in zip(encoded, self._retrieved(encoded), strict=True)]

    def search(self, search: Search) -> Candidates:
        """The documents with the highest scores, as many as it retrieves; of equal ones the lower positions."""
        return self._retrieved(self.encoded([search]))[0] if search.hits is None else search.hits

    def rerank(self, searches: Sequence[Search], candidates: Sequence[Candidates]) -> list[NDArray[np.float64]]:
        """The scores of each search's candidates."""
        return [self._scores(search.vector, some.docs) for search, some in zip(searches, candidates, strict=True)]
