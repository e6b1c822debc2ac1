"""Options that several verbs share."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from qbench.llm.client import Access


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
LicenceName = Annotated[
    str | None,
    typer.Option(
        "--licence",
        metavar="ID",
        help="The licence of the texts, for the cards of what is made of them (cc-by-4.0, public-domain, proprietary). "
        "[default: what the source says]",
    ),
]
Wins = Annotated[bool, typer.Option("--wins", help="Also show on which share of the queries one row beats another.")]
Page = Annotated[
    Path | None,
    typer.Option(
        "--html", metavar="PAGE", help="Also write a page in one file: charts, tests, and what each system retrieved."
    ),
]
Resamples = Annotated[int, typer.Option(min=100, help="Resamples of the significance tests.")]
Seed = Annotated[int, typer.Option(help="Seed of the tests.")]

Recorded = Annotated[
    Path | None,
    typer.Option(
        "--recording", metavar="FILE", help="Where answers of servers are kept. [default: answers.sqlite in the output]"
    ),
]
Replay = Annotated[bool, typer.Option("--replay", help="Take servers' answers from the recording alone; needs no key.")]
BudgetText = Annotated[
    str | None,
    typer.Option(
        "--budget",
        metavar="AMOUNT",
        help="What this command may spend on servers: 100 calls, '2e6 tokens' or, with --prices, '1.50 money'. "
        "The most that a call may take is set aside while it is on its way.",
    ),
]
PricesFile = Annotated[
    Path | None,
    typer.Option(
        "--prices", metavar="FILE", help="TOML: for each model input and output, the price of a million tokens."
    ),
]
DryRun = Annotated[bool, typer.Option("--dry-run", help="Only say what would be asked of servers, and what it costs.")]


def server_access(recording: Path | None, replay: bool, budget: str | None, prices: Path | None) -> Access:
    """How servers may be used, from the options above.

    Raises:
        OptionError: the budget is none, or is of money without prices.
        InputError: the prices cannot be read.
    """
    from qbench.cli.console import note
    from qbench.errors import OptionError
    from qbench.llm.budget import Budget, Limit, parse_limit, read_prices
    from qbench.llm.client import Access

    limit = Limit() if budget is None else parse_limit(budget)
    if limit.money is not None and prices is None:
        raise OptionError("a budget of money needs prices", value=budget, remedy="Name a file with --prices")
    spending = Budget(limit, {} if prices is None else read_prices(prices))
    return Access(recording, replay, spending, tell=note)
