"""Windows over a ranking, and shares of comparisons."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from qbench.scoring.listwise import shares_won, windows


@pytest.mark.parametrize(
    ("count", "size", "stride", "spans"),
    [
        (100, 20, 10, [(start, start + 20) for start in range(80, -1, -10)]),
        (25, 20, 10, [(5, 25), (0, 15)]),
        (20, 20, 10, [(0, 20)]),
        (2, 20, 10, [(0, 2)]),
        (1, 20, 10, []),
        (0, 20, 10, []),
        (41, 20, 20, [(21, 41), (1, 21)]),
    ],
)
def test_windows_go_from_the_end_to_the_start(count, size, stride, spans):
    assert windows(count, size, stride) == spans


@given(st.integers(2, 300), st.integers(2, 30), st.integers(1, 30))
def test_every_document_can_come_to_the_front(count, size, stride):
    """Each window holds the start of the one before."""
    stride = min(stride, size - 1)
    spans = windows(count, size, stride)
    assert spans[0][1] == count
    assert spans[-1][0] == 0
    for (start, end), (next_start, next_end) in pairwise(spans):
        assert end - start == size
        assert next_start < start < next_end


@given(st.integers(0, 300), st.integers(2, 30), st.integers(1, 30))
def test_windows_are_those_of_the_authors(count, size, stride):
    """As RankLLM's loop goes, which also asks about a window of one document."""
    stride = min(stride, size)
    end, start, theirs = count, max(count - size, 0), []
    while end > start and (not theirs or theirs[-1][0] != 0):
        theirs.append((start, end))
        end, start = end - stride, max(start - stride, 0)
    assert windows(count, size, stride) == [span for span in theirs if span[1] - span[0] > 1]


def test_shares_are_means_over_comparisons():
    won = shares_won(4, [(0, 1, 1.0), (1, 0, 0.25), (2, 0, 0.5)])
    assert won.tolist() == pytest.approx([(1 + 0.75 + 0.5) / 3, 0.125, 0.5, 0.5])


@given(st.permutations(range(6)))
def test_a_judge_that_is_consistent_gets_its_own_order(strength):
    comparisons = [(a, b, float(strength[a] > strength[b])) for a in range(6) for b in range(6) if a != b]
    assert np.argsort(-shares_won(6, comparisons)).tolist() == np.argsort(-np.array(strength)).tolist()
