"""`qbench tune`: a system's parameters, chosen on validation queries."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from qbench.cli.from_options import UNRECORDED, command
from qbench.cli.options import ModelOptions
from qbench.cli.records import FormatOption, print_table
from qbench.options import option

if TYPE_CHECKING:
    from qbench.leaderboard.tuning import Tuned

app = typer.Typer(add_completion=False, rich_markup_mode=None)


@dataclass(frozen=True)
class TuneOptions:
    """What is tried, and what decides."""

    on: Literal["dev", "train"] = option("dev", help="Split whose queries decide.")
    values: tuple[str, ...] = option(
        (),
        help="A numeric parameter and the values to try: alpha=0,0.1,0.3 or alpha=0:1:0.1, with both ends. Where "
        "several components have it, name one: I.alpha, PQ.M. Repeat it: all combinations are tried. "
        "[default: I.alpha=0:1:0.1]",
        flag="try",
        metavar="NAME=VALUES",
    )
    measure: str = option("nDCG@10", help="The measure whose mean decides.")
    qrels: str | None = option(None, help="Which judgments of a BEIR folder with several.")
    conditions: Literal["given", "parsed"] = option(
        "parsed", help="Give systems the queries' conditions as data, or parse them from the text."
    )
    depth: int = option(1000, help="Number of documents kept per query.", low=1)


@command(app, "tune")
def tune(
    benchmark: Annotated[Path, typer.Argument(help="A benchmark that qbench made, or a BEIR folder.")],
    system: Annotated[str, typer.Argument(help="The system to start from, as `qbench systems` lists them.")],
    chosen: TuneOptions,
    models: ModelOptions,
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", help="Folder for the choice, runs and indexes. [default: qbench-tuned/NAME]"),
        UNRECORDED,
    ] = None,
    output_format: FormatOption = "text",
) -> None:
    """Choose numeric parameters of a system on validation queries, and write the chosen system down.

    Example: qbench tune my-benchmark "BM25 + TCT-ColBERT-PQ(M=96)-I" --model-of TCT-ColBERT=my-tct --try alpha=0:1:0.1
    """
    from qbench.cli.console import note, progress
    from qbench.leaderboard.tuning import SYSTEM, parsed_values
    from qbench.leaderboard.tuning import tune as tuned
    from qbench.leaderboard.views import with_models

    folder = output or Path("qbench-tuned") / (benchmark.resolve().name or "benchmark")
    values = dict(map(parsed_values, chosen.values)) or None
    with progress("tune") as advance:
        result = tuned(
            benchmark,
            with_models(system, models.models),
            values,
            output=folder,
            split=chosen.on,
            measure=chosen.measure,
            qrels=chosen.qrels,
            setting=chosen.conditions,
            depth=chosen.depth,
            progress=advance,
        )
    print_table(lines(result), ({"system": each, result.measure: mean} for each, mean in ranked(result)), output_format)
    note(f"Chosen on {result.queries} queries; written to {folder / SYSTEM}")


def lines(result: Tuned) -> list[str]:
    """The table of what was tried, best first, and the choice."""
    return [result.measure, *(f"{mean:.4f}  {system}" for system, mean in ranked(result)), "", result.system]


def ranked(result: Tuned) -> list[tuple[str, float]]:
    """What was tried with its mean, best first."""
    return sorted(result.tried.items(), key=lambda pair: -pair[1])
