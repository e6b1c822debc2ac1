"""Contextual quantisation as it is trained: what a token's context adds to it is quantised, and a decoder joins both.

    E(t) = comp(E0(t), E'(t)),   E0(t) = BERT(t) alone,   E^(t) = tanh(W_c C^(t) + W_0 E0(t) + b)

C^ has M codes, joined as a PQ's (*WolfPQ* eq. 4.5); E0 is known by the token's number. The encoder compares E - E0 with
keys, as DPQ does, where Yang et al. have a network of two layers with a Gumbel-softmax: it starts from a PQ of E - E0,
and the decoder from the sum, so that there is something to rank with before training.
This module imports torch: import it inside functions.
Source: Yang, Qiao and Yang (2022); *WolfPQ* 4.3, eq. 4.4 to 4.7.
"""

from __future__ import annotations

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from qbench.models.dpq import DPQ


class ContextualQuantiser(DPQ):
    """Codewords of what context adds, and the decoder.

    Args:
        codebook: shape (M, K, H / M), of a PQ of E - E0.
        temperature: of the softmax.
    """

    def __init__(self, codebook: NDArray[np.float32], *, temperature: float = 1.0) -> None:
        super().__init__(codebook, temperature=temperature)
        width = codebook.shape[0] * codebook.shape[2]
        self.of_context = nn.Parameter(torch.eye(width))
        self.of_token = nn.Parameter(torch.eye(width))
        self.bias = nn.Parameter(torch.zeros(width))

    def forward(self, vectors: Tensor) -> Tensor:
        """Decoded token vectors.

        Args:
            vectors: shape (n, 2 H): E, and E0 beside it.

        Returns:
            shape (n, H).
        """
        whole, alone = vectors.chunk(2, dim=1)
        return torch.tanh(super().forward(whole - alone) @ self.of_context.T + self.words(alone))

    def words(self, alone: Tensor) -> Tensor:
        """What the decoder makes of E0, of the same shape: an index keeps it for each word of the vocabulary."""
        return alone @ self.of_token.T + self.bias
