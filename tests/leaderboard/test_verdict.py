"""The sentence says what the tests found, and nothing else."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from qbench.evaluation.significance import SignificanceTests, pair_schema
from qbench.leaderboard.standings import Cell, Entry, Row, Standings
from qbench.leaderboard.table import make_leaderboard
from qbench.leaderboard.verdict import MOST, listed, verdict

NOTHING = pl.DataFrame({"query_id": ["q"], "measure": ["AP"], "value": [1.0]})


def board(beats: Sequence[set[int]], names: Sequence[str] = "ABCDEFGH", conditions: Sequence[str] = ()) -> Standings:
    """Rows by falling mean, each with the rows that it is significantly above; a name with "!" has no run."""
    rows = []
    for place, (name, below) in enumerate(zip(names, beats, strict=False)):
        source = conditions[place] if conditions else "none"
        label = name.strip("!") + ("" if source == "none" else f" [{source}]")
        ran = "!" not in name
        entry = Entry(label, name, source, NOTHING if ran else None)  # type: ignore[arg-type]
        cells = {"AP": Cell(1 - place / 10, 0, 1, tuple(sorted(below)))} if ran else {}
        rows.append(Row(place + 1, (1, 1) if ran else None, cells, entry))
    empty = pl.DataFrame()
    return Standings("b", ("AP",), tuple(rows), pl.DataFrame(schema=pair_schema()), empty, empty, {})


@pytest.mark.parametrize(
    ("beats", "said"),
    [
        ([{1}, set()], "A beats B."),
        ([set(), set()], "The difference between A and B may be chance."),
        ([{2}, {2}, set()], "A and B beat C; the difference between A and B may be chance."),
        ([{1, 2}, {2}, set()], "A beats B, which beats C."),
        ([{1, 2}, set(), set()], "A beats B and C; the difference between B and C may be chance."),
        (
            [{2, 3, 4}, {2, 3, 4}, set(), set(), set()],
            "A and B beat C, D and E; the differences between A and B, and among C, D and E may be chance.",
        ),
        ([{1, 2, 3}, {2, 3}, {3}, set()], "A beats B, which beats C, which beats D."),
        ([{2, 3}, {2, 3}, {3}, set()], "A and B beat C, which beats D; the difference between A and B may be chance."),
        ([{1, 2, 3}, {3}, set(), set()], "A beats B, C and D; some differences among these may be chance."),
        ([{2}, set(), set()], "A has the highest mean and beats C; its difference from B may be chance."),
        ([set(), {2}, set()], "A has the highest mean; its differences from B and C may be chance."),
        ([set(), set(), set()], "The differences among A, B and C may be chance."),
        ([set()], "A has nothing to be compared with."),
        ([set()] * 7, "The differences among A, B, C, D and 3 others may be chance."),
    ],
)
def test_the_sentence_follows_from_the_tests(beats, said):
    assert verdict(board(beats)) == said


def test_both_settings_are_said_once_where_they_agree_and_apart_where_not():
    sources = ("given", "parsed", "none")
    names = ("Q", "Q", "B")
    assert verdict(board([{2}, {2}, set()], names, sources)) == "Q beats B, with conditions given and parsed alike."
    assert verdict(board([{2}, set(), set()], names, sources)) == (
        "With conditions given, Q beats B. With conditions parsed, the difference between Q and B may be chance."
    )
    assert verdict(board([{1}, set()], ("Q", "B"), ("given", "none"))) == "Q beats B."


def test_rows_without_a_run_are_named():
    assert verdict(board([{1}, set(), set()], ("A", "B", "C!"))) == "A beats B. No run: C."


def scored(level: float, seed: int) -> pl.DataFrame:
    values = np.clip(level + np.random.default_rng(seed).normal(0, 0.2, 40), 0, 1)
    return pl.DataFrame({"query_id": [f"q{i}" for i in range(40)], "measure": "AP", "value": values})


@settings(max_examples=25, deadline=None)
@given(st.lists(st.floats(0, 1), min_size=2, max_size=6))
def test_what_is_said_to_beat_is_significant_and_what_may_be_chance_is_not(levels):
    entries = [Entry("ABCDEF"[i], "x", "none", scored(level, i)) for i, level in enumerate(levels)]
    made = make_leaderboard("b", entries, ["AP"], tests=SignificanceTests(resamples=200))
    significant = {frozenset(row[:2]): row[2] for row in made.pairs.select("a", "b", "significant").iter_rows()}
    said = verdict(made)
    first = made.rows[0].entry.label
    for other in made.rows[1:]:
        pair = significant[frozenset((first, other.entry.label))]
        beaten = [label.entry.label for label in made.rows if label.number - 1 in made.rows[0].cells["AP"].beats]
        assert (other.entry.label in beaten) is pair
    assert ("may be chance" in said) is (not all(significant.values()))
    assert ("beat" in said) is any(
        yes for pair, yes in significant.items() if first in pair or "highest mean" not in said
    )


def test_long_lists_are_counted():
    names = [f"S{i}" for i in range(20)]
    assert listed(names).endswith(f"and {20 - MOST + 1} others")
