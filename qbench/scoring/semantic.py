"""Selection by semantic sampling at inference: codewords chosen by a network that sees the whole vector.

    h = tanh(W1 x + b1),  A = relu(W2 h + b2) as M rows of K,  L = (1 - gamma) A + gamma MDF OneHot(nearest codeword)

and the codeword of part j is argmax L^(j). Source: *WolfPQ* eq. 5.19 to 5.24 and 5.26.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from qbench.scoring.product import encoded

NUMBERS = 2**24
"""Numbers of A that are in memory together: 64 MB."""


@dataclass(frozen=True)
class Network:
    """The two layers.

    Attributes:
        w1: shape (hidden, H); b1: shape (hidden,).
        w2: shape (M * K, hidden); b2: shape (M * K,).
    """

    w1: NDArray[np.float32]
    b1: NDArray[np.float32]
    w2: NDArray[np.float32]
    b2: NDArray[np.float32]


def semantic_codes(
    vectors: NDArray[np.float32], codebook: NDArray[np.float32], network: Network, gamma: float, mdf: float
) -> NDArray[np.uint16]:
    """The codeword of each part of each vector; of equal logits the first.

    Args:
        vectors: shape (n, H).
        codebook: shape (M, K, H / M).
        network: what makes A.
        gamma: share of the nearest codeword, from 0 to 1.
        mdf: its logit.

    Returns:
        shape (n, M).
    """
    M, K, _ = codebook.shape
    codes = encoded(vectors, codebook)
    rows = max(NUMBERS // (M * K), 1)
    for first in range(0, len(vectors), rows):
        some = vectors[first : first + rows]
        hidden = np.tanh(some @ network.w1.T + network.b1)
        logits = np.maximum(hidden @ network.w2.T + network.b2, 0).reshape(len(some), M, K) * np.float32(1 - gamma)
        nearest = codes[first : first + rows, :, None].astype(np.intp)
        at = np.take_along_axis(logits, nearest, axis=2)
        np.put_along_axis(logits, nearest, at + np.float32(gamma * mdf), axis=2)
        codes[first : first + rows] = logits.argmax(axis=2)
    return codes
