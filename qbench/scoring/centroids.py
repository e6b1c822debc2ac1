"""Candidates for MaxSim from a compressed index: each token vector is known by its nearest centroid alone.

A query token probes the few centroids that are nearest to it; the documents with a token there are candidates. They are
scored as if each of their tokens were its centroid (*centroid interaction*), and the best are left for exact MaxSim.
Source: Santhanam et al. (2022), *PLAID*, sections 4.1 to 4.3. Unlike PLAID we keep no residuals: the exact vectors
are on disk beside the index, and no threshold prunes centroids.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryFile
from typing import IO

import numpy as np
from numpy.typing import NDArray

from qbench.number_sets import sorted_set
from qbench.progress import Progress, silent
from qbench.randomness import generator
from qbench.scoring.kmeans import assigned, kmeans
from qbench.scoring.maxsim import ROWS, Tokens, blocks
from qbench.scoring.ranking import top_k

SAMPLE = 64
"""Token vectors that k-means sees for each centroid."""
ITERATIONS = 4
"""Of k-means, as many as ColBERT's own index takes."""


@dataclass(frozen=True)
class CentroidIndex:
    """Which centroids the tokens of n documents are nearest to.

    Attributes:
        centroids: shape (k, d), of length 1.
        starts: shape (n + 1,); the centroids of document i are members[starts[i]:starts[i + 1]].
        members: int32, centroids, ascending within a document, each once.
        lists: shape (k + 1,); the documents of centroid c are docs[lists[c]:lists[c + 1]].
        docs: int32, documents, ascending within a centroid.
    """

    centroids: NDArray[np.float32]
    starts: NDArray[np.int64]
    members: NDArray[np.int32]
    lists: NDArray[np.int64]
    docs: NDArray[np.int32]

    def __len__(self) -> int:
        return self.starts.size - 1


def centroid_count(tokens: int) -> int:
    """How many centroids so many token vectors get: a power of two, 4 to 8 times their root; no more than vectors.

    PLAID takes four times as many; with exact vectors behind them fewer do, and k-means takes a quarter of the time.

    >>> [centroid_count(n) for n in (0, 3, 100, 1_000_000)]
    [0, 3, 64, 4096]
    """
    if tokens == 0:
        return 0
    power = 1
    while power < 4 * tokens**0.5:
        power *= 2
    return min(power, tokens)


def build_centroids(
    tokens: Tokens, *, seed: int = 0, scratch: Path | None = None, progress: Progress = silent
) -> CentroidIndex:
    """The index of some documents; in memory there are a few bytes a document, and nothing for each of its tokens.

    Args:
        tokens: their token vectors.
        seed: of the sample that k-means sees, and of its start.
        scratch: folder of the nameless files that `members` and `docs` are mapped from; None for the system's.
        progress: told the number of documents done.
    """
    documents, total = tokens.starts.size - 1, int(tokens.starts[-1])
    count = centroid_count(total)
    size = min(SAMPLE * count, total)
    rows = np.sort(generator(seed, "centroids").choice(total, size, replace=False)) if size else np.empty(0, np.int64)
    centroids = (
        kmeans(tokens.chosen(rows), count, seed=seed, iterations=ITERATIONS, spherical=True)
        if count
        else np.empty((0, tokens.dimension), np.float32)
    )
    sizes = np.zeros(documents, np.int64)
    held = np.zeros(count, np.int64)
    progress(0, documents, "centroids")
    with TemporaryFile(dir=scratch) as file:
        for first, last in blocks(tokens.starts, 4 * ROWS):
            borders = tokens.starts[first : last + 1]
            labels, _ = assigned(tokens.rows(int(borders[0]), int(borders[-1])), centroids, spherical=True)
            owners = np.repeat(np.arange(last - first), np.diff(borders))
            pairs = sorted_set(owners * count + labels)
            sizes[first:last] = np.bincount(pairs // count, minlength=last - first)
            some = (pairs % count).astype(np.int32)
            held += np.bincount(some, minlength=count)
            file.write(some.tobytes())
            progress(last, documents, "centroids")
        members = _mapped(file, int(sizes.sum()))
    starts = np.append(0, np.cumsum(sizes)).astype(np.int64)
    lists = np.append(0, np.cumsum(held)).astype(np.int64)
    return CentroidIndex(centroids, starts, members, lists, _inverted(starts, members, lists, scratch))


def _inverted(
    starts: NDArray[np.int64], members: NDArray[np.int32], lists: NDArray[np.int64], scratch: Path | None
) -> NDArray[np.int32]:
    """`CentroidIndex.docs`, a block of documents at a time."""
    with TemporaryFile(dir=scratch) as file:
        docs = _mapped(file, members.size)
    place = lists[:-1].copy()
    for first, last in blocks(starts, 4 * ROWS):
        some = members[starts[first] : starts[last]]
        order = np.argsort(some, kind="stable")
        counts = np.bincount(some, minlength=place.size)
        within = np.arange(some.size) - (np.cumsum(counts) - counts)[some[order]]
        owners = np.repeat(np.arange(first, last, dtype=np.int32), np.diff(starts[first : last + 1]))
        docs[place[some[order]] + within] = owners[order]
        place += counts
    return docs


def _mapped(file: IO[bytes], count: int) -> NDArray[np.int32]:
    """So many numbers of a file, mapped into memory; the mapping outlives the file's name and its handle."""
    if not count:
        return np.empty(0, np.int32)
    file.truncate(count * np.dtype(np.int32).itemsize)
    return np.asarray(np.memmap(file, np.int32, "r+", shape=(count,)))


def candidates(index: CentroidIndex, query: NDArray[np.float32], *, nprobe: int, count: int) -> NDArray[np.int64]:
    """The documents that are likely to have the highest MaxSim, ascending.

    Args:
        index: of n documents.
        query: shape (query tokens, d).
        nprobe: how many centroids each query token probes.
        count: how many documents are left, the best by centroid interaction; of equal ones the lower.

    Returns:
        shape (at most count,).
    """
    from qbench.scoring import maxsim_kernel

    if not len(index.centroids) or not len(query):
        return np.empty(0, np.int64)
    products = index.centroids @ query.T
    nprobe = min(nprobe, len(products))
    probed = np.unique(np.argpartition(-products, nprobe - 1, axis=0)[:nprobe])
    held = np.zeros(len(index), bool)
    for centroid in probed:
        held[index.docs[index.lists[centroid] : index.lists[centroid + 1]]] = True
    docs = np.flatnonzero(held).astype(np.int64)
    if docs.size <= count:
        return docs
    scores, best = np.empty(docs.size), np.empty(len(query), np.float32)
    maxsim_kernel.sums_over_centroids(products, index.starts, index.members, docs, best, scores)
    return np.sort(docs[top_k(scores, count)])
