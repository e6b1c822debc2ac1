"""The leaderboard: systems ranked by significance tests, with all output formats."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict
from html import escape
from pathlib import Path
from typing import Any

import polars as pl
from rich.console import RenderableType

from qbench.errors import OptionError
from qbench.evaluation.buckets import FEWEST, bucket_means, bucket_schema
from qbench.evaluation.letters import compact_letters
from qbench.evaluation.significance import LEVEL, By, Scores, SignificanceTests, mean_schema, pair_schema, summarise
from qbench.leaderboard import documents, files, terminal
from qbench.leaderboard.evidence import Evidence
from qbench.leaderboard.page import leaderboard_page
from qbench.leaderboard.standings import BOTH, Cell, Entry, Row, Standings, group_letters, rank_range
from qbench.leaderboard.verdict import verdict
from qbench.pages import html_table
from qbench.progress import Progress, silent


class Leaderboard(Standings):
    """Ranked systems on one benchmark, as tables, pages and files."""

    @property
    def verdict(self) -> str:
        """What the tests say, in one plain sentence: who beats whom, and which differences may be chance."""
        return verdict(self)

    def table(self, *, explain: bool = True, width: int | None = None) -> list[RenderableType]:
        """Renderables for rich's `Console.print`: title, verdict, figures, costs, and how to read them.

        Args:
            explain: also say how to read them.
            width: of a terminal, in characters: columns that would break names are left out. None: no limit.
        """
        return terminal.tables(self, explain=explain, width=width)

    def bucket_tables(self, *, explain: bool = True, width: int = terminal.WIDTH) -> list[RenderableType]:
        """Renderables of the buckets of the primary measure; empty if no dimension has two buckets.

        Columns are headed by names where these fit `width` characters, else by the numbers of the rows.
        """
        return terminal.bucket_tables(self, explain=explain, width=width)

    def win_table(self, *, width: int = terminal.WIDTH) -> list[RenderableType]:
        """Renderables of the win matrix; empty if no two rows can be compared. Headings as in `bucket_tables`."""
        return terminal.win_table(self, width=width)

    def to_markdown(self) -> str:
        """A page with figures, costs, win matrix, pairs of the primary measure and buckets."""
        return documents.markdown(self)

    def to_latex(self) -> str:
        """A booktabs table."""
        return documents.latex(self)

    def to_html(self) -> str:
        """A self-contained HTML page with charts and, if the evidence was kept, queries and documents."""
        return leaderboard_page(self)

    def __repr__(self) -> str:
        return f"Leaderboard({self.name!r}, {len(self.rows)} rows, {terminal.size(self)})"

    def _repr_html_(self) -> str:
        rows = [terminal.figures(row, self) for row in self.rows]
        header = terminal.figure_header(self)
        places = [place for place in range(len(header)) if place not in (1, 2, 4)]
        table = html_table(header, rows, caption=f"{self.name}: {terminal.size(self)}", numbers=places)
        notes = [verdict(self), *self.words, *self.notes]
        return table + "".join(f"<p>{escape(note)}</p>" for note in notes)

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
    topics: Mapping[str, str] | None = None,
    tests: SignificanceTests = SignificanceTests(),
    buckets: pl.DataFrame | None = None,
    about: Mapping[str, Any] | None = None,
    notes: Sequence[str] = (),
    words: Sequence[str] = (),
    evidence: Evidence | None = None,
    progress: Progress = silent,
) -> Leaderboard:
    """Test the differences between some systems and rank them.

    Rows are ordered by the mean of the primary measure. A row has the range of ranks that the tests leave open, and
    each of its figures letters: compared rows that share one are not significantly different. Rows with given and with
    parsed conditions did different tasks and are not compared: their letters are of two alphabets, small and capital
    ones. Rows without a run come last, without a rank.

    Args:
        name: name of the benchmark.
        entries: one per row; all runs are scored on the same queries.
        measures: names of the measures in `entries`; the first one is the primary one.
        topics: query -> its topic; a query that is not there, or has "", is a topic of its own.
        tests: how differences are tested; intervals and the smallest bucket go by topic or by query as they do.
        buckets: query_id, dimension, bucket, as `qbench.evaluation.buckets.query_buckets` gives them.
        about: provenance; the settings of the tests are added.
        notes: notes under the table.
        words: what a reader must know before believing any figure; what the topics and tests call for is added.
        evidence: queries and documents behind the scores, for the page.
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
    scores = _all_scores(entries, topics or {})
    means, pairs = pl.DataFrame(schema=mean_schema()), pl.DataFrame(schema=pair_schema())
    if source:
        means, pairs = summarise(
            Scores.from_frame(scores),
            tests,
            comparable=lambda a, b: {source[a], source[b]} != BOTH,
            progress=progress,
        )
    family = "all pairs of a measure" + (" but [given] with [parsed]" if set(source.values()) >= BOTH else "")
    tested = {**asdict(tests), "level": LEVEL, "correction": "holm", "family": family}
    queries, count = means.select("queries", "topics").row(0) if means.height else (0, 0)
    drawn = count if tests.by == "topic" else queries
    return Leaderboard(
        name=name,
        measures=tuple(measures),
        rows=_rows(entries, tuple(measures), means, pairs),
        pairs=pairs,
        scores=scores,
        buckets=pl.DataFrame(schema=bucket_schema()) if buckets is None else bucket_means(scores, buckets, tests.by),
        about={**(about or {}), "topics": count, "tests": tested},
        notes=(*notes, *_topic_notes(scores), *_power(pairs.select("a", "b").n_unique(), drawn, tests)),
        words=(*words, *_test_words(drawn, tests.by)),
        evidence=evidence,
    )


def _all_scores(entries: Sequence[Entry], topics: Mapping[str, str]) -> pl.DataFrame:
    """The scores of all rows with a run: label, query_id, topic, measure, value."""
    schema = dict.fromkeys(("label", "query_id", "topic", "measure"), pl.String) | {"value": pl.Float64}
    named = pl.col("query_id").replace_strict(topics, default="", return_dtype=pl.String)
    scored = [(entry.label, entry.scores) for entry in entries if entry.scores is not None]
    frames = [scores.with_columns(label=pl.lit(label), topic=named).select(*schema) for label, scores in scored]
    return pl.concat(frames) if frames else pl.DataFrame(schema=schema)


def _topic_notes(scores: pl.DataFrame) -> list[str]:
    """What is said of queries without a topic."""
    queries = scores.select("query_id", "topic").unique()
    alone = queries.filter(pl.col("topic") == "").height
    if not alone:
        return []
    if alone == queries.height:
        return ["No topics are named: each query counts as one of its own."]
    return [f"{alone} of {queries.height} queries have no topic: each counts as one of its own."]


def _test_words(drawn: int, by: By) -> list[str]:
    """Words for tests that take queries of one topic for independent, and for tests of next to nothing."""
    words = ["tests by query"] if by == "query" else []
    plural = "queries" if by == "query" else "topics"
    return [*words, f"too few {plural} ({drawn})"] if 0 < drawn < FEWEST else words


def _power(couples: int, drawn: int, tests: SignificanceTests) -> list[str]:
    """A warning if even the smallest possible p-value is not significant after Holm correction."""
    if not couples:
        return []
    notes, pairs, resamples = [], f"With {couples} pairs of systems and", tests.resamples
    if couples / (resamples + 1) >= LEVEL and 2**drawn > resamples:
        notes.append(
            f"{pairs} {resamples} resamples no difference can be significant after Holm: "
            f"use more than {int(couples / LEVEL)} resamples."
        )
    if couples * 2.0 ** (1 - drawn) >= LEVEL:
        plural = "queries" if tests.by == "query" else "topics"
        notes.append(f"{pairs} {drawn} {plural} no difference can be significant after Holm.")
    return notes


def _rows(
    entries: Sequence[Entry], measures: tuple[str, ...], means: pl.DataFrame, pairs: pl.DataFrame
) -> tuple[Row, ...]:
    cells = {(row["label"], row["measure"]): row for row in means.iter_rows(named=True)}

    def sort_key(entry: Entry) -> tuple[bool, float, str]:
        cell = cells.get((entry.label, measures[0]))
        return (cell is None, -cell["mean"] if cell else 0.0, entry.label)

    ordered = sorted(entries, key=sort_key)
    index = {entry.label: i for i, entry in enumerate(ordered)}
    columns = {
        measure: _Column(
            index,
            {index[label]: row["mean"] for (label, of), row in cells.items() if of == measure},
            [entry.conditions for entry in ordered],
            pairs.filter(measure=measure),
        )
        for measure in measures
    }

    def cell(label: str, measure: str) -> Cell:
        summary, column, row = cells[label, measure], columns[measure], index[label]
        beaten = tuple(sorted(column.beats[row]))
        figures = summary["mean"], summary["ci_low"], summary["ci_high"]
        return Cell(*figures, beaten, column.letters[row], column.ranks(row))

    ran = [entry.scores is not None for entry in ordered]
    return tuple(
        Row(
            number=i + 1,
            ranks=columns[measures[0]].ranks(i) if ran[i] else None,
            cells={measure: cell(entry.label, measure) for measure in measures} if ran[i] else {},
            entry=entry,
        )
        for i, entry in enumerate(ordered)
    )


class _Column:
    """How the rows compare on one measure.

    Attributes:
        beats, loses: row -> the rows that are significantly below and above it.
        compared: row -> number of rows that it was compared with.
        letters: row -> its letters: rows that share one were compared, and are not significantly different. Where some
            rows had conditions given and others parsed them, small letters compare the given ones, capitals the
            parsed ones, and rows without conditions have both.

    Args:
        index: label -> row.
        means: row -> its mean, of rows with a run.
        conditions: row -> where it took the queries' conditions from.
        pairs: the tests of this measure.
    """

    def __init__(
        self, index: Mapping[str, int], means: Mapping[int, float], conditions: Sequence[str], pairs: pl.DataFrame
    ) -> None:
        self.beats: list[set[int]] = [set() for _ in index]
        self.loses: list[set[int]] = [set() for _ in index]
        self.compared = [0] * len(index)
        same = []
        for a, b, difference, significant in pairs.select("a", "b", "difference", "significant").iter_rows():
            better, worse = (index[a], index[b]) if difference > 0 else (index[b], index[a])
            self.compared[better] += 1
            self.compared[worse] += 1
            if significant:
                self.beats[better].add(worse)
                self.loses[worse].add(better)
            else:
                same.append((better, worse))
        self.letters = [""] * len(index)
        order = sorted(means, key=lambda row: (-means[row], row))
        both = {conditions[row] for row in order} >= BOTH
        self._letter([row for row in order if not (both and conditions[row] == "parsed")], same, str)
        if both:
            self._letter([row for row in order if conditions[row] != "given"], same, str.upper)

    def _letter(self, rows: Sequence[int], same: Sequence[tuple[int, int]], style: Callable[[str], str]) -> None:
        """Give letters to rows that were compared with each other, in their order."""
        place = {row: position for position, row in enumerate(rows)}
        pairs = [(place[a], place[b]) for a, b in same if a in place and b in place]
        groups_of: list[list[int]] = [[] for _ in rows]
        for number, group in enumerate(compact_letters(len(rows), pairs)):
            for position in group:
                groups_of[position].append(number)
        for row, groups in zip(rows, groups_of, strict=True):
            self.letters[row] += style(group_letters(groups))

    def ranks(self, row: int) -> tuple[int, int]:
        """The best and the worst rank that the tests leave open."""
        return rank_range(len(self.loses[row]), len(self.beats[row]), self.compared[row])
