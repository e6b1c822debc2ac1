"""An experiment that ran, as Markdown, as data for JSON, and on a terminal."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from rich.console import RenderableType
from rich.text import Text

from qbench.leaderboard.documents import MISSING, escape, grid, plain, problems
from qbench.leaderboard.experiment_tables import ExperimentCell, ExperimentResult, ExperimentTable
from qbench.leaderboard.terminal import text_grid
from qbench.training.recipes import ContrastiveRecipe


def cell_text(cell: ExperimentCell | None) -> str:
    """A figure with its change, and a star where that is significant.

    >>> from qbench.leaderboard.experiment_tables import ExperimentCell
    >>> cell_text(ExperimentCell(0.512, "BM25", 0.1, 0.01)), cell_text(None)
    ('0.512 (+0.100*)', '-')
    >>> cell_text(ExperimentCell(0.512, "BM25", -0.0001, 0.7))
    '0.512 (+0.000)'
    """
    if cell is None:
        return MISSING
    if cell.change is None:
        return f"{cell.mean:.3f}"
    marks = ("*" if cell.significant else "") + ("†" if cell.differs else "")
    return f"{cell.mean:.3f} ({cell.change:+z.3f}{marks})"


def markdown(result: ExperimentResult) -> str:
    """The page of an experiment."""
    experiment = result.experiment
    lines = [f"# {escape(experiment.title)}", ""]
    lines += [escape(experiment.about), ""] if experiment.about else []
    if command := result.about.get("command"):
        lines += [f"`{plain(command).replace('`', ' ')}`", ""]
    for table in result.tables:
        lines += _table(table)
    lines += ["## Made from", "", *grid(["input", "what", "given"], _inputs(result), text_columns=3)]
    trainings = result.about.get("trainings", {})
    if trainings:
        header = ["training", "of", "on", "recipe", "queries", "positives", "best epoch", "nDCG@10 before", "after"]
        lines += [*grid(header, [_training(name, one) for name, one in trainings.items()], text_columns=4)]
        lines += ["nDCG@10 is that on development queries, before training and after the best epoch.", ""]
    lines += [f"- {escape(note)}" for note in result.notes] + ([""] if result.notes else [])
    lines += ["## Leaderboards", ""]
    for name, leaderboard in result.leaderboards.items():
        facts = leaderboard.about["benchmark"]
        lines.append(
            f"- [{escape(name)}]({name}/leaderboard.md): {escape(facts['name'])}, digest {facts['digest']}, "
            f"{facts['queries']} queries, {facts['documents']} documents"
        )
        lines += [f"    - {escape(note)}" for note in (*problems(leaderboard), *leaderboard.notes)]
    lines += [f"- {escape(name)}: no row has a run: {escape(reason)}" for name, reason in result.failed.items()]
    versions = ", ".join(f"{name} {version}" for name, version in result.about.get("versions", {}).items())
    return "\n".join([*lines, "", escape(versions), ""])


def as_dict(result: ExperimentResult) -> dict[str, Any]:
    """The page as data; the leaderboards have files of their own, with every figure."""
    leaderboards = {
        name: {**leaderboard.about["benchmark"], "notes": list(leaderboard.notes), "problems": problems(leaderboard)}
        for name, leaderboard in result.leaderboards.items()
    }
    return {
        "title": result.experiment.title,
        "about": result.experiment.about,
        **result.about,
        "notes": list(result.notes),
        "leaderboards": {**leaderboards, **{name: {"problems": [reason]} for name, reason in result.failed.items()}},
        "tables": [
            {
                "title": table.title,
                "columns": list(table.columns),
                "rows": {
                    row: [None if cell is None else _cell(cell) for cell in cells] for row, cells in table.rows.items()
                },
                "notes": list(table.notes),
            }
            for table in result.tables
        ],
    }


def renderables(result: ExperimentResult) -> list[RenderableType]:
    """The tables for a terminal."""
    parts: list[RenderableType] = []
    for table in result.tables:
        rows = [[plain(row), *map(cell_text, cells)] for row, cells in table.rows.items()]
        parts += [Text(plain(table.title), style="bold"), text_grid(["System", *table.columns], rows, left=(0,))]
        parts += [Text(plain(note), style="dim") for note in table.notes]
    return parts


def _cell(cell: ExperimentCell) -> dict[str, Any]:
    return {**asdict(cell), "significant": cell.significant, "differs": cell.differs}


def _table(table: ExperimentTable) -> list[str]:
    rows = [
        [escape(row), *(cell_text(cell).replace("*", r"\*") for cell in cells)] for row, cells in table.rows.items()
    ]
    notes = [f"- {escape(note)}" for note in table.notes]
    return [f"## {escape(table.title)}", "", *grid(["System", *table.columns], rows, text_columns=1), *notes, ""]


def _inputs(result: ExperimentResult) -> list[list[str]]:
    inputs = result.about.get("inputs", {})
    return [
        [
            escape(name),
            escape(result.experiment.inputs[name].help),
            escape(" ".join(str(value) for value in one.values())),
        ]
        for name, one in inputs.items()
    ]


def _training(name: str, one: Mapping[str, Any]) -> list[str]:
    counts = one["counts"]
    dev = [MISSING if counts[key] is None else f"{counts[key]:.3f}" for key in ("dev_untrained", "dev")]
    teacher = f", taught by {one['teacher_name']}" if one.get("teacher_name") else ""
    joint = f" and {one['joint_name']}" if one.get("joint_name") else ""
    return [
        escape(name),
        escape(f"{one['trained']} from {one['base_name']}{teacher}"),
        escape(f"{one['benchmark_name']}{joint}"),
        escape(_recipe(one)),
        f"{counts['queries']:,}",
        f"{counts['positives']:,}",
        f"{counts['best_epoch']} of {counts['epochs']}",
        *dev,
    ]


def _recipe(one: Mapping[str, Any]) -> str:
    """What a training does otherwise than by default."""
    usual = asdict(ContrastiveRecipe())
    ignored = {"loss", "negatives"} if one.get("teacher_name") else set()
    other = {name: one[name] for name in set(usual) & set(one) - ignored if _list(one[name]) != usual[name]}
    return ", ".join(f"{name} {_value(value)}" for name, value in sorted(other.items()))


def _list(value: object) -> object:
    return tuple(value) if isinstance(value, list) else value


def _value(value: object) -> str:
    return "+".join(map(str, value)) if isinstance(value, list | tuple) else str(value)
