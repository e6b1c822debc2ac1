"""RepCONC as it is trained: in a batch, all codewords of a part are selected about equally often.

    max_P  sum_ik P_ik (-|x_i^(j) - c_k^(j)|^2) + epsilon H(P),    sum_k P_ik = 1 / n,    sum_i P_ik = 1 / K

is solved by Sinkhorn's iterations, and a vector gets the codeword with its largest share in P. The constraint holds in
training alone; what is stored is a PQ, whose codes are the nearest codewords.
This module imports torch: import it inside functions.
Source: Zhan et al. (2022), constrained clustering; *WolfPQ* 2.3.3.
"""

from __future__ import annotations

import torch
from torch import Tensor

from qbench.models.product_quantiser import ProductQuantiser, looked_up, nearest, nearness

EPSILON = 0.1
"""Weight of the entropy, in units of the mean squared length of codewords."""

ROUNDS = 10
"""Sinkhorn's iterations."""

_LEAST = 1e-30


class RepCONC(ProductQuantiser):
    """Codewords, selected under the constraint in training and by distance at inference."""

    def quantise(self, vectors: Tensor) -> Tensor:
        """Quantised vectors, with gradients for the codewords.

        Args:
            vectors: shape (n, H), rotated.

        Returns:
            shape (n, H).
        """
        codewords = self.stored()
        codes = (balanced if self.training else nearest)(vectors, codewords)
        return looked_up(codewords, codes)


@torch.no_grad()
def balanced(vectors: Tensor, codewords: Tensor, epsilon: float = EPSILON, rounds: int = ROUNDS) -> Tensor:
    """Codes under the constraint, shape (n, M).

    Args:
        vectors: shape (n, H).
        codewords: shape (M, K, H / M).
        epsilon, rounds: as `EPSILON` and `ROUNDS`.

    >>> balanced(torch.tensor([[0.0], [0.1], [0.2], [1.0]]), torch.tensor([[[0.0], [1.0]]]), 0.2).T
    tensor([[0, 0, 1, 1]])
    """
    unit = codewords.square().sum(dim=2).mean().clamp(min=_LEAST)
    scale = 2 / (epsilon * unit)
    # Part by part: what is computed of one part stays in the processor's cache over all iterations.
    parts = zip(vectors.chunk(len(codewords), dim=1), codewords.chunk(len(codewords)), strict=True)
    return torch.stack([_chosen(scale * nearness(part, own)[0], rounds) for part, own in parts], dim=1)


def _chosen(logits: Tensor, rounds: int) -> Tensor:
    """The codeword with the largest share of each vector, shape (n,), of one part's logits, shape (n, K)."""
    # The highest of each vector is 1: no row of `shares` vanishes. Subnormal numbers, which are slow, become 0.
    shares = torch.exp(logits - logits.amax(dim=1, keepdim=True))
    shares = torch.nn.functional.threshold(shares, torch.finfo(shares.dtype).tiny, 0.0)
    n, K = shares.shape
    columns = shares.new_ones(K)
    for _ in range(rounds):
        rows = 1 / (n * (shares @ columns)).clamp(min=_LEAST)
        columns = 1 / (K * (rows @ shares)).clamp(min=_LEAST)
    return (shares * columns).argmax(dim=1)
