"""ColBERT as a ranker: MaxSim over the token vectors of all documents, exact or from candidates.

The token vectors are an artefact on disk, mapped into memory, under a key of everything that can change them: a model
with another dimension has another key. Documents with the same text share their vectors.
Source: Khattab and Zaharia (2020); *Numbers Matter* eq. 6 and 7.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from qbench.compression.codec import Arrays
from qbench.compression.plain import DTYPES
from qbench.models.folders import model_digest, model_folder
from qbench.models.multi_vector import UNTRAINED, MultiVector, MultiVectorEncoder
from qbench.models.numcolbert import require_numeric_heads
from qbench.progress import Progress, silent
from qbench.retrieval.encoding_task import Loader, encoding
from qbench.retrieval.faiss_index import build_faiss, open_faiss, require_faiss
from qbench.retrieval.ranker_options import MultiVectorOptions
from qbench.retrieval.rankers import Candidates, OpenedRanker, RankerContext, Search, TermScore
from qbench.retrieval.stored import Stored, mapped, save_arrays, stored
from qbench.retrieval.systems import Stage
from qbench.retrieval.vector_ranker import VectorRanker
from qbench.retrieval.vectors import (
    LENGTHS,
    StoredVectors,
    TokenIds,
    build_vectors,
    open_vectors,
    products_entry,
    read_notes,
    refuse_unfit,
)
from qbench.scoring.centroids import CentroidIndex, build_centroids, candidates
from qbench.scoring.maxsim import rerank, search
from qbench.scoring.quantised import Precision

BLOCK = 1024
"""Texts that are encoded before they are on disk: with 512 tokens each their vectors are 268 MB in single precision."""


NEAREST = 100
"""How many of the best texts recall is measured on."""


Probing = Callable[[NDArray[np.float32]], NDArray[np.int64]]
"""From the vectors of a query to the texts that are scored exactly, ascending."""


class IndexedEncoder(MultiVectorEncoder, Protocol):
    """An encoder, and whether its model was trained for late interaction."""

    @property
    def trained(self) -> bool:
        """Whether it was saved as a late-interaction model."""
        ...


@dataclass(frozen=True)
class LateInteraction(VectorRanker):
    """Late interaction: scores are MaxSim, exact for given documents whatever the engine.

    Attributes:
        encoder: makes the queries' vectors.
        tokens: the vectors of the distinct texts.
        depth: number of documents that it retrieves.
        probing: what finds candidates; None where every document is scored.
    """

    encoder: MultiVectorEncoder
    tokens: StoredVectors
    depth: int
    probing: Probing | None = None

    def encoded(self, searches: Sequence[Search]) -> list[Search]:
        """The searches with their vectors, each of shape (query tokens, dimension)."""
        lengths, vectors = self.encoder.encode([search.text for search in searches], "query")
        parts = np.split(vectors, np.cumsum(lengths)[:-1]) if len(searches) else []
        return [replace(query, vector=part) for query, part in zip(searches, parts, strict=True)]

    def term_scores(self, search: Search, doc: int, text: str) -> list[TermScore]:
        """The maximum that each token of the query finds among those of a document (*Numbers Matter* eq. 6).

        Nothing where it is not known what the vectors stand for.
        """
        meanings = self._meanings(search, text)
        return nearest(self.tokens, search.vector, doc, *meanings) if meanings else []

    def _meanings(self, search: Search, text: str) -> tuple[list[str], list[str]] | None:
        """What the vectors of a search and of a document's text stand for; None where that is not known."""
        if not isinstance(self.encoder, MultiVector):
            return None
        return self.encoder.words(search.text, "query"), self.encoder.words(text)

    def recall(self, searches: Sequence[Search]) -> float | None:
        """The share of the texts with the highest MaxSim, `NEAREST` at most, that are candidates; None without such.

        The vectors of all texts are read once.

        Args:
            searches: with their texts.
        """
        if self.probing is None:
            return None
        vectors = [query.vector for query in self.encoded(searches)]
        exact = search(self.tokens, vectors, min(NEAREST, self.depth))
        found = [
            float(np.isin(best, self.probing(vector)).mean())
            for vector, (best, _) in zip(vectors, exact, strict=True)
            if best.size and len(vector)
        ]
        return float(np.mean(found)) if found else 1.0

    def _retrieved(self, encoded: Sequence[Search]) -> list[Candidates]:
        if self.probing is not None:
            return [self._probed(query.vector, self.probing) for query in encoded]
        best = search(self.tokens, [query.vector for query in encoded], self.depth)
        return [self.tokens.shared.spread(*row, self.depth) for row in best]

    def _scores(self, vector: NDArray[np.float32], docs: NDArray[np.integer[Any]]) -> NDArray[np.float64]:
        return self.tokens.shared.scores(docs, lambda texts: rerank(self.tokens, vector, texts))

    def _probed(self, query: NDArray[np.float32], probing: Probing) -> Candidates:
        texts = probing(query)
        return self.tokens.shared.spread(texts, rerank(self.tokens, query, texts), self.depth)


def nearest(
    tokens: StoredVectors, query: NDArray[np.float32], doc: int, asked: Sequence[str], held: Sequence[str]
) -> list[TermScore]:
    """The largest product of each vector of a query with those of a document, which MaxSim adds up.

    Args:
        tokens: the vectors of the documents.
        query: shape (n, dimension).
        doc: the document's position.
        asked, held: what the vectors of the query and of the document stand for.
    """
    place = int(tokens.shared.of[doc])
    first, last = (int(end) for end in tokens.starts[place : place + 2])
    if first == last:
        return []
    if len(held) != last - first:  # a compression has merged some
        held = [""] * (last - first)
    products = query @ tokens.rows(first, last).T
    best = products.argmax(axis=1)
    return [TermScore(word, held[at], float(row[at])) for word, row, at in zip(asked, products, best, strict=True)]


def open_multi_vector(stage: Stage, options: MultiVectorOptions, context: RankerContext) -> OpenedRanker:
    """Late interaction ready to answer.

    Raises:
        InputError: the model is missing, not whole or of another kind.
        MissingPackageError: sentence-transformers is not installed.
    """
    encoder = open_encoder(options)
    check_late_interaction(stage, options, of_vectors(options), encoder.dimension, encoder.token_ids)
    built = build_token_vectors(encoder, options, context)
    return open_late_interaction(built, encoder, stage, options, context, encoder.token_ids)


def open_encoder(options: MultiVectorOptions) -> MultiVector:
    """The model of late interaction; errors as in `open_multi_vector`."""
    encoder: MultiVector = _loader(options)(options.model)
    return encoder


def _loader(options: MultiVectorOptions) -> Loader:
    how = {"max_length": options.max_length, "half": options.precision == "bfloat16"}
    return Loader("qbench.models.multi_vector", "load_multi_vector_encoder", how)


def of_vectors(options: MultiVectorOptions) -> dict[str, Any]:
    """What names a model's token vectors in keys, but for the corpus."""
    return {
        "model": model_digest(model_folder(options.model), "multi-vector"),
        "max_length": options.max_length,
        "dtype": options.dtype,
        **products_entry(options.precision),
    }


def check_late_interaction(
    stage: Stage,
    options: MultiVectorOptions,
    params: Mapping[str, Any],
    dimension: int,
    token_ids: TokenIds | None = None,
) -> None:
    """Refuse what can be refused before documents are encoded.

    Args:
        stage, params, dimension, token_ids: as in `refuse_unfit`.
        options: of the system.

    Raises:
        InputError, OptionError: as in `refuse_unfit`.
        MissingPackageError: faiss is asked for and not installed.
    """
    if options.engine == "faiss":
        require_faiss()
    refuse_unfit(stage, params, dimension, token_ids)


def build_token_vectors(encoder: MultiVector, options: MultiVectorOptions, context: RankerContext) -> Stored:
    """The token vectors of all distinct passages on disk, encoded if they are not there yet.

    Args:
        encoder: the model of the options.
        options: how its vectors are made and stored.
        context: the corpus, and the folder of indexes.

    Raises:
        InputError: a vector is not finite; names its document.
    """

    def encode(_: int, texts: list[str]) -> Arrays:
        return token_arrays(encoder, texts, options.dtype)

    task = encoding(_loader(options), options.model, token_arrays, dtype=options.dtype)
    return build_vectors("token vectors", encoder, encode, of_vectors(options), context, block=BLOCK, task=task)


def token_arrays(encoder: MultiVectorEncoder, texts: Sequence[str], dtype: Precision) -> Arrays:
    """The token vectors of some texts as they are stored, text by text, and how many each has."""
    lengths, vectors = encoder.encode(texts)
    return {LENGTHS: lengths, **DTYPES[dtype].encode(vectors)}


def open_late_interaction(
    built: Stored,
    encoder: IndexedEncoder,
    stage: Stage,
    options: MultiVectorOptions,
    context: RankerContext,
    token_ids: TokenIds | None = None,
) -> OpenedRanker:
    """Late interaction with an encoder: vectors on disk, compressed where the stage says so, and their search.

    Args:
        built: the vectors of its documents, after `check_late_interaction`.
        encoder: made them.
        stage, options, context: of the system.
        token_ids: which words its vectors stand for; None where they stand for more than that.
    """
    tokens, built = open_vectors(built, options.dtype, stage, context, token_ids)
    meta = token_notes(tokens, built, stage, context)
    if not encoder.trained:
        meta["note"] = UNTRAINED
    ranker = LateInteraction(encoder, tokens, context.depth)
    if options.engine == "exact":
        return OpenedRanker(ranker, built.seconds, built.size, meta)
    probing, index, parts = _probing(tokens, built.folder.name, options, context)
    ranker = replace(ranker, probing=probing)
    return OpenedRanker(ranker, built.seconds + index.seconds, built.size + index.size, {**meta, **parts})


def _probing(
    tokens: StoredVectors, key: str, options: MultiVectorOptions, context: RankerContext
) -> tuple[Probing, Stored, dict[str, int]]:
    """What finds candidates, its folder, and how many parts it divides token vectors into; built if it is not there."""
    # No fewer than can be returned.
    count = max(options.candidates, context.depth)
    if options.engine == "centroids":
        built = build_centroid_index(tokens, key, context.root, context.progress)
        index = open_centroid_index(built.folder)
        parts = {"centroids": len(index.centroids)}
        return partial(candidates, index, nprobe=options.nprobe, count=count), built, parts
    built = build_faiss(tokens, key, context.root, context.progress, options.copy)
    lists = open_faiss(built.folder, options.nprobe, options.copy)
    return partial(lists.texts, count=count), built, {"faiss_lists": lists.index.nlist}


def token_notes(
    tokens: StoredVectors, built: Stored, stage: Stage, context: RankerContext
) -> dict[str, int | float | str]:
    """What a leaderboard says of an index of token vectors.

    Args:
        tokens: the vectors that are searched.
        built: the folder that holds them; its size is that of the whole index.
        stage, context: of the system.
    """
    notes = read_notes(built.folder)
    meta: dict[str, int | float | str] = {
        "documents_cut": notes["documents_cut"],
        "token_vectors": len(tokens),
        "bytes_per_document": round(built.size / max(context.corpus.height, 1), 1),
    }
    return meta if stage.compression is None else {**meta, **tokens.cost(notes["vectors"])}


def open_numcolbert(stage: Stage, options: MultiVectorOptions, context: RankerContext) -> OpenedRanker:
    """NumColBERT ready to answer: late interaction as above, with norms in its queries' vectors and nothing else.

    Raises:
        InputError: the model is missing, not whole, or has no numeric heads.
        MissingPackageError: sentence-transformers is not installed.
    """
    require_numeric_heads(options.model)
    return open_multi_vector(stage, options, context)


def build_centroid_index(tokens: StoredVectors, key: str, root: Path, progress: Progress = silent) -> Stored:
    """The centroid index of token vectors on disk, built if it is not there yet.

    Args:
        tokens: the vectors.
        key: names their content.
        root: the folder of all indexes.
        progress: gets the number of texts that are complete.
    """

    def make(folder: Path) -> None:
        index = build_centroids(tokens, scratch=folder, progress=progress)
        save_arrays(folder, {name: getattr(index, name) for name in CentroidIndex.__dataclass_fields__})

    return stored(root, "centroid index", {"vectors": key}, make)


def open_centroid_index(folder: Path) -> CentroidIndex:
    """The index that `build_centroid_index` wrote, its arrays mapped into memory."""
    return CentroidIndex(**{name: mapped(folder, name) for name in CentroidIndex.__dataclass_fields__})
