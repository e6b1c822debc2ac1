"""`qbench leaderboard --suite`: a study from a file."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from qbench.errors import OptionError

HOME = Path("qbench-studies")


def show_suite(
    path: Path,
    benchmark: Path | None,
    given: Sequence[str],
    output: Path | None,
    dry_run: bool,
    options: dict[str, Any],
) -> None:
    """Run a suite, or say what it would make, and show its tables.

    Raises:
        OptionError: an input is missing, or given twice.
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


def _inputs(given: Sequence[str]) -> dict[str, str]:
    inputs: dict[str, str] = {}
    for text in given:
        name, sign, value = text.partition("=")
        if not sign or not name.strip() or not value.strip():
            raise OptionError("an input is written NAME=VALUE", value=text)
        if name.strip() in inputs:
            raise OptionError("this input is given twice", value=name.strip())
        inputs[name.strip()] = value.strip()
    return inputs
