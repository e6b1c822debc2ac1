"""`qbench leaderboard --suite`: a study from a file."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from qbench.errors import OptionError

if TYPE_CHECKING:
    import typer

HOME = Path("qbench-studies")

FOR_BOTH = (
    "benchmark",
    "output",
    "resamples",
    "seed",
    "workers",
    "recording",
    "replay",
    "budget",
    "prices",
    "dry_run",
    "html",
)
"""Options of `qbench leaderboard` that a suite takes too; the others stand in its file."""

FOR_SUITES = ("given",)


def needs_a_suite(context: typer.Context) -> None:
    """Refuse options that mean nothing without a suite.

    Raises:
        OptionError: names the option.
    """
    _refuse(context, set(FOR_SUITES), "this option is for suites", "Name one with --suite")


def show_suite(
    context: typer.Context,
    path: Path,
    benchmark: Path | None,
    given: list[str],
    output: Path | None,
    dry_run: bool,
    options: dict[str, Any],
) -> None:
    """Run a suite, or say what it would make, and show its tables.

    Raises:
        OptionError: an option cannot stand beside a suite, or an input is missing.
        InputError: a file cannot be read.
    """
    import typer

    from qbench.cli.console import note, out, progress, show_forecast
    from qbench.leaderboard.forecast import forecast_suite
    from qbench.leaderboard.suite_documents import renderables
    from qbench.leaderboard.suite_run import plan_suite, run_suite, study_name
    from qbench.leaderboard.suite_steps import WORK
    from qbench.leaderboard.suites import read_suite
    from qbench.leaderboard.terminal import show

    others = {name for name in context.params if name not in (*FOR_BOTH, *FOR_SUITES, "suite")}
    _refuse(context, others, "a suite's own file says this", "Leave it away, or change the file")
    suite, inputs = read_suite(path), _inputs(given)
    if benchmark is not None:
        if "bench" in inputs:
            raise OptionError("the benchmark is named twice", value=inputs["bench"], remedy="Leave --with bench= away")
        inputs = {"bench": str(benchmark), **inputs}
    folder, access = output or HOME, options["access"]
    if dry_run:
        for line in plan_suite(suite, inputs):
            out().print(line, markup=False)
        show_forecast(*forecast_suite(suite, inputs, access=access.kept_in(folder / WORK)))
        return
    with progress("suite") as advance:
        result = run_suite(suite, inputs, folder, progress=advance, tell=note, **options)
    show(out(), renderables(result))
    note(f"Written to {folder / study_name(suite, inputs)}: suite.md, suite.json, and a folder for each leaderboard")
    if access.budget.calls:
        note(f"Asked of servers: {access.budget}; their answers are kept in {access.kept_in(folder / WORK).recording}")
    if result.lost:
        note(f"Rows without a run: {result.lost}; the reasons stand in suite.md")
        raise typer.Exit(1)


def _inputs(given: list[str]) -> dict[str, str]:
    inputs: dict[str, str] = {}
    for text in given:
        name, sign, value = text.partition("=")
        if not sign or not name.strip() or not value.strip():
            raise OptionError("an input is written NAME=VALUE", value=text)
        if name.strip() in inputs:
            raise OptionError("this input is given twice", value=name.strip())
        inputs[name.strip()] = value.strip()
    return inputs


def _refuse(context: typer.Context, names: set[str], message: str, remedy: str) -> None:
    for parameter in context.command.params:
        source = context.get_parameter_source(parameter.name or "")
        if parameter.name in names and source is not None and source.name == "COMMANDLINE":
            raise OptionError(message, value=parameter.opts[0], remedy=remedy)
