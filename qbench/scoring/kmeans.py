"""k-means by Lloyd's iterations, in blocks of matrix products; euclidean, or spherical for cosines.

Every vector goes to its nearest centroid, every centroid to the mean of its vectors, until nothing changes. Spherical
k-means gives each centroid length 1 and takes the highest dot product for the nearest (Dhillon and Modha, 2001).
A centroid that loses all its vectors starts anew at a vector that is far from its own centroid.
Source: Lloyd (1982). The same input and seed give the same centroids on one machine.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from qbench.errors import InputError, OptionError
from qbench.randomness import generator

PRODUCTS = 4_000_000
"""Numbers of one matrix product: 16 MB."""


def kmeans(
    vectors: NDArray[np.float32], k: int, *, seed: int = 0, iterations: int = 20, spherical: bool = False
) -> NDArray[np.float32]:
    """The centroids of k clusters.

    Args:
        vectors: shape (n, d).
        k: how many clusters; n if there are fewer vectors.
        seed: of the vectors that the centroids start at.
        iterations: at most so many.
        spherical: centroids have length 1, and the nearest one is that with the highest dot product.

    Returns:
        shape (min(k, n), d).

    Raises:
        OptionError: k or iterations are less than 1.
        InputError: a vector is not finite.

    >>> np.sort(kmeans(np.array([[0], [1], [10], [11]], np.float32), 2), axis=0)
    array([[ 0.5],
           [10.5]], dtype=float32)
    """
    for name, value in (("k", k), ("iterations", iterations)):
        if value < 1:
            raise OptionError(f"k-means needs {name} of at least 1", value=value)
    broken = np.flatnonzero(~np.isfinite(vectors).all(axis=1))
    if broken.size:
        raise InputError("k-means was given a vector that is not finite", value=f"row {broken[0]}")
    k = min(k, len(vectors))
    starts = generator(seed, "k-means").choice(len(vectors), k, replace=False) if k else np.empty(0, np.int64)
    centroids = _placed(vectors[np.sort(starts)].astype(np.float64), spherical)
    before: NDArray[np.int32] | None = None
    for _ in range(iterations if k else 0):
        labels, nearness = assigned(vectors, centroids, spherical=spherical)
        if before is not None and (labels == before).all():
            break
        before = labels
        centroids = _moved(vectors, labels, nearness, centroids, spherical)
    return centroids


def assigned(
    vectors: NDArray[np.float32], centroids: NDArray[np.float32], *, spherical: bool = False
) -> tuple[NDArray[np.int32], NDArray[np.float32]]:
    """The nearest centroid of every vector, and how near it is; of equally near ones the first.

    Args:
        vectors: shape (n, d).
        centroids: shape (k, d), k at least 1 unless n is 0.
        spherical: by the highest dot product; else by the smallest distance.

    Returns:
        centroids, shape (n,), and nearness, shape (n,): the dot product, or minus the squared distance.

    >>> assigned(np.array([[1], [9]], np.float32), np.array([[0], [10]], np.float32))
    (array([0, 1], dtype=int32), array([-1., -1.], dtype=float32))
    """
    labels, nearness = np.empty(len(vectors), np.int32), np.empty(len(vectors), np.float32)
    # |x - c|^2 = |x|^2 - 2 (x.c - |c|^2 / 2): the nearest centroid is that with the highest difference in brackets.
    half = np.zeros(len(centroids), np.float32) if spherical else (centroids**2).sum(axis=1) / 2
    rows = max(PRODUCTS // max(len(centroids), 1), 1)
    for first in range(0, len(vectors), rows):
        part = vectors[first : first + rows]
        products = part @ centroids.T
        if not spherical:
            products -= half
        best = products.argmax(axis=1)
        labels[first : first + rows] = best
        nearest = products[np.arange(len(part)), best]
        if not spherical:
            nearest = np.minimum(2 * nearest - (part**2).sum(axis=1), 0)
        nearness[first : first + rows] = nearest
    return labels, nearness


def _moved(
    vectors: NDArray[np.float32],
    labels: NDArray[np.int32],
    nearness: NDArray[np.float32],
    centroids: NDArray[np.float32],
    spherical: bool,
) -> NDArray[np.float32]:
    """Every centroid in the mean of its vectors; those without any in vectors far from theirs."""
    k = len(centroids)
    sizes = np.bincount(labels, minlength=k)
    sums = np.zeros(centroids.shape)
    rows = max(PRODUCTS // centroids.shape[1], 1)
    for first in range(0, len(vectors), rows):
        theirs = labels[first : first + rows]
        order = np.argsort(theirs, kind="stable")
        present, starts = np.unique(theirs[order], return_index=True)
        sums[present] += np.add.reduceat(vectors[first : first + rows][order], starts, axis=0)
    means = sums / np.maximum(sizes, 1)[:, None]
    empty = np.flatnonzero(sizes == 0)
    if empty.size:
        means[empty] = centroids[empty]
        far = _far(vectors, nearness, centroids, empty.size)
        means[empty[: far.size]] = vectors[far]
    moved = _placed(means, spherical)
    # Vectors that cancel out have no mean direction: their centroid stays.
    lost = np.flatnonzero(~moved.any(axis=1)) if spherical else np.empty(0, np.int64)
    moved[lost] = centroids[lost]
    return moved


def _far(
    vectors: NDArray[np.float32], nearness: NDArray[np.float32], centroids: NDArray[np.float32], count: int
) -> NDArray[np.intp]:
    """Vectors to start centroids anew at: the farthest from theirs first, all different and none a centroid yet."""
    taken = {centroid.tobytes() for centroid in centroids}
    chosen: list[int] = []
    for row in np.argsort(nearness, kind="stable"):
        if len(chosen) == count:
            break
        content = np.ascontiguousarray(vectors[row], dtype=np.float32).tobytes()
        if content not in taken:
            taken.add(content)
            chosen.append(int(row))
    return np.array(chosen, dtype=np.intp)


def _placed(centroids: NDArray[np.float64], spherical: bool) -> NDArray[np.float32]:
    """Centroids in single precision, for spherical k-means of length 1."""
    if spherical:
        lengths = np.linalg.norm(centroids, axis=1, keepdims=True)
        centroids = np.divide(centroids, lengths, out=np.zeros_like(centroids), where=lengths > 0)
    return centroids.astype(np.float32)
