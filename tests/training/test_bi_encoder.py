"""Training the bi-encoder: it learns a rule, resumes, gives the same weights again, opens elsewhere."""

from __future__ import annotations

import json

import numpy as np
import pytest
import torch

from qbench.errors import InputError, OptionError
from qbench.models.folders import model_digest
from qbench.models.single_vector import load_encoder
from qbench.training import bi_encoder as module
from qbench.training import trainer
from qbench.training.bi_encoder import train_bi_encoder
from qbench.training.recipes import PairRecipe
from qbench.training.trainer import Trainer
from tests.encoder_factories import WORDS, regular_pairs, tiny_bert, write_pairs

QUICK = PairRecipe(epochs=3, batch_size=48, lr=3e-3, patience=3, seed=5)


@pytest.fixture(scope="module")
def base(tmp_path_factory):
    return tiny_bert(tmp_path_factory.mktemp("base") / "tiny", WORDS)


@pytest.fixture(scope="module")
def pairs(tmp_path_factory):
    return write_pairs(tmp_path_factory.mktemp("pairs") / "pairs", *regular_pairs())


@pytest.fixture(scope="module")
def trained(tmp_path_factory, base, pairs):
    folder = tmp_path_factory.mktemp("trained") / "checkpoint"
    told = []
    return folder, train_bi_encoder(pairs, folder, str(base), QUICK, on_epoch=told.append), told


def test_it_learns_what_a_paraphrase_is(trained):
    _, manifest, told = trained
    counts = manifest.counts
    assert counts["dev"]["f1"] > counts["dev_untrained"]["f1"] + 0.1
    assert counts["dev"]["nearest_is_paraphrase"] > counts["dev_untrained"]["nearest_is_paraphrase"]
    assert [record["epoch"] for record in told] == [0, 1, 2, 3]
    assert told[3]["loss"] < told[1]["loss"]
    assert counts["dev"] == told[counts["best_epoch"]]["dev"]
    assert counts["dev"]["f1"] == max(record["dev"]["f1"] for record in told[1:])
    for name in ("test_downsampled", "test_downsampled_best_threshold"):
        found = counts[name]
        assert found["f1"] == pytest.approx(
            2 * found["precision"] * found["recall"] / (found["precision"] + found["recall"])
        )
    assert counts["test_downsampled_best_threshold"]["f1"] >= counts["test_downsampled"]["f1"]
    assert counts["test_downsampled"]["threshold"] == counts["dev"]["threshold"]


def test_sentence_transformers_opens_it_and_gives_the_same_vectors(trained):
    from sentence_transformers import SentenceTransformer

    folder, _, told = trained
    texts = ["the revenue of 2019", "in 2020 total debt"]
    theirs = SentenceTransformer(str(folder)).encode(texts, normalize_embeddings=True)
    np.testing.assert_allclose(load_encoder(str(folder)).encode(texts), theirs, atol=1e-6)
    assert json.loads((folder / "log.json").read_text()) == told
    assert not [path for path in folder.rglob("*") if path.suffix in (".bin", ".pt", ".pkl")]


def test_nothing_in_the_checkpoint_says_where_it_was_made(trained, base, pairs):
    for path in trained[0].rglob("*.json"):
        text = path.read_text()
        assert str(base.parent) not in text
        assert str(pairs.parent) not in text
        assert str(trained[0].parent) not in text


def test_a_killed_training_goes_on_and_ends_at_the_same_weights(trained, base, pairs, tmp_path, monkeypatch):
    train, begun = Trainer._train, []

    def killed(self, stretch):
        begun.append(stretch.epoch)
        if len(begun) == 2:
            raise KeyboardInterrupt
        return train(self, stretch)

    monkeypatch.setattr(Trainer, "_train", killed)
    folder = tmp_path / "checkpoint"
    torch.manual_seed(1)  # another process has other random numbers
    with pytest.raises(KeyboardInterrupt):
        train_bi_encoder(pairs, folder, str(base), QUICK)
    assert not folder.exists()
    manifest = train_bi_encoder(pairs, folder, str(base), QUICK)
    assert begun == [1, 2, 2, 3]
    assert model_digest(folder) == model_digest(trained[0])
    assert manifest == trained[1]
    assert not [path for path in folder.iterdir() if path.name.startswith(".")]


def test_a_finished_training_is_not_repeated_and_another_is_refused(trained, base, pairs, monkeypatch):
    folder, manifest, _ = trained
    monkeypatch.setattr(trainer, "Trainer", None)
    assert train_bi_encoder(pairs, folder, str(base), QUICK) == manifest
    with pytest.raises(OptionError, match="holds a bi-encoder made from other input"):
        train_bi_encoder(pairs, folder, str(base), PairRecipe(seed=1))


def test_foreign_folders_are_refused(base, pairs, tmp_path):
    (tmp_path / "mine.txt").write_text("")
    with pytest.raises(OptionError, match="did not make"):
        train_bi_encoder(pairs, tmp_path, str(base), QUICK)
    with pytest.raises(InputError, match="not a finished"):
        train_bi_encoder(tmp_path, tmp_path / "out", str(base), QUICK)


def test_without_a_held_out_part_the_last_epoch_is_kept(base, pairs, tmp_path):
    recipe = PairRecipe(epochs=2, batch_size=200, dev_share=0, max_pairs=100)
    counts = train_bi_encoder(pairs, tmp_path / "out", str(base), recipe).counts
    assert (counts["best_epoch"], counts["dev"]) == (2, None)
    assert counts["test_downsampled"]["threshold_from"] == "test"


def test_a_loss_that_runs_away_is_an_error(base, pairs, tmp_path, monkeypatch):
    loss = module.PairTask.loss
    monkeypatch.setattr(module.PairTask, "loss", lambda *args: loss(*args) * float("nan"))
    with pytest.raises(OptionError, match=r"no longer finite in epoch 1.*Lower the learning rate"):
        train_bi_encoder(pairs, tmp_path / "out", str(base), QUICK)


@pytest.mark.parametrize(
    "change", [{"epochs": 0}, {"batch_size": 1}, {"negatives": 0}, {"lr": 2.0}, {"margin": -1}, {"dev_share": 0.9}]
)
def test_recipes_that_make_no_sense(change, tmp_path):
    (name,) = change
    with pytest.raises(OptionError, match=name):
        train_bi_encoder(tmp_path, tmp_path / "out", "nothing", PairRecipe(**change))
