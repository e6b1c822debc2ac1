"""What a model that learns gives for a batch, as losses take it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
from numpy.typing import NDArray

from qbench.models.single_vector import Role
from qbench.quantities.types import Span
from qbench.training.batch import Batch

if TYPE_CHECKING:
    from torch import Tensor

    from qbench.models.deepquant import Contextual
    from qbench.models.numbers import Number


@dataclass(frozen=True)
class Embedded:
    """Texts as tensors.

    Attributes:
        vectors: shape (texts, dimension), or (texts, tokens, dimension) for late interaction.
        mask: shape (texts, tokens), bool, the tokens that count; None where a text is one vector.
    """

    vectors: Tensor
    mask: Tensor | None = None

    @property
    def counted(self) -> Tensor:
        """Which of the token vectors count, shape (texts, tokens), bool: all of them without a mask."""
        return self.vectors.new_ones(self.vectors.shape[:2]).bool() if self.mask is None else self.mask


@dataclass(frozen=True)
class NumberedTexts(Embedded):
    """Texts after DeepQuant's encoder.

    Attributes:
        vectors: shape (texts, tokens, J), of all tokens.
        mask: shape (texts, tokens), bool, the tokens that take part in MaxSim.
        places: shape (texts, m), the token of each number, then -1.
        numbers: those of each text that are among its tokens.
    """

    places: Tensor = field(kw_only=True)
    numbers: list[list[Number]] = field(kw_only=True)

    @property
    def contextual(self) -> Contextual:
        """The same, as the model takes it."""
        from qbench.models.deepquant import Contextual

        return Contextual(self.vectors, self.counted, self.places)


@dataclass(frozen=True)
class Outputs:
    """What a model gives for a batch of n queries and t texts.

    Attributes:
        student: the model; a loss may ask its network for more.
        queries, texts: their vectors.
        scores: shape (n, t), scaled as the softmax of a loss takes them.
    """

    student: Scorer
    queries: Embedded
    texts: Embedded
    scores: Tensor

    def tensor(self, array: NDArray[Any]) -> Tensor:
        """An array of the batch, on the device of the scores."""
        import torch

        return torch.from_numpy(array).to(self.scores.device)


class Scorer(Protocol):
    """A model that scores batches: `qbench.training.students.Student`, as losses see it.

    Attributes:
        network: its model.
    """

    network: Any

    def outputs(self, batch: Batch) -> Outputs:
        """Vectors and scores of a batch."""
        ...

    def tokens_within(
        self, texts: Sequence[str], role: Role, spans: Sequence[Sequence[Span]], width: int
    ) -> NDArray[np.bool_]:
        """Which token vectors of texts stand for characters within some spans: what a loss on mentions needs.

        Args:
            texts: n of them.
            role: as they were embedded.
            spans: half-open character spans in each text.
            width: number of token vectors of a text, as `embed` gives them.

        Returns:
            shape (n, width). Markers, padding and tokens that were cut off are within no span.

        Raises:
            OptionError: the model has one vector for each text.
        """
        ...
