"""How much a checkpoint was trained on, as its manifest says."""

from __future__ import annotations

import pytest

from qbench.leaderboard.training_sizes import trained_on, training_samples
from qbench.retrieval.grammar import parse_system
from qbench.store import MANIFEST, drafting


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


def test_the_smallest_of_all_that_a_system_names(tmp_path):
    for name, positives in (("big", 30_000), ("small", 40)):
        with drafting(tmp_path / name, "model", name, {}) as draft:
            draft.counts = {"positives": positives}
    big, small = tmp_path / "big", tmp_path / "small"
    assert training_samples(parse_system(f'BindBM25(encoder="{small}")')) == 40
    assert training_samples(parse_system(f'BM25 + SBERT(model="{big}") + SBERT(model="{small}")')) == 40
    assert training_samples(parse_system(f'SBERT(model="{big}")-WolfPQ(codebook="{small}")')) == 40


def test_models_that_say_nothing(tmp_path):
    assert training_samples(parse_system("BM25")) is None
    assert training_samples(parse_system("BM25 + SBERT(model=some-name-on-the-hub)")) is None
    (tmp_path / MANIFEST).write_text("not a manifest")
    assert training_samples(parse_system(f'SBERT(model="{tmp_path}")')) is None
