"""BM25 as a ranker: our own over posting lists, and the rank-bm25 package for comparison."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from qbench.errors import OptionError
from qbench.keys import revision
from qbench.quantities.languages import ENGLISH
from qbench.retrieval.analysis import token_ids, token_lists
from qbench.retrieval.ranker_options import LexicalOptions
from qbench.retrieval.rankers import Candidates, OpenedRanker, RankerContext, Search, Terms, TermScore
from qbench.retrieval.stored import Stored, mapped, save_arrays, stored
from qbench.retrieval.systems import Stage
from qbench.scoring import bm25
from qbench.scoring.ranking import LARGE
from qbench.work.pool import in_threads


def open_lexical(stage: Stage, options: LexicalOptions, context: RankerContext) -> OpenedRanker:
    """BM25 ready to search."""
    weights = {"k1": options.k1, "b": options.b, "epsilon": options.epsilon}
    if options.engine == "rank-bm25":
        start = time.perf_counter()
        reference = ReferenceBM25(context.corpus["passage"], language=context.language, **weights)
        return OpenedRanker(reference, time.perf_counter() - start, 0)
    index = build_bm25(context.corpus["passage"], weights, context.corpus_key, context.root, context.language)
    return OpenedRanker(open_bm25(index.folder, context.language), index.seconds, index.size)


def with_tokens(searches: Sequence[Search], language: str) -> list[Search]:
    """The searches with the tokens of their texts."""
    lists = token_lists([search.text for search in searches], language)
    return [replace(search, tokens=tokens) for search, tokens in zip(searches, lists, strict=True)]


@dataclass(frozen=True)
class BM25:
    """Our BM25 over posting lists."""

    vocabulary: dict[str, int]
    postings: bm25.Postings
    language: str = ENGLISH

    def encoded(self, searches: Sequence[Search]) -> list[Search]:
        """The searches with the tokens of their texts."""
        return with_tokens(searches, self.language)

    def prepared(self, searches: Sequence[Search]) -> list[Search]:
        """The searches with the tokens of their texts."""
        return with_tokens(searches, self.language)

    def search(self, search: Search) -> Candidates:
        """The documents that hold at least one of the tokens, with their BM25 scores."""
        return Candidates(*bm25.hits(self.postings, self._terms(search)))

    def sums(self, search: Search) -> NDArray[np.float64] | None:
        """The BM25 scores of all documents; None for a small corpus, and where a weight is not above zero."""
        return bm25.sums(self.postings, self._terms(search))

    def best(self, searches: Sequence[Search], depth: int) -> list[Candidates]:
        """The best documents of each search, best first: a thread for each processor core takes its share."""

        def rank(search: Search) -> Candidates:
            return Candidates(*bm25.best(self.postings, self._terms(search), depth))

        return in_threads(rank, searches) if self.postings.size >= LARGE else list(map(rank, searches))

    def rerank(self, searches: Sequence[Search], candidates: Sequence[Candidates]) -> list[NDArray[np.float64]]:
        """The BM25 scores of each search's candidates."""
        return [
            bm25.score(self.postings, self._terms(search))[batch.docs]
            for search, batch in zip(searches, candidates, strict=True)
        ]

    def holding(self, search: Search, terms: Terms) -> NDArray[np.integer[Any]]:
        """The documents that hold any, or all, of the tokens."""
        query = self._terms(search)
        if terms == "any":
            return bm25.matching(self.postings, query, bm25.score(self.postings, query))
        if len(query) < len(search.tokens):
            return np.empty(0, dtype=np.int32)
        return bm25.holding_all(self.postings, query)

    def term_scores(self, search: Search, doc: int, text: str) -> list[TermScore]:
        """What each token adds to the BM25 score of a document."""
        numbers = [self.vocabulary.get(token) for token in search.tokens]
        weights = [0.0 if term is None else self.postings.weight(term, doc) for term in numbers]
        return [
            TermScore(token, token if weight else "", weight)
            for token, weight in zip(search.tokens, weights, strict=True)
        ]

    def _terms(self, search: Search) -> list[int]:
        return [self.vocabulary[token] for token in search.tokens if token in self.vocabulary]


class ReferenceBM25:
    """The BM25Okapi of the rank-bm25 package: slow, for comparison.

    Raises:
        OptionError: k1 is 0.
    """

    def __init__(self, texts: pl.Series, k1: float, b: float, epsilon: float, language: str = ENGLISH) -> None:
        from rank_bm25 import BM25Okapi

        if k1 == 0:
            raise OptionError("rank-bm25 divides zero by zero at k1=0", remedy="Use engine=numpy, or a small k1")
        self.language = language
        documents = token_lists(texts.to_list(), language)
        # BM25Okapi divides by the number of distinct words.
        self._model: Any = BM25Okapi(documents, k1=k1, b=b, epsilon=epsilon) if any(documents) else None
        self._size = len(documents)

    def encoded(self, searches: Sequence[Search]) -> list[Search]:
        """The searches with the tokens of their texts."""
        return with_tokens(searches, self.language)

    def prepared(self, searches: Sequence[Search]) -> list[Search]:
        """The searches with the tokens of their texts."""
        return with_tokens(searches, self.language)

    def search(self, search: Search) -> Candidates:
        """The documents that hold at least one of the tokens, with the scores of `get_scores`."""
        docs = self.holding(search, "any")
        return Candidates(docs, self._scores(search)[docs])

    def rerank(self, searches: Sequence[Search], candidates: Sequence[Candidates]) -> list[NDArray[np.float64]]:
        """The scores of `get_scores` for each search's candidates."""
        return [self._scores(search)[batch.docs] for search, batch in zip(searches, candidates, strict=True)]

    def _scores(self, search: Search) -> NDArray[np.float64]:
        """The scores of all documents; 0 for an empty one, where `get_scores` may give none."""
        with np.errstate(invalid="ignore"):  # b = 1 and an empty document
            scores = self._model.get_scores(search.tokens) if self._model else np.zeros(self._size)
        return np.nan_to_num(np.asarray(scores, dtype=np.float64), nan=0.0)

    def holding(self, search: Search, terms: Terms) -> NDArray[np.intp]:
        """The documents that hold any, or all, of the tokens."""
        quantifier, held = any if terms == "any" else all, self._model.doc_freqs if self._model else []
        holding = [bool(search.tokens) and quantifier(token in words for token in search.tokens) for words in held]
        return np.flatnonzero(holding)


def build_bm25(
    passages: pl.Series, weights: dict[str, float], corpus_key: str, root: Path, language: str = ENGLISH
) -> Stored:
    """BM25's posting lists and vocabulary on disk, built if missing."""

    def make(folder: Path) -> None:
        vocabulary, ids, lengths = token_ids(passages, language)
        postings = bm25.build(ids, lengths, len(vocabulary), **weights)
        save_arrays(folder, {name: getattr(postings, name) for name in ("starts", "docs", "weights")})
        np.save(folder / "size.npy", np.int64(postings.size), allow_pickle=False)
        pl.DataFrame({"token": vocabulary}, schema={"token": pl.String}).write_parquet(folder / "vocabulary.parquet")

    params = {"corpus": corpus_key, **weights, "analysis": revision("analysis"), "language": language}
    return stored(root, "bm25", params, make)


def open_bm25(folder: Path, language: str = ENGLISH) -> BM25:
    """The BM25 that `build_bm25` wrote, its arrays mapped into memory."""
    vocabulary = pl.read_parquet(folder / "vocabulary.parquet", glob=False)["token"]
    starts, docs, weights = (mapped(folder, name) for name in ("starts", "docs", "weights"))
    postings = bm25.Postings(starts, docs, weights, int(mapped(folder, "size")))
    bm25.load_loops(postings)
    return BM25({token: number for number, token in enumerate(vocabulary)}, postings, language)
