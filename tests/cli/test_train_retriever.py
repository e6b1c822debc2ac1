"""`qbench train colbert|splade|bi-encoder BENCH`, then `qbench leaderboard` with what it made."""

from __future__ import annotations

import json
import re

import pytest
from typer.testing import CliRunner

from qbench.benchmark.disk import write_benchmark
from qbench.cli.leaderboard import app as leaderboard
from qbench.cli.train import app
from qbench.errors import OptionError
from tests.encoder_factories import WORDS, regular_benchmark, regular_pairs, tiny_bert, write_pairs

SYSTEMS = {"bi-encoder": "SBERT_ft", "colbert": "ColBERT_ft", "splade": "SPLADE_ft", "aggretriever": "Aggretriever"}
SYSTEMS |= {"numcolbert": "NumColBERT", "deepquant": "DeepQuant", "codedcolbert": "CodedColBERT"}
QUICK = ["--epochs", "1", "--batch-size", "12", "--lr", "1e-3", "--dev-queries", "3", "--max-pairs", "24"]


@pytest.fixture
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    tiny_bert(tmp_path / "base", WORDS)
    write_benchmark(regular_benchmark(), tmp_path / "bench")
    return tmp_path


@pytest.mark.parametrize("kind", SYSTEMS)
def test_trains_and_is_searched_with(here, kind):
    result = CliRunner().invoke(app, [kind, "bench", "-o", "tuned", "--model", "base", *QUICK])
    assert result.exit_code == 0, result.output
    for text in ("untrained", "epoch 1", "loss", f"{SYSTEMS[kind]}(model=tuned"):
        assert text in result.stderr
    assert re.search(r"best epoch: \S+ of 1\n", result.stdout)
    assert "3 queries on" in result.stdout
    params = json.loads((here / "tuned" / "manifest.json").read_text())["params"]
    assert (params["trained"], params["max_pairs"], params["loss"]) == (kind, 24, "infonce")
    reported = re.search(r"numbers there: (.*)\n", result.stdout)
    read = CliRunner().invoke(app, ["figures", "bench", "--model", "tuned", "--queries", "3"])
    assert read.exit_code == 0, read.output
    assert bool(reported) == (kind in ("numcolbert", "deepquant"))
    heads = [line for line in read.stdout.splitlines() if not line.startswith("order")]
    assert heads == (reported[1].split(", ") if reported else [])
    assert "order" in read.stdout
    system = f"{SYSTEMS[kind]}(model=tuned)"
    result = CliRunner().invoke(leaderboard, ["bench", "--systems", system, "--resamples", "100", "--workers", "1"])
    assert result.exit_code == 0, result.output
    assert system in result.stdout


def test_a_general_benchmark_stands_beside(here):
    words = [
        "bi-encoder",
        "bench",
        "-o",
        "tuned",
        "--model",
        "base",
        *QUICK,
        "--joint",
        "bench",
        "--joint-share",
        "0.5",
    ]
    assert CliRunner().invoke(app, words).exit_code == 0
    assert json.loads((here / "tuned" / "manifest.json").read_text())["counts"]["joint"]["queries"] == 12


def test_options_of_the_other_source_are_refused(here):
    write_pairs(here / "pairs", *regular_pairs())
    for source, option in (("pairs", "--scale"), ("pairs", "--dev-queries"), ("bench", "--margin")):
        result = CliRunner().invoke(app, ["bi-encoder", source, "-o", "tuned", "--model", "base", option, "1"])
        assert isinstance(result.exception, OptionError)
        assert option in str(result.exception)


def test_methods_are_those_of_the_ablation(here):
    words = ["bi-encoder", "bench", "-o", "tuned", "--model", "base", *QUICK, "--method", "original"]
    assert CliRunner().invoke(app, words).exit_code == 0
    assert json.loads((here / "tuned" / "manifest.json").read_text())["params"]["methods"] == ["original"]
