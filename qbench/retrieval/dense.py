"""Dense search: documents are ranked by the dot product of their vector with the query's, a cosine for most models.

Documents with the same text share one vector, so that their scores are equal to the last bit.
Source: *Quantity Retrieval*, sections 3.3 and 5.2; *WolfPQ*, section 2.2.3 and eq. 3.7.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, cast

import numpy as np
from numpy.typing import NDArray

from qbench.compression.codec import Arrays
from qbench.compression.plain import DTYPES
from qbench.errors import InputError
from qbench.models.folders import model_digest, model_folder
from qbench.models.single_vector import BLOCK, Encoder
from qbench.models.word_features import encoder_features
from qbench.retrieval.encoding_task import Loader, encoding
from qbench.retrieval.faiss_index import FaissIndex, build_faiss, measured_recall, open_faiss, quantises, require_faiss
from qbench.retrieval.ranker_options import AggretrieverOptions, DenseOptions, TctColbertOptions, VectorOptions
from qbench.retrieval.rankers import Candidates, OpenedRanker, RankerContext, Search
from qbench.retrieval.stored import Stored
from qbench.retrieval.systems import Stage
from qbench.retrieval.vector_ranker import VectorRanker
from qbench.retrieval.vectors import (
    StoredVectors,
    build_vectors,
    open_vectors,
    products_entry,
    read_notes,
    refuse_unfit,
)
from qbench.scoring.quantised import Precision
from qbench.work.tasks import Task

if TYPE_CHECKING:
    from qbench.models.aggretriever import Aggretriever


@dataclass(frozen=True)
class Dense(VectorRanker):
    """Dense search: scores are products.

    Attributes:
        encoder: makes the queries' vectors.
        vectors: of the documents, one for each distinct text.
        depth: number of documents that it retrieves.
        index: what proposes documents; None for exact search.

    Raises:
        InputError: the encoder's vectors have another dimension than the stored ones.
    """

    encoder: Encoder
    vectors: StoredVectors
    depth: int
    index: FaissIndex | None = None

    def __post_init__(self) -> None:
        if self.encoder.dimension != self.vectors.dimension:
            raise InputError(
                f"the index holds vectors of {self.vectors.dimension} numbers, and the model gives others",
                value=self.encoder.dimension,
                remedy="Search with the model that made the index, or build it again in another folder",
            )

    def encoded(self, searches: Sequence[Search]) -> list[Search]:
        """The searches with their vectors, each of shape (dimension,)."""
        return encoded_queries(self.encoder, searches)

    def _retrieved(self, encoded: Sequence[Search]) -> list[Candidates]:
        queries = np.array([search.vector for search in encoded], np.float32).reshape(-1, self.vectors.dimension)
        if self.index is None:
            best = zip(*self.vectors.nearest(queries, self.depth), strict=True)
        else:
            # The index only proposes: scores are those of the stored vectors, as everywhere else.
            proposed = self.index.propose(queries, self.depth)
            best = zip(proposed, map(self.vectors.products, proposed, queries), strict=True)
        return [self.vectors.shared.spread(*row, self.depth) for row in best]

    def _scores(self, vector: NDArray[np.float32], docs: NDArray[np.integer[Any]]) -> NDArray[np.float64]:
        return self.vectors.products(self.vectors.shared.of[docs], vector)


def encoded_queries(encoder: Encoder, searches: Sequence[Search]) -> list[Search]:
    """The searches with the vectors of their texts, each of shape (dimension,)."""
    vectors = encoder.encode([search.text for search in searches], "query")
    return [replace(search, vector=vector) for search, vector in zip(searches, vectors, strict=True)]


def open_dense(stage: Stage, options: DenseOptions, context: RankerContext) -> OpenedRanker:
    """Dense search with a model of sentence-transformers, ready to answer.

    Raises:
        InputError: the model is missing, not whole, or of another kind.
        MissingPackageError: a package is not installed.
    """
    how = {"max_length": options.max_length, "pooling": options.pooling}
    read = {**how, "similarity": options.similarity, "half": options.precision == "bfloat16"}
    load = Loader("qbench.models.single_vector", "load_encoder", read)
    about = {"model": _digest(options.model), **how, **products_entry(options.precision)}
    return opened(load(options.model), about, stage, options, context, load, options.model)


def open_tct_colbert(stage: Stage, options: TctColbertOptions, context: RankerContext) -> OpenedRanker:
    """Dense search with a TCT-ColBERT, ready to answer.

    Raises:
        InputError: the model is missing, not whole, or of another kind.
        MissingPackageError: a package is not installed.
    """
    how = {"max_length": options.max_length, "pooling": options.pooling, "markers": options.markers}
    load = Loader("qbench.models.tct_colbert", "load_tct_colbert", how)
    about = {"model": _digest(options.model), **how}
    return opened(load(options.model), about, stage, options, context, load, options.model)


def open_aggretriever(stage: Stage, options: AggretrieverOptions, context: RankerContext) -> OpenedRanker:
    """Dense search with an Aggretriever, ready to answer.

    Raises:
        InputError: the model is missing, not whole, or of another kind.
        MissingPackageError: a package is not installed.
    """
    from qbench.models.encoders import require_neural

    require_neural()
    load = Loader("qbench.models.aggretriever", "load_aggretriever", {"max_length": options.max_length})
    encoder = load(options.model)
    how = {
        "model": _digest(options.model, "aggretriever"),
        "max_length": options.max_length,
        "head": "aggretriever",
    }
    ranker = opened(encoder, how, stage, options, context, load, options.model)
    return replace(ranker, meta={**ranker.meta, **cast("Aggretriever", encoder).notes()})


def _digest(model: str, kind: str | None = None) -> str:
    return model_digest(model_folder(model), kind)


def opened(
    encoder: Encoder,
    how: Mapping[str, Any],
    stage: Stage,
    options: VectorOptions,
    context: RankerContext,
    load: Loader | None = None,
    model: str = "",
) -> OpenedRanker:
    """Dense search with any encoder; its vectors and index are built if they are not there yet.

    Args:
        encoder: makes the vectors.
        how: everything that can change them.
        stage: says how they are compressed.
        options: how vectors are stored and searched.
        context: the corpus, and the folder of indexes.
        load: opens the model in a worker, and another of its kind for a codec with an encoder of queries of its own.
        model: what it opens.

    Raises:
        InputError: a document's vector is not finite.
        MissingPackageError: faiss is asked for and not installed.
    """
    faiss = options.engine == "faiss"
    if faiss:
        require_faiss()
    features = encoder_features(encoder)
    if stage.compression is not None:  # only then: an encoder behind an API asks it for its dimension
        refuse_unfit(stage, _params(encoder, how, options.dtype), encoder.dimension, features=features)
    task = None if load is None else encoding(load, model, text_arrays, dtype=options.dtype)
    built = build_dense(encoder, how, options.dtype, context, task)
    meta = {"documents_cut": read_notes(built.folder)["documents_cut"], "similarity": encoder.similarity}
    vectors, built = open_vectors(built, options.dtype, stage, context, features=features)
    if stage.compression is not None:
        meta |= vectors.cost(read_notes(built.folder)["vectors"])
        own = vectors.codec.query_model()
        encoder = load(str(own)) if own and load else encoder
    dense = Dense(encoder, vectors, context.depth)
    if not faiss:
        return OpenedRanker(dense, built.seconds, built.size, meta)
    index = build_faiss(vectors, built.folder.name, context.root, context.progress, options.copy)
    proposing = open_faiss(index.folder, options.nprobe, options.copy)
    meta["faiss_recall"] = round(measured_recall(proposing, index, vectors, context.depth, context.root), 4)
    if options.copy == "pq" and not quantises(len(vectors), "pq"):
        meta["faiss_copy"] = "whole"
    dense = replace(dense, index=proposing)
    return OpenedRanker(dense, built.seconds + index.seconds, built.size + index.size, meta)


def build_dense(
    encoder: Encoder, how: Mapping[str, Any], dtype: Precision, context: RankerContext, task: Task | None = None
) -> Stored:
    """The vectors of all distinct passages on disk, encoded if they are not there yet; an interrupted call resumes.

    Args:
        encoder: makes the vectors.
        how: everything that can change them.
        dtype: how their numbers are stored.
        context: the corpus, and the folder of indexes.
        task: encodes a block, for the context's engine.

    Raises:
        InputError: a vector is not finite.
        OptionError: a number is too large for float16.
    """

    def encode(_: int, texts: list[str]) -> Arrays:
        return text_arrays(encoder, texts, dtype)

    return build_vectors("dense", encoder, encode, _params(encoder, how, dtype), context, block=BLOCK, task=task)


def text_arrays(encoder: Encoder, texts: Sequence[str], dtype: Precision) -> Arrays:
    """The vectors of some texts as they are stored."""
    return DTYPES[dtype].encode(encoder.encode(texts))


def _params(encoder: Encoder, how: Mapping[str, Any], dtype: Precision) -> dict[str, Any]:
    return {**how, "similarity": encoder.similarity, "dtype": dtype}
