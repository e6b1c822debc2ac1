"""What RepCONC learns from: the order of documents, and distortion.

    L = L_r + lambda L_m,    L_r = -log(exp(q d+) / (exp(q d+) + sum exp(q d-))),    L_m = |d - quantised(d)|^2

Source: Zhan et al. (2022); *WolfPQ* eq. 2.20, whose denominator lacks the exp of the positive's score. Both train the
encoders as well. Here vectors are encoded once, as for every codebook, and what is trained is the quantiser.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from qbench.training.codebook_task import CodebookTask
from qbench.training.losses.quantisers import contrast, distortion

if TYPE_CHECKING:
    from torch import Tensor


class RepconcTask(CodebookTask):
    """RepCONC: codewords that are selected equally often in training."""

    def started(self, codebook: NDArray[np.float32]) -> Any:
        """PQ's codewords."""
        from qbench.models.repconc import RepCONC

        return RepCONC(codebook)

    def loss(self, batch: NDArray[np.int64], step: int, steps: int) -> Tensor:
        """L of the module, with distances in units of the codewords' mean squared length, and scores as `scaled`."""
        import torch

        vectors, places = self.documents(batch)
        quantised = self.network(vectors)
        queries = torch.from_numpy(self.data.pairs.queries[batch])
        scores = self.scaled((quantised[places] * queries[:, None, None]).sum(dim=-1), batch)
        relative = distortion(vectors, quantised) / (self.network.size**2 * vectors.shape[1])
        loss: Tensor = contrast(scores[..., 0], scores[..., 1]) + self.recipe.mse * relative
        return loss
