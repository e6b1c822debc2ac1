"""Tables over several leaderboards: boards or buckets as columns, differences tested against a row or a board."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from qbench.errors import OptionError
from qbench.evaluation.significance import LEVEL, Scores, holm, summarise
from qbench.leaderboard.suites import Suite, Table

if TYPE_CHECKING:
    import polars as pl

    from qbench.leaderboard.table import Leaderboard, Row

Key = tuple[str, str]
"""A column: a board, and a measure or a bucket."""


@dataclass(frozen=True)
class SuiteCell:
    """A mean, and how it compares.

    Attributes:
        mean: of the row in the column.
        base: what it is compared with, a row or a board; "" for nothing.
        change: mean less that of the base; None where there is nothing to compare with.
        p: of the difference, after Holm; None where it is not tested.
    """

    mean: float
    base: str = ""
    change: float | None = None
    p: float | None = None

    @property
    def significant(self) -> bool:
        """Whether the difference is."""
        return self.p is not None and self.p < LEVEL


@dataclass(frozen=True)
class SuiteTable:
    """A table that can be shown.

    Attributes:
        title: over it.
        columns: heads, one each.
        rows: name -> a cell for each column, None where there is no figure.
        notes: how to read it.
    """

    title: str
    columns: tuple[str, ...]
    rows: Mapping[str, tuple[SuiteCell | None, ...]]
    notes: tuple[str, ...] = ()


def make_table(table: Table, suite: Suite, boards: Mapping[str, Leaderboard], resamples: int, seed: int) -> SuiteTable:
    """Fill a table from its boards.

    Args:
        table: of the suite.
        suite: gives the order of rows.
        boards: name -> leaderboard.
        resamples, seed: of the tests of changes from board to board.

    Raises:
        OptionError: changes are asked for between boards with other queries.
    """
    shown = {name: boards[name] for name in table.boards or boards}
    order = [row for board in suite.boards if board.name in shown for row in board.systems]
    rows = list(dict.fromkeys(order))
    if table.columns != "boards":
        return _buckets(table, shown, rows)
    measures = {name: table.measures or board.measures for name, board in shown.items()}
    keys = [(name, measure) for name in shown for measure in measures[name]]
    cells = {(row, key): _cell(shown, key, row, table.against.get(row)) for row in rows for key in keys}
    if table.change_from is not None:
        cells |= _changes(table, shown, rows, keys, cells, resamples, seed)
    heads = tuple(_head(key, one_board=len(shown) == 1, one_measure=len(table.measures) == 1) for key in keys)
    return SuiteTable(
        table.title,
        heads,
        {row: tuple(cells[row, key] for key in keys) for row in rows},
        _notes(table, resamples),
    )


def _head(key: Key, *, one_board: bool, one_measure: bool) -> str:
    board, measure = key
    if one_board:
        return measure
    return board if one_measure else f"{board}: {measure}"


def _row(board: Leaderboard, name: str) -> Row | None:
    return next((row for row in board.rows if row.entry.system == name and row.cells), None)


def _cell(boards: Mapping[str, Leaderboard], key: Key, name: str, base: str | None) -> SuiteCell | None:
    """A figure, and how it compares with another row of its board."""
    board, measure = boards[key[0]], key[1]
    row = _row(board, name)
    if row is None:
        return None
    mean = row.cells[measure].mean
    other = None if base is None else _row(board, base)
    if other is None or base is None:
        return SuiteCell(mean)
    p = _p(board.pairs, measure, row.entry.label, other.entry.label)
    return SuiteCell(mean, base, mean - other.cells[measure].mean, p)


def _p(pairs: pl.DataFrame, measure: str, a: str, b: str) -> float | None:
    import polars as pl

    first, second = sorted((a, b))
    found = pairs.filter((pl.col("measure") == measure) & (pl.col("a") == first) & (pl.col("b") == second))
    return float(found["p_holm"][0]) if found.height else None


def _changes(
    table: Table,
    boards: Mapping[str, Leaderboard],
    rows: Sequence[str],
    keys: Sequence[Key],
    cells: Mapping[tuple[str, Key], SuiteCell | None],
    resamples: int,
    seed: int,
) -> dict[tuple[str, Key], SuiteCell]:
    """The cells that are compared with another board: same row, same queries. Holm over all of a measure."""
    start = table.change_from
    assert start is not None  # noqa: S101  the caller asks only then
    found: dict[tuple[str, Key], SuiteCell] = {}
    for measure in dict.fromkeys(measure for _, measure in keys):
        tested: list[tuple[str, Key, float, float]] = []
        for row in rows:
            there = [key for key in keys if key[1] == measure and key[0] != start and cells[row, key] is not None]
            if not there or cells.get((row, (start, measure))) is None:
                continue
            frame = _scores(boards, [start, *(key[0] for key in there)], row, measure)
            _, pairs = summarise(
                _paired(table, frame), resamples=resamples, seed=seed, comparable=lambda a, b: start in (a, b)
            )
            for a, b, difference, p in pairs.select("a", "b", "difference", "p").iter_rows():
                other, sign = (b, -1.0) if a == start else (a, 1.0)
                tested.append((row, (other, measure), sign * difference, p))
        adjusted = holm([p for *_, p in tested])
        for (row, key, change, _), p in zip(tested, adjusted, strict=True):
            cell = cells[row, key]
            assert cell is not None  # noqa: S101  chosen above
            found[row, key] = SuiteCell(cell.mean, start, change, float(p))
    return found


def _scores(boards: Mapping[str, Leaderboard], names: Sequence[str], row: str, measure: str) -> pl.DataFrame:
    import polars as pl

    parts = []
    for name in names:
        shown = _row(boards[name], row)
        assert shown is not None  # noqa: S101  only rows with figures are asked for
        part = boards[name].scores.filter((pl.col("label") == shown.entry.label) & (pl.col("measure") == measure))
        parts.append(part.with_columns(label=pl.lit(name)))
    return pl.concat(parts)


def _paired(table: Table, frame: pl.DataFrame) -> Scores:
    queries = {name[0]: set(part["query_id"]) for name, part in frame.group_by("label")}
    first = queries[table.change_from]
    other = next((name for name, ids in queries.items() if ids != first), None)
    if other is not None:
        raise OptionError(
            f"table {table.title} compares boards with other queries",
            value=f"{table.change_from} and {other}",
            remedy="Leave change_from away, or mask one benchmark for both",
        )
    return Scores.from_frame(frame)


def _buckets(table: Table, boards: Mapping[str, Leaderboard], rows: Sequence[str]) -> SuiteTable:
    """One measure by kind of query."""
    import polars as pl

    keys: list[Key] = []
    heads: list[str] = []
    cells: dict[tuple[str, Key], SuiteCell] = {}
    for name, board in boards.items():
        measure = table.measures[0] if table.measures else board.primary
        part = board.buckets.filter((pl.col("dimension") == table.columns) & (pl.col("measure") == measure))
        for bucket, queries in part.select("bucket", "queries").unique(maintain_order=True).iter_rows():
            keys.append((name, bucket))
            heads.append(("" if len(boards) == 1 else f"{name}: ") + f"{bucket} ({queries})")
        names = {row.entry.label: row.entry.system for row in board.rows}
        for bucket, label, mean in part.select("bucket", "label", "mean").iter_rows():
            cells[names[label], (name, bucket)] = SuiteCell(mean)
    measured = ", ".join(dict.fromkeys(table.measures or [board.primary for board in boards.values()]))
    return SuiteTable(
        table.title,
        tuple(heads),
        {row: tuple(cells.get((row, key)) for key in keys) for row in rows},
        (f"{measured}; in parentheses the number of queries. Differences between buckets are not tested.",),
    )


def _notes(table: Table, resamples: int) -> tuple[str, ...]:
    if table.change_from is not None:
        return (
            f"In parentheses: change from {table.change_from}, on the same queries. *: significant (paired "
            f"randomisation, two-sided, {resamples} resamples, Holm over all changes of a measure, level {LEVEL}).",
        )
    if table.against:
        pairs = ", ".join(f"{row} with {base}" for row, base in table.against.items())
        return (
            f"In parentheses: the difference from another row ({pairs}). *: significant (paired randomisation, "
            f"two-sided, {resamples} resamples, Holm over all pairs of a board's measure, level {LEVEL}).",
        )
    return ()
