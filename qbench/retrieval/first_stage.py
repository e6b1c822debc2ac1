"""One first stage with its quantity score or filter, from the scores of all documents or from a list of those found."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import cast

from qbench.retrieval import whole
from qbench.retrieval.binding_index import BindingIndex
from qbench.retrieval.finishing import (
    Conditions,
    best_of,
    filtered,
    ranked,
    with_binding,
    with_quantity_score,
    with_satisfying,
)
from qbench.retrieval.quantity_index import QuantityIndex
from qbench.retrieval.rankers import Candidates, Ranker, Search, SumRanker
from qbench.retrieval.systems import Stage
from qbench.scoring.binding import Asked, load_loops
from qbench.work.pool import in_threads


@dataclass(frozen=True)
class Input:
    """What a first stage is asked for one query.

    Attributes:
        search: as the ranker takes it.
        conditions: the query's.
        asked: the query as Bind asks it; None for other stages.
    """

    search: Search
    conditions: Conditions
    asked: Asked | None = None


class FirstStage:
    """Ranks documents.

    Args:
        stage: the first stage of a system.
        ranker: its model.
        index: the documents' quantities; None for a stage that needs none.
        binding: the index of Bind; None for other stages.
        depth: number of documents that are kept.
    """

    def __init__(
        self, stage: Stage, ranker: Ranker, index: QuantityIndex | None, binding: BindingIndex | None, depth: int
    ) -> None:
        self.stage, self.ranker, self.index, self.binding, self.depth = stage, ranker, index, binding, depth
        self.options = stage.quantity_options()
        # A list, where quantities are of the best k alone; and where `pool` takes whoever is first, own being 0.
        # Loops are loaded now and not in the time of the first query.
        if binding is not None:
            load_loops(binding.records, binding.entries)
        weighs = not stage.binds or min(self.options.own, self.options.satisfied) > 0
        self._from_sums = bool(stage.quantity) and not stage.takes_best and weighs

    def from_sums(self, inputs: Sequence[Input]) -> list[Candidates] | None:
        """The rankings of many queries, on all cores; None where one of them is better answered by `from_list`."""
        if not self._from_sums or not isinstance(self.ranker, SumRanker):
            return None
        made = in_threads(self._whole, inputs)
        return None if any(ranking is None for ranking in made) else cast("list[Candidates]", made)

    def from_list(self, hits: Candidates, one: Input) -> Candidates:
        """The ranking of one query.

        Args:
            hits: what the ranker found.
            one: the query.
        """
        if self.binding is not None:
            if self.stage.finds_terms:
                hits = with_satisfying(hits, self.binding, cast("Asked", one.asked))
            hits = with_binding(hits, self.binding, cast("Asked", one.asked), self.options, self.depth)
        elif self.index is not None and self.stage.filters:
            hits = filtered(hits, self.index, one.conditions)
        elif self.index is not None:
            if self.stage.takes_best:
                hits = best_of(hits, self.stage.k)
            hits = with_quantity_score(hits, self.ranker, one.search, self.index, one.conditions, self.options)
        return ranked(hits, self.depth)

    def _whole(self, one: Input) -> Candidates | None:
        ranker = cast("SumRanker", self.ranker)
        if (sums := ranker.sums(one.search)) is None:
            return None
        if self.binding is not None:
            return whole.best_with_binding(sums, self.binding, cast("Asked", one.asked), self.options, self.depth)
        index = cast("QuantityIndex", self.index)
        if self.stage.filters:
            return whole.best_filtered(sums, index, one.conditions, self.depth)
        return whole.best_with_quantities(sums, ranker, one.search, index, one.conditions, self.options, self.depth)
