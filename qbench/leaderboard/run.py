"""Run systems on a benchmark and write the leaderboard."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from importlib.metadata import version
from pathlib import Path
from typing import Any

import polars as pl

from qbench import __version__
from qbench.benchmark.audits import audit_note, audit_of
from qbench.benchmark.benchmark import Benchmark
from qbench.benchmark.types import Query, Split
from qbench.errors import OptionError
from qbench.evaluation.buckets import query_buckets
from qbench.evaluation.measures import parse_measures, relevant_queries, score_run
from qbench.evaluation.significance import RESAMPLES, By, SignificanceTests
from qbench.leaderboard.alphas import alpha_buckets
from qbench.leaderboard.board import Board, Ran, read_board
from qbench.leaderboard.evidence import Collection, Evidence, heads
from qbench.leaderboard.outcomes import Outcome, all_outcomes, rows, write_errors
from qbench.leaderboard.pictures import Picture, explained_row, picture
from qbench.leaderboard.run_notes import run_notes
from qbench.leaderboard.standings import Entry
from qbench.leaderboard.table import Leaderboard, make_leaderboard
from qbench.leaderboard.views import DEFAULT_SYSTEMS, Contest, line_up, pooled_qrels
from qbench.llm.client import Access
from qbench.locks import locked
from qbench.mining.test_set import QuantityTestSet
from qbench.progress import Parts, Progress, silent
from qbench.quantities.extractors import get_extractor
from qbench.quantities.units import load_units
from qbench.retrieval.document_quantities import DocumentQuantities, extractor_options, uses_stored
from qbench.retrieval.grammar import parse_system
from qbench.retrieval.jobs import ExecuteOptions, Setting
from qbench.retrieval.systems import System
from qbench.store import MANIFEST
from qbench.work.tasks import Engine

__all__ = ["DEFAULT_SYSTEMS", "run_leaderboard", "run_settings", "select_queries", "sort_into_buckets", "versions"]

DEPTH = 1000
"""Number of documents kept per query."""


def run_leaderboard(
    benchmark: str | Path | Benchmark | QuantityTestSet,
    systems: Sequence[str | System] | None = None,
    *,
    output: str | Path,
    work: str | Path | None = None,
    labels: Mapping[str, str] | None = None,
    add: bool = False,
    command: str | None = None,
    split: Split = "test",
    qrels: str | None = None,
    measures: Sequence[str] | None = None,
    primary: str | None = None,
    settings: Sequence[Setting] | None = None,
    document_quantities: DocumentQuantities = "auto",
    buckets: bool = True,
    evidence: bool = False,
    depth: int = DEPTH,
    pool: int | None = None,
    by: By = "topic",
    resamples: int = RESAMPLES,
    seed: int = 0,
    workers: int | None = None,
    engine: Engine | None = None,
    access: Access | None = None,
    progress: Progress = silent,
) -> Leaderboard:
    """Run systems on a benchmark, score them, test their differences, and write the leaderboard.

    Runs are stored in `work`/runs and indexes in `work`/indexes. Finished ones are reused, and an interrupted call
    resumes. If a system fails, the others still run: its row has no figures, and `Leaderboard.problems` has the
    reason. Tracebacks of unexpected errors are written to `output`/errors.txt.

    Args:
        benchmark: a folder (ours, a BEIR folder as it is, or a test set), or a benchmark or test set in memory.
        systems: names in the grammar (`qbench systems` lists them), or parsed ones; on a test set names with the corpus
            to search in front, C_s- or C_q-. Before a name may stand a label: "MiniLM=SBERT(model=...)". By default
            `DEFAULT_SYSTEMS`, on a test set BM25 on both corpora; of a board that is added to, none but its own.
        output: the output folder for runs and tables, created if missing.
        work: a separate folder for runs and indexes, which leaderboards can share.
        labels: system in the grammar -> what it is called in the tables, as if it stood before the name.
        add: add rows to the board that is in `output`; else it is replaced.
        command: the command line, for the tables.
        split: split of the benchmark with the queries to run.
        qrels: which judgments of a BEIR folder with several.
        measures: measure names as in `parse_measures`; by default those of *Numbers Matter*, on a test set those of
            *Quantity Retrieval*.
        primary: the measure that decides the ranks; the first one by default.
        settings: source of the queries' conditions: given as data, or parsed from the query's text; by default both, or
            only parsed if the queries have no conditions.
        document_quantities: whether systems see the benchmark's own quantities of its documents (stored) or those that
            qbench finds in the texts (extracted); auto takes its own where an extractor found them, never gold ones.
        buckets: also compute means by kind of query.
        evidence: keep queries, top documents and their texts with the leaderboard, for `Leaderboard.to_html`.
        depth: number of documents per query in a run.
        pool: treat as relevant only documents in the top `pool` of at least one system, and drop queries without such
            documents (*Quantity Retrieval*, 5.3). The figures then depend on the set of systems.
        by: whether tests, intervals and ranks go by topic, or take each query for independent of all others.
        resamples, seed: resamples and random seed of the significance tests.
        workers: number of processes that extract quantities; the number of cores by default.
        engine: what extracts quantities, and encodes documents: `qbench.work.on_ray.on_ray` for a cluster; by
            default processes of this machine, and this process. It changes no result.
        access: recording, budget and timeouts of systems that call a server; by default unlimited, with answers
            recorded in `work`/answers.sqlite.
        progress: reports progress.

    Raises:
        UnknownNameError: a system or a measure is not known.
        OptionError: an option is invalid, the split has no queries, or `output` is another artefact.
        InputError: the benchmark cannot be read.
        BusyError: another process is writing to `output`.

    If every system fails, the first error is raised.
    """
    tests = SignificanceTests(by, resamples, seed)
    for count in (depth, 1 if pool is None else pool):
        if count < 1:
            raise OptionError("a run keeps at least one document per query", value=count)
    contest = line_up(benchmark, systems, qrels, labels)
    measured = parse_measures(contest.measures if measures is None else measures, primary)
    queries, left_out = select_queries(contest.groups[0].benchmark, split)
    options = ExecuteOptions(
        split=split,
        settings=run_settings(queries, settings),
        depth=depth,
        document_quantities=document_quantities,
        workers=workers,
        engine=engine,
        access=Access() if access is None else access,
        progress=progress,
    )
    folder = output_folder(output)
    asked = _Asked(
        contest=contest,
        queries=queries,
        left_out=left_out,
        options=options,
        work=folder if work is None else output_folder(work),
        measures=measured,
        pool=pool,
        tests=tests,
        buckets=buckets,
        evidence=evidence,
        command=command,
    )
    with locked(folder):
        board = read_board(folder) if add else None
        if board is not None:
            board.check(_about(asked, 0))
        bar = Parts(progress, sum(len(rows(group, options)) for group in contest.groups) + 1)
        outcomes = all_outcomes(contest, board, asked.work, options, nothing_new=systems is None, bar=bar)
        bar.begin(1, "tests")
        leaderboard = _scored(asked, outcomes, board, bar)
        write_errors(folder, [text for outcome in outcomes for text in outcome.tracebacks])
        leaderboard.write(folder)
    return leaderboard


@dataclass(frozen=True)
class _Asked:
    """What a call of `run_leaderboard` asks for: what is run, and how the runs are scored.

    Attributes:
        contest: the benchmarks and systems.
        queries: those of the split with relevant documents.
        left_out: a note about its other queries, or none.
        options: of the runs.
        work: folder of runs and indexes.
        measures: the primary one first.
        pool, buckets, evidence, command: as in `run_leaderboard`.
        tests: how differences are tested.
    """

    contest: Contest
    queries: list[Query]
    left_out: list[str]
    options: ExecuteOptions
    work: Path
    measures: Sequence[str]
    pool: int | None
    tests: SignificanceTests
    buckets: bool
    evidence: bool
    command: str | None


def _scored(asked: _Asked, outcomes: list[Outcome], board: Board | None, progress: Progress) -> Leaderboard:
    """The leaderboard of some runs: judged, sorted into buckets, tested."""
    split = asked.options.split
    judged = _Judged([outcome.group.benchmark.judged(split) for outcome in outcomes], asked.queries)
    judged = judged if asked.pool is None else _pooled(outcomes, judged, asked.pool)
    buckets, bucket_notes = _buckets(asked, outcomes[0].ran) if asked.buckets else (None, [])
    labelled = asked.contest.groups[0].benchmark
    return make_leaderboard(
        asked.contest.name,
        _entries(outcomes, judged, asked.measures),
        asked.measures,
        topics={query.query_id: query.topic for query in judged.queries},
        tests=asked.tests,
        buckets=buckets,
        about=_about(asked, len(judged.queries), board),
        notes=[
            *asked.left_out,
            *_notes(asked.contest, outcomes, judged, asked.options.depth),
            *bucket_notes,
            *audit_notes(labelled),
        ],
        words=audit_words(labelled),
        evidence=_evidence(asked, outcomes, judged, buckets) if asked.evidence else None,
        progress=progress,
    )


@dataclass(frozen=True)
class _Judged:
    """The qrels of each group, the queries to score, and notes about them."""

    qrels: list[pl.DataFrame]
    queries: list[Query]
    notes: Sequence[str] = ()

    @property
    def query_ids(self) -> list[str]:
        return [query.query_id for query in self.queries]


def _pooled(outcomes: list[Outcome], judged: _Judged, depth: int) -> _Judged:
    runs = [(outcome.group, [ran.result for ran in outcome.ran]) for outcome in outcomes]
    qrels, removed = pooled_qrels(runs, depth)
    answered = set(relevant_queries(qrels[0]))
    queries = [query for query in judged.queries if query.query_id in answered]
    if not queries:
        raise OptionError("no system found a relevant document", value=depth, remedy="Increase pool, or leave it out")
    notes = [
        f"Pooled: relevant is only what some system found among its first {depth} ("
        + ", ".join(
            f"{relevant.height} of {relevant.height + dropped.height} {outcome.group.prefix.rstrip('-') or 'judgments'}"
            for outcome, relevant, dropped in zip(outcomes, qrels, removed, strict=True)
        )
        + "). Figures depend on which systems take part."
    ]
    dropped = len(judged.queries) - len(queries)
    notes += [f"{dropped} queries for which no system found anything relevant are left out."] if dropped else []
    return _Judged(qrels, queries, notes)


def select_queries(benchmark: Benchmark, split: Split) -> tuple[list[Query], list[str]]:
    """The queries of a split with relevant documents, and a note about the others."""
    of_split = benchmark.queries_of(split)
    if not of_split:
        splits = [name for name in ("train", "dev", "test") if any(query.split == name for query in benchmark.queries)]
        raise OptionError(
            f"{benchmark.name} has no queries in this split", value=split, remedy=f"Use {' or '.join(splits)}"
        )
    answered = set(relevant_queries(benchmark.judged(split)))
    queries = [query for query in of_split if query.query_id in answered]
    if not queries:
        raise OptionError(f"no query of this split of {benchmark.name} has a relevant document", value=split)
    unanswerable = len(of_split) - len(queries)
    return queries, [f"{unanswerable} queries without a relevant document are left out."] if unanswerable else []


def run_settings(queries: list[Query], settings: Sequence[Setting] | None) -> tuple[Setting, ...]:
    """The settings in which systems with conditions run; by default those that the queries allow.

    Raises:
        OptionError: one is unknown, or conditions are to be given and no query has any.
    """
    has_conditions = any(query.conditions for query in queries)
    if settings is None:
        return ("given", "parsed") if has_conditions else ("parsed",)
    chosen = tuple(dict.fromkeys(settings))
    if not chosen or any(setting not in ("given", "parsed") for setting in chosen):
        raise OptionError("unknown source of conditions", value=chosen, remedy="Use given, parsed, or both")
    if "given" in chosen and not has_conditions:
        raise OptionError("these queries have no conditions", value="given", remedy="Use the setting parsed")
    return chosen


def output_folder(output: str | Path) -> Path:
    """Absolute path of the output folder.

    Raises:
        OptionError: it is a file, or a qbench artefact.
    """
    folder = Path(output).absolute()
    if folder.exists() and not folder.is_dir():
        raise OptionError("the output is a file, and a folder is needed", file=folder)
    if (folder / MANIFEST).exists():
        raise OptionError("the output folder is itself a qbench artefact", file=folder, remedy="Choose another folder")
    return folder


def _entries(outcomes: list[Outcome], judged: _Judged, measures: Sequence[str]) -> list[Entry]:
    """The rows of all groups: scored runs first, then rows without a run."""
    entries = [
        Entry(
            label=ran.label,
            system=ran.system,
            conditions=ran.result.conditions,
            scores=score_run(ran.result.run, qrels, measures, judged.query_ids),
            cost=ran.result.cost,
            digest=ran.result.digest,
            meta=ran.result.meta,
            trained_on=ran.trained_on,
        )
        for outcome, qrels in zip(outcomes, judged.qrels, strict=True)
        for ran in outcome.ran
    ]
    return [*entries, *(entry for outcome in outcomes for entry in outcome.failed)]


def _notes(contest: Contest, outcomes: list[Outcome], judged: _Judged, depth: int) -> list[str]:
    """What is said of the runs under the table."""
    runs = [(outcome.ran, qrels) for outcome, qrels in zip(outcomes, judged.qrels, strict=True)]
    return [
        *(note for outcome in outcomes for note in outcome.notes),
        *judged.notes,
        *run_notes(runs, judged.query_ids, judged_fully=contest.judged_fully, depth=depth),
    ]


def _evidence(asked: _Asked, outcomes: list[Outcome], judged: _Judged, buckets: pl.DataFrame | None) -> Evidence:
    return Evidence(
        tuple(judged.queries),
        buckets,
        tuple(
            Collection(
                heads((ran.label, ran.result.run) for ran in outcome.ran),
                qrels,
                outcome.group.benchmark.corpus,
                lambda benchmark=outcome.group.benchmark: benchmark.quantities,  # type: ignore[misc]
            )
            for outcome, qrels in zip(outcomes, judged.qrels, strict=True)
        ),
        _picture(asked, outcomes[0], judged),
    )


def _picture(asked: _Asked, outcome: Outcome, judged: _Judged) -> Picture | None:
    searched = asked.options.document_quantities == "auto" and (asked.work / "indexes").is_dir()
    if outcome.group.prefix or not searched:
        return None  # explanations search the indexes of the defaults, and no index is made for a picture
    rows = {ran.label: (parse_system(ran.result.system), ran.result.conditions) for ran in outcome.ran}
    row = explained_row((label, system) for label, (system, _) in rows.items())
    return row and picture(outcome.group.benchmark, row, judged.queries, asked.work, rows[row[0]][1])


def _buckets(asked: _Asked, ran: Iterable[Ran]) -> tuple[pl.DataFrame, list[str]]:
    contest = asked.contest
    if contest.buckets is not None:
        return contest.buckets(), []
    systems = [parse_system(row.result.system) for row in ran]
    return sort_into_buckets(asked.queries, contest.groups[0].benchmark, systems)


def sort_into_buckets(
    queries: list[Query], benchmark: Benchmark, systems: Iterable[System] = ()
) -> tuple[pl.DataFrame, list[str]]:
    """Buckets of a benchmark's queries; missing conditions are parsed from the text, with a note.

    A DeepQuant among the systems sorts them by its alpha, too.

    Unit families come from the benchmark's quantities, which cover the user's own units, else from the built-in units,
    where an unknown unit is a counted noun.
    """
    units, families = load_units(), _families(benchmark)
    bare = sum(not query.conditions for query in queries)
    asked = _with_conditions(queries, benchmark) if bare else queries
    frame = query_buckets(asked, lambda name: families[name] if name in families else units.get(name).family)
    alphas, notes = alpha_buckets(systems, asked)
    note = f"Buckets: the conditions of {bare} of {len(queries)} queries are not given; they were read from the text."
    return pl.concat([frame, alphas]), [*([note] if bare else []), *notes]


def audit_notes(benchmark: Benchmark) -> list[str]:
    """What an audit found of a benchmark's labels, for the foot of a table; empty if nobody read them."""
    return [] if audit_words(benchmark) else [audit_note(benchmark.audit, benchmark.digest)]


def audit_words(benchmark: Benchmark) -> list[str]:
    """The words for a benchmark whose labels nobody read."""
    return [] if audit_of(benchmark.audit, benchmark.digest) else ["labels not audited"]


def _families(benchmark: Benchmark) -> dict[str, str]:
    quantities = benchmark.read("quantities")
    if quantities is None:
        return {}
    return dict(quantities.select("unit", "family").drop_nulls().unique().sort("unit", "family").iter_rows())


def _with_conditions(queries: list[Query], benchmark: Benchmark) -> list[Query]:
    extractor = get_extractor(extractor_options(benchmark))
    return [
        query if query.conditions else replace(query, conditions=extractor.parse_query(query.text).conditions)
        for query in queries
    ]


def _about(asked: _Asked, queries: int, board: Board | None = None) -> dict[str, Any]:
    """Provenance of the figures of so many queries; independent of where the folders are."""
    contest, options, command = asked.contest, asked.options, asked.command
    benchmark = contest.groups[0].benchmark
    neural = any(system.is_neural for group in contest.groups for system in group.systems)
    if board is not None:
        neural, command = neural or board.neural, board.commands(command)
    quantities = f"found in their texts by qbench (extractor {extractor_options(benchmark).name})"
    if uses_stored(benchmark, options.document_quantities):
        quantities = f"stored in the benchmark ({benchmark.params.get('quantities') or 'source unknown'})"
    return {
        "command": command,
        "benchmark": {
            "name": contest.name,
            "digest": contest.digest,
            "split": options.split,
            "queries": queries,
            **contest.sizes,
        },
        "settings": {
            "conditions": list(options.settings),
            "depth": options.depth,
            "document_quantities": quantities,
            **({} if asked.pool is None else {"pool": asked.pool}),
        },
        "versions": versions(neural=neural),
    }


def versions(*, neural: bool = False) -> dict[str, str]:
    """Versions of qbench and of the packages that can change a figure."""
    packages = ["ir-measures", "numpy", "polars", *(["torch", "transformers", "sentence-transformers"] * neural)]
    return {"qbench": __version__, **{name: version(name) for name in packages}}
