"""Learned sparse search: SPLADE on an inverted index.

A document's score is the dot product of its term weights and the query's (*Numbers Matter* eq. 8). A search retrieves
every document that shares a term with the expanded query, so that a quantity score is added to the whole ranking, and
exactly where the indicator of eq. 9 is 1. Documents with the same text share one entry, so that their scores are equal.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from qbench.models.blocks import Arrays, encode_blocks
from qbench.models.folders import model_digest, model_folder
from qbench.models.sparse import TermEncoder, load_sparse_encoder
from qbench.progress import Progress, silent
from qbench.retrieval.rankers import Candidates, OpenedRanker, RankerContext, Search
from qbench.retrieval.shared_texts import SharedTexts, distinct, first_ids
from qbench.retrieval.stored import Stored, mapped, save_arrays, stored
from qbench.scoring.postings import Postings, score
from qbench.store import read_json, write_json

if TYPE_CHECKING:
    import polars as pl
    from numpy.typing import NDArray

    from qbench.retrieval.ranker_options import SparseOptions
    from qbench.retrieval.systems import Stage

BLOCK = 1024
"""Texts that are encoded before they are on disk."""

CHUNK = 2**24
"""Postings that are sorted at a time: 128 MB."""

META = "meta.json"

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

    def scores(self, search: Search, docs: NDArray[np.integer[Any]]) -> NDArray[np.float64]:
        """The dot products of these documents."""
        found: NDArray[np.float64] = self._all(search)[docs]
        return found

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
    encoder = load_sparse_encoder(options.model, max_length=options.max_length)
    params = {
        "model": model_digest(model_folder(options.model)),
        "max_length": options.max_length,
        "corpus": context.corpus_key,
    }
    ids, passages = context.corpus["doc_id"], context.corpus["passage"]
    found = build_sparse(passages, encoder, params, context.root, context.progress, doc_ids=ids)
    meta: dict[str, int | float | str] = dict(read_json(found.folder / META))
    if encoder.note:
        meta["note"] = encoder.note
    postings = open_postings(found.folder)
    score(postings, (), np.empty(0))  # so that no query's time holds the loading of numba
    starts, docs = (mapped(found.folder, name) for name in ("starts", "docs"))
    return OpenedRanker(Sparse(encoder, postings, SharedTexts(starts, docs)), found.seconds, found.size, meta)


def build_sparse(
    passages: pl.Series,
    encoder: TermEncoder,
    params: Mapping[str, Any],
    root: Path,
    progress: Progress = silent,
    *,
    doc_ids: pl.Series | None = None,
) -> Stored:
    """The inverted index of all distinct passages on disk, made if it is not there yet; a killed call goes on.

    Args:
        passages: the documents' texts.
        encoder: weighs their terms.
        params: everything that can change the weights.
        root: the folder of all indexes.
        progress: told the number of texts done.
        doc_ids: the documents' ids, in the order of `passages`, for errors.

    Raises:
        InputError: a weight is not finite.
    """

    def make(folder: Path) -> None:
        texts, starts, docs = distinct(passages)
        postings = invert(folder, texts, encoder, progress, named=first_ids(starts, docs, doc_ids))
        save_arrays(folder, {"starts": starts, "docs": docs})
        blocks = (texts.slice(start, BLOCK).to_list() for start in range(0, len(texts), BLOCK))
        cut = np.concatenate([np.empty(0, bool), *map(encoder.cut, blocks)])
        # Of documents, and not of texts.
        counted = int(np.diff(starts)[cut].sum())
        write_json(folder / META, {"documents_cut": counted, "mean_terms": round(postings / max(len(texts), 1), 1)})

    return stored(root, "sparse", params, make)


def invert(
    folder: Path,
    texts: pl.Series,
    encoder: TermEncoder,
    progress: Progress = silent,
    *,
    named: Callable[[int], object] | None = None,
) -> int:
    """Encode texts and write their posting lists, in bounded memory; go on where a killed call was.

    The blocks are read once to count the postings of each term, and then once for every `CHUNK` of postings, which are
    put where they belong (a counting sort by ranges of terms).

    Args:
        folder: of a draft; gets `terms.npy`, `postings.npy` and `weights.npy`: `starts`, `docs` and `weights` of the
            postings. The blocks stay in it, hidden, until it is sealed: a kill before that costs no encoding.
        texts: n strings, the same in every call for this folder.
        encoder: weighs their terms, the same in every call.
        progress: told the number of texts done.
        named: the id of a text's document, for errors.

    Returns:
        the number of postings.

    Raises:
        InputError: a weight is not finite.
    """

    def encode(some: list[str]) -> dict[str, NDArray[Any]]:
        rows = encoder.encode(some)
        return {"starts": rows.indptr.astype(np.int64), "terms": rows.indices.astype(np.int32), "weights": rows.data}

    counts = np.zeros(encoder.dimension, dtype=np.int64)
    for block in encode_blocks(folder, texts, encode, progress, block=BLOCK, named=named):
        counts += np.bincount(block["terms"], minlength=encoder.dimension)
    starts = np.append(0, np.cumsum(counts))
    for name in _KINDS:
        _mapped_lists(folder, name, "w+", int(starts[-1]))
    low = 0
    while low < encoder.dimension:
        high = max(low + 1, int(np.searchsorted(starts, starts[low] + CHUNK, side="right")) - 1)
        # Nothing is encoded any more: these are the blocks on disk.
        _sort(folder, encode_blocks(folder, texts, encode, block=BLOCK), starts, low, high)
        low = high
    save_arrays(folder, {"terms": starts})
    np.save(folder / "size.npy", np.int64(len(texts)), allow_pickle=False)
    return int(starts[-1])


def _sort(folder: Path, blocks: Iterable[Arrays], starts: NDArray[np.int64], low: int, high: int) -> None:
    """Write the postings of the terms from `low` to before `high`."""
    from qbench.scoring.posting_kernel import place

    done, ends, part = 0, starts[low:high] - starts[low], slice(int(starts[low]), int(starts[high]))
    docs, weights = (_mapped_lists(folder, name, "r+", int(starts[-1]))[part] for name in _KINDS)
    for block in blocks:
        # As plain arrays, which the kernel takes.
        rows, terms, values = (np.asarray(block[name]) for name in ("starts", "terms", "weights"))
        place(rows, terms, values, done, low, ends, docs, weights)
        done += rows.size - 1


def _mapped_lists(folder: Path, name: str, mode: Literal["r+", "w+"], size: int) -> NDArray[Any]:
    """The file of one array of all postings, mapped as long as somebody holds the array."""
    return np.asarray(np.lib.format.open_memmap(folder / f"{name}.npy", mode=mode, dtype=_KINDS[name], shape=(size,)))


def open_postings(folder: Path) -> Postings:
    """The posting lists that `invert` wrote, mapped into memory."""
    starts, docs, weights = (mapped(folder, name) for name in ("terms", "postings", "weights"))
    return Postings(starts, docs, weights, int(mapped(folder, "size")))
