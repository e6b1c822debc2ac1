"""`qbench evaluate`: score run files that other tools made."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from qbench.cli.from_options import BY_NAME, UNRECORDED, CommandLine, command
from qbench.cli.leaderboard import show_leaderboard
from qbench.cli.options import ShowOptions, TableOptions

app = typer.Typer(add_completion=False, rich_markup_mode=None)


@command(app, "evaluate")
def evaluate(
    judgments: Annotated[
        Path,
        typer.Argument(help="A benchmark that qbench made, a BEIR folder, or a qrels file (TREC or BEIR)."),
        BY_NAME,
    ],
    runs: Annotated[
        list[Path],
        typer.Argument(help="TREC run files (plain or .gz), or Parquet with query_id, doc_id, score."),
        BY_NAME,
    ],
    table: TableOptions,
    shown: ShowOptions,
    line: CommandLine,
    names: Annotated[
        list[str] | None, typer.Option(help="A name for each run, in order; repeat it. [default: the files' names]")
    ] = None,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="Folder for the tables. [default: only print]"), UNRECORDED
    ] = None,
) -> None:
    """Score run files of other tools: the same measures, tests and tables as `qbench leaderboard`.

    Example: qbench evaluate qrels.txt bm25.run dense.run.gz --names BM25 --names "My dense model"
    """
    from qbench.cli.console import progress
    from qbench.evaluation.measures import DEFAULT_MEASURES
    from qbench.leaderboard.external import evaluate as score
    from qbench.leaderboard.page import check_page

    if shown.html is not None:
        check_page(shown.html)
    with progress("evaluate") as advance:
        result = score(
            judgments,
            runs,
            names=names or (),
            command=line,
            split=table.split,
            qrels=table.qrels,
            measures=table.measures or DEFAULT_MEASURES,
            buckets=table.buckets,
            evidence=shown.html is not None,
            by=table.by,
            resamples=table.resamples,
            seed=table.seed,
            progress=advance,
        )
    if output is not None:
        result.write(output)
    show_leaderboard(result, shown, output)
