"""NumColBERT's heads on the hidden states of an encoder; this module imports torch: import it inside functions.

With h_i the encoder's hidden state of token i, before the projection (NumColBERT, section 2):

    detection   token i is part of a number where w_d h_i + b_d > 0           used at search
    gate        norm of a query's numeric token = softplus(w_g h_i + b_g)     used at search
    value       (mantissa, exponent) / 10 = W_v h_i + b_v                     in training only
    unit        softmax(W_u h_i + b_u) over a list of units                   in training only
    operator    softmax(W_o h_i + b_o) over < = >, for queries                in training only

The paper does not say how a gate becomes positive: softplus has no upper end, so that a number can count for more
than a word, which has norm 1. At the start every norm is 1, and the model searches as the ColBERT that it is made of.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, ClassVar

import torch
from torch import Tensor, nn

from qbench.models.numbers import OPERATORS

HIDDEN, NUMERIC = "hidden_states", "numeric_scores"
"""Names among the features: hidden states, shape (texts, tokens, size); the detection head's, (texts, tokens)."""

_NORM_ONE = math.log(math.e - 1)
"""softplus of it is 1."""


@dataclass(frozen=True)
class HeadsConfig:
    """What the heads are.

    Attributes:
        hidden_size: numbers in a hidden state.
        units: names that the unit head tells apart, in the order of a `UnitList`.
        gate: whether queries' numeric tokens get a norm; else all have length 1, as in ColBERT.
    """

    hidden_size: int
    units: tuple[str, ...] = ()
    gate: bool = True

    def __post_init__(self) -> None:
        object.__setattr__(self, "units", tuple(self.units))  # JSON has lists


class HiddenStates(nn.Module):
    """Keeps an encoder's hidden states among the features, where the projection replaces them."""

    def forward(self, features: dict[str, Any]) -> dict[str, Any]:
        """The features with the hidden states under their name, too."""
        features[HIDDEN] = features["token_embeddings"]
        return features


class NumericHeads(nn.Module):
    """The last step of a late-interaction model: detects numeric tokens, and sets their norms in queries.

    Attributes:
        config: sizes, units, and whether there is a gate.
    """

    forward_kwargs: ClassVar[set[str]] = {"task"}
    """What sentence-transformers passes on."""

    def __init__(self, config: HeadsConfig) -> None:
        super().__init__()
        self.config = config
        self.detection = nn.Linear(config.hidden_size, 1)
        self.gate = nn.Linear(config.hidden_size, 1)
        self.value = nn.Linear(config.hidden_size, 2)
        self.unit = nn.Linear(config.hidden_size, len(config.units) + 1)
        self.operator = nn.Linear(config.hidden_size, len(OPERATORS))
        for head, bias in ((self.detection, 0.0), (self.gate, _NORM_ONE)):
            nn.init.zeros_(head.weight)
            nn.init.constant_(head.bias, bias)

    def forward(self, features: dict[str, Any], task: str | None = None) -> dict[str, Any]:
        """The features with the scores of detection, and in queries with the vectors' norms.

        Args:
            features: `token_embeddings`, shape (texts, tokens, dimension), of length 1; `attention_mask`; `HIDDEN`.
            task: "query" or "document", whose vectors stay as they are.
        """
        hidden: Tensor = features[HIDDEN]
        scores = features[NUMERIC] = self.detection(hidden).squeeze(-1)
        if task == "query" and self.config.gate:
            numeric = (scores > 0) & features["attention_mask"].bool()
            norms = nn.functional.softplus(self.gate(hidden)).where(numeric[..., None], 1.0)
            features["token_embeddings"] = features["token_embeddings"] * norms
        return features

    def take_over(self, other: NumericHeads, places: Any) -> None:
        """Put the weights of other heads into these.

        Args:
            other: of the same hidden size.
            places: shape (units + 1,), where the other's unit head has each unit; -1 for a unit that it lacks, whose
                weights stay as they are.
        """
        with torch.no_grad():
            for name in ("detection", "gate", "value", "operator"):
                getattr(self, name).load_state_dict(getattr(other, name).state_dict())
            at = torch.as_tensor(places)
            known = at >= 0
            self.unit.weight[known] = other.unit.weight[at[known]]
            self.unit.bias[known] = other.unit.bias[at[known]]
