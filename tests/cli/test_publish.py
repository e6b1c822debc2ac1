"""`qbench publish` and `qbench pull` on the command line, as processes, against the double of the hub."""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner

from qbench.benchmark.disk import write_benchmark
from qbench.cli.leaderboard import app as leaderboard
from qbench.cli.publish import app as publish
from qbench.errors import OptionError
from tests.factories import tiny_benchmark
from tests.hub_server import TOKEN, HubServer

ROOT = Path(__file__).parents[2]


@pytest.fixture
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write_benchmark(tiny_benchmark(), tmp_path / "bench")
    return tmp_path


def environment(server, home, **more):
    kept = {name: value for name, value in os.environ.items() if not name.startswith("HF_")}
    hub = {"HF_ENDPOINT": server.url, "HF_HOME": str(home), "HF_HUB_DISABLE_XET": "1", "HF_HUB_DISABLE_TELEMETRY": "1"}
    return {**kept, **hub, "PYTHONPATH": str(ROOT), **more}


def run(words, env):
    return subprocess.run(
        [sys.executable, *map(str, words)], env=env, capture_output=True, text=True, timeout=300, check=False
    )


def figures(bench):
    words = [bench, "--systems", "BM25", "--systems", "QBM25", "-o", f"{bench}-board", "--resamples", "100"]
    result = CliRunner().invoke(leaderboard, [*words, "--workers", "1"])
    assert result.exit_code == 0, result.output
    rows = json.loads(Path(f"{bench}-board", "leaderboard.json").read_text())["rows"]
    return [(row["label"], row["number"], row["measures"]) for row in rows]


def test_killed_resumed_pulled_back_and_scored(here):
    with HubServer() as server:
        env = environment(server, here / "home", HF_TOKEN=TOKEN)
        words = ["-m", "qbench", "publish", "bench", "--repo-id", "me/tiny", "--licence", "mit", "--revision", "v1"]
        process = subprocess.Popen(
            [sys.executable, *words], env=env, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )

        def second(exchange):
            """The process dies while its third large file is on the way."""
            if len(server.sent) == 2:
                process.send_signal(signal.SIGKILL)
                process.wait()
                exchange.hang_up()
                return True
            server.faults.append(("PUT", "/lfs/", second))
            return False

        server.faults.append(("PUT", "/lfs/", second))
        assert process.wait(300) == -signal.SIGKILL
        before = set(server.sent)
        assert list(server.files("me/tiny")) == [".gitattributes"]
        done = run(words, env)
        assert done.returncode == 0, done.stderr
        assert "tag v1, public, digests equal" in done.stdout
        assert TOKEN not in done.stdout + done.stderr
        assert all(server.sent[name] == 1 for name in before)
        pulled = run(["-m", "qbench", "pull", "me/tiny", "-o", "back", "--revision", "v1"], env)
        assert pulled.returncode == 0, pulled.stderr
        code = (
            "from datasets import load_dataset\n"
            'print(load_dataset("me/tiny", "qrels", split="test", revision="v1")[0])\n'
            'print(load_dataset("me/tiny", "triples")["train"].column_names)\n'
        )
        loaded = run(["-c", code], env)
        assert loaded.stdout.splitlines() == [
            "{'query-id': 'q4', 'corpus-id': 'd03', 'score': 2}",
            "['anchor', 'positive', 'negative']",
        ], loaded.stderr
        assert not server.crashes
    assert figures("back") == figures("bench")


def test_no_token_and_no_licence(here):
    with HubServer() as server:
        env = environment(server, here / "home")
        words = ["-m", "qbench", "publish", "bench", "--repo-id", "me/tiny"]
        result = run(words, env)
        assert result.returncode == 1
        assert "publishing needs a token of the hub" in result.stderr
        assert not server.seen
    result = CliRunner().invoke(publish, ["bench", "--repo-id", "me/tiny", "--dry-run"])
    assert isinstance(result.exception, OptionError)
    assert "nobody stated one" in str(result.exception)


def test_a_dry_run_says_what_would_be_sent(here):
    result = CliRunner().invoke(publish, ["bench", "--repo-id", "me/tiny", "--dry-run", "--licence", "cc0-1.0"])
    assert result.exit_code == 0, result.output
    assert "qrels          train 4, dev 2, test 5" in result.stdout
    assert "licence cc0-1.0" in result.stdout
    assert "Nothing was sent" in result.stderr
    assert (here / "qbench-publish" / "bench" / "README.md").is_file()


@pytest.mark.parametrize("words", [["--without-text"], ["--source", "c.jsonl"]])
def test_a_source_belongs_to_withheld_texts(here, words):
    result = CliRunner().invoke(publish, ["bench", "--repo-id", "me/tiny", "--dry-run", *words])
    assert "belong together" in str(result.exception)
