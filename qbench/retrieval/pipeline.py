"""A batch of queries through systems that share a first stage; a prefix of stages that several systems share runs once.

A system's time for a query is that of all its stages, whoever else shares them.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import cast

import numpy as np

from qbench.benchmark.types import Query
from qbench.retrieval.bench import Bench
from qbench.retrieval.finishing import filtered, reranked, with_binding, with_quantity_score
from qbench.retrieval.first_stage import FirstStage, Input
from qbench.retrieval.jobs import Job
from qbench.retrieval.rankers import AskingRanker, BatchRanker, Candidates, Counts, FilteringRanker, Ranker, Search
from qbench.retrieval.systems import Stage
from qbench.retrieval.types import ConditionSource
from qbench.scoring.binding import Asked


@dataclass(frozen=True)
class Rankings:
    """What some stages give for a batch of queries.

    Attributes:
        rankings: one for each query, best first.
        seconds: what each took, with what was done for all queries together in equal shares.
        asked: by the position of a stage, what is counted of its language model's answers.
    """

    rankings: list[Candidates]
    seconds: list[float]
    asked: Mapping[int, Counts] = field(default_factory=dict)


@dataclass(frozen=True)
class Prefix:
    """The first stages of a system, and where they take conditions from."""

    stages: tuple[Stage, ...]
    source: ConditionSource


def prefixes(job: Job) -> list[Prefix]:
    """The first stage of a job's system, its first two stages, and so on up to the whole system."""
    stages = job.system.stages
    parts = [stages[:number] for number in range(1, len(stages) + 1)]
    return [Prefix(part, job.source if any(stage.uses_conditions for stage in part) else "none") for part in parts]


class Pipeline:
    """Ranks a batch of queries for jobs that share a first stage.

    Args:
        bench: what the systems share.
        first: the first stage, without quantity score.
        jobs: which systems, with which conditions.
        queries: the batch.
    """

    def __init__(self, bench: Bench, first: Ranker, jobs: Sequence[Job], queries: Sequence[Query]) -> None:
        self.bench, self.first, self.jobs, self.queries = bench, first, jobs, queries
        self._results: dict[Prefix, Rankings] = {}
        self._ready: dict[str, dict[Search, tuple[Search, float]]] = {}
        self._retrieved: dict[Search, tuple[Candidates, float]] = {}

    def run(self, job: Job) -> Rankings:
        """The rankings of one of the jobs."""
        first, *others = prefixes(job)
        if first not in self._results:
            self._results[first] = self._first_stage(first, job.deep)
        for before, prefix in pairwise([first, *others]):
            if prefix not in self._results:
                self._results[prefix] = self._reranked(prefix, self._results[before])
        result = self._results[prefixes(job)[-1]]
        depth = job.params["depth"]
        return Rankings(
            [Candidates(ranking.docs[:depth], ranking.scores[:depth]) for ranking in result.rankings],
            [
                seconds + (self.bench.parsed(query)[1] if job.source == "parsed" else 0.0)
                for seconds, query in zip(result.seconds, self.queries, strict=True)
            ],
            result.asked,
        )

    def _first_stage(self, prefix: Prefix, depth: int) -> Rankings:
        (stage,) = prefix.stages
        ready = self._prepared("", self.first.prepared, 0)
        if not stage.quantity and isinstance(self.first, BatchRanker):
            return self._best(stage, prefix, depth, ready)
        if stage.filters and isinstance(self.first, FilteringRanker):
            return self._satisfying(stage, prefix, depth, ready)
        asked, asking = self._asked(stage, prefix.source)
        unprepared = [self.bench.search(stage, query, prefix.source) for query in self.queries]
        inputs = [
            Input(ready[one][0], self.bench.conditions(query, prefix.source), asked[number] if asked else None)
            for number, (one, query) in enumerate(zip(unprepared, self.queries, strict=True))
        ]
        index = self.bench.quantity_index.index if stage.compares else None
        binding = self.bench.binding(stage.encoder).index if stage.binds else None
        first = FirstStage(stage, self.first, index, binding, depth)
        start = time.perf_counter()
        if (together := first.from_sums(inputs)) is not None:
            share = (time.perf_counter() - start) / len(inputs) + asking
            return Rankings(together, [ready[one][1] + share for one in unprepared])
        result = Rankings([], [])
        for one, given in zip(unprepared, inputs, strict=True):
            if one not in self._retrieved:
                start = time.perf_counter()
                hits = self.first.search(given.search)
                self._retrieved[one] = hits, time.perf_counter() - start + ready[one][1]
            hits, seconds = self._retrieved[one]
            start = time.perf_counter()
            result.rankings.append(first.from_list(hits, given))
            result.seconds.append(seconds + asking + time.perf_counter() - start)
        return result

    def _best(self, stage: Stage, prefix: Prefix, depth: int, ready: dict[Search, tuple[Search, float]]) -> Rankings:
        """The best of a first stage without quantities, which need not know of the others."""
        prepared = [ready[self.bench.search(stage, query, prefix.source)] for query in self.queries]
        start = time.perf_counter()
        rankings = cast("BatchRanker", self.first).best([search for search, _ in prepared], depth)
        share = (time.perf_counter() - start) / len(self.queries)
        return Rankings(rankings, [share + preparing for _, preparing in prepared])

    def _satisfying(
        self, stage: Stage, prefix: Prefix, depth: int, ready: dict[Search, tuple[Search, float]]
    ) -> Rankings:
        """The best of a first stage that applies the conditions itself."""
        result = Rankings([], [])
        for query in self.queries:
            search, preparing = ready[self.bench.search(stage, query, prefix.source)]
            wanted = self.bench.conditions(query, prefix.source).conditions
            start = time.perf_counter()
            result.rankings.append(cast("FilteringRanker", self.first).best_satisfying(search, wanted, depth))
            result.seconds.append(time.perf_counter() - start + preparing)
        return result

    def _reranked(self, prefix: Prefix, before: Rankings) -> Rankings:
        """The best of each ranking, ordered by a reranker: by its scores alone, with quantities, or with those before.

        Documents that it filters out are out of a fusion, too; those that it has no score of are not.
        """
        position, stage = len(prefix.stages) - 1, prefix.stages[-1]
        ranker = self.bench.reranker(stage).ranker
        index = self.bench.quantity_index.index if stage.compares else None
        ready = self._prepared(str(stage.bare), ranker.encoded, position)
        prepared = [ready[self.bench.search(stage, query, prefix.source)] for query in self.queries]
        query_conditions = [self.bench.conditions(query, prefix.source) for query in self.queries]
        asked, asking = self._asked(stage, prefix.source)
        start = time.perf_counter()
        best = [Candidates(ranking.docs[: stage.k], ranking.scores[: stage.k]) for ranking in before.rankings]
        if index is not None and stage.filters:
            best = [filtered(some, index, conditions) for some, conditions in zip(best, query_conditions, strict=True)]
        searches, counts = [search for search, _ in prepared], None
        if isinstance(ranker, AskingRanker):
            scores, counts = ranker.rerank_counted(searches, best)
        else:
            scores = ranker.rerank(searches, best)
        rankings = []
        options = stage.quantity_options()
        for number, (some, own, conditions) in enumerate(zip(best, scores, query_conditions, strict=True)):
            held = np.flatnonzero(~np.isnan(own))
            scored = Candidates(some.docs[held], own[held])
            if index is not None and stage.takes_terms:
                search = prepared[number][0]
                own[held] = with_quantity_score(scored, ranker, search, index, conditions, options, "reranker").scores
            elif stage.binds:
                own[held] = with_binding(scored, self.bench.binding(stage.encoder).index, asked[number], options).scores
            rankings.append(reranked(some, own, stage.fusion_options()))
        share = (time.perf_counter() - start) / len(self.queries)
        return Rankings(
            rankings,
            [
                seconds + encoding + asking + share
                for seconds, (_, encoding) in zip(before.seconds, prepared, strict=True)
            ],
            before.asked if counts is None else {**before.asked, position: counts},
        )

    def _asked(self, stage: Stage, source: ConditionSource) -> tuple[list[Asked], float]:
        """The queries as Bind asks them, if the stage does, and the seconds for each."""
        if not stage.binds:
            return [], 0.0
        for query in self.queries if source == "parsed" else ():
            self.bench.parsed(query)  # `run` counts its seconds
        start = time.perf_counter()
        asked = self.bench.asked(self.queries, source, stage.encoder)
        return asked, (time.perf_counter() - start) / len(self.queries)

    def _prepared(
        self, name: str, prepare: Callable[[Sequence[Search]], list[Search]], position: int
    ) -> dict[Search, tuple[Search, float]]:
        """Each search of all jobs as a ranker takes it, and its share of the seconds that all took together.

        Args:
            name: the ranker's; "" for the first stage.
            prepare: the ranker's method.
            position: 0 for the first stage.
        """
        if name not in self._ready:
            wanted = dict.fromkeys(
                self.bench.search(prefix.stages[-1], query, prefix.source)
                for job in self.jobs
                for number, prefix in enumerate(prefixes(job))
                if (number == 0) == (position == 0) and name in ("", str(prefix.stages[-1].bare))
                for query in self.queries
            )
            start = time.perf_counter()
            ready = prepare(list(wanted))
            share = (time.perf_counter() - start) / max(1, len(wanted))
            self._ready[name] = {search: (done, share) for search, done in zip(wanted, ready, strict=True)}
        return self._ready[name]
