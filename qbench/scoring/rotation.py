"""The rotation that suits product quantisation best, learnt by turns with codewords.

With codewords fixed, the rotation R that minimises |X R - Y|^2 between vectors X and what their codes stand for, Y, is
that of the orthogonal Procrustes problem: R = U V' with X'Y = U S V' (Schoenemann, 1966). With R fixed, codewords move
to the means of their parts of X R. Neither step raises the distortion.
Source: Ge, He, Ke and Sun (2013), *Optimized product quantization*, the non-parametric solution, started at the
parametric one.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from qbench.scoring.product import decoded, encoded, packed, parts, product_codebook

SAMPLE = 2**14
"""Vectors that the rotation is learnt from, spread over those given: each round multiplies them by a matrix."""

STEPS = 4
"""Iterations of k-means before the first round."""


def allocated_axes(sample: NDArray[np.float32], M: int) -> NDArray[np.float32]:
    """The principal axes dealt to M parts so that the product of the variances is about the same in all of them.

    The axes go from the widest to the narrowest, each to the part whose product is the lowest and that has room
    (*eigenvalue allocation*).

    Args:
        sample: shape (n, H), n at least 1.
        M: number of parts, which divides H.

    Returns:
        shape (H, H), orthogonal.
    """
    width = sample.shape[1]
    values, axes = np.linalg.eigh(np.cov(sample.astype(np.float64), rowvar=False, bias=True).reshape(width, width))
    room, logs = [width // M] * M, np.zeros(M)
    dealt: list[list[int]] = [[] for _ in range(M)]
    # Relative to the narrowest axis, so that each one dealt raises its part's product. Of variances that
    # are next to nothing, the logarithms would decide alone.
    floor = max(float(values[0]), float(values[-1]) * 1e-10, 1e-30)
    for axis in range(width - 1, -1, -1):
        part = min((j for j in range(M) if room[j]), key=lambda j: (logs[j], j))
        dealt[part].append(axis)
        room[part] -= 1
        logs[part] += np.log(max(float(values[axis]) / floor, 1.0))
    return axes[:, [axis for part in dealt for axis in part]].astype(np.float32)


def learnt_rotation(
    sample: NDArray[np.float32],
    M: int,
    K: int,
    *,
    rounds: int,
    seed: int = 0,
) -> NDArray[np.float32]:
    """The rotation to multiply vectors by before they are cut into M parts.

    Args:
        sample: shape (n, H); n is 0 for a corpus without vectors, whose rotation is the identity.
        M, K: as in `product_codebook`.
        rounds: how often codewords and rotation take turns.
        seed: of k-means.

    Returns:
        shape (H, H), orthogonal.

    Raises:
        OptionError: M does not divide H, or K is above n.
    """
    parts(sample, M)
    if not len(sample):
        return np.eye(sample.shape[1], dtype=np.float32)
    some = sample[np.linspace(0, len(sample) - 1, min(len(sample), max(SAMPLE, 4 * K))).astype(np.intp)]
    rotation = allocated_axes(some, M)
    turned = some @ rotation
    codebook = product_codebook(turned, M, K, seed=seed, iterations=STEPS)
    for _ in range(rounds):
        codes = encoded(turned, codebook)
        codebook = _moved(turned, codes, codebook)
        left, _, right = np.linalg.svd(some.T @ decoded(packed(codes, K), codebook))
        rotation = (left @ right).astype(np.float32)
        turned = some @ rotation
    return rotation


def _moved(
    vectors: NDArray[np.float32], codes: NDArray[np.uint16], codebook: NDArray[np.float32]
) -> NDArray[np.float32]:
    """Every codeword in the mean of its parts; those without any where they are."""
    moved = codebook.copy()
    cut = parts(vectors, len(codebook))
    for j in range(len(codebook)):
        sizes = np.bincount(codes[:, j], minlength=codebook.shape[1])
        used = np.flatnonzero(sizes)
        for d in range(cut.shape[2]):
            sums = np.bincount(codes[:, j], cut[:, j, d], minlength=sizes.size)
            moved[j, used, d] = sums[used] / sizes[used]
    return moved
