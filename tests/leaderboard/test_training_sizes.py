"""How much a checkpoint was trained on, as its manifest says."""

from __future__ import annotations

import pytest

from qbench.leaderboard.training_sizes import trained_on, training_samples
from qbench.retrieval.grammar import parse_system
from qbench.store import MANIFEST


@pytest.mark.parametrize(
    ("params", "counts", "size"),
    [
        ({"max_pairs": 0}, {"positives": 30_000}, 30_000),
        ({"max_pairs": 500}, {"positives": 30_000}, 500),
        ({"max_pairs": 500}, {"positives": 30}, 30),
        ({}, {"positives": 30, "joint": {"positives": 12}}, 42),
        ({}, {"positives": 30, "joint": None}, 30),
        ({}, {"train": {"paraphrases": 7}}, None),
    ],
)
def test_positives_of_an_epoch(params, counts, size):
    assert trained_on(params, counts) == size


def test_models_that_say_nothing(tmp_path):
    assert training_samples(parse_system("BM25")) is None
    assert training_samples(parse_system("BM25 + SBERT(model=some-name-on-the-hub)")) is None
    (tmp_path / MANIFEST).write_text("not a manifest")
    assert training_samples(parse_system(f'SBERT(model="{tmp_path}")')) is None
