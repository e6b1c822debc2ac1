"""`qbench annotate` and `qbench benchmark relax` on the command line: from a benchmark to a judged leaderboard."""

from __future__ import annotations

import json

import pytest
from typer.testing import CliRunner

from qbench.benchmark.disk import open_benchmark, write_benchmark
from qbench.cli.annotate import app
from qbench.cli.benchmark import app as benchmark_app
from qbench.cli.leaderboard import app as leaderboard
from qbench.cli.main import VERBS
from qbench.errors import InputError, OptionError
from qbench.store import read_manifest
from tests.annotation.conftest import GRADES, fill
from tests.factories import tiny_benchmark

QUICK = ["--resamples", "200", "--workers", "1", "--no-buckets", "--conditions", "given"]


@pytest.fixture
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write_benchmark(tiny_benchmark(), tmp_path / "bench")
    return tmp_path


def call(app, *words):
    result = CliRunner().invoke(app, [str(word) for word in words])
    assert result.exit_code == 0, (result.output, result.exception)
    return result


def test_from_a_benchmark_to_a_judged_leaderboard(here):
    from qbench.annotation.sheet import open_sheet

    call(leaderboard, "bench", "-o", "board", *QUICK, "--systems", "BM25", "--systems", "QBM25")
    result = call(app, "export", "bench", "-o", "sheet", "--runs", "board", "--depth", 2, "--queries", 3)
    assert "queries: 3" in result.stdout
    assert "BM25 test: " in result.stdout
    assert "qbench annotate import bench sheet ANSWERS... -o JUDGED" in result.stderr
    sheet = open_sheet(here / "sheet")
    fill(sheet, here / "anna.csv", delimiter=";")
    relevant = next((i.query_id, i.doc_id) for i in sheet.items)
    fill(sheet, here / "ben.csv", {relevant: 0 if relevant in GRADES else 2})

    result = CliRunner().invoke(app, ["import", "bench", "sheet", "anna.csv", "ben.csv", "-o", "judged"])
    assert isinstance(result.exception, InputError)
    assert "Cohen's kappa of anna and ben" in str(result.exception)
    result = call(app, "import", "bench", "sheet", "anna.csv", "ben.csv", "-o", "judged", "--resolve", "highest")
    assert "anna and ben" in result.stdout
    assert "kappa: " in result.stdout
    assert "judged: 3 queries, " in result.stdout
    assert "Graded differently: judged.disagreements-" in result.stderr
    made_by = [read_manifest(here / name).params["command"] for name in ("sheet", "judged")]
    assert made_by == [
        "qbench annotate export BENCH -o SHEET --queries 3 --depth 2 --runs board",
        "qbench annotate import BENCH SHEET ANSWERS... -o JUDGED --resolve highest",
    ]

    result = call(leaderboard, "judged", "-o", "out", *QUICK)
    assert "Judged@10" in result.stdout
    assert "not judged; they count as not relevant" in result.stdout
    rows = json.loads((here / "out" / "leaderboard.json").read_text())["rows"]
    assert {row["label"] for row in rows} == {"BM25", "BM25_filter [given]", "QBM25 [given]", "BindBM25 [given]"}


def test_bad_answers_are_skipped_and_told(here):
    from qbench.annotation.sheet import open_sheet

    call(app, "export", "bench", "-o", "sheet", "--query", "q4", "--query", "q5", "--scale", "binary")
    path = fill(open_sheet(here / "sheet"), here / "anna.csv", {("q4", "d03"): 5, ("q5", "d09"): 1})
    result = CliRunner().invoke(app, ["import", "bench", "sheet", str(path), "-o", "judged"])
    assert isinstance(result.exception, InputError)
    result = call(app, "import", "bench", "sheet", path, "-o", "judged", "--on-error", "skip")
    assert "not a grade: 1" in result.stdout
    assert "anna.csv:" in result.stderr


def test_a_cut_sheet_of_one_annotator_says_how_much_is_missing(here):
    from qbench.annotation.sheet import open_sheet

    call(app, "export", "bench", "-o", "sheet", "--split", "train")
    path = fill(open_sheet(here / "sheet"), here / "anna.csv", {("q1", "d01"): 2, ("q2", "d04"): 2})
    lines = path.read_text(encoding="utf-8").splitlines()[:-1]  # the last one is empty cells
    path.write_text("\n".join(lines[:-1]) + "\n", encoding="utf-8")
    result = call(app, "import", "bench", "sheet", path, "-o", "judged")
    assert "agreement" not in result.stdout, "there is nobody to agree with"
    assert "items: 3\nitems without a judgment: 1\n" in result.stdout
    assert "rows missing: 1" in result.stdout
    assert "1 of 3 items have no judgment" in result.stderr
    counts = open_benchmark(here / "judged").params["counts"]
    assert (counts["items"], counts["items_without_a_judgment"]) == (3, 1)


def test_relax_and_back(here):
    result = call(benchmark_app, "relax", "bench", "-o", "relaxed", "--tolerance", "0.9")
    assert "judgments added: 1" in result.stdout
    assert open_benchmark(here / "relaxed").qrels.filter(query_id="q2").rows() == [("q2", "d04", 4), ("q2", "d02", 1)]
    call(benchmark_app, "relax", "relaxed", "--undo", "-o", "back")
    assert open_benchmark(here / "back").qrels.equals(open_benchmark(here / "bench").qrels)
    (here / "t.toml").write_text("[family]\ncurrency = 0\n")
    result = call(benchmark_app, "relax", "bench", "-o", "other", "--tolerances", "t.toml")
    assert "queries with a tolerance: 0" in result.stdout
    result = CliRunner().invoke(benchmark_app, ["relax", "relaxed", "--undo", "--tolerance", "0.1", "-o", "x"])
    assert isinstance(result.exception, OptionError)


def test_the_verb_is_listed_and_helps():
    assert "annotate" in VERBS
    text = CliRunner().invoke(app, ["export", "--help"], terminal_width=200).stdout
    assert "binary|graded" in text
    assert "fail|first|lowest|highest" in CliRunner().invoke(app, ["import", "--help"], terminal_width=200).stdout
