"""`qbench boards`: several leaderboards side by side."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from qbench.cli.records import FormatOption, print_table

app = typer.Typer(add_completion=False, rich_markup_mode=None)


@app.command()
def boards(
    folders: Annotated[
        list[Path], typer.Argument(metavar="FOLDER...", help="Folders that `qbench leaderboard` or `evaluate` wrote.")
    ],
    measure: Annotated[
        str | None, typer.Option(help="One of their measures. [default: the one that ranks the first board]")
    ] = None,
    html: Annotated[Path | None, typer.Option(metavar="PAGE", help="Also write one page for all of them.")] = None,
    output_format: FormatOption = "text",
) -> None:
    """Show the systems of several leaderboards on all benchmarks, ordered by their mean rank.

    Example: qbench boards results/news results/filings --html all.html
    """
    from qbench.cli.console import aligned, note
    from qbench.leaderboard.overview import read_overview, write_overview
    from qbench.leaderboard.page import check_page

    if html is not None:
        check_page(html)
    overview = read_overview(folders, measure, html)
    rows = [
        [("-" if rank is None else f"{rank:.2f}"), label, *("-" if p is None else f"{p.mean:.3f}" for p in places)]
        for label, places in overview.rows.items()
        for rank in (overview.mean_rank(label),)
    ]
    lines = [f"{len(overview.boards)} benchmarks, {overview.measure}"]
    lines += aligned(["mean rank", "system", *overview.boards], rows, 2)
    print_table(lines, overview.records(), output_format)
    if html is not None:
        note(f"The page: {write_overview(overview, html)}")
