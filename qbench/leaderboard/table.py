"""The leaderboard as a value: what every face of it shows."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from qbench.errors import OptionError
from qbench.evaluation.buckets import bucket_means, bucket_schema
from qbench.evaluation.significance import LEVEL, RESAMPLES, Scores, mean_schema, pair_schema, summarise
from qbench.evaluation.wins import win_matrix
from qbench.progress import Progress, silent

if TYPE_CHECKING:
    import polars as pl
    from rich.console import RenderableType

    from qbench.leaderboard.evidence import Evidence
    from qbench.retrieval.types import Cost

WIN_MEASURE = "nDCG@10"
"""The measure of the win matrix, where the leaderboard has it (*Quantity Retrieval*, table 3)."""

BOTH = {"given", "parsed"}
"""Sources of conditions whose rows are not compared with each other."""


@dataclass(frozen=True)
class Entry:
    """What one row is made from.

    Attributes:
        label: names the row; unique.
        system: the system's name in the grammar, or the name of a run file.
        conditions: where the system took the queries' conditions from: none, given, parsed; unknown for a run file.
        scores: columns query_id, measure, value; None where there is no run.
        cost: what it needed; None where nobody measured it.
        problem: why there is no run.
        digest: of the run.
        meta: what else is known of the run.
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
        entry: what it was made from.
    """

    letter: str
    rank: int | None
    cells: Mapping[str, Cell]
    entry: Entry


@dataclass(frozen=True)
class Leaderboard:
    """Ranked systems on one benchmark.

    Attributes:
        name: of the benchmark.
        measures: their names, the primary one first.
        rows: by falling mean of the primary measure, rows without a run last.
        pairs: `pair_schema` of qbench.evaluation.significance.
        scores: columns label, query_id, measure, value.
        buckets: `bucket_schema` of qbench.evaluation.buckets.
        about: where it comes from: benchmark, settings, versions, command.
        notes: what a reader should know before believing a figure.
        evidence: queries, runs and documents behind the scores; None where nobody asked for them to be kept.
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
        """What the win matrix counts: nDCG@10, or the primary measure where that is not there."""
        return WIN_MEASURE if WIN_MEASURE in self.measures else self.primary

    @property
    def wins(self) -> pl.DataFrame:
        """On which share of the queries one row is better than another (`win_schema` of qbench.evaluation.wins)."""
        return win_matrix(self.scores, self.pairs, self.win_measure)

    def table(self) -> list[RenderableType]:
        """What rich's `Console.print` shows: title, figures, costs, caption."""
        from qbench.leaderboard.terminal import tables

        return tables(self)

    def bucket_tables(self) -> list[RenderableType]:
        """The same for the buckets of the primary measure; empty if no dimension has two buckets."""
        from qbench.leaderboard.terminal import bucket_tables

        return bucket_tables(self)

    def win_table(self) -> list[RenderableType]:
        """The same for the win matrix; empty if there are no two rows to compare."""
        from qbench.leaderboard.terminal import win_table

        return win_table(self)

    def to_markdown(self) -> str:
        """A page with figures, costs, win matrix, pairs of the primary measure and buckets."""
        from qbench.leaderboard.documents import markdown

        return markdown(self)

    def to_latex(self) -> str:
        """A booktabs table."""
        from qbench.leaderboard.documents import latex

        return latex(self)

    def to_html(self) -> str:
        """A page in one file, with charts and, where the evidence was kept, queries and documents."""
        from qbench.leaderboard.page import leaderboard_page

        return leaderboard_page(self)

    def to_dict(self) -> dict[str, Any]:
        """Everything but the per-query scores, for JSON."""
        from qbench.leaderboard.files import as_dict

        return as_dict(self)

    def to_frame(self) -> pl.DataFrame:
        """One row per system and measure."""
        from qbench.leaderboard.files import as_frame

        return as_frame(self)

    def write(self, folder: str | Path) -> list[Path]:
        """Write all faces into a folder, each file atomically; gives their paths."""
        from qbench.leaderboard.files import write

        return write(self, Path(folder))


def make_leaderboard(
    name: str,
    entries: Sequence[Entry],
    measures: Sequence[str],
    *,
    buckets: pl.DataFrame | None = None,
    about: Mapping[str, Any] | None = None,
    notes: Sequence[str] = (),
    evidence: Evidence | None = None,
    resamples: int = RESAMPLES,
    seed: int = 0,
    progress: Progress = silent,
) -> Leaderboard:
    """Test the differences between some systems and rank them.

    A row's rank is 1 + the number of comparable rows that are significantly better on the primary measure, so that rows
    that cannot be told apart from the best share rank 1. A row that was given conditions and a row that parsed them did
    different tasks: they are not comparable, and no pair. A row without a run keeps its place at the end, without a
    rank.

    Args:
        name: of the benchmark.
        entries: one per row; those with a run are scored on the same queries.
        measures: names of the measures in `entries`; the first one is the primary one.
        buckets: query_id, dimension, bucket, as `qbench.evaluation.buckets.query_buckets` gives them.
        about: where it comes from; the settings of the tests are added.
        notes: shown under the table.
        evidence: what stands behind the scores, for the page.
        resamples, seed: of the tests.
        progress: told after each pair.

    Raises:
        OptionError: no entry, or two of the same label.
        InputError: the scores do not cover the same queries, or are not finite.
    """
    import polars as pl

    labels = [entry.label for entry in entries]
    if not labels:
        raise OptionError("no system to compare", remedy="Name at least one")
    twice = next((label for label in labels if labels.count(label) > 1), None)
    if twice is not None:
        raise OptionError("two rows of one name", value=twice, remedy="Name each system once")
    frames = [entry.scores.with_columns(label=pl.lit(entry.label)) for entry in entries if entry.scores is not None]
    source = {entry.label: entry.conditions for entry in entries if entry.scores is not None}
    if frames:
        scores = pl.concat([frame.select("label", "query_id", "measure", "value") for frame in frames])
        means, pairs = summarise(
            Scores.from_frame(scores),
            resamples=resamples,
            seed=seed,
            comparable=lambda a, b: {source[a], source[b]} != BOTH,
            progress=progress,
        )
    else:
        scores = pl.DataFrame(
            schema={"label": pl.String, "query_id": pl.String, "measure": pl.String, "value": pl.Float64}
        )
        means, pairs = pl.DataFrame(schema=mean_schema()), pl.DataFrame(schema=pair_schema())
    family = "all pairs of a measure" + (" but [given] with [parsed]" if set(source.values()) >= BOTH else "")
    tests = {"resamples": resamples, "seed": seed, "level": LEVEL, "correction": "holm", "family": family}
    return Leaderboard(
        name=name,
        measures=tuple(measures),
        rows=_rows(entries, tuple(measures), means, pairs),
        pairs=pairs,
        scores=scores,
        buckets=pl.DataFrame(schema=bucket_schema()) if buckets is None else bucket_means(scores, buckets),
        about={**(about or {}), "tests": tests},
        notes=(*notes, *_power(pairs.select("a", "b").n_unique(), resamples)),
        evidence=evidence,
    )


def _power(couples: int, resamples: int) -> list[str]:
    """A warning where even the smallest p that the test can give is not significant after Holm."""
    if couples / (resamples + 1) < LEVEL:
        return []
    enough = int(couples / LEVEL)
    return [
        f"With {couples} pairs of systems and {resamples} resamples no difference can be significant after Holm: "
        f"use more than {enough} resamples."
    ]


def _rows(
    entries: Sequence[Entry], measures: tuple[str, ...], means: pl.DataFrame, pairs: pl.DataFrame
) -> tuple[Row, ...]:
    cells = {(row["label"], row["measure"]): row for row in means.iter_rows(named=True)}

    def place(entry: Entry) -> tuple[bool, float, str]:
        cell = cells.get((entry.label, measures[0]))
        return (cell is None, -cell["mean"] if cell else 0.0, entry.label)

    ordered = sorted(entries, key=place)
    index = {entry.label: i for i, entry in enumerate(ordered)}
    beats: dict[tuple[str, str], list[int]] = {}
    for row in pairs.filter("significant").iter_rows(named=True):
        winner, loser = (row["a"], row["b"]) if row["difference"] > 0 else (row["b"], row["a"])
        beats.setdefault((winner, row["measure"]), []).append(index[loser])
    places = ranks([beats.get((entry.label, measures[0]), ()) for entry in ordered])

    def cell(label: str, measure: str) -> Cell:
        found = cells[label, measure]
        beaten = tuple(sorted(beats.get((label, measure), ())))
        return Cell(found["mean"], found["ci_low"], found["ci_high"], beaten)

    return tuple(
        Row(
            letter=letter(i),
            rank=None if entry.scores is None else places[i],
            cells={} if entry.scores is None else {measure: cell(entry.label, measure) for measure in measures},
            entry=entry,
        )
        for i, entry in enumerate(ordered)
    )


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
