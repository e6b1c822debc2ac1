"""What every ranker promises, first stage or reranker: from a query to documents with scores.

Documents are positions in one fixed order, that of falling document ids: so a lower position wins among equal scores.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, Protocol, runtime_checkable

from qbench.errors import OptionError
from qbench.llm.client import Access
from qbench.progress import Progress, silent
from qbench.quantities.languages import ENGLISH

if TYPE_CHECKING:
    from pathlib import Path

    import numpy as np
    import polars as pl
    from numpy.typing import NDArray

    from qbench.quantities.types import Condition
    from qbench.quantities.units import Units
    from qbench.retrieval.mentions import DocumentMentions
    from qbench.work.tasks import Engine

Terms = Literal["any", "all"]
"""How many of a query's search terms a document must hold."""

Counts = Mapping[str, int | str]
"""What is counted of a language model's answers by name; and `unusable_answer`, for people, where one is unusable."""


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
        conditions: what it asks of quantities, given or parsed as the run's setting says; () where none is known, and
            for a model whose entry does not read conditions.
        tokens: of that text; a lexical ranker's `encoded` fills them in.
        vector: what an encoder made of that text, in the ranker's own shape.
        hits: what a ranker has retrieved already that answers many searches at once.
        terms: the search words alone, for a model that reads conditions; "" where unknown.
    """

    query_id: str
    text: str
    conditions: tuple[Condition, ...] = ()
    tokens: Sequence[str] = ()
    vector: Any = None
    hits: Candidates | None = None
    terms: str = ""


class Ranker(Protocol):
    """Retrieves documents, and scores given ones. Free of state between queries."""

    def encoded(self, searches: Sequence[Search]) -> list[Search]:
        """The searches as `rerank` takes them: many at once, because that is quicker."""
        ...

    def prepared(self, searches: Sequence[Search]) -> list[Search]:
        """The searches as `search` takes them, with what is quicker done for many at once."""
        ...

    def search(self, search: Search) -> Candidates:
        """The documents it retrieves: a lexical one, all that hold at least one of the tokens; others, some."""
        ...

    def rerank(self, searches: Sequence[Search], candidates: Sequence[Candidates]) -> list[NDArray[np.float64]]:
        """Its scores of each search's candidates, in their order; NaN where it has none.

        Args:
            searches: from `encoded`, those of a batch of queries.
            candidates: one for each search: the best of the ranking before it with their scores there, best first.
        """
        ...


@runtime_checkable
class BatchRanker(Ranker, Protocol):
    """Also ranks the documents of many searches at once, without those that are not among the best."""

    def best(self, searches: Sequence[Search], depth: int) -> list[Candidates]:
        """The best `depth` of each `search`, best first; of equal scores the lower position first."""
        ...


@runtime_checkable
class SumRanker(Ranker, Protocol):
    """Also gives the scores of all documents in one array, which can be quicker than a list of those retrieved."""

    def sums(self, search: Search) -> NDArray[np.float64] | None:
        """The scores, shape (documents,), a new array: above zero for what `search` retrieves, and 0 for all others.

        None where the list is quicker, or where scores do not tell what is retrieved.
        """
        ...


@runtime_checkable
class AskingRanker(Ranker, Protocol):
    """Also counts what it asks a chat model."""

    def rerank_counted(
        self, searches: Sequence[Search], candidates: Sequence[Candidates]
    ) -> tuple[list[NDArray[np.float64]], Counts]:
        """The scores of `rerank`, and what is counted, the same in a replay: `ASKED` (see `types`) and more."""
        ...


@runtime_checkable
class FilteringRanker(Ranker, Protocol):
    """Also leaves out, before it ranks, the documents that do not meet a query's conditions; its entry says so."""

    def best_satisfying(self, search: Search, conditions: Sequence[Condition], depth: int) -> Candidates:
        """The best `depth` documents in which every condition is met by unit and value, best first.

        Of equal scores the lower position is first; without conditions, the best of all.
        """
        ...


@dataclass(frozen=True)
class TermScore:
    """What one term of a query adds to a model's score of a document.

    Attributes:
        asked: the query's word, or token of the model's vocabulary.
        found: the document's, where it may be another one; "" where it holds none.
        score: what it adds.
    """

    asked: str
    found: str
    score: float


@runtime_checkable
class TermRanker(Ranker, Protocol):
    """Also says which terms its score of a document is the sum of."""

    def term_scores(self, search: Search, doc: int, text: str) -> list[TermScore]:
        """What each term adds, in the query's order.

        Args:
            search: from `encoded`.
            doc: the document's position.
            text: the document's text.
        """
        ...


@runtime_checkable
class Proposing(Protocol):
    """Also knows what a search that does not look at every document costs, on queries that are asked."""

    def recall(self, searches: Sequence[Search]) -> float | None:
        """The share of what exact search finds best that is looked at; None where every document is."""
        ...


class LexicalRanker(Ranker, Protocol):
    """Also knows which documents hold a search's tokens; its entry has the options of a lexical Q."""

    def holding(self, search: Search, terms: Terms) -> NDArray[np.integer[Any]]:
        """The documents that hold any, or all, of the tokens, ascending."""
        ...


def _no_mentions() -> DocumentMentions:
    raise OptionError("nobody has extracted the quantities of these documents", remedy="Run the system on a benchmark")


def _built_in_units() -> Units:
    from qbench.quantities.units import load_units

    return load_units()


@dataclass(frozen=True)
class RankerContext:
    """What rankers of one benchmark are opened with.

    Attributes:
        corpus: columns doc_id and passage, in the order of positions; in a benchmark also source_id, the document that
            a passage is of, and place, which orders the passages of one.
        corpus_key: names the corpus' content.
        root: the folder of all indexes.
        depth: number of documents that a ranker retrieves which does not retrieve all that match.
        progress: reports how far an index is that takes long.
        access: how servers may be used; their answers are recorded in `root` where it names no other folder.
        quantities: gives the documents' mentions of quantities, extracted at the first call; for a model whose entry
            reads quantities.
        units: gives the units of the extraction.
        language: code of the texts' language.
        engine: what encodes documents where it can be cut into tasks; None for this process.
    """

    corpus: pl.DataFrame
    corpus_key: str
    root: Path
    depth: int = 1000
    progress: Progress = silent
    access: Access = field(default_factory=Access)
    quantities: Callable[[], DocumentMentions] = _no_mentions
    units: Callable[[], Units] = _built_in_units
    language: str = ENGLISH
    engine: Engine | None = None


@dataclass(frozen=True)
class OpenedRanker:
    """A ranker that is ready.

    Attributes:
        ranker: the ranker.
        seconds: time to build its index.
        size: bytes of the index on disk.
        meta: what else should be reported (number of documents that were cut, ...).
    """

    ranker: Ranker
    seconds: float
    size: int
    meta: Mapping[str, int | float | str] = field(default_factory=dict)
