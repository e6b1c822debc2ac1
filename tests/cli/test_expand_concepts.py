"""`qbench expand-concepts` and `qbench gen-queries --rewrite` on the command line."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from typer.testing import CliRunner

from qbench.benchmark.disk import open_benchmark
from qbench.cli import expand_concepts, gen_queries
from qbench.errors import BudgetError, InputError, OptionError
from qbench.generation.expansions import Expansions
from tests.api_server import KEY, ApiServer
from tests.generation.conftest import EXPANSIONS, sentences, write_index


def chat(asked):
    query = asked.partition("Query: ")[2].splitlines()
    if query:
        return json.dumps({"query": f"show me {query[0]}"})
    concept = asked.partition("Concept: ")[2].splitlines()[0]
    first = "".join(word[0] for word in concept.split())
    return json.dumps({"names": [f"thing called {first * 3}", "price"]})


@pytest.fixture
def web(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write_index(tmp_path / "index", sentences())
    monkeypatch.setenv("no_proxy", "127.0.0.1")
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    with ApiServer(chat=chat) as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.url)
        yield server


def run(*words, verb=expand_concepts, catch=False):
    return CliRunner().invoke(verb.app, [str(word) for word in words], catch_exceptions=catch)


def expand(*words, **options):
    return run("index", "-o", "names.tsv", *words, **options)


BENCH = ("index", "--min-sentences", 4, "--max-train", 20, "--max-dev", 5, "--max-test", 40)


def test_names_are_written_counted_and_replayed_without_a_key(web, tmp_path, monkeypatch):
    first = expand("--model", "m", "--rejected", "rejected.tsv")
    assert first.exit_code == 0
    assert first.stdout == "12 of 12 concepts have other names, 12 in all\n"
    assert "rejected: 12 less than two words" in first.stderr
    assert "Asked of servers: 12 calls" in first.stderr
    assert "kept in names.answers.sqlite" in first.stderr
    assert len((tmp_path / "rejected.tsv").read_text().splitlines()) == 13
    written = (tmp_path / "names.tsv").read_bytes()
    monkeypatch.delenv("OPENAI_API_KEY")
    there = expand("--model", "m", "--rejected", "more.tsv")
    assert "names.tsv: already made from the same input" in there.stderr
    assert "more.tsv is not written; remove names.tsv" in there.stderr
    again = run("index", "-o", "again.tsv", "--model", "m", "--recording", "names.answers.sqlite", "--replay")
    assert "Asked of servers" not in again.stderr
    assert (tmp_path / "again.tsv").read_bytes() == written
    assert len(web.seen) == 12
    for path in tmp_path.rglob("*"):
        assert not path.is_file() or KEY.encode() not in path.read_bytes(), path
    assert KEY not in first.output + again.output


def test_a_dry_run_says_what_it_would_cost_and_asks_nobody(web, tmp_path):
    (tmp_path / "prices.toml").write_text("[m]\ninput = 1000\noutput = 2000\n")
    result = expand("--model", "m", "--dry-run", "--prices", "prices.toml", "--max-tokens", "100")
    assert f"{web.url}, m: 12 concepts, 0 answers recorded; about 12 calls, " in result.stdout
    assert "at most 1,200 written, at most " in result.stdout
    assert "by your prices. Invalid answers are asked for again, up to 1 more times" in result.stdout
    assert not web.seen
    assert not list(tmp_path.glob("*.sqlite"))
    expand("--model", "m", "--max-tokens", "100")
    assert "12 answers recorded; about 0 calls" in expand("--model", "m", "--dry-run", "--max-tokens", "100").stdout


def test_a_budget_stops_and_the_same_command_goes_on(web, tmp_path):
    result = expand("--model", "m", "--budget", "5 calls", "--threads", "1", catch=True)
    assert isinstance(result.exception, BudgetError)
    assert "5 of 12 answers that are needed here are kept in names.answers.sqlite" in str(result.exception)
    assert not (tmp_path / "names.tsv").exists()
    part = run("index", "-o", "part.tsv", "--model", "m", "--recording", "names.answers.sqlite", "--replay",
               "--allow-missing")  # fmt: skip
    assert "5 of 12 concepts have other names" in part.stdout
    assert "7 concepts have no answer" in part.stderr
    assert expand("--model", "m").exit_code == 0
    assert len(web.seen) == 12


def test_a_server_that_takes_no_schema_is_told_of(web):
    web.refuses = {"json_schema", "json_object"}
    result = expand("--model", "m", "--threads", "1")
    assert "the server takes no JSON schema: 12 answers were asked for JSON in words alone" in result.stderr


def test_names_from_a_table_need_no_model(web, tmp_path):
    (tmp_path / "mine.tsv").write_text(EXPANSIONS)
    result = expand("--expander", "table", "--table", "mine.tsv")
    assert result.stdout == "11 of 12 concepts have other names, 12 in all\n"
    assert Expansions.load(tmp_path / "names.tsv").lookup("net income") == ("profit", "earnings")
    assert not web.seen


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ((), "no model is named"),
        (("--expander", "table"), "no table is named"),
        (("--model", "m", "--table", "x.tsv"), "only read with --expander table"),
        (("--model", "m", "--prompt", "law"), "no prompt to expand has this name"),
        (("--model", "m", "--prompt", "mine.toml"), "no such prompt file"),
        (("--model", "m", "--base-url", "ftp://x"), "no address of a server"),
        (("--model", "m", "--budget", "1 money"), "a budget of money needs prices"),
        (("--model", "m", "--replay"), "no such recording"),
        (("--model", "m", "-o", "index", "--overwrite"), "a folder, and a file is needed"),
        (("--model", "m", "--concepts", "none.txt"), "no such concepts file"),
        (("--model", "m", "--prices", "none.toml"), "no such prices file"),
    ],
)
def test_what_makes_no_sense_is_said(web, words, message):
    result = expand(*words, catch=True)
    assert isinstance(result.exception, OptionError | InputError)
    assert message in str(result.exception)
    assert not web.seen


def test_queries_are_rewritten_and_told_of(web, tmp_path):
    every = ("--rewrite", "--rewrite-kinds", "seen,unseen", "--model", "m")
    dry = run(*BENCH, "-o", "bench", *every, "--dry-run", verb=gen_queries)
    assert " queries, 0 answers recorded; about " in dry.stdout
    assert not web.seen
    assert not (tmp_path / "bench").exists()
    result = run(*BENCH, "-o", "bench", *every, verb=gen_queries)
    assert result.exit_code == 0
    assert f"Asked of servers: {len(web.seen)} calls" in result.stderr
    assert "kept in bench.answers.sqlite" in result.stderr
    assert f"{len(web.seen)} of {len(web.seen)} queries are rewritten; the others are unchanged" in result.stderr
    texts = [query.text for query in open_benchmark(tmp_path / "bench").queries_of("test")]
    assert sum(text.startswith("show me ") for text in texts) == len(web.seen)
    for words, message in [(("--rewrite",), "no model"), (("--model", "m"), "only used with --rewrite")]:
        wrong = run(*BENCH, "-o", "other", *words, verb=gen_queries, catch=True)
        assert message in str(wrong.exception)


def test_a_killed_run_goes_on_where_it_was(web, tmp_path, monkeypatch):
    def slow(asked):
        time.sleep(0.05)
        return chat(asked)

    web.chat = slow
    words = ["-m", "qbench", "expand-concepts", "index", "-o", "names.tsv", "--model", "m", "--threads", "1"]
    monkeypatch.setenv("PYTHONPATH", str(Path(__file__).parents[2]))
    with subprocess.Popen([sys.executable, *words]) as process:
        end = time.monotonic() + 60
        while len(web.seen) < 4 and process.poll() is None and time.monotonic() < end:
            time.sleep(0.01)
        process.send_signal(signal.SIGKILL)
    assert not (tmp_path / "names.tsv").exists()
    before = len(web.seen)
    assert 4 <= before < 12
    assert expand("--model", "m").exit_code == 0
    # At most what was on its way, or not yet written, is asked again.
    assert 12 - before <= len(web.seen) - before <= 12 - (before - 2)
