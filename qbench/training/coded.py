"""CodedColBERT in training: late interaction learns words while codes compare the quantities.

The scores of a batch are those of `qbench.retrieval.coded`: token vectors with codes behind them, of which the vectors
are learnt and the codes are not. A text that does not satisfy a condition is far behind already, and what is left to
learn is whose value it is. The checkpoint is a ColBERT.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
import polars as pl

from qbench.models.multi_vector import token_offsets
from qbench.models.single_vector import Role
from qbench.quantities.types import Quantity, Span, quantity_schema, to_row
from qbench.quantities.units import load_units
from qbench.retrieval.coded import mention_tokens, search_tokens, searched_tokens, value_code
from qbench.retrieval.coded_weights import CODE_WEIGHT, TOKEN_WEIGHT
from qbench.scoring.value_code import DIMENSION, ValueCode
from qbench.training.outputs import Embedded
from qbench.training.students import LateInteractionStudent

if TYPE_CHECKING:
    from qbench.benchmark.benchmark import Benchmark
    from qbench.benchmark.types import Query
    from qbench.training.triples import Triples

Copies = list[tuple[int, float, Any]]
"""Of a text: the tokens that stand once more among its vectors, each with its weight and the code behind it."""


@dataclass
class CodedStudent(LateInteractionStudent):
    """Late interaction over vectors of the model and codes of quantities.

    Attributes:
        network: a MultiVectorEncoder.
        code: the grids of the corpus' units.
        token_weight, code_weight: of `CodedColBERT`; `term_weight` is left out.
    """

    code: ValueCode = field(default_factory=lambda: ValueCode({}))
    token_weight: float = TOKEN_WEIGHT
    code_weight: float = CODE_WEIGHT

    reads_numbers: ClassVar[bool] = True

    def embed_queries(self, queries: Sequence[Query]) -> Embedded:
        """The vectors of queries, and those of their search words once more for each condition, with its code."""
        texts = [query.text for query in queries]
        embedded = self.embed(texts, "query")
        offsets = self._offsets(texts, "query", embedded)
        return with_copies(embedded, [self._asked(*one) for one in zip(queries, offsets, strict=True)])

    def embed_documents(self, texts: Sequence[str], mentions: Sequence[Sequence[Quantity]]) -> Embedded:
        """The vectors of texts, and those of each mention's tokens once more, with its code."""
        embedded = self.embed(texts, "document")
        offsets = self._offsets(texts, "document", embedded)
        return with_copies(embedded, [self._stated(*one) for one in zip(mentions, offsets, strict=True)])

    def _offsets(self, texts: Sequence[str], role: Role, embedded: Embedded) -> list[list[Span]]:
        """The characters of each text's tokens that are read; (0, 0) for those that do not count."""
        counted = embedded.counted.cpu().numpy()
        found = token_offsets(self.network, texts, role, counted.shape[1])
        return [
            [offset if counts else (0, 0) for offset, counts in zip(some, row, strict=False)]
            for some, row in zip(found, counted, strict=True)
        ]

    def _asked(self, query: Query, offsets: Sequence[Span]) -> Copies:
        if not query.conditions:
            return []
        searched = searched_tokens(query.text, offsets, query.conditions, query.terms)
        meant = search_tokens(query.text, offsets, query.conditions, searched)
        copies: Copies = []
        for condition, own in zip(query.conditions, meant, strict=True):
            code = self.code_weight / len(own) * self.code.condition(condition)
            copies += [(place, self.token_weight / len(own), code) for place in own]
        return copies

    def _stated(self, mentions: Sequence[Quantity], offsets: Sequence[Span]) -> Copies:
        copies: Copies = []
        for mention in mentions:
            own = np.flatnonzero(mention_tokens(offsets, mention)).tolist()
            copies += [(place, 1.0, code) for code in self.code.mention(mention) for place in own]
        return copies


def with_copies(embedded: Embedded, copies: Sequence[Copies]) -> Embedded:
    """Token vectors with zeros behind them, and behind these some of them once more, weighted, with their codes.

    Args:
        embedded: n texts, vectors of shape (n, tokens, dimension).
        copies: of each text.

    Returns:
        vectors of shape (n, tokens + most copies, dimension + DIMENSION).
    """
    import torch

    texts, width = embedded.vectors.shape[0], max((len(some) for some in copies), default=0)
    places, there = np.zeros((texts, width), np.int64), np.zeros((texts, width), bool)
    weights, codes = np.zeros((texts, width), np.float32), np.zeros((texts, width, DIMENSION), np.float32)
    for row, some in enumerate(copies):
        there[row, : len(some)] = True
        for column, (place, weight, code) in enumerate(some):
            places[row, column], weights[row, column], codes[row, column] = place, weight, code
    at, factors, behind = (torch.from_numpy(array).to(embedded.vectors.device) for array in (places, weights, codes))
    again = embedded.vectors.gather(1, at[:, :, None].expand(-1, -1, embedded.vectors.shape[2])) * factors[:, :, None]
    own = torch.nn.functional.pad(embedded.vectors, (0, DIMENSION))
    vectors = torch.cat([own, torch.cat([again, behind], dim=2)], dim=1)
    return Embedded(vectors, torch.cat([embedded.counted, torch.from_numpy(there).to(at.device)], dim=1))


def code_of(benchmarks: Sequence[Benchmark], data: Sequence[Triples]) -> ValueCode:
    """The grids of the units of all documents, and of the samples that were made from them.

    Args:
        benchmarks: whose documents they are.
        data: their triples.
    """
    tables = [one.quantities for one in benchmarks if one.quantities is not None]
    for triples in data:
        rows = [to_row("", one) for text in range(len(triples.texts)) for one in triples.mentions(text)]
        tables.append(pl.DataFrame(rows, schema=quantity_schema()))
    columns = "unit", "base_unit", "family", "change", "base_value", "base_high", "comparator"
    return value_code(pl.concat([table.select(columns) for table in tables]), load_units())
