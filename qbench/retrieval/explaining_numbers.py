"""Why DeepQuant ranks a document where it does: both scores, alpha, the operators, and what each number is worth."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from qbench.benchmark.benchmark import Benchmark
from qbench.errors import OptionError
from qbench.models.numbers import Number
from qbench.quantities.written import asked_numbers
from qbench.retrieval.explaining import bench_of, positions_of, query_of, shown
from qbench.retrieval.rankers import Candidates
from qbench.retrieval.systems import System
from qbench.retrieval.types import ConditionSource
from qbench.scoring.maxsim import rerank
from qbench.scoring.number_relevance import AskedNumbers, number_relevance

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from qbench.retrieval.bench import Bench
    from qbench.retrieval.deepquant import NumberInteraction

NAME = "DeepQuant"


@dataclass(frozen=True)
class Answer:
    """What a number of a document is worth for a number of the query.

    Attributes:
        number: the document's; its span counts from the start of the document.
        attention: rel(u_b | u_a), how well its unit fits, beside the document's others (*DeepQuant* eq. 4).
        believed: N(op, a, b) for each of `qbench.models.numbers.OPERATORS` (eq. 16).
        relevance: rel(b | a) (eq. 6).
    """

    number: Number
    attention: float
    believed: tuple[float, float, float]
    relevance: float


@dataclass(frozen=True)
class NumberedDocument:
    """A document and its score.

    Attributes:
        doc_id, text: the document.
        score: (1 - alpha) numbers + alpha words (eq. 10).
        numbers, words: the two scores.
        answers: for each number of the query the document's numbers, the most relevant first: that one counts (eq. 11).
    """

    doc_id: str
    text: str
    score: float
    numbers: float
    words: float
    answers: list[list[Answer]]


@dataclass(frozen=True)
class NumberExplanation:
    """How DeepQuant ranks documents for a query.

    Attributes:
        alpha: weight of the words (eq. 12); 1 for a query without numbers.
        asked: the query's numbers, each with Pr(op) of `OPERATORS` (eq. 1).
        documents: the best first.
    """

    alpha: float
    asked: list[tuple[Number, tuple[float, float, float]]]
    documents: list[NumberedDocument]


def explain_numbers(
    benchmark: Benchmark,
    system: System,
    query: str,
    folder: Path,
    *,
    top: int = 3,
    docs: Sequence[str] = (),
    source: ConditionSource = "parsed",
) -> NumberExplanation:
    """How DeepQuant ranks the best documents for a query, or given ones.

    Args:
        benchmark: the documents.
        system: DeepQuant as the only stage, without a quantity score.
        query: the id of one of the benchmark's queries, or a text.
        folder: where indexes are kept, as `execute` keeps them.
        top: number of documents.
        docs: ids of documents to explain instead.
        source: where the query's conditions come from; a text has none as data.

    Raises:
        OptionError: the system is another one, no conditions are given with the query, or a document is unknown.
    """
    stage = system.first
    if system.rerankers or stage.model.name != NAME or stage.quantity is not None:
        raise OptionError("only DeepQuant alone is explained by its numbers", value=str(system))
    bench = bench_of(benchmark, folder)
    wanted = positions_of(bench, docs)
    ranker: NumberInteraction = bench.first_stage(stage, top).ranker  # type: ignore[assignment]
    (search,) = ranker.encoded([bench.search(stage, query_of(benchmark, query, source), source)])
    if wanted.size:
        (scores,) = ranker.rerank([search], [Candidates(wanted, np.zeros(wanted.size))])
        hits = Candidates(wanted, scores)
    else:
        (search,) = ranker.prepared([search])
        hits = ranker.search(search)
    best, asked = shown(hits, top, wanted), search.vector
    return NumberExplanation(
        asked.alpha,
        [
            (number, _three(row))
            for number, row in zip(asked_numbers(search.text, search.conditions), asked.operators, strict=False)
        ],
        [
            _document(bench, ranker, asked, int(doc), float(score))
            for doc, score in zip(best.docs, best.scores, strict=True)
        ],
    )


def _document(bench: Bench, ranker: NumberInteraction, asked: AskedNumbers, doc: int, score: float) -> NumberedDocument:
    text = bench.corpus["passage"][doc]
    shared = int(ranker.tokens.shared.of[doc])
    stored = ranker.numbers.chosen(np.array([shared]))
    numbers = ranker.stated(text)[: int(stored.starts[-1])]  # without those behind the tokens that are read
    found = number_relevance(asked, stored)
    answers = [
        sorted(
            (
                Answer(number, float(attention), _three(believed), float(relevance))
                for number, attention, believed, relevance in zip(numbers, *row, strict=True)
            ),
            key=lambda answer: -answer.relevance,
        )
        for row in zip(found.attention, found.believed, found.relevance, strict=True)
    ]
    quantity = sum(row[0].relevance for row in answers if row)
    words = float(rerank(ranker.tokens, asked.words, np.array([shared]))[0]) / asked.divisor
    return NumberedDocument(bench.corpus["doc_id"][doc], text, score, quantity, words, answers)


def _three(row: NDArray[np.floating[Any]]) -> tuple[float, float, float]:
    less, equal, more = (float(value) for value in row)
    return less, equal, more
