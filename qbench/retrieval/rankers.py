"""What every ranker promises, first stage or reranker: from a query to documents with scores.

Documents are positions in one fixed order, that of falling document ids: so a lower position wins among equal scores.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from importlib import import_module
from typing import TYPE_CHECKING, Any, Literal, Protocol

from qbench.llm.client import Access
from qbench.progress import Progress, silent

if TYPE_CHECKING:
    from pathlib import Path

    import numpy as np
    import polars as pl
    from numpy.typing import NDArray

    from qbench.retrieval.registry import Entry, Family, Value


Terms = Literal["any", "all"]
"""How many of a query's search terms a document must hold."""


@dataclass(frozen=True)
class Candidates:
    """What a first stage retrieved.

    Attributes:
        docs: shape (n,), positions of documents, ascending.
        scores: shape (n,), theirs, in the same order.
    """

    docs: NDArray[np.intp]
    scores: NDArray[np.float64]


@dataclass(frozen=True)
class Search:
    """What a ranker is asked.

    Attributes:
        query_id: the query's id.
        text: its text, or its search words.
        tokens: of that text; a lexical ranker's `encoded` fills them in.
        vector: what an encoder made of that text, in the ranker's own shape.
        found: what a ranker has found already that answers many searches at once.
    """

    query_id: str
    text: str
    tokens: Sequence[str] = ()
    vector: Any = None
    found: Candidates | None = None


class Ranker(Protocol):
    """Retrieves documents, and scores given ones. Free of state between queries."""

    def encoded(self, searches: Sequence[Search]) -> list[Search]:
        """The searches as `scores` takes them: many at once, because that is quicker."""
        ...

    def prepared(self, searches: Sequence[Search]) -> list[Search]:
        """The searches as `search` takes them, with what is quicker done for many at once."""
        ...

    def search(self, search: Search) -> Candidates:
        """The documents it retrieves: a lexical one, all that hold at least one of the tokens; others, some."""
        ...

    def scores(self, search: Search, docs: NDArray[np.integer[Any]]) -> NDArray[np.float64]:
        """Its scores of these documents, in their order; NaN where it has none."""
        ...


class LexicalRanker(Ranker, Protocol):
    """Also knows which documents hold a search's tokens; its entry has the score parameter `terms`."""

    def holding(self, search: Search, terms: Terms) -> NDArray[np.integer[Any]]:
        """The documents that hold any, or all, of the tokens, ascending."""
        ...


@dataclass(frozen=True)
class Place:
    """What rankers of one benchmark are opened with.

    Attributes:
        corpus: columns doc_id and passage, in the order of positions.
        corpus_key: names the corpus' content.
        root: the folder of all indexes.
        depth: how many documents a ranker retrieves that does not retrieve all that match.
        progress: told how far an index is that takes long.
        access: how servers may be used; their answers are recorded in `root` where it names no other place.
    """

    corpus: pl.DataFrame
    corpus_key: str
    root: Path
    depth: int = 1000
    progress: Progress = silent
    access: Access = field(default_factory=Access)


@dataclass(frozen=True)
class Opened:
    """A ranker that is ready.

    Attributes:
        ranker: it.
        seconds: what building its index took.
        size: bytes of the index on disk.
        meta: what else should be reported (how many documents were cut, ...).
    """

    ranker: Ranker
    seconds: float
    size: int
    meta: Mapping[str, int | float | str] = field(default_factory=dict)


_OPENERS: dict[Family, tuple[str, str]] = {
    "lexical": ("qbench.retrieval.lexical", "open_lexical"),
    "run": ("qbench.retrieval.given_run", "open_run"),
    "single-vector": ("qbench.retrieval.dense", "open_dense"),
    "tct-colbert": ("qbench.retrieval.dense", "open_tct_colbert"),
    "aggretriever": ("qbench.retrieval.dense", "open_aggretriever"),
    "api": ("qbench.retrieval.api", "open_api"),
    "multi-vector": ("qbench.retrieval.late_interaction", "open_multi_vector"),
    "sparse": ("qbench.retrieval.sparse", "open_sparse"),
}
"""By family, the module and the function that opens its rankers; imported only when asked for."""


def open_ranker(entry: Entry, values: Mapping[str, Value], place: Place) -> Opened:
    """A ranker ready to search and to score, its index built if it is not there yet.

    Args:
        entry: a model of the registry; who opens it finds its name among the parameters, as `entry`.
        values: all its parameters, with the defaults.
        place: the corpus, and where indexes are kept.
    """
    assert entry.family is not None, entry.name  # noqa: S101  every model of the registry has one
    module, function = _OPENERS[entry.family]
    opened: Opened = getattr(import_module(module), function)({"entry": entry.name, **values}, place)
    return opened
