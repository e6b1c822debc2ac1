"""Stages of systems -> rankers that are ready to search."""

from __future__ import annotations

from typing import TYPE_CHECKING

from qbench.lazy import object_at
from qbench.retrieval.entries import REGISTRY

if TYPE_CHECKING:
    from qbench.retrieval.rankers import OpenedRanker, RankerContext
    from qbench.retrieval.registry import Registry
    from qbench.retrieval.systems import Stage


def open_ranker(stage: Stage, context: RankerContext, registry: Registry = REGISTRY) -> OpenedRanker:
    """A ranker ready to search and to score, its index built if it is not there yet.

    The entry of the stage's model names a function `open_x(stage, options, context)`, which gets the stage whole, with
    its compression, and the model's options as the entry's dataclass.

    Args:
        stage: of a system.
        context: the corpus, and the folder of indexes.
        registry: the known components.
    """
    opener = stage.entry(registry).opener
    if isinstance(opener, str):
        opener = object_at(opener)
    opened: OpenedRanker = opener(stage, stage.options(registry), context)
    return opened
