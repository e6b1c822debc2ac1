"""Options of the verbs that ask a chat model, and how its use is told."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from qbench.cli.options import server_access

if TYPE_CHECKING:
    from qbench.llm.asking import Asking
    from qbench.llm.client import Access, Estimate

Model = Annotated[str | None, typer.Option("--model", help="The chat model, as its server names it.")]
BaseUrl = Annotated[
    str,
    typer.Option(
        "--base-url",
        metavar="URL",
        help="Address of a server with OpenAI's interface, such as http://localhost:8000/v1. auto: that in "
        "OPENAI_BASE_URL, or else OpenAI's. The key is taken from OPENAI_API_KEY.",
    ),
]
Temperature = Annotated[float, typer.Option(min=0.0, max=2.0, help="Temperature of the model.")]
ModelSeed = Annotated[int, typer.Option(help="Seed that the model is given, where its server takes one.")]
MaxTokens = Annotated[
    int, typer.Option(min=1, help="Tokens of one answer, at most. Models that think first need thousands.")
]
Tries = Annotated[int, typer.Option(min=1, help="How often one thing is asked where the answer will not do.")]
Threads = Annotated[int, typer.Option(min=1, help="Requests on their way at once.")]
Timeout = Annotated[float, typer.Option(min=0.1, help="Seconds to wait for an answer.")]
AllowMissing = Annotated[
    bool, typer.Option("--allow-missing", help="Go on without what the server refuses, or --replay does not find.")
]
ChatRecording = Annotated[
    Path | None,
    typer.Option(
        "--recording", metavar="FILE", help="Where answers are kept. [default: beside the output, .answers.sqlite]"
    ),
]


def chat_access(
    output: Path,
    recording: Path | None,
    replay: bool,
    budget: str | None,
    prices: Path | None,
    threads: int,
    timeout: float,
) -> Access:
    """How a chat model may be used; errors as in `server_access`."""
    access = server_access(recording or beside(output), replay, budget, prices)
    return replace(access, threads=threads, patience=replace(access.patience, timeout=timeout))


def beside(output: Path) -> Path:
    """The recording of an output where none is named."""
    return output.with_name(f"{output.stem if output.suffix == '.tsv' else output.name}.answers.sqlite")


def tell_forecast(what: str, asking: Asking, estimate: Estimate) -> None:
    """Say on standard output what would be asked, and what that costs."""
    from qbench.cli.console import out

    line = (
        f"{asking.server.name}, {asking.server.model}: {estimate.inputs:,} {what}, {estimate.recorded:,} answers "
        f"recorded; about {estimate.calls:,} calls, {estimate.input_tokens:,} tokens read and at most "
        f"{estimate.output_tokens:,} written"
    )
    if estimate.money is not None:
        line += f", at most {estimate.money:.4g} by your prices"
    if asking.tries > 1:
        line += f". Where an answer will not do it is asked again, {asking.tries - 1} more at most"
    out().print(line, markup=False)


def tell_spent(asking: Asking, formats: dict[str, int]) -> None:
    """Say on standard error what was asked, and in which way where the server does not take the strictest one."""
    from qbench.cli.console import note

    for form, count in formats.items():
        if form != "json_schema":
            way = "asked for JSON without a schema" if form == "json_object" else "asked for JSON in words alone"
            note(f"the server takes no JSON schema: {count:,} answers were {way}")
    if asking.access.budget.calls:
        note(f"Asked of servers: {asking.access.budget}; their answers are kept in {asking.access.recording}")
