"""`qbench train description-parser` on the command line."""

from __future__ import annotations

import pytest
from typer.testing import CliRunner

from qbench.cli.main import VERBS
from qbench.cli.train import app
from qbench.errors import InputError, OptionError
from tests.tiny_bert import ENGLISH, english, tiny_bert, write_rows

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
    lines = [line.split() for line in result.stdout.splitlines()]
    assert ["quantities", "60"] in lines
    assert ["train", "texts", "20"] in lines
    assert [line[:3] for line in lines[-4:]] == [
        [part, mode, "precision"] for part in ("dev", "test") for mode in ("strict", "partial")
    ]
    assert (root / "parser" / "model.safetensors").is_file()
    again = train(*words)
    assert again.exit_code == 0
    assert again.stdout == result.stdout
    assert "already trained" in again.stderr
    other = train(*words, "--seed", "4")
    assert isinstance(other.exception, OptionError)
    assert "--overwrite" in str(other.exception)


def test_a_missing_gold_set_is_an_error(root):
    result = train(root / "none.jsonl", "-o", root / "other", "--model", root / "bert")
    assert isinstance(result.exception, InputError)
    assert not (root / "other").exists()


def test_the_defaults_are_those_of_the_library():
    import inspect
    from dataclasses import asdict

    from qbench.cli.train_description_parser import train_description_parser
    from qbench.training.tagger import TaggerTraining

    defaults = {name: p.default for name, p in inspect.signature(train_description_parser).parameters.items()}
    assert asdict(TaggerTraining()).items() <= defaults.items()


def test_the_verb_is_listed():
    assert VERBS["train"] == "Train a model on a gold set or on mined pairs."
