"""`qbench mine-paraphrases`: pairs of descriptions of one fact, by equal values."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from qbench.cli.from_options import command
from qbench.cli.options import Overwrite
from qbench.cli.records import Format, FormatOption, print_table
from qbench.mining.options import MiningOptions
from qbench.work.engines import EngineOptions

if TYPE_CHECKING:
    from qbench.mining.paraphrases import Pairs

app = typer.Typer(add_completion=False, rich_markup_mode=None)


@command(app, "mine-paraphrases")
def mine_paraphrases(
    descriptions: Annotated[Path, typer.Argument(help="Folder of descriptions, made by `qbench describe`.")],
    output: Annotated[Path, typer.Option("--output", "-o", help="Folder of the pairs.")],
    options: MiningOptions,
    engine: EngineOptions,
    threads: Annotated[
        int | None, typer.Option(min=1, help="Search threads, or tasks at a time with Ray. [default: number of cores]")
    ] = None,
    overwrite: Overwrite = False,
    output_format: FormatOption = "text",
) -> None:
    """Mine paraphrases: similar descriptions with the same value; and confusing pairs: with another value.

    The output holds pairs.parquet, the descriptions, and report.md with counts and samples to read. An interrupted run
    resumes when the same command is run again.

    Example: qbench mine-paraphrases news-descriptions -o news-pairs
    """
    from qbench.cli import console
    from qbench.mining.paraphrases import mine_paraphrases as mine

    with console.progress("mine-paraphrases") as progress:
        pairs = mine(
            descriptions,
            output,
            options,
            threads=threads,
            engine=engine.chosen(threads),
            overwrite=overwrite,
            progress=progress,
        )
    _report(pairs, output_format)


def _report(pairs: Pairs, output_format: Format) -> None:
    from qbench.cli import console
    from qbench.mining.report import REPORT, overview

    if not pairs.new:
        console.note_same(pairs.path, "mined from the same descriptions")
    counts = pairs.manifest.counts
    print_table((line.removeprefix("- ") for line in overview(counts)), [counts], output_format)
    if not counts["pairs"]["paraphrase"]:
        console.note("no paraphrases: try --min-digits 2, or a corpus in which documents repeat facts")
    console.note(f"samples to read: {pairs.path / REPORT}")
