"""ColBERT as a ranker: MaxSim over the token vectors of all documents, exact or with candidates from centroids.

The token vectors are an artefact on disk, mapped into memory, under a key of everything that can change them: a model
with another dimension has another key. Documents with the same text share their vectors.
Source: Khattab and Zaharia (2020); *Numbers Matter* eq. 6 and 7.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from qbench.models.blocks import encode_blocks, remove_blocks
from qbench.models.folders import model_digest, model_folder
from qbench.models.multi_vector import UNTRAINED, MultiVectorEncoder, load_multi_vector_encoder
from qbench.progress import Progress, silent
from qbench.retrieval.rankers import Candidates, OpenedRanker, RankerContext, Search
from qbench.retrieval.shared_texts import SharedTexts, distinct, first_ids
from qbench.retrieval.stored import Stored, mapped, save_arrays, stored
from qbench.scoring.centroids import CentroidIndex, build_centroids, candidates
from qbench.scoring.maxsim import TokenVectors, rerank, search
from qbench.scoring.quantised import Precision, stored_as
from qbench.store import read_json, write_json

if TYPE_CHECKING:
    import polars as pl
    from numpy.typing import NDArray

    from qbench.retrieval.ranker_options import MultiVectorOptions
    from qbench.retrieval.systems import Stage

BLOCK = 1024
"""Texts that are encoded before they are on disk: with 512 tokens each their vectors are 268 MB in single precision."""

COUNTS = "counts.json"
CENTROIDS = 1
"""Counted up when the same vectors give another centroid index."""


@dataclass(frozen=True)
class Probing:
    """How candidates are found without looking at every document.

    Attributes:
        index: over the distinct texts.
        nprobe: how many centroids each query token probes.
        candidates: how many texts are scored exactly.
    """

    index: CentroidIndex
    nprobe: int
    candidates: int


@dataclass(frozen=True)
class LateInteraction:
    """Late interaction.

    Attributes:
        encoder: makes the queries' vectors.
        tokens: the vectors of the distinct texts.
        texts: which documents have them.
        depth: how many documents it retrieves.
        probing: None where every document is scored.
    """

    encoder: MultiVectorEncoder
    tokens: TokenVectors
    texts: SharedTexts
    depth: int
    probing: Probing | None = None

    def encoded(self, searches: Sequence[Search]) -> list[Search]:
        """The searches with their vectors, each of shape (query tokens, dimension)."""
        lengths, vectors = self.encoder.encode([search.text for search in searches], "query")
        parts = np.split(vectors, np.cumsum(lengths)[:-1]) if len(searches) else []
        return [replace(one, vector=part) for one, part in zip(searches, parts, strict=True)]

    def prepared(self, searches: Sequence[Search]) -> list[Search]:
        """The searches with what they find: documents are read once for many searches."""
        encoded = self.encoded(searches)
        if self.probing is not None:
            return [replace(one, found=self._probed(one.vector, self.probing)) for one in encoded]
        found = search(self.tokens, [one.vector for one in encoded], self.depth)
        return [
            replace(one, found=self.texts.spread(*best, self.depth)) for one, best in zip(encoded, found, strict=True)
        ]

    def search(self, search: Search) -> Candidates:
        """The `depth` documents with the highest MaxSim; of equal ones the lower positions."""
        if search.found is None:
            (search,) = self.prepared([search])
        assert search.found is not None  # noqa: S101  for mypy
        return search.found

    def scores(self, search: Search, docs: NDArray[np.integer[Any]]) -> NDArray[np.float64]:
        """The MaxSim of these documents, exact with either engine."""
        texts, places = np.unique(self.texts.of[docs], return_inverse=True)
        found: NDArray[np.float64] = rerank(self.tokens, search.vector, texts)[places]
        return found

    def _probed(self, query: NDArray[np.float32], how: Probing) -> Candidates:
        # No fewer than can be returned.
        texts = candidates(how.index, query, nprobe=how.nprobe, count=max(how.candidates, self.depth))
        return self.texts.spread(texts, rerank(self.tokens, query, texts), self.depth)


def open_multi_vector(stage: Stage, options: MultiVectorOptions, context: RankerContext) -> OpenedRanker:
    """Late interaction ready to answer.

    Raises:
        InputError: the model is missing, not whole or of another kind.
        MissingPackageError: sentence-transformers is not installed.
    """
    encoder = load_multi_vector_encoder(options.model, max_length=options.max_length)
    params = {
        "model": model_digest(model_folder(options.model), "multi-vector"),
        "max_length": options.max_length,
        "corpus": context.corpus_key,
    }
    precision: Precision = options.dtype
    ids, passages = context.corpus["doc_id"], context.corpus["passage"]
    found = build_token_vectors(passages, encoder, precision, params, context.root, context.progress, doc_ids=ids)
    tokens, texts = open_token_vectors(found.folder)
    documents = max(context.corpus.height, 1)
    meta: dict[str, int | float | str] = {
        "documents_cut": int(read_json(found.folder / COUNTS)["documents_cut"]),
        "token_vectors": len(tokens.vectors),
        "bytes_per_document": round(found.size / documents, 1),
    }
    if not encoder.trained:
        meta["note"] = UNTRAINED
    ranker = LateInteraction(encoder, tokens, texts, context.depth)
    seconds, size = found.seconds, found.size
    if options.engine == "centroids":
        built = build_centroid_index(tokens, found, context.root, context.progress)
        index = open_centroid_index(built.folder)
        probing = Probing(index, options.nprobe, options.candidates)
        ranker, seconds, size = replace(ranker, probing=probing), seconds + built.seconds, size + built.size
        meta["centroids"] = len(index.centroids)
    return OpenedRanker(ranker, seconds, size, meta)


def build_token_vectors(
    passages: pl.Series,
    encoder: MultiVectorEncoder,
    precision: Precision,
    params: Mapping[str, Any],
    root: Path,
    progress: Progress = silent,
    *,
    doc_ids: pl.Series | None = None,
) -> Stored:
    """The token vectors of all distinct passages on disk, encoded if they are not there yet; a killed call goes on.

    Args:
        passages: the documents' texts.
        encoder: makes the vectors.
        precision: how numbers are stored.
        params: everything else that can change the vectors.
        root: the folder of all indexes.
        progress: told the number of texts done.
        doc_ids: the documents' ids, in the order of `passages`, for errors.

    Raises:
        InputError: a vector is not finite.
    """

    def encode(texts: list[str]) -> dict[str, NDArray[Any]]:
        lengths, vectors = encoder.encode(texts)
        kept, scales = stored_as(vectors, precision)
        arrays = {"lengths": lengths, "cut": encoder.cut(texts), "vectors": kept}
        return arrays if scales is None else {**arrays, "scales": scales}

    def make(folder: Path) -> None:
        texts, starts, docs = distinct(passages)
        # Twice over the blocks, because a mapped array is an open file and there may be thousands.
        told = [np.empty(0, np.int64)]
        cut = [np.empty(0, bool)]
        named = first_ids(starts, docs, doc_ids)
        for block in encode_blocks(folder, texts, encode, progress, block=BLOCK, named=named):
            told.append(np.array(block["lengths"]))
            cut.append(np.array(block["cut"]))
        token_starts = np.append(0, np.cumsum(np.concatenate(told))).astype(np.int64)
        shape = int(token_starts[-1]), encoder.dimension
        _join(folder, encode_blocks(folder, texts, encode, block=BLOCK), shape, precision)
        save_arrays(folder, {"token_starts": token_starts, "text_starts": starts, "text_docs": docs})
        # Of documents, and not of texts.
        write_json(folder / COUNTS, {"documents_cut": int(np.diff(starts)[np.concatenate(cut)].sum())})
        remove_blocks(folder)

    return stored(root, "token vectors", {**params, "dtype": precision}, make)


def _join(
    folder: Path, blocks: Iterable[Mapping[str, NDArray[Any]]], shape: tuple[int, int], precision: Precision
) -> None:
    """Write the blocks' vectors, and scales where there are some, into one file each."""
    kinds = {"vectors": (shape, precision)} | ({"scales": (shape[:1], "float32")} if precision == "int8" else {})
    joined = {
        name: np.lib.format.open_memmap(folder / f"{name}.npy", mode="w+", dtype=kind, shape=size)
        for name, (size, kind) in kinds.items()
    }
    done = 0
    for block in blocks:
        for name, array in joined.items():
            array[done : done + len(block["vectors"])] = block[name]
        done += len(block["vectors"])
    for array in joined.values():
        array.flush()


def open_token_vectors(folder: Path) -> tuple[TokenVectors, SharedTexts]:
    """What `build_token_vectors` wrote, its arrays mapped into memory."""
    scales = mapped(folder, "scales") if (folder / "scales.npy").is_file() else None
    tokens = TokenVectors(mapped(folder, "token_starts"), mapped(folder, "vectors"), scales)
    return tokens, SharedTexts(mapped(folder, "text_starts"), mapped(folder, "text_docs"))


def build_centroid_index(tokens: TokenVectors, found: Stored, root: Path, progress: Progress = silent) -> Stored:
    """The centroid index of token vectors on disk, made if it is not there yet.

    Args:
        tokens: the vectors.
        found: where they are; the folder's name is their key.
        root: the folder of all indexes.
        progress: told the number of texts done.
    """

    def make(folder: Path) -> None:
        index = build_centroids(tokens, progress=progress)
        save_arrays(folder, {name: getattr(index, name) for name in CentroidIndex.__dataclass_fields__})

    return stored(root, "centroid index", {"vectors": found.folder.name, "centroids": CENTROIDS}, make)


def open_centroid_index(folder: Path) -> CentroidIndex:
    """What `build_centroid_index` wrote, its arrays mapped into memory."""
    return CentroidIndex(**{name: mapped(folder, name) for name in CentroidIndex.__dataclass_fields__})
