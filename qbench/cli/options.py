"""Options that several verbs share."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from qbench.benchmark.types import Split
from qbench.cli.from_options import UNRECORDED
from qbench.cli.recorded import named_input
from qbench.cli.records import FORMAT_HELP, Format
from qbench.options import check, option
from qbench.quantities.languages import LANGUAGE_HELP

if TYPE_CHECKING:
    from qbench.evaluation.significance import SignificanceTests
    from qbench.llm.client import Access


Workers = Annotated[int | None, typer.Option(min=1, help="Worker processes. [default: number of cores]")]
Overwrite = Annotated[
    bool, typer.Option("--overwrite", help="Replace an artefact of the same kind in the output."), UNRECORDED
]
Language = Annotated[str, typer.Option(metavar="CODE", help=LANGUAGE_HELP)]
LicenceName = Annotated[
    str | None,
    typer.Option(
        "--licence",
        metavar="ID",
        help="Licence of the texts, for the cards of artefacts made from them (cc-by-4.0, public-domain, proprietary). "
        "[default: what the source says]",
    ),
]


@dataclass(frozen=True)
class ModelOptions:
    """Models that systems' names stand for."""

    model_of: tuple[str, ...] = option(
        (),
        help="The model that a system's name stands for where it says none (TCT-ColBERT=FOLDER, or a name on the hub); "
        "repeat it for more.",
        metavar="SYSTEM=MODEL",
        recorded=named_input,
    )

    @property
    def models(self) -> dict[str, str]:
        """The model of each name.

        Raises:
            OptionError: one is not written as SYSTEM=MODEL.
        """
        from qbench.errors import OptionError

        pairs = [word.partition("=") for word in self.model_of]
        for (name, _, model), word in zip(pairs, self.model_of, strict=True):
            if not name.strip() or not model.strip():
                raise OptionError("not a name and its model", value=word, remedy="Write TCT-ColBERT=my-model")
        return {name.strip(): model.strip() for name, _, model in pairs}


@dataclass(frozen=True)
class TableOptions:
    """What `qbench leaderboard` and `qbench evaluate` measure, test and show."""

    split: Split = option("test", help="Split of the benchmark whose queries are evaluated.")
    measures: tuple[str, ...] = option(
        (),
        help="A measure that ir-measures parses, or Exist@n or AP_found@n; repeat it for more. The first decides the "
        "ranks. [default: nDCG@10, P@10, RR@10, R@100, AP]",
    )
    qrels: str | None = option(None, help="Which judgments of a BEIR folder with several (dl19 for qrels/dl19.tsv).")
    buckets: bool = option(True, help="Show means by comparator, kind, unit, magnitude and number of constraints.")
    by: Literal["topic", "query"] = option(
        "topic",
        help="What tests, intervals and ranks take for independent: topics (groups of concepts), or each query, which "
        "makes differences look surer than they are.",
        flag="tests-by",
    )
    resamples: int = option(10_000, help="Resamples of the significance tests.", low=100)
    seed: int = option(0, help="Seed of the tests.")

    @property
    def tests(self) -> SignificanceTests:
        """How differences are tested."""
        from qbench.evaluation.significance import SignificanceTests

        return SignificanceTests(self.by, self.resamples, self.seed)


@dataclass(frozen=True)
class ShowOptions:
    """How the leaderboard is shown."""

    format: Format = option("text", help=FORMAT_HELP, recorded=False)
    explain: bool = option(False, help="Also say how to read the tables.", recorded=False)
    wins: bool = option(False, help="Also show on which share of the queries one row beats another.", recorded=False)
    html: Path | None = option(
        None,
        help="Also write a page in one file: charts, tests, and what each system retrieved.",
        metavar="PAGE",
        recorded=False,
    )


@dataclass(frozen=True)
class ServerOptions:
    """How servers may be used; none of it changes an answer."""

    recording: Path | None = option(
        None,
        help="File where answers of servers are recorded. [default: answers.sqlite in the output]",
        metavar="FILE",
        recorded=False,
    )
    replay: bool = option(False, help="Take servers' answers from the recording alone; needs no key.", recorded=False)
    budget: str | None = option(
        None,
        help="Budget of this command on servers: 100 calls, '2e6 tokens' or, with --prices, '1.50 money'. The maximum "
        "cost of a call is reserved while it is in progress.",
        metavar="AMOUNT",
        recorded=False,
    )
    prices: Path | None = option(
        None,
        help="TOML: for each model input and output, the price of a million tokens.",
        metavar="FILE",
        recorded=False,
    )
    dry_run: bool = option(False, help="Only print what servers would be asked, and its cost.", recorded=False)
    threads: int = option(4, help="Number of concurrent requests to a server.", low=1, recorded=False)
    timeout: float = option(120.0, help="Seconds to wait for an answer of a server.", low=0.1, recorded=False)

    def __post_init__(self) -> None:
        check(self)

    def access(self, recording: Path | None = None) -> Access:
        """How servers may be used, answers recorded in `recording` unless the options name a file.

        Raises:
            OptionError: the budget cannot be parsed, or is of money without prices.
            InputError: the prices cannot be read.
        """
        from qbench.cli.console import note
        from qbench.errors import OptionError
        from qbench.llm.budget import Budget, Limit, parse_limit, read_prices
        from qbench.llm.client import Access, Patience

        limit = Limit() if self.budget is None else parse_limit(self.budget)
        if limit.money is not None and self.prices is None:
            raise OptionError("a budget of money needs prices", value=self.budget, remedy="Name a file with --prices")
        spending = Budget(limit, {} if self.prices is None else read_prices(self.prices))
        patience = Patience(timeout=self.timeout)
        return Access(self.recording or recording, self.replay, spending, patience, self.threads, note)
