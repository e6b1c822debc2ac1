"""`qbench annotate`: have people judge a benchmark's queries."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from qbench.annotation.options import ImportOptions, SheetOptions
from qbench.cli.benchmark import Qrels
from qbench.cli.console import count_lines, note, progress
from qbench.cli.from_options import UNRECORDED, CommandLine, command
from qbench.cli.options import Overwrite
from qbench.cli.records import Format, FormatOption, print_table

if TYPE_CHECKING:
    from qbench.annotation.judged import Judged

app = typer.Typer(
    add_completion=False,
    no_args_is_help=True,
    rich_markup_mode=None,
    help="Have people judge what answers a benchmark's queries.",
)


Bench = Annotated[Path, typer.Argument(metavar="BENCH", help="A benchmark, or a BEIR folder as it is.")]


@command(app, "annotate export")
def export(
    bench: Bench,
    output: Annotated[Path, typer.Option("--output", "-o", metavar="SHEET", help="Folder of the sheets.")],
    options: SheetOptions,
    line: CommandLine,
    runs: Annotated[
        list[Path] | None,
        typer.Option(help="A leaderboard's folder or a run file, whose first documents are judged too; repeat it."),
    ] = None,
    expansions: Annotated[
        Path | None,
        typer.Option(help="Synonyms of concepts: TSV (concept, tab, synonym) or JSON ({concept: [synonym, ...]})."),
    ] = None,
    guideline: Annotated[
        Path | None, typer.Option(metavar="FILE", help="A guideline for annotators. [default: qbench's own]")
    ] = None,
    qrels: Qrels = None,
    overwrite: Annotated[
        bool,
        typer.Option("--overwrite", help="Replace a sheet made from something else; never one filled in."),
        UNRECORDED,
    ] = False,
    output_format: FormatOption = "text",
) -> None:
    """Write sheets to judge: for each query what the index and the runs propose, in random order, without their names.

    A sheet is a CSV file and a page that works from a file, without a network; annotators fill in either.

    Example: qbench annotate export bench/ -o sheet/ --runs qbench-leaderboard/bench --queries 50
    """
    from qbench.annotation.pooling import load_runs
    from qbench.annotation.sheet import export_sheet
    from qbench.benchmark.disk import open_benchmark
    from qbench.generation.expansions import Expansions

    benchmark = open_benchmark(bench, qrels=qrels)
    with progress("annotate") as advance:
        judged = export_sheet(
            benchmark,
            output,
            options,
            runs=load_runs(runs or [], benchmark),
            expansions=Expansions.load(expansions),
            guideline=guideline,
            command=line,
            overwrite=overwrite,
            progress=advance,
        )
    print_table(count_lines(judged.counts), [judged.counts], output_format)
    if benchmark.quantities is None:
        note("The benchmark has no quantities: none was looked up, and none is highlighted")
    names = ", ".join(sorted(path.name for path in output.glob("sheet*.html")))
    note(f"Written to {output}. Give each annotator a page ({names}) or the CSV file beside it; then:")
    note(f"qbench annotate import {bench} {output} ANSWERS... -o JUDGED")


@command(app, "annotate import")
def import_(
    bench: Bench,
    sheet: Annotated[Path, typer.Argument(metavar="SHEET", help="The folder written by `qbench annotate export`.")],
    answers: Annotated[
        list[Path],
        typer.Argument(metavar="ANSWERS...", help="For each annotator the file saved by the page, or the CSV file."),
    ],
    output: Annotated[Path, typer.Option("--output", "-o", metavar="JUDGED", help="The benchmark folder to write.")],
    options: ImportOptions,
    line: CommandLine,
    qrels: Qrels = None,
    overwrite: Overwrite = False,
    output_format: FormatOption = "text",
) -> None:
    """Make a benchmark that people judged; their agreement is given as Cohen's kappa.

    What they grade differently is written to JUDGED.disagreements-NAME.csv and .html, to be settled.

    Example: qbench annotate import bench/ sheet/ anna.json ben.csv -o judged/
    """
    from qbench.annotation.judged import import_answers
    from qbench.annotation.sheet import open_sheet
    from qbench.benchmark.disk import open_benchmark

    benchmark = open_benchmark(bench, qrels=qrels)
    judged = import_answers(benchmark, open_sheet(sheet), answers, output, options, command=line, overwrite=overwrite)
    _report(judged, output, output_format)


def _report(judged: Judged, output: Path, output_format: Format) -> None:
    for example in judged.examples:
        note(example)
    grades = judged.benchmark.qrels["grade"].value_counts(sort=False).sort("grade").iter_rows()
    shown = ", ".join(f"{count:,} of grade {grade}" for grade, count in grades)
    lines = [*count_lines(judged.counts), f"{output}: {len(judged.benchmark.queries):,} queries, {shown}"]
    print_table(lines, [judged.counts], output_format)
    if missing := judged.counts["items_without_a_judgment"]:
        note(f"{missing:,} of {judged.counts['items']:,} items have no judgment, and count as not relevant")
    for name, done in judged.counts["annotators"].items():
        if missing := done.get("rows_missing"):
            note(f"{name}: {missing:,} items of the sheet have no row in this file; is it cut?")
    if judged.disagreements:
        note(f"Graded differently: {' and '.join(map(str, judged.disagreements))}")
