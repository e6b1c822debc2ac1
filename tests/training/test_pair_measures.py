"""Thresholds and figures, against sentence-transformers' own evaluator and by hand."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from qbench.training.pair_measures import best_threshold, classification, nearest_is_paraphrase

labelled = st.lists(st.tuples(st.integers(0, 12).map(lambda n: n / 12), st.booleans()), min_size=1, max_size=30)


@given(labelled)
def test_no_threshold_has_a_higher_f1(rows):
    scores, positive = (np.array(column) for column in zip(*rows, strict=True))
    assume(positive.any())
    best = classification(scores, positive, best_threshold(scores, positive))["f1"]
    assert best == pytest.approx(max(classification(scores, positive, score)["f1"] for score in scores))


@given(st.lists(st.tuples(st.floats(-1, 1), st.booleans()), min_size=2, max_size=30, unique_by=lambda row: row[0]))
def test_f1_is_that_of_sentence_transformers(rows):
    from sentence_transformers.sentence_transformer.evaluation import BinaryClassificationEvaluator

    scores, positive = (np.array(column) for column in zip(*rows, strict=True))
    assume(positive.any())
    f1, _, _, _ = BinaryClassificationEvaluator.find_best_f1_and_threshold(scores, positive, True)
    # Theirs never says that every pair is a paraphrase.
    everything = classification(scores, positive, -2)["f1"]
    ours = classification(scores, positive, best_threshold(scores, positive))["f1"]
    assert ours == pytest.approx(max(f1, everything))


def test_ties_between_the_kinds_are_misses_and_queries_of_one_kind_do_not_count():
    scores = np.array([0.5, 0.5, 0.9, 0.7, 0.2, 0.1])
    positive = np.array([True, False, True, True, False, False])
    assert nearest_is_paraphrase(scores, positive, np.array([0, 2, 4])) == 0
    assert nearest_is_paraphrase(scores, positive, np.array([0, 4])) == 1
    assert nearest_is_paraphrase(scores, np.ones(6, bool), np.array([0])) is None
    assert nearest_is_paraphrase(scores[:0], positive[:0], np.array([], dtype=int)) is None
