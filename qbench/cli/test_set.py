"""`qbench test-set`: make a test set for quantity retrieval, and have it judged by people."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from qbench.cli.benchmark import OnError

if TYPE_CHECKING:
    from qbench.mining.test_set import QuantityTestSet

app = typer.Typer(
    add_completion=False,
    no_args_is_help=True,
    rich_markup_mode=None,
    help="Make test sets for quantity retrieval, and have them judged.",
)


class Resolve(StrEnum):
    """What happens to a row that two sheets judge differently."""

    fail = "fail"
    first = "first"
    lowest = "lowest"
    highest = "highest"


Output = Annotated[Path, typer.Option("--output", "-o", help="Folder of the test set.")]
Overwrite = Annotated[bool, typer.Option("--overwrite", help="Replace a test set made from something else.")]


@app.command()
def make(
    pairs: Annotated[Path, typer.Argument(help="A folder that `qbench mine-paraphrases` made.")],
    output: Output,
    max_queries: Annotated[int, typer.Option(min=1, help="Queries, at most; chosen by the seed.")] = 1000,
    max_relevant: Annotated[
        int, typer.Option(min=1, help="Drop a query whose value agrees with more records: it means too little.")
    ] = 1000,
    seed: Annotated[int, typer.Option(help="Seed of the choice of queries.")] = 0,
    overwrite: Overwrite = False,
) -> None:
    """Make a test set from mined pairs: the same queries for sentences (C_s) and for descriptions (C_q).

    What agrees with a query's value is relevant. A query's own evidence is in neither corpus. Go on with
    `qbench leaderboard TESTSET`; look into a part with `qbench benchmark show TESTSET/descriptions`.

    Example: qbench test-set make pairs -o testset
    """
    from qbench.cli import console
    from qbench.mining.options import TestSetOptions
    from qbench.mining.test_set import make_test_set

    with console.progress("test-set") as progress:
        made = make_test_set(
            pairs,
            output,
            TestSetOptions(max_queries, max_relevant, seed),
            overwrite=overwrite,
            progress=progress,
        )
    _report(made)


@app.command()
def pool(
    test_set: Annotated[Path, typer.Argument(metavar="TESTSET", help="A test set that `make` wrote.")],
    leaderboards: Annotated[
        list[Path], typer.Argument(metavar="LEADERBOARD...", help="Folders that `qbench leaderboard TESTSET` wrote.")
    ],
    output: Annotated[Path, typer.Option("--output", "-o", help="The sheet: a new CSV file.")],
    depth: Annotated[int, typer.Option(min=1, help="How far into each run to look.")] = 10,
    queries: Annotated[int, typer.Option(min=1, help="Queries, at most; chosen by the seed.")] = 291,
    irrelevant: Annotated[
        int, typer.Option(min=0, help="Records of another value per query, at most; those that agree are all there.")
    ] = 5,
    seed: Annotated[int, typer.Option(help="Seed of all choices, and of the order.")] = 0,
) -> None:
    """Write what the systems found as a sheet for people to judge, in random order, without saying who found it.

    Annotators judge in the page beside the sheet, or fill the column `judgment`: 1 if the record states the fact that
    the query describes, 0 if not.

    Example: qbench test-set pool testset qbench-leaderboard/testset -o sheet.csv
    """
    from qbench.cli.benchmark import print_counts
    from qbench.cli.console import note
    from qbench.mining.judging import pool_sheet
    from qbench.mining.options import PoolOptions
    from qbench.mining.test_set import open_test_set

    opened = open_test_set(test_set)
    counts = pool_sheet(opened, leaderboards, output, PoolOptions(depth, queries, irrelevant, seed))
    print_counts(dict(counts))
    note(f"Fill the column judgment of {output}, then: qbench test-set judge {test_set} {output} -o JUDGED")


@app.command()
def judge(
    test_set: Annotated[Path, typer.Argument(metavar="TESTSET", help="The test set that the sheets were made from.")],
    sheets: Annotated[list[Path], typer.Argument(metavar="SHEET...", help="Judged sheets, one file for each person.")],
    output: Output,
    resolve: Annotated[
        Resolve,
        typer.Option(
            help="Where two sheets differ: fail; take the sheet named first; take the lowest or the highest grade."
        ),
    ] = Resolve.fail,
    adjudicated: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="The filled file of disagreements; its grades replace all others."),
    ] = None,
    on_error: Annotated[
        OnError, typer.Option(help="Stop at an answer that cannot be used, or leave it out and count it.")
    ] = OnError.fail,
    names: Annotated[
        bool, typer.Option("--names", help="Keep the annotators' names in the test set; without it they are numbered.")
    ] = False,
    overwrite: Overwrite = False,
) -> None:
    """Make a test set whose relevance people judged; how far they agree is said as Cohen's kappa.

    Example: qbench test-set judge testset anna.csv ben.csv -o judged --resolve lowest
    """
    from qbench.annotation.options import ImportOptions
    from qbench.mining.judging import judge as import_judgments
    from qbench.mining.test_set import open_test_set

    options = ImportOptions(resolve.value, adjudicated, on_error.value, names)
    _report(import_judgments(open_test_set(test_set), sheets, output, options, overwrite=overwrite))


def _report(made: QuantityTestSet) -> None:
    from qbench.cli.benchmark import print_counts
    from qbench.cli.console import out

    print_counts(dict(made.counts))
    sizes = ", ".join(f"{view.corpus.height:,} in {name}" for name, view in made.views.items())
    out().print(f"{made.folder}: {made.counts['queries']:,} queries; documents: {sizes}", markup=False)
