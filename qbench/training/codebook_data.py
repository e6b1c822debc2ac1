"""What a codebook learns from: pairs of documents for each training query, with vectors on disk and BM25's scores.

Source: *WolfPQ* 6.4. Vectors stay mapped from disk: a batch reads its own.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import polars as pl
from numpy.typing import NDArray

from qbench.benchmark.benchmark import Benchmark
from qbench.benchmark.types import Query
from qbench.errors import InputError, OptionError
from qbench.evaluation.measures import relevant_queries
from qbench.models.multi_vector import MultiVector, MultiVectorEncoder
from qbench.models.single_vector import Encoder
from qbench.progress import Progress
from qbench.randomness import generator
from qbench.retrieval.deepquant import NumberInteraction
from qbench.retrieval.dense import Dense
from qbench.retrieval.explaining import bench_of
from qbench.retrieval.grammar import parse_system
from qbench.retrieval.late_interaction import LateInteraction
from qbench.retrieval.lexical import BM25
from qbench.retrieval.opening import open_ranker
from qbench.retrieval.rankers import Candidates, Search
from qbench.retrieval.systems import Stage
from qbench.retrieval.vectors import StoredVectors, tokens_of_corpus
from qbench.scoring.number_relevance import AskedNumbers
from qbench.training.codebook_recipe import CodebookRecipe

if TYPE_CHECKING:
    from qbench.models.deepquant_encoder import DeepQuantEncoder


@dataclass(frozen=True)
class Pairs:
    """Pairs of training queries.

    Attributes:
        queries: shape (q, H), vectors; for late interaction shape (q, tokens, H), zeros after those of a query.
        positives, negatives: shape (q, pairs), texts: rows of the stored vectors where each has one.
        lexical: shape (q, pairs, 2), BM25's scores of both.
        highest: shape (q, 2): the query's highest uncompressed and BM25 score, which divide scores where they are
            normalised.
        texts: of the queries.
        judged: for each query, the rows of all documents that are no negatives: relevant ones, and undecided ones.
    """

    queries: NDArray[np.float32]
    positives: NDArray[np.int64]
    negatives: NDArray[np.int64]
    lexical: NDArray[np.float32]
    highest: NDArray[np.float32]
    texts: Sequence[str]
    judged: Sequence[NDArray[np.int64]]


@dataclass(frozen=True)
class Held:
    """Held-out queries, whose best documents of BM25 are ranked.

    Attributes:
        queries: as of `Pairs`.
        ids: of the queries.
        texts: of the queries.
        found: for each, positions and BM25's scores, best first.
        doc_ids: of all positions.
        qrels: of these queries.
    """

    queries: NDArray[np.float32]
    ids: Sequence[str]
    texts: Sequence[str]
    found: Sequence[Candidates]
    doc_ids: pl.Series
    qrels: pl.DataFrame


@dataclass(frozen=True)
class CodebookData:
    """What a training reads.

    Attributes:
        encoder: of queries and documents.
        vectors: on disk, one or several for each text.
        pairs: to learn from.
        held: held-out queries; None where none are on dev.
        tokens: shape (vectors,), what these stand for, in the vocabulary; None where a text has one vector.
    """

    encoder: Encoder | MultiVectorEncoder | DeepQuantEncoder
    vectors: StoredVectors
    pairs: Pairs
    held: Held | None
    tokens: NDArray[np.int64] | None = None


def encoder_stage(encoder: str, *, tokens: bool = False) -> Stage:
    """The encoder that a system's name says.

    Args:
        encoder: the name.
        tokens: whether a ColBERT is needed; else one with a vector for each text.

    Raises:
        OptionError: it is more than one model, or one of the other kind.
    """
    system = parse_system(encoder)
    stage, step = system.first, "token vectors" if tokens else "dense"
    if len(system.stages) > 1 or stage.compression or stage.quantity or step not in stage.entry().steps:
        example = "ColBERT(model=my-colbert)" if tokens else "TCT-ColBERT(model=my-tct)"
        remedy = f"Write one with a vector for each {'token' if tokens else 'text'}, such as {example}"
        raise OptionError("this is no encoder whose vectors could be compressed", value=encoder, remedy=remedy)
    return stage


def read_codebook_data(
    benchmark: Benchmark, stage: Stage, work: Path, recipe: CodebookRecipe, progress: Progress
) -> CodebookData:
    """What a codebook learns from; documents are encoded into `work`/indexes if they are not there yet.

    Raises:
        InputError: no training query has a positive and a negative.
    """
    context = replace(bench_of(benchmark, work).context(), progress=progress)
    encoder, lexical = open_ranker(stage, context).ranker, open_ranker(parse_system("BM25").first, context).ranker
    if isinstance(encoder, Dense):
        vectors, tokens = encoder.vectors, None
    elif isinstance(encoder, LateInteraction) and isinstance(encoder.encoder, MultiVector):
        vectors = encoder.tokens
        tokens = tokens_of_corpus(vectors, encoder.encoder.token_ids, context)
    elif isinstance(encoder, NumberInteraction):
        vectors = encoder.tokens
        tokens = tokens_of_corpus(vectors, encoder.token_ids, context)
    else:
        raise OptionError("the vectors of this model stand for more than words", value=str(stage))
    if not isinstance(lexical, BM25):
        raise OptionError("BM25 is not searched by one index", value=str(stage))
    reader = _Reader(benchmark, context.corpus["doc_id"], encoder, vectors.shared.of, lexical, recipe)
    return CodebookData(encoder.encoder, vectors, reader.pairs(), reader.held(), tokens)


@dataclass(frozen=True)
class _Reader:
    benchmark: Benchmark
    doc_ids: pl.Series
    encoder: Dense | LateInteraction | NumberInteraction
    rows: NDArray[np.intp]
    lexical: BM25
    recipe: CodebookRecipe

    def pairs(self) -> Pairs:
        """The pairs of every training query that has a positive, and a negative among BM25's best."""
        queries, judged = self.benchmark.queries_of("train"), self._judged()
        found = self._found(queries)
        searches = self.encoder.encoded([Search(query.query_id, query.text, query.conditions) for query in queries])
        rows, numbers = self.rows, []
        drawn: list[tuple[NDArray[np.int64], NDArray[np.int64]]] = []
        for number, (query, some) in enumerate(zip(queries, found, strict=True)):
            grades = judged.get(query.query_id, {})
            positives = np.array([doc for doc, grade in grades.items() if grade >= self.recipe.lowest_grade], np.int64)
            pool = some.docs[~np.isin(some.docs, _unclear(grades))].astype(np.int64)
            if positives.size and pool.size:
                drawn.append(self._drawn(query.query_id, np.sort(positives), pool))
                numbers.append(number)
        if not drawn:
            remedy = "Use a benchmark with judged training queries, or a larger --pool"
            message = "nothing to learn from: no training query has a positive, and a negative among BM25's best"
            raise InputError(message, value=self.benchmark.name, remedy=remedy)
        chosen = [searches[number] for number in numbers]
        both = [Candidates(np.concatenate(pair), np.empty(2 * len(pair[0]))) for pair in drawn]
        with_tokens = self.lexical.encoded([Search(search.query_id, search.text) for search in chosen])
        scores = np.array(self.lexical.rerank(with_tokens, both), np.float32).reshape(len(drawn), 2, -1)
        vectors = _stacked(chosen)
        return Pairs(
            vectors,
            rows[np.array([pair[0] for pair in drawn])],
            rows[np.array([pair[1] for pair in drawn])],
            np.ascontiguousarray(scores.transpose(0, 2, 1)),
            self._highest(chosen, [found[number] for number in numbers]),
            [search.text for search in chosen],
            [rows[_unclear(judged[search.query_id])] for search in chosen],
        )

    def held(self) -> Held | None:
        """The held-out queries."""
        answered = set(relevant_queries(self.benchmark.qrels))
        queries = [query for query in self.benchmark.queries_of("dev") if query.query_id in answered]
        order = generator(self.recipe.seed, "dev queries").permutation(len(queries))[: self.recipe.dev_queries]
        queries = [queries[number] for number in sorted(order.tolist())]
        if not queries:
            return None
        ids = [query.query_id for query in queries]
        searches = self.encoder.encoded([Search(query.query_id, query.text, query.conditions) for query in queries])
        vectors = _stacked(searches)
        qrels = self.benchmark.qrels.filter(pl.col("query_id").is_in(ids))
        texts = [query.text for query in queries]
        return Held(vectors, ids, texts, self._found(queries), self.doc_ids, qrels)

    def _found(self, queries: Sequence[Query]) -> list[Candidates]:
        searches = self.lexical.prepared([Search(query.query_id, query.text) for query in queries])
        return self.lexical.best(searches, self.recipe.pool)

    def _judged(self) -> dict[str, dict[int, int]]:
        positions = {doc: position for position, doc in enumerate(self.doc_ids)}
        judged: dict[str, dict[int, int]] = {}
        for query_id, doc_id, grade in self.benchmark.qrels.select("query_id", "doc_id", "grade").iter_rows():
            if doc_id in positions:
                judged.setdefault(query_id, {})[positions[doc_id]] = grade
        return judged

    def _drawn(
        self, query_id: str, positives: NDArray[np.int64], pool: NDArray[np.int64]
    ) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """The pairs of a query: all negatives with its one positive, or negatives at random with several (6.4)."""
        count, random = self.recipe.pairs, generator(self.recipe.seed, "pairs", query_id)
        if self.recipe.negatives == "both":
            either = np.concatenate([random.permutation(np.union1d(pool, positives)) for _ in range(2)])
            return np.resize(either[::2], count), np.resize(either[1::2], count)
        if self.recipe.negatives == "uniform":
            pool = random.permutation(pool)[:count]
        else:
            pool = pool[-count:] if self.recipe.negatives == "lowest" else pool[:count]
        if positives.size > 1:
            return positives[np.arange(count) % positives.size], random.choice(pool, count)
        return np.repeat(positives, count), pool[np.arange(count) % pool.size]

    def _highest(self, searches: Sequence[Search], found: Sequence[Candidates]) -> NDArray[np.float32]:
        scores = self.encoder.rerank(searches, found)
        pairs = zip(scores, found, strict=True)
        return np.array([[_divisor(own), _divisor(some.scores)] for own, some in pairs], np.float32)


def _stacked(searches: Sequence[Search]) -> NDArray[np.float32]:
    """The queries' vectors in one array, those of tokens filled up with zeros, which add nothing to MaxSim."""
    given = [search.vector.words if isinstance(search.vector, AskedNumbers) else search.vector for search in searches]
    vectors = [np.asarray(vector, np.float32) for vector in given]
    if vectors[0].ndim == 1:
        return np.stack(vectors)
    longest = max(len(rows) for rows in vectors)
    return np.stack([np.pad(rows, ((0, longest - len(rows)), (0, 0))) for rows in vectors])


def _unclear(grades: Mapping[int, int]) -> NDArray[np.int64]:
    """The documents that are no negatives: judged above 0, or undecided."""
    return np.array([doc for doc, grade in grades.items() if grade != 0], np.int64)


def _divisor(scores: NDArray[np.float64]) -> float:
    """The highest score, or 1 where that is not above 0."""
    highest = float(scores.max(initial=0.0))
    return highest if highest > 0 else 1.0
