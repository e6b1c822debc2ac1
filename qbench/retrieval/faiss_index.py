"""An inverted file of faiss over dense or token vectors: it proposes documents, and exact scores rank them.

Of faiss' indexes we take the inverted file (IVF): k-means parts the vectors into lists, and a query looks into the
`nprobe` nearest ones. HNSW, the usual alternative, is quicker to search; but it took 52 s to build where this took 7 s
(30,000 vectors of 384 numbers, one thread), its graph depends on the order in which threads insert, and all of it must
be in memory. An inverted file is the same for the same vectors, and is read from disk where it is touched. faiss has a
copy of each vector: as precise as they are, or product-quantised (IVF-PQ), 16 times smaller than single precision.
Copies are in memory while they are made, at most `PART_BYTES` of them: more are written to several files, whose lists
have the same centroids, so that a query looks into the same lists as in one file, part after part. Vectors themselves
are read in blocks, from files that are mapped into memory.

Needs the extra `faiss`.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from qbench.compression.codec import Codec
from qbench.compression.plain import Float16, Float32
from qbench.errors import InputError
from qbench.extras import needed
from qbench.progress import Progress, silent
from qbench.retrieval.stored import Stored, stored
from qbench.retrieval.vectors import StoredVectors
from qbench.scoring.nearest import ROWS
from qbench.scoring.ranking import top_k
from qbench.store import atomic_file, read_json, write_json

FILE = "vectors.{part}.faiss"
RECALL = "recall.json"

PER_LIST = 39
"""Smallest number of vectors for each list; faiss warns of fewer."""

SAMPLE = 64
"""Largest number of vectors for each list that k-means learns from."""

SEED = 1234

FACTOR = 4
"""Texts that quantised copies propose for each one that is wanted: their order is rough, and exact products decide.

As many token vectors are found for each text that is wanted, whatever the copies."""

LEAST = 256 * PER_LIST
"""Vectors below which copies are kept whole: codewords need so many to learn from."""

QUERIES, NEAREST = 64, 100
"""Recall is measured with so many vectors, spread over the corpus, and so many nearest ones of each, or the depth."""

BYTES_OF_TEXT = 8
"""Of the number of a copy's text."""

PART_BYTES = 1 << 29
"""Copies, with the numbers of their texts, that are in memory at a time while an index is built."""

Copy = Literal["whole", "pq"]

_KINDS: Mapping[type[Codec], str] = {Float32: "Flat", Float16: "SQfp16"}
"""By the codec of the stored vectors, how faiss keeps its copy: as large as they are, or in 8 bits a number."""


@dataclass(frozen=True)
class FaissIndex:
    """An inverted file in one or several parts, and the share of it that a query looks at.

    Attributes:
        parts: indexes of faiss whose lists have the same centroids; a list of the whole is that list in all of them.
        nprobe: lists that a query looks into.
        factor: rows proposed for each one that is asked for.
    """

    parts: tuple[Any, ...]
    nprobe: int
    factor: int = 1

    def propose(self, queries: NDArray[np.float32], k: int) -> list[NDArray[np.intp]]:
        """The texts that are probably the nearest, for each query: at most k times `factor`, ascending.

        Args:
            queries: shape (q, d); texts have one vector each.
            k: number of texts.
        """
        _, found = self._nearest(queries, k * self.factor)
        return [np.sort(row[row >= 0]).astype(np.intp) for row in found]

    def texts(self, query: NDArray[np.float32], count: int) -> NDArray[np.int64]:
        """The texts that are likely to have the highest MaxSim, ascending.

        Each query vector finds its nearest token vectors, `FACTOR` times `count`. A text with none of them is taken to
        have one as near as the last of them. Source: Lee et al. (2023), *XTR*, section 3.2.

        Args:
            query: shape (query tokens, d).
            count: number of texts.

        Returns:
            shape (at most count,).
        """
        scores, found = self._nearest(query, count * FACTOR)
        token, place = np.nonzero(found >= 0)
        last = np.where(found >= 0, scores, np.inf).min(axis=1, initial=np.inf)
        texts, gains = found[token, place], (scores[token, place] - last[token]).astype(np.float64)
        # Vectors of a query token are in the order of their scores: the first of a text is its nearest.
        _, nearest = np.unique(token * (texts.max(initial=0) + 1) + texts, return_index=True)
        texts, which = np.unique(texts[nearest], return_inverse=True)
        if texts.size <= count:
            return texts
        sums = np.bincount(which, weights=gains[nearest]).astype(np.float64, copy=False)
        return np.sort(texts[top_k(sums, count)])

    def _nearest(self, queries: NDArray[np.float32], k: int) -> tuple[NDArray[np.float32], NDArray[np.int64]]:
        """The products with the k nearest vectors in the lists, and their texts, highest first; -1 after the last.

        Returns:
            two arrays of shape (q, at most k).
        """
        queries = np.ascontiguousarray(queries, dtype=np.float32)
        if not len(queries):
            return np.empty((0, 0), np.float32), np.empty((0, 0), np.int64)
        nprobe = min(self.nprobe, self.count)
        near, lists = self.parts[0].quantizer.search(queries, nprobe)
        found: list[tuple[NDArray[np.float32], NDArray[np.int64]]] = []
        for part, longest in zip(self.parts, self.longest, strict=True):
            part.nprobe = nprobe  # faiss reads it there
            some = min(k, part.ntotal, nprobe * longest)
            if some:
                found.append(part.search_preassigned(queries, some, lists, near))
        if not found:
            return np.empty((len(queries), 0), np.float32), np.empty((len(queries), 0), np.int64)
        if len(found) == 1:
            return found[0]
        scores, texts = (np.concatenate(arrays, axis=1) for arrays in zip(*found, strict=True))
        best = np.argsort(-scores, axis=1, kind="stable")[:, :k]
        return np.take_along_axis(scores, best, axis=1), np.take_along_axis(texts, best, axis=1)

    @property
    def count(self) -> int:
        """Number of lists."""
        return int(self.parts[0].nlist)

    @cached_property
    def longest(self) -> list[int]:
        """Number of vectors in the longest list of each part."""
        return [max(map(part.invlists.list_size, range(part.nlist)), default=0) for part in self.parts]


def require_faiss() -> Any:
    """The package, imported before any work.

    Raises:
        MissingPackageError: it is not installed.
    """
    return needed("faiss", "faiss", "engine=faiss", otherwise="or write engine=exact")


def build_faiss(
    vectors: StoredVectors, key: str, root: Path, progress: Progress = silent, copy: Copy = "whole"
) -> Stored:
    """The inverted file of some vectors on disk, built if it is not there yet.

    Args:
        vectors: one or several for each text.
        key: names the vectors' content.
        root: the folder of all indexes.
        progress: gets the number of vectors that are complete.
        copy: what faiss keeps of a vector.
    """
    faiss = require_faiss()

    def make(folder: Path) -> None:
        index, part = _trained(vectors, copy), 0
        for start in range(0, len(vectors), ROWS):
            if index.ntotal * (index.code_size + BYTES_OF_TEXT) >= PART_BYTES:
                _write(index, folder, part)
                index.reset()  # what it has learnt stays
                part += 1
            end = min(start + ROWS, len(vectors))
            texts = np.searchsorted(vectors.starts, np.arange(start, end), side="right") - 1
            index.add_with_ids(np.ascontiguousarray(vectors.rows(start, end)), texts)
            progress(end, len(vectors), "indexing")
        _write(index, folder, part)

    params = {"vectors": key, "per_list": PER_LIST, "sample": SAMPLE, "seed": SEED}
    params |= {"copy": copy} if copy == "pq" else {}
    return stored(root, "faiss", {**params, "faiss": faiss.__version__}, make)


def measured_recall(index: FaissIndex, built: Stored, vectors: StoredVectors, depth: int, root: Path) -> float:
    """The share of the nearest vectors, by exact search, that an index proposes; measured once, and kept.

    Some vectors of the corpus stand for queries; each is its own nearest one.

    Args:
        index: opened.
        built: its folder.
        vectors: one for each text.
        depth: number of rows asked for.
        root: the folder of all indexes.
    """

    def make(folder: Path) -> None:
        queries = vectors.chosen(vectors.spread_rows(QUERIES))
        exact, _ = vectors.nearest(queries, min(NEAREST, depth))
        proposed = index.propose(queries, depth)
        found = [float(np.isin(best, some).mean()) for best, some in zip(exact, proposed, strict=True) if best.size]
        write_json(folder / RECALL, float(np.mean(found)) if found else 1.0)

    params = {"index": built.folder.name, "nprobe": index.nprobe, "factor": index.factor, "depth": depth}
    measured = stored(root, "faiss recall", {**params, "queries": QUERIES, "nearest": NEAREST}, make)
    return float(read_json(measured.folder / RECALL))


def lists_of(count: int) -> int:
    """Number of lists for `count` vectors: four times the square root, as faiss advises, if k-means has enough for it.

    >>> lists_of(10), lists_of(10_000), lists_of(1_000_000)
    (1, 256, 4000)
    """
    return max(1, min(round(4 * math.sqrt(count)), count // PER_LIST))


def parts_of(dimension: int) -> int:
    """Parts of a vector that are quantised apart, each to a byte: of four numbers, or of more where four do not fit.

    >>> parts_of(384), parts_of(30), parts_of(7)
    (96, 6, 1)
    """
    return max(parts for parts in range(1, max(1, dimension // 4) + 1) if dimension % parts == 0)


def _trained(vectors: StoredVectors, copy: Copy) -> Any:
    faiss = require_faiss()
    lists = lists_of(len(vectors))
    quantised = copy == "pq" and len(vectors) >= LEAST
    kind = f"PQ{parts_of(vectors.dimension)}x8" if quantised else _KINDS.get(type(vectors.codec), "SQ8")
    index = faiss.index_factory(vectors.dimension, f"IVF{lists},{kind}", faiss.METRIC_INNER_PRODUCT)
    index.cp.seed = SEED
    if len(vectors):
        # Evenly spread over the corpus, so that no generator has to be agreed on.
        index.train(vectors.chosen(vectors.spread_rows(lists * SAMPLE)))
    return index


def _write(index: Any, folder: Path, part: int) -> None:
    with atomic_file(folder / FILE.format(part=part)) as temporary:
        require_faiss().write_index(index, str(temporary))


def open_faiss(folder: Path, nprobe: int, copy: Copy = "whole") -> FaissIndex:
    """The index that `build_faiss` wrote, its lists read from disk where they are touched.

    Raises:
        InputError: a file is damaged.
    """
    return FaissIndex(tuple(map(_read, parts_in(folder))), nprobe, FACTOR if copy == "pq" else 1)


def parts_in(folder: Path) -> list[Path]:
    """The files of an index, in the order in which they were written."""
    count = len(list(folder.glob(FILE.format(part="*"))))
    return [folder / FILE.format(part=part) for part in range(max(count, 1))]


def _read(path: Path) -> Any:
    faiss = require_faiss()
    try:
        return faiss.read_index(str(path), faiss.IO_FLAG_MMAP)
    except RuntimeError as fault:
        raise InputError(
            "the index cannot be read", file=path, remedy="Remove its folder: it is built again"
        ) from fault
