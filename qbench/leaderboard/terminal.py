"""The leaderboard on a terminal of 80 columns or more; full width in a file or a pipe."""

from __future__ import annotations

from collections.abc import Sequence

from rich.box import SIMPLE_HEAD
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


def tables(leaderboard: Standings, *, explain: bool = True) -> list[RenderableType]:
    """Title, verdict, figures, costs, notes. Only the primary measure has interval and letters; files have all.

    Args:
        leaderboard: the board.
        explain: also say how to read it.
    """
    header = figure_header(leaderboard)
    rows = [figures(row, leaderboard) for row in leaderboard.rows]
    parts: list[RenderableType] = [
        Text(f"{plain(leaderboard.name)}: {size(leaderboard)}", style="bold"),
        Text(plain(verdict(leaderboard))),
        *([Text(plain(board_words(leaderboard)), style="bold yellow")] if leaderboard.words else []),
        Text(),
        text_grid(header, rows, left=(1, 2, 4)),
    ]
    if has_costs(leaderboard):
        costs = [[str(row.number), plain(row.entry.label), *cost_cells(leaderboard, row)] for row in leaderboard.rows]
        parts.append(text_grid(["#", "System", *cost_headers(leaderboard)], costs, left=(0, 1)))
    parts += [Text(plain(line), style="dim") for line in (caption(leaderboard) if explain else ())]
    parts += [Text(plain(line)) for line in (*leaderboard.notes, *problems(leaderboard))]
    return parts


def bucket_tables(leaderboard: Standings, *, explain: bool = True) -> list[RenderableType]:
    """The primary measure by kind of query, one table for each dimension with two buckets or more.

    Columns are headed by the numbers of the rows: names would not fit.
    """
    numbers = [str(row.number) for row in leaderboard.rows if row.cells]
    parts: list[RenderableType] = []
    for dimension in DIMENSIONS:
        grid = bucket_grid(leaderboard, dimension)
        if grid:
            parts.append(Text(f"{DIMENSION_TITLES[dimension]} ({leaderboard.primary})", style="bold"))
            lines = [[plain(cell) for cell in line] for line in grid]
            parts.append(text_grid([dimension, "queries", "topics", *numbers], lines, left=(0,)))
            if explain and any(TOO_FEW in line[2] for line in grid):
                parts.append(Text(bucket_caption(leaderboard), style="dim"))
    return parts


def win_table(leaderboard: Standings) -> list[RenderableType]:
    """The win matrix; columns are headed by the numbers of the rows."""
    wins = win_grid(leaderboard)
    if not wins:
        return []
    rows = [[number, plain(label), *cells] for number, label, *cells in wins]
    return [
        Text(f"Wins ({leaderboard.win_measure})", style="bold"),
        text_grid(["#", "System", *(number for number, *_ in wins)], rows, left=(0, 1)),
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
