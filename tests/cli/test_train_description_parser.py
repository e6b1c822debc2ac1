"""`qbench train description-parser` on the command line."""

from __future__ import annotations

from pathlib import Path

import pytest
from typer.testing import CliRunner

from qbench.cli import train_description_parser as module
from qbench.cli.train import app
from qbench.errors import InputError, OptionError
from tests.encoder_factories import tiny_bert
from tests.gold_factories import ENGLISH, english, write_rows

SMALL = "--epochs 2 --hidden-size 8 --limit 20 --seed 3 --device cpu".split()


@pytest.fixture(scope="module")
def root(tmp_path_factory):
    folder = tmp_path_factory.mktemp("train")
    tiny_bert(folder / "bert", ENGLISH)
    write_rows(folder / "gold.jsonl", english(60))
    return folder


def train(*words):
    return CliRunner().invoke(app, ["description-parser", *map(str, words)])


def test_trains_and_reports(root):
    words = [root / "gold.jsonl", "-o", root / "parser", "--model", root / "bert", *SMALL]
    result = train(*words)
    assert result.exit_code == 0, result.output
    for line in ("quantities: 60", "train       20          20", "best epoch: "):
        assert line in result.stdout
    for start in ("dev, strict: F1 0.", "dev, partial: F1", "test, strict: F1", "test, partial: F1"):
        assert start in result.stdout
    for text in ("epoch 1", "epoch 2", "loss", f"--checkpoint {root / 'parser'}"):
        assert text in result.stderr
    again = train(*words)
    assert again.exit_code == 0
    assert again.stdout == result.stdout
    assert "epoch 1" not in again.stderr
    other = train(*words, "--seed", "4")
    assert isinstance(other.exception, OptionError)
    assert "--overwrite" in str(other.exception)


@pytest.mark.parametrize("right", [0.0, 0.4])
def test_a_tagger_that_learnt_nothing_says_so(capsys, right):
    scores = {"f1": right, "precision": right, "recall": right, "accuracy": right}
    parts = {part: dict.fromkeys(("strict", "partial"), scores) for part in ("dev", "test")}
    counts = {"gold": {}, "splits": {}, "cut_to_a_window": 0, "best_epoch": 1, "epochs": 1, **parts}
    module._report(Path("parser"), counts, "text")
    assert ("more gold" in capsys.readouterr().err) == (not right)


def test_a_missing_gold_set_and_a_missing_model_are_errors(root):
    result = train(root / "none.jsonl", "-o", root / "other", "--model", root / "bert")
    assert isinstance(result.exception, InputError)
    result = train(root / "gold.jsonl", "-o", root / "other", "--model", "no/such/model")
    assert isinstance(result.exception, InputError)
    assert not (root / "other").exists()
