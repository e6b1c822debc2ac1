"""The win matrix counts queries, not points."""

from __future__ import annotations

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from qbench.evaluation.significance import Scores, SignificanceTests, summarise
from qbench.evaluation.wins import win_matrix, win_schema


def table(systems: dict[str, list[float]], measure: str = "nDCG@10") -> pl.DataFrame:
    rows = [(label, f"q{i}", measure, value) for label, values in systems.items() for i, value in enumerate(values)]
    return pl.DataFrame(rows, schema=["label", "query_id", "measure", "value"], orient="row")


def matrix(systems: dict[str, list[float]], resamples: int = 500) -> dict[tuple[str, str], tuple[float, bool]]:
    scores = table(systems)
    _, pairs = summarise(Scores.from_frame(scores), SignificanceTests(resamples=resamples))
    return {(w, loser): (share, star) for w, loser, share, star in win_matrix(scores, pairs, "nDCG@10").iter_rows()}


def test_a_matrix_by_hand():
    # B is above A on two of five queries, A above B on one, two are ties; C is nowhere above.
    found = matrix({"A": [0.5, 0.2, 0.9, 0.0, 1.0], "B": [0.6, 0.4, 0.1, 0.0, 1.0], "C": [0.0, 0.0, 0.0, 0.0, 0.0]})
    shares = {pair: share for pair, (share, _) in found.items()}
    assert shares == {
        ("A", "B"): 0.2, ("B", "A"): 0.4, ("A", "C"): 0.8, ("C", "A"): 0.0, ("B", "C"): 0.8, ("C", "B"): 0.0,
    }  # fmt: skip
    assert not any(star for _, star in found.values())


def test_the_star_is_that_of_the_mean():
    # A wins little on most queries; B wins on few, by so much that its mean is significantly higher.
    found = matrix({"A": [0.11] * 60 + [0.0] * 40, "B": [0.1] * 60 + [1.0] * 40})
    assert found["A", "B"] == (0.6, False)
    assert found["B", "A"] == (0.4, True)


def test_rounding_wins_nothing():
    assert matrix({"A": [0.1 + 0.2, 1.0], "B": [0.3, 1.0]})["A", "B"][0] == 0


def test_only_the_pairs_that_were_compared_are_there():
    scores = pl.concat(
        [table({"A": [1.0], "B": [0.0], "C": [0.5]}), table({"A": [0.0], "B": [1.0], "C": [1.0]}, "P@1")]
    )
    parts = Scores.from_frame(scores)
    _, pairs = summarise(parts, SignificanceTests(resamples=100), comparable=lambda a, b: {a, b} == {"A", "B"})
    found = win_matrix(scores, pairs, "nDCG@10")
    assert found.schema == win_schema()
    assert found.rows() == [("A", "B", 1.0, False), ("B", "A", 0.0, False)]
    assert win_matrix(scores, pairs.clear(), "nDCG@10").schema == win_schema()


@settings(max_examples=40)
@given(st.lists(st.tuples(*[st.sampled_from([0.0, 0.25, 1.0])] * 3), min_size=1, max_size=12))
def test_wins_losses_and_ties_add_up(rows):
    systems = {name: [row[i] for row in rows] for i, name in enumerate("ABC")}
    found = matrix(systems, resamples=100)
    for a, b in ("AB", "AC", "BC"):
        ties = sum(x == y for x, y in zip(systems[a], systems[b], strict=True)) / len(rows)
        assert found[a, b][0] + found[b, a][0] + ties == pytest.approx(1)
