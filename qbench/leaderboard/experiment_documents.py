"""Results of an experiment as Markdown, JSON data and terminal tables."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from rich.console import RenderableType
from rich.text import Text

from qbench.leaderboard.documents import MISSING, escape, grid, named, plain, problems, sentence
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
    lines += [f"**{escape(sentence(result.words))}**", ""] if result.words else []
    for table in result.tables:
        lines += _table(table)
    lines += ["## Made from", "", *grid(["input", "what", "given"], _inputs(result), text_columns=3)]
    trainings = result.about.get("trainings", {})
    if trainings:
        header = ["training", "of", "on", "recipe", "queries", "positives", "best epoch", "nDCG@10 before", "after"]
        lines += [*grid(header, [_training(name, training) for name, training in trainings.items()], text_columns=4)]
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
    """The page as data; all figures are in the files of the leaderboards."""
    leaderboards = {
        name: {**leaderboard.about["benchmark"], "notes": list(leaderboard.notes), "problems": problems(leaderboard)}
        for name, leaderboard in result.leaderboards.items()
    }
    return {
        "title": result.experiment.title,
        "about": result.experiment.about,
        **result.about,
        "notes": list(result.notes),
        "words": list(result.words),
        "leaderboards": {**leaderboards, **{name: {"problems": [reason]} for name, reason in result.failed.items()}},
        "tables": [
            {
                "title": table.title,
                "columns": list(table.columns),
                "rows": {
                    row: [None if cell is None else _cell(cell) for cell in cells] for row, cells in table.rows.items()
                },
                "notes": list(table.notes),
                "words": {row: list(words) for row, words in table.words.items()},
            }
            for table in result.tables
        ],
    }


def renderables(result: ExperimentResult) -> list[RenderableType]:
    """The tables for a terminal."""
    parts: list[RenderableType] = []
    if result.words:
        parts.append(Text(plain(sentence(result.words)), style="bold yellow"))
    for table in result.tables:
        names = {row: " ".join([row, *(f"({word})" for word in table.words.get(row, ()))]) for row in table.rows}
        rows = [[plain(names[row]), *map(cell_text, cells)] for row, cells in table.rows.items()]
        parts += [Text(plain(table.title), style="bold"), text_grid(["System", *table.columns], rows, left=(0,))]
        parts += [Text(plain(note), style="dim") for note in table.notes]
    return parts


def records(result: ExperimentResult) -> list[dict[str, Any]]:
    """The tables for programs: one record a figure, with its table, row and column."""
    return [
        {"table": table.title, "system": row, "column": column, **_cell(cell)}
        for table in result.tables
        for row, cells in table.rows.items()
        for column, cell in zip(table.columns, cells, strict=True)
        if cell is not None
    ]


def _cell(cell: ExperimentCell) -> dict[str, Any]:
    return {**asdict(cell), "significant": cell.significant, "differs": cell.differs}


def _table(table: ExperimentTable) -> list[str]:
    rows = [
        [named(row, table.words.get(row, ())), *(cell_text(cell).replace("*", r"\*") for cell in cells)]
        for row, cells in table.rows.items()
    ]
    notes = [f"- {escape(note)}" for note in table.notes]
    return [f"## {escape(table.title)}", "", *grid(["System", *table.columns], rows, text_columns=1), *notes, ""]


def _inputs(result: ExperimentResult) -> list[list[str]]:
    inputs = result.about.get("inputs", {})
    return [
        [
            escape(name),
            escape(result.experiment.inputs[name].help),
            escape(" ".join(str(value) for value in values.values())),
        ]
        for name, values in inputs.items()
    ]


def _training(name: str, training: Mapping[str, Any]) -> list[str]:
    counts = training["counts"]
    dev = [MISSING if counts[key] is None else f"{counts[key]:.3f}" for key in ("dev_untrained", "dev")]
    teacher = f", taught by {training['teacher_name']}" if training.get("teacher_name") else ""
    joint = f" and {training['joint_name']}" if training.get("joint_name") else ""
    return [
        escape(name),
        escape(f"{training['trained']} from {training['base_name']}{teacher}"),
        escape(f"{training['benchmark_name']}{joint}"),
        escape(_recipe(training)),
        f"{counts['queries']:,}",
        f"{counts['positives']:,}",
        f"{counts['best_epoch']} of {counts['epochs']}",
        *dev,
    ]


def _recipe(training: Mapping[str, Any]) -> str:
    """The options of a training that differ from the defaults."""
    usual = asdict(ContrastiveRecipe())
    ignored = {"loss", "negatives"} if training.get("teacher_name") else set()
    names = set(usual) & set(training) - ignored
    changed = {name: training[name] for name in names if _list(training[name]) != usual[name]}
    return ", ".join(f"{name} {_value(value)}" for name, value in sorted(changed.items()))


def _list(value: object) -> object:
    return tuple(value) if isinstance(value, list) else value


def _value(value: object) -> str:
    return "+".join(map(str, value)) if isinstance(value, list | tuple) else str(value)
