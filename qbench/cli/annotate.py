"""`qbench annotate`: have people judge a benchmark's queries."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from qbench.cli.benchmark import OnError, Qrels, print_counts
from qbench.cli.console import note, out, progress
from qbench.cli.options import Part
from qbench.cli.test_set import Resolve

if TYPE_CHECKING:
    from qbench.annotation.judged import Judged

app = typer.Typer(
    add_completion=False,
    no_args_is_help=True,
    rich_markup_mode=None,
    help="Have people judge what answers a benchmark's queries.",
)


class Scale(StrEnum):
    """The grades that annotators give."""

    binary = "binary"
    graded = "graded"


Bench = Annotated[Path, typer.Argument(metavar="BENCH", help="A benchmark, or a BEIR folder as it is.")]


@app.command()
def export(
    bench: Bench,
    output: Annotated[Path, typer.Option("--output", "-o", metavar="SHEET", help="Folder of the sheets.")],
    runs: Annotated[
        list[Path] | None,
        typer.Option(help="A leaderboard's folder or a run file, whose first documents are judged too; repeat it."),
    ] = None,
    depth: Annotated[int, typer.Option(min=1, help="How far into each run to look.")] = 10,
    most: Annotated[
        int, typer.Option(min=0, help="Documents per query that are looked up in the index, at most.")
    ] = 50,
    expansions: Annotated[
        Path | None,
        typer.Option(help="Synonyms of concepts: TSV (concept, tab, synonym) or JSON ({concept: [synonym, ...]})."),
    ] = None,
    tolerance: Annotated[
        float, typer.Option(min=0, max=1, help="Also look up what is within this share of the value of an '='.")
    ] = 0.0,
    queries: Annotated[
        int | None, typer.Option(min=1, help="Queries, at most; comparators take turns. [default: all of the split]")
    ] = None,
    query: Annotated[list[str] | None, typer.Option(metavar="ID", help="Judge this query; repeat it.")] = None,
    split: Annotated[Part, typer.Option(help="Split whose queries are judged.")] = Part.test,
    scale: Annotated[Scale, typer.Option(help="Grades 0 and 1, or 0, 1 and 2.")] = Scale.graded,
    annotators: Annotated[int, typer.Option(min=1, help="Share the queries out: a sheet for each of so many.")] = 1,
    shared: Annotated[
        int, typer.Option(min=0, help="With several annotators: queries that all of them judge, to compare them.")
    ] = 20,
    guideline: Annotated[
        Path | None, typer.Option(metavar="FILE", help="What annotators are told, instead of qbench's guideline.")
    ] = None,
    seed: Annotated[int, typer.Option(help="Seed of all choices, and of the order.")] = 0,
    qrels: Qrels = None,
    overwrite: Annotated[
        bool, typer.Option("--overwrite", help="Replace a sheet made from something else; never one filled in.")
    ] = False,
) -> None:
    """Write sheets to judge: for each query what the index and the runs propose, in random order, without saying who.

    A sheet is a CSV file and a page that works from a file, without a network; annotators fill in either.

    Example: qbench annotate export bench/ -o sheet/ --runs qbench-leaderboard/bench --queries 50
    """
    from qbench.annotation.options import SheetOptions
    from qbench.annotation.pooling import load_runs
    from qbench.annotation.sheet import export_sheet
    from qbench.benchmark.disk import open_benchmark
    from qbench.generation.expansions import Expansions

    options = SheetOptions(
        split=split.value,
        number=queries,
        queries=tuple(query or ()),
        depth=depth,
        most=most,
        tolerance=tolerance,
        scale=scale.value,
        annotators=annotators,
        shared=shared,
        seed=seed,
    )
    benchmark = open_benchmark(bench, qrels=qrels)
    with progress("annotate") as advance:
        made = export_sheet(
            benchmark,
            output,
            options,
            runs=load_runs(runs or [], benchmark),
            expansions=Expansions.load(expansions),
            guideline=guideline,
            overwrite=overwrite,
            progress=advance,
        )
    print_counts(made.counts)
    if benchmark.quantities is None:
        note("The benchmark has no quantities: none was looked up, and none is highlighted")
    names = ", ".join(sorted(path.name for path in output.glob("sheet*.html")))
    note(f"Written to {output}. Give each annotator a page ({names}) or the CSV file beside it; then:")
    note(f"qbench annotate import {bench} {output} ANSWERS... -o JUDGED")


@app.command("import")
def import_(
    bench: Bench,
    sheet: Annotated[Path, typer.Argument(metavar="SHEET", help="The folder that `export` wrote.")],
    answers: Annotated[
        list[Path],
        typer.Argument(metavar="ANSWERS...", help="For each annotator the file that the page saved, or the CSV file."),
    ],
    output: Annotated[Path, typer.Option("--output", "-o", metavar="JUDGED", help="The benchmark folder to write.")],
    resolve: Annotated[
        Resolve,
        typer.Option(
            help="Where two differ: fail; take the grade of the file named first; the lowest or the highest grade."
        ),
    ] = Resolve.fail,
    adjudicated: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="The file of disagreements, filled in; it goes before all others."),
    ] = None,
    on_error: Annotated[
        OnError, typer.Option(help="Stop at an answer that cannot be used, or leave it out and count it.")
    ] = OnError.fail,
    names: Annotated[
        bool,
        typer.Option(
            "--names", help="Keep the annotators' names in the benchmark, which are published with it; else numbers."
        ),
    ] = False,
    qrels: Qrels = None,
    overwrite: Annotated[
        bool, typer.Option("--overwrite", help="Replace a benchmark made from something else.")
    ] = False,
) -> None:
    """Make a benchmark that people judged; how far they agree is said as Cohen's kappa.

    What they grade differently is written to JUDGED.disagreements-NAME.csv and .html, to be settled.

    Example: qbench annotate import bench/ sheet/ anna.json ben.csv -o judged/
    """
    from qbench.annotation.judged import import_answers
    from qbench.annotation.options import ImportOptions
    from qbench.annotation.sheet import open_sheet
    from qbench.benchmark.disk import open_benchmark

    made = import_answers(
        open_benchmark(bench, qrels=qrels),
        open_sheet(sheet),
        answers,
        output,
        ImportOptions(resolve.value, adjudicated, on_error.value, names),
        overwrite=overwrite,
    )
    _report(made, output)


def _report(made: Judged, output: Path) -> None:
    for example in made.examples:
        note(example)
    print_counts(made.counts)
    grades = made.benchmark.qrels["grade"].value_counts(sort=False).sort("grade").iter_rows()
    shown = ", ".join(f"{count:,} of grade {grade}" for grade, count in grades)
    out().print(f"{output}: {len(made.benchmark.queries):,} queries, {shown}", markup=False)
    if missing := made.counts["items_without_a_judgment"]:
        note(f"{missing:,} of {made.counts['items']:,} items have no judgment, and count as not relevant")
    for name, done in made.counts["annotators"].items():
        if missing := done.get("rows_missing"):
            note(f"{name}: {missing:,} items of the sheet have no row in this file; is it cut?")
    if made.disagreements:
        note(f"Graded differently: {' and '.join(map(str, made.disagreements))}")
