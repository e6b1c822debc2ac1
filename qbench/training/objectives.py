"""What contrastive training lowers: losses on matrices of scores, and the regularisation of sparse vectors."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from torch import Tensor


def info_nce(scores: Tensor, positives: Tensor, allowed: Tensor) -> Tensor:
    """The mean of -log softmax of each query's positive among the texts it is compared with (InfoNCE).

    Args:
        scores: shape (queries, texts).
        positives: shape (queries,), the column of each query's positive.
        allowed: shape (queries, texts), bool: the texts that a query is compared with; its positive always is.

    Returns:
        shape ().
    """
    import torch

    return torch.nn.functional.cross_entropy(scores.masked_fill(~allowed, float("-inf")), positives)


def pairwise(scores: Tensor, positives: Tensor, own: Tensor) -> Tensor:
    """The mean over (positive, negative) of -log softmax of the positive in that pair alone (ColBERT, section 3.3).

    Args:
        scores: shape (queries, texts).
        positives: shape (queries,), the column of each query's positive.
        own: shape (queries, texts), bool: each query's own negatives.

    Returns:
        shape ().
    """
    import torch

    margins = scores.gather(1, positives[:, None]) - scores
    return torch.nn.functional.softplus(-margins[own]).mean()


def distillation(scores: Tensor, teacher: Tensor, allowed: Tensor) -> Tensor:
    """KL(teacher || student) over the texts that each query is compared with (TCT-ColBERT; *WolfPQ* eq. 2.7 to 2.9).

    Args:
        scores, teacher: shape (queries, texts); the teacher's divided by its temperature.
        allowed: shape (queries, texts), bool.

    Returns:
        shape (), the mean over queries.
    """
    import torch

    student = torch.log_softmax(scores.masked_fill(~allowed, float("-inf")), dim=1)
    target = torch.log_softmax(teacher.masked_fill(~allowed, float("-inf")), dim=1)
    terms = target.exp() * (target - student)
    return terms.masked_fill(~allowed, 0.0).sum(dim=1).mean()


def flops(vectors: Tensor) -> Tensor:
    """The FLOPS regulariser of SPLADE (Formal et al. 2021, eq. 4): sum over terms of the squared mean activation.

    Args:
        vectors: shape (texts, terms), not negative.

    Returns:
        shape (); 0 only where no term is active.
    """
    return vectors.mean(dim=0).square().sum()
