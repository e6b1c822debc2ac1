import json

import polars as pl
import pytest
from typer.testing import CliRunner

from qbench.benchmark.disk import open_benchmark, write_benchmark
from qbench.benchmark.importers import finish
from qbench.cli.benchmark import app
from qbench.errors import InputError, OptionError, UnknownNameError
from tests.benchmark_helpers import FakeExtractor
from tests.factories import tiny_benchmark
from tests.resealed import reseal


@pytest.fixture
def bench(tmp_path):
    write_benchmark(tiny_benchmark(), tmp_path / "bench")
    return tmp_path / "bench"


@pytest.fixture
def beir(tmp_path):
    folder = tmp_path / "beir"
    (folder / "qrels").mkdir(parents=True)
    (folder / "corpus.jsonl").write_text('{"_id": "d1", "text": "Acme has 5 plants."}\n', encoding="utf-8")
    (folder / "queries.jsonl").write_text('{"_id": "q1", "text": "plants"}\n', encoding="utf-8")
    (folder / "qrels" / "test.tsv").write_text("query-id\tcorpus-id\tscore\nq1\td1\t1\n", encoding="utf-8")
    return folder


def run(*words):
    result = CliRunner().invoke(app, [str(word) for word in words])
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    return result


def test_check_of_a_sound_benchmark(bench):
    result = run("check", bench)
    assert result.exit_code == 0
    assert "errors: 0, warnings: 0" in result.stdout


def test_check_finds_errors_and_fails(bench):
    path = bench / "qrels.parquet"
    pl.read_parquet(path).with_columns(grade=pl.lit(2, pl.Int16)).write_parquet(path)
    changed = run("check", bench)
    assert changed.exit_code == 1
    assert "changed-files" in changed.stdout
    reseal(bench)
    result = run("check", bench)
    assert result.exit_code == 1
    assert "label-positive" in result.stdout
    assert "changed-files" not in result.stdout
    result = run("check", bench, "--format", "json")
    assert result.exit_code == 1
    found = {finding["rule"]: finding for finding in json.loads(result.stdout)}
    assert found["label-positive"]["severity"] == "error"
    assert found["label-positive"]["count"] == 3
    assert "q5 d11" in found["label-positive"]["examples"]


def test_check_of_a_beir_folder(beir):
    result = run("check", beir)
    assert result.exit_code == 0
    assert "labels were not checked" in result.stdout


def test_import_export_and_import_again(beir, tmp_path):
    result = run("import", "beir", beir, "-o", tmp_path / "one", "--licence", "cc0-1.0")
    assert "1 documents, 1 queries" in result.stdout
    run("export", tmp_path / "one", "-o", tmp_path / "out")
    run("import", "beir", tmp_path / "out", "-o", tmp_path / "two")
    one, two = open_benchmark(tmp_path / "one"), open_benchmark(tmp_path / "two")
    assert one.corpus.equals(two.corpus)
    assert one.queries == two.queries
    assert one.params["licence"] == "cc0-1.0"
    assert one.params["command"] == "qbench benchmark import beir FOLDER -o BENCH --licence cc0-1.0"


def test_import_with_our_quantities(beir, tmp_path, monkeypatch):
    monkeypatch.setattr(finish, "get_extractor", lambda options: FakeExtractor())
    run("import", "beir", beir, "-o", tmp_path / "bench", "--quantities", "ours")
    assert open_benchmark(tmp_path / "bench").quantities["value"].to_list() == [5.0]
    # the same import again finds it finished, and extracts nothing
    monkeypatch.setattr(FakeExtractor, "extract", lambda self, text: pytest.fail("extracted again"))
    assert run("import", "beir", beir, "-o", tmp_path / "bench", "--quantities", "ours").exit_code == 0


def test_import_passes_the_model_on(beir, tmp_path):
    words = ["import", "beir", beir, "-o", tmp_path / "bench", "--quantities", "ours", "--extractor", "neural"]
    with pytest.raises(OptionError, match="needs a model"):
        run(*words)
    with pytest.raises(InputError, match="no such folder"):
        run(*words, "--model", tmp_path / "none")


def test_import_reports_what_it_skips(beir, tmp_path):
    with (beir / "corpus.jsonl").open("a") as stream:
        stream.write("no json\n")
    with pytest.raises(InputError, match=r"corpus.jsonl:2: not valid JSON"):
        run("import", "beir", beir, "-o", tmp_path / "bench")
    assert not (tmp_path / "bench").exists()
    result = run("import", "beir", beir, "-o", tmp_path / "bench", "--on-error", "skip")
    assert result.exit_code == 0
    assert "bad JSON: 1" in result.stdout
    assert "corpus.jsonl:2" in result.stderr


@pytest.mark.parametrize(
    "words",
    [
        ("import", "beir", "x", "-o", "y", "--quantities", "given"),
        ("import", "quant", "x", "-o", "y", "--qrels", "z"),
        ("export", "x", "-o", "y", "--runs", "z"),
    ],
)
def test_options_that_do_not_go_together(words):
    with pytest.raises(OptionError):
        run(*words)


def test_wrong_usage():
    assert run("import", "csv", "x", "-o", "y").exit_code == 2
    assert run("export", "x").exit_code == 2
    assert run("show", "x", "--n", "0").exit_code == 2


def test_export_to_trec(bench, tmp_path):
    result = run("export", bench, "--format", "trec", "-o", tmp_path / "out")
    assert "qrels.test.txt" in result.stdout
    assert (tmp_path / "out" / "qrels.dev.txt").read_text() == "q3 0 d06 2\nq3 0 d05 0\n"


def test_show(bench):
    result = run("show", bench, "--n", "7")
    assert "queries by comparator" in result.stdout
    assert "asks for: laptop price > 1000 dollar" in result.stdout
    assert "+ d02 (grade 2) The Brio laptop weighs «900» g and costs $«1500»." in result.stdout
    assert "- s4 (negative sample (unit)) A Delta laptop sells for €«800»." in result.stdout


def test_show_one_query(bench):
    result = run("show", bench, "--query", "q5")
    assert "staff between 200 and 300 employee" in result.stdout
    assert "q1" not in result.stdout
    with pytest.raises(UnknownNameError, match="q99"):
        run("show", bench, "--query", "q99")


def test_show_obeys_no_control_characters_and_no_markup(beir):
    (beir / "corpus.jsonl").write_text(
        '{"_id": "d1", "text": "\\u001b[31mred [bold]5[/bold]\\nnext"}\n', encoding="utf-8"
    )
    result = run("show", beir)
    assert "\x1b" not in result.stdout
    assert "�[31mred [bold]5[/bold] next" in result.stdout


def test_values_are_masked_in_a_benchmark_of_its_own(bench, tmp_path):
    result = run("mask", bench, "-o", tmp_path / "masked", "--what", "values", "--mask", "#")
    assert "12 values masked in 11 documents" in result.stdout
    made = open_benchmark(tmp_path / "masked")
    assert "The Aria laptop weighs # kg." in made.corpus["text"].to_list()
    assert run("check", tmp_path / "masked").exit_code == 0
    assert made.params["masked"] == "values"
