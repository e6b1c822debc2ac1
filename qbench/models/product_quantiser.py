"""A product quantiser as it is trained: codewords that are learnt, and the codes that vectors get.

    quantised(x) = R quantise(R'x),    R is OPQ's rotation, or the identity for a start from PQ

This module imports torch: import it inside functions.
"""

from __future__ import annotations

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn


class ProductQuantiser(nn.Module):
    """Codewords; what a subclass adds selects them, or changes them before they are stored.

    Args:
        codebook: shape (M, K, H / M), of a PQ or an OPQ, where training starts.

    Attributes:
        size: shape (), root mean square of the codewords' numbers at first.
        rotation: shape (H, H), OPQ's, which vectors are multiplied by before they are cut; it is not learnt. None for a
            start from PQ.
    """

    size: Tensor
    rotation: Tensor | None

    def __init__(self, codebook: NDArray[np.float32]) -> None:
        super().__init__()
        # Learnt in units of their own size, so that one learning rate suits any encoder.
        size = float(np.sqrt((codebook.astype(np.float64) ** 2).mean())) or 1.0
        self.register_buffer("size", torch.tensor(size))
        self.register_buffer("rotation", None)
        self.codewords = nn.Parameter(torch.from_numpy(codebook / np.float32(size)))
        self.log_factor = nn.Parameter(torch.zeros(()))

    def turn(self, rotation: NDArray[np.float32] | None) -> None:
        """Multiply vectors by a rotation from now on, before they are cut; None: by none."""
        self.rotation = None if rotation is None else torch.from_numpy(rotation)

    def factor(self) -> Tensor:
        """What scores with codewords are multiplied by to be compared with uncompressed ones, shape (); not stored."""
        return self.log_factor.exp()

    def stored(self) -> Tensor:
        """The codewords that an index keeps, shape (M, K, H / M)."""
        return self.size * self.codewords

    def keys(self) -> Tensor | None:
        """What vectors are compared with, of the same shape; None: the codewords."""
        return None

    def forward(self, vectors: Tensor) -> Tensor:
        """Vectors of shape (n, H) quantised, of the same shape."""
        return self.rotated_back(self.quantise(vectors if self.rotation is None else vectors @ self.rotation))

    def rotated_back(self, quantised: Tensor) -> Tensor:
        """Codewords one after the other, shape (n, H), as what they stand for in the vectors' own axes."""
        return quantised if self.rotation is None else quantised @ self.rotation.T

    def quantise(self, vectors: Tensor) -> Tensor:
        """Rotated vectors of shape (n, H) quantised by their nearest codewords, with gradients for these."""
        codewords = self.stored()
        return looked_up(codewords, nearest(vectors, codewords))


def nearest(vectors: Tensor, codewords: Tensor) -> Tensor:
    """The nearest codeword of each part (*WolfPQ* eq. 5.17), shape (n, M).

    Args:
        vectors: shape (n, H).
        codewords: shape (M, K, H / M).
    """
    with torch.no_grad():
        return nearness(vectors, codewords).argmax(dim=2).T


def nearness(vectors: Tensor, codewords: Tensor) -> Tensor:
    """How near each part is to all codewords, shape (M, n, K): x c - |c|^2 / 2.

    That is half the squared distance, negated, up to what is the same for all codewords. Arguments as in `nearest`.
    """
    M, _, width = codewords.shape
    cut = vectors.reshape(len(vectors), M, width).transpose(0, 1)
    return torch.baddbmm(codewords.square().sum(dim=2)[:, None], cut, codewords.mT, beta=-0.5)


def looked_up(codewords: Tensor, codes: Tensor) -> Tensor:
    """Codewords one after the other, shape (n, H).

    The product with a one-hot vector (*WolfPQ* eq. 5.18) is a look-up: its gradient goes to the selected codeword.

    Args:
        codewords: shape (M, K, H / M).
        codes: shape (n, M).
    """
    return codewords[torch.arange(len(codewords)), codes].flatten(start_dim=1)
