"""An inverted file of faiss over dense or token vectors: it proposes documents, and exact scores rank them.

Of faiss' indexes we take the inverted file (IVF): k-means parts the vectors into lists, and a query looks into the
`nprobe` nearest ones. HNSW, the usual alternative, is quicker to search; but it took 52 s to build where this took 7 s
(30,000 vectors of 384 numbers, one thread), its graph depends on the order in which threads insert, and all of it must
be in memory. An inverted file is the same for the same vectors, and is read from disk where it is touched. faiss has a
copy of each vector: as precise as they are, or product-quantised (IVF-PQ), 16 times smaller than single precision.
About `ENOUGH` bytes of copies are in memory while they are made: more are written to scratch files, whose lists are
then put together on disk. Vectors themselves are read in blocks, from files that are mapped into memory.

Needs the extra `faiss`.
"""

from __future__ import annotations

import ctypes
import math
import os
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
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

FILE = "vectors.faiss"
LISTS = "vectors.ivfdata"
"""The lists of an index that was put together on disk; `FILE` has its centroids."""
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

ENOUGH = 1 << 29
"""Bytes of copies, and of the numbers of their texts, that are written to a scratch file, so that memory is free."""

_NUMBER = 8
"""Bytes of a text's number."""

Copy = Literal["whole", "pq"]

_KINDS: Mapping[type[Codec], str] = {Float32: "Flat", Float16: "SQfp16"}
"""By the codec of the stored vectors, how faiss keeps its copy: as large as they are, or in 8 bits a number."""


@dataclass(frozen=True)
class FaissIndex:
    """An inverted file, and the share of it that a query looks at.

    Attributes:
        index: of faiss.
        nprobe: lists that a query looks into.
        factor: rows proposed for each one that is asked for.
    """

    index: Any
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
        faiss = require_faiss()
        nprobe = min(self.nprobe, self.index.nlist)
        k = min(k, self.index.ntotal, nprobe * self.longest)
        if not len(queries) or not k:
            return np.empty((len(queries), 0), np.float32), np.empty((len(queries), 0), np.int64)
        parameters = faiss.SearchParametersIVF(nprobe=nprobe)
        scores, texts = self.index.search(np.ascontiguousarray(queries, dtype=np.float32), k, params=parameters)
        return scores, texts

    @cached_property
    def longest(self) -> int:
        """Number of vectors in the longest list."""
        lists = self.index.invlists
        return max((lists.list_size(number) for number in range(self.index.nlist)), default=0)


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
    from faiss.contrib.ondisk import merge_ondisk

    def make(folder: Path) -> None:
        with tempfile.TemporaryDirectory(dir=folder, prefix=".parts-") as scratch:
            trained = _trained(vectors, copy)
            parts: list[str] = []
            index = faiss.clone_index(trained)
            for start in range(0, len(vectors), ROWS):
                end = min(start + ROWS, len(vectors))
                texts = np.searchsorted(vectors.starts, np.arange(start, end), side="right") - 1
                index.add_with_ids(np.ascontiguousarray(vectors.rows(start, end)), texts)
                if index.ntotal * (index.code_size + _NUMBER) >= ENOUGH and end < len(vectors):
                    parts.append(_written(index, Path(scratch, str(len(parts)))))
                    index = faiss.clone_index(trained)
                progress(end, len(vectors), "indexing")
            if parts:
                parts.append(_written(index, Path(scratch, str(len(parts)))))
                index = trained
                with _no_output():
                    merge_ondisk(index, parts, str(folder / LISTS))
            with atomic_file(folder / FILE) as temporary:
                faiss.write_index(index, str(temporary))

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


def quantises(count: int, copy: Copy) -> bool:
    """Whether the copies of `count` vectors are product-quantised."""
    return copy == "pq" and count >= LEAST


def parts_of(dimension: int) -> int:
    """Parts of a vector that are quantised apart, each to a byte: of four numbers, or of more where four do not fit.

    >>> parts_of(384), parts_of(30), parts_of(7)
    (96, 6, 1)
    """
    return max(parts for parts in range(1, max(1, dimension // 4) + 1) if dimension % parts == 0)


def _trained(vectors: StoredVectors, copy: Copy) -> Any:
    faiss = require_faiss()
    lists = lists_of(len(vectors))
    kind = (
        # "np": codewords are not renumbered for a filter that we do not ask for. That takes 1.6 s for each part of a
        # vector, and changes no score.
        f"PQ{parts_of(vectors.dimension)}x8np"
        if quantises(len(vectors), copy)
        else _KINDS.get(type(vectors.codec), "SQ8")
    )
    index = faiss.index_factory(vectors.dimension, f"IVF{lists},{kind}", faiss.METRIC_INNER_PRODUCT)
    index.cp.seed = SEED
    if len(vectors):
        # Evenly spread over the corpus, so that no generator has to be agreed on.
        index.train(vectors.chosen(vectors.spread_rows(lists * SAMPLE)))
    return index


def _written(index: Any, path: Path) -> str:
    require_faiss().write_index(index, str(path))
    return str(path)


@contextmanager
def _no_output() -> Iterator[None]:
    """Nothing reaches standard output, where faiss prints what it does to a file."""
    library = ctypes.CDLL(None if os.name == "posix" else "msvcrt")
    kept = os.dup(1)
    try:
        with Path(os.devnull).open("wb") as nothing:
            os.dup2(nothing.fileno(), 1)
            yield
            library.fflush(None)  # what is printed later goes where it should
    finally:
        os.dup2(kept, 1)
        os.close(kept)


def open_faiss(folder: Path, nprobe: int, copy: Copy = "whole") -> FaissIndex:
    """The index that `build_faiss` wrote, its lists read from disk where they are touched.

    Raises:
        InputError: the file is damaged.
    """
    faiss = require_faiss()
    try:
        index = faiss.read_index(str(folder / FILE), faiss.IO_FLAG_MMAP)
        lists = faiss.downcast_InvertedLists(index.invlists)
        if Path(getattr(lists, "filename", "")).name == LISTS:
            # They know the file where it was written. IO_FLAG_ONDISK_SAME_DIR says so on standard output.
            lists.filename = str(folder / LISTS)
            lists.do_mmap()
        return FaissIndex(index, nprobe, FACTOR if copy == "pq" else 1)
    except RuntimeError as fault:
        raise InputError(
            "the index cannot be read", file=folder / FILE, remedy="Remove its folder: it is built again"
        ) from fault
