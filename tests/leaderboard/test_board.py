"""Boards that grow call by call, labels of their rows, and that no path of the machine is on them."""

from __future__ import annotations

import json
import shutil
from dataclasses import replace

import polars as pl
import pytest
from typer.testing import CliRunner

from qbench.benchmark.disk import open_benchmark, write_benchmark
from qbench.benchmark.trec import write_run
from qbench.cli.leaderboard import app
from qbench.errors import InputError, OptionError, is_path, without_paths
from qbench.leaderboard.run import run_leaderboard
from qbench.leaderboard.views import labelled, line_up, shown_name, with_models
from qbench.retrieval.grammar import parse_system
from qbench.retrieval.systems import shown_systems
from qbench.retrieval.types import run_schema
from tests.encoder_factories import WORDS, tiny_bert
from tests.factories import tiny_benchmark

QUICK = {"resamples": 100, "measures": ("nDCG@10", "AP"), "workers": 1, "settings": ("parsed",)}


@pytest.fixture
def home(tmp_path, monkeypatch):
    folder = tmp_path / "secret-home"
    folder.mkdir()
    monkeypatch.chdir(folder)
    write_benchmark(tiny_benchmark(), folder / "bench")
    return folder


def rows(board) -> dict[str, float]:
    return {row.entry.label: row.cells["nDCG@10"].mean for row in board.rows if row.cells}


def add(*systems: str, **options):
    return run_leaderboard("bench", list(systems) or None, output="board", **{"add": True, **QUICK, **options})


def test_another_call_adds_rows_and_tests_all_pairs(home):
    first = add("BM25", "QBM25")
    second = add("Mine=BM25_filter", "QBM25(alpha=2)", command="qbench second")
    assert set(rows(second)) == {"BM25", "QBM25 [parsed]", "Mine [parsed]", "QBM25(alpha=2) [parsed]"}
    assert rows(first).items() <= rows(second).items()
    assert second.pairs.filter(measure="AP").height == 6
    together = run_leaderboard(
        "bench", ["BM25", "QBM25", "Mine=BM25_filter", "QBM25(alpha=2)"], output="fresh", **QUICK
    )
    assert together.scores.sort(pl.all()).equals(second.scores.sort(pl.all()))


def test_the_board_is_shown_again_without_systems_and_begins_anew_without_add(home):
    made = add("BM25", "A=QBM25")
    shown = add(measures=("P@10", "nDCG@10"))
    assert rows(shown) == rows(made)
    assert shown.measures == ("P@10", "nDCG@10")
    assert set(rows(add("BM25_filter", add=False))) == {"BM25_filter [parsed]"}


def test_the_commands_make_the_board_again_in_their_order(home):
    add("BM25", command="qbench leaderboard bench")
    add("QBM25", command="qbench leaderboard bench --systems QBM25")
    shown = add(command="qbench leaderboard bench")
    assert shown.about["command"] == "qbench leaderboard bench && qbench leaderboard bench --systems QBM25"
    assert add("BM25", add=False, command="qbench again").about["command"] == "qbench again"


def test_rows_stay_when_the_model_has_moved_and_leave_with_a_note_when_the_run_is_gone(home):
    tiny_bert(home / "models" / "mini", WORDS)
    made = add("BM25", "SBERT(model=models/mini)")
    shutil.rmtree(home / "models")
    assert rows(add("QBM25")).items() >= rows(made).items()
    run = next(
        row["run"]
        for row in json.loads((home / "board/leaderboard.json").read_text())["rows"]
        if row["label"] == "BM25"
    )
    shutil.rmtree(home / "board/runs" / run)
    left = add()
    assert "BM25" not in rows(left)
    assert any(note.startswith("BM25: its run is no longer there") for note in left.notes)


def test_a_name_or_a_run_stands_once(home):
    add("BM25", "X=QBM25")
    relabelled = add("Y=QBM25")
    assert set(rows(relabelled)) == {"BM25", "Y [parsed]"}
    other = add("Y=QBM25(alpha=3)")
    assert set(rows(other)) == {"BM25", "Y [parsed]"}
    assert any("takes the place of an earlier row" in note for note in other.notes)
    assert json.loads((home / "board/leaderboard.json").read_text())["rows"][0]["system"] == "QBM25(alpha=3)"


def test_failed_rows_do_not_stay(home):
    board = add("BM25", "Run(path=none.trec)")
    assert len(board.problems) == 1
    assert not add("QBM25").problems


@pytest.mark.parametrize("options", [{"split": "train"}, {"depth": 7}, {"document_quantities": "extracted"}])
def test_other_options_are_refused(home, options):
    add("BM25", document_quantities="stored")
    named = next(iter(options)).replace("_", " ")
    with pytest.raises(OptionError, match=f"made with another {named}.*--only"):
        add("QBM25", **{"document_quantities": "stored", **options})
    assert add("QBM25", add=False, **options)


def test_another_benchmark_is_refused_before_anything_runs(home):
    add("BM25")
    write_benchmark(replace(open_benchmark(home / "bench"), digest="0123456789abcdef"), home / "bench2")
    before = sorted(path.name for path in (home / "board/runs").iterdir())
    with pytest.raises(OptionError, match=r"another benchmark.*bench2 \(0123456789abcdef\).* -o.*--only"):
        run_leaderboard("bench2", ["QBM25"], output="board", add=True, **QUICK)
    assert sorted(path.name for path in (home / "board/runs").iterdir()) == before


@pytest.mark.parametrize("text", ["[]", "{}", '{"rows": [{}]}', '{"rows": [1]}', "{"])
def test_a_damaged_board_is_one_error(home, text):
    add("BM25")
    (home / "board/leaderboard.json").write_text(text)
    with pytest.raises(InputError, match=r"leaderboard\.json"):
        add("QBM25")


def test_a_run_of_a_strangers_board_is_not_read_outside_of_the_folder(home):
    add("BM25")
    file = home / "board/leaderboard.json"
    data = json.loads(file.read_text())
    data["rows"][0]["run"] = "../../board/runs/" + data["rows"][0]["run"]
    file.write_text(json.dumps(data))
    assert "BM25" not in rows(add("QBM25"))


def test_no_path_is_on_a_board_or_beside_it(home):
    tiny_bert(home / "models" / "mini", WORDS)
    tiny_bert(home / "others" / "mini", WORDS)
    run = pl.DataFrame([("q1", "d01", 1, 1.0)], schema=run_schema(), orient="row")
    write_run(run, home / "given.trec", "given")
    systems = [f"SBERT(model={home}/models/mini)", f"BM25 + SBERT(model={home}/others/mini, k=5)"]
    systems += [f"QRun(path={home}/given.trec)", f"Lost=Run(path={home}/lost.trec)", "Mini=SBERT(model=./others/mini)"]
    words = ["bench", "-o", "board", "--html", "board/page.html", "--resamples", "100", "--workers", "1"]
    result = CliRunner().invoke(app, [*words, *[word for system in systems for word in ("--systems", system)]])
    assert result.exit_code == 1, result.output  # one row has no run
    data = json.loads((home / "board/leaderboard.json").read_text())
    assert {row["label"] for row in data["rows"]} == {
        "SBERT(model=mini)",
        "BM25 + SBERT(model=mini, k=5)",
        "QRun(path=given.trec) [given]",
        "QRun(path=given.trec) [parsed]",
        "Lost",
        "Mini",
    }
    assert "lost.trec: no such run file" in next(row["problem"] for row in data["rows"] if row["label"] == "Lost")
    assert "'Mini=SBERT(model=mini)'" in data["command"]
    files = [path for path in (home / "board").rglob("*") if path.is_file() and path.name != "page.html"]
    texts = {path: path.read_text() for path in files if path.suffix in (".md", ".tex", ".json")}
    texts |= {path: str(pl.read_parquet(path).rows()) for path in files if path.suffix == ".parquet"}
    texts[home / "board/page.html"] = (home / "board/page.html").read_text()
    assert len([path for path in texts if path.name == "manifest.json"]) >= 5
    for path, text in {**texts, home / "screen": result.stdout}.items():
        assert "secret-home" not in text, path
        assert "others/mini" not in text, path


def test_names_that_would_be_alike_have_more_of_their_paths():
    systems = [parse_system(f"SBERT(model={path})") for path in ("/x/a/m", "/x/b/m", "/y/b/n")]
    assert list(shown_systems(systems).values()) == ["SBERT(model=a/m)", "SBERT(model=b/m)", "SBERT(model=n)"]
    far = [parse_system(f"SBERT(model=/{letter}/1/2/3/4/m)") for letter in "ab"]
    assert list(shown_systems(far).values()) == ["SBERT(model=m) (1)", "SBERT(model=m) (2)"]


def test_hub_names_and_numbers_stay():
    name = "SBERT(model=sentence-transformers/all-MiniLM-L6-v2) + BM25(k=5)-I(alpha=0.25)".replace("SBERT", "SBERT")
    assert parse_system(name).shown() == name
    assert parse_system('Run(path="/tmp/my runs/a.trec")').shown() == "Run(path=a.trec)"


@pytest.mark.parametrize(
    ("text", "label", "system"),
    [
        ("BM25", None, "BM25"),
        ("QBM25(alpha=0.5)", None, "QBM25(alpha=0.5)"),
        ("Mini LM=SBERT(model=m)", "Mini LM", "SBERT(model=m)"),
        ("k=5 = BM25", "k", "5 = BM25"),
        ("Ours [2] = C_q-BM25", "Ours [2]", "C_q-BM25"),
        ('Run(path="a=b")', None, 'Run(path="a=b")'),
        ("=BM25", None, "=BM25"),
    ],
)
def test_labels_are_told_from_parameters(text, label, system):
    assert labelled(text) == (label, system)


def test_labels_go_through_models_and_records(home):
    assert with_models("A=SBERT", {"SBERT": "x"}) == "A=SBERT(model=x)"
    assert shown_name("A=C_q-SBERT(model=/a/b)") == "A=C_q-SBERT(model=b)"
    assert shown_name("no such system") == "no such system"
    with pytest.raises(OptionError, match="two systems of one label"):
        line_up("bench", ["A=BM25", "A=QBM25"], None)


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("/a/b/c.json:3: bad", "c.json:3: bad"),
        ("folder '/a/b/d' is bad", "folder 'd' is bad"),
        ("24/7 and km/h and a/b stay", "24/7 and km/h and a/b stay"),
        ("https://a.org/b/c stays", "https://a.org/b/c stays"),
        ("~/models/x is gone", "x is gone"),
    ],
)
def test_paths_in_sentences(text, shown):
    assert without_paths(text) == shown
    assert without_paths("/a/b c/d: gone", ["/a/b c/d"]) == "d: gone"


def test_what_is_a_path(home):
    assert all(map(is_path, ("/x", "~/x", "./x", "../x", "bench")))
    assert not any(map(is_path, ("org/model", "mean", "a" * 5000, "nul\0")))
