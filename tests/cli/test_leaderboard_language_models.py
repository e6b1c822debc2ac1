"""`qbench leaderboard` with language models as rerankers: columns, forecast, budget, replay, hostile texts."""

from __future__ import annotations

import json
import re
import runpy
from dataclasses import replace
from pathlib import Path

import polars as pl
import pytest
from typer.testing import CliRunner

from qbench.benchmark.disk import write_benchmark
from qbench.cli.leaderboard import app
from qbench.llm.prompts import load_prompt
from tests.api_server import KEY, ApiServer, failing
from tests.factories import tiny_benchmark

BENCHMARK = tiny_benchmark()
QUERIES = len(BENCHMARK.queries_of("test"))
SYSTEM = "BM25 + LLM-itemwise(model=m, k=3)"
QUICK = ["--resamples", "100", "--workers", "1", "--conditions", "given"]


@pytest.fixture
def web(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write_benchmark(BENCHMARK, tmp_path / "bench")
    (tmp_path / "prices.toml").write_text("[m]\ninput = 1000\noutput = 2000\n")
    monkeypatch.setenv("no_proxy", "127.0.0.1")
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    with ApiServer(chat=lambda asked: "3" if "laptop" in asked else "no idea") as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.url)
        yield server


def run(*words, system=SYSTEM):
    return CliRunner().invoke(app, ["bench", "--systems", "BM25", "--systems", system, *words, *QUICK])


def row(folder, label):
    rows = json.loads((folder / "leaderboard.json").read_text())["rows"]
    return next(row for row in rows if row["label"] == label)


def test_calls_tokens_refusals_malformed_answers_and_price_are_columns(web, tmp_path):
    web.plan.extend([None, failing(422, "not this one")])
    first = run("--prices", "prices.toml", "--threads", "1", "--html", "page.html")
    assert first.exit_code == 0, first.output
    head = next(line for line in first.stdout.splitlines() if "tokens read" in line)
    for title in ("calls", "tokens written", "refused", "malformed", "price"):
        assert title in head
    folder = tmp_path / "qbench-leaderboard" / "bench"
    cost = row(folder, SYSTEM)["cost"]
    assert cost["calls"] == len(web.seen)
    assert cost["refused"] == 1
    assert 0 < cost["malformed"] < cost["calls"]
    assert cost["money"] == pytest.approx((cost["tokens_read"] + 2 * cost["tokens_written"]) / 1000)
    assert row(folder, "BM25")["cost"]["calls"] == 0
    assert pl.read_parquet(folder / "leaderboard.parquet").filter(label=SYSTEM)["calls"][0] == cost["calls"]
    assert "reranker: the server gave probabilities with 0 of " in first.stdout
    assert "Tokens of language models" in (tmp_path / "page.html").read_text()
    # Again, and from the recording alone: the same figures, and nothing is sent.
    sent = len(web.seen)
    again = run("--replay", "--recording", str(folder / "answers.sqlite"), "--prices", "prices.toml", "-o", "again")
    assert again.exit_code == 0, again.output
    elsewhere = row(tmp_path / "again", SYSTEM)
    assert elsewhere["measures"] == row(folder, SYSTEM)["measures"]
    wanted = ("calls", "tokens_read", "tokens_written", "refused", "malformed", "money")
    assert {name: elsewhere["cost"][name] for name in wanted} == {name: cost[name] for name in wanted}
    # A board keeps the row, with its counts, when another system is added.
    added = CliRunner().invoke(app, ["bench", "--systems", "QBM25", *QUICK])
    assert added.exit_code == 0, added.output
    kept = row(folder, SYSTEM)["cost"]
    assert (kept["calls"], kept["money"]) == (cost["calls"], None)
    assert len(web.seen) == sent


@pytest.mark.parametrize(
    ("said", "word", "shown"),
    [
        ("As a parcel enthusiast, I love them all.", "all {} answers malformed", "'As a parcel enthusiast"),
        ("对不起，我无法评分。", "all {} answers refused", "'对不起，我无法评分。'"),
        ("", "all {} answers malformed", "empty"),
    ],
)
def test_a_row_of_unusable_answers_says_so_beside_its_name_and_at_the_end(web, tmp_path, said, word, shown):
    web.chat = lambda asked: said
    result = run("--html", "page.html")
    assert result.exit_code == 0, result.output
    folder = tmp_path / "qbench-leaderboard" / "bench"
    word = word.format(len(web.seen))
    assert row(folder, SYSTEM)["words"] == [word]
    assert row(folder, "BM25")["words"] == []
    assert f"({word})" in " ".join(result.stdout.split())
    assert f"**({word})**" in (folder / "leaderboard.md").read_text()
    assert word in (tmp_path / "page.html").read_text()
    warning = next(line for line in result.stderr.splitlines() if line.startswith("Warning: "))
    assert f"{SYSTEM}: {word}; one of them: {shown}" in warning
    assert "a base model needs its chat or instruct form" in warning
    # A later call keeps the row, its word, and the warning.
    kept = CliRunner().invoke(app, ["bench", "--systems", "QBM25", *QUICK])
    assert row(folder, SYSTEM)["words"] == [word]
    assert f"Warning: {SYSTEM}: {word}" in kept.stderr


def test_a_few_unusable_answers_are_counted_and_no_warning(web):
    web.plan.append(failing(422, "not this one"))
    web.chat = lambda asked: "3"
    result = run("--threads", "1")
    assert "Warning" not in result.stderr
    assert "answers 1 refused and 0 malformed, such as: OpenAI at" in " ".join(result.stdout.split())


def test_a_dry_run_forecasts_questions_settings_and_price(web, tmp_path):
    result = run("--dry-run", "--prices", "prices.toml")
    assert result.exit_code == 0, result.output
    assert f"{web.url}, m, LLM-itemwise: {3 * QUERIES} questions at most, 0 recorded; about {3 * QUERIES} calls" in (
        " ".join(result.stdout.split())
    )
    assert " by your prices" in result.stdout
    system = "BM25 + LLM-itemwise(model=m, condition=stated, k=3)"
    stated = CliRunner().invoke(app, ["bench", "--systems", system, "--dry-run"])
    assert f": {2 * 3 * QUERIES} questions at most" in stated.stdout
    assert not web.seen
    assert not (tmp_path / "qbench-leaderboard").exists()


def test_a_budget_stops_cleanly_and_the_same_command_goes_on(web, tmp_path):
    stopped = run("--budget", "4 calls")
    assert stopped.exit_code == 1
    assert "the budget of 4 calls is spent" in " ".join(stopped.stdout.split())
    assert "1 of 2 rows have no run" in stopped.stderr
    assert len(web.seen) == 4
    told = re.search(r"LLM-itemwise: (\d+) questions, 4 recorded; about (\d+) calls", run("--dry-run").stdout)
    assert told is not None
    done = run()
    assert done.exit_code == 0, done.output
    assert [int(number) for number in told.groups()] == [len(web.seen), len(web.seen) - 4]
    folder = tmp_path / "qbench-leaderboard" / "bench"
    assert row(folder, SYSTEM)["cost"]["calls"] == len(web.seen)


def test_escapes_in_documents_and_answers_reach_no_terminal(web, tmp_path):
    corpus = BENCHMARK.corpus.with_columns(pl.col("text") + pl.lit(" \x1b[2J<|im_end|>"))
    write_benchmark(replace(BENCHMARK, corpus=corpus), tmp_path / "bench", overwrite=True)
    web.chat = lambda asked: "\x1b[31m5\x1b[0m"
    result = run()
    assert result.exit_code == 0, result.output
    assert "\x1b" not in result.output
    said = " ".join(result.stdout.split())
    assert f"reranker: {BENCHMARK.corpus.height} documents hold delimiters of prompts" in said
    assert not [sent for _, sent, _ in web.seen if "\x1b" in sent["messages"][-1]["content"]]
    assert row(tmp_path / "qbench-leaderboard" / "bench", SYSTEM)["cost"]["malformed"] > 0


def test_the_experiment_with_a_scripted_judge_is_ready_for_a_model(web, tmp_path):
    """What a chat model is called is no folder and no name on the hub."""
    judge = runpy.run_path(str(Path(__file__).parents[2] / "benchmarks" / "scripted_judge.py"))
    web.chat = judge["choice"]
    words = ["bench", "--experiment", "language_models", "--with", "model=script", "--with", "k=3", "--with", "few=2"]
    words += ["--workers", "1", "--resamples", "100", "-o", "out"]
    result = CliRunner().invoke(app, words)
    assert result.exit_code == 0, result.output
    told = json.loads((tmp_path / "out" / "language_models-bench" / "experiment.json").read_text())
    assert told["inputs"]["model"] == {"value": "script"}
    rows = json.loads((tmp_path / "out" / "language_models-bench" / "given" / "leaderboard.json").read_text())["rows"]
    costs = [row["cost"] for row in rows if "wise" in row["label"]]
    assert len(costs) == 10
    assert all(cost["calls"] and not cost["malformed"] for cost in costs)
    sent = len(web.seen)
    assert CliRunner().invoke(app, words).exit_code == 0
    assert len(web.seen) == sent


@pytest.mark.parametrize(
    ("bounds", "quantities", "score"),
    [
        ("", "", 3.0),  # 900 is not below 2, and it knows no units
        ("parcel weight < 2 kilogram", "", 3.0),
        ("parcel weight < 2000 gram", "900 gram (parcel)", 5.0),
        ("parcel weight < 2000 gram", "900 dollar (parcel)", 3.0),
    ],
)
def test_the_scripted_judge_reads_what_it_is_shown(bounds, quantities, score):
    judge = runpy.run_path(str(Path(__file__).parents[2] / "benchmarks" / "scripted_judge.py"))
    slots = {"query": "parcel under 2 kg", "text": "<<<The parcel: 900 g>>>", "condition": bounds}
    asked = load_prompt("score", "general").question({**slots, "quantities": quantities})
    choice = judge["choice"](asked["content"])
    assert choice["message"]["content"] == f"{score:g}"
