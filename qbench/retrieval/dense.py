"""Exact dense search as a first stage: documents are ranked by the cosine of their vector with the query's.

Documents with the same text share one vector, so that their scores are equal to the last bit.
Source: *Quantity Retrieval*, section 3.3 and 5.2.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from qbench.errors import OptionError
from qbench.models.folders import model_digest, model_folder
from qbench.models.single_vector import Encoder, encode_to, load_encoder
from qbench.progress import Progress, silent
from qbench.retrieval.rankers import Candidates, Opened, Place, Search
from qbench.retrieval.stored import Stored, mapped, save_arrays, stored
from qbench.scoring.nearest import nearest

if TYPE_CHECKING:
    import polars as pl
    from numpy.typing import NDArray

    from qbench.retrieval.registry import Value


@dataclass(frozen=True)
class Dense:
    """Dense search.

    Attributes:
        encoder: makes the queries' vectors.
        vectors: shape (distinct texts, dimension), of length 1 each; in the order of each text's first document.
        starts: shape (distinct texts + 1,); the documents of text t are docs[starts[t]:starts[t + 1]].
        docs: shape (documents,), positions, ascending within a text.
        depth: how many documents it retrieves.
    """

    encoder: Encoder
    vectors: NDArray[np.float32]
    starts: NDArray[np.int64]
    docs: NDArray[np.int64]
    depth: int

    def encoded(self, searches: Sequence[Search]) -> list[Search]:
        """The searches with their vectors, each of shape (dimension,)."""
        vectors = self.encoder.encode([search.text for search in searches], "query")
        return [replace(search, vector=vector) for search, vector in zip(searches, vectors, strict=True)]

    def prepared(self, searches: Sequence[Search]) -> list[Search]:
        """The searches with what they find: encoding and searching many at once is many times quicker."""
        encoded = self.encoded(searches)
        queries = np.array([search.vector for search in encoded], np.float32).reshape(-1, self.vectors.shape[1])
        texts, cosines = nearest(self.vectors, queries, self.depth)
        return [
            replace(s, found=self._spread(*row))
            for s, row in zip(encoded, zip(texts, cosines, strict=True), strict=True)
        ]

    def search(self, search: Search) -> Candidates:
        """The `depth` documents with the highest cosine; of equal ones the lower positions."""
        if search.found is None:
            (search,) = self.prepared([search])
        assert search.found is not None  # noqa: S101  for mypy
        return search.found

    def scores(self, search: Search, docs: NDArray[np.integer[Any]]) -> NDArray[np.float64]:
        """The cosines of these documents."""
        products: NDArray[np.float64] = (self.vectors[self.text_of[docs]] @ search.vector).astype(np.float64)
        return products

    @cached_property
    def text_of(self) -> NDArray[np.int64]:
        """The text of each document, shape (documents,)."""
        found = np.empty(self.docs.size, dtype=np.int64)
        found[self.docs] = np.repeat(np.arange(self.starts.size - 1), np.diff(self.starts))
        return found

    def _spread(self, texts: NDArray[np.intp], cosines: NDArray[np.float64]) -> Candidates:
        """From the best texts to the best documents."""
        lists = [self.docs[self.starts[text] : self.starts[text + 1]] for text in texts]
        docs = np.concatenate([np.empty(0, dtype=np.int64), *lists])
        scores = np.repeat(cosines, [part.size for part in lists])
        best = np.lexsort((docs, -scores))[: self.depth]
        ascending = best[np.argsort(docs[best])]
        return Candidates(docs[ascending], scores[ascending])

    def holding_all(self, search: Search) -> NDArray[np.integer[Any]]:
        """Vectors know no words.

        Raises:
            OptionError: always; the grammar gives dense stages no parameter that would ask this.
        """
        raise OptionError("dense search does not know its documents' words", remedy="Leave terms=all out")


def open_dense(values: Mapping[str, Value], place: Place) -> Opened:
    """Dense search ready to answer.

    Args:
        values: `model`, a folder or a name on the hub; `max_length`, tokens, 0 for as many as the model reads.
        place: the corpus, and where vectors are kept.

    Raises:
        InputError: the model is missing or not whole.
        MissingPackageError: sentence-transformers is not installed.
    """
    model = str(values["model"])
    encoder = load_encoder(model, max_length=int(values["max_length"]))
    params = {
        "model": model_digest(model_folder(model)),
        "max_length": values["max_length"],
        "corpus": place.corpus_key,
    }
    dense, found = dense_search(encoder, params, place)
    return Opened(dense, found.seconds, found.size)


def dense_search(encoder: Encoder, params: Mapping[str, Any], place: Place) -> tuple[Dense, Stored]:
    """Dense search over the corpus of a place with any encoder, and its vectors on disk, made if they are not there.

    Args:
        encoder: makes the vectors.
        params: everything that can change them, the corpus' key included.
        place: the corpus, and where vectors are kept.
    """
    found = build_dense(place.corpus["passage"], encoder, params, place.root, place.progress)
    vectors, starts, docs = (mapped(found.folder, name) for name in ("vectors", "starts", "docs"))
    return Dense(encoder, vectors, starts, docs, place.depth), found


def build_dense(
    passages: pl.Series, encoder: Encoder, params: Mapping[str, Any], root: Path, progress: Progress = silent
) -> Stored:
    """The vectors of all distinct passages on disk, encoded if they are not there yet; a killed call goes on."""
    from qbench import __version__

    def make(folder: Path) -> None:
        texts, starts, docs = distinct(passages)
        encode_to(folder / "vectors.npy", texts, encoder, progress)
        save_arrays(folder, {"starts": starts, "docs": docs})

    return stored(root, "dense", {**params, "version": __version__}, make)


def distinct(passages: pl.Series) -> tuple[pl.Series, NDArray[np.int64], NDArray[np.int64]]:
    """The distinct texts in the order of their first document, and the documents of each.

    Returns:
        u texts; `starts`, shape (u + 1,); `docs`, shape (passages,): as in `Dense`.
    """
    import polars as pl

    groups = (
        pl.DataFrame({"text": passages})
        .with_row_index("doc")
        .group_by("text", maintain_order=True)
        .agg(pl.col("doc").cast(pl.Int64))
    )
    sizes = groups["doc"].list.len().to_numpy()
    docs = groups["doc"].explode().to_numpy() if len(passages) else np.empty(0)
    return groups["text"], np.append(0, np.cumsum(sizes)).astype(np.int64), docs.astype(np.int64)
