"""From filled sheets to a judged benchmark, and how far annotators agree (*Numbers Matter*, section 4: kappa)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import polars as pl

from qbench.annotation.answers import Answers
from qbench.annotation.form import Pair
from qbench.annotation.options import ImportOptions
from qbench.annotation.pooling import LOOK_UP
from qbench.annotation.query_form import QueryForm
from qbench.annotation.settling import Judgments, settle
from qbench.annotation.sheet import Sheet
from qbench.annotation.sheet_files import GUIDELINE
from qbench.benchmark.benchmark import Benchmark, benchmark_key
from qbench.benchmark.disk import write_benchmark
from qbench.benchmark.types import qrels_schema
from qbench.errors import InputError, OptionError
from qbench.keys import key
from qbench.store import file_digest, read_text


@dataclass(frozen=True)
class Judged:
    """The result of importing filled sheets.

    Attributes:
        benchmark: the judged one, as written.
        counts: what was read and left out, and how far the annotators agree; with their names.
        disagreements: files of the items that they grade differently; () if there are none.
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
    command: str | None = None,
    overwrite: bool = False,
) -> Judged:
    """Make a judged benchmark: the queries with a relevant document, and a judgment for each answer.

    Items that nobody judged, or could not tell, have no judgment. Queries, corpus and quantities are those of the
    benchmark, and so is what its card says of their origin; training samples are left out.

    Items that are graded differently are written to OUTPUT.disagreements-NAME.csv and .html, to be filled in by
    somebody who resolves them and given back as `options.adjudicated`.

    Args:
        benchmark: that the sheet was made from.
        sheet: that was filled in.
        files: one per annotator: CSV, or what the page saved.
        output: the folder to write.
        options: what becomes of disagreements, of unusable answers, and of the annotators' names. With `names`, the
            names of annotators are published with the benchmark; without, they are numbered in the order of the files.
        command: the command line, for the card.
        overwrite: replace a benchmark made from something else.

    Raises:
        InputError: a file cannot be read or used, annotators disagree (unless resolved), or nothing is relevant.
        OptionError: no file, two of one name, the sheet is of another benchmark, or `output` holds something else.
        BusyError: another process is writing there.
    """
    if sheet.source != benchmark_key(benchmark):
        remedy = "Name the benchmark that it was exported from"
        raise OptionError("this sheet was made from another benchmark", file=sheet.folder, remedy=remedy)
    output = Path(output)
    form = QueryForm(benchmark, sheet.items, key=sheet.digest, scale=sheet.scale)
    judgments = settle(form, files, output, options, read_text(sheet.folder / GUIDELINE, "guideline"))
    result = {
        "graded_differently": judgments.graded_differently,
        **_result(judgments.grades, sheet),
        **judgments.problems.summary(),
    }
    published = _of_annotators(judgments, judgments.names(real=options.names), sheet)
    answers = [file_digest(Path(file)) for file in [*files, *filter(None, [options.adjudicated])]]
    rule = {"resolve": options.resolve, "on_error": options.on_error, "names": options.names}
    params = _params(benchmark, sheet, answers, command)
    judged = replace(
        _benchmark(benchmark, judgments.grades, sheet),
        params={**params, "counts": {**published, **result}},
        digest=key("judged benchmark", source=sheet.source, sheet=sheet.digest, answers=answers, **rule),
    )
    return Judged(
        write_benchmark(judged, output, overwrite=overwrite),
        {**_of_annotators(judgments, judgments.names(real=True), sheet), **result},
        judgments.files,
        judgments.problems.examples,
    )


_NOT_INHERITED = ("counts", "command", "relaxed", "part of")
"""Parameters of a benchmark that do not hold for its judged one."""


def _params(benchmark: Benchmark, sheet: Sheet, answers: Sequence[str], command: str | None) -> dict[str, Any]:
    """The parameters of a judged benchmark, with those of the benchmark that it was made from."""
    before = benchmark.params
    return {
        **{name: value for name, value in before.items() if name not in _NOT_INHERITED},
        "judgments": "manual",
        "source": sheet.source,
        "sheet": sheet.digest,
        "scale": sheet.scale,
        "answers": answers,
        "command": command,
        "judged": {name: before[name] for name in ("command", "relaxed", "judged") if name in before},
    }


def _of_annotators(judgments: Judgments, names: Sequence[str], sheet: Sheet) -> dict[str, Any]:
    """How much each annotator has done, and how far they agree, under these names."""
    counts = [_of_annotator(answers, sheet) for answers in judgments.answers]
    return {"annotators": dict(zip(names, counts, strict=True)), "agreement": judgments.agreement(names)}


def _of_annotator(answers: Answers, sheet: Sheet) -> dict[str, int]:
    """How much of the sheets for everybody, and of those that the file has rows of, somebody has done."""
    number = {item.pair: item.sheet for item in sheet.items}
    own = {0, *(number[pair] for pair in answers.seen)}
    due = sum(n in own for n in number.values())
    answered = len(answers.grades) + len(answers.unsure)
    counts = {"judged": len(answers.grades), "cannot_tell": len(answers.unsure), "left_blank": due - answered}
    # The page saves answers alone; a table without all its rows was cut, or is somebody's half.
    missing = due - len(answers.seen)
    return {**counts, "rows_missing": missing} if answers.table and missing > 0 else counts


def _result(grades: Mapping[Pair, int], sheet: Sheet) -> dict[str, Any]:
    """How many judgments there are, and which source proposed the relevant documents."""
    relevant = {pair for pair, grade in grades.items() if grade > 0}
    sources = {item.pair: item.sources for item in sheet.items}
    only_look_up = sum(sources[pair] == (LOOK_UP,) for pair in relevant)
    only_runs = sum(LOOK_UP not in sources[pair] for pair in relevant)
    judged, answered = ({query_id for query_id, _ in pairs} for pairs in (grades, relevant))
    return {
        "items": len(sheet.items),
        "items_without_a_judgment": len(sheet.items) - len(grades),
        "judged_queries_without_a_relevant_document": len(judged - answered),
        "relevant_by_source": {
            "look-up and runs": len(relevant) - only_look_up - only_runs,
            "look-up alone": only_look_up,
            "runs alone": only_runs,
        },
    }


def _benchmark(benchmark: Benchmark, grades: Mapping[Pair, int], sheet: Sheet) -> Benchmark:
    answered = {query_id for (query_id, _), grade in grades.items() if grade > 0}
    if not answered:
        raise InputError("no answer is relevant", file=sheet.folder, remedy="A benchmark needs a relevant document")
    queries = [query for query in benchmark.queries if query.query_id in answered]
    position = {query.query_id: number for number, query in enumerate(queries)}
    rows = [(query_id, doc_id, grade) for (query_id, doc_id), grade in grades.items() if query_id in answered]
    rows.sort(key=lambda row: (position[row[0]], row))
    qrels = pl.DataFrame(rows, schema=qrels_schema(), orient="row")
    return replace(benchmark, queries=queries, qrels=qrels, samples=None, triples=None)
