"""From a benchmark and names of systems to a leaderboard in a folder."""

from __future__ import annotations

import shlex
import traceback
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from qbench.errors import BusyError, OptionError, QbenchError
from qbench.evaluation.buckets import query_buckets
from qbench.evaluation.measures import DEFAULT_MEASURES, parse_measures, relevant_queries, score_run
from qbench.evaluation.significance import RESAMPLES, check_resamples
from qbench.leaderboard.table import Entry, Leaderboard, make_leaderboard
from qbench.progress import Progress, silent
from qbench.store import MANIFEST, locked, write_text

if TYPE_CHECKING:
    import polars as pl

    from qbench.benchmark.disk import Benchmark
    from qbench.benchmark.types import Query, Split
    from qbench.retrieval.document_quantities import DocumentQuantities
    from qbench.retrieval.grammar import System
    from qbench.retrieval.jobs import Setting
    from qbench.retrieval.types import ConditionSource, RunResult

DEFAULT_SYSTEMS: tuple[str, ...] = ("BM25", "BM25_filter", "QBM25")

DEPTH = 1000
"""Documents per query that a run keeps."""

ERRORS = "errors.txt"
"""The file of `output` with the tracebacks of errors that qbench did not expect."""


def run_leaderboard(
    benchmark: str | Path | Benchmark,
    systems: Sequence[str | System] = DEFAULT_SYSTEMS,
    *,
    output: str | Path,
    split: Split = "test",
    qrels: str | None = None,
    measures: Sequence[str] = DEFAULT_MEASURES,
    primary: str | None = None,
    settings: Sequence[Setting] | None = None,
    document_quantities: DocumentQuantities = "auto",
    buckets: bool = True,
    depth: int = DEPTH,
    resamples: int = RESAMPLES,
    seed: int = 0,
    workers: int | None = None,
    progress: Progress = silent,
) -> Leaderboard:
    """Run systems on a benchmark, score them, test their differences, and write the leaderboard.

    Runs are kept in `output`/runs, indexes in `output`/indexes: a finished one is not made again, a killed call goes on
    where it was. A system that fails does not lose the others: its row has no figures, and the reason stands in
    `Leaderboard.problems`. The traceback of an error that qbench did not expect stands in `output`/errors.txt.

    Args:
        benchmark: a folder (ours, or a BEIR folder as it is), or a benchmark in memory.
        systems: names in the grammar (`qbench systems` lists them), or parsed ones.
        output: the folder for runs and tables; made if need be.
        split: the part of the benchmark whose queries are asked.
        qrels: which judgments of a BEIR folder with several.
        measures: names that ir-measures parses.
        primary: the measure that decides the ranks; the first one by default.
        settings: where systems take conditions from: given as data, parsed from the query's text; by default both, or
            parsed alone if the queries come without conditions.
        document_quantities: whether systems see the benchmark's own quantities of its documents (stored) or those that
            qbench finds in the texts (extracted); auto takes its own where an extractor found them, never gold ones.
        buckets: also give means by kind of query.
        depth: documents per query in a run.
        resamples, seed: of the tests.
        workers: processes that extract quantities; as many as cores by default.
        progress: told what is being done.

    Raises:
        UnknownNameError: a system or a measure is not known.
        OptionError: an option makes no sense, the part has no queries, or `output` is another artefact.
        InputError: the benchmark cannot be read.
        BusyError: another process is writing to `output`.

    If every system fails, the first one's error is raised.
    """
    from qbench.retrieval.grammar import parse_system

    names = parse_measures(measures, primary)
    check_resamples(resamples)
    if depth < 1:
        raise OptionError("a run keeps at least one document per query", value=depth)
    parsed = {str(system): system for system in (parse_system(s) if isinstance(s, str) else s for s in systems)}
    if not parsed:
        raise OptionError("no system named", remedy=f"For example: {', '.join(DEFAULT_SYSTEMS)}")
    opened = _open(benchmark, qrels)
    queries, left_out = select_queries(opened, split)
    chosen = _settings(queries, settings)
    folder = _folder(output)
    with locked(folder):
        options: dict[str, Any] = {
            "split": split,
            "settings": chosen,
            "depth": depth,
            "document_quantities": document_quantities,
            "workers": workers,
            "progress": progress,
        }
        results, failed, tracebacks = _execute(opened, list(parsed.values()), folder, options)
        entries = [_entry(result, opened, names, queries) for result in results]
        found, bucket_notes = sort_into_buckets(queries, opened) if buckets else (None, [])
        board = make_leaderboard(
            opened.name,
            [*entries, *failed],
            names,
            buckets=found,
            about=_about(opened, len(queries), list(parsed), names, {**options, "qrels": qrels}),
            notes=[*left_out, *(note for result in results for note in _said(result)), *bucket_notes],
            resamples=resamples,
            seed=seed,
            progress=progress,
        )
        _keep_errors(folder, tracebacks)
        board.write(folder)
    return board


def _open(benchmark: str | Path | Benchmark, qrels: str | None) -> Benchmark:
    from qbench.benchmark.disk import open_benchmark

    if isinstance(benchmark, str | Path):
        return open_benchmark(Path(benchmark), qrels=qrels)
    if qrels is not None:
        raise OptionError("judgments can be chosen only when a folder is opened", value=qrels)
    return benchmark


def select_queries(benchmark: Benchmark, split: Split) -> tuple[list[Query], list[str]]:
    """The queries of a part that can be scored, and what to say about the others."""
    part = benchmark.part(split)
    if not part:
        there = [name for name in ("train", "dev", "test") if any(query.split == name for query in benchmark.queries)]
        raise OptionError(
            f"{benchmark.name} has no queries in this part", value=split, remedy=f"Use {' or '.join(there)}"
        )
    answered = set(relevant_queries(benchmark.qrels))
    queries = [query for query in part if query.query_id in answered]
    if not queries:
        raise OptionError(f"no query of this part of {benchmark.name} has a relevant document", value=split)
    lost = len(part) - len(queries)
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


def _folder(output: str | Path) -> Path:
    folder = Path(output).absolute()
    if folder.exists() and not folder.is_dir():
        raise OptionError("the output is a file, and a folder is needed", file=folder)
    if (folder / MANIFEST).exists():
        raise OptionError("the output folder is itself a qbench artefact", file=folder, remedy="Choose another folder")
    return folder


def _execute(
    benchmark: Benchmark, systems: list[System], folder: Path, options: dict[str, Any]
) -> tuple[list[RunResult], list[Entry], list[str]]:
    """All runs at once; if that fails, one row after the other, so that only those at fault are lost.

    Returns:
        the runs, the rows without one, and the tracebacks of errors that are not qbench's own.
    """
    from qbench.retrieval.execute import execute

    settings: tuple[Setting, ...] = options["settings"]
    rows = [(system, setting) for system in systems for setting in settings if system.uses_conditions]
    rows += [(system, settings[0]) for system in systems if not system.uses_conditions]
    try:
        return execute(benchmark, systems, folder, **options), [], []
    except BusyError:
        raise
    except Exception as error:
        if len(rows) == 1:
            raise
        first = error
    tracebacks = _unexpected("all rows at once", first)
    results: list[RunResult] = []
    failed: list[Entry] = []
    for system, setting in rows:
        try:
            results += execute(benchmark, [system], folder, **{**options, "settings": (setting,)})
        except Exception as error:
            label = f"{system} [{setting}]" if system.uses_conditions else str(system)
            source: ConditionSource = setting if system.uses_conditions else "none"
            found = _unexpected(label, error)
            reason = f"{type(error).__name__}: {error} (traceback in {ERRORS})" if found else str(error)
            failed.append(Entry(label, str(system), source, problem=reason))
            tracebacks += found
    if not results:
        raise first
    return results, failed, tracebacks


def _unexpected(label: str, error: Exception) -> list[str]:
    if isinstance(error, QbenchError):
        return []
    return [f"{label}\n{''.join(traceback.format_exception(error))}"]


def _keep_errors(folder: Path, tracebacks: list[str]) -> None:
    if tracebacks:
        write_text(folder / ERRORS, "\n".join(tracebacks))
    else:
        (folder / ERRORS).unlink(missing_ok=True)


def _entry(result: RunResult, benchmark: Benchmark, measures: Sequence[str], queries: list[Query]) -> Entry:
    return Entry(
        label=result.label,
        system=result.system,
        conditions=result.conditions,
        scores=score_run(result.run, benchmark.qrels, measures, [query.query_id for query in queries]),
        cost=result.cost,
        digest=result.digest,
        meta=result.meta,
    )


def _said(result: RunResult) -> list[str]:
    """What a reader should know of a run."""
    asked = result.meta.get("queries", 0)
    bare, empty = result.meta.get("queries_without_condition", 0), result.meta.get("queries_without_results", 0)
    notes = []
    if bare:
        verb = "found in the text" if result.conditions == "parsed" else "given"
        notes.append(f"{result.label}: no condition was {verb} for {bare} of {asked} queries.")
    if empty:
        notes.append(f"{result.label}: no results for {empty} of {asked} queries; they score 0.")
    return notes


def sort_into_buckets(queries: list[Query], benchmark: Benchmark) -> tuple[pl.DataFrame, list[str]]:
    """The buckets of a benchmark's queries; conditions that are not given are read from the text, and a note says so.

    A unit's family is what the benchmark's quantities say, which know the units of a user's own file; else that of the
    built-in units, where an unknown name is a counted noun.
    """
    from qbench.quantities.units import load_units

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
    from qbench.quantities.extractors import get_extractor
    from qbench.quantities.queries import parse_query
    from qbench.retrieval.document_quantities import extractor_options

    extractor = get_extractor(extractor_options(benchmark))
    return [
        query if query.conditions else replace(query, conditions=parse_query(query.text, extractor).conditions)
        for query in queries
    ]


def _about(
    benchmark: Benchmark, queries: int, systems: list[str], measures: Sequence[str], options: dict[str, Any]
) -> dict[str, Any]:
    """Where the figures come from: the same for the same call, wherever the folders lie."""
    from qbench.retrieval.document_quantities import extractor_options, uses_stored

    settings, wanted = options["settings"], options["document_quantities"]
    words = ["qbench", "leaderboard", benchmark.name]
    for system in systems:
        words += ["--systems", system]
    for measure in measures:
        words += ["--measures", measure]
    words += ["--conditions", "both" if len(settings) == 2 else settings[0]]
    words += ["--document-quantities", wanted, "--split", options["split"], "--depth", str(options["depth"])]
    words += [] if options["qrels"] is None else ["--qrels", options["qrels"]]
    quantities = f"found in their texts by qbench (extractor {extractor_options(benchmark).name})"
    if uses_stored(benchmark, wanted):
        quantities = f"stored in the benchmark ({benchmark.params.get('quantities') or 'source unknown'})"
    return {
        "command": shlex.join(words),
        "benchmark": {
            "name": benchmark.name,
            "digest": benchmark.digest,
            "split": options["split"],
            "queries": queries,
            "documents": benchmark.corpus.height,
        },
        "settings": {
            "conditions": list(settings),
            "depth": options["depth"],
            "document_quantities": quantities,
        },
        "versions": versions(),
    }


def versions() -> dict[str, str]:
    """Of qbench, and of the packages that can change a figure."""
    from importlib.metadata import version

    from qbench import __version__

    return {"qbench": __version__, **{name: version(name) for name in ("ir-measures", "numpy", "polars")}}
