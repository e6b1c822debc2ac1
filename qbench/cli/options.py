"""Options that `qbench leaderboard` and `qbench evaluate` share."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated

import typer


class Part(StrEnum):
    """The parts of a benchmark."""

    train = "train"
    dev = "dev"
    test = "test"


Measures = Annotated[
    list[str] | None,
    typer.Option(
        help="A measure that ir-measures parses, or Exist@n or AP_found@n; repeat it for more. The first decides the "
        "ranks. [default: nDCG@10, P@10, RR@10, R@100, AP]"
    ),
]
Qrels = Annotated[
    str | None, typer.Option(help="Which judgments of a BEIR folder with several (dl19 for qrels/dl19.tsv).")
]
Wins = Annotated[bool, typer.Option("--wins", help="Also show on which share of the queries one row beats another.")]
Resamples = Annotated[int, typer.Option(min=100, help="Resamples of the significance tests.")]
Seed = Annotated[int, typer.Option(help="Seed of the tests.")]
