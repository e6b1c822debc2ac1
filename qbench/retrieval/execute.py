"""Run systems on a benchmark: shared stages once, finished runs are reused, interrupted ones resume."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import ExitStack
from pathlib import Path

from qbench.benchmark.benchmark import Benchmark, benchmark_key
from qbench.benchmark.types import Query
from qbench.errors import OptionError
from qbench.progress import Parts
from qbench.retrieval.bench import Bench
from qbench.retrieval.jobs import KIND, ExecuteOptions, Job, is_finished, plan
from qbench.retrieval.pipeline import Pipeline
from qbench.retrieval.rankers import OpenedRanker, Proposing
from qbench.retrieval.run_files import NOTES, join_shards, read_result, run_shard
from qbench.retrieval.systems import System
from qbench.retrieval.types import RunResult
from qbench.store import Draft, drafting
from qbench.work.shards import FOLDER, has_shard, write_shard
from qbench.work.tasks import Shard

BATCH = 256
"""Queries whose rankings are written together; an interrupted run loses at most these."""

MEASURED = 64
"""Queries, at most, on which a first stage's candidates are compared with exact search."""


def execute(
    benchmark: Benchmark,
    systems: Sequence[System],
    folder: Path,
    options: ExecuteOptions | None = None,
    *,
    on_result: Callable[[RunResult], None] | None = None,
) -> list[RunResult]:
    """Run systems on one split of a benchmark.

    Runs are kept in `folder`/runs and indexes in `folder`/indexes, each under the digest of everything that can change
    it. A system that uses no conditions runs once, every other once per setting. Equal scores are ordered by
    document id, descending.

    Args:
        benchmark: corpus and queries.
        systems: from `parse_system`.
        folder: where runs and indexes are kept.
        options: split, settings, depth and the rest; by default those of `ExecuteOptions`.
        on_result: called with each result as soon as it is there.

    Raises:
        OptionError: an option makes no sense, or conditions are to be given and no query has any.
        InputError: a run file is missing, unreadable or ranks unknown documents.
        BusyError: another process is making one of these runs.
        BudgetError, ServerError: a system asks a server, and may not, or gets no answer.
    """
    options = ExecuteOptions() if options is None else options
    queries = benchmark.queries_of(options.split)
    if not queries:
        raise OptionError("the benchmark has no queries in this split", value=options.split)
    key = benchmark_key(benchmark)
    jobs = plan(benchmark, key, systems, queries, folder / "runs", options)
    results: dict[int, RunResult] = {}

    def read(keys: set[str]) -> None:
        for number, job in enumerate(jobs):
            if job.key in keys:
                results[number] = read_result(job, options.access.budget.prices)
                if on_result is not None:
                    on_result(results[number])

    # Two names may stand for the same run (two paths to equal files): it is made once.
    pending = {job.key: job for job in jobs if not is_finished(job)}
    bar = Parts(options.progress, len(jobs))
    bar.begin(len(jobs) - len(pending))
    read({job.key for job in jobs} - set(pending))
    if pending:
        bench = Bench(
            benchmark,
            key,
            folder / "indexes",
            options.document_quantities,
            options.extractor_of(benchmark),
            options.workers,
            bar,
            options.access.recording_in(folder),
            options.engine,
        )
        for first in dict.fromkeys(job.first_key for job in pending.values()):
            group = [job for job in pending.values() if job.first_key == first]
            run_group(bench, group, queries, bar)
            read({job.key for job in group})
    return [results[number] for number in range(len(jobs))]


def run_group(bench: Bench, group: Sequence[Job], queries: Sequence[Query], bar: Parts) -> None:
    """Make the runs of jobs that share a first stage; of the bar they are as many parts as jobs.

    Where another process is making one of them, this waits, and makes those that are not there then.
    """
    size = len(group) / (len(group) + 2)
    bar.begin(size, group[0].first_key[0])
    with ExitStack() as stack:
        # In the order of keys: two processes that hold runs of each other would wait for ever.
        drafts = {
            job.key: stack.enter_context(drafting(job.folder, KIND, job.key, job.params))
            for job in sorted(group, key=lambda job: job.key)
        }
        drafted = [(job, draft) for job in group if (draft := drafts[job.key]) is not None]
        if drafted:
            _make_runs(bench, drafted, queries, bar, size)
        else:
            bar.begin(size * (len(group) + 1))


def _make_runs(
    bench: Bench, drafted: Sequence[tuple[Job, Draft]], queries: Sequence[Query], bar: Parts, size: float
) -> None:
    """Fill the drafts of runs; each job, and the search, is a part of the bar of this size."""
    group = [job for job, _ in drafted]
    label, depth = group[0].first_key
    first = bench.first_stage(group[0].system.first, depth)
    for job in group:
        bar.begin(size, job.system.shown())
        bench.build(job.system)
    bar.begin(size, label)
    folders = [draft.folder / FOLDER for _, draft in drafted]
    for folder in folders:
        folder.mkdir(exist_ok=True)
    names = [f"{start:09d}" for start in range(0, len(queries), BATCH)]
    for number, name in enumerate(names):
        missing = [i for i, folder in enumerate(folders) if not has_shard(folder, name, NOTES)]
        batch = queries[number * BATCH : (number + 1) * BATCH]
        pipeline = Pipeline(bench, first.ranker, [group[i] for i in missing], batch)
        for i in missing:
            write_shard(folders[i], name, _run_batch(bench, pipeline, group[i]))
        bench.progress(min((number + 1) * BATCH, len(queries)), len(queries), label)
    recall = _recall(bench, first, group[0], queries)
    for job, draft in drafted:
        cost, meta = bench.cost(job.system, first)
        counts = join_shards(draft.folder, names, job.system, cost, meta | recall)
        draft.counts = {"queries": len(queries), **counts}


def _recall(bench: Bench, first: OpenedRanker, job: Job, queries: Sequence[Query]) -> dict[str, int | float | str]:
    """How much of what exact search finds a first stage looks at, for some queries; {} where it looks at all."""
    if not isinstance(first.ranker, Proposing):
        return {}
    some = queries[:: -(-len(queries) // MEASURED)]
    recall = first.ranker.recall([bench.search(job.system.first, query, job.source) for query in some])
    return {} if recall is None else {"candidate_recall": round(recall, 4), "candidate_recall_queries": len(some)}


def _run_batch(bench: Bench, pipeline: Pipeline, job: Job) -> Shard:
    result, queries = pipeline.run(job), pipeline.queries
    bare = job.source != "none" and sum(not bench.conditions(query, job.source).conditions for query in queries)
    return run_shard([query.query_id for query in queries], result, int(bare), bench.corpus["doc_id"])
