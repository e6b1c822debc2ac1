"""`qbench leaderboard` with systems that ask a server: recording, replay, budget, prices, dry run."""

from __future__ import annotations

import pytest
from typer.testing import CliRunner

from qbench.benchmark.disk import write_benchmark
from qbench.cli.leaderboard import app
from qbench.errors import InputError, OptionError
from tests.api_server import KEY, ApiServer, failing
from tests.factories import tiny_benchmark

QUICK = ["--resamples", "100", "--workers", "1", "--conditions", "given"]
BENCHMARK = tiny_benchmark()
TEXTS = BENCHMARK.corpus.height + len(BENCHMARK.queries_of("test")) + 1


@pytest.fixture
def web(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write_benchmark(BENCHMARK, tmp_path / "bench")
    monkeypatch.setenv("no_proxy", "127.0.0.1")
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    with ApiServer() as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.url)
        yield server


def run(*words):
    return CliRunner().invoke(app, ["bench", "--systems", "OpenAI", *words, *QUICK])


def test_a_leaderboard_asks_once_and_is_replayed_without_a_key(web, tmp_path, monkeypatch):
    first = run("--recording", "shipped.sqlite")
    assert first.exit_code == 0, first.output
    assert "OpenAI" in first.stdout
    assert "Asked of servers: 3 calls" in first.stderr
    assert "kept in shipped.sqlite" in first.stderr
    monkeypatch.delenv("OPENAI_API_KEY")
    again = run("--recording", "shipped.sqlite", "--replay", "-o", "again")
    assert again.exit_code == 0, again.output
    assert "Asked of servers" not in again.stderr
    assert len(web.seen) == 3
    one, two = (
        (folder / "scores.parquet").read_bytes()
        for folder in (tmp_path / "qbench-leaderboard" / "bench", tmp_path / "again")
    )
    assert one == two
    for path in tmp_path.rglob("*"):
        assert not path.is_file() or KEY.encode() not in path.read_bytes(), path
    assert KEY not in first.output + again.output


def test_a_dry_run_says_what_would_be_asked_and_asks_nobody(web, tmp_path):
    (tmp_path / "prices.toml").write_text('["text-embedding-3-small"]\ninput = 1000\n')
    result = run("--dry-run", "--prices", "prices.toml")
    assert result.exit_code == 0, result.output
    assert f"{web.url}, text-embedding-3-small, document and query: {TEXTS} texts, 0 recorded;" in result.stdout
    assert "about 3 calls, " in result.stdout
    assert " by your prices" in result.stdout
    assert not web.seen
    assert not (tmp_path / "qbench-leaderboard").exists()
    run()
    assert f"{TEXTS} texts, {TEXTS} recorded; about 0 calls, 0 tokens" in run("--dry-run").stdout
    both = CliRunner().invoke(app, ["bench", "--systems", "Cohere", "--dry-run"])
    assert "In all about 3 calls" in both.stdout
    none = CliRunner().invoke(app, ["bench", "--dry-run"])
    assert none.stdout == "Nothing would be asked of a server.\n"


def test_a_budget_stops_the_row_and_the_same_command_goes_on(web):
    words = ("--systems", "BM25", "--budget", "2 calls")
    result = run(*words)
    assert result.exit_code == 1
    assert "the budget of 2 calls is spent (2 calls, " in result.stdout
    assert "Asked of servers: 2 calls" in result.stderr
    assert "1 of 2 rows have no run" in result.stderr
    again = run(*words)
    assert again.exit_code == 0, again.output
    assert len(web.texts) == len(set(web.texts)) == TEXTS


def test_a_server_that_refuses_loses_its_row_alone(web):
    web.plan.extend([failing(401, f"wrong key {KEY}")] * 9)
    result = run("--systems", "BM25")
    assert result.exit_code == 1
    assert "HTTP 401: it refuses the key in OPENAI_API_KEY" in " ".join(result.stdout.split())
    assert "1 of 2 rows have no run" in result.stderr
    assert KEY not in result.output


@pytest.mark.parametrize(
    ("words", "error", "says"),
    [
        (["--budget", "some"], OptionError, "not a budget"),
        (["--budget", "2 money"], OptionError, "a budget of money needs prices"),
        (["--prices", "nope.toml"], InputError, r"nope\.toml: no such prices file"),
        (["--replay"], InputError, "no such recording"),
        (["--recording", "bench/manifest.json"], InputError, "this recording cannot be used"),
    ],
)
def test_options_that_make_no_sense_are_named(web, words, error, says):
    with pytest.raises(error, match=says):
        raise run(*words).exception
    assert not web.seen


def test_the_plan_of_a_experiment_says_what_would_be_asked(web, tmp_path):
    leaderboard = '[[leaderboard]]\nname = "{}"\nbench = "{{bench}}"\nsystems = {{ "BM25" = "BM25", "{}" = "{}" }}\n'
    leaderboards = [leaderboard.format("one", "E", "OpenAI"), leaderboard.format("two", "QE", "QOpenAI")]
    text = "\n".join(['title = "Two"', "[inputs]", 'bench = { help = "a benchmark" }', *leaderboards])
    (tmp_path / "two.toml").write_text(text, encoding="utf-8")
    words = ["bench", "--experiment", "two.toml", "--workers", "1", "--resamples", "100"]
    plan = CliRunner().invoke(app, [*words, "--dry-run"])
    assert plan.exit_code == 0, plan.output
    # Both leaderboards search the same texts: they are asked about once.
    assert plan.stdout.count(web.url) == 1
    assert "0 recorded; about" in plan.stdout
    assert not web.seen
    ran = CliRunner().invoke(app, words)
    assert ran.exit_code == 0, ran.output
    assert "answers.sqlite" in ran.stderr
    assert "about 0 calls, 0 tokens" in CliRunner().invoke(app, [*words, "--dry-run"]).stdout
