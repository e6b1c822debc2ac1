"""Losses on the matrix of scores: which text of a batch satisfies which query."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from torch import Tensor

    from qbench.training.batch import Batch
    from qbench.training.outputs import Outputs, Scorer


def info_nce(batch: Batch, outputs: Outputs) -> Tensor:
    """The mean of -log softmax of each query's positive among the texts it is compared with (InfoNCE).

    The other texts are its own negatives and those of the batch that cannot satisfy it.

    Returns:
        shape ().
    """
    import torch

    compared = outputs.tensor(batch.compared)
    scores = outputs.scores.masked_fill(~compared, float("-inf"))
    return torch.nn.functional.cross_entropy(scores, outputs.tensor(batch.positives))


def pairwise(batch: Batch, outputs: Outputs) -> Tensor:
    """The mean over (positive, own negative) of -log softmax of the positive in that pair (ColBERT, section 3.3).

    Returns:
        shape ().
    """
    import torch

    positives = outputs.tensor(batch.positives)
    margins = outputs.scores.gather(1, positives[:, None]) - outputs.scores
    return torch.nn.functional.softplus(-margins[outputs.tensor(batch.own)]).mean()


@dataclass(frozen=True)
class Distillation:
    """KL(teacher || student) over all texts of the batch (TCT-ColBERT; *WolfPQ* eq. 2.7 to 2.9), the mean over queries.

    Attributes:
        teacher: gives the scores to learn.
        temperature: divides them.
    """

    teacher: Scorer
    temperature: float = 1.0

    def __call__(self, batch: Batch, outputs: Outputs) -> Tensor:
        """Shape ()."""
        import torch

        self.teacher.network.eval()
        with torch.no_grad():
            taught = self.teacher.outputs(batch).scores.to(outputs.scores.device) / self.temperature
        student = torch.log_softmax(outputs.scores, dim=1)
        target = torch.log_softmax(taught, dim=1)
        return (target.exp() * (target - student)).sum(dim=1).mean()


def flops(vectors: Tensor) -> Tensor:
    """The FLOPS regulariser of SPLADE (Formal et al. 2021, eq. 4): sum over terms of the squared mean activation.

    Args:
        vectors: shape (texts, terms), not negative.

    Returns:
        shape (); 0 only where no term is active.
    """
    return vectors.mean(dim=0).square().sum()
