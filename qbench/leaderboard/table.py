"""The leaderboard: systems ranked by significance tests, with all output formats."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import polars as pl
from rich.console import RenderableType

from qbench.errors import OptionError
from qbench.evaluation.buckets import bucket_means, bucket_schema
from qbench.evaluation.significance import LEVEL, RESAMPLES, Scores, mean_schema, pair_schema, summarise
from qbench.leaderboard import documents, files, terminal
from qbench.leaderboard.evidence import Evidence
from qbench.leaderboard.page import leaderboard_page
from qbench.leaderboard.standings import BOTH, Cell, Entry, Row, Standings, letter, ranks
from qbench.progress import Progress, silent


class Leaderboard(Standings):
    """Ranked systems on one benchmark, as tables, pages and files."""

    def table(self) -> list[RenderableType]:
        """Renderables for rich's `Console.print`: title, figures, costs, caption."""
        return terminal.tables(self)

    def bucket_tables(self) -> list[RenderableType]:
        """Renderables of the buckets of the primary measure; empty if no dimension has two buckets."""
        return terminal.bucket_tables(self)

    def win_table(self) -> list[RenderableType]:
        """Renderables of the win matrix; empty if no two rows can be compared."""
        return terminal.win_table(self)

    def to_markdown(self) -> str:
        """A page with figures, costs, win matrix, pairs of the primary measure and buckets."""
        return documents.markdown(self)

    def to_latex(self) -> str:
        """A booktabs table."""
        return documents.latex(self)

    def to_html(self) -> str:
        """A self-contained HTML page with charts and, if the evidence was kept, queries and documents."""
        return leaderboard_page(self)

    def to_dict(self) -> dict[str, Any]:
        """The leaderboard without per-query scores, as JSON data."""
        return files.as_dict(self)

    def to_frame(self) -> pl.DataFrame:
        """One row per system and measure."""
        return files.as_frame(self)

    def write(self, folder: str | Path) -> list[Path]:
        """Write all output files into a folder, each atomically, and return their paths."""
        return files.write(self, Path(folder))


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
    not significantly different from the best share rank 1. Rows with given and with parsed conditions did different
    tasks and are not compared. Rows without a run come last, without a rank.

    Args:
        name: name of the benchmark.
        entries: one per row; all runs are scored on the same queries.
        measures: names of the measures in `entries`; the first one is the primary one.
        buckets: query_id, dimension, bucket, as `qbench.evaluation.buckets.query_buckets` gives them.
        about: provenance; the settings of the tests are added.
        notes: notes under the table.
        evidence: queries and documents behind the scores, for the page.
        resamples, seed: resamples and random seed of the tests.
        progress: called after each pair.

    Raises:
        OptionError: no entry, or two of the same label.
        InputError: the scores do not cover the same queries, or are not finite.
    """
    labels = [entry.label for entry in entries]
    if not labels:
        raise OptionError("no system to compare", remedy="Name at least one")
    twice = next((label for label in labels if labels.count(label) > 1), None)
    if twice is not None:
        raise OptionError("two rows of one name", value=twice, remedy="Name each system once")
    source = {entry.label: entry.conditions for entry in entries if entry.scores is not None}
    scores = _all_scores(entries)
    means, pairs = pl.DataFrame(schema=mean_schema()), pl.DataFrame(schema=pair_schema())
    if source:
        means, pairs = summarise(
            Scores.from_frame(scores),
            resamples=resamples,
            seed=seed,
            comparable=lambda a, b: {source[a], source[b]} != BOTH,
            progress=progress,
        )
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


def _all_scores(entries: Sequence[Entry]) -> pl.DataFrame:
    """The scores of all rows with a run: label, query_id, measure, value."""
    schema = {"label": pl.String, "query_id": pl.String, "measure": pl.String, "value": pl.Float64}
    scored = [(entry.label, entry.scores) for entry in entries if entry.scores is not None]
    frames = [scores.with_columns(label=pl.lit(label)).select(*schema) for label, scores in scored]
    return pl.concat(frames) if frames else pl.DataFrame(schema=schema)


def _power(couples: int, resamples: int) -> list[str]:
    """A warning if even the smallest possible p-value is not significant after Holm correction."""
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

    def sort_key(entry: Entry) -> tuple[bool, float, str]:
        cell = cells.get((entry.label, measures[0]))
        return (cell is None, -cell["mean"] if cell else 0.0, entry.label)

    ordered = sorted(entries, key=sort_key)
    index = {entry.label: i for i, entry in enumerate(ordered)}
    beats: dict[tuple[str, str], list[int]] = {}
    for row in pairs.filter("significant").iter_rows(named=True):
        winner, loser = (row["a"], row["b"]) if row["difference"] > 0 else (row["b"], row["a"])
        beats.setdefault((winner, row["measure"]), []).append(index[loser])
    row_ranks = ranks([beats.get((entry.label, measures[0]), ()) for entry in ordered])

    def cell(label: str, measure: str) -> Cell:
        summary = cells[label, measure]
        beaten = tuple(sorted(beats.get((label, measure), ())))
        return Cell(summary["mean"], summary["ci_low"], summary["ci_high"], beaten)

    return tuple(
        Row(
            letter=letter(i),
            rank=None if entry.scores is None else row_ranks[i],
            cells={} if entry.scores is None else {measure: cell(entry.label, measure) for measure in measures},
            entry=entry,
        )
        for i, entry in enumerate(ordered)
    )
