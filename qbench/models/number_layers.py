"""The layers of DeepQuant around its encoder: what a number's token goes in as, and what is read off its vector.

J is the encoder's width; y the contextual vector of a number's token; a a number of a query, b one of a document.
This module imports torch: import it inside functions.
"""

from __future__ import annotations

import math

import torch
from torch import Tensor, nn
from torch.nn.functional import (
    binary_cross_entropy,
    binary_cross_entropy_with_logits,
    cross_entropy,
    linear,
    logsigmoid,
    mse_loss,
)

from qbench.models.numbers import EXPONENTS, MAX_EXPONENT, OPERATORS

HIDDEN = 128
"""Width of the layers of the comparison networks (*DeepQuant* appendix C)."""


def mantissa_width(width: int) -> int:
    """J_m, the dimensions that encode the mantissa: 90 % of J (*DeepQuant* appendix A)."""
    return round(0.9 * width)


class NumberEmbedding(nn.Module):
    """What is added to the embedding of [num]: E[exponent] || mantissa (*DeepQuant* 3.2, eq. 13 and 14).

        mantissa[j] = exp(-(m - mu_j)^2 / sigma^2), mu_j = -10 + 20 j / (J_m - 1), j = 0 ... J_m - 1

    Exponents are random at the start, and as large as mantissas: both have the same mean square in a dimension, that of
    the Gaussian over [-10, 10]. Much smaller ones vanish where the encoder scales its input to unit variance.

    Args:
        width: J.
        sigma: of the Gaussian.
    """

    means: Tensor

    def __init__(self, width: int, sigma: float = 1.0) -> None:
        super().__init__()
        self.sigma = sigma
        self.exponents = nn.Embedding(EXPONENTS, width - mantissa_width(width))
        # The integral of exp(-2 x^2 / sigma^2) is sigma sqrt(pi / 2).
        nn.init.normal_(self.exponents.weight, std=math.sqrt(sigma * math.sqrt(math.pi / 2) / 20))
        self.register_buffer("means", torch.linspace(-10, 10, mantissa_width(width)), persistent=False)

    def forward(self, mantissas: Tensor, exponents: Tensor) -> Tensor:
        """Shape (n, J).

        Args:
            mantissas: shape (n,), in (-10, 10).
            exponents: shape (n,), int64, in [-20, 20].
        """
        kernel = torch.exp(-((mantissas[:, None] - self.means) ** 2) / self.sigma**2)
        return torch.cat([self.exponents(exponents + MAX_EXPONENT), kernel], dim=1)


class NumberHeads(nn.Module):
    """What a number's vector says of it (*DeepQuant* 3.3, 3.7, appendix B).

    y[:J_e] gives the exponent and y[J_e:] the mantissa; the unit is read from all of y: u = N_u(y).

    Args:
        width: J.
        units: number of units, the unknown one among them.
        centred: whether u has a mean of 0. What is added to all logits changes no probability, but u . u of eq. 4.
    """

    def __init__(self, width: int, units: int, centred: bool = False) -> None:
        super().__init__()
        self.centred = centred
        self.exponent = nn.Linear(width - mantissa_width(width), EXPONENTS)
        self.mantissa = nn.Linear(mantissa_width(width), 1)
        self.unit = nn.Linear(width, units)

    def exponents(self, vectors: Tensor) -> Tensor:
        """Logits of the exponents, shape (n, J) to (n, EXPONENTS)."""
        logits: Tensor = self.exponent(vectors[:, : self.exponent.in_features])
        return logits

    def mantissas(self, vectors: Tensor) -> Tensor:
        """Mantissas, shape (n, J) to (n,)."""
        predicted: Tensor = self.mantissa(vectors[:, self.exponent.in_features :])
        return predicted[:, 0]

    def units(self, vectors: Tensor) -> Tensor:
        """u, the logits of the units, shape (n, J) to (n, units)."""
        logits: Tensor = self.unit(vectors)
        return logits - logits.mean(dim=1, keepdim=True) if self.centred else logits


class OperatorHead(nn.Module):
    """Pr(op | y_a) = SoftMax(N_o(y_a)), over `OPERATORS` (*DeepQuant* eq. 1). It learns from what is relevant.

    Args:
        width: J.
    """

    def __init__(self, width: int) -> None:
        super().__init__()
        self.layers = nn.Sequential(nn.Linear(width, HIDDEN), nn.ReLU(), nn.Linear(HIDDEN, len(OPERATORS)))

    def forward(self, vectors: Tensor) -> Tensor:
        """Probabilities, shape (n, J) to (n, 3)."""
        return torch.softmax(self.layers(vectors), dim=1)


class Towers(nn.Module):
    """The two sides of the comparison networks (*DeepQuant* eq. 16), each with a network of two layers per operator.

        N(op, y_a, y_b) = sigmoid(N_op,q(y_a) . N_op,d(y_b))

    The paper has the dot product alone; the sigmoid puts it into [0, 1], where eq. 2, 3 and 6 need it.

    Args:
        width: J.
    """

    def __init__(self, width: int) -> None:
        super().__init__()
        self.queries = nn.ModuleList(self._side(width) for _ in OPERATORS)
        self.documents = nn.ModuleList(self._side(width) for _ in OPERATORS)

    @staticmethod
    def _side(width: int) -> nn.Module:
        return nn.Sequential(nn.Linear(width, HIDDEN), nn.ReLU(), nn.Linear(HIDDEN, HIDDEN))

    def query(self, vectors: Tensor) -> Tensor:
        """N_op,q, shape (n, J) to (n, 3, HIDDEN)."""
        return torch.stack([layers(vectors) for layers in self.queries], dim=1)

    def document(self, vectors: Tensor) -> Tensor:
        """N_op,d, shape (n, J) to (n, 3, HIDDEN)."""
        return torch.stack([layers(vectors) for layers in self.documents], dim=1)


def comparisons(queries: Tensor, documents: Tensor) -> Tensor:
    """Logits of N(op, y_a, y_b) for all pairs (*DeepQuant* eq. 16).

    Args:
        queries: shape (A, 3, HIDDEN), N_op,q of each query number.
        documents: shape (B, 3, HIDDEN), N_op,d of each document number.

    Returns:
        shape (A, B, 3); their sigmoid is N.
    """
    return torch.einsum("aoh,boh->abo", queries, documents)


def unit_attention(queries: Tensor, documents: Tensor, members: Tensor) -> Tensor:
    """rel(u_b | u_a) = exp(u_a . u_b) / the sum of that over the document's numbers (*DeepQuant* eq. 4).

    Args:
        queries, documents: u of query and document numbers, shape (A, units) and (B, units).
        members: shape (documents, m), int64: the numbers of each document, then -1.

    Returns:
        shape (A, documents, m); 0 where there is no number, and where there is one, 1 in sum over a document.
    """
    products = (queries @ documents.T)[:, members.clamp(min=0)]
    missing = members < 0
    # A document without numbers has no finite logit: its softmax is NaN before it is masked, and its gradient, too.
    shares = torch.softmax(products.masked_fill(missing, torch.finfo(products.dtype).min), dim=2)
    return shares.masked_fill(missing, 0.0)


def quantity_relevance(operators: Tensor, attention: Tensor, believed: Tensor, members: Tensor) -> Tensor:
    """Max over b of rel(b | a), for each a and document (*DeepQuant* eq. 5, 6 and the maximum of eq. 11).

        rel(b | a) = sum over op of Pr(op | y_a) rel(u_b | u_a) N(op, y_a, y_b)

    Args:
        operators: shape (A, 3), Pr(op | y_a).
        attention: shape (A, documents, m), from `unit_attention`.
        believed: shape (A, B, 3), N(op, y_a, y_b).
        members: as in `unit_attention`.

    Returns:
        shape (A, documents); 0 for a document without numbers.
    """
    marginal = torch.einsum("ao,abo->ab", operators, believed)
    relevance = attention * marginal[:, members.clamp(min=0)]
    if not members.shape[1]:
        return relevance.new_zeros(relevance.shape[:2])
    return relevance.amax(dim=2)


def regulariser(logits: Tensor) -> Tensor:
    """|1 - N=| exp(-|N< - N>|^2), the mean over pairs (*DeepQuant* eq. 2); shape ().

    Args:
        logits: of N, shape (A, B, 3).
    """
    if not logits.numel():
        return logits.sum()
    less, equal, more = torch.sigmoid(logits).unbind(dim=2)
    return ((1 - equal).abs() * torch.exp(-((less - more) ** 2))).mean()


def comparison_loss(logits: Tensor, holds: Tensor, *, as_printed: bool = False) -> Tensor:
    """The cross-entropy of N with whether "b op a" holds, over all pairs of the batch, whatever their units; shape ().

        the sum over op of - [b op a] log N - (1 - [b op a]) log(1 - N), the mean over pairs

    *DeepQuant* eq. 3 has the first term alone, which N = 1 for everything makes 0; the regulariser (eq. 2) is 0 there,
    too. "Cross-entropy", as the text calls it, has both.

    Args:
        logits: of N, shape (A, B, 3).
        holds: shape (A, B, 3), 1 where b op a holds.
        as_printed: the first term alone.
    """
    if not logits.numel():
        return logits.sum()
    if as_printed:
        return -(holds * logsigmoid(logits)).sum(dim=2).mean()
    return binary_cross_entropy_with_logits(logits, holds, reduction="none").sum(dim=2).mean()


def satisfaction_loss(
    operators: Tensor, believed: Tensor, holds: Tensor, asked: Tensor, own: tuple[Tensor, Tensor]
) -> Tensor:
    """Cross-entropy of eq. 6 with whether b satisfies a, where all units are the same; shape (), 0 without any.

    Which numbers satisfy the query follows from the operator asked with: it is supervised through its effect.

    Args:
        operators: Pr(op | y_a), shape (A, 3).
        believed: N(op, y_a, y_b), shape (A, B, 3).
        holds: shape (A, B, 3), 1 where b op a holds.
        asked: shape (A,), the operator that is asked with, as its place in `OPERATORS`; -1 where unknown.
        own: rows and columns of pairs that count once more, beside all pairs.
    """
    relevance = torch.einsum("ao,abo->ab", operators, believed).clamp(1e-6, 1 - 1e-6)
    wanted = holds.gather(2, asked.clamp(min=0)[:, None, None].expand(*relevance.shape, 1))[:, :, 0]
    losses = binary_cross_entropy(relevance, wanted, reduction="none")
    known = asked >= 0
    parts = losses[known].flatten(), losses[own][known[own[0]]]
    return sum((part.mean() for part in parts if len(part)), losses.new_zeros(()))


def reconstruction_loss(heads: NumberHeads, vectors: Tensor, mantissas: Tensor, exponents: Tensor) -> Tensor:
    """L_num = L_exp + L_man, cross-entropy and mean squared error (*DeepQuant* eq. 15); shape (), 0 without numbers.

    Args:
        heads: that read them off.
        vectors: shape (n, J).
        mantissas, exponents: shape (n,), the targets.
    """
    if not len(vectors):
        return vectors.sum()
    logits = heads.exponents(vectors)
    return cross_entropy(logits, exponents + MAX_EXPONENT) + mse_loss(heads.mantissas(vectors), mantissas)


def unit_loss(heads: NumberHeads, vectors: Tensor, units: Tensor) -> Tensor:
    """Cross-entropy of the unit (*DeepQuant* 3.3); shape (), 0 without numbers.

    Args:
        heads: that read it off.
        vectors: shape (n, J).
        units: shape (n,), numbers of a `UnitList`.
    """
    return cross_entropy(heads.units(vectors), units) if len(vectors) else vectors.sum()


def with_rows_of(layer: nn.Linear, places: Tensor) -> nn.Linear:
    """A layer whose outputs are those of another, in another order, with new ones where `places` is -1.

    Args:
        layer: to take weights from.
        places: shape (outputs,), an output of `layer` or -1.
    """
    # On the CPU, so that new weights are the same whatever the device.
    made, places = nn.Linear(layer.in_features, len(places)), places.cpu()
    known = places >= 0
    with torch.no_grad():
        made.weight[known] = layer.weight.cpu()[places[known]]
        made.bias[known] = layer.bias.cpu()[places[known]]
    return made.to(layer.weight.device)


def projected(vectors: Tensor, projection: nn.Linear) -> Tensor:
    """Token vectors for MaxSim: projected, then of length 1; shape (..., J) to (..., dimension)."""
    return torch.nn.functional.normalize(linear(vectors, projection.weight), dim=-1)


def max_sim(queries: Tensor, asked: Tensor, texts: Tensor, counted: Tensor) -> Tensor:
    """ColBERT's score: the sum over the query's tokens of the best product with the text's (*DeepQuant* eq. 7).

    Args:
        queries, texts: vectors of length 1, shape (q, i, d) and (t, j, d).
        asked, counted: which of them count, shape (q, i) and (t, j).

    Returns:
        shape (q, t); a text without a token that counts is as far as can be.
    """
    products = torch.einsum("qid,tjd->qtij", queries, texts)
    best = products.masked_fill(~counted[None, :, None, :], -1.0).amax(dim=3)
    return best.masked_fill(~asked[:, None, :], 0.0).sum(dim=2)
