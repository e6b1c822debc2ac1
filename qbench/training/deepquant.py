"""DeepQuant in training: InfoNCE on its score, and the losses that teach its numbers.

    L = L_retr + w_num (L_exp + L_man) + w_unit L_unit + w_comp L_comp + w_reg L_reg

Source: *DeepQuant* 3.10, eq. 2, 3, 15 and 17. The paper adds the losses up; a weight of 0 leaves one out (table 4).
w_num is 0.1 by default: a mantissa's squared error is up to 100, and its gradient drowns all others. The paper's
temperature of 0.02 is a scale of 50. A training needs the quantities of its texts: those of the benchmark.

Ours: with `numbers_first` the first steps learn to read and compare made-up numbers alone
(`qbench.training.made_numbers`), and which of them satisfy a query. Until the comparison networks tell values apart,
the quantities' part of the score is noise, and alpha learns to leave it out. With `numbers_every` such steps come back
among the others: the gradient of InfoNCE is some twenty times as long, and what was learnt is lost without them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar, cast

import numpy as np
from numpy.typing import NDArray

from qbench.models.encoders import require_neural
from qbench.models.numbers import OPERATORS, Number, UnitList, scientific
from qbench.models.single_vector import Role
from qbench.quantities.conditions import RELATIVE_TOLERANCE
from qbench.quantities.types import Quantity
from qbench.quantities.written import asked_numbers, stated_numbers
from qbench.randomness import generator
from qbench.training.batch import Batch
from qbench.training.made_numbers import STATED, carriers, made_numbers, with_values
from qbench.training.number_figures import number_figures
from qbench.training.numeric_labels import query_numbers, text_numbers
from qbench.training.outputs import Embedded, NumberedTexts, Outputs
from qbench.training.students import OwnStudent, cached, groups_of
from qbench.training.trainer import adamw, mixed_precision

if TYPE_CHECKING:
    from torch import Tensor
    from torch.optim import Optimizer

    from qbench.benchmark.types import Query
    from qbench.models.deepquant import Contextual, DeepQuant
    from qbench.training.recipes import ContrastiveRecipe
    from qbench.training.students import HeldOut

SCALE = 50.0
"""1 / tau: the paper's temperature is 0.02 (appendix D)."""


@dataclass
class DeepQuantStudent(OwnStudent):
    """DeepQuant.

    Attributes:
        network: the model.
        number_weight, unit_weight, comparison_weight, regular_weight: of L_exp + L_man, L_unit, L_comp and L_reg; with
            0 a loss is not computed.
        satisfaction_weight: of `qbench.models.number_layers.satisfaction_loss`, on made-up numbers.
        as_printed: L_comp as the paper prints it (see `qbench.models.number_layers.comparison_loss`).
        head_lr: peak learning rate of the layers of numbers.
        numbers_first: share of the steps, the first, that learn from made-up numbers alone.
        numbers_every: after those, every so many steps one does; 0 for none.
    """

    network: DeepQuant
    scale: float = SCALE
    number_weight: float = 0.1
    unit_weight: float = 1.0
    comparison_weight: float = 1.0
    regular_weight: float = 1.0
    satisfaction_weight: float = 1.0
    as_printed: bool = False
    head_lr: float = 1e-3
    numbers_first: float = 0.0
    numbers_every: int = 0

    reads_numbers: ClassVar[bool] = True

    def embed(self, texts: Sequence[str], role: Role) -> NumberedTexts:
        """Texts after the encoder, as if they had no numbers."""
        return self.embed_numbered(texts, role, [[] for _ in texts])

    def embed_queries(self, queries: Sequence[Query]) -> NumberedTexts:
        """Queries after the encoder, the values of their conditions as one token each."""
        texts = [query.text for query in queries]
        return self.embed_numbered(texts, "query", [asked_numbers(query.text, query.conditions) for query in queries])

    def embed_documents(self, texts: Sequence[str], mentions: Sequence[Sequence[Quantity]]) -> NumberedTexts:
        """Texts after the encoder, the values of their quantities as one token each."""
        numbers = [stated_numbers(text, some) for text, some in zip(texts, mentions, strict=True)]
        return self.embed_numbered(texts, "document", numbers)

    def embed_numbered(self, texts: Sequence[str], role: Role, numbers: Sequence[Sequence[Number]]) -> NumberedTexts:
        """Texts after the encoder, their numbers as one token each."""
        import torch
        from torch.nn.functional import pad

        groups = groups_of(texts, self.network.device, self.chunk)
        made = []
        for rows in groups:
            run = partial(self._contextual, role=role)
            group = [texts[i] for i in rows], [numbers[i] for i in rows]
            made.append(cached(run, group, self.chunk, self.network.device))
        tokens, most = (max(shape) for shape in zip(*(_widths(one) for one in made), strict=True))
        places = torch.tensor([row for group in groups for row in group])
        order = torch.argsort(places).to(self.network.device)
        vectors = torch.cat([pad(one[0], (0, 0, 0, tokens - one[0].shape[1])) for one in made])[order]
        words = torch.cat([pad(one[1], (0, tokens - one[1].shape[1])) for one in made])[order]
        where = torch.cat([pad(one[2], (0, most - one[2].shape[1]), value=-1) for one in made])[order]
        counts = (where >= 0).sum(dim=1).tolist()
        kept = [list(some[:count]) for some, count in zip(numbers, counts, strict=True)]
        return NumberedTexts(vectors, words, places=where, numbers=kept)

    def _contextual(self, group: tuple[list[str], list[Sequence[Number]]], role: Role) -> tuple[Tensor, Tensor, Tensor]:
        found = self.network.contextual(*group, role)
        return found.vectors, found.words, found.places

    def scores(self, queries: Embedded, texts: Embedded) -> Tensor:
        """The mixture of both scores (eq. 10), scaled, shape (queries, texts)."""
        return self.scale * self.network.parts(_contextual(queries), _contextual(texts)).score

    def loss(self, batch: Batch) -> Tensor:
        """The objective's loss of a batch, and those on its numbers; in some steps on made-up ones alone."""
        again = self.numbers_every and batch.step % self.numbers_every == 0
        if again or batch.step < self.numbers_first * batch.steps:
            made = self._made_numbers_loss(batch)
            if made is not None:
                return made
        queries, texts = self.embedded(batch)
        parts = self.network.parts(queries.contextual, texts.contextual)
        total = self.objective(batch, Outputs(self, queries, texts, self.scale * parts.score))
        for weight, loss in self.number_losses(queries, texts, parts.logits, self._holds(queries, texts)):
            total = total + weight * loss
        return total

    def _made_numbers_loss(self, batch: Batch) -> Tensor | None:
        """The loss on made-up numbers in the batch's queries and texts, shape (); None where none has a number.

        The weighted losses on numbers, and whether a stated number is relevant where it satisfies what is asked. Each
        asked value's own three count once more: among all pairs of a batch those that are the same are few.
        """
        import torch

        from qbench.models.number_layers import comparison_loss, comparisons, satisfaction_loss

        asking = self._read(carriers(batch.queries, query_numbers(batch)), "query")
        stating = self._read(carriers(batch.texts, text_numbers(batch)), "document")
        if not asking or not stating:
            return None
        network, device = self.network, self.network.device
        made = made_numbers(len(asking), generator(batch.seed, f"made numbers {batch.step}"))
        with mixed_precision(device, self.precision):
            queries = self.embed_numbered(*with_values(asking, made.asked, "query"))
            texts = self.embed_numbered(*with_values(stating, made.stated, "document"))
        asked, stated = queries.contextual.numbers, texts.contextual.numbers
        logits = comparisons(network.towers.query(asked), network.towers.document(stated))
        holds = self._holds(queries, texts)
        total = torch.zeros((), device=device)
        for weight, loss in self.number_losses(queries, texts, logits, holds):
            total = total + weight * loss
        own = torch.arange(len(made.stated), device=device) // STATED, torch.arange(len(made.stated), device=device)
        if self.comparison_weight:
            compared = comparison_loss(logits[own][:, None], holds[own][:, None], as_printed=self.as_printed)
            total = total + self.comparison_weight * compared
        if self.satisfaction_weight:
            operators = [OPERATORS.index(number.operator) if number.operator else -1 for (number,) in queries.numbers]
            satisfying = torch.tensor(operators, device=device)
            believed = network.operators(asked), torch.sigmoid(logits)
            total = total + self.satisfaction_weight * satisfaction_loss(*believed, holds, satisfying, own)
        return total

    def _read(self, carried: list[tuple[str, Number]], role: Role) -> list[tuple[str, Number]]:
        """Those whose number lies within the tokens that are read."""
        tokens = self.network.tokens([text for text, _ in carried], [[number] for _, number in carried], role)
        return [one for one, found in zip(carried, tokens, strict=True) if found.places]

    def embedded(self, batch: Batch) -> tuple[NumberedTexts, NumberedTexts]:
        """The queries and the texts of a batch, with their numbers."""
        queries, texts = super().embedded(batch)
        return cast("NumberedTexts", queries), cast("NumberedTexts", texts)

    def _holds(self, queries: NumberedTexts, texts: NumberedTexts) -> Tensor:
        """`comparison_holds` of all numbers of the queries and the texts, as floats, shape (A, B, 3)."""
        import torch

        asked, stated = ([number.value for some in side.numbers for number in some] for side in (queries, texts))
        return torch.from_numpy(comparison_holds(asked, stated)).float().to(self.network.device)

    def number_losses(
        self, queries: NumberedTexts, texts: NumberedTexts, logits: Tensor, holds: Tensor
    ) -> list[tuple[float, Tensor]]:
        """The losses that are switched on, each of shape (), with their weights.

        Args:
            queries, texts: embedded, with their numbers.
            logits: of N as in `Parts`, shape (A, B, 3).
            holds: what is true of these pairs, as `_holds` says.
        """
        import torch

        from qbench.models.number_layers import comparison_loss, reconstruction_loss, regulariser, unit_loss

        network, device = self.network, self.network.device
        numbers = [number for side in (queries, texts) for some in side.numbers for number in some]
        vectors = torch.cat([queries.contextual.numbers, texts.contextual.numbers])
        losses: list[tuple[float, Tensor]] = []
        if self.number_weight:
            mantissas, exponents = scientific([number.value for number in numbers])
            wanted = torch.from_numpy(mantissas).float().to(device), torch.from_numpy(exponents).to(device)
            losses.append((self.number_weight, reconstruction_loss(network.heads, vectors, *wanted)))
        if self.unit_weight:
            units = torch.from_numpy(network.units.ids([number.unit for number in numbers])).to(device)
            losses.append((self.unit_weight, unit_loss(network.heads, vectors, units)))
        if self.comparison_weight:
            loss = comparison_loss(logits, holds, as_printed=self.as_printed)
            losses.append((self.comparison_weight, loss))
        if self.regular_weight:
            losses.append((self.regular_weight, regulariser(logits)))
        return losses

    def optimizer(self, recipe: ContrastiveRecipe) -> Optimizer:
        """AdamW with a learning rate for encoder and projection, and one for the layers of numbers."""
        named = list(self.network.named_parameters())
        known = ("encoder.", "projection.")
        groups = [
            ([pair for pair in named if pair[0].startswith(known)], recipe.lr),
            ([pair for pair in named if not pair[0].startswith(known)], self.head_lr),
        ]
        return adamw(groups, recipe.weight_decay)

    def figures(self, held_out: HeldOut) -> dict[str, float]:
        """How well the heads read numbers: see `qbench.training.number_figures`."""
        return number_figures(self, held_out)


def _contextual(embedded: Embedded) -> Contextual:
    if not isinstance(embedded, NumberedTexts):
        raise TypeError("texts that a DeepQuant embedded are needed")
    return embedded.contextual


def _widths(made: tuple[Tensor, Tensor, Tensor]) -> tuple[int, int]:
    return made[0].shape[1], made[2].shape[1]


def comparison_holds(asked: Sequence[float], stated: Sequence[float]) -> NDArray[np.bool_]:
    """Whether b op a holds for each a of `asked`, b of `stated` and op of `OPERATORS`; their units do not matter.

    Returns:
        shape (asked, stated, 3).

    >>> comparison_holds([128], [300, 128, 64])[0].astype(int)
    array([[0, 0, 1],
           [0, 1, 0],
           [1, 0, 0]])
    """
    a, b = np.array(asked, dtype=np.float64)[:, None], np.array(stated, dtype=np.float64)[None, :]
    with np.errstate(over="ignore"):  # infinitely far apart
        same = np.abs(b - a) <= RELATIVE_TOLERANCE * np.maximum(np.abs(a), np.abs(b))
    return np.stack([(b < a) & ~same, same, (b > a) & ~same], axis=2)


def open_deepquant_student(
    model: str,
    *,
    units: Sequence[str] = (),
    text_score: Any = None,
    sigma: float = 1.0,
    centred_units: bool | None = None,
    **options: Any,
) -> DeepQuantStudent:
    """A DeepQuant ready to be trained: one that was saved, or a new one (`qbench.models.deepquant.deepquant_from`).

    A saved one keeps the units that it knows and learns those that it lacks: units are matched by name.

    Args:
        model: a folder, or a name on the hub.
        units: of the training data.
        text_score, sigma, centred_units: of the model.
        options: of `DeepQuantStudent`.

    Raises:
        InputError: it cannot be opened as one.
        OptionError: its encoder has no [CLS].
    """
    require_neural()  # its module imports torch
    from qbench.models.deepquant import deepquant_from

    network, start = deepquant_from(model, text_score=text_score, sigma=sigma, centred_units=centred_units)
    network.know(UnitList(network.config.units).with_units(units))
    return DeepQuantStudent(network, **{"start": start, **options})
