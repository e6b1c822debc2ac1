"""Training of the tagger: it learns, goes on where it was, and comes out the same."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from qbench.errors import InputError, OptionError
from qbench.mining.gold import read_gold, split
from qbench.mining.parsers import get_parser, score_parser
from qbench.store import read_manifest
from qbench.training.tagger import TaggerTraining, train_tagger
from tests.tiny_bert import CHINESE, ENGLISH, chinese, english, tiny_bert, write_rows

OPTIONS = TaggerTraining(
    learning_rate=1e-3, head_learning_rate=1e-2, epochs=8, patience=8, hidden_size=24, seed=3, device="cpu"
)
SHORT = replace(OPTIONS, epochs=3, limit=20)


@pytest.fixture(scope="module")
def encoder(tmp_path_factory):
    return str(tiny_bert(tmp_path_factory.mktemp("encoder") / "tiny", ENGLISH))


@pytest.fixture(scope="module")
def gold(tmp_path_factory):
    return read_gold(write_rows(tmp_path_factory.mktemp("gold") / "gold.jsonl", english(160)))


def contents(folder):
    return {path.name: path.read_bytes() for path in folder.iterdir()}


@pytest.fixture(scope="module")
def trained(encoder, gold, tmp_path_factory):
    return train_tagger(gold, tmp_path_factory.mktemp("trained") / "parser", encoder, OPTIONS)


def test_learns_what_the_gold_says(trained):
    test = trained.report["test"]
    assert test["strict"]["f1"] > 0.9
    assert test["strict"]["accuracy"] > 0.8
    history = [json.loads(line) for line in (trained.path / "metrics.jsonl").read_text().splitlines()]
    assert [row["epoch"] for row in history] == list(range(1, trained.report["epochs"] + 1))
    assert history[-1]["loss"] < history[0]["loss"] / 2
    best = max(history, key=lambda row: (row["f1"], -row["epoch"]))
    assert best["epoch"] == trained.report["best epoch"]
    assert best["f1"] == trained.report["dev"]["strict"]["f1"]


def test_the_checkpoint_scores_as_its_report_says(trained, gold):
    parser = get_parser("tagger", folder=trained.path)
    for part in ("dev", "test"):
        scores = score_parser(parser, split(gold.samples, OPTIONS.seed)[part])
        assert {mode: row.to_dict() for mode, row in scores.items()} == trained.report[part]


def test_the_manifest_says_what_was_done_without_paths(trained, encoder):
    manifest = read_manifest(trained.path, "description-parser")
    assert manifest.params["model"] == "tiny"
    assert manifest.params["learning_rate"] == 1e-3
    assert manifest.counts["test strict F1"] == trained.report["test"]["strict"]["f1"]
    assert manifest.counts["train quantities"] + manifest.counts["dev quantities"] < 160
    assert encoder not in "".join(path.read_text() for path in trained.path.glob("*.json*"))
    assert not [path for path in trained.path.iterdir() if path.name.startswith(".")]


def test_chinese(tmp_path):
    encoder = tiny_bert(tmp_path / "bert", CHINESE)
    gold = read_gold(write_rows(tmp_path / "gold.jsonl", chinese(100)))
    trained = train_tagger(gold, tmp_path / "parser", str(encoder), replace(OPTIONS, epochs=6))
    assert trained.report["test"]["strict"]["f1"] > 0.9


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


def test_a_kill_between_the_two_renames_of_a_state_loses_nothing(encoder, gold, tmp_path):
    train_tagger(gold, tmp_path / "whole", encoder, SHORT)

    def stop(done, total=None, what=""):
        if what.startswith("epoch 3"):
            raise StopError

    with pytest.raises(StopError):
        train_tagger(gold, tmp_path / "cut", encoder, SHORT, progress=stop)
    state = tmp_path / ".cut.partial" / ".state"
    state.rename(state.with_name(".state.old"))
    heard = []
    train_tagger(gold, tmp_path / "cut", encoder, SHORT, progress=lambda done, total=None, what="": heard.append(what))
    assert heard[0].startswith("epoch 3")
    assert contents(tmp_path / "cut") == contents(tmp_path / "whole")


def test_the_same_run_again_finds_it_done_and_another_one_is_refused(trained, encoder, gold):
    before = contents(trained.path)
    again = train_tagger(gold, trained.path, encoder, OPTIONS)
    assert not again.new
    assert again.report == trained.report
    with pytest.raises(OptionError, match="--overwrite"):
        train_tagger(gold, trained.path, encoder, SHORT)
    assert contents(trained.path) == before


def test_a_seed_and_a_limit_change_the_run(encoder, gold, tmp_path):
    one = train_tagger(gold, tmp_path / "parser", encoder, SHORT)
    assert one.report["train texts"] == 20
    weights = (one.path / "model.safetensors").read_bytes()
    other = train_tagger(gold, tmp_path / "parser", encoder, replace(SHORT, limit=10), overwrite=True)
    assert other.report["train texts"] == 10
    assert other.report["test texts"] == one.report["test texts"]
    assert (other.path / "model.safetensors").read_bytes() != weights


def test_stops_when_the_development_part_gains_no_more(encoder, gold, tmp_path):
    options = replace(SHORT, learning_rate=1e-9, head_learning_rate=1e-9, epochs=30, patience=2)
    report = train_tagger(gold, tmp_path / "parser", encoder, options).report
    assert (report["best epoch"], report["epochs"]) == (1, 3)


@pytest.mark.parametrize("name", ["learning_rate", "head_learning_rate", "epochs", "patience", "batch_size", "limit"])
def test_options_that_make_no_sense(encoder, gold, tmp_path, name):
    with pytest.raises(OptionError, match="more than 0"):
        train_tagger(gold, tmp_path / "parser", encoder, replace(OPTIONS, **{name: 0}))


def test_too_little_gold_is_an_error_before_anything_is_written(encoder, tmp_path):
    gold = read_gold(write_rows(tmp_path / "gold.jsonl", english(2)))
    with pytest.raises(InputError, match="too few"):
        train_tagger(gold, tmp_path / "parser", encoder, OPTIONS)
    assert [path.name for path in tmp_path.iterdir()] == ["gold.jsonl"]
