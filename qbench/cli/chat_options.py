"""Options of the verbs that ask a chat model, and messages about its use."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from qbench.cli.options import ServerOptions
from qbench.errors import OptionError
from qbench.options import check, option

if TYPE_CHECKING:
    from qbench.llm.asking import Asking
    from qbench.llm.client import Estimate


@dataclass(frozen=True)
class ChatOptions:
    """The chat model, and its sampling options."""

    model: str | None = option(None, help="The chat model, as its server names it.")
    base_url: str = option(
        "auto",
        help="Address of a server with OpenAI's interface, such as http://localhost:8000/v1. auto: that in "
        "OPENAI_BASE_URL, or else OpenAI's. The key is taken from OPENAI_API_KEY.",
        metavar="URL",
        recorded=False,  # the address that it leads to stands beside the command
    )
    temperature: float = option(1.0, help="Temperature of the model.", low=0.0, high=2.0)
    seed: int = option(13, help="Seed passed to the model, where its server takes one.")
    max_tokens: int = option(
        400, help="Maximum number of tokens of an answer. Models that think first need thousands.", low=1
    )
    tries: int = option(2, help="Maximum number of attempts per item, until an answer is valid.", low=1)
    allow_missing: bool = option(False, help="Continue without answers that the server refuses or --replay lacks.")

    def __post_init__(self) -> None:
        check(self)

    def asking(self, verb: str, prompt: str, output: Path, server: ServerOptions, language: str) -> Asking:
        """The model with its recording and budget; answers are recorded beside the output by default.

        Args:
            verb: task of the prompt, expand, rewrite or audit.
            prompt: its name, or a TOML file.
            output: of the command.
            server: recording and budget.
            language: code of the language of what is asked about.

        Raises:
            OptionError: no model is named, or its address or the budget cannot be used.
            InputError: the prompt or the prices cannot be read.
        """
        from qbench.llm.asking import Asking
        from qbench.llm.openai_chat import chat_server
        from qbench.llm.prompts import load_prompt

        if self.model is None:
            raise OptionError("no model is named", remedy="Name one with --model")
        chat: dict[str, Any] = {name: getattr(self, name) for name in ("base_url", "temperature", "seed", "max_tokens")}
        model = chat_server(self.model, load_prompt(verb, prompt, language), **chat)
        return Asking(model, server.access(beside(output)), self.tries, self.allow_missing)


@dataclass(frozen=True)
class ChatServerOptions(ServerOptions):
    """How a chat model's server may be used."""

    recording: Path | None = option(
        None,
        help="File where answers are recorded. [default: beside the output, .answers.sqlite]",
        metavar="FILE",
        recorded=False,
    )


def beside(output: Path) -> Path:
    """The default recording of an output."""
    return output.with_name(f"{output.stem if output.suffix == '.tsv' else output.name}.answers.sqlite")


def print_forecast(what: str, asking: Asking, estimate: Estimate) -> None:
    """Print the number of requests that would be sent, and their cost."""
    from qbench.cli.console import out

    line = (
        f"{asking.server.name}, {asking.server.model}: {estimate.inputs:,} {what}, {estimate.recorded:,} answers "
        f"recorded; about {estimate.calls:,} calls, {estimate.input_tokens:,} tokens read and at most "
        f"{estimate.output_tokens:,} written"
    )
    if estimate.money is not None:
        line += f", at most {estimate.money:.4g} by your prices"
    if asking.tries > 1:
        line += f". Invalid answers are asked for again, up to {asking.tries - 1} more times"
    out().print(line, markup=False)


def note_spent(asking: Asking, formats: dict[str, int]) -> None:
    """Report on standard error the requests sent, and how JSON was requested if the server takes no schema."""
    from qbench.cli.console import note, note_asked

    for form, count in formats.items():
        if form != "json_schema":
            way = "asked for JSON without a schema" if form == "json_object" else "asked for JSON in words alone"
            note(f"the server takes no JSON schema: {count:,} answers were {way}")
    note_asked(asking.access)
