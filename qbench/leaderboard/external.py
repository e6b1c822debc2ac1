"""Score run files of other tools."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl

from qbench.benchmark.benchmark import Benchmark
from qbench.benchmark.disk import open_benchmark
from qbench.benchmark.trec import read_qrels, read_run
from qbench.benchmark.types import Query, Split
from qbench.errors import InputError, OptionError
from qbench.evaluation.measures import DEFAULT_MEASURES, parse_measures, relevant_queries, score_run
from qbench.evaluation.significance import RESAMPLES, By, SignificanceTests
from qbench.leaderboard.evidence import Collection, Evidence, heads
from qbench.leaderboard.run import (
    audit_notes,
    audit_words,
    select_queries,
    sort_into_buckets,
    versions,
)
from qbench.leaderboard.run_notes import unjudged
from qbench.leaderboard.standings import Entry
from qbench.leaderboard.table import Leaderboard, make_leaderboard
from qbench.mining.test_set import VIEWS, is_test_set
from qbench.progress import Progress, silent
from qbench.store import file_digest


def evaluate(
    judgments: str | Path,
    runs: Sequence[str | Path],
    *,
    names: Sequence[str] = (),
    command: str | None = None,
    split: Split = "test",
    qrels: str | None = None,
    measures: Sequence[str] = DEFAULT_MEASURES,
    primary: str | None = None,
    buckets: bool = True,
    evidence: bool = False,
    by: By = "topic",
    resamples: int = RESAMPLES,
    seed: int = 0,
    progress: Progress = silent,
) -> Leaderboard:
    """Score run files, test their differences, and rank them.

    Judged queries missing from a run score 0; queries without judgments are ignored. The notes give their numbers and
    the share of unjudged documents in the top 10 of each run.

    Args:
        judgments: a benchmark folder (ours or BEIR), or a qrels file (TREC or BEIR).
        runs: TREC run files (plain or .gz) or Parquet files with query_id, doc_id, score.
        names: names of the runs; by default the names of the files.
        command: the command line, for the tables.
        split: split of a benchmark folder.
        qrels: which judgments of a BEIR folder with several.
        measures: names that ir-measures parses.
        primary: the measure that decides the ranks; the first one by default.
        buckets: also compute means by kind of query, if the queries are known.
        evidence: keep queries, top documents and their texts with the leaderboard, for `Leaderboard.to_html`.
        by: whether tests, intervals and ranks go by topic, or take each query for independent of all others. A qrels
            file names no topics.
        resamples, seed: resamples and random seed of the significance tests.
        progress: reports after each run and each pair.

    Raises:
        InputError: a file cannot be read, or a run shares no query with the judgments.
        OptionError: no run, a number of names other than that of runs, a duplicate name, or an invalid option.
        UnknownNameError: a measure is not known.
    """
    parsed = parse_measures(measures, primary)
    tests = SignificanceTests(by, resamples, seed)
    files = [Path(run) for run in runs]
    labels = _labels(files, names)
    judged = _judgments(Path(judgments), split, qrels, buckets)
    entries, notes, run_heads = [], list(judged.notes), []
    for number, (label, file) in enumerate(zip(labels, files, strict=True), start=1):
        run = read_run(file)
        notes += _coverage(label, file, run, judged)
        scores = score_run(run, judged.qrels, parsed, judged.query_ids)
        entries.append(Entry(label, label, "unknown", scores, digest=file_digest(file)))
        run_heads += [heads({label: run})] if evidence else []
        progress(number, len(files), "runs scored")
    return make_leaderboard(
        judged.name,
        entries,
        parsed,
        topics={query.query_id: query.topic for query in judged.queries},
        tests=tests,
        buckets=judged.buckets,
        about={"command": command, "benchmark": judged.about, "versions": versions()},
        notes=notes,
        words=[] if judged.benchmark is None else audit_words(judged.benchmark),
        evidence=_evidence(judged, run_heads) if evidence else None,
        progress=progress,
    )


@dataclass(frozen=True)
class _Judged:
    """Judgments and queries to score runs by."""

    name: str
    qrels: pl.DataFrame
    query_ids: list[str]
    split: Split | None
    buckets: pl.DataFrame | None
    notes: list[str]
    digest: str = ""
    queries: tuple[Query, ...] = ()
    benchmark: Benchmark | None = None

    @property
    def about(self) -> dict[str, Any]:
        """Where judgments and queries are from, for the tables."""
        return {"name": self.name, "digest": self.digest, "split": self.split, "queries": len(self.query_ids)}


def _evidence(judged: _Judged, run_heads: list[pl.DataFrame]) -> Evidence:
    benchmark = judged.benchmark
    corpus = None if benchmark is None else benchmark.corpus
    collection = Collection(
        pl.concat(run_heads), judged.qrels, corpus, lambda: None if benchmark is None else benchmark.quantities
    )
    return Evidence(judged.queries, judged.buckets, (collection,))


def _labels(files: list[Path], names: Sequence[str]) -> list[str]:
    if not files:
        raise OptionError("no run file given")
    if names and len(names) != len(files):
        raise OptionError("give one name for each run, or none", value=f"{len(names)} names, {len(files)} runs")
    labels = list(names) or [file.name.removesuffix(".gz").rsplit(".", 1)[0] or file.name for file in files]
    twice = next((label for label in labels if labels.count(label) > 1), None)
    if twice is not None:
        raise OptionError("two runs of one name", value=twice, remedy="Name them: --names A --names B")
    return labels


def _judgments(path: Path, split: Split, qrels: str | None, buckets: bool) -> _Judged:
    """Judgments of a benchmark's split, or of a qrels file, which has no queries and no buckets."""
    if path.is_dir():
        if is_test_set(path):
            remedy = f"Name one of them: {' or '.join(str(path / view) for view in VIEWS.values())}"
            raise InputError("a test set holds two benchmarks", file=path, remedy=remedy)
        benchmark = open_benchmark(path, qrels=qrels)
        queries, notes = select_queries(benchmark, split)
        bucket_table, bucket_notes = sort_into_buckets(queries, benchmark) if buckets else (None, [])
        query_ids = [query.query_id for query in queries]
        notes = [*notes, *bucket_notes, *audit_notes(benchmark)]
        return _Judged(
            benchmark.name,
            benchmark.judged(split),
            query_ids,
            split,
            bucket_table,
            notes,
            benchmark.digest,
            tuple(queries),
            benchmark,
        )
    if qrels is not None:
        raise OptionError("only a BEIR folder has judgments to choose from", file=path, value=qrels)
    table = read_qrels(path)
    answered = relevant_queries(table)
    if not answered:
        raise InputError("no query has a relevant document", file=path)
    dropped = table.filter(~pl.col("query_id").is_in(answered))["query_id"].n_unique()
    notes = [f"{dropped} queries without a relevant document are left out."] if dropped else []
    return _Judged(path.name, table, answered, None, None, notes, file_digest(path))


def _coverage(label: str, file: Path, run: pl.DataFrame, judged: _Judged) -> list[str]:
    """Notes on a run: queries that do not match, and unjudged documents."""
    wanted = judged.query_ids
    run_queries = set(run["query_id"])
    common = run_queries.intersection(wanted)
    if not common:
        raise InputError(
            "no query of this run is among the judged ones",
            file=file,
            value=next(iter(sorted(run_queries)), "an empty run"),
            remedy=f"The judged ones look like {wanted[0]!r}",
        )
    notes = []
    if len(run_queries) > len(common):
        notes.append(
            f"{label}: {len(run_queries) - len(common)} queries of the run are not scored (not judged, or not here)."
        )
    if len(wanted) > len(common):
        notes.append(f"{label}: {len(wanted) - len(common)} judged queries are not in the run and score 0.")
    notes += _strangers(label, file, run.filter(pl.col("query_id").is_in(common)), judged)
    return notes + [f"{label}: {note}" for note in unjudged(run, judged.qrels, wanted)]


def _strangers(label: str, file: Path, run: pl.DataFrame, judged: _Judged) -> list[str]:
    """A note on documents that the benchmark does not have; a run of such alone has other ids, or another corpus."""
    if judged.benchmark is None:  # a file of judgments has a few documents of the corpus
        return []
    known, ranked = judged.benchmark.corpus["doc_id"], run["doc_id"].unique()
    missing = ranked.filter(~ranked.is_in(known.implode()))
    if len(missing) == len(ranked):
        raise InputError(
            "no document of this run is in the benchmark",
            file=file,
            value=missing.min(),
            remedy=f"Documents there look like {known.sort()[0]!r}",
        )
    if missing.is_empty():
        return []
    return [f"{label}: {len(missing)} of its documents are not in the benchmark, such as {missing.sort()[0]}."]
