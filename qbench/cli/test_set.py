"""`qbench test-set`: make a test set for quantity retrieval, and have it judged by people."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from qbench.annotation.options import ImportOptions
from qbench.cli.from_options import CommandLine, command
from qbench.cli.options import Overwrite
from qbench.cli.records import Format, FormatOption, print_table
from qbench.mining.options import PoolOptions, TestSetOptions

if TYPE_CHECKING:
    from qbench.mining.test_set import QuantityTestSet

app = typer.Typer(
    add_completion=False,
    no_args_is_help=True,
    rich_markup_mode=None,
    help="Make test sets for quantity retrieval, and have them judged.",
)


Output = Annotated[Path, typer.Option("--output", "-o", metavar="TESTSET", help="Folder of the test set.")]


@command(app, "test-set make")
def make(
    pairs: Annotated[Path, typer.Argument(help="A folder made by `qbench mine-paraphrases`.")],
    output: Output,
    options: TestSetOptions,
    line: CommandLine,
    overwrite: Overwrite = False,
    output_format: FormatOption = "text",
) -> None:
    """Make a test set from mined pairs: the same queries for sentences (C_s) and for descriptions (C_q).

    What agrees with a query's value is relevant. A query's own evidence is in neither corpus. Go on with
    `qbench leaderboard TESTSET`; look into a view with `qbench benchmark show TESTSET/descriptions`.

    Example: qbench test-set make pairs -o testset
    """
    from qbench.cli import console
    from qbench.mining.test_set import make_test_set

    with console.progress("test-set") as progress:
        result = make_test_set(pairs, output, options, command=line, overwrite=overwrite, progress=progress)
    _report(result, output_format)


@command(app, "test-set pool")
def pool(
    test_set: Annotated[Path, typer.Argument(metavar="TESTSET", help="A test set made by `qbench test-set make`.")],
    leaderboards: Annotated[
        list[Path], typer.Argument(metavar="LEADERBOARD...", help="Folders written by `qbench leaderboard TESTSET`.")
    ],
    output: Annotated[Path, typer.Option("--output", "-o", help="The sheet: a new CSV file.")],
    options: PoolOptions,
    output_format: FormatOption = "text",
) -> None:
    """Write what the systems retrieved as a sheet for people to judge, in random order, without naming the systems.

    Annotators judge in the page beside the sheet, or fill the column `judgment`: 1 if the record states the fact that
    the query describes, 0 if not.

    Example: qbench test-set pool testset qbench-leaderboard/testset -o sheet.csv
    """
    from qbench.cli.console import count_lines, note
    from qbench.mining.judging import pool_sheet
    from qbench.mining.test_set import open_test_set

    counts = pool_sheet(open_test_set(test_set), leaderboards, output, options)
    print_table(count_lines(counts), [counts], output_format)
    note(f"Fill the column judgment of {output}, then: qbench test-set judge {test_set} {output} -o JUDGED")


@command(app, "test-set judge")
def judge(
    test_set: Annotated[Path, typer.Argument(metavar="TESTSET", help="The test set that the sheets were made from.")],
    sheets: Annotated[list[Path], typer.Argument(metavar="SHEET...", help="Judged sheets, one file per person.")],
    output: Annotated[Path, typer.Option("--output", "-o", metavar="JUDGED", help="Folder of the test set.")],
    options: ImportOptions,
    line: CommandLine,
    overwrite: Overwrite = False,
    output_format: FormatOption = "text",
) -> None:
    """Make a test set whose relevance people judged; their agreement is given as Cohen's kappa.

    Example: qbench test-set judge testset anna.csv ben.csv -o judged --resolve lowest
    """
    from qbench.mining.judging import judge as import_judgments
    from qbench.mining.test_set import open_test_set

    opened = open_test_set(test_set)
    _report(import_judgments(opened, sheets, output, options, command=line, overwrite=overwrite), output_format)


def _report(result: QuantityTestSet, output_format: Format) -> None:
    from qbench.cli.console import count_lines

    sizes = ", ".join(f"{view.corpus.height:,} in {name}" for name, view in result.views.items())
    lines = [*count_lines(result.counts), f"{result.folder}: {result.counts['queries']:,} queries; documents: {sizes}"]
    print_table(lines, [result.counts], output_format)
