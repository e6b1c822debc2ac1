"""The held-out queries that choose the best weights: nDCG@10 on a small pool of documents."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
import polars as pl
from numpy.typing import NDArray

from qbench.benchmark.types import Query, Split
from qbench.errors import InputError
from qbench.evaluation.measures import score_run
from qbench.models.numbers import Number
from qbench.quantities.written import asked_numbers, stated_numbers
from qbench.randomness import generator
from qbench.retrieval.passages import passages
from qbench.retrieval.types import run_schema
from qbench.scoring.ranking import top_k
from qbench.training.mentions import Mentions
from qbench.training.triples import lexical_best

if TYPE_CHECKING:
    from qbench.benchmark.benchmark import Benchmark
    from qbench.training.students import Student

MEASURE = "nDCG@10"
DEEP, RELEVANT = 20, 10
"""Number of documents of a query that enter the pool: the best of BM25, and relevant ones."""

BLOCK = 256
"""Number of documents embedded together."""


@dataclass(frozen=True)
class DevPool:
    """Held-out queries, and the pool of documents that is ranked for them.

    Attributes:
        queries: those that have a relevant document.
        doc_ids, texts: shape (documents,), by falling id, so that a lower position wins a tie.
        qrels: of these queries and documents.
        mentions: the documents' quantities.
    """

    queries: Sequence[Query]
    doc_ids: pl.Series
    texts: Sequence[str]
    qrels: pl.DataFrame
    mentions: Mentions

    @cached_property
    def query_numbers(self) -> list[list[Number]]:
        """The numbers of each query's conditions."""
        return [asked_numbers(query.text, query.conditions) for query in self.queries]

    @cached_property
    def text_numbers(self) -> list[list[Number]]:
        """The numbers of each document's quantities."""
        return [stated_numbers(text, self.mentions.of(place)) for place, text in enumerate(self.texts)]

    def score(self, student: Student) -> float:
        """Mean nDCG@10 of a model."""
        ranked = [top_k(row, 10) for row in _all_scores(student, self)]
        run = pl.DataFrame(
            {
                "query_id": np.repeat([q.query_id for q in self.queries], [len(row) for row in ranked]),
                "doc_id": self.doc_ids.gather(np.concatenate(ranked)),
                "rank": np.concatenate([np.arange(1, len(row) + 1, dtype=np.int32) for row in ranked]),
                "score": np.concatenate([-np.arange(len(row), dtype=float) for row in ranked]),
            },
            schema=run_schema(),
        )
        scores = score_run(run, self.qrels, [MEASURE], [q.query_id for q in self.queries])
        return float(scores["value"].mean())  # type: ignore[arg-type]


def _all_scores(student: Student, pool: DevPool) -> NDArray[np.float64]:
    """Shape (queries, texts), without gradients.

    Raises:
        InputError: a score is not finite.
    """
    import torch

    training = student.network.training
    student.network.eval()
    blocks = []
    with torch.no_grad():
        texts = pool.texts
        mentions = [pool.mentions.of(i) if student.reads_numbers else () for i in range(len(texts))]
        embedded = student.embed_queries(pool.queries)
        # Texts of similar length together: padding is what costs.
        order = sorted(range(len(texts)), key=lambda i: len(texts[i]))
        for start in range(0, len(texts), BLOCK):
            rows = order[start : start + BLOCK]
            block = student.embed_documents([texts[i] for i in rows], [mentions[i] for i in rows])
            blocks.append(student.scores(embedded, block).double().cpu().numpy())
    student.network.train(training)
    scores: NDArray[np.float64] = np.concatenate(blocks, axis=1)[:, np.argsort(order)]
    if not np.isfinite(scores).all():
        raise InputError("the model gives vectors that are not finite", remedy="Start from another checkpoint")
    return scores


def dev_pool(benchmark: Benchmark, most: int, seed: int, split: Split = "dev") -> DevPool | None:
    """The pool of a benchmark's dev split, or of another; None where it has no judged query.

    Args:
        benchmark: with that split.
        most: largest number of queries, which are drawn at random.
        seed: of the draw.
        split: whose queries they are.
    """
    relevant = benchmark.qrels.filter(pl.col("grade") > 0)
    judged = set(relevant["query_id"])
    queries = [query for query in benchmark.queries_of(split) if query.query_id in judged]
    if not queries or most < 1:
        return None
    order = generator(seed, "dev queries").permutation(len(queries))[:most]
    queries = [queries[i] for i in sorted(order.tolist())]
    corpus = passages(benchmark.corpus).rename({"passage": "text"})  # by falling doc_id
    ids = [query.query_id for query in queries]
    best = relevant.filter(pl.col("query_id").is_in(ids)).sort("query_id", "grade", "doc_id", descending=True)
    chosen = set(best.group_by("query_id", maintain_order=True).head(RELEVANT)["doc_id"])
    for ranked in lexical_best(corpus["text"], [query.text for query in queries], DEEP):
        chosen.update(corpus["doc_id"].gather(ranked))
    pool = corpus.filter(pl.col("doc_id").is_in(sorted(chosen)))
    qrels = benchmark.qrels.filter(pl.col("query_id").is_in(ids) & pl.col("doc_id").is_in(pool["doc_id"].implode()))
    texts, doc_ids = pool["text"].to_list(), pool["doc_id"].to_list()
    return DevPool(queries, pool["doc_id"], texts, qrels, Mentions(benchmark, texts, doc_ids))
