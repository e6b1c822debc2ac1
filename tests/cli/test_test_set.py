"""`qbench test-set` on the command line: from pairs to a judged leaderboard."""

from __future__ import annotations

import csv
import json

import pytest
from typer.testing import CliRunner

from qbench.cli.leaderboard import app as leaderboard
from qbench.cli.main import VERBS
from qbench.cli.test_set import app
from qbench.errors import InputError
from tests.mining.pairs_factory import fact_world, pairs_folder

QUICK = ["--resamples", "200", "--workers", "1"]


@pytest.fixture
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    pairs_folder(tmp_path / "pairs", *fact_world(10))
    return tmp_path


def call(app, *words):
    result = CliRunner().invoke(app, [str(word) for word in words])
    assert result.exit_code == 0, result.output
    return result


def test_from_pairs_to_a_judged_leaderboard(here):
    result = call(app, "make", "pairs", "-o", "ts", "--max-queries", 8, "--seed", 3)
    assert "ts: 8 queries; documents: 22 in C_s, 44 in C_q" in result.stdout
    assert "candidates not needed: 2" in result.stdout

    result = call(leaderboard, "ts", "--wins", "--no-buckets", *QUICK)
    assert "8 queries (test), 8 topics, 22 sentences, 44 descriptions" in result.stdout
    assert "Wins (nDCG@10)" in result.stdout
    assert "100 %*" in result.stdout
    assert "Wins" not in call(leaderboard, "ts", *QUICK).stdout

    board = here / "qbench-leaderboard" / "ts"
    result = call(app, "pool", "ts", board, "-o", "sheet.csv", "--queries", 4, "--irrelevant", 2)
    assert "rows: 12" in result.stdout
    assert "qbench test-set judge ts sheet.csv" in result.stderr
    with (here / "sheet.csv").open(encoding="utf-8-sig", newline="") as stream:
        rows = list(csv.DictReader(stream))
    for name, flipped in (("anna.csv", -1), ("ben.csv", 0)):
        with (here / name).open("w", newline="", encoding="utf-8") as stream:
            writer = csv.DictWriter(stream, rows[0])
            writer.writeheader()
            for i, row in enumerate(rows):
                writer.writerow({**row, "judgment": int((row["query_value"] == row["value"]) != (i == flipped))})

    result = CliRunner().invoke(app, ["judge", "ts", "anna.csv", "ben.csv", "-o", "judged"])
    assert isinstance(result.exception, InputError)
    assert "1 items are graded differently" in str(result.exception)
    result = call(app, "judge", "ts", "anna.csv", "ben.csv", "-o", "judged", "--resolve", "first")
    assert "annotator 1 and annotator 2" in result.stdout
    assert "judged differently: 1" in result.stdout

    result = call(leaderboard, "judged", "-o", "out", "--pool", 10, *QUICK)
    assert "not judged; they count as not relevant" in result.stdout
    data = json.loads((here / "out" / "leaderboard.json").read_text())
    assert [row["label"] for row in data["rows"]] == ["C_q-BM25", "C_s-BM25"]
    assert data["settings"]["pool"] == 10


def test_the_verb_is_listed_and_helps():
    assert "test-set" in VERBS
    text = " ".join(CliRunner().invoke(app, ["--help"], terminal_width=200).stdout.split())
    for part in ("make", "pool", "judge"):
        assert part in text
    text = CliRunner().invoke(app, ["judge", "--help"], terminal_width=200).stdout
    assert "fail|first|lowest|highest" in text
