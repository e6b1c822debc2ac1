"""Ranked systems as a value, the common input of all output formats."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
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

SMOKE = 20_000
"""Number of training samples below which a trained system's row says so: it shows that training runs, not what it can
reach."""


FAULTY = 0.1
"""Share of a language model's answers that may be refused or malformed before its row says so."""


@dataclass(frozen=True)
class Entry:
    """Input of one row.

    Attributes:
        label: names the row; unique.
        system: the system's name in the grammar, paths by their last part; or the name of a run file.
        conditions: where the system took the queries' conditions from: none, given, parsed; unknown for a run file.
        scores: columns query_id, measure, value; None where there is no run.
        cost: its cost; None if not measured.
        problem: reason why there is no run.
        digest: digest of the run.
        meta: metadata of the run.
        trained_on: number of samples that its checkpoint was trained on, the smallest of several; None where it has
            none, or nobody knows.
    """

    label: str
    system: str
    conditions: Literal["none", "given", "parsed", "unknown"]
    scores: pl.DataFrame | None = None
    cost: Cost | None = None
    problem: str = ""
    digest: str = ""
    meta: Mapping[str, int | float | str] = field(default_factory=dict)
    trained_on: int | None = None

    @property
    def name(self) -> str:
        """The label without the source of conditions: the system's own, or its name in the grammar."""
        return self.label.removesuffix(f" [{self.conditions}]")

    @property
    def words(self) -> tuple[str, ...]:
        """What a reader must know before believing the row, to be shown beside its name."""
        words = []
        if self.trained_on is not None and self.trained_on < SMOKE:
            words.append(f"smoke size: {self.trained_on:,} training samples")
        if self.cost is not None and (faults := answer_faults(self.cost)):
            words.append(faults)
        return tuple(words)

    @property
    def unusable_answer(self) -> str:
        """An answer of a language model that could not be used, for people; "" where there is none."""
        return next((str(value) for name, value in self.meta.items() if name.endswith("unusable_answer")), "")


def answer_faults(cost: Cost) -> str:
    """How many answers of a row's language models could not be used, where that is more than a few; else "".

    >>> answer_faults(Cost(calls=20, malformed=20)), answer_faults(Cost(calls=20, refused=1, malformed=3))
    ('all 20 answers malformed', '4 of 20 answers refused or malformed')
    >>> answer_faults(Cost(calls=20, malformed=1)), answer_faults(Cost())
    ('', '')
    """
    faulty = cost.refused + cost.malformed
    if not cost.calls or faulty <= FAULTY * cost.calls:
        return ""
    how = " or ".join(name for name in ("refused", "malformed") if getattr(cost, name))
    many = f"all {cost.calls:,}" if faulty == cost.calls else f"{faulty:,} of {cost.calls:,}"
    return f"{many} answers {how}"


@dataclass(frozen=True, slots=True)
class Cell:
    """A mean, and how it compares.

    Attributes:
        mean, low, high: the mean over the queries and its 95 % interval.
        beats: indices of the rows that it is significantly above.
        letters: rows that share a letter were compared, and are not significantly different; compared rows that share
            none are.
        ranks: the best and the worst rank that the tests leave open among comparable rows.
    """

    mean: float
    low: float
    high: float
    beats: tuple[int, ...] = ()
    letters: str = ""
    ranks: tuple[int, int] = (1, 1)

    @property
    def interval(self) -> str:
        """The interval as text; "-" where it has no width: one topic, or figures that are all equal, say nothing."""
        return f"{self.low:.3f}-{self.high:.3f}" if self.low < self.high else "-"


@dataclass(frozen=True)
class Row:
    """One line of the table.

    Attributes:
        number: its place, from 1: rows are ordered by the mean of the primary measure.
        ranks: those of the primary measure; None for a row without a run.
        cells: measure -> cell; empty for a row without a run.
        entry: its input.
    """

    number: int
    ranks: tuple[int, int] | None
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
        scores: columns label, query_id, topic ("" for a query that is a topic of its own), measure, value.
        buckets: `bucket_schema` of qbench.evaluation.buckets.
        about: provenance: benchmark, settings, versions, command.
        notes: warnings to print with the figures.
        words: what a reader must know before believing any figure, to be shown beside the name.
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
    words: tuple[str, ...] = ()
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


def rank_range(above: int, below: int, comparable: int) -> tuple[int, int]:
    """The ranks that tests leave open to a row: it is behind all that are significantly above it, and before all below.

    Where the tests of all pairs are corrected together (Holm), these ranges hold the true ranks of all rows at once
    with a probability of 95 % (Mogstad, Romano, Shaikh and Wilhelm 2024). A row's place by its mean lies within.

    Args:
        above, below: numbers of comparable rows that are significantly above and below it.
        comparable: number of rows that it was compared with.

    >>> rank_range(1, 2, 4)
    (2, 3)
    """
    return 1 + above, 1 + comparable - below


def rank_text(ranks: tuple[int, int] | None) -> str:
    """A range of ranks as tables show it.

    >>> rank_text((1, 3)), rank_text((2, 2)), rank_text(None)
    ('1-3', '2', '-')
    """
    if ranks is None:
        return "-"
    return str(ranks[0]) if ranks[0] == ranks[1] else f"{ranks[0]}-{ranks[1]}"


def letter(index: int) -> str:
    """The name of a group.

    >>> [letter(i) for i in (0, 25, 26, 701)]
    ['a', 'z', 'aa', 'zz']
    """
    name = ""
    index += 1
    while index:
        index, digit = divmod(index - 1, 26)
        name = chr(ord("a") + digit) + name
    return name


def group_letters(groups: Iterable[int]) -> str:
    """The letters of some groups, ascending; with more than 26 groups a comma stands between them.

    >>> group_letters((0, 2)), group_letters((25, 26))
    ('ac', 'z,aa')
    """
    numbers = list(groups)
    return ("," if any(number > 25 for number in numbers) else "").join(map(letter, numbers))
