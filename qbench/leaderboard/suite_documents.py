"""A suite that ran, as Markdown, as data for JSON, and on a terminal."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from qbench.leaderboard.documents import MISSING, escape, grid, plain, problems

if TYPE_CHECKING:
    from rich.console import RenderableType

    from qbench.leaderboard.suite_run import SuiteResult
    from qbench.leaderboard.suite_tables import SuiteCell, SuiteTable


def cell_text(cell: SuiteCell | None) -> str:
    """A figure with its change, and a star where that is significant.

    >>> from qbench.leaderboard.suite_tables import SuiteCell
    >>> cell_text(SuiteCell(0.512, "BM25", 0.1, 0.01)), cell_text(None)
    ('0.512 (+0.100*)', '-')
    """
    if cell is None:
        return MISSING
    if cell.change is None:
        return f"{cell.mean:.3f}"
    return f"{cell.mean:.3f} ({cell.change:+.3f}{'*' if cell.significant else ''})"


def markdown(result: SuiteResult) -> str:
    """The page of a suite."""
    suite = result.suite
    lines = [f"# {escape(suite.title)}", ""]
    lines += [escape(suite.about), ""] if suite.about else []
    lines += [f"`qbench leaderboard --suite {plain(suite.name)}.toml{_given(result)}`", ""]
    for table in result.tables:
        lines += _table(table)
    lines += ["## Made from", "", *grid(["input", "what", "given"], _inputs(result), text_columns=3)]
    trainings = result.about.get("trainings", {})
    if trainings:
        header = ["training", "of", "queries", "positives", "best epoch", "dev nDCG@10 before", "after", "options"]
        lines += [*grid(header, [_training(name, one) for name, one in trainings.items()], text_columns=2)]
    lines += ["## Boards", ""]
    for name, board in result.boards.items():
        facts = board.about["benchmark"]
        lines.append(
            f"- [{escape(name)}]({name}/leaderboard.md): {escape(facts['name'])}, digest {facts['digest']}, "
            f"{facts['queries']} queries, {facts['documents']} documents"
        )
        lines += [f"    - {escape(note)}" for note in (*problems(board), *board.notes)]
    versions = ", ".join(f"{name} {version}" for name, version in result.about.get("versions", {}).items())
    return "\n".join([*lines, "", escape(versions), ""])


def as_dict(result: SuiteResult) -> dict[str, Any]:
    """What JSON can say of it; the boards have their own files."""
    return {
        "title": result.suite.title,
        **result.about,
        "boards": {name: {**board.about["benchmark"]} for name, board in result.boards.items()},
        "tables": [
            {
                "title": table.title,
                "columns": list(table.columns),
                "rows": {
                    row: [None if cell is None else {**asdict(cell), "significant": cell.significant} for cell in cells]
                    for row, cells in table.rows.items()
                },
                "notes": list(table.notes),
            }
            for table in result.tables
        ],
    }


def renderables(result: SuiteResult) -> list[RenderableType]:
    """The tables for a terminal."""
    from rich.text import Text

    from qbench.leaderboard.terminal import text_grid

    parts: list[RenderableType] = []
    for table in result.tables:
        rows = [[plain(row), *map(cell_text, cells)] for row, cells in table.rows.items()]
        parts += [Text(plain(table.title), style="bold"), text_grid(["System", *table.columns], rows, left=(0,))]
        parts += [Text(plain(note), style="dim") for note in table.notes]
    return parts


def _given(result: SuiteResult) -> str:
    """The inputs as options, folders by their names."""
    words = []
    for name, about in result.about.get("inputs", {}).items():
        what: Mapping[str, str] = about
        words.append(f" --with {name}={plain(what.get('benchmark') or what.get('model') or what['value'])}")
    return "".join(words)


def _table(table: SuiteTable) -> list[str]:
    rows = [
        [escape(row), *(cell_text(cell).replace("*", r"\*") for cell in cells)] for row, cells in table.rows.items()
    ]
    notes = [f"- {escape(note)}" for note in table.notes]
    return [f"## {escape(table.title)}", "", *grid(["System", *table.columns], rows, text_columns=1), *notes, ""]


def _inputs(result: SuiteResult) -> list[list[str]]:
    inputs = result.about.get("inputs", {})
    return [
        [escape(name), escape(result.suite.inputs[name].help), escape(" ".join(str(value) for value in one.values()))]
        for name, one in inputs.items()
    ]


def _training(name: str, one: Mapping[str, Any]) -> list[str]:
    counts = one["counts"]
    shown = ("epochs", "batch_size", "lr", "loss", "methods", "kinds", "max_pairs", "max_length", "seed")
    options = ", ".join(f"{option} {_value(one[option])}" for option in shown if one[option] not in ([], ()))
    dev = ["-" if counts[key] is None else f"{counts[key]:.3f}" for key in ("dev_untrained", "dev")]
    return [
        escape(name),
        escape(f"{one['trained']} from {one['base_name']}"),
        f"{counts['queries']:,}",
        f"{counts['positives']:,}",
        f"{counts['best_epoch']} of {counts['epochs']}",
        *dev,
        escape(options),
    ]


def _value(value: object) -> str:
    return "+".join(map(str, value)) if isinstance(value, list | tuple) else str(value)
