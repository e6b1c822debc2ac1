"""NumColBERT in training: a ColBERT that also learns to find numbers, to weigh them, to read and to compare them.

    L = L_retrieval + lambda_1 L_detect + lambda_2 L_info + lambda_3 L_contrast              (NumColBERT, eq. 1)

The gate has no loss of its own: it is in the scores of L_retrieval, the recipe's loss over texts. In training as at
search it is the norm of those tokens of a query that the detection head finds.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from qbench.models.multi_vector import load_multi_vector_encoder, token_offsets
from qbench.models.numbers import Number, UnitList
from qbench.models.numcolbert import add_numeric_heads, heads_of, save_numcolbert
from qbench.models.single_vector import Role
from qbench.quantities.conditions import BROKEN, MET
from qbench.quantities.types import Span
from qbench.training.losses.numeric import Contrast, classes, contrast, detection, value
from qbench.training.numeric_labels import NumericLabels, query_numbers, satisfaction, text_numbers, unsure_spans
from qbench.training.outputs import Embedded
from qbench.training.students import HeldOut, LateInteractionStudent, forward, padded
from qbench.training.trainer import adamw

if TYPE_CHECKING:
    from torch import Tensor
    from torch.optim import Optimizer

    from qbench.benchmark.types import Query
    from qbench.training.batch import Batch
    from qbench.training.outputs import Outputs
    from qbench.training.recipes import ContrastiveRecipe


@dataclass(frozen=True)
class NumericEmbedded(Embedded):
    """Texts as tensors, with what the heads need.

    Attributes:
        hidden: shape (texts, tokens, hidden size), the encoder's states.
        detected: shape (texts, tokens), the scores of the detection head.
    """

    hidden: Tensor = field(kw_only=True)
    detected: Tensor = field(kw_only=True)


@dataclass
class NumericStudent(LateInteractionStudent):
    """NumColBERT: MaxSim with gated norms, and the losses on numbers.

    Attributes:
        network: a MultiVectorEncoder with numeric heads.
        detect_weight, info_weight, contrast_weight: the lambdas of eq. 1; with 0 a loss is not computed.
        contrast: what makes a positive of the numeric contrastive loss.
        contrast_temperature: tau of that loss.
        head_lr: peak learning rate of the heads.
    """

    detect_weight: float = 1.0
    info_weight: float = 0.1
    contrast_weight: float = 0.1
    contrast: Contrast = "unit"
    contrast_temperature: float = 0.1
    head_lr: float = 1e-3

    def embed(self, texts: Sequence[str], role: Role) -> NumericEmbedded:
        """Token vectors, those of detected numbers in queries as long as their gates; padded."""
        from qbench.models.numeric_heads import HIDDEN, NUMERIC

        groups = forward(self.network, texts, role, self.chunk)
        return NumericEmbedded(
            padded(groups, "token_embeddings").float(),
            padded(groups, "attention_mask").bool(),
            hidden=padded(groups, HIDDEN).float(),
            detected=padded(groups, NUMERIC).float(),
        )

    def loss(self, batch: Batch) -> Tensor:
        """The objective's loss of a batch, and the weighted losses on its numbers (eq. 1)."""
        outputs = self.outputs(batch)
        total = self.objective(batch, outputs)
        for weight, part in zip(self.weights, self.numeric_losses(batch, outputs), strict=True):
            total = total + weight * part if weight else total
        return total

    @property
    def weights(self) -> tuple[float, float, float]:
        """The lambdas of eq. 1."""
        return self.detect_weight, self.info_weight, self.contrast_weight

    def numeric_losses(self, batch: Batch, outputs: Outputs) -> tuple[Tensor, Tensor, Tensor]:
        """L_detect, L_info and L_contrast of a batch, each of shape (); 0 where its weight is 0."""
        zero = outputs.scores.sum() * 0.0
        if not any(self.weights):
            return zero, zero, zero
        sides = self._sides(batch, outputs)
        return (
            self._detection(sides) if self.detect_weight else zero,
            self._information(sides) if self.info_weight else zero,
            self._contrast(batch, sides) if self.contrast_weight else zero,
        )

    def _sides(self, batch: Batch, outputs: Outputs) -> list[tuple[NumericLabels, Any]]:
        """The labels of queries and of texts, each with the tensors."""
        numbers = query_numbers(batch)
        rows = zip(batch.queries, numbers, batch.conditions, strict=True)
        queries = self._labels(batch.queries, "query", numbers, outputs.queries, [unsure_spans(*row) for row in rows])
        # The texts of a benchmark without quantities may have numbers anywhere.
        none: Sequence[Span] | None = () if batch.data.text_mentions.known else None
        unsure = [none] * len(batch.texts)
        texts = self._labels(batch.texts, "document", text_numbers(batch), outputs.texts, unsure)
        return [(queries, outputs.queries), (texts, outputs.texts)]

    def _labels(
        self,
        texts: Sequence[str],
        role: Role,
        numbers: Sequence[Sequence[Number]],
        embedded: Embedded,
        unsure: Sequence[Sequence[Span] | None],
    ) -> NumericLabels:
        width = embedded.vectors.shape[1]
        heads = heads_of(self.network)
        units = UnitList(heads.config.units if heads else ())
        return NumericLabels.of(numbers, token_offsets(self.network, texts, role, width), width, units, unsure)

    def _detection(self, sides: list[tuple[NumericLabels, Any]]) -> Tensor:
        """The mean over those tokens of queries and texts that are known, each side for itself."""
        import torch

        parts = []
        for labels, embedded in sides:
            counted = embedded.mask & torch.from_numpy(labels.known).to(embedded.mask.device)
            parts.append(detection(embedded.detected, torch.from_numpy(labels.owners >= 0), counted))
        return torch.stack(parts).mean()

    def _information(self, sides: list[tuple[NumericLabels, Any]]) -> Tensor:
        """The losses on values, units and, for queries, operators, summed; each the mean over tokens of both sides."""
        import torch

        heads: Any = heads_of(self.network)
        states, numbers = [], []
        for labels, embedded in sides:
            tokens, owners = _tokens(labels, embedded)
            states.append(embedded.hidden[tokens])
            numbers.append(owners)
        device = states[0].device

        def wanted(name: str) -> Tensor:
            both = [getattr(labels, name)[owners] for (labels, _), owners in zip(sides, numbers, strict=True)]
            return torch.from_numpy(np.concatenate(both)).to(device)

        hidden = torch.cat(states)
        return (
            value(heads.value(hidden), wanted("mantissas"), wanted("exponents"))
            + classes(heads.unit(hidden), wanted("units"))
            + classes(heads.operator(states[0]), wanted("operators")[: len(states[0])])
        )

    def _contrast(self, batch: Batch, sides: list[tuple[NumericLabels, Any]]) -> Tensor:
        import torch

        (queries, _), (texts, _) = sides
        vectors, owners = [], []
        for labels, embedded in sides:
            tokens, numbers = _tokens(labels, embedded)
            vectors.append(torch.nn.functional.normalize(embedded.vectors[tokens], dim=1))
            owners.append(numbers)
        losses = []
        for codes in satisfaction(batch, queries, texts, self.contrast):
            of_tokens = torch.from_numpy(codes[np.ix_(*owners)]).to(vectors[0].device)
            losses.append(
                contrast(vectors[0], vectors[1], of_tokens == MET, of_tokens == BROKEN, self.contrast_temperature)
            )
        return torch.stack(losses).mean()

    def optimizer(self, recipe: ContrastiveRecipe) -> Optimizer:
        """AdamW with a learning rate for the encoder, and one for the heads."""
        heads: Any = heads_of(self.network)
        own = {id(parameter) for parameter in heads.parameters()}
        named = list(self.network.named_parameters())
        groups = [
            ([pair for pair in named if id(pair[1]) not in own], recipe.lr),
            ([pair for pair in named if id(pair[1]) in own], self.head_lr),
        ]
        return adamw(groups, recipe.weight_decay)

    def figures(self, held_out: HeldOut) -> dict[str, float]:
        """How well the heads read queries: see `head_figures`."""
        return head_figures(self, held_out.queries)

    def _save(self, folder: Path) -> None:
        # The folder of a ColBERT, with the heads beside it.
        save_numcolbert(self.network, folder)


def _tokens(labels: NumericLabels, embedded: Embedded) -> tuple[Any, NDArray[np.int64]]:
    """Which token vectors are of numbers, as indices of tensors, and the number of each."""
    import torch

    rows, columns = np.nonzero((labels.owners >= 0) & embedded.counted.cpu().numpy())
    device = embedded.vectors.device
    return (torch.from_numpy(rows).to(device), torch.from_numpy(columns).to(device)), labels.owners[rows, columns]


def open_numeric_student(model: str, *, units: Sequence[str] = (), gate: bool = True, **options: Any) -> NumericStudent:
    """A NumColBERT ready to be trained: one that was saved, or a late-interaction model with new heads.

    Args:
        model: a folder, or a name on the hub.
        units: of the training data, that the unit head tells apart.
        gate: whether queries' numeric tokens get a norm.
        options: of `NumericStudent`.

    Raises:
        InputError: it cannot be opened as a late-interaction model.
    """
    encoder = load_multi_vector_encoder(model)
    new = heads_of(encoder.model) is None
    add_numeric_heads(encoder.model, units, gate=gate)
    start = "; ".join(filter(None, [encoder.start, "its numeric heads are not trained" if new else ""]))
    return NumericStudent(encoder.model, **{"start": start, **options})


def head_figures(student: NumericStudent, queries: Sequence[Query]) -> dict[str, float]:
    """How well the heads read held-out queries: F1 of detected tokens, accuracy of operators and of units.

    Args:
        student: whose heads are asked.
        queries: those whose conditions are written in their texts count.

    Returns:
        {} where no query has a number; a token of a number counts once.
    """
    import torch

    from qbench.quantities.written import asked_numbers

    numbers = [asked_numbers(query.text, query.conditions) for query in queries]
    told = [row for row, some in enumerate(numbers) if some]
    if not told:
        return {}
    texts = [queries[row].text for row in told]
    training = student.network.training
    student.network.eval()
    with torch.no_grad():
        embedded = student.embed(texts, "query")
        asking = [numbers[row] for row in told]
        unsure = [
            unsure_spans(text, some, queries[row].conditions)
            for text, some, row in zip(texts, asking, told, strict=True)
        ]
        labels = student._labels(texts, "query", asking, embedded, unsure)
        tokens, owners = _tokens(labels, embedded)
        heads: Any = heads_of(student.network)
        units, operators = (
            head(embedded.hidden[tokens]).argmax(dim=1).cpu().numpy() for head in (heads.unit, heads.operator)
        )
        detected = ((embedded.detected > 0) & embedded.counted).cpu().numpy() & labels.known
    student.network.train(training)
    numeric = (labels.owners >= 0) & embedded.counted.cpu().numpy()
    asked = labels.operators[owners]
    return {
        "detection_f1": float(2 * (detected & numeric).sum() / max(detected.sum() + numeric.sum(), 1)),
        "operator_accuracy": float((operators == asked)[asked >= 0].mean()) if (asked >= 0).any() else 0.0,
        "unit_accuracy": float((units == labels.units[owners]).mean()) if owners.size else 0.0,
    }
