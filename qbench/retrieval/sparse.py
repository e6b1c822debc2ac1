"""Learned sparse search: SPLADE on an inverted index.

A document's score is the dot product of its term weights and the query's (*Numbers Matter* eq. 8). A search retrieves
every document that shares a term with the expanded query, so that a quantity score is added to the whole ranking, and
exactly where the indicator of eq. 9 is 1. Documents with the same text share one entry, so that their scores are equal.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from qbench.compression.codec import Arrays
from qbench.models.folders import model_digest, model_folder
from qbench.models.sparse import TermEncoder
from qbench.retrieval.encoding_task import Loader, encoding
from qbench.retrieval.ranker_options import SparseOptions
from qbench.retrieval.rankers import Candidates, OpenedRanker, RankerContext, Search, TermScore
from qbench.retrieval.shared_texts import SharedTexts
from qbench.retrieval.stored import Stored, mapped, save_arrays
from qbench.retrieval.systems import Stage
from qbench.retrieval.vectors import build_vectors, open_shared, read_notes
from qbench.scoring.maxsim import blocks
from qbench.scoring.postings import Postings, score
from qbench.scoring.ranking import LARGE
from qbench.work.tasks import Task

BLOCK = 1024
"""Texts that are encoded before they are on disk."""

CHUNK = 2**24
"""Postings that are sorted at a time: 128 MB."""

ENTRIES = 2**22
"""Entries of texts that are read at a time while postings are sorted: 32 MB."""

_KINDS: Mapping[str, type[np.generic]] = {"postings": np.int32, "weights": np.float32}


@dataclass(frozen=True)
class Sparse:
    """Learned sparse search.

    Attributes:
        encoder: weighs the queries' terms.
        postings: of the distinct texts, in the order of each text's first document; all weights are above zero.
        shared: which documents have which text.
    """

    encoder: TermEncoder
    postings: Postings
    shared: SharedTexts

    def encoded(self, searches: Sequence[Search]) -> list[Search]:
        """The searches with their vectors: a pair of terms, ascending, and their weights, each of shape (terms,)."""
        rows = self.encoder.encode([search.text for search in searches], "query")
        ends = zip(rows.indptr[:-1].tolist(), rows.indptr[1:].tolist(), strict=True)
        vectors = [(rows.indices[a:b], rows.data[a:b]) for a, b in ends]
        return [replace(search, vector=vector) for search, vector in zip(searches, vectors, strict=True)]

    def prepared(self, searches: Sequence[Search]) -> list[Search]:
        """The searches with their vectors: encoding many at once is quicker; searching is not."""
        return self.encoded(searches)

    def search(self, search: Search) -> Candidates:
        """All documents that share a term with the expanded query, with their dot products; none if it has no term."""
        scores = self._all(search)
        # A document that shares a term scores above zero: weights are, and doubles hold the product of any two of them.
        docs = np.flatnonzero(scores > 0)
        return Candidates(docs, scores[docs])

    def sums(self, search: Search) -> NDArray[np.float64] | None:
        """The dot products of all documents; None for a small corpus."""
        return self._all(search) if self.shared.of.size >= LARGE else None

    def rerank(self, searches: Sequence[Search], candidates: Sequence[Candidates]) -> list[NDArray[np.float64]]:
        """The dot products of each search's candidates."""
        return [self._all(search)[some.docs] for search, some in zip(searches, candidates, strict=True)]

    def term_scores(self, search: Search, doc: int, text: str) -> list[TermScore]:
        """What each term of the expanded query adds to the dot product with a document."""
        words, place = self.encoder.terms(), int(self.shared.of[doc])
        terms, weights = self._vector(search)
        scores = [
            float(weight) * self.postings.weight(int(term), place) for term, weight in zip(terms, weights, strict=True)
        ]
        names = [words[int(term)] for term in terms]
        return [TermScore(name, name if score else "", score) for name, score in zip(names, scores, strict=True)]

    def _vector(self, search: Search) -> tuple[NDArray[np.integer[Any]], NDArray[np.float32]]:
        if search.vector is None:
            (search,) = self.encoded([search])
        vector: tuple[NDArray[np.integer[Any]], NDArray[np.float32]] = search.vector
        return vector

    def _all(self, search: Search) -> NDArray[np.float64]:
        """The scores of all documents, shape (documents,)."""
        texts = score(self.postings, *self._vector(search))
        # Where no two texts are equal, text t is document t.
        return texts if texts.size == self.shared.docs.size else texts[self.shared.of]


def open_sparse(stage: Stage, options: SparseOptions, context: RankerContext) -> OpenedRanker:
    """Learned sparse search ready to answer.

    Raises:
        InputError: the model is missing, not whole, or gives a text a weight that is not finite.
        MissingPackageError: sentence-transformers is not installed.
    """
    load = Loader("qbench.models.sparse", "load_sparse_encoder", {"max_length": options.max_length})
    encoder = load(options.model)
    params = {"model": model_digest(model_folder(options.model)), "max_length": options.max_length}
    built = build_sparse(encoder, params, context, encoding(load, options.model, term_arrays))
    notes = read_notes(built.folder)
    meta: dict[str, int | float | str] = {name: notes[name] for name in ("documents_cut", "mean_terms")}
    if encoder.note:
        meta["note"] = encoder.note
    postings = open_postings(built.folder)
    score(postings, (), np.empty(0))  # so that no query's time holds the loading of numba
    return OpenedRanker(Sparse(encoder, postings, open_shared(built.folder)), built.seconds, built.size, meta)


def build_sparse(
    encoder: TermEncoder, params: Mapping[str, Any], context: RankerContext, task: Task | None = None
) -> Stored:
    """The inverted index of all distinct passages on disk, built if it is not there yet; an interrupted call resumes.

    Args:
        encoder: weighs their terms.
        params: everything that can change the weights, but for the corpus.
        context: the corpus, and the folder of indexes.
        task: encodes a block, for the context's engine.

    Raises:
        InputError: a weight is not finite.
    """

    def finish(folder: Path) -> dict[str, Any]:
        postings = invert(folder, encoder.dimension)
        return {"mean_terms": round(postings / max(mapped(folder, ".counts").size, 1), 1)}

    def encode(_: int, texts: list[str]) -> Arrays:
        return term_arrays(encoder, texts)

    return build_vectors("sparse", encoder, encode, params, context, block=BLOCK, finish=finish, task=task)


def term_arrays(encoder: TermEncoder, texts: Sequence[str]) -> Arrays:
    """The terms of some texts and their weights, text by text."""
    rows = encoder.encode(texts)
    counts = np.diff(rows.indptr).astype(np.int64)
    return {".counts": counts, ".terms": rows.indices.astype(np.int32), ".weights": rows.data}


def invert(folder: Path, dimension: int) -> int:
    """Write posting lists from the terms of texts, in bounded memory.

    The terms are read once to count the postings of each, and then once for every `CHUNK` of postings, which are
    put where they belong (a counting sort by ranges of terms).

    Args:
        folder: of a draft, with the rows of all texts: `.counts.npy`, shape (texts,), the number of terms of each;
            `.terms.npy` and `.weights.npy`, shape (their sum,). Gets `terms.npy`, `postings.npy` and `weights.npy`:
            `starts`, `docs` and `weights` of the postings.
        dimension: number of terms of the vocabulary.

    Returns:
        the number of postings.
    """
    rows = np.append(0, np.cumsum(mapped(folder, ".counts"))).astype(np.int64)
    terms = mapped(folder, ".terms")
    counts = np.zeros(dimension, dtype=np.int64)
    for first in range(0, terms.size, ENTRIES):
        counts += np.bincount(terms[first : first + ENTRIES], minlength=dimension)
    starts = np.append(0, np.cumsum(counts))
    for name in _KINDS:
        _mapped_lists(folder, name, "w+", int(starts[-1]))
    low = 0
    while low < dimension:
        high = max(low + 1, int(np.searchsorted(starts, starts[low] + CHUNK, side="right")) - 1)
        _sort(folder, rows, starts, low, high)
        low = high
    save_arrays(folder, {"terms": starts, "size": np.int64(rows.size - 1)})
    return int(starts[-1])


def _sort(folder: Path, rows: NDArray[np.int64], starts: NDArray[np.int64], low: int, high: int) -> None:
    """Write the postings of the terms from `low` to before `high`."""
    from qbench.scoring.posting_kernel import scatter

    ends, some = starts[low:high] - starts[low], slice(int(starts[low]), int(starts[high]))
    docs, weights = (_mapped_lists(folder, name, "r+", int(starts[-1]))[some] for name in _KINDS)
    terms, values = mapped(folder, ".terms"), mapped(folder, ".weights")
    for first, last in blocks(rows, ENTRIES):
        entries = slice(int(rows[first]), int(rows[last]))
        scatter(rows[first : last + 1] - rows[first], terms[entries], values[entries], first, low, ends, docs, weights)


def _mapped_lists(folder: Path, name: str, mode: Literal["r+", "w+"], size: int) -> NDArray[Any]:
    """The file of one array of all postings, mapped as long as somebody holds the array."""
    return np.asarray(np.lib.format.open_memmap(folder / f"{name}.npy", mode=mode, dtype=_KINDS[name], shape=(size,)))


def open_postings(folder: Path) -> Postings:
    """The posting lists that `invert` wrote, mapped into memory."""
    starts, docs, weights = (mapped(folder, name) for name in ("terms", "postings", "weights"))
    return Postings(starts, docs, weights, int(mapped(folder, "size")))
