"""`qbench train bi-encoder`, then `qbench leaderboard` with what it made."""

from __future__ import annotations

import json

from typer.testing import CliRunner

from qbench.benchmark.disk import write_benchmark
from qbench.cli.leaderboard import app as leaderboard
from qbench.cli.train import app
from tests.encoder_factories import WORDS, regular_pairs, tiny_bert, write_pairs
from tests.factories import tiny_benchmark


def test_trains_and_is_searched_with(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    tiny_bert(tmp_path / "base", WORDS)
    write_pairs(tmp_path / "pairs", *regular_pairs())
    words = ["bi-encoder", "pairs", "-o", "ranker", "--model", "base", "--epochs", "2", "--batch-size", "100"]
    result = CliRunner().invoke(app, [*words, "--lr", "1e-3", "--max-pairs", "200"])
    assert result.exit_code == 0, result.output
    for text in ("untrained", "epoch 2", "loss", "BERT-WS(model=ranker)"):
        assert text in result.stderr
    for text in ("train", "best epoch:", "test, down-sampled, threshold of dev: F1"):
        assert text in result.stdout
    params = json.loads((tmp_path / "ranker" / "manifest.json").read_text())["params"]
    assert (params["epochs"], params["max_pairs"], params["negatives"], params["margin"]) == (2, 200, 5, 0.5)

    write_benchmark(tiny_benchmark(), tmp_path / "bench")
    systems = [
        "--systems",
        "BERT-WS(model=ranker)",
        "--systems",
        "BERT(model=base)",
        "--systems",
        "BERT(model=nope/no/no)",
    ]
    result = CliRunner().invoke(leaderboard, ["bench", *systems, "--resamples", "100", "--workers", "1"])
    assert result.exit_code == 1
    assert "BERT-WS(model=ranker)" in result.stdout
    assert "nope/no/no: no such model folder" in result.stdout
    assert "1 of 3 rows have no run" in result.stderr


def test_help_says_the_papers_defaults():
    result = CliRunner().invoke(app, ["bi-encoder", "--help"], terminal_width=300)
    text = " ".join(result.stdout.split())
    for part in ("default: 20", "default: 120", "default: 2e-05", "default: 0.5", "default: 5", "Example:"):
        assert part in text
