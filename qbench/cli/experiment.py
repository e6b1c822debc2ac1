"""`qbench leaderboard --experiment`: trainings and leaderboards from a file."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from qbench.cli.records import print_records
from qbench.errors import OptionError

if TYPE_CHECKING:
    from qbench.cli.options import ShowOptions, TableOptions
    from qbench.llm.client import Access

HOME = Path("qbench-experiments")


def show_experiment(
    path: Path,
    benchmark: Path | None,
    given: Sequence[str],
    output: Path | None,
    dry_run: bool,
    tests: TableOptions,
    shown: ShowOptions,
    *,
    workers: int | None,
    access: Access,
    command: str,
) -> None:
    """Run an experiment, or print its plan, and show its tables.

    Args:
        path: file of the experiment.
        benchmark: its input "bench"; None where `given` names it.
        given: inputs, NAME=VALUE.
        output: folder; None for the default one.
        dry_run: only print the plan.
        tests: the significance tests.
        shown: the tables' format, and the pages that are written.
        workers, access, command: as in `qbench.leaderboard.experiment_run.run_experiment`.

    Raises:
        OptionError: an input is missing, or given twice.
        InputError: a file cannot be read.
    """
    import typer

    from qbench.cli.console import note, out, progress, show_forecast, warn_of_answers
    from qbench.leaderboard.experiment_documents import records, renderables
    from qbench.leaderboard.experiment_run import experiment_name, plan_experiment, run_experiment
    from qbench.leaderboard.experiment_steps import WORK
    from qbench.leaderboard.experiments import read_experiment
    from qbench.leaderboard.forecast import forecast_experiment
    from qbench.leaderboard.terminal import show

    experiment, inputs = read_experiment(path), _inputs(given)
    if benchmark is not None:
        if "bench" in inputs:
            raise OptionError("the benchmark is named twice", value=inputs["bench"], remedy="Omit --with bench=")
        inputs = {"bench": str(benchmark), **inputs}
    folder = output or HOME
    if dry_run:
        for line in plan_experiment(experiment, inputs):
            out().print(line, markup=False)
        show_forecast(*forecast_experiment(experiment, inputs, work=folder / WORK, access=access))
        return
    with progress("experiment") as advance:
        result = run_experiment(
            experiment,
            inputs,
            folder,
            command=command,
            by=tests.by,
            resamples=tests.resamples,
            seed=tests.seed,
            workers=workers,
            access=access,
            html=shown.html,
            progress=advance,
            tell=note,
        )
    if shown.format == "text":
        show(out(), renderables(result))
    else:
        print_records(records(result), shown.format)
    results = folder / experiment_name(experiment, inputs)
    note(f"Written to {results}: experiment.md, experiment.json, and a folder for each leaderboard")
    for board in result.leaderboards.values():
        warn_of_answers(board)
    if access.budget.calls:
        recording = access.recording_in(folder / WORK).recording
        note(f"Asked of servers: {access.budget}; their answers are kept in {recording}")
    if result.lost:
        note(f"Rows without a run: {result.lost}; the reasons stand in experiment.md")
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
