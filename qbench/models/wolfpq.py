"""WolfPQ as it is trained: a product quantiser whose codewords, rotations and selection are learnt.

This module imports torch: import it inside functions. What is trained is stored as a PQ: `qbench.compression.trained`.
Source: *WolfPQ* 5.3.1 to 5.3.3.
"""

from __future__ import annotations

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from qbench.models.product_quantiser import ProductQuantiser, looked_up, nearest


class WolfPQ(ProductQuantiser):
    """Codewords C, a rotation for each part, and a selection.

    Eq. 5.13 prints the rotations as K x K matrices. R^(j) multiplies codewords of H / M numbers, so it is H/M x H/M
    here: the exponential of an antisymmetric matrix, which stays a rotation whatever is learnt, and is the identity at
    first.

    Args:
        codebook: shape (M, K, H / M), of a PQ, where training starts.
        semantic: select by semantic sampling; else by minimum distance.
        mdf: logit of the nearest codeword (MDF).
        temperature: of the Gumbel-softmax (tau).
    """

    def __init__(
        self, codebook: NDArray[np.float32], *, semantic: bool = False, mdf: float = 30.0, temperature: float = 1.0
    ) -> None:
        super().__init__(codebook)
        M, K, width = codebook.shape
        self.turns = nn.Parameter(torch.zeros(M, width, width))
        self.semantic, self.mdf, self.temperature = semantic, mdf, temperature
        if semantic:
            self.first = nn.Linear(M * width, max(M * K // 2, 1))
            self.second = nn.Linear(max(M * K // 2, 1), M * K)
            self.xi = nn.Parameter(torch.zeros(()))

    def rotations(self) -> Tensor:
        """R, shape (M, H / M, H / M)."""
        # In units of 1 / width: a step of one learning rate then turns codewords as far as it moves them.
        turns = self.turns / self.turns.shape[2]
        return torch.matrix_exp(turns - turns.mT)

    def stored(self) -> Tensor:
        """The rotated codewords R^(j) c, shape (M, K, H / M)."""
        return super().stored() @ self.rotations().mT

    @property
    def gamma(self) -> Tensor:
        """The share of the nearest codeword in the logits (eq. 5.23), shape ()."""
        return torch.sigmoid(self.xi)

    def quantise(self, vectors: Tensor) -> Tensor:
        """Quantised vectors, with gradients for what is learnt.

        By minimum distance, the selection has no gradient, and needs none: the vectors do not change. By semantic
        sampling the selection is drawn in training, by the Gumbel-max trick, and its gradient is that of the softmax
        (straight-through); at inference it is the highest logit.

        Args:
            vectors: shape (n, H), rotated.

        Returns:
            shape (n, H).
        """
        if not self.semantic:
            return super().quantise(vectors)
        codewords = self.stored()
        logits = self.logits(vectors, nearest(vectors, codewords))
        if not self.training:
            return looked_up(codewords, logits.argmax(dim=2))
        weights = nn.functional.gumbel_softmax(logits, tau=self.temperature, hard=True)
        return torch.einsum("nmk,mkd->nmd", weights, codewords).flatten(start_dim=1)

    def logits(self, vectors: Tensor, nearest: Tensor) -> Tensor:
        """L of eq. 5.24, shape (n, M, K).

        Args:
            vectors: shape (n, H).
            nearest: shape (n, M).
        """
        M, K, _ = self.codewords.shape
        semantic = torch.relu(self.second(torch.tanh(self.first(vectors)))).reshape(len(vectors), M, K)
        hot = nn.functional.one_hot(nearest, K).to(semantic.dtype)
        return (1 - self.gamma) * semantic + self.gamma * self.mdf * hot
