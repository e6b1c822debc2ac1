"""Run an experiment: mask, train, make the leaderboards and the tables over them; finished steps are reused.

    OUTPUT/benchmarks/WHAT-KEY    OUTPUT/checkpoints/KIND-KEY    OUTPUT/work (runs and indexes)
    OUTPUT/EXPERIMENT/LEADERBOARD/leaderboard.*    OUTPUT/EXPERIMENT/experiment.md, experiment.json

Experiments with the same output folder share checkpoints, runs and indexes, which are stored under content keys. The
folder EXPERIMENT is named after the experiment and its input `bench` (main-finance), or main-experiment without one.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import asdict
from pathlib import Path

from qbench.errors import OptionError, without_paths
from qbench.evaluation.significance import SignificanceTests
from qbench.leaderboard import experiment_documents as documents
from qbench.leaderboard.experiment_steps import Steps
from qbench.leaderboard.experiment_tables import ExperimentResult, make_table
from qbench.leaderboard.experiment_types import Experiment, filled
from qbench.leaderboard.run import output_folder
from qbench.llm.client import Access
from qbench.locks import locked
from qbench.progress import Progress, silent
from qbench.store import write_json, write_text


def plan_experiment(experiment: Experiment, given: Mapping[str, str]) -> list[str]:
    """List the steps of an experiment, one line each.

    Args:
        experiment: from `read_experiment`.
        given: input -> value.

    Raises:
        OptionError, InputError: an input is invalid.
    """
    values = inputs_of(experiment, given)
    Steps(experiment, values, Path(), silent, lambda line: None).check()
    lines = [f"mask {mask.name}: {mask.what} of {filled(mask.bench, values)}" for mask in experiment.masks]
    values |= {name: f"{{{name}}}" for name in experiment.produced}
    lines += [
        f"train {t.name}: {t.kind} from {filled(t.model, values)} on {filled(t.bench, values)}"
        for t in experiment.trainings
    ]
    for leaderboard in experiment.leaderboards:
        lines.append(
            f"leaderboard {leaderboard.name}, on {filled(leaderboard.bench, values)}: {', '.join(leaderboard.systems)}"
        )
    return lines


def inputs_of(experiment: Experiment, given: Mapping[str, str]) -> dict[str, str]:
    """The values of an experiment's inputs, with defaults filled in.

    Raises:
        OptionError: a required input is missing, or an input is unknown.
    """
    for name in given:
        if name not in experiment.inputs:
            listed = ", ".join(f"{key} ({entry.help})" for key, entry in experiment.inputs.items()) or "none"
            raise OptionError("this experiment has no such input", value=name, remedy=f"Its inputs: {listed}")
    values: dict[str, str] = {}
    for name, entry in experiment.inputs.items():
        if name not in given and entry.default is None:
            raise OptionError(f"this experiment needs {name}: {entry.help}", remedy=f"Add --with {name}=...")
        values[name] = given[name] if name in given else filled(entry.default or "", values)
    return values


def run_experiment(
    experiment: Experiment,
    given: Mapping[str, str],
    output: str | Path,
    *,
    command: str | None = None,
    tests: SignificanceTests = SignificanceTests(),
    workers: int | None = None,
    access: Access | None = None,
    html: str | Path | None = None,
    progress: Progress = silent,
    tell: Callable[[str], None] = lambda line: None,
) -> ExperimentResult:
    """Run all steps of an experiment and write its page.

    Args:
        experiment: from `read_experiment`.
        given: input -> value: folders, names of models, numbers.
        output: the output folder.
        command: the command line, for the pages.
        tests: how differences are tested.
        workers, access: as in `run_leaderboard`.
        html: the file name of a page in each leaderboard's folder; None for no page.
        progress: reports progress.
        tell: called with one line for each finished step.

    Raises:
        OptionError: an input is missing or unknown, or an option makes no sense.
        InputError: a benchmark or model cannot be read.
        BusyError: another process is writing to `output`.
    """
    page = None if html is None else page_name(html)
    folder = output_folder(output)
    values = inputs_of(experiment, given)
    root = folder / experiment_name(experiment, values)
    with locked(folder):
        steps = Steps(experiment, values, folder, progress, tell, command)
        steps.check()
        for mask in experiment.masks:
            steps.mask(mask)
        for training in experiment.trainings:
            steps.train(training)
        leaderboards = {
            leaderboard.name: steps.leaderboard(
                leaderboard, root / leaderboard.name, tests, workers=workers, access=access, page=page
            )
            for leaderboard in experiment.leaderboards
        }
        ran = {name: leaderboard for name, leaderboard in leaderboards.items() if leaderboard is not None}
        if not ran:
            raise next(iter(steps.failed.values()))
        tables = tuple(make_table(table, experiment, ran, tests) for table in experiment.tables)
        about = {"command": command, **steps.about(ran), "tests": asdict(tests)}
        failed = {
            name: without_paths(str(error), [error.file or "", *values.values()])
            for name, error in steps.failed.items()
        }
        result = ExperimentResult(experiment, ran, tables, about, failed, tuple(steps.notes))
        write_text(root / "experiment.md", documents.markdown(result))
        write_json(root / "experiment.json", documents.as_dict(result))
    return result


def experiment_name(experiment: Experiment, given: Mapping[str, str]) -> str:
    """Folder name of an experiment's pages: its name and that of its input `bench`."""
    bench = inputs_of(experiment, given).get("bench")
    return f"{experiment.name}-experiment" if bench is None else f"{experiment.name}-{Path(bench).resolve().name}"


def page_name(html: str | Path) -> str:
    """The name of the page in each leaderboard's folder.

    Raises:
        OptionError: it is a path, or the name of another file of a leaderboard.
    """
    name = str(html)
    if name != Path(name).name or Path(name).suffix not in (".html", ".htm"):
        raise OptionError(
            "an experiment writes a page into the folder of each leaderboard, under one name",
            value=name,
            remedy="Give a file name without a folder that ends in .html, such as leaderboard.html",
        )
    return name
