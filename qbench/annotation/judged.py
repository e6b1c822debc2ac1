"""From filled sheets to a judged benchmark, and how far annotators agree (*Numbers Matter*, section 4: kappa)."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from qbench.annotation.answers import Answers, Pair, read_answers
from qbench.annotation.candidates import LOOK_UP, texts
from qbench.annotation.options import HIGHEST, ImportOptions
from qbench.annotation.page import page
from qbench.annotation.sheet import GUIDELINE, UNSURE, Sheet, write_csv
from qbench.benchmark.disk import benchmark_key, write_benchmark
from qbench.benchmark.reading import Problems
from qbench.errors import InputError, OptionError
from qbench.evaluation.agreement import Resolve, agreements, settled
from qbench.keys import key
from qbench.store import digest, file_digest, read_text, write_text

if TYPE_CHECKING:
    from qbench.benchmark.disk import Benchmark


@dataclass(frozen=True)
class Judged:
    """What became of some filled sheets.

    Attributes:
        benchmark: the judged one, as written.
        counts: what was read, what was left out, how far the annotators agree; by their names, for whoever imports.
        disagreements: the files of what they grade differently; () where there is nothing.
        examples: some of the rows that were left out, and why.
    """

    benchmark: Benchmark
    counts: dict[str, Any]
    disagreements: tuple[Path, ...]
    examples: list[str]


def import_answers(
    benchmark: Benchmark,
    sheet: Sheet,
    files: Sequence[str | Path],
    output: str | Path,
    options: ImportOptions = ImportOptions(),
    *,
    overwrite: bool = False,
) -> Judged:
    """Make the benchmark that people judged: the queries with something relevant, and a judgment for each answer.

    What nobody judged, or could not tell, has no judgment. Queries, corpus and quantities are those of the benchmark;
    training samples are not taken over; what the benchmark says of how it was made is.

    What is graded differently is written to OUTPUT.disagreements-NAME.csv and .html, to be filled in by somebody who
    settles it and given back as `adjudicated`.

    Args:
        benchmark: that the sheet was made from.
        sheet: that was filled in.
        files: one for each annotator: CSV, or what the page saved.
        output: the folder to write.
        options: what becomes of disagreements, of answers that cannot be used, and of the annotators' names.
        overwrite: replace a benchmark made from something else.

    Raises:
        InputError: a file cannot be read or used, annotators disagree (unless resolved), or nothing is relevant.
        OptionError: no file, two of one name, the sheet is of another benchmark, or `output` holds something else.
        BusyError: another process is writing there.
    """
    paths = [Path(file) for file in files]
    _check_options(paths, sheet, benchmark)
    output = Path(output)
    told = texts(benchmark, sheet.items)
    asked = {query.query_id: query for query in benchmark.queries}
    shown = {(one.query_id, one.doc_id): (asked[one.query_id].text, told[one.doc_id][1]) for one in sheet.items}
    problems = Problems(options.on_error)
    read = [read_answers(path, sheet, shown, problems) for path in paths]
    _refuse_namesakes(read)
    last = options.adjudicated
    final = None if last is None else read_answers(last, sheet, shown, problems)
    real = [one.name for one in read]
    agreement = _of_annotators(read, real, sheet)["agreement"]
    grades, disputed = _settle(read, final, options.resolve)
    settled = set() if final is None else set(final.grades)
    left = {pair: answers for pair, answers in disputed.items() if pair not in settled}
    written = _write_disagreements(benchmark, sheet, read, left, output) if left else ()
    open_ones = [pair for pair in disputed if pair not in grades]
    if open_ones:
        raise _unsettled(open_ones, read, agreement, written, final)
    others = {"graded_differently": len(disputed), **_result(grades, sheet), **problems.summary()}
    counts = {**_of_annotators(read, real, sheet), **others}
    shown_as = real if options.names else [f"annotator {number}" for number, _ in enumerate(read, start=1)]
    params = _params(benchmark, sheet, paths, options)
    made = replace(
        _benchmark(benchmark, grades, sheet),
        params={**params, "counts": {**_of_annotators(read, shown_as, sheet), **others}},
        digest=key("judged benchmark", **params),
    )
    return Judged(write_benchmark(made, output, overwrite=overwrite), counts, written, problems.examples)


def _params(benchmark: Benchmark, sheet: Sheet, files: Sequence[Path], options: ImportOptions) -> dict[str, Any]:
    """What made a judged benchmark, and the one that it comes from."""
    names, last = options.names, options.adjudicated
    given = [path.name if names else f"ANSWERS-{number}" for number, path in enumerate(files, start=1)]
    words = ["qbench", "annotate", "import", "BENCH", "SHEET", *given, "-o", "JUDGED"]
    words += [] if last is None else ["--adjudicated", last.name if names else "DISAGREEMENTS"]
    words += [*(["--names"] if names else []), "--resolve", options.resolve, "--on-error", options.on_error]
    before = benchmark.params
    return {
        **{name: value for name, value in before.items() if name not in _NOT_KEPT},
        "judgments": "manual",
        "source": sheet.source,
        "sheet": sheet.digest,
        "scale": sheet.scale,
        "answers": [file_digest(path) for path in [*files, *filter(None, [last])]],
        "command": shlex.join(words),
        "judged": {name: before[name] for name in ("command", "relaxed", "judged") if name in before},
    }


_NOT_KEPT = ("counts", "relaxed", "part of")
"""What does not hold for the judged benchmark as it did for the one that it was made from."""

_SHOWN = 5
"""Disagreements that an error lists."""


def _check_options(paths: Sequence[Path], sheet: Sheet, benchmark: Benchmark) -> None:
    if not paths:
        raise OptionError("no file of answers named")
    twice = [path for number, path in enumerate(paths) if path.resolve() in {p.resolve() for p in paths[:number]}]
    if twice:
        raise OptionError("this file is named twice", value=str(twice[0]), remedy="Name each annotator's file once")
    if sheet.source != benchmark_key(benchmark):
        remedy = "Name the benchmark that it was exported from"
        raise OptionError("this sheet was made from another benchmark", file=sheet.folder, remedy=remedy)


def _refuse_namesakes(read: Sequence[Answers]) -> None:
    names = [one.name for one in read]
    for number, one in enumerate(read):
        if one.name in names[:number]:
            remedy = "Name the files after their annotators; put the answers of one person into one file"
            raise OptionError("two annotators of one name", file=one.path, value=one.name, remedy=remedy)


def _settle(
    read: Sequence[Answers], final: Answers | None, resolve: Resolve
) -> tuple[dict[Pair, int], dict[Pair, list[Answers]]]:
    """The grade of each judged item that is settled, and who judged what is graded differently."""
    by: dict[Pair, list[Answers]] = {}
    for one in read:
        for pair in one.grades:
            by.setdefault(pair, []).append(one)
    disputed = {pair: judges for pair, judges in by.items() if len({judge.grades[pair] for judge in judges}) > 1}
    grades = {
        pair: settled([judge.grades[pair] for judge in judges], resolve)
        for pair, judges in by.items()
        if resolve != "fail" or pair not in disputed
    }
    if final is not None:
        grades |= final.grades
    return grades, disputed


def _of_annotators(read: Sequence[Answers], names: Sequence[str], sheet: Sheet) -> dict[str, Any]:
    """How much each of them has done, and how far they agree, under these names."""
    return {
        "annotators": {name: _of_annotator(one, sheet) for name, one in zip(names, read, strict=True)},
        "agreement": agreements([(name, one.grades) for name, one in zip(names, read, strict=True)]),
    }


def _of_annotator(one: Answers, sheet: Sheet) -> dict[str, int]:
    """How much of a sheet somebody has done; items that all get, or of the parts that the file has something of."""
    part = {(item.query_id, item.doc_id): item.part for item in sheet.items}
    mine = {0, *(part[pair] for pair in one.seen)}
    due = sum(number in mine for number in part.values())
    answered = len(one.grades) + len(one.unsure)
    counts = {"judged": len(one.grades), "cannot_tell": len(one.unsure), "left_blank": due - answered}
    # The page saves answers alone; a table without all its rows was cut, or is somebody's half.
    return {**counts, "rows_missing": due - len(one.seen)} if one.table and due > len(one.seen) else counts


def _result(grades: Mapping[Pair, int], sheet: Sheet) -> dict[str, Any]:
    """How many judgments there are, and who proposed what turned out relevant."""
    relevant = {pair for pair, grade in grades.items() if grade > 0}
    found = {(item.query_id, item.doc_id): item.sources for item in sheet.items}
    only_look_up = sum(found[pair] == (LOOK_UP,) for pair in relevant)
    only_runs = sum(LOOK_UP not in found[pair] for pair in relevant)
    asked, answered = ({query_id for query_id, _ in pairs} for pairs in (grades, relevant))
    return {
        "items": len(sheet.items),
        "items_without_a_judgment": len(sheet.items) - len(grades),
        "judged_queries_without_a_relevant_document": len(asked - answered),
        "relevant_by_source": {
            "look-up and runs": len(relevant) - only_look_up - only_runs,
            "look-up alone": only_look_up,
            "runs alone": only_runs,
        },
    }


def _benchmark(benchmark: Benchmark, grades: Mapping[Pair, int], sheet: Sheet) -> Benchmark:
    import polars as pl

    from qbench.benchmark.types import qrels_schema

    answered = {query_id for (query_id, _), grade in grades.items() if grade > 0}
    if not answered:
        raise InputError("no answer is relevant", file=sheet.folder, remedy="A benchmark needs something to find")
    rows = sorted((query_id, doc_id, grade) for (query_id, doc_id), grade in grades.items() if query_id in answered)
    queries = [query for query in benchmark.queries if query.query_id in answered]
    place = {query.query_id: number for number, query in enumerate(queries)}
    rows.sort(key=lambda row: place[row[0]])
    qrels = pl.DataFrame(rows, schema=qrels_schema(), orient="row")
    return replace(benchmark, queries=queries, qrels=qrels, samples=None, triples=None)


def _write_disagreements(
    benchmark: Benchmark,
    sheet: Sheet,
    read: Sequence[Answers],
    disputed: Mapping[Pair, Sequence[Answers]],
    output: Path,
) -> tuple[Path, ...]:
    """A sheet and a page of what is graded differently; a file that is there already is never written over."""
    items = [item for item in sheet.items if (item.query_id, item.doc_id) in disputed]
    pairs = [(item.query_id, item.doc_id) for item in items]
    queries = {query.query_id: query for query in benchmark.queries}
    said = {one.name: [_said(one, pair) for pair in pairs] for one in read}
    # Other disagreements get other files: one that is there already may be filled in.
    name = f"disagreements-{digest([pairs, said])[:6]}"
    table, screen = (output.with_name(f"{output.name}.{name}.{kind}") for kind in ("csv", "html"))
    if not table.exists():
        write_csv(benchmark, queries, items, table, {f"by {who}": cells for who, cells in said.items()})
    if not screen.exists():
        lines = {
            pair: [f"{who}: {cells[number]}" for who, cells in said.items() if cells[number]]
            for number, pair in enumerate(pairs)
        }
        guideline = read_text(sheet.folder / GUIDELINE, "guideline")
        highest = HIGHEST[sheet.scale]
        text = page(benchmark, queries, items, guideline, key=sheet.digest, name=name, highest=highest, said=lines)
        write_text(screen, text)
    return table, screen


def _said(one: Answers, pair: Pair) -> str:
    grade = str(one.grades.get(pair, UNSURE if pair in one.unsure else ""))
    return " ".join(filter(None, (grade, one.comments.get(pair, ""))))


def _unsettled(
    pairs: Sequence[Pair],
    read: Sequence[Answers],
    agreement: Mapping[str, Mapping[str, float | None]],
    written: Sequence[Path],
    final: Answers | None,
) -> InputError:
    def told(one: Answers, pair: Pair) -> str:
        line = f":{one.lines[pair]}" if pair in one.lines else ""
        return f"{one.grades[pair]} ({one.path.name}{line})"

    shown = [
        f"{pair[0]}, {pair[1]}: " + " against ".join(told(one, pair) for one in read if pair in one.grades)
        for pair in pairs[:_SHOWN]
    ]
    kappas = ", ".join(
        f"{name}: {'undefined' if found['kappa'] is None else found['kappa']}" for name, found in agreement.items()
    )
    still = "" if final is None else f" and not settled in {final.path.name}"
    return InputError(
        f"{len(pairs)} items are graded differently{still}: {'; '.join(shown)}"
        + ("; ..." if len(pairs) > _SHOWN else "")
        + f". Cohen's kappa of {kappas}",
        remedy=f"Settle them in {written[0]} or {written[1].name} and give it with --adjudicated, "
        "or use --resolve first, lowest or highest",
    )
