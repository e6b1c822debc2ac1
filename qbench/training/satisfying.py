"""Negatives with the right value of something else: texts that only words can tell from a positive.

The negatives that a benchmark's triples have differ in a value or a unit, and those of a batch mostly in everything. A
model whose scores know values already learns nothing from the former, and little from the latter.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from qbench.errors import InputError
from qbench.number_sets import in_both, sorted_set
from qbench.quantities.conditions import MET, verdicts
from qbench.quantities.types import Condition
from qbench.randomness import generator
from qbench.training.triples import Drawn, Triples, Values

MOST = 64
"""Texts that are kept of a query."""


def satisfying(stated: Mapping[str, Values], conditions: Sequence[Condition]) -> NDArray[np.int64]:
    """The texts that have, for each of some conditions, a quantity that satisfies it; ascending, none without any.

    Args:
        stated: the quantities of the texts.
        conditions: of a query.
    """
    found: NDArray[np.int64] | None = None
    for condition in conditions:
        of_unit = stated.get(condition.base_unit)
        if of_unit is None:
            return np.empty(0, np.int64)
        met = verdicts(of_unit.low, of_unit.high, of_unit.comparators, condition, of_unit.changes) == MET
        texts = sorted_set(of_unit.texts[met])
        found = texts if found is None else in_both(found, texts)
    return np.empty(0, np.int64) if found is None else found


@dataclass(frozen=True)
class SatisfyingTexts:
    """For each query, texts whose quantities satisfy its conditions and that cannot satisfy it.

    Attributes:
        data: queries and texts.
        seed: of the choice of `MOST` of them.
    """

    data: Triples
    seed: int

    @cached_property
    def _texts(self) -> dict[int, list[int]]:
        return {query: list(self._chosen(query)) for query in np.unique(self.data.query).tolist()}

    def _chosen(self, query: int) -> Iterator[int]:
        texts = satisfying(self.data.stated, self.data.queries[query].conditions)
        order = generator(self.seed, "satisfying texts", self.data.queries[query].query_id).permutation(len(texts))
        kept = 0
        for text in texts[order].tolist():
            if kept == MOST:
                return
            if not self.data.may_satisfy(query, text):
                kept += 1
                yield text

    def added(self, drawn: Sequence[Drawn], count: int, epoch: str) -> list[Drawn]:
        """Drawn queries with further negatives, at most `count` each.

        Args:
            drawn: queries with their positives and negatives.
            count: of further negatives.
            epoch: what the draw depends on, beside the seed.

        Raises:
            InputError: no query has any.
        """
        if not any(self._texts.values()):
            message = "no text has quantities that satisfy a query and is of something else, by its words"
            raise InputError(message, remedy="Leave --satisfying out")
        random = generator(self.seed, "satisfying negatives", epoch)
        more = []
        for query, positive, negatives in drawn:
            pool = [text for text in self._texts[query] if text != positive]
            some = [pool[place] for place in random.permutation(len(pool))[:count].tolist()]
            more.append((query, positive, list(dict.fromkeys([*negatives, *some]))))
        return more
