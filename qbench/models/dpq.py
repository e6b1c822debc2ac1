"""DPQ as it is trained: keys that select, and values that stand for what was selected.

    phi^(j)(x) = argmin_k |x^(j) - key_k^(j)|^2,    rho(x) = value_phi(1)^(1) o ... o value_phi(M)^(M)

The selection has the gradient of a softmax over the distances (straight-through), so that keys learn from any loss.
This module imports torch: import it inside functions.
Source: Chen, Li and Sun (2020), eq. 3 to 6, DPQ-SX; *WolfPQ* 2.3.3. DPQ-SX compares by dot products, which batch
normalisation keeps alike; training starts from a PQ here, whose selection is the nearest one.
"""

from __future__ import annotations

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from qbench.models.product_quantiser import ProductQuantiser, looked_up, nearest, nearness


class DPQ(ProductQuantiser):
    """Keys and values: the codewords are the values.

    Args:
        codebook: shape (M, K, H / M), of a PQ: keys and values at first.
        temperature: of the softmax.
    """

    def __init__(self, codebook: NDArray[np.float32], *, temperature: float = 1.0) -> None:
        super().__init__(codebook)
        self.temperature = temperature
        self.selecting = nn.Parameter(self.codewords.detach().clone())

    def keys(self) -> Tensor:
        """The keys, shape (M, K, H / M)."""
        return self.size * self.selecting

    def quantise(self, vectors: Tensor) -> Tensor:
        """The values of the nearest keys; in training with the gradients of their softmax.

        Args:
            vectors: shape (n, H), rotated.

        Returns:
            shape (n, H).
        """
        if not self.training:
            return looked_up(self.stored(), nearest(vectors, self.keys()))
        logits = nearness(vectors / self.size, self.selecting)
        soft = torch.softmax(logits / self.temperature, dim=2)
        hard = nn.functional.one_hot(logits.argmax(dim=2), logits.shape[2]).to(soft.dtype)
        weights = hard + soft - soft.detach()
        return torch.bmm(weights, self.stored()).transpose(0, 1).flatten(start_dim=1)
