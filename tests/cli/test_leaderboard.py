"""`qbench leaderboard` on the command line."""

from __future__ import annotations

import json
from dataclasses import replace

import polars as pl
import pytest
from typer.testing import CliRunner

from qbench.benchmark.disk import write_benchmark
from qbench.cli.leaderboard import app
from tests.factories import tiny_benchmark

QUICK = ["--resamples", "100", "--workers", "1"]


@pytest.fixture
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write_benchmark(tiny_benchmark(), tmp_path / "bench")
    return tmp_path


def test_shows_the_table_and_writes_the_files(here):
    result = CliRunner().invoke(app, ["bench", "--systems", "BM25", "--systems", "QBM25(alpha=0.5)", *QUICK])
    assert result.exit_code == 0, result.output
    for text in ("4 queries (test)", "QBM25(alpha=0.5) [given]", "QBM25(alpha=0.5) [parsed]", "By comparator"):
        assert text in result.stdout
    assert "Written to" in result.stderr
    folder = here / "qbench-leaderboard" / "bench"
    data = json.loads((folder / "leaderboard.json").read_text())
    assert len(data["rows"]) == 3
    assert "--systems 'QBM25(alpha=0.5)'" in data["command"]
    scores = pl.read_parquet(folder / "scores.parquet")
    assert scores.height == 3 * 4 * 5


def test_options_reach_the_leaderboard(here):
    words = ["bench", "--systems", "QBM25", "--conditions", "given", "--split", "train", "-o", "out", "--no-buckets"]
    words += ["--measures", "RR@10", "--measures", "P@1", "--depth", "3", "--seed", "4", "--tests-by", "query"]
    result = CliRunner().invoke(app, [*words, "--document-quantities", "stored", *QUICK])
    assert result.exit_code == 0, result.output
    assert "By comparator" not in result.stdout
    assert "tests by query" in result.stdout
    data = json.loads((here / "out" / "leaderboard.json").read_text())
    assert data["tests"]["by"] == "query"
    assert data["measures"] == ["RR@10", "P@1"]
    assert [row["label"] for row in data["rows"]] == ["QBM25 [given]"]
    assert data["benchmark"]["split"] == "train"
    assert data["settings"]["depth"] == 3
    assert data["settings"]["document_quantities"] == "stored in the benchmark (gold)"
    assert data["tests"]["seed"] == 4


def test_a_failed_row_is_shown_and_the_exit_code_is_one(here):
    result = CliRunner().invoke(app, ["bench", "--systems", "BM25", "--systems", "Run(path=nope.run)", *QUICK])
    assert result.exit_code == 1
    assert "nope.run: no such run file" in result.stdout
    assert "1 of 2 rows have no run" in result.stderr
    assert (here / "qbench-leaderboard" / "bench" / "leaderboard.md").is_file()


def test_a_benchmark_that_was_made_anew_gets_a_board_of_its_own(here):
    words = ["bench", "--systems", "BM25", *QUICK]
    assert CliRunner().invoke(app, words).exit_code == 0
    write_benchmark(replace(tiny_benchmark(), digest="another"), here / "bench", overwrite=True)
    for _ in range(2):
        result = CliRunner().invoke(app, words)
        assert result.exit_code == 0, result.output
        assert "qbench-leaderboard/bench holds the board of another benchmark of this name" in result.stderr
        assert "Written to qbench-leaderboard/bench-2" in result.stderr
    home = here / "qbench-leaderboard"
    boards = [json.loads((home / name / "leaderboard.json").read_text()) for name in ("bench", "bench-2")]
    assert boards[0]["benchmark"]["digest"] != boards[1]["benchmark"]["digest"] == "another"
    named = CliRunner().invoke(app, [*words, "-o", "qbench-leaderboard/bench"])
    assert named.exit_code == 1
    assert "begin a new board with --only" in str(named.exception)


def test_without_an_argument_the_embedded_benchmark_runs(here, monkeypatch):
    asked = []

    def embedded_benchmark(folder, progress):
        asked.append(str(folder))
        write_benchmark(tiny_benchmark(), folder / "benchmark")
        return folder / "benchmark"

    monkeypatch.setattr("qbench.synth.embedded.embedded_benchmark", embedded_benchmark)
    result = CliRunner().invoke(app, ["--systems", "BM25", *QUICK])
    assert result.exit_code == 0, result.output
    assert asked == ["qbench-leaderboard/embedded"]
    assert (here / "qbench-leaderboard" / "embedded" / "leaderboard.md").is_file()


def test_help_says_the_defaults():
    result = CliRunner().invoke(app, ["--help"], terminal_width=300)
    text = " ".join(result.stdout.split())
    systems = "BM25, BM25_filter, QBM25, BindBM25"
    for part in ("nDCG@10, P@10, RR@10, R@100, AP", systems, "qbench-leaderboard/NAME", "Example:"):
        assert part in text


def test_a_page_is_written_beside_the_tables(here):
    words = [
        "bench",
        "--systems",
        "BM25",
        "--systems",
        "Run(path=nope.run)",
        "--html",
        "pages/leaderboard.html",
        *QUICK,
    ]
    result = CliRunner().invoke(app, words)
    assert result.exit_code == 1
    assert "The page: pages/leaderboard.html" in result.stderr
    page = (here / "pages" / "leaderboard.html").read_text(encoding="utf-8")
    assert "no such run file" in page
    assert 'id="block-documents"' in page
    assert str(here) not in page
    # Kept runs give the same page, costs included.
    CliRunner().invoke(app, words)
    assert (here / "pages" / "leaderboard.html").read_text(encoding="utf-8") == page


def test_a_page_that_cannot_be_written_is_refused_before_anything_runs(here):
    result = CliRunner().invoke(app, ["bench", "--html", ".", *QUICK])
    assert "the page is a folder" in str(result.exception)
    assert not (here / "qbench-leaderboard").exists()
