"""`qbench leaderboard --experiment`: trainings and leaderboards from a file."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from qbench.cli.records import print_records
from qbench.errors import OptionError

if TYPE_CHECKING:
    from qbench.cli.options import ShowOptions
    from qbench.evaluation.significance import SignificanceTests
    from qbench.leaderboard.experiment_tables import ExperimentResult
    from qbench.leaderboard.experiment_types import Experiment
    from qbench.llm.client import Access

HOME = Path("qbench-experiments")


def show_experiment(
    path: Path,
    benchmark: Path | None,
    given: Sequence[str],
    output: Path | None,
    *,
    tests: SignificanceTests,
    shown: ShowOptions,
    dry_run: bool,
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
        tests: the significance tests.
        shown: the tables' format, and the pages that are written.
        dry_run: only print the plan.
        workers, access, command: as in `qbench.leaderboard.experiment_run.run_experiment`.

    Raises:
        OptionError: an input is missing, or given twice.
        InputError: a file cannot be read.
    """
    from qbench.cli.console import note, progress
    from qbench.leaderboard.experiment_run import experiment_name, run_experiment
    from qbench.leaderboard.experiment_steps import WORK
    from qbench.leaderboard.experiments import read_experiment

    experiment, inputs = read_experiment(path), _inputs(given, benchmark)
    folder = output or HOME
    if dry_run:
        _show_plan(experiment, inputs, folder / WORK, access)
        return
    with progress("experiment") as advance:
        result = run_experiment(
            experiment,
            inputs,
            folder,
            command=command,
            tests=tests,
            workers=workers,
            access=access,
            html=shown.html,
            progress=advance,
            tell=note,
        )
    _report(result, shown, folder / experiment_name(experiment, inputs), access.recording_in(folder / WORK))


def _show_plan(experiment: Experiment, inputs: Mapping[str, str], work: Path, access: Access) -> None:
    """Print the steps of an experiment, and what servers would be asked."""
    from qbench.cli.console import out, show_forecast
    from qbench.leaderboard.experiment_run import plan_experiment
    from qbench.leaderboard.forecast import forecast_experiment

    for line in plan_experiment(experiment, inputs):
        out().print(line, markup=False)
    show_forecast(*forecast_experiment(experiment, inputs, work=work, access=access))


def _report(result: ExperimentResult, shown: ShowOptions, folder: Path, access: Access) -> None:
    """Show the tables of an experiment and what its runs asked of servers; it is a failure if a row has no run."""
    import typer

    from qbench.cli.console import note, note_asked, out, warn_of_answers
    from qbench.leaderboard.experiment_documents import records, renderables
    from qbench.leaderboard.terminal import show

    if shown.format == "text":
        show(out(), renderables(result))
    else:
        print_records(records(result), shown.format)
    note(f"Written to {folder}: experiment.md, experiment.json, and a folder for each leaderboard")
    for board in result.leaderboards.values():
        warn_of_answers(board)
    note_asked(access)
    if result.lost:
        note(f"Rows without a run: {result.lost}; the reasons stand in experiment.md")
        raise typer.Exit(1)


def _inputs(given: Sequence[str], benchmark: Path | None) -> dict[str, str]:
    """The inputs, NAME=VALUE, and the benchmark as the input "bench"."""
    inputs: dict[str, str] = {}
    for text in given:
        name, sign, value = text.partition("=")
        if not sign or not name.strip() or not value.strip():
            raise OptionError("an input is written NAME=VALUE", value=text)
        if name.strip() in inputs:
            raise OptionError("this input is given twice", value=name.strip())
        inputs[name.strip()] = value.strip()
    if benchmark is None:
        return inputs
    if "bench" in inputs:
        raise OptionError("the benchmark is named twice", value=inputs["bench"], remedy="Omit --with bench=")
    return {"bench": str(benchmark), **inputs}
