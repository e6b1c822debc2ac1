"""First stages: from a query to the documents it retrieves, with scores.

Documents are positions in one fixed order, that of falling document ids: so a lower position wins among equal scores.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from qbench.errors import InputError, OptionError
from qbench.progress import Progress, silent
from qbench.retrieval.analysis import VERSION as ANALYSIS
from qbench.retrieval.analysis import token_ids, token_lists
from qbench.retrieval.stored import Stored, mapped, save_arrays, stored
from qbench.scoring import bm25

if TYPE_CHECKING:
    import polars as pl
    from numpy.typing import NDArray

    from qbench.retrieval.registry import Value


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
    """What a first stage is asked.

    Attributes:
        query_id: the query's id.
        text: its text, or its search words.
        tokens: of that text; a lexical stage's `prepared` fills them in.
        found: what a stage has found already that answers many searches at once.
    """

    query_id: str
    text: str
    tokens: Sequence[str] = ()
    found: Candidates | None = None


class FirstStage(Protocol):
    """Retrieves documents. Free of state between queries."""

    def prepared(self, searches: Sequence[Search]) -> list[Search]:
        """The searches with what is quicker done for many at once; `search` takes them in this form."""
        ...

    def search(self, search: Search) -> Candidates:
        """The documents it retrieves: a lexical one, all that hold at least one of the tokens; others, some."""
        ...

    def holding_all(self, search: Search) -> NDArray[np.integer[Any]]:
        """The documents that hold every one of the tokens, ascending; only asked of a lexical one."""
        ...


def with_tokens(searches: Sequence[Search]) -> list[Search]:
    """The searches with the tokens of their texts."""
    lists = token_lists([search.text for search in searches])
    return [replace(search, tokens=tokens) for search, tokens in zip(searches, lists, strict=True)]


@dataclass(frozen=True)
class BM25:
    """Our BM25 over posting lists."""

    vocabulary: dict[str, int]
    postings: bm25.Postings

    def prepared(self, searches: Sequence[Search]) -> list[Search]:
        """The searches with the tokens of their texts."""
        return with_tokens(searches)

    def search(self, search: Search) -> Candidates:
        """The documents that hold at least one of the tokens, with their BM25 scores."""
        query = [self.vocabulary[token] for token in search.tokens if token in self.vocabulary]
        scores = bm25.score(self.postings, query)
        docs = bm25.matching(self.postings, query, scores)
        return Candidates(docs, scores[docs])

    def holding_all(self, search: Search) -> NDArray[np.integer[Any]]:
        """The documents that hold every one of the tokens."""
        if any(token not in self.vocabulary for token in search.tokens):
            return np.empty(0, dtype=np.int32)
        return bm25.holding_all(self.postings, [self.vocabulary[token] for token in search.tokens])


class ReferenceBM25:
    """The BM25Okapi of the rank-bm25 package: slow, there to be compared with.

    Raises:
        OptionError: k1 is 0.
    """

    def __init__(self, texts: pl.Series, k1: float, b: float, epsilon: float) -> None:
        from rank_bm25 import BM25Okapi

        if k1 == 0:
            raise OptionError("rank-bm25 divides zero by zero at k1=0", remedy="Use engine=numpy, or a small k1")
        documents = token_lists(texts.to_list())
        # BM25Okapi divides by the number of distinct words.
        self._model: Any = BM25Okapi(documents, k1=k1, b=b, epsilon=epsilon) if any(documents) else None
        self._size = len(documents)

    def prepared(self, searches: Sequence[Search]) -> list[Search]:
        """The searches with the tokens of their texts."""
        return with_tokens(searches)

    def search(self, search: Search) -> Candidates:
        """The documents that hold at least one of the tokens, with the scores of `get_scores`."""
        docs = self._holding(search, any)
        with np.errstate(invalid="ignore"):  # b = 1 and an empty document, which is no candidate
            scores = self._model.get_scores(search.tokens) if self._model else np.zeros(self._size)
        return Candidates(docs, np.asarray(scores, dtype=np.float64)[docs])

    def holding_all(self, search: Search) -> NDArray[np.integer[Any]]:
        """The documents that hold every one of the tokens."""
        return self._holding(search, all) if search.tokens else np.empty(0, dtype=np.intp)

    def _holding(self, search: Search, quantifier: Any) -> NDArray[np.intp]:
        held = self._model.doc_freqs if self._model else []
        return np.flatnonzero([quantifier(token in words for token in search.tokens) for words in held])


class GivenRun:
    """A ranking made elsewhere."""

    def __init__(self, path: Path, doc_ids: pl.Series) -> None:
        import polars as pl

        from qbench.benchmark.trec import read_run

        run = read_run(path)
        positions = pl.DataFrame({"doc_id": doc_ids, "doc": pl.Series(range(len(doc_ids)), dtype=pl.Int64)})
        run = run.join(positions, on="doc_id", how="left")
        lost = run.filter(pl.col("doc").is_null())
        if lost.height:
            raise InputError(
                f"the run ranks {lost['doc_id'].n_unique()} documents that the benchmark does not have",
                file=path,
                value=lost["doc_id"][0],
                remedy="Use a run made on this benchmark's corpus",
            )
        run = run.sort("query_id", "doc")
        self._docs, self._scores = run["doc"].to_numpy(), run["score"].to_numpy()
        counts = run.group_by("query_id", maintain_order=True).agg(pl.len())
        ends = counts["len"].cum_sum().to_list()
        self._places = dict(zip(counts["query_id"], zip([0, *ends], ends, strict=False), strict=True))

    def prepared(self, searches: Sequence[Search]) -> list[Search]:
        """The searches as they are."""
        return list(searches)

    def search(self, search: Search) -> Candidates:
        """The documents that the run ranks for this query, with its scores."""
        first, last = self._places.get(search.query_id, (0, 0))
        return Candidates(self._docs[first:last], self._scores[first:last])

    def holding_all(self, search: Search) -> NDArray[np.integer[Any]]:
        """A run knows ids and scores only.

        Raises:
            OptionError: always; the grammar gives QRun no parameter that would ask this.
        """
        raise OptionError("a run made elsewhere does not know its documents' words", remedy="Leave terms=all out")


def open_first_stage(
    name: str,
    values: dict[str, Value],
    corpus: pl.DataFrame,
    corpus_key: str,
    root: Path,
    *,
    depth: int = 1000,
    progress: Progress = silent,
) -> tuple[FirstStage, float, int]:
    """A first stage ready to search, the seconds that its index took to build, and the index's bytes on disk.

    Args:
        name: as in the registry.
        values: all its parameters, with the defaults.
        corpus: columns doc_id and passage, in the order of positions.
        corpus_key: names the corpus' content.
        root: the folder of all indexes.
        depth: how many documents a dense one retrieves.
        progress: told how far an index is that takes long.
    """
    if name == "Run":
        return GivenRun(Path(str(values["path"])), corpus["doc_id"]), 0.0, 0
    if "model" in values:
        from qbench.retrieval.dense import open_dense

        return open_dense(values, corpus, corpus_key, root, depth, progress)
    weights = {key: float(values[key]) for key in ("k1", "b", "epsilon")}
    if values["engine"] == "rank-bm25":
        import time

        start = time.perf_counter()
        return ReferenceBM25(corpus["passage"], **weights), time.perf_counter() - start, 0
    found = build_bm25(corpus["passage"], weights, corpus_key, root)
    return open_bm25(found.folder), found.seconds, found.size


def build_bm25(passages: pl.Series, weights: dict[str, float], corpus_key: str, root: Path) -> Stored:
    """BM25's posting lists and vocabulary on disk, made if they are not there yet."""
    import polars as pl

    from qbench import __version__

    def make(folder: Path) -> None:
        vocabulary, ids, lengths = token_ids(passages)
        postings = bm25.build(ids, lengths, len(vocabulary), **weights)
        save_arrays(folder, {name: getattr(postings, name) for name in ("starts", "docs", "weights")})
        np.save(folder / "size.npy", np.int64(postings.size), allow_pickle=False)
        pl.DataFrame({"token": vocabulary}, schema={"token": pl.String}).write_parquet(folder / "vocabulary.parquet")

    params = {"corpus": corpus_key, **weights, "analysis": ANALYSIS, "version": __version__}
    return stored(root, "bm25", params, make)


def open_bm25(folder: Path) -> BM25:
    """The BM25 that `build_bm25` wrote, its arrays mapped into memory."""
    import polars as pl

    vocabulary = pl.read_parquet(folder / "vocabulary.parquet", glob=False)["token"]
    starts, docs, weights = (mapped(folder, name) for name in ("starts", "docs", "weights"))
    postings = bm25.Postings(starts, docs, weights, int(mapped(folder, "size")))
    return BM25({token: number for number, token in enumerate(vocabulary)}, postings)
