"""Dense search: documents are ranked by the dot product of their vector with the query's, a cosine for most models.

Documents with the same text share one vector, so that their scores are equal to the last bit.
Source: *Quantity Retrieval*, sections 3.3 and 5.2; *WolfPQ*, section 2.2.3 and eq. 3.7.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from qbench.errors import InputError
from qbench.models.folders import model_digest, model_folder
from qbench.models.single_vector import Encoder, encode_to, load_encoder
from qbench.progress import Progress, silent
from qbench.retrieval.rankers import Candidates, OpenedRanker, RankerContext, Search
from qbench.retrieval.shared_texts import SharedTexts, distinct, first_ids
from qbench.retrieval.stored import Stored, mapped, save_arrays, stored
from qbench.scoring.nearest import dot_products, nearest
from qbench.store import read_json, write_json

if TYPE_CHECKING:
    import polars as pl
    from numpy.typing import NDArray

    from qbench.retrieval.faiss_index import FaissIndex
    from qbench.retrieval.ranker_options import AggretrieverOptions, DenseOptions, TctColbertOptions, VectorOptions
    from qbench.retrieval.systems import Stage

NOTES = "notes.json"


@dataclass(frozen=True)
class Dense:
    """Dense search.

    Attributes:
        encoder: makes the queries' vectors.
        vectors: shape (distinct texts, dimension), of any stored type; in the order of each text's first document.
        shared: which documents have which text.
        depth: how many documents it retrieves.
        scales: shape (distinct texts,), of int8 vectors; None for others.
        index: what proposes documents; None for exact search.

    Raises:
        InputError: the encoder's vectors have another dimension than the stored ones.
    """

    encoder: Encoder
    vectors: NDArray[Any]
    shared: SharedTexts
    depth: int
    scales: NDArray[np.float32] | None = None
    index: FaissIndex | None = None

    def __post_init__(self) -> None:
        if self.encoder.dimension != self.vectors.shape[1]:
            raise InputError(
                f"the index holds vectors of {self.vectors.shape[1]} numbers, and the model gives others",
                value=self.encoder.dimension,
                remedy="Search with the model that made the index, or build it anew in another folder",
            )

    def encoded(self, searches: Sequence[Search]) -> list[Search]:
        """The searches with their vectors, each of shape (dimension,)."""
        vectors = self.encoder.encode([search.text for search in searches], "query")
        return [replace(search, vector=vector) for search, vector in zip(searches, vectors, strict=True)]

    def prepared(self, searches: Sequence[Search]) -> list[Search]:
        """The searches with what they find: encoding and searching many at once is many times quicker."""
        encoded = self.encoded(searches)
        queries = np.array([search.vector for search in encoded], np.float32).reshape(-1, self.vectors.shape[1])
        if self.index is None:
            found = zip(*nearest(self.vectors, queries, self.depth, self.scales), strict=True)
        else:
            # The index only proposes: scores are those of the stored vectors, as everywhere else.
            proposed = self.index.propose(queries, self.depth)
            found = zip(proposed, map(self._products, proposed, queries), strict=True)
        return [replace(s, found=self.shared.spread(*row, self.depth)) for s, row in zip(encoded, found, strict=True)]

    def search(self, search: Search) -> Candidates:
        """The `depth` documents with the highest products; of equal ones the lower positions."""
        if search.found is None:
            (search,) = self.prepared([search])
        assert search.found is not None  # noqa: S101  for mypy
        return search.found

    def scores(self, search: Search, docs: NDArray[np.integer[Any]]) -> NDArray[np.float64]:
        """The products of these documents' vectors with the query's."""
        return self._products(self.shared.of[docs], search.vector)

    def _products(self, texts: NDArray[np.integer[Any]], query: NDArray[np.float32]) -> NDArray[np.float64]:
        return dot_products(self.vectors, texts, query, self.scales)


def open_dense(stage: Stage, options: DenseOptions, context: RankerContext) -> OpenedRanker:
    """Dense search with a model of sentence-transformers, ready to answer.

    Raises:
        InputError: the model is missing, not whole, or of another kind.
        MissingPackageError: a package is not installed.
    """
    encoder = load_encoder(
        options.model, max_length=options.max_length, pooling=options.pooling, similarity=options.similarity
    )
    how = {"max_length": options.max_length, "pooling": options.pooling}
    return opened(encoder, {"model": _digest(options.model), **how, "similarity": encoder.similarity}, options, context)


def open_tct_colbert(stage: Stage, options: TctColbertOptions, context: RankerContext) -> OpenedRanker:
    """Dense search with a TCT-ColBERT, ready to answer.

    Raises:
        InputError: the model is missing, not whole, or of another kind.
        MissingPackageError: a package is not installed.
    """
    from qbench.models.tct_colbert import load_tct_colbert

    encoder = load_tct_colbert(
        options.model, max_length=options.max_length, pooling=options.pooling, markers=options.markers
    )
    how = {"max_length": options.max_length, "pooling": options.pooling, "markers": options.markers}
    return opened(encoder, {"model": _digest(options.model), **how, "similarity": encoder.similarity}, options, context)


def open_aggretriever(stage: Stage, options: AggretrieverOptions, context: RankerContext) -> OpenedRanker:
    """Dense search with an Aggretriever, ready to answer.

    Raises:
        InputError: the model is missing, not whole, or of another kind.
        MissingPackageError: a package is not installed.
    """
    from qbench.models.encoders import require_neural

    require_neural()
    from qbench.models.aggretriever import load_aggretriever

    encoder = load_aggretriever(options.model, max_length=options.max_length)
    how = {
        "model": _digest(options.model, "aggretriever"),
        "max_length": options.max_length,
        "head": "aggretriever",
    }
    found = opened(encoder, how, options, context)
    return replace(found, meta={**found.meta, **encoder.notes()})


def _digest(model: str, kind: str | None = None) -> str:
    return model_digest(model_folder(model), kind)


def opened(encoder: Encoder, how: Mapping[str, Any], options: VectorOptions, context: RankerContext) -> OpenedRanker:
    """Dense search with any encoder, its vectors and index on disk made if they are not there yet.

    Args:
        encoder: makes the vectors.
        how: all that can change them.
        options: how vectors are stored and searched.
        context: the corpus, and the folder of indexes.

    Raises:
        InputError: a document's vector is not finite.
        MissingPackageError: faiss is asked for and not installed.
    """
    dtype, faiss = options.dtype, options.engine == "faiss"
    if faiss:
        from qbench.retrieval.faiss_index import build_faiss, open_faiss, require_faiss

        require_faiss()
    params = {**how, "corpus": context.corpus_key, "dtype": dtype}
    ids, passages = context.corpus["doc_id"], context.corpus["passage"]
    found = build_dense(passages, encoder, params, context.root, context.progress, dtype=dtype, doc_ids=ids)
    vectors, starts, docs = (mapped(found.folder, name) for name in ("vectors", "starts", "docs"))
    shared = SharedTexts(starts, docs)
    scales = mapped(found.folder, "vectors.scales") if dtype == "int8" else None
    dense = Dense(encoder, vectors, shared, context.depth, scales)
    notes = read_json(found.folder / NOTES)
    meta = {"documents_cut": notes["documents_cut"], "similarity": encoder.similarity}
    if not faiss:
        return OpenedRanker(dense, found.seconds, found.size, meta)
    index = build_faiss(vectors, scales, found.folder.name, context.root, context.progress)
    proposing = open_faiss(index.folder, options.nprobe)
    return OpenedRanker(replace(dense, index=proposing), found.seconds + index.seconds, found.size + index.size, meta)


def build_dense(
    passages: pl.Series,
    encoder: Encoder,
    params: Mapping[str, Any],
    root: Path,
    progress: Progress = silent,
    *,
    dtype: str = "float32",
    doc_ids: pl.Series | None = None,
) -> Stored:
    """The vectors of all distinct passages on disk, encoded if they are not there yet; a killed call goes on.

    Args:
        passages: the documents' texts.
        encoder: makes the vectors.
        params: everything that can change them.
        root: the folder of all indexes.
        progress: told the number of texts done.
        dtype: how numbers are stored, as in `encode_to`.
        doc_ids: the documents' ids, in the order of `passages`, for errors.

    Raises:
        InputError: a vector is not finite.
    """

    def make(folder: Path) -> None:
        texts, starts, docs = distinct(passages)
        named = first_ids(starts, docs, doc_ids)
        cut = encode_to(folder / "vectors.npy", texts, encoder, progress, dtype=dtype, named=named)
        save_arrays(folder, {"starts": starts, "docs": docs})
        write_json(folder / NOTES, {"documents_cut": int(np.diff(starts)[cut].sum())})

    return stored(root, "dense", params, make)
