"""The `qbench` command: the table of verbs, and how an error reaches a person."""

from __future__ import annotations

import io
import os
import re
import sys
import time
from importlib import import_module
from typing import Any, NoReturn

import typer
from typer.core import TyperGroup

VERBS: dict[str, str] = {
    "build-index": "Corpus -> quantities and concept/unit index.",
    "index": "Look into an index.",
    "expand-concepts": "Index -> other names of its concepts, by a model.",
    "gen-queries": "Index -> benchmark with checked labels.",
    "templates": "Print templates and prompts, to be edited.",
    "synth": "Table of facts -> corpus with exact quantities.",
    "ground": "Your documents and a table of facts -> index with exact labels.",
    "benchmark": "Check, import, export, show benchmarks.",
    "annotate": "Benchmark -> sheets for people to judge -> judged benchmark.",
    "test-set": "Paraphrase pairs -> test set for quantity retrieval.",
    "systems": "List the retrieval systems.",
    "train": "Train a model: on a benchmark, mined pairs, or gold.",
    "leaderboard": "Run systems, test differences, show a table.",
    "serve-index": "Index -> tables and queries for PostgreSQL or OpenSearch.",
    "boards": "Several leaderboards side by side, with a mean rank.",
    "search": "Index or benchmark and a query -> ranked documents.",
    "tune": "Choose a system's parameters on validation queries.",
    "explain": "A query and documents -> what the score of a system is made of.",
    "evaluate": "Score run files of other tools.",
    "extract": "Show the quantities of a text.",
    "describe": "Index -> what each quantity is, in words.",
    "mine-paraphrases": "Descriptions -> pairs of one fact by equal values.",
    "retrieve-quantity": "A description -> quantity and evidence.",
    "export": "Benchmark -> BEIR, TREC, sentence-transformers, ir_datasets.",
    "publish": "Benchmark, pairs or descriptions -> data set of the hub.",
    "pull": "Data set of the hub -> what was published.",
    "log": "Show which commands ran.",
}
"""Each verb is `qbench.cli.<verb with underscores>.app`, imported only when it is used."""


class LazyGroup(TyperGroup):
    """The verbs' names and one-line helps without importing them, so that `qbench --help` is quick."""

    def list_commands(self, ctx: Any) -> list[str]:
        """Name the verbs in the order of `VERBS`."""
        return list(VERBS)

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        """Import the verb's module, or stand in for it where only its one-line help is needed."""
        if cmd_name not in VERBS:
            return None
        if _only_listing():
            return typer.main.get_command(_placeholder(VERBS[cmd_name]))
        module = import_module(f"qbench.cli.{cmd_name.replace('-', '_')}")
        command: Any = typer.main.get_command(module.app)
        command.name = cmd_name
        return command

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """Find the verb; an error about a mistyped one suggests others, among the names in `commands`."""
        names: dict[str, Any] = dict.fromkeys(VERBS)
        self.commands = names
        return super().resolve_command(ctx, args)


app = typer.Typer(
    cls=LazyGroup,
    no_args_is_help=True,
    context_settings={"help_option_names": ["-h", "--help"]},
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
)


def _version(value: bool) -> None:
    if value:
        from qbench import __version__

        typer.echo(f"qbench {__version__}")
        raise typer.Exit


@app.callback()
def _root(
    version: bool = typer.Option(False, "--version", callback=_version, is_eager=True, help="Print the version."),
) -> None:
    """Make and run benchmarks for quantity-aware retrieval."""


INTERRUPTED = 130
"""The exit code of a command that was stopped by Ctrl-C."""


def main() -> None:
    """Run the command line, and note in the log what ran."""
    start, code = time.monotonic(), 1
    try:
        _run()
        code = 0
    except SystemExit as leaving:
        code = leaving.code if isinstance(leaving.code, int) else int(leaving.code is not None)
        raise
    finally:
        from qbench.cli.log import add_entry

        add_entry(sys.argv[1:], time.monotonic() - start, code)


def _run() -> None:
    """Run the command line. A qbench error is one line and exit code 1; any other is a bug, with a traceback."""
    from qbench.errors import QbenchError, visible

    os.environ.setdefault("RUST_BACKTRACE", "0")  # polars would print a page of it
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")  # a character that the terminal's encoding lacks
    try:
        app()
    except QbenchError as error:
        typer.echo(f"qbench: {error}", err=True)
        sys.exit(1)
    except SystemExit as leaving:
        if type(sys.stdout).__name__ == "PacifyFlushWrapper":  # what typer puts there when a pipe breaks
            _reader_left()
        if leaving.code == INTERRUPTED:  # typer turns Ctrl-C into this, and says nothing
            typer.echo("qbench: interrupted; run the same command again to resume", err=True)
        raise
    except BrokenPipeError:
        _reader_left()
    except BaseException as error:
        message = _trouble_of_the_machine(error)
        if message is None:
            raise
        typer.echo(f"qbench: {visible(message)}", err=True)
        sys.exit(1)


def _reader_left() -> NoReturn:
    """Leave in peace: the reader (head, less) has left, and its output is complete."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    sys.exit(0)


def _trouble_of_the_machine(error: BaseException) -> str | None:
    """The message for a full disk, a missing permission and the like, which are no bugs; None for anything else."""
    from qbench.errors import shorten

    remedy = "Finished work is kept; the same command resumes"
    if isinstance(error, MemoryError):
        return f"not enough memory. {remedy}"
    if type(error).__name__ == "PanicException":  # of a library in Rust; it is no Exception
        return f"polars cannot read or write a file, which may be damaged: {shorten(error)}. {remedy}"
    if isinstance(error, OSError):
        # numpy reports a full disk in words of its own, without a number.
        what = error.strerror or f"a file cannot be written whole ({error})"
        return f"{what}: {error.filename}. {remedy}" if error.filename else f"{what}. {remedy}"
    if type(error).__module__.startswith("polars") and (match := re.search(r"(.*)\(os error \d+\)", str(error))):
        return f"{match[1].split(':')[-1].strip()}. {remedy}"
    return None


def _only_listing() -> bool:
    words = [word for word in sys.argv[1:] if not word.startswith("-")]
    return not words


def _placeholder(help_text: str) -> typer.Typer:
    verb = typer.Typer(add_completion=False)

    @verb.command(help=help_text)
    def _nothing() -> None:
        """Never called: it stands for a verb in the list."""

    return verb
