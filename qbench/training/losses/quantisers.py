"""Losses of quantisers: of the scores of positives and negatives, uncompressed and compressed."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from torch import Tensor


def distortion(vectors: Tensor, quantised: Tensor) -> Tensor:
    """The mean squared distance (*WolfPQ* eq. 5.28), shape ().

    Args:
        vectors, quantised: shape (n, H).
    """
    return (vectors - quantised).square().sum(dim=1).mean()


def margin_mse(taught: Tensor, learnt: Tensor) -> Tensor:
    """MarginMSE (*WolfPQ* eq. 5.29): squared differences of margins; the mean over pairs, where the equation has a sum.

    What is added to both scores of a document, such as BM25's share, cancels out.

    Args:
        taught, learnt: shape (..., 2), scores of d+ and d- by the teacher and by the quantised student.

    Returns:
        shape ().
    """
    return ((taught[..., 0] - taught[..., 1]) - (learnt[..., 0] - learnt[..., 1])).square().mean()


def ranknet(positives: Tensor, negatives: Tensor) -> Tensor:
    """RankNet over a query's list (Burges et al. 2005): log(1 + exp(s- - s+)), the mean over all d+ and d- of it.

    Args:
        positives: shape (queries, p), scores of the documents that belong above.
        negatives: shape (queries, n), of those that belong below.

    Returns:
        shape ().
    """
    import torch

    return torch.nn.functional.softplus(negatives[:, None, :] - positives[:, :, None]).mean()


def contrast(positives: Tensor, negatives: Tensor) -> Tensor:
    """-log of each positive's share beside all negatives of its query (*WolfPQ* eq. 2.20, L_r), the mean; shape ().

    Args:
        positives: shape (queries, p), scores.
        negatives: shape (queries, n).
    """
    import torch

    others = torch.logsumexp(negatives, dim=1, keepdim=True)
    return torch.nn.functional.softplus(others - positives).mean()


def lambda_rank(positives: Tensor, negatives: Tensor) -> Tensor:
    """LambdaRank for the reciprocal rank: RankNet's pairs, each weighted by what exchanging both would change.

        sum over d+, d- of |1 / rank(d+) - 1 / rank(d-)| log(1 + exp(s- - s+))

    Ranks are those of one positive among all negatives; the weights have no gradient (Burges 2010; *WolfPQ* 4.2). It is
    the mean over d+ of the sums over d-.

    Args:
        positives: shape (queries, p), scores of the documents that belong above.
        negatives: shape (queries, n).

    Returns:
        shape ().
    """
    import torch

    margins = negatives[:, None, :] - positives[:, :, None]
    with torch.no_grad():
        above = margins > 0
        own = 1 + above.sum(dim=2, keepdim=True)
        among = 1 + negatives.argsort(dim=1, descending=True, stable=True).argsort(dim=1)
        weights = (1 / own - 1 / (among[:, None, :] + ~above)).abs()
    return (weights * torch.nn.functional.softplus(margins)).sum(dim=2).mean()
