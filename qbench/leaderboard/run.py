"""From a benchmark and names of systems to a leaderboard in a folder."""

from __future__ import annotations

import traceback
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from importlib.metadata import version
from pathlib import Path
from typing import Any

import polars as pl

from qbench import __version__
from qbench.benchmark.benchmark import Benchmark
from qbench.benchmark.types import Query, Split
from qbench.errors import BusyError, OptionError, QbenchError
from qbench.evaluation.buckets import query_buckets
from qbench.evaluation.measures import parse_measures, relevant_queries, score_run
from qbench.evaluation.significance import RESAMPLES, check_resamples
from qbench.leaderboard.evidence import Collection, Evidence, heads
from qbench.leaderboard.standings import Entry
from qbench.leaderboard.table import Leaderboard, make_leaderboard
from qbench.leaderboard.views import DEFAULT_SYSTEMS, Contest, Group, line_up, pooled_qrels
from qbench.llm.client import Access
from qbench.mining.test_set import QuantityTestSet
from qbench.progress import Progress, silent
from qbench.quantities.extractors import get_extractor
from qbench.quantities.units import load_units
from qbench.retrieval.document_quantities import DocumentQuantities, extractor_options, uses_stored
from qbench.retrieval.execute import execute
from qbench.retrieval.jobs import ExecuteOptions, Setting
from qbench.retrieval.systems import System
from qbench.retrieval.types import ConditionSource, RunResult
from qbench.store import MANIFEST, locked, write_text

__all__ = ["DEFAULT_SYSTEMS", "run_leaderboard", "select_queries", "sort_into_buckets", "unjudged", "versions"]

DEPTH = 1000
"""Documents per query that a run keeps."""

TOP = 10
"""Depth of the check for unjudged documents."""

ERRORS = "errors.txt"
"""The file of `output` with the tracebacks of errors that qbench did not expect."""


def run_leaderboard(
    benchmark: str | Path | Benchmark | QuantityTestSet,
    systems: Sequence[str | System] | None = None,
    *,
    output: str | Path,
    work: str | Path | None = None,
    names: Mapping[str, str] | None = None,
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
    resamples: int = RESAMPLES,
    seed: int = 0,
    workers: int | None = None,
    access: Access | None = None,
    progress: Progress = silent,
) -> Leaderboard:
    """Run systems on a benchmark, score them, test their differences, and write the leaderboard.

    Runs are kept in `work`/runs, indexes in `work`/indexes: a finished one is not made again, a killed call goes on
    where it was. A system that fails does not lose the others: its row has no figures, and the reason stands in
    `Leaderboard.problems`. The traceback of an error that qbench did not expect stands in `output`/errors.txt.

    Args:
        benchmark: a folder (ours, a BEIR folder as it is, or a test set), or a benchmark or test set in memory.
        systems: names in the grammar (`qbench systems` lists them), or parsed ones; on a test set names with the corpus
            to search in front, C_s- or C_q-. By default `DEFAULT_SYSTEMS`, on a test set BM25 on both corpora.
        output: the folder for runs and tables; made if need be.
        work: another folder for runs and indexes, which several leaderboards may share.
        names: what systems of a benchmark are called in the tables, instead of by their names in the grammar.
        command: the command line, for the tables.
        split: split of the benchmark whose queries are asked.
        qrels: which judgments of a BEIR folder with several.
        measures: names that `parse_measures` takes; by default those of *Numbers Matter*, on a test set those of
            *Quantity Retrieval*.
        primary: the measure that decides the ranks; the first one by default.
        settings: where systems take conditions from: given as data, parsed from the query's text; by default both, or
            parsed alone if the queries come without conditions.
        document_quantities: whether systems see the benchmark's own quantities of its documents (stored) or those that
            qbench finds in the texts (extracted); auto takes its own where an extractor found them, never gold ones.
        buckets: also give means by kind of query.
        evidence: keep queries, heads of runs and documents with the leaderboard, for `Leaderboard.to_html`.
        depth: documents per query in a run.
        pool: count as relevant only what some system found among its first `pool` documents, and leave out the queries
            for which none found anything (*Quantity Retrieval*, 5.3). Figures then depend on which systems take part.
        resamples, seed: of the tests.
        workers: processes that extract quantities; as many as cores by default.
        access: how systems that ask a server may do so: recording, budget, patience; by default without a limit, and
            recorded in `work`/answers.sqlite.
        progress: reports what is being done.

    Raises:
        UnknownNameError: a system or a measure is not known.
        OptionError: an option makes no sense, the split has no queries, or `output` is another artefact.
        InputError: the benchmark cannot be read.
        BusyError: another process is writing to `output`.

    If every system fails, the first one's error is raised.
    """
    check_resamples(resamples)
    for number in (depth, 1 if pool is None else pool):
        if number < 1:
            raise OptionError("a run keeps at least one document per query", value=number)
    contest = line_up(benchmark, systems, qrels, names)
    measured = parse_measures(contest.measures if measures is None else measures, primary)
    queries, left_out = select_queries(contest.groups[0].benchmark, split)
    options = ExecuteOptions(
        split=split,
        settings=_settings(queries, settings),
        depth=depth,
        document_quantities=document_quantities,
        workers=workers,
        access=Access() if access is None else access,
        progress=progress,
    )
    folder = output_folder(output)
    work_folder = folder if work is None else output_folder(work)
    with locked(folder):
        ran = [_execute(group, work_folder, options) for group in contest.groups]
        if not any(one.results for one in ran):
            raise next(one.first for one in ran if one.first is not None)
        judged = _Judged([group.benchmark.qrels for group in contest.groups], queries)
        judged = judged if pool is None else _pooled(ran, judged, pool)
        bucket_table, bucket_notes = _buckets(contest, queries) if buckets else (None, [])
        leaderboard = make_leaderboard(
            contest.name,
            _entries(ran, judged, measured),
            measured,
            buckets=bucket_table,
            about=_about(contest, len(judged.queries), options, pool, command),
            notes=[*left_out, *judged.notes, *_run_notes(contest, ran, judged), *bucket_notes],
            evidence=_evidence(ran, judged, bucket_table) if evidence else None,
            resamples=resamples,
            seed=seed,
            progress=progress,
        )
        _keep_errors(folder, [text for one in ran for text in one.tracebacks])
        leaderboard.write(folder)
    return leaderboard


@dataclass
class _Ran:
    """What became of the rows of a group.

    Attributes:
        group: what ran on what.
        results: the runs.
        failed: the rows without one.
        tracebacks: of errors that are not qbench's own.
        first: the first error.
    """

    group: Group
    results: list[RunResult] = field(default_factory=list)
    failed: list[Entry] = field(default_factory=list)
    tracebacks: list[str] = field(default_factory=list)
    first: Exception | None = None


@dataclass(frozen=True)
class _Judged:
    """What runs are scored by: the qrels of each group, the queries that count, what to say about them."""

    qrels: list[pl.DataFrame]
    queries: list[Query]
    notes: Sequence[str] = ()

    @property
    def query_ids(self) -> list[str]:
        return [query.query_id for query in self.queries]


def _pooled(ran: list[_Ran], judged: _Judged, depth: int) -> _Judged:
    qrels, lost = pooled_qrels([(one.group, one.results) for one in ran], depth)
    left = set(relevant_queries(qrels[0]))
    queries = [query for query in judged.queries if query.query_id in left]
    if not queries:
        raise OptionError("no system found anything relevant", value=depth, remedy="Pool deeper, or do not pool")
    notes = [
        f"Pooled: relevant is only what some system found among its first {depth} ("
        + ", ".join(
            f"{kept.height} of {kept.height + gone.height} {one.group.prefix.rstrip('-') or 'judgments'}"
            for one, kept, gone in zip(ran, qrels, lost, strict=True)
        )
        + "). Figures depend on which systems take part."
    ]
    gone = len(judged.queries) - len(queries)
    notes += [f"{gone} queries for which no system found anything relevant are left out."] if gone else []
    return _Judged(qrels, queries, notes)


def select_queries(benchmark: Benchmark, split: Split) -> tuple[list[Query], list[str]]:
    """The queries of a split that can be scored, and what to say about the others."""
    every = benchmark.queries_of(split)
    if not every:
        there = [name for name in ("train", "dev", "test") if any(query.split == name for query in benchmark.queries)]
        raise OptionError(
            f"{benchmark.name} has no queries in this split", value=split, remedy=f"Use {' or '.join(there)}"
        )
    answered = set(relevant_queries(benchmark.qrels))
    queries = [query for query in every if query.query_id in answered]
    if not queries:
        raise OptionError(f"no query of this split of {benchmark.name} has a relevant document", value=split)
    lost = len(every) - len(queries)
    return queries, [f"{lost} queries without a relevant document are left out."] if lost else []


def _settings(queries: list[Query], settings: Sequence[Setting] | None) -> tuple[Setting, ...]:
    known = any(query.conditions for query in queries)
    if settings is None:
        return ("given", "parsed") if known else ("parsed",)
    chosen = tuple(dict.fromkeys(settings))
    if not chosen or any(setting not in ("given", "parsed") for setting in chosen):
        raise OptionError("unknown source of conditions", value=chosen, remedy="Use given, parsed, or both")
    if "given" in chosen and not known:
        raise OptionError("these queries come without conditions", value="given", remedy="Use the setting parsed")
    return chosen


def output_folder(output: str | Path) -> Path:
    """The absolute path of a folder to write into.

    Raises:
        OptionError: it is a file, or an artefact of its own.
    """
    folder = Path(output).absolute()
    if folder.exists() and not folder.is_dir():
        raise OptionError("the output is a file, and a folder is needed", file=folder)
    if (folder / MANIFEST).exists():
        raise OptionError("the output folder is itself a qbench artefact", file=folder, remedy="Choose another folder")
    return folder


def _execute(group: Group, folder: Path, options: ExecuteOptions) -> _Ran:
    """All rows of a group at once; if that fails, one after the other, so that only those at fault are lost."""
    rows = [(system, setting) for system in group.systems for setting in options.settings if system.uses_conditions]
    rows += [(system, options.settings[0]) for system in group.systems if not system.uses_conditions]
    try:
        return _Ran(group, execute(group.benchmark, group.systems, folder, options))
    except BusyError:
        raise
    except Exception as error:
        ran = _Ran(group, first=error)
        if len(rows) == 1:
            return _fail(ran, rows[0], error)
        ran.tracebacks += _unexpected(f"{group.prefix}all rows at once", error)
    for system, setting in rows:
        try:
            ran.results += execute(group.benchmark, [system], folder, replace(options, settings=(setting,)))
        except Exception as error:
            _fail(ran, (system, setting), error)
    return ran


def _fail(ran: _Ran, row: tuple[System, Setting], error: Exception) -> _Ran:
    """Note that a row has no run."""
    system, setting = row
    source: ConditionSource = setting if system.uses_conditions else "none"
    name, label = ran.group.named(system), ran.group.label(system, source)
    unexpected = _unexpected(label, error)
    reason = f"{type(error).__name__}: {error} (traceback in {ERRORS})" if unexpected else str(error)
    ran.failed.append(Entry(label, name, source, problem=reason))
    ran.tracebacks += unexpected
    return ran


def _unexpected(label: str, error: Exception) -> list[str]:
    if isinstance(error, QbenchError):
        return []
    return [f"{label}\n{''.join(traceback.format_exception(error))}"]


def _keep_errors(folder: Path, tracebacks: list[str]) -> None:
    if tracebacks:
        write_text(folder / ERRORS, "\n".join(tracebacks))
    else:
        (folder / ERRORS).unlink(missing_ok=True)


def _entries(ran: list[_Ran], judged: _Judged, measures: Sequence[str]) -> list[Entry]:
    """The rows of all groups: those with a run, scored by the judgments of their group, then those without."""
    entries = [
        Entry(
            label=one.group.label(result.system, result.conditions),
            system=one.group.named(result.system),
            conditions=result.conditions,
            scores=score_run(result.run, qrels, measures, judged.query_ids),
            cost=result.cost,
            digest=result.digest,
            meta=result.meta,
        )
        for one, qrels in zip(ran, judged.qrels, strict=True)
        for result in one.results
    ]
    return [*entries, *(entry for one in ran for entry in one.failed)]


def _evidence(ran: list[_Ran], judged: _Judged, buckets: pl.DataFrame | None) -> Evidence:
    return Evidence(
        tuple(judged.queries),
        buckets,
        tuple(
            Collection(
                heads((one.group.label(result.system, result.conditions), result.run) for result in one.results),
                qrels,
                one.group.benchmark.corpus,
                lambda benchmark=one.group.benchmark: benchmark.quantities,  # type: ignore[misc]
            )
            for one, qrels in zip(ran, judged.qrels, strict=True)
        ),
    )


def _run_notes(contest: Contest, ran: list[_Ran], judged: _Judged) -> list[str]:
    """What a reader should know of the runs: each thing once, with the rows that it is said of."""
    rows: dict[str, list[str]] = {}
    for one, qrels in zip(ran, judged.qrels, strict=True):
        for result in one.results:
            notes = _notes_of(result)
            if not contest.judged_fully:
                notes += unjudged(result.run, qrels, judged.query_ids)
            for note in notes:
                rows.setdefault(note, []).append(one.group.label(result.system, result.conditions))
    return [f"{', '.join(labels)}: {note}" for note, labels in rows.items()]


def _notes_of(result: RunResult) -> list[str]:
    """What the making of a run has to say of it."""
    notes, asked = [], result.meta.get("queries", 0)
    bare, empty = result.meta.get("queries_without_condition", 0), result.meta.get("queries_without_results", 0)
    if bare:
        verb = "found in the text" if result.conditions == "parsed" else "given"
        notes.append(f"no condition was {verb} for {bare} of {asked} queries.")
    if empty:
        notes.append(f"no results for {empty} of {asked} queries; they score 0.")
    kinds = ("documents_cut", "note")
    prefixes = {name.removesuffix(kind) for name in result.meta for kind in kinds if name.endswith(kind)}
    for prefix in sorted(prefixes, key=lambda prefix: (len(prefix), prefix)):
        # "reranker_" says "reranker: ", "reranker2_" says "reranker 2: "
        who = f"{prefix.removesuffix('_').replace('reranker', 'reranker ').strip()}: " if prefix else ""
        cut = result.meta.get(f"{prefix}documents_cut", 0)
        if cut:
            notes.append(f"{who}{cut} documents are longer than the model reads, and were cut.")
        if f"{prefix}note" in result.meta:
            notes.append(f"{who}{result.meta[f'{prefix}note']}.")
    return notes


def unjudged(run: pl.DataFrame, qrels: pl.DataFrame, query_ids: Sequence[str]) -> list[str]:
    """Which share of a run's first ten documents nobody judged, as a note; none where all are judged.

    Args:
        run: columns query_id, doc_id, rank.
        qrels: columns query_id, doc_id, grade; grade 0 is a judgment too.
        query_ids: the queries that count.
    """
    top = run.filter(pl.col("query_id").is_in(list(query_ids)) & (pl.col("rank") <= TOP))
    missing = top.join(qrels, on=["query_id", "doc_id"], how="anti").height
    if not missing:
        return []
    share = 100 * missing / top.height
    return [f"{share:.1f} % of the documents in the top {TOP} are not judged; they count as not relevant."]


def _buckets(contest: Contest, queries: list[Query]) -> tuple[pl.DataFrame, list[str]]:
    if contest.buckets is not None:
        return contest.buckets(), []
    return sort_into_buckets(queries, contest.groups[0].benchmark)


def sort_into_buckets(queries: list[Query], benchmark: Benchmark) -> tuple[pl.DataFrame, list[str]]:
    """The buckets of a benchmark's queries; conditions that are not given are read from the text, and a note says so.

    A unit's family is what the benchmark's quantities say, which know the units of a user's own file; else that of the
    built-in units, where an unknown name is a counted noun.
    """
    units, families = load_units(), _families(benchmark)
    bare = sum(not query.conditions for query in queries)
    frame = query_buckets(
        _with_conditions(queries, benchmark) if bare else queries,
        lambda name: families[name] if name in families else units.get(name).family,
    )
    note = f"Buckets: the conditions of {bare} of {len(queries)} queries are not given; they were read from the text."
    return frame, [note] if bare else []


def _families(benchmark: Benchmark) -> dict[str, str]:
    if benchmark.quantities is None:
        return {}
    return dict(benchmark.quantities.select("unit", "family").drop_nulls().unique().sort("unit", "family").iter_rows())


def _with_conditions(queries: list[Query], benchmark: Benchmark) -> list[Query]:
    extractor = get_extractor(extractor_options(benchmark))
    return [
        query if query.conditions else replace(query, conditions=extractor.parse_query(query.text).conditions)
        for query in queries
    ]


def _about(
    contest: Contest, queries: int, options: ExecuteOptions, pool: int | None, command: str | None
) -> dict[str, Any]:
    """Where the figures come from: the same for the same call, wherever the folders lie."""
    benchmark = contest.groups[0].benchmark
    neural = any(system.is_neural for group in contest.groups for system in group.systems)
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
            **({} if pool is None else {"pool": pool}),
        },
        "versions": versions(neural=neural),
    }


def versions(*, neural: bool = False) -> dict[str, str]:
    """Of qbench, and of the packages that can change a figure."""
    packages = ["ir-measures", "numpy", "polars", *(["torch", "transformers", "sentence-transformers"] * neural)]
    return {"qbench": __version__, **{name: version(name) for name in packages}}
