"""Training of the tagger: it learns, goes on where it was, and comes out the same."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest
import torch

from qbench.errors import InputError, OptionError
from qbench.mining.gold import read_gold, split
from qbench.mining.parsers import get_parser, score_parser
from qbench.models.tagger import Tagger
from qbench.store import read_manifest
from qbench.training.recipes import TaggerRecipe
from qbench.training.tagger import train_tagger
from tests.encoder_factories import tiny_bert
from tests.gold_factories import CHINESE, ENGLISH, chinese, english, write_rows

OPTIONS = TaggerRecipe(lr=1e-3, head_lr=1e-2, epochs=8, patience=8, hidden_size=24, seed=3)
SHORT = replace(OPTIONS, epochs=3, limit=20)


@pytest.fixture(scope="module")
def encoder(tmp_path_factory):
    return str(tiny_bert(tmp_path_factory.mktemp("encoder") / "tiny", ENGLISH, positions=64))


@pytest.fixture(scope="module")
def gold(tmp_path_factory):
    return read_gold(write_rows(tmp_path_factory.mktemp("gold") / "gold.jsonl", english(160)))


def contents(folder):
    return {path.name: path.read_bytes() for path in folder.iterdir()}


@pytest.fixture(scope="module")
def trained(encoder, gold, tmp_path_factory):
    folder = tmp_path_factory.mktemp("trained") / "parser"
    heard = []
    manifest = train_tagger(gold, folder, encoder, OPTIONS, on_epoch=heard.append)
    return folder, manifest, heard


def test_learns_what_the_gold_says(trained):
    folder, manifest, heard = trained
    assert manifest.counts["test"]["strict"]["f1"] > 0.9
    assert manifest.counts["test"]["strict"]["accuracy"] > 0.8
    history = json.loads((folder / "log.json").read_text())
    assert history == heard
    assert [row["epoch"] for row in history] == list(range(1, manifest.counts["epochs"] + 1))
    assert history[-1]["loss"] < history[0]["loss"] / 2
    best = max(history, key=lambda row: (row["dev"]["f1"], -row["epoch"]))
    assert best["epoch"] == manifest.counts["best_epoch"]
    assert best["dev"] == manifest.counts["dev"]["strict"]


def test_the_checkpoint_scores_as_its_manifest_says(trained, gold):
    folder, manifest, _ = trained
    parser = get_parser("tagger", folder=folder)
    for part in ("dev", "test"):
        scores = score_parser(parser, split(gold.samples, OPTIONS.seed)[part])
        assert {mode: row.to_dict() for mode, row in scores.items()} == manifest.counts[part]


def test_the_manifest_says_what_was_done_without_paths(trained, encoder):
    folder, manifest, _ = trained
    assert manifest == read_manifest(folder, "description-parser")
    assert manifest.params["base_name"] == "tiny"
    assert (manifest.params["lr"], manifest.params["head_lr"]) == (1e-3, 1e-2)
    assert sum(part["quantities"] for part in manifest.counts["splits"].values()) == 160
    assert manifest.counts["cut_to_a_window"] == 0
    assert encoder not in "".join(path.read_text() for path in folder.glob("*.json"))
    assert not [path for path in folder.iterdir() if path.name.startswith(".")]


def test_chinese(tmp_path):
    encoder = tiny_bert(tmp_path / "bert", CHINESE, positions=64)
    gold = read_gold(write_rows(tmp_path / "gold.jsonl", chinese(100)))
    trained = train_tagger(gold, tmp_path / "parser", str(encoder), replace(OPTIONS, epochs=6))
    assert trained.counts["test"]["strict"]["f1"] > 0.9


class StopError(Exception):
    pass


@pytest.mark.parametrize("when", ["epoch 1", "epoch 2", "epoch 3"])
def test_an_interrupted_run_ends_with_the_same_bytes(encoder, gold, tmp_path, when):
    train_tagger(gold, tmp_path / "whole", encoder, SHORT)
    met = []

    def stop(done, total=None, what=""):
        if what.startswith(when):
            met.append(done)
            if len(met) == 2:
                raise StopError

    with pytest.raises(StopError):
        train_tagger(gold, tmp_path / "cut", encoder, SHORT, progress=stop)
    assert not (tmp_path / "cut").exists()
    heard = []
    train_tagger(gold, tmp_path / "cut", encoder, SHORT, progress=lambda done, total=None, what="": heard.append(what))
    assert heard[0].startswith(when), "the epochs before are not trained again"
    assert contents(tmp_path / "cut") == contents(tmp_path / "whole")


def test_the_same_run_again_finds_it_done_and_another_one_is_refused(trained, encoder, gold):
    folder, manifest, _ = trained
    before = contents(folder)
    heard = []
    assert train_tagger(gold, folder, encoder, OPTIONS, on_epoch=heard.append) == manifest
    assert not heard
    with pytest.raises(OptionError, match="--overwrite"):
        train_tagger(gold, folder, encoder, SHORT)
    assert contents(folder) == before


def test_a_seed_and_a_limit_change_the_run(encoder, gold, tmp_path):
    one = train_tagger(gold, tmp_path / "parser", encoder, SHORT)
    weights = (tmp_path / "parser" / "model.safetensors").read_bytes()
    other = train_tagger(gold, tmp_path / "parser", encoder, replace(SHORT, limit=10), overwrite=True)
    assert [row.counts["splits"]["train"]["texts"] for row in (one, other)] == [20, 10]
    assert one.counts["splits"]["test"] == other.counts["splits"]["test"]
    assert (tmp_path / "parser" / "model.safetensors").read_bytes() != weights


def test_stops_when_the_development_part_gains_no_more(encoder, gold, tmp_path):
    recipe = replace(SHORT, lr=1e-9, head_lr=1e-9, epochs=30, patience=2)
    counts = train_tagger(gold, tmp_path / "parser", encoder, recipe).counts
    assert (counts["best_epoch"], counts["epochs"]) == (1, 3)


def test_two_learning_rates(encoder, gold, tmp_path):
    """A rate so low that nothing moves holds the encoder, or the layers above it, where it was."""
    start = Tagger.new(Path(encoder), SHORT.seed, SHORT.hidden_size).state_dict()
    for name, kept in (("lr", "encoder.embeddings.word_embeddings.weight"), ("head_lr", "tags.weight")):
        train_tagger(gold, tmp_path / name, encoder, replace(SHORT, epochs=1, **{name: 1e-12}))
        end = Tagger.load(tmp_path / name).state_dict()
        still = {key for key in start if torch.allclose(start[key], end[key], rtol=0, atol=1e-6)}
        assert kept in still
        assert len(still) < len(start) - 5


def test_a_loss_that_is_not_finite_is_an_error(encoder, gold, tmp_path, monkeypatch):
    forward = Tagger.forward
    monkeypatch.setattr(Tagger, "forward", lambda *args: forward(*args) * float("inf"))
    with pytest.raises(OptionError, match="no longer finite"):
        train_tagger(gold, tmp_path / "parser", encoder, SHORT)


@pytest.mark.parametrize("name", ["lr", "head_lr", "epochs", "patience", "batch_size", "limit"])
def test_options_that_make_no_sense(encoder, gold, tmp_path, name):
    with pytest.raises(OptionError, match=name):
        train_tagger(gold, tmp_path / "parser", encoder, replace(OPTIONS, **{name: -1 if "lr" in name else 0}))


def test_too_little_gold_is_an_error_before_anything_is_written(encoder, tmp_path):
    gold = read_gold(write_rows(tmp_path / "gold.jsonl", english(2)))
    with pytest.raises(InputError, match="too few"):
        train_tagger(gold, tmp_path / "parser", encoder, OPTIONS)
    assert [path.name for path in tmp_path.iterdir()] == ["gold.jsonl"]
