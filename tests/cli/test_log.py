"""The log of commands: what is in it, what is not, and that it harms nothing."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import pytest
from typer.testing import CliRunner

from qbench.cli.log import add_entry, app, log_file


@pytest.fixture
def file(tmp_path, monkeypatch):
    monkeypatch.setenv("QBENCH_LOG", str(tmp_path / "state" / "log.jsonl"))
    return tmp_path / "state" / "log.jsonl"


def commands(file) -> list[str]:
    return [json.loads(line)["command"] for line in file.read_text().splitlines()] if file.exists() else []


def test_commands_are_added_without_paths(file, tmp_path):
    add_entry(["leaderboard", f"{tmp_path}/bench", "--systems", f"SBERT(model={tmp_path}/mini)"], 1.234, 0)
    add_entry(["evaluate", "q.txt", f"--with={tmp_path}/x y/model", "a" * 999], 2, 1)
    assert commands(file)[0] == "qbench leaderboard bench --systems 'SBERT(model=mini)'"
    assert commands(file)[1].startswith("qbench evaluate q.txt --with=model aaa")
    assert len(commands(file)[1]) < 300
    assert str(tmp_path) not in file.read_text()
    shown = CliRunner().invoke(app, ["--last", "1"])
    assert shown.stdout.splitlines()[0].split() == ["time", "seconds", "exit", "command"]
    assert shown.stdout.splitlines()[1].split()[1:4] == ["2.0", "1", "qbench"]
    assert len(json.loads(CliRunner().invoke(app, ["--format", "json"]).stdout)) == 2


def test_what_is_secret_is_not_kept(file, monkeypatch):
    monkeypatch.setenv("CO_API_KEY", "a-key-from-the-shell")
    add_entry(["serve-index", "news", "--server", "postgresql://me:hush/hush@db.org:5432/x"], 0, 1)
    add_entry(["serve-index", "news", "--server=host=db password='hush hush' user=me"], 0, 1)
    add_entry(["leaderboard", "b", "--systems", "BM25 + LLM-itemwise(base_url=https://me:hush@h.org/v1)"], 0, 1)
    add_entry(["publish", "b", "--token", "hush", "--systems", "a-key-from-the-shell", "hf_" + "x" * 34], 0, 1)
    assert "hush" not in file.read_text()
    assert commands(file) == [
        "qbench serve-index news --server 'postgresql://me:[secret]@db.org:5432/x'",
        "qbench serve-index news '--server=host=db password=[secret] user=me'",
        "qbench leaderboard b --systems 'BM25 + LLM-itemwise(base_url=https://me:[secret]@h.org/v1)'",
        "qbench publish b --token '[secret]' --systems '[secret]' '[secret]'",
    ]


@pytest.mark.parametrize("words", [[], ["log"], ["--version"], ["systems", "--help"], ["-h"]])
def test_questions_are_not_logged(file, words):
    add_entry(words, 0, 0)
    assert not file.exists()


def test_it_can_be_switched_off(monkeypatch, tmp_path):
    for value in ("off", "OFF", ""):
        monkeypatch.setenv("QBENCH_LOG", value)
        assert log_file() is None
        add_entry(["systems"], 0, 0)
    assert "switched off" in CliRunner().invoke(app, []).stderr
    monkeypatch.delenv("QBENCH_LOG")
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    assert log_file() == tmp_path / "qbench" / "log.jsonl"


def test_a_log_that_cannot_be_written_or_read_is_no_error(file):
    file.parent.write_text("a file, where a folder should be")
    add_entry(["systems"], 0, 0)
    assert "no command has run" in CliRunner().invoke(app, []).stderr


def test_damaged_lines_are_left_out(file):
    add_entry(["systems"], 0, 0)
    with file.open("a") as stream:
        stream.write('{"time": 3}\n[1]\nno json\n' + "[" * 100_000 + "\n")
    assert len(CliRunner().invoke(app, []).stdout.splitlines()) == 2


def test_what_ran_and_how_it_ended(file):
    for words in (["systems", "BM25"], ["systems", "BM52"]):
        subprocess.run([sys.executable, "-m", "qbench", *words], env={**os.environ}, capture_output=True, check=False)
    assert [json.loads(line)["exit"] for line in file.read_text().splitlines()] == [0, 1]
