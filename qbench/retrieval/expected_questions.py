"""The questions that language models as rerankers are expected to be asked, without running anything."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

import polars as pl

from qbench.benchmark.benchmark import Benchmark
from qbench.benchmark.types import Query
from qbench.llm.client import Access, Estimate, recorded_answers
from qbench.llm.openai_chat import OpenAIChat
from qbench.quantities.extractors import get_extractor
from qbench.quantities.types import Quantity
from qbench.retrieval.api import ExpectedCalls
from qbench.retrieval.document_quantities import extractor_options
from qbench.retrieval.language_models import language_model, language_model_ranker, questions
from qbench.retrieval.passages import passages
from qbench.retrieval.ranker_options import ItemwiseOptions, LanguageModelOptions
from qbench.retrieval.rankers import Search
from qbench.retrieval.shown_texts import ShownTexts
from qbench.retrieval.systems import Stage, System

SAMPLE = 20
"""Queries and documents of which questions are made to see how long they are."""


@dataclass
class _Asked:
    """What is asked of one model with one prompt.

    Attributes:
        server: the model.
        names: of the rerankers, without repetitions.
        questions: their number.
        tokens: read and written.
    """

    server: OpenAIChat
    names: dict[str, None] = field(default_factory=dict)
    questions: int = 0
    tokens: tuple[float, float] = (0.0, 0.0)


def expected_questions(
    systems: Iterable[System], benchmark: Benchmark, queries: Sequence[Query], settings: int, access: Access
) -> list[ExpectedCalls]:
    """The questions that running systems would take, at most: a first stage may find fewer documents than are reranked.

    What is recorded of a model and prompt counts for these questions, whichever they are. Tokens are those of a few
    questions times the number of all.

    Args:
        systems: any; those without a language model ask nothing.
        benchmark: its documents are shown.
        queries: that are asked.
        settings: number of settings in which systems run that use conditions.
        access: its recording holds some of the answers.
    """
    asked: dict[str, _Asked] = {}
    for stages, times in _ranking_stages(systems, settings).items():
        stage, options = stages[-1], stages[-1].options()
        server = language_model(options)
        documents = min(benchmark.corpus.height, *(one.k for one in stages[1:]))
        count = questions(options, documents) * len(queries) * times
        one = asked.setdefault(server.call.text, _Asked(server))
        read, written = _tokens(options, benchmark, queries, documents)
        one.names[stage.model.name] = None
        one.questions += count
        one.tokens = one.tokens[0] + read * count, one.tokens[1] + written * count
    return [_expected(one, access) for one in asked.values()]


def _ranking_stages(systems: Iterable[System], settings: int) -> dict[tuple[Stage, ...], int]:
    """Each first stages of a system that end with a language model, once, and the number of settings they run in."""
    found: dict[tuple[Stage, ...], int] = {}
    for system in systems:
        for end, stage in enumerate(system.stages, start=1):
            if isinstance(stage.options(), LanguageModelOptions):
                stages = system.stages[:end]
                found[stages] = settings if any(one.uses_conditions for one in stages) else 1
    return found


def _expected(asked: _Asked, access: Access) -> ExpectedCalls:
    recorded = min(asked.questions, recorded_answers(asked.server, access))
    calls = asked.questions - recorded
    share = calls / max(1, asked.questions)
    read, written = (round(tokens * share) for tokens in asked.tokens)
    price = access.budget.prices.get(asked.server.model)
    money = None if price is None else price.of(read, written)
    estimate = Estimate(asked.questions, recorded, calls, read, written, money)
    return ExpectedCalls(asked.server.name, asked.server.model, tuple(asked.names), estimate, "questions at most")


@dataclass(frozen=True)
class _Sample:
    """The quantities of a few texts."""

    found: Sequence[Sequence[Quantity]]

    def of(self, doc: int) -> Sequence[Quantity]:
        """The mentions in the text at a position."""
        return self.found[doc]


def _tokens(
    options: LanguageModelOptions, benchmark: Benchmark, queries: Sequence[Query], documents: int
) -> tuple[float, float]:
    """The mean tokens of a question, read and written, by a few questions about a few documents."""
    texts = _spread(passages(benchmark.corpus)["passage"])
    mentions = None
    if options.quantities == "listed":
        mentions = _Sample(get_extractor(extractor_options(benchmark)).extract_many(texts.to_list()))
    ranker = language_model_ranker(options, ShownTexts(texts, options.max_length, mentions), Access())
    together = min(documents, 1 if isinstance(options, ItemwiseOptions) else getattr(options, "window", 2))
    items = []
    for start, place in enumerate(_spread(pl.Series(range(len(queries))))):
        query = queries[place]
        docs = [(start + i) % len(texts) for i in range(together)]
        items += ranker.slots(Search(query.query_id, query.text, tuple(query.conditions)), docs)
    if not items:
        return 0.0, 0.0
    read, written = ranker.server.tokens([ranker.server.question(item) for item in items])
    return read / len(items), written / len(items)


def _spread(values: pl.Series) -> pl.Series:
    """A few of the values, in even steps."""
    return values.gather_every(max(1, len(values) // SAMPLE)).head(SAMPLE)
