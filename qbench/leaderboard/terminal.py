"""The leaderboard on a terminal of 80 columns or more; full width in a file or a pipe."""

from __future__ import annotations

from collections.abc import Sequence

from rich.box import SIMPLE_HEAD
from rich.cells import cell_len
from rich.console import Console, RenderableType
from rich.measure import Measurement
from rich.table import Table
from rich.text import Text

from qbench.evaluation.buckets import DIMENSIONS
from qbench.leaderboard.documents import (
    DIMENSION_TITLES,
    MISSING,
    TOO_FEW,
    board_words,
    bucket_caption,
    bucket_grid,
    caption,
    cost_cells,
    cost_headers,
    has_costs,
    plain,
    problems,
    win_caption,
    win_grid,
)
from qbench.leaderboard.standings import Row, Standings, rank_text
from qbench.leaderboard.verdict import verdict

WIDTH = 80
"""Columns of characters of the narrowest terminal that is thought of."""


def tables(leaderboard: Standings, *, explain: bool = True, width: int | None = None) -> list[RenderableType]:
    """Title, verdict, figures, costs, notes. Only the primary measure has interval and letters; files have all.

    Args:
        leaderboard: the board.
        explain: also say how to read it.
        width: of the terminal: where a system's name would be broken, measures and costs on the right are left out,
            and a line names them. None: no limit.
    """
    header, rows, dropped = _fitting(
        figure_header(leaderboard), [figures(row, leaderboard) for row in leaderboard.rows], width, keep=6
    )
    parts: list[RenderableType] = [
        Text(f"{plain(leaderboard.name)}: {size(leaderboard)}", style="bold"),
        Text(plain(verdict(leaderboard))),
        *([Text(plain(board_words(leaderboard)), style="bold yellow")] if leaderboard.words else []),
        Text(),
        text_grid(header, rows, left=(1, 2, 4)),
    ]
    if has_costs(leaderboard):
        costs = [[str(row.number), plain(row.entry.label), *cost_cells(leaderboard, row)] for row in leaderboard.rows]
        header, rows, left_out = _fitting(["#", "System", *cost_headers(leaderboard)], costs, width, keep=3)
        parts.append(text_grid(header, rows, left=(0, 1)))
        dropped += left_out
    if dropped:
        parts.append(Text(f"In the files, and on a wider terminal: {', '.join(dropped)}", style="dim"))
    parts += [Text(plain(line), style="dim") for line in (caption(leaderboard) if explain else ())]
    parts += [Text(plain(line)) for line in (*leaderboard.notes, *problems(leaderboard))]
    return parts


def _fitting(
    header: list[str], rows: list[list[str]], width: int | None, *, keep: int
) -> tuple[list[str], list[list[str]], list[str]]:
    """The columns of a table that fit, and the names of those that do not.

    Where not even `keep` columns fit, names are broken in any case, and all columns stay.
    """
    fitting = len(header)
    if width is not None and _wide(header[:keep], rows) <= width:
        fitting = next(n for n in range(len(header), 0, -1) if _wide(header[:n], rows) <= width)
    return header[:fitting], [row[:fitting] for row in rows], header[fitting:]


def _wide(header: Sequence[str], rows: Sequence[Sequence[str]]) -> int:
    """Characters of a line of `text_grid`."""
    cells = zip(*(row[: len(header)] for row in [header, *rows]), strict=True)
    return sum(max(cell_len(cell) for cell in column) + 2 for column in cells) - 2


def _named(leaderboard: Standings, header: list[str], rows: list[list[str]], width: int) -> list[str]:
    """A heading for each row with a run: the names of all where these fit, else their numbers.

    Args:
        leaderboard: the board.
        header, rows: of the columns before them, and of all.
        width: of the terminal.
    """
    ran = [row for row in leaderboard.rows if row.cells]
    names = [plain(row.entry.label) for row in ran]
    return names if _wide([*header, *names], rows) <= width else [str(row.number) for row in ran]


def bucket_tables(leaderboard: Standings, *, explain: bool = True, width: int = WIDTH) -> list[RenderableType]:
    """The primary measure by kind of query, one table for each dimension with two buckets or more.

    Columns are headed by the names of the rows where they have room in `width` characters, else by their numbers.
    """
    parts: list[RenderableType] = []
    for dimension in DIMENSIONS:
        grid = bucket_grid(leaderboard, dimension)
        if grid:
            parts.append(Text(f"{DIMENSION_TITLES[dimension]} ({leaderboard.primary})", style="bold"))
            lines = [[plain(cell) for cell in line] for line in grid]
            header = [dimension, "queries", "topics"]
            parts.append(text_grid([*header, *_named(leaderboard, header, lines, width)], lines, left=(0,)))
            if explain and any(TOO_FEW in line[2] for line in grid):
                parts.append(Text(bucket_caption(leaderboard), style="dim"))
    return parts


def win_table(leaderboard: Standings, *, width: int = WIDTH) -> list[RenderableType]:
    """The win matrix; columns are headed by the names of the rows where these have room, else by their numbers."""
    wins = win_grid(leaderboard)
    if not wins:
        return []
    rows = [[number, plain(label), *cells] for number, label, *cells in wins]
    return [
        Text(f"Wins ({leaderboard.win_measure})", style="bold"),
        text_grid(["#", "System", *_named(leaderboard, ["#", "System"], rows, width)], rows, left=(0, 1)),
        Text(win_caption(leaderboard), style="dim"),
    ]


def show(console: Console, parts: Sequence[RenderableType]) -> None:
    """Print renderables; without a terminal, tables have their full width."""
    usual = console.width
    for part in parts:
        if isinstance(part, Table) and not console.is_terminal:
            wide = console.options.update(max_width=10_000)
            console.width = max(usual, Measurement.get(console, wide, part).maximum)
        console.print(part, soft_wrap=not console.is_terminal and not isinstance(part, Table))
        console.width = usual
        if isinstance(part, Table):
            console.print()


def size(leaderboard: Standings) -> str:
    """How many queries, topics and documents, and the measure that ranks."""
    facts = leaderboard.about.get("benchmark", {})
    queries = leaderboard.scores["query_id"].n_unique() if leaderboard.scores.height else facts.get("queries", 0)
    parts = [f"{queries} queries"]
    if leaderboard.about.get("topics"):
        parts.append(f"{leaderboard.about['topics']} topics")
    if facts.get("split"):
        parts[0] += f" ({facts['split']})"
    parts += [f"{facts[what]} {what}" for what in ("documents", "sentences", "descriptions") if facts.get(what)]
    return ", ".join([*parts, f"ranked by {leaderboard.primary}"])


def figure_header(leaderboard: Standings) -> list[str]:
    """Titles of the columns of `figures`."""
    return ["#", "Ranks", "System", leaderboard.primary, "", "95 %", *leaderboard.measures[1:]]


def figures(row: Row, leaderboard: Standings) -> list[str]:
    """The cells of a row: number, ranks, name, mean with letters and interval, means of the other measures."""
    cells = [row.cells.get(measure) for measure in leaderboard.measures]
    means = [f"{cell.mean:.3f}" if cell else MISSING for cell in cells]
    first = cells[0]
    interval = first.interval if first else MISSING
    return [
        str(row.number),
        rank_text(row.ranks),
        plain(" ".join([row.entry.label, *(f"({word})" for word in row.entry.words)])),
        means[0],
        first.letters if first else "",
        interval,
        *means[1:],
    ]


def text_grid(header: Sequence[str], rows: Sequence[Sequence[str]], *, left: tuple[int, ...]) -> Table:
    """A table of plain texts; columns in `left` are left-aligned, the others hold figures."""
    table = Table(box=SIMPLE_HEAD, pad_edge=False, padding=(0, 1, 0, 0), show_edge=False)
    for i, name in enumerate(header):
        justify = "left" if i in left else "right"
        # Only a system's name may break: a broken figure misleads.
        table.add_column(Text(name), justify=justify, no_wrap=name not in ("System", ""), overflow="fold")  # type: ignore[arg-type]
    for row in rows:
        table.add_row(*map(Text, row))
    return table
