"""Losses over a batch of queries and texts: a table of functions.

A loss is a function of a file here and a row of `LOSSES`; recipes, the command line and experiments then know its name.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from qbench.training.losses.ranking import info_nce, pairwise

if TYPE_CHECKING:
    from torch import Tensor

    from qbench.training.batch import Batch
    from qbench.training.outputs import Outputs

Objective = Callable[["Batch", "Outputs"], "Tensor"]
"""The loss of a batch, shape (), from what the student gives for its queries and texts."""


@dataclass(frozen=True)
class Loss:
    """One row of the table.

    Attributes:
        objective: the function.
        help: what a query's positive is compared with, for `--help`.
        batch_negatives: whether texts of other queries in the batch are among them.
    """

    objective: Objective
    help: str
    batch_negatives: bool = False


LOSSES: dict[str, Loss] = {
    "infonce": Loss(
        info_nce,
        "against a query's own negatives and the other texts of its batch that cannot satisfy it",
        batch_negatives=True,
    ),
    "pairwise": Loss(pairwise, "against its own negatives, one at a time"),
}
