"""`qbench leaderboard --experiment`."""

from __future__ import annotations

from pathlib import Path

import pytest
from typer.testing import CliRunner

from qbench.benchmark.disk import write_benchmark
from qbench.cli.leaderboard import app
from qbench.errors import OptionError
from tests.encoder_factories import WORDS, regular_benchmark, tiny_bert
from tests.factories import tiny_benchmark

EXPERIMENTS = Path(__file__).parents[2] / "benchmarks" / "experiments"

EXPERIMENT = """
title = "An experiment"

[inputs]
bench = { help = "a benchmark" }

[[leaderboard]]
name = "all"
bench = "{bench}"
systems = { "BM25" = "BM25", "Q" = "QBM25" }

[[table]]
title = "Every query"
measures = ["nDCG@10"]
against = { "Q" = "BM25" }
"""


@pytest.fixture
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write_benchmark(tiny_benchmark(), tmp_path / "tiny")
    (tmp_path / "experiment.toml").write_text(EXPERIMENT, encoding="utf-8")
    return tmp_path


def ask(*words: str):
    return CliRunner().invoke(app, [*words])


def test_tables_are_shown_and_written(here):
    result = ask("tiny", "--experiment", "experiment.toml", "--resamples", "100", "--workers", "1")
    assert result.exit_code == 0, result.output
    assert "Every query" in result.stdout
    assert "leaderboard all:" in result.stderr
    assert (here / "qbench-experiments" / "experiment-tiny" / "experiment.md").is_file()
    again = ask("--suite", "experiment.toml", "--with", "bench=tiny", "-o", "elsewhere", "--resamples", "100")
    assert again.exit_code == 0, again.output
    assert again.stdout == result.stdout


def test_a_plan_runs_nothing(here):
    result = ask("tiny", "--experiment", "experiment.toml", "--dry-run")
    plan = "leaderboard all, on tiny: BM25, Q\nNothing would be asked of a server.\n"
    assert (result.exit_code, result.stdout) == (0, plan)
    assert not (here / "qbench-experiments").exists()


@pytest.mark.parametrize("words", [("--systems", "BM25"), ("--depth", "5"), ("--no-buckets",), ("--split", "dev")])
def test_what_the_file_says_is_no_option(here, words):
    result = ask("tiny", "--experiment", "experiment.toml", *words)
    assert isinstance(result.exception, OptionError)
    assert "an experiment's own file says this" in str(result.exception)


def test_inputs_need_a_experiment(here):
    result = ask("tiny", "--with", "bench=tiny")
    assert isinstance(result.exception, OptionError)
    assert "--with" in str(result.exception)


@pytest.mark.parametrize("text", ["bench", "=tiny", "bench="])
def test_an_input_is_a_name_and_a_value(here, text):
    result = ask("--experiment", "experiment.toml", "--with", text)
    assert isinstance(result.exception, OptionError)
    assert "NAME=VALUE" in str(result.exception)


def test_a_row_without_a_run_is_an_exit_status(here):
    lost = EXPERIMENT.replace('"Q" = "QBM25" }', '"Q" = "QBM25", "lost" = "Run(path=nowhere.trec)" }')
    (here / "experiment.toml").write_text(lost, encoding="utf-8")
    result = ask("tiny", "--experiment", "experiment.toml", "--resamples", "100", "--workers", "1")
    assert result.exit_code == 1
    assert "Rows without a run: 1" in result.stderr


def test_the_papers_main_table_end_to_end(here):
    write_benchmark(regular_benchmark(), here / "regular")
    tiny_bert(here / "base", WORDS, positions=64)
    words = ["regular", "--experiment", str(EXPERIMENTS / "main.toml"), "--with", "model=base", "--with", "epochs=1"]
    result = ask(*words, "--with", "pairs=24", "--with", "batch=12", "-o", "out", "--resamples", "100")
    assert result.exit_code == 0, result.output + result.stderr
    for text in ("QColBERT_ft", "TCT-ColBERT", "By comparator"):
        assert text in result.stdout
    assert (here / "out" / "main-regular" / "all" / "leaderboard.json").is_file()


def test_every_leaderboard_gets_a_page(here):
    result = ask(
        "tiny", "--experiment", "experiment.toml", "--html", "leaderboard.html", "--resamples", "100", "--workers", "1"
    )
    assert result.exit_code == 0, result.output
    page = here / "qbench-experiments" / "experiment-tiny" / "all" / "leaderboard.html"
    assert 'id="block-documents"' in page.read_text(encoding="utf-8")


@pytest.mark.parametrize("name", ["pages/leaderboard.html", "/tmp/leaderboard.html", "leaderboard.json", "leaderboard"])
def test_the_page_of_a_experiment_is_a_name(here, name):
    result = ask("tiny", "--experiment", "experiment.toml", "--html", name, "--resamples", "100")
    assert isinstance(result.exception, OptionError)
    assert "without a folder" in str(result.exception)
    assert not (here / "qbench-experiments").exists()
