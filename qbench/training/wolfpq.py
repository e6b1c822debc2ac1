"""What WolfPQ learns from: differences of uncompressed scores, and order; DPQ learns from the differences.

Source: *WolfPQ* 5.3.5.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from qbench.progress import Progress
from qbench.training.codebook_task import VECTORS, CodebookTask
from qbench.training.losses.quantisers import margin_mse, ranknet

if TYPE_CHECKING:
    from torch import Tensor


class WolfTask(CodebookTask):
    """WolfPQ under its five names."""

    def started(self, codebook: NDArray[np.float32]) -> Any:
        """PQ's codewords, and rotations that are the identity."""
        from qbench.models.wolfpq import WolfPQ

        recipe = self.recipe
        return WolfPQ(codebook, semantic=recipe.semantic, mdf=recipe.mdf, temperature=recipe.temperature)

    def pretrain(self, sample: NDArray[np.float32], progress: Progress) -> None:
        """Lower the distortion, and begin with the factor that makes up for what codewords are shorter than vectors."""
        import torch

        super().pretrain(sample, progress)
        some = sample[:: max(len(sample) // VECTORS, 1)]
        products = float((some * self.quantised()(some)).sum())
        if products > 0:
            with torch.no_grad():
                self.network.log_factor.fill_(float(np.log((some**2).sum() / products)))

    def loss(self, batch: NDArray[np.int64], step: int, steps: int) -> Tensor:
        """MarginMSE against the uncompressed scores (eq. 5.29), or its mixture with RankNet (eq. 5.30)."""
        import torch

        pairs, recipe = self.data.pairs, self.recipe
        vectors, places = self.documents(batch)
        queries = torch.from_numpy(pairs.queries[batch])[:, None, None]
        taught = (vectors[places] * queries).sum(dim=-1)
        learnt: Tensor = (self.network(vectors)[places] * queries).sum(dim=-1)
        if recipe.factor == "learnt":
            learnt = learnt * self.network.factor()
        if not recipe.interpolated:
            return margin_mse(taught, learnt)
        lexical, highest = torch.from_numpy(pairs.lexical[batch]), torch.from_numpy(pairs.highest[batch])
        if recipe.norm == "none":
            highest = torch.ones_like(highest)

        def mixed(scores: Tensor) -> Tensor:
            own, first = scores / highest[:, :1, None], lexical / highest[:, 1:, None]
            both: Tensor = recipe.scale * ((1 - recipe.alpha) * own + recipe.alpha * first)
            return both

        taught, learnt = mixed(taught), mixed(learnt)
        ranked = ranknet(learnt[..., 0], learnt[..., 1])
        mixture: Tensor = (1 - recipe.lip) * margin_mse(taught, learnt) + recipe.lip * ranked
        return mixture


class DpqTask(WolfTask):
    """DPQ, trained as WolfPQ is: its paper leaves the loss to the task (*WolfPQ* 2.3.3)."""

    def started(self, codebook: NDArray[np.float32]) -> Any:
        """PQ's codewords, as keys and as values."""
        from qbench.models.dpq import DPQ

        return DPQ(codebook, temperature=self.recipe.temperature)
