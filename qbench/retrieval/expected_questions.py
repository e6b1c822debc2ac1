"""The questions that language models as rerankers are expected to be asked, without running anything."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any, cast

import numpy as np
import polars as pl

from qbench.benchmark.benchmark import Benchmark, benchmark_key
from qbench.benchmark.types import Query
from qbench.llm.client import REFUSED, Access, Estimate, recorded_answers
from qbench.llm.openai_chat import OpenAIChat
from qbench.llm.prompts import Slots
from qbench.progress import Progress, silent
from qbench.quantities.extractors import get_extractor
from qbench.quantities.types import Quantity
from qbench.retrieval.api import ExpectedCalls
from qbench.retrieval.bench import Bench
from qbench.retrieval.document_quantities import extractor_options, is_extracted, uses_stored
from qbench.retrieval.jobs import ExecuteOptions, Setting, is_finished, plan
from qbench.retrieval.language_models import LanguageModelRanker, language_model, language_model_ranker, questions
from qbench.retrieval.passages import passages
from qbench.retrieval.ranker_options import ItemwiseOptions, LanguageModelOptions
from qbench.retrieval.rankers import Candidates, Search
from qbench.retrieval.run_files import read_result
from qbench.retrieval.shown_texts import ShownTexts
from qbench.retrieval.systems import Stage, System
from qbench.retrieval.types import ConditionSource

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

    def expected(self, access: Access) -> ExpectedCalls:
        """The calls, at most: which of the questions are recorded is not known."""
        recorded = min(self.questions, recorded_answers(self.server, access))
        return self.forecast(access, self.questions, recorded, self.questions, at_most=True)

    def forecast(
        self, access: Access, questions: int, recorded: int, calls: int, *, at_most: bool = False
    ) -> ExpectedCalls:
        """These numbers, with the tokens and their price."""
        read, written = (round(tokens) for tokens in self.tokens)
        price = access.budget.prices.get(self.server.model)
        money = None if price is None else price.of(read, written)
        estimate = Estimate(questions, recorded, calls, read, written, money)
        return ExpectedCalls(self.server.name, self.server.model, tuple(self.names), estimate, "questions", at_most)


@dataclass
class _Known(_Asked):
    """Questions that are known, because the rankings that they are about have been made; it stands in for `ask_each`.

    Attributes:
        seen: keys of all questions, and whether their answer is recorded.
    """

    seen: dict[bytes, bool] = field(default_factory=dict)

    def __call__(
        self, server: OpenAIChat, items: Sequence[Slots], access: Access, progress: Progress
    ) -> tuple[list[Any], Counter[str]]:
        """The recorded answers; one that is missing changes no order, and is counted."""
        inputs = [server.question(item) for item in items]
        keys = server.call.keys(inputs)
        found = {}
        if access.recorded.path.exists():
            with access.recorded.opened(read_only=True) as table:
                found = table.find(dict.fromkeys(keys))
        for key, question in zip(keys, inputs, strict=True):
            if key not in self.seen and key not in found:
                read, written = server.tokens([question])
                self.tokens = self.tokens[0] + read, self.tokens[1] + written
            self.seen[key] = key in found
        return [found.get(key, {REFUSED: "not asked yet"}) for key in keys], Counter()

    def expected(self, access: Access) -> ExpectedCalls:
        """The calls for what is not recorded."""
        recorded = sum(self.seen.values())
        return self.forecast(access, len(self.seen), recorded, len(self.seen) - recorded)


def expected_questions(
    systems: Iterable[System], benchmark: Benchmark, folder: Path, options: ExecuteOptions
) -> list[ExpectedCalls]:
    """The questions that `execute` would ask language models, without asking any.

    Where the ranking that a model reranks has been made, as a row of its own, the questions are known, and so is which
    of them are recorded; those of later windows follow from answers, and are estimated where these are missing. Of
    other rankings it is the most: a first stage may find fewer documents than are reranked, and recorded answers may be
    to these questions or to others. Tokens are then those of a few questions times the number of all.

    Args:
        systems: any; those without a language model ask nothing.
        benchmark, folder, options: as in `execute`.
    """
    access = options.access.recording_in(folder)
    made = _Made(benchmark, folder, replace(options, access=access))
    queries = benchmark.queries_of(options.split)
    asked: dict[tuple[str, bool], _Asked] = {}
    for system, source in _asking(systems, options.settings):
        model = system.stages[-1].options()
        server = language_model(model, benchmark.language)
        run = made.run_before(system, source)
        one = asked.setdefault((server.call.text, run is None), (_Asked if run is None else _Known)(server))
        one.names[system.stages[-1].model.name] = None
        if run is not None and isinstance(one, _Known):
            made.ask(one, run, system.stages[-1], source)
            continue
        documents = min(benchmark.corpus.height, *(stage.k for stage in system.rerankers))
        count = questions(model, documents) * len(queries)
        read, written = _tokens(model, benchmark, queries, documents)
        one.questions += count
        one.tokens = one.tokens[0] + read * count, one.tokens[1] + written * count
    return [one.expected(access) for one in asked.values()]


def _asking(systems: Iterable[System], settings: Sequence[Setting]) -> list[tuple[System, ConditionSource]]:
    """The first stages of the systems that end with a language model, once, with each source of their conditions."""
    found: dict[tuple[System, ConditionSource], None] = {}
    for system in systems:
        for end, stage in enumerate(system.stages, start=1):
            if isinstance(stage.options(), LanguageModelOptions):
                part = System(system.stages[:end])
                sources: Sequence[ConditionSource] = settings if part.uses_conditions else ["none"]
                found |= {(part, source): None for source in sources}
    return list(found)


@dataclass
class _Made:
    """The finished runs of a benchmark.

    Attributes:
        benchmark, folder, options: as in `execute`.
    """

    benchmark: Benchmark
    folder: Path
    options: ExecuteOptions

    def run_before(self, system: System, source: ConditionSource) -> pl.DataFrame | None:
        """The run that the last stage of a system reranks; None where it is not finished, or does not tell enough."""
        stage, before, options = system.stages[-1], System(system.stages[:-1]), self.options
        runs = self.folder / "runs"
        if not runs.exists() or stage.quantity is not None or stage.k > options.depth:
            return None
        if stage.uses_quantities and not self.quantities_are_known:
            return None
        if before.uses_conditions and source != "none":
            options = replace(options, settings=(source,))
        queries = self.benchmark.queries_of(options.split)
        job = plan(self.benchmark, self.key, [before], queries, runs, options)[0]
        return read_result(job).run if is_finished(job) else None

    def ask(self, known: _Known, run: pl.DataFrame, stage: Stage, source: ConditionSource) -> None:
        """Put the questions about a run's first documents to `known`."""
        bench = self.bench
        ranker = bench.reranker(stage).ranker
        places = bench.corpus.select("doc_id").with_row_index("doc")
        best = run.filter(pl.col("rank") <= stage.k).join(places, on="doc_id", maintain_order="left")
        docs = {name: group["doc"].to_numpy() for (name,), group in best.group_by("query_id", maintain_order=True)}
        queries = [query for query in self.benchmark.queries_of(self.options.split) if query.query_id in docs]
        searches = [bench.search(stage, query, source) for query in queries]
        found = [Candidates(docs[one.query_id], np.zeros(len(docs[one.query_id]))) for one in searches]
        replace(cast("LanguageModelRanker", ranker), asker=known).rerank_counted(searches, found)

    @cached_property
    def key(self) -> str:
        """The key of the benchmark's content."""
        return benchmark_key(self.benchmark)

    @cached_property
    def quantities_are_known(self) -> bool:
        """Whether the documents' quantities need no extraction."""
        if uses_stored(self.benchmark, self.options.document_quantities):
            return True
        return is_extracted(self.key, self.options.extractor_of(self.benchmark), self.folder / "indexes")

    @cached_property
    def bench(self) -> Bench:
        """What rankers are opened with."""
        how = self.options
        source, extractor = how.document_quantities, how.extractor_of(self.benchmark)
        indexes = self.folder / "indexes"
        return Bench(self.benchmark, self.key, indexes, source, extractor, how.workers, silent, how.access)


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
    shown = ShownTexts(texts, options.max_length, mentions)
    ranker = language_model_ranker(options, shown, Access(), language=benchmark.language)
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
