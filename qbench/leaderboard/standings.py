"""Ranked systems as a value, the common input of all output formats."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

import polars as pl

from qbench.evaluation.wins import win_matrix
from qbench.leaderboard.evidence import Evidence
from qbench.retrieval.types import Cost

WIN_MEASURE = "nDCG@10"
"""The measure of the win matrix, if the leaderboard has it (*Quantity Retrieval*, table 3)."""

BOTH = {"given", "parsed"}
"""Sources of conditions whose rows are not compared with each other."""


@dataclass(frozen=True)
class Entry:
    """Input of one row.

    Attributes:
        label: names the row; unique.
        system: the system's name in the grammar, or the name of a run file.
        conditions: where the system took the queries' conditions from: none, given, parsed; unknown for a run file.
        scores: columns query_id, measure, value; None where there is no run.
        cost: its cost; None if not measured.
        problem: reason why there is no run.
        digest: digest of the run.
        meta: metadata of the run.
    """

    label: str
    system: str
    conditions: Literal["none", "given", "parsed", "unknown"]
    scores: pl.DataFrame | None = None
    cost: Cost | None = None
    problem: str = ""
    digest: str = ""
    meta: Mapping[str, int | float | str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Cell:
    """A mean with its 95 % interval, and the indices of the rows that it is significantly above."""

    mean: float
    low: float
    high: float
    beats: tuple[int, ...] = ()


@dataclass(frozen=True)
class Row:
    """One line of the table.

    Attributes:
        letter: stands for the row in other rows' marks.
        rank: 1 + the number of comparable rows significantly better on the primary measure; None for a row without a
            run.
        cells: measure -> cell; empty for a row without a run.
        entry: its input.
    """

    letter: str
    rank: int | None
    cells: Mapping[str, Cell]
    entry: Entry


@dataclass(frozen=True)
class Standings:
    """Ranked systems on one benchmark, the common input of all output formats.

    Attributes:
        name: of the benchmark.
        measures: their names, the primary one first.
        rows: by falling mean of the primary measure, rows without a run last.
        pairs: `pair_schema` of qbench.evaluation.significance.
        scores: columns label, query_id, measure, value.
        buckets: `bucket_schema` of qbench.evaluation.buckets.
        about: provenance: benchmark, settings, versions, command.
        notes: warnings to print with the figures.
        evidence: queries, runs and documents behind the scores; None if they were not kept.
    """

    name: str
    measures: tuple[str, ...]
    rows: tuple[Row, ...]
    pairs: pl.DataFrame
    scores: pl.DataFrame
    buckets: pl.DataFrame
    about: Mapping[str, Any]
    notes: tuple[str, ...] = ()
    evidence: Evidence | None = None

    @property
    def primary(self) -> str:
        """The measure that decides the ranks."""
        return self.measures[0]

    @property
    def problems(self) -> tuple[Row, ...]:
        """The rows without a run."""
        return tuple(row for row in self.rows if row.entry.scores is None)

    @property
    def win_measure(self) -> str:
        """The measure of the win matrix: nDCG@10, or the primary measure if the leaderboard lacks it."""
        return WIN_MEASURE if WIN_MEASURE in self.measures else self.primary

    @property
    def wins(self) -> pl.DataFrame:
        """Share of the queries on which one row is better than another (`win_schema` of qbench.evaluation.wins)."""
        return win_matrix(self.scores, self.pairs, self.win_measure)


def ranks(beats: Sequence[Sequence[int]]) -> list[int]:
    """The rank of each row: 1 and the number of rows that are significantly above it.

    Args:
        beats: for each row the rows that it is significantly above.

    >>> ranks([(1, 2), (2,), ()])
    [1, 2, 3]
    """
    above = Counter(loser for losers in beats for loser in losers)
    return [1 + above[row] for row in range(len(beats))]


def letter(index: int) -> str:
    """The name of a row in marks.

    >>> [letter(i) for i in (0, 25, 26, 701)]
    ['a', 'z', 'aa', 'zz']
    """
    name = ""
    index += 1
    while index:
        index, digit = divmod(index - 1, 26)
        name = chr(ord("a") + digit) + name
    return name


def marks(rows: Sequence[int]) -> str:
    """The letters of some rows; three or more neighbours become a range.

    >>> marks((1, 3, 4, 5, 6)), marks((0, 1)), marks((25, 26))
    ('bd-g', 'ab', 'z,aa')
    """
    parts: list[list[int]] = []
    for row in rows:
        if parts and parts[-1][-1] == row - 1:
            parts[-1].append(row)
        else:
            parts.append([row])
    names = [
        name
        for part in parts
        for name in ([f"{letter(part[0])}-{letter(part[-1])}"] if len(part) > 2 else [letter(row) for row in part])
    ]
    return ("," if any(row > 25 for row in rows) else "").join(names)
