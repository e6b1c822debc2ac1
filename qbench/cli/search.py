"""`qbench search`: the documents that a system finds for a query."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from qbench.cli.records import FormatOption, print_records

if TYPE_CHECKING:
    from rich.text import Text

    from qbench.retrieval.searching import Hit

app = typer.Typer(add_completion=False, rich_markup_mode=None)


@app.command()
def search(
    folder: Annotated[Path, typer.Argument(help="An index, a benchmark, or a folder in BEIR's layout.")],
    query: Annotated[str, typer.Argument(help='What is asked: "laptop under 2 kg".')],
    system: Annotated[str, typer.Option(help="What ranks, as on a leaderboard (`qbench systems`).")] = "BindBM25",
    top: Annotated[int, typer.Option(min=1, help="Documents.")] = 10,
    output: Annotated[
        Path | None,
        typer.Option(
            "--output", "-o", help="Folder that keeps the system's indexes. [default: .NAME.search beside it]"
        ),
    ] = None,
    output_format: FormatOption = "text",
) -> None:
    """Search an index or a benchmark's corpus with a query of your own.

    Conditions are read from the query, and the values that meet one are marked. What made a document's score is shown
    by `qbench explain`, for a benchmark.

    Example: qbench search my-index "laptop under 2 kg" --system "BM25_filter" --top 5
    """
    from qbench.cli import console
    from qbench.retrieval.searching import search as found_by

    with console.progress("search") as progress:
        (hits,) = found_by(folder, [query], system=system, top=top, output=output, progress=progress)
    if output_format != "text":
        print_records(({"rank": rank, **asdict(hit)} for rank, hit in enumerate(hits, start=1)), output_format)
        return
    if not hits:
        console.note("no results: no document shares a word with the query, or meets its conditions")
    for rank, hit in enumerate(hits, start=1):
        console.out().print(_line(rank, hit), soft_wrap=True)


def _line(rank: int, hit: Hit) -> Text:
    """A document with its score, the values that meet a condition marked."""
    from rich.text import Text

    from qbench.cli.console import marked
    from qbench.index.show import printable

    head = Text(f"{rank}. ").append(f"{printable(hit.doc_id)}, {hit.score:.3f}: ", style="dim")
    return head + marked(hit.text, [(span, "bold green", "[[", "]]") for span in hit.met])
