"""`qbench evaluate`: score run files that other tools made."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from qbench.cli.options import Measures, Page, Part, Qrels, Resamples, Seed, Wins

app = typer.Typer(add_completion=False, rich_markup_mode=None)


@app.command()
def evaluate(
    judgments: Annotated[
        Path, typer.Argument(help="A benchmark that qbench made, a BEIR folder, or a qrels file (TREC or BEIR).")
    ],
    runs: Annotated[
        list[Path], typer.Argument(help="TREC run files (plain or .gz), or Parquet with query_id, doc_id, score.")
    ],
    names: Annotated[
        list[str] | None, typer.Option(help="A name for each run, in order; repeat it. [default: the files' names]")
    ] = None,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="Folder for the tables. [default: only print]")
    ] = None,
    split: Annotated[Part, typer.Option(help="Split of a benchmark that the runs answer.")] = Part.test,
    measures: Measures = None,
    qrels: Qrels = None,
    buckets: Annotated[bool, typer.Option(help="Show means by kind of query, where queries are known.")] = True,
    wins: Wins = False,
    html: Page = None,
    resamples: Resamples = 10_000,
    seed: Seed = 0,
) -> None:
    """Score run files of other tools: the same measures, tests and tables as `qbench leaderboard`.

    Example: qbench evaluate qrels.txt bm25.run dense.run.gz --names BM25 --names "My dense model"
    """
    from qbench.cli.console import note, out, progress
    from qbench.evaluation.measures import DEFAULT_MEASURES
    from qbench.leaderboard.external import evaluate as score
    from qbench.leaderboard.page import check_page, write_page
    from qbench.leaderboard.terminal import show

    if html is not None:
        check_page(html)
    with progress("evaluate") as advance:
        board = score(
            judgments,
            runs,
            names=names or (),
            split=split.value,
            qrels=qrels,
            measures=measures or DEFAULT_MEASURES,
            buckets=buckets,
            evidence=html is not None,
            resamples=resamples,
            seed=seed,
            progress=advance,
        )
    show(out(), [*board.table(), *(board.win_table() if wins else []), *board.bucket_tables()])
    if output is not None:
        board.write(output)
        note(f"Written to {output}: leaderboard.md, .tex, .json, .parquet; scores, significance and buckets as Parquet")
    if html is not None:
        write_page(board, html)
        note(f"The page: {html}")
