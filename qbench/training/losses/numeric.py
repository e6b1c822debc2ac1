"""NumColBERT's losses on the tokens of numbers: detection, what they say, and which numbers satisfy a query.

    L = L_retrieval + lambda_1 L_detect + lambda_2 L_info + lambda_3 L_contrast              (NumColBERT, eq. 1)

Functions on tensors; `qbench.training.numcolbert` gives them a batch's. Lambdas are options of the training: the paper
names no values.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from torch import Tensor

Contrast = Literal["unit", "joint", "separate", "numeric"]
"""What makes a number of a document a positive of a query's number (NumColBERT, table 4)."""

VALUE_SCALE = 10.0
"""Mantissas and exponents are learnt divided by it: else their squared errors drown the losses beside them."""


def detection(scores: Tensor, numeric: Tensor, counted: Tensor) -> Tensor:
    """L_detect: binary cross-entropy of whether a token is part of a number, the mean over tokens.

    Args:
        scores: shape (texts, tokens), logits.
        numeric: shape (texts, tokens), bool.
        counted: shape (texts, tokens), bool: tokens of texts whose numbers are known.

    Returns:
        shape (); 0 where no token counts.
    """
    import torch

    losses = torch.nn.functional.binary_cross_entropy_with_logits(
        scores.float(), numeric.to(scores.device, torch.float32), reduction="none"
    )
    return losses[counted].sum() / counted.sum().clamp(min=1)


def value(predicted: Tensor, mantissas: Tensor, exponents: Tensor) -> Tensor:
    """The part of L_info on values: squared errors of mantissa / 10 and exponent / 10, the mean over tokens.

    Args:
        predicted: shape (n, 2), both, of n tokens.
        mantissas: shape (n,), in (-10, 10).
        exponents: shape (n,), in [-20, 20].

    Returns:
        shape (), the sum of both; 0 for no token.
    """
    import torch

    wanted = torch.stack([mantissas.float(), exponents.float()], dim=1) / VALUE_SCALE
    return (predicted.float() - wanted).square().sum() / max(len(wanted), 1)


def classes(scores: Tensor, wanted: Tensor) -> Tensor:
    """The part of L_info on units, or on operators: cross-entropy, the mean over tokens whose class is known.

    Args:
        scores: shape (n, classes), logits.
        wanted: shape (n,); -1 where unknown.

    Returns:
        shape (); 0 where none is known.
    """
    import torch

    losses = torch.nn.functional.cross_entropy(scores.float(), wanted, ignore_index=-1, reduction="sum")
    return losses / (wanted >= 0).sum().clamp(min=1)


def contrast(anchors: Tensor, candidates: Tensor, positive: Tensor, negative: Tensor, temperature: float) -> Tensor:
    """L_contrast: InfoNCE with several positives, over tokens of numbers.

    For an anchor a with positives P and negatives N among the candidates,

        -1/|P| sum over p in P of log( exp(a p / tau) / sum over c in P and N of exp(a c / tau) )

    The paper does not give the formula. This is the one of supervised contrastive learning (Khosla et al. 2020,
    eq. 2), in which every positive is drawn near, not the nearest alone.

    Args:
        anchors: shape (a, dimension), tokens of queries' numbers, of length 1.
        candidates: shape (c, dimension), tokens of documents' numbers, of length 1.
        positive, negative: shape (a, c), bool; a pair that is neither is left out.
        temperature: tau.

    Returns:
        shape (), the mean over anchors that have a positive and a negative; 0 where none has.
    """
    import torch

    told = positive.any(dim=1) & negative.any(dim=1)
    if not bool(told.any()):
        return anchors.sum() * 0.0
    positive, negative = positive[told], negative[told]
    scores = anchors[told].float() @ candidates.float().T / temperature
    logs = torch.log_softmax(scores.masked_fill(~(positive | negative), float("-inf")), dim=1)
    near = logs.masked_fill(~positive, 0.0).sum(dim=1) / positive.sum(dim=1)
    return -near.mean()
