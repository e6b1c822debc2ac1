"""JPQ as it is trained: PQ's codes, which stay as they are, and codewords that move below them.

    dl / dc_k^(j) = -a q^(j) where d+ has code k and d- has not,  a q^(j) where d- alone has it,  else 0

with a = dl / ds(q, d-): the gradient of a look-up (*WolfPQ* eq. 4.2). The encoder of queries is trained with them, and
is a part of the module, so that its weights are kept and resumed with the codewords.
This module imports torch: import it inside functions.
Source: Zhan et al. (2021); *WolfPQ* 4.2.
"""

from __future__ import annotations

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from qbench.models.product_quantiser import ProductQuantiser, looked_up


class JPQ(ProductQuantiser):
    """Codewords, and the keys that say which vector has which code for ever.

    Args:
        codebook: shape (M, K, H / M), of a PQ: the keys, and the codewords at first.
        encoder: of queries; None where it is not trained.
    """

    frozen: Tensor

    def __init__(self, codebook: NDArray[np.float32], encoder: nn.Module | None = None) -> None:
        super().__init__(codebook)
        self.register_buffer("frozen", torch.from_numpy(codebook))
        self.encoder = encoder

    def keys(self) -> Tensor:
        """PQ's codewords, shape (M, K, H / M)."""
        return self.frozen

    def forward(self, codes: Tensor) -> Tensor:
        """The vectors that codes of shape (n, M) stand for, with gradients for the codewords; shape (n, H)."""
        return self.rotated_back(looked_up(self.stored(), codes))
