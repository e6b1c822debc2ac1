"""Run systems on a benchmark: shared first stages once, finished runs not again, killed ones from where they were."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from qbench.errors import OptionError
from qbench.llm.client import Access
from qbench.progress import Progress, silent
from qbench.retrieval.document_quantities import (
    FILE,
    DocumentQuantities,
    extract_documents,
    extractor_options,
    uses_stored,
)
from qbench.retrieval.finishing import Conditions, filtered, ranked, reranked, with_quantity_score
from qbench.retrieval.jobs import KIND, SETTINGS, Job, Setting, is_finished, plan, read_result, write_result
from qbench.retrieval.opening import open_ranker
from qbench.retrieval.passages import passages
from qbench.retrieval.quantity_index import QuantityIndex, build_quantity_index, open_quantity_index
from qbench.retrieval.rankers import Candidates, OpenedRanker, Ranker, RankerContext, Search
from qbench.retrieval.stored import stored
from qbench.retrieval.types import Cost, RunResult, run_schema
from qbench.store import atomic_file, drafting, read_json, write_json

if TYPE_CHECKING:
    import polars as pl

    from qbench.benchmark.disk import Benchmark
    from qbench.benchmark.types import Query, Split
    from qbench.quantities.english.queries import ParsedQuery
    from qbench.quantities.extractors import Extractor, ExtractorOptions
    from qbench.quantities.units import Units
    from qbench.retrieval.systems import Stage, System

PART = 256
"""Queries whose rankings are kept together; a killed run loses at most these."""


def execute(
    benchmark: Benchmark,
    systems: Sequence[System],
    folder: Path,
    *,
    split: Split = "test",
    settings: Sequence[Setting] = SETTINGS,
    depth: int = 1000,
    document_quantities: DocumentQuantities = "auto",
    extractor: ExtractorOptions | None = None,
    workers: int | None = None,
    progress: Progress = silent,
    access: Access | None = None,
    on_result: Callable[[RunResult], None] | None = None,
) -> list[RunResult]:
    """Run systems on one part of a benchmark.

    Runs are kept in `folder`/runs and indexes in `folder`/indexes, each under the digest of everything that can change
    it. A system that uses no conditions runs once, every other once per setting. Equal scores are ordered by
    document id, descending.

    Args:
        benchmark: corpus and queries.
        systems: from `parse_system`.
        folder: where runs and indexes are kept.
        split: the split whose queries are asked.
        settings: where conditions come from: "given" as data, "parsed" from the query's text by us.
        depth: documents kept per query.
        document_quantities: whether the documents' quantities are the benchmark's own or found by our extractor;
            "auto" takes its own if they were extracted, and never gold ones.
        extractor: options of our extractor, for documents and queries; by default those of the benchmark.
        workers: processes that extract; as many as cores by default.
        progress: told the number of queries done.
        access: how servers may be used; by default without a limit, their answers recorded in `folder`.
        on_result: called with each result as soon as it is there.

    Raises:
        OptionError: an option makes no sense, or conditions are to be given and no query has any.
        InputError: a run file is missing, unreadable or ranks unknown documents.
        BusyError: another process is making one of these runs.
        BudgetError, ServerError: a system asks a server, and may not, or gets no answer.
    """
    from qbench.benchmark.disk import benchmark_key

    queries = benchmark.queries_of(split)
    if not queries:
        raise OptionError("the benchmark has no queries in this split", value=split)
    options = extractor or extractor_options(benchmark)
    how: tuple[DocumentQuantities, ExtractorOptions] = (document_quantities, options)
    key = benchmark_key(benchmark)
    jobs = plan(benchmark, key, systems, queries, settings, depth, folder / "runs", how)
    results: dict[int, RunResult] = {}

    def read(keys: set[str]) -> None:
        for number, job in enumerate(jobs):
            if job.key in keys:
                results[number] = read_result(job)
                if on_result is not None:
                    on_result(results[number])

    # Two names may stand for the same run (two paths to equal files): it is made once.
    pending = {job.key: job for job in jobs if not is_finished(job)}
    read({job.key for job in jobs} - set(pending))
    if pending:
        allowed = (access or Access()).recording_in(folder)
        bench = _Bench(benchmark, key, folder / "indexes", how, workers, progress, allowed)
        for first in dict.fromkeys(job.first_key for job in pending.values()):
            group = [job for job in pending.values() if job.first_key == first]
            _run_group(bench, group, queries, progress)
            read({job.key for job in group})
    return [results[number] for number in range(len(jobs))]


class _Bench:
    """What the systems of one call share: the corpus in order, indexes, parsed queries."""

    def __init__(
        self,
        benchmark: Benchmark,
        key: str,
        root: Path,
        quantities: tuple[DocumentQuantities, ExtractorOptions],
        workers: int | None,
        progress: Progress,
        access: Access,
    ) -> None:
        self.benchmark, self.key, self.root, self.access = benchmark, key, root, access
        self.source, self.options = quantities
        self.workers, self.progress = workers, progress
        self.corpus = passages(benchmark.corpus)
        self._quantities: tuple[QuantityIndex, float, int, float] | None = None
        self._parsed: dict[str, tuple[ParsedQuery, float]] = {}
        self._extractor: Extractor | None = None
        self._rerankers: dict[str, OpenedRanker] = {}

    def first_stage(self, system: System, depth: int) -> OpenedRanker:
        context = RankerContext(self.corpus, self.key, self.root, depth, self.progress, self.access)
        return open_ranker(system.first, context)

    def reranker(self, system: System) -> OpenedRanker:
        """The reranker of a system that has one; opened once."""
        (stage,) = system.rerankers
        name = str(stage.bare)
        if name not in self._rerankers:
            context = RankerContext(self.corpus, self.key, self.root, progress=self.progress, access=self.access)
            self._rerankers[name] = open_ranker(stage, context)
        return self._rerankers[name]

    def quantities(self) -> tuple[QuantityIndex, float, int, float]:
        """The quantity index, the seconds to build it, its bytes, and the seconds to extract what is in it."""
        if self._quantities is None:
            self._quantities = self._index_quantities()
        return self._quantities

    def _index_quantities(self) -> tuple[QuantityIndex, float, int, float]:
        import polars as pl

        own = uses_stored(self.benchmark, self.source)
        params: dict[str, Any] = {"corpus": self.key, "stored": own}
        seconds, table = 0.0, None
        if not own:
            params.update(self.options.key())
            found = extract_documents(
                self.corpus, self.key, self.options, self.root, workers=self.workers, progress=self.progress
            )
            seconds, table = found.seconds, found.folder / FILE

        def make(folder: Path) -> None:
            frame = self.benchmark.quantities if table is None else pl.read_parquet(table, glob=False)
            if frame is not None:
                build_quantity_index(frame, self.corpus["doc_id"]).save(folder)

        index = stored(self.root, "quantity-index", params, make)
        return open_quantity_index(index.folder), index.seconds, index.size, seconds

    def units(self) -> Units:
        from qbench.quantities.units import load_units

        return load_units(self.options.units_file)

    def parsed(self, query: Query) -> tuple[ParsedQuery, float]:
        """A query's text parsed, and the seconds that it took."""
        from qbench.quantities.english.queries import parse_query
        from qbench.quantities.extractors import get_extractor

        if query.query_id not in self._parsed:
            if self._extractor is None:
                self._extractor = get_extractor(self.options)
            start = time.perf_counter()
            found = parse_query(query.text, self._extractor)
            self._parsed[query.query_id] = found, time.perf_counter() - start
        return self._parsed[query.query_id]


@dataclass
class _Part:
    """The rankings of one job for some queries, as they are made."""

    queries: list[str] = field(default_factory=list)
    rankings: list[Candidates] = field(default_factory=list)
    seconds: list[float] = field(default_factory=list)
    bare: int = 0

    def add(self, query: Query, ranking: Candidates, seconds: float, bare: bool) -> None:
        self.queries.append(query.query_id)
        self.rankings.append(ranking)
        self.seconds.append(seconds)
        self.bare += bare

    def write(self, path: Path, doc_ids: pl.Series) -> None:
        """The rows, then the seconds: the second file says that the first is whole."""
        import polars as pl

        sizes = np.array([ranking.docs.size for ranking in self.rankings], dtype=np.int64)
        ranks = [np.arange(1, size + 1, dtype=np.int32) for size in sizes]
        docs = np.concatenate([ranking.docs for ranking in self.rankings]).astype(np.int64)
        run = pl.DataFrame(
            {
                "query_id": pl.Series(self.queries, dtype=pl.String).gather(np.repeat(np.arange(sizes.size), sizes)),
                "doc_id": doc_ids.gather(docs),
                "rank": np.concatenate(ranks),
                "score": np.concatenate([ranking.scores for ranking in self.rankings]),
            },
            schema=run_schema(),
        )
        with atomic_file(path) as temporary:
            run.write_parquet(temporary, compression="zstd")
        empty = int((sizes == 0).sum())
        write_json(path.with_suffix(".json"), {"seconds": self.seconds, "bare": self.bare, "empty": empty})


def _run_group(bench: _Bench, group: list[Job], queries: list[Query], progress: Progress) -> None:
    """Make the runs of jobs that share a first stage."""
    label, deep = group[0].first_key
    first = bench.first_stage(group[0].system, deep)
    # Now, so that no query's time holds the time to build it.
    if any(job.system.uses_conditions for job in group):
        bench.quantities()
    for job in group:
        if job.system.rerankers:
            bench.reranker(job.system)
    with ExitStack() as stack:
        drafts = [stack.enter_context(drafting(job.folder, KIND, job.key, job.params)) for job in group]
        parts = [draft.folder / ".parts" for draft in drafts]
        for folder in parts:
            folder.mkdir(exist_ok=True)
        names = [f"{start:09d}.parquet" for start in range(0, len(queries), PART)]
        for number, name in enumerate(names):
            missing = [i for i, folder in enumerate(parts) if not (folder / name).with_suffix(".json").exists()]
            if missing:
                some = queries[number * PART : (number + 1) * PART]
                for i, part in zip(missing, _ask(bench, first.ranker, [group[i] for i in missing], some), strict=True):
                    part.write(parts[i] / name, bench.corpus["doc_id"])
            progress(min((number + 1) * PART, len(queries)), len(queries), label)
        for job, draft, folder in zip(group, drafts, parts, strict=True):
            cost, meta = _index_cost(bench, first, job.system)
            counts = _collect(draft.folder, [folder / name for name in names], cost, meta)
            draft.counts = {"queries": len(queries), **counts}


def _index_cost(bench: _Bench, first: OpenedRanker, system: System) -> tuple[Cost, dict[str, int | float | str]]:
    """What the indexes of a system cost, and what else there is to say of them."""
    seconds, size, extracted, meta = first.seconds, first.size, 0.0, dict(first.meta)
    if system.uses_conditions:
        _, built, weight, extracted = bench.quantities()
        seconds, size = seconds + built + extracted, size + weight
    if system.rerankers:
        second = bench.reranker(system)
        seconds, size = seconds + second.seconds, size + second.size
        meta |= {f"reranker_{name}": value for name, value in second.meta.items()}
    return Cost(index_seconds=seconds, index_bytes=size, extraction_seconds=extracted), meta


def _collect(folder: Path, parts: list[Path], cost: Cost, meta: dict[str, int | float | str]) -> dict[str, Any]:
    """Join the parts of a run, and sum up what they cost."""
    from dataclasses import replace

    import polars as pl

    notes = [read_json(path.with_suffix(".json")) for path in parts]
    milliseconds = 1000 * np.array([s for note in notes for s in note["seconds"]])
    cost = replace(
        cost,
        ms_median=float(np.median(milliseconds)),
        ms_p95=float(np.percentile(milliseconds, 95)),
        peak_bytes=peak_bytes(),
    )
    meta |= {
        "queries": int(milliseconds.size),
        "queries_without_condition": sum(note["bare"] for note in notes),
        "queries_without_results": sum(note["empty"] for note in notes),
    }
    run = pl.concat([pl.read_parquet(path, glob=False) for path in parts])
    write_result(folder, run, cost, meta)
    return meta


def _ask(bench: _Bench, first: Ranker, jobs: list[Job], queries: list[Query]) -> list[_Part]:
    """The answers of jobs that share a first stage: it is asked once for every different text of a query."""
    asked = [[_question(bench, job, query) for query in queries] for job in jobs]
    searches = _together(first.prepared, [question.first for row in asked for question in row])
    again = _for_rerankers(bench, jobs, asked)
    parts = [_Part() for _ in jobs]
    for column, query in enumerate(queries):
        known: dict[str, tuple[Candidates, float]] = {}
        for job, row, part in zip(jobs, asked, parts, strict=True):
            question = row[column]
            search, preparing = searches[question.first]
            if search.text not in known:
                start = time.perf_counter()
                found = first.search(search)
                known[search.text] = found, time.perf_counter() - start + preparing
            candidates, seconds = known[search.text]
            start = time.perf_counter()
            ranking = ranked(_with_quantities(bench, job.system.first, first, search, candidates, question), job.deep)
            if job.system.rerankers:
                search, share = again[str(job.system.rerankers[0].bare)][question.reranker]
                ranking = ranked(_rerank(bench, job.system, ranking, search, question), job.params["depth"])
                seconds += share
            seconds += time.perf_counter() - start + question.seconds
            part.add(query, ranking, seconds, job.source != "none" and not question.asked.conditions)
    return parts


def _together(
    prepare: Callable[[Sequence[Search]], list[Search]], searches: Iterable[Search]
) -> dict[Search, tuple[Search, float]]:
    """Each different search as a ranker takes it, and its share of the seconds that all took together."""
    wanted = list(dict.fromkeys(searches))
    start = time.perf_counter()
    prepared = prepare(wanted)
    share = (time.perf_counter() - start) / max(1, len(wanted))
    return {one: (ready, share) for one, ready in zip(wanted, prepared, strict=True)}


def _for_rerankers(
    bench: _Bench, jobs: list[Job], asked: list[list[_Question]]
) -> dict[str, dict[Search, tuple[Search, float]]]:
    """For each reranker the searches as it takes them, all that its systems ask at once."""
    wanted: dict[str, tuple[System, list[Search]]] = {}
    for job, row in zip(jobs, asked, strict=True):
        if job.system.rerankers:
            name = str(job.system.rerankers[0].bare)
            wanted.setdefault(name, (job.system, []))[1].extend(question.reranker for question in row)
    return {
        name: _together(bench.reranker(system).ranker.encoded, searches) for name, (system, searches) in wanted.items()
    }


def _rerank(bench: _Bench, system: System, ranking: Candidates, search: Search, question: _Question) -> Candidates:
    """The best of a first stage, ordered by a reranker: by its scores alone, with quantities, or with those before.

    Documents that it filters out are out of a fusion, too; those that it has no score of are not.
    """
    (stage,), ranker = system.rerankers, bench.reranker(system).ranker
    ranking = Candidates(ranking.docs[: stage.k], ranking.scores[: stage.k])
    if stage.filters:
        ranking = filtered(ranking, bench.quantities()[0], question.asked)
    scores = ranker.scores(search, ranking.docs)
    if stage.takes_terms:
        index, values = bench.quantities()[0], stage.quantity_options()
        known = np.flatnonzero(~np.isnan(scores))
        scored = Candidates(ranking.docs[known], scores[known])
        scored = with_quantity_score(scored, ranker, search, index, question.asked, values, "reranker")
        scores[known] = scored.scores
    return reranked(ranking, scores, stage.fusion_options())


@dataclass(frozen=True)
class _Question:
    """What a system asks for a query.

    Attributes:
        first, reranker: what its stages are asked.
        asked: what is asked of quantities.
        seconds: what parsing it took.
    """

    first: Search
    reranker: Search
    asked: Conditions
    seconds: float


def _question(bench: _Bench, job: Job, query: Query) -> _Question:
    """What a system asks for a query.

    A stage with a Q is asked for the search words alone, and for the full text where no condition is known or no
    word would be left; all others are asked for the full text.
    """
    full = Search(query.query_id, query.text)
    if job.source == "none":
        return _Question(full, full, Conditions(), 0.0)
    terms, conditions, seconds = query.terms, query.conditions, 0.0
    if job.source == "parsed":
        found, seconds = bench.parsed(query)
        terms, conditions = found.terms, found.conditions
    alone = Search(query.query_id, terms) if conditions and terms.strip() else full
    first, reranker = job.system.first, next(iter(job.system.rerankers), None)
    units = bench.units()
    sizes = [abs(units.get(condition.unit).factor) for condition in conditions]
    return _Question(
        alone if first.takes_terms else full,
        alone if reranker is not None and reranker.takes_terms else full,
        Conditions(conditions, sizes),
        seconds,
    )


def _with_quantities(
    bench: _Bench, stage: Stage, ranker: Ranker, search: Search, candidates: Candidates, question: _Question
) -> Candidates:
    """A first stage's documents with its quantity score: filtered, or scored anew; as they are where it has none."""
    if stage.quantity is None:
        return candidates
    index = bench.quantities()[0]
    if stage.filters:
        return filtered(candidates, index, question.asked)
    return with_quantity_score(candidates, ranker, search, index, question.asked, stage.quantity_options())


def peak_bytes() -> int:
    """The most memory that this process has held so far."""
    import resource
    import sys

    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak if sys.platform == "darwin" else peak * 1024
