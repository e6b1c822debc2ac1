"""What a loss sees of a batch: queries with their conditions, texts with their mentions, and what is compared."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from qbench.benchmark.types import Query
from qbench.quantities.types import Condition, Quantity
from qbench.quantities.written import ConditionSpans
from qbench.training.triples import Drawn, Triples


@dataclass(frozen=True)
class Batch:
    """n queries, and the t texts of their positives and negatives.

    Attributes:
        data: the triples that it was drawn from.
        query_rows: shape (n,), positions in `data.queries`.
        text_rows: shape (t,), positions in `data.texts`, each once.
        positives: shape (n,), the column of each query's positive.
        own: shape (n, t), bool: each query's own negatives.
        compared: shape (n, t), bool: own negatives, the positive, and every other text that cannot satisfy the query.
        step, steps: of the optimiser, from 0, and in the whole training.
        seed: of what a loss draws.
    """

    data: Triples
    query_rows: Sequence[int]
    text_rows: Sequence[int]
    positives: NDArray[np.int64]
    own: NDArray[np.bool_]
    compared: NDArray[np.bool_]
    step: int = 0
    steps: int = 1
    seed: int = 0

    @classmethod
    def of(cls, data: Triples, drawn: Sequence[Drawn], step: int = 0, steps: int = 1, seed: int = 0) -> Batch:
        """The batch of some drawn queries, each with a positive and negatives of its own."""
        texts = list(dict.fromkeys(text for _, positive, negatives in drawn for text in (positive, *negatives)))
        column = {text: number for number, text in enumerate(texts)}
        positives = np.array([column[positive] for _, positive, _ in drawn], dtype=np.int64)
        own = np.zeros((len(drawn), len(texts)), dtype=bool)
        compared = np.zeros_like(own)
        for row, (query, _, negatives) in enumerate(drawn):
            own[row, [column[text] for text in negatives]] = True
            compared[row] = [not data.may_satisfy(query, text) for text in texts]
        compared |= own
        compared[np.arange(len(drawn)), positives] = True
        return cls(data, [query for query, _, _ in drawn], texts, positives, own, compared, step, steps, seed)

    @property
    def asked(self) -> list[Query]:
        """The queries, n of them."""
        return [self.data.queries[row] for row in self.query_rows]

    @cached_property
    def queries(self) -> list[str]:
        """The texts of the queries."""
        return [query.text for query in self.asked]

    @cached_property
    def texts(self) -> list[str]:
        """The texts that they are compared with, t of them."""
        return [self.data.texts[row] for row in self.text_rows]

    @property
    def conditions(self) -> list[tuple[Condition, ...]]:
        """The conditions of each query; () where they are unknown."""
        return [query.conditions for query in self.asked]

    @cached_property
    def condition_spans(self) -> list[tuple[ConditionSpans, ...]]:
        """Where each query's text has the value and the unit of each of its conditions."""
        return [self.data.condition_spans(row) for row in self.query_rows]

    @cached_property
    def mentions(self) -> list[tuple[Quantity, ...]]:
        """The quantities of each text, with their spans in it; () where nobody extracted them."""
        return [self.data.mentions(row) for row in self.text_rows]
