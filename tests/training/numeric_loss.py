"""InfoNCE, and the numeric contrast of NumColBERT in small: a query's number lies near the numbers that satisfy it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from qbench.models.single_vector import Role
from qbench.quantities.conditions import verdict
from qbench.quantities.types import Span
from qbench.training.batch import Batch
from qbench.training.losses.ranking import info_nce

if TYPE_CHECKING:
    from torch import Tensor

    from qbench.training.outputs import Embedded, Outputs


def numeric_contrast(batch: Batch, outputs: Outputs) -> Tensor:
    """InfoNCE, and -log of the share of the numbers that satisfy a query among those near its number; shape ()."""
    import torch

    def numbers(embedded: Embedded, texts: Sequence[str], role: Role, spans: Sequence[Sequence[Span]]) -> Tensor:
        """The mean vector of each text's numbers, shape (texts, dimension)."""
        within = outputs.student.tokens_within(texts, role, spans, embedded.vectors.shape[1])
        weights = outputs.tensor(within).float()[:, :, None]
        return (embedded.vectors * weights).sum(1) / weights.sum(1).clamp(min=1)

    wanted = [[condition.value for condition in spans if condition.value] for spans in batch.condition_spans]
    stated = [[mention.value_span for mention in mentions] for mentions in batch.mentions]
    queries = numbers(outputs.queries, batch.queries, "query", wanted)
    texts = numbers(outputs.texts, batch.texts, "document", stated)
    met = torch.tensor(
        [
            [all(any(verdict(m, c) == "met" for m in mentions) for c in conditions) for mentions in batch.mentions]
            for conditions in batch.conditions
        ],
        device=texts.device,
    )
    shares = (torch.softmax(queries @ texts.T, dim=1) * met).sum(1)
    return info_nce(batch, outputs) - torch.where(met.any(dim=1), shares, 1.0).log().mean()
