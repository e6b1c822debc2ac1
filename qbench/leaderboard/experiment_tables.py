"""Tables over several leaderboards: their figures or buckets as columns, differences tested."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from qbench.evaluation.buckets import FEWEST
from qbench.evaluation.significance import LEVEL, Scores, SignificanceTests, cluster_sums, holm, sign_flip_test
from qbench.leaderboard.experiment_types import Experiment, Table
from qbench.leaderboard.standings import Row
from qbench.leaderboard.table import Leaderboard
from qbench.randomness import generator

Key = tuple[str, str]
"""A column: a leaderboard, and a measure or a bucket."""

CellKey = tuple[str, Key]
"""Key of a cell: its row and its column."""


@dataclass(frozen=True)
class ExperimentCell:
    """A mean, and how it compares.

    Attributes:
        mean: of the row in the column.
        base: what it is compared with, a row or a leaderboard; "" for nothing.
        change: mean less that of the base; None where there is nothing to compare with.
        p: of the difference, after Holm; None where it is not tested.
        other: the row whose change from leaderboard to leaderboard this one's is compared with; "" for none.
        p_other: of the difference between both changes, after Holm.
    """

    mean: float
    base: str = ""
    change: float | None = None
    p: float | None = None
    other: str = ""
    p_other: float | None = None

    @property
    def significant(self) -> bool:
        """Whether the difference is."""
        return self.p is not None and self.p < LEVEL

    @property
    def differs(self) -> bool:
        """Whether it changed significantly more or less than the other row."""
        return self.p_other is not None and self.p_other < LEVEL


@dataclass(frozen=True)
class ExperimentTable:
    """A table that can be shown.

    Attributes:
        title: over it.
        columns: heads, one each.
        rows: name -> a cell for each column, None where there is no figure.
        notes: how to read it.
        words: row -> what a reader must know before believing its figures.
    """

    title: str
    columns: tuple[str, ...]
    rows: Mapping[str, tuple[ExperimentCell | None, ...]]
    notes: tuple[str, ...] = ()
    words: Mapping[str, tuple[str, ...]] = field(default_factory=dict)


@dataclass(frozen=True)
class ExperimentResult:
    """An experiment that ran.

    Attributes:
        experiment: what ran.
        leaderboards: name -> leaderboard.
        tables: over them.
        about: what it was made from: inputs, trainings, tests, versions.
        failed: leaderboard without a single run -> why.
        notes: what a reader should know before believing a figure.
    """

    experiment: Experiment
    leaderboards: Mapping[str, Leaderboard]
    tables: tuple[ExperimentTable, ...]
    about: Mapping[str, Any] = field(default_factory=dict)
    failed: Mapping[str, str] = field(default_factory=dict)
    notes: tuple[str, ...] = ()

    @property
    def lost(self) -> int:
        """Number of rows without a run in all leaderboards."""
        whole = sum(
            len(leaderboard.systems) for leaderboard in self.experiment.leaderboards if leaderboard.name in self.failed
        )
        return whole + sum(len(leaderboard.problems) for leaderboard in self.leaderboards.values())

    @property
    def words(self) -> tuple[str, ...]:
        """The words of the leaderboards; one that not all of them have is followed by their names."""
        having: dict[str, list[str]] = {}
        for name, leaderboard in self.leaderboards.items():
            for word in leaderboard.words:
                having.setdefault(word, []).append(name)
        everywhere = len(self.leaderboards)
        return tuple(
            word if len(names) == everywhere else f"{word}: {', '.join(names)}" for word, names in having.items()
        )


def make_table(
    table: Table, experiment: Experiment, leaderboards: Mapping[str, Leaderboard], tests: SignificanceTests
) -> ExperimentTable:
    """Compute a table over leaderboards.

    Args:
        table: of the experiment.
        experiment: defines the order of the rows.
        leaderboards: name -> leaderboard.
        tests: of changes from leaderboard to leaderboard; of differences within one those of the leaderboard are taken.
    """
    selected = {name: leaderboards[name] for name in table.leaderboards or leaderboards}
    plans = [plan for plan in experiment.leaderboards if plan.name in selected]
    rows = list(dict.fromkeys(row for plan in plans for row in plan.systems))
    words = {row.entry.name: row.entry.words for board in selected.values() for row in board.rows if row.entry.words}
    if table.columns != "leaderboards":
        return replace(_buckets(table, selected, rows), words=words)
    measures = {name: table.measures or leaderboard.measures for name, leaderboard in selected.items()}
    keys = [(name, measure) for name in selected for measure in measures[name]]
    if table.change_from is not None:
        cells = _changes(table, selected, rows, keys, tests)
    else:
        cells = _differences(table, selected, rows, keys)
    heads = tuple(_head(key, one_leaderboard=len(selected) == 1, one_measure=len(table.measures) == 1) for key in keys)
    return ExperimentTable(
        table.title,
        heads,
        {row: tuple(cells.get((row, key)) for key in keys) for row in rows},
        _notes(table, tests, [cell for cell in cells.values() if cell.p is not None]),
        words,
    )


def _head(key: Key, *, one_leaderboard: bool, one_measure: bool) -> str:
    leaderboard, measure = key
    if one_leaderboard:
        return measure
    return leaderboard if one_measure else f"{leaderboard}: {measure}"


def _ran(leaderboard: Leaderboard) -> dict[str, Row]:
    """The rows with a run, by their names in the experiment."""
    return {row.entry.name: row for row in leaderboard.rows if row.cells}


def _means(
    leaderboards: Mapping[str, Leaderboard], rows: Sequence[str], keys: Sequence[Key]
) -> dict[CellKey, ExperimentCell]:
    """The figures without comparisons."""
    ran = {name: _ran(leaderboard) for name, leaderboard in leaderboards.items()}
    return {
        (row, (name, measure)): ExperimentCell(ran[name][row].cells[measure].mean)
        for row in rows
        for name, measure in keys
        if row in ran[name]
    }


def _differences(
    table: Table, leaderboards: Mapping[str, Leaderboard], rows: Sequence[str], keys: Sequence[Key]
) -> dict[CellKey, ExperimentCell]:
    """Figures compared with other rows of their leaderboards; Holm over all shown comparisons of a measure."""
    cells = _means(leaderboards, rows, keys)
    for measure in dict.fromkeys(measure for _, measure in keys):
        comparisons = [
            (row, key, base)
            for row, base in table.against.items()
            for key in keys
            if key[1] == measure and (row, key) in cells and (base, key) in cells
        ]
        adjusted = holm([_p(leaderboards[key[0]], measure, row, base) for row, key, base in comparisons])
        for (row, key, base), p in zip(comparisons, adjusted, strict=True):
            mean = cells[row, key].mean
            cells[row, key] = ExperimentCell(mean, base, mean - cells[base, key].mean, float(p))
    return cells


def _p(leaderboard: Leaderboard, measure: str, row: str, base: str) -> float:
    """Uncorrected p-value of the difference between two rows of a leaderboard."""
    ran = _ran(leaderboard)
    labels = sorted((ran[row].entry.label, ran[base].entry.label))
    pair = (pl.col("measure") == measure) & (pl.col("a") == labels[0]) & (pl.col("b") == labels[1])
    return float(leaderboard.pairs.filter(pair)["p"].item())


def _changes(
    table: Table,
    leaderboards: Mapping[str, Leaderboard],
    rows: Sequence[str],
    keys: Sequence[Key],
    tests: SignificanceTests,
) -> dict[CellKey, ExperimentCell]:
    """Changes of each row from another leaderboard on the same queries, and differences between the rows' changes.

    Holm correction over all changes of a measure, and over all differences between changes.
    """
    start = str(table.change_from)
    cells = _means(leaderboards, rows, keys)
    clusters = Scores.from_frame(leaderboards[start].scores).clusters(tests.by)
    for measure in dict.fromkeys(measure for _, measure in keys):
        changes = {
            (row, key): _values(leaderboards[key[0]], row, measure) - _values(leaderboards[start], row, measure)
            for row, key in cells
            if key[1] == measure and key[0] != start and (row, (start, measure)) in cells
        }
        adjusted = holm(_sign_tests(list(changes.values()), clusters, tests))
        for (position, change), p in zip(changes.items(), adjusted, strict=True):
            # Adding 0 turns -0.0 into 0.0.
            cells[position] = ExperimentCell(cells[position].mean, start, float(change.mean()) + 0.0, float(p))
        pairs = [(row, key, table.against[row]) for row, key in changes if (table.against.get(row), key) in changes]
        between = _sign_tests([changes[row, key] - changes[other, key] for row, key, other in pairs], clusters, tests)
        for (row, key, other), p in zip(pairs, holm(between), strict=True):
            cells[row, key] = replace(cells[row, key], other=other, p_other=float(p))
    return cells


def _values(leaderboard: Leaderboard, row: str, measure: str) -> NDArray[np.float64]:
    """A row's scores by query, ordered by query id."""
    label = _ran(leaderboard)[row].entry.label
    part = leaderboard.scores.filter((pl.col("label") == label) & (pl.col("measure") == measure))
    return part.sort("query_id")["value"].to_numpy()


def _sign_tests(
    differences: Sequence[NDArray[np.float64]], clusters: NDArray[np.int64], tests: SignificanceTests
) -> list[float]:
    """Uncorrected p-values of per-query differences, ordered by query id, as are the clusters."""
    p = []
    for values in differences:
        signs = generator(tests.seed, "sign flips")
        p.append(float(sign_flip_test(cluster_sums(values[None, :], clusters), tests.resamples, signs)[0]))
    return p


def _buckets(table: Table, leaderboards: Mapping[str, Leaderboard], rows: Sequence[str]) -> ExperimentTable:
    """The means of one measure by bucket."""
    keys: list[Key] = []
    heads: list[str] = []
    cells: dict[CellKey, ExperimentCell] = {}
    for name, leaderboard in leaderboards.items():
        measure = table.measures[0] if table.measures else leaderboard.primary
        part = leaderboard.buckets.filter((pl.col("dimension") == table.columns) & (pl.col("measure") == measure))
        sizes = part.select("bucket", "queries", "topics").unique(maintain_order=True)
        for bucket, queries, topics in sizes.iter_rows():
            keys.append((name, bucket))
            heads.append(("" if len(leaderboards) == 1 else f"{name}, {measure}: ") + f"{bucket} ({queries}/{topics})")
        names = {row.entry.label: row.entry.name for row in leaderboard.rows}
        for bucket, label, mean in part.select("bucket", "label", "mean").iter_rows():
            if mean is not None:
                cells[names[label], (name, bucket)] = ExperimentCell(mean)
    measured = ", ".join(
        dict.fromkeys(table.measures or [leaderboard.primary for leaderboard in leaderboards.values()])
    )
    return ExperimentTable(
        table.title,
        tuple(heads),
        {row: tuple(cells.get((row, key)) for key in keys) for row in rows},
        (
            f"{measured}; in parentheses the numbers of queries and topics; nothing is said of fewer than {FEWEST} "
            "topics. Differences between buckets are not tested.",
        ),
    )


def _notes(table: Table, tests: SignificanceTests, tested: Sequence[ExperimentCell]) -> tuple[str, ...]:
    measures = (f"{', '.join(table.measures)}.",) if table.measures else ()
    if not tested:
        return measures
    how = f"paired randomisation by {tests.by}, two-sided, {tests.resamples} resamples, level {LEVEL}"
    how += ", Holm over a measure's in this table"
    pairs = ", ".join(f"{row} with {base}" for row, base in table.against.items())
    notes = [*measures]
    if table.change_from is not None:
        notes.append(f"In parentheses: change from {table.change_from}, on the same queries. *: significant ({how}).")
        if pairs:
            notes.append(f"†: changed significantly more or less than another row ({pairs}; tested alike).")
    else:
        notes.append(f"In parentheses: the difference from another row ({pairs}). *: significant ({how}).")
    if len(tested) / (tests.resamples + 1) >= LEVEL:
        notes.append(f"With {tests.resamples} resamples no difference can be significant after Holm: use more.")
    return tuple(notes)
