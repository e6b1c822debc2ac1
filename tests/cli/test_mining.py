"""`qbench describe`, `mine-paraphrases` and `retrieve-quantity` on the command line."""

from __future__ import annotations

import json

import pytest
from typer.testing import CliRunner

from qbench.cli.build_index import app as build_app
from qbench.cli.describe import app as describe_app
from qbench.cli.mine_paraphrases import app as mine_app
from qbench.cli.retrieve_quantity import app as retrieve_app
from qbench.errors import InputError, OptionError
from qbench.mining.describe import Descriptions
from tests.mining.conftest import facts

runner = CliRunner()


def run(app, *words):
    return runner.invoke(app, [str(word) for word in words], catch_exceptions=False)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("mining")
    rows = [json.dumps({"doc_id": name, "text": text}) for name, text in facts()]
    (folder / "towns.jsonl").write_text("\n".join(rows))
    assert run(build_app, folder / "towns.jsonl", "-o", folder / "index", "--workers", "1").exit_code == 0
    return folder


def test_from_an_index_to_pairs_and_answers(folder):
    described = run(describe_app, folder / "index", "-o", folder / "d", "--workers", "1")
    assert described.exit_code == 0
    assert described.stdout.startswith("50 descriptions, 60 mentions, 10 no fact")
    assert "already made" in run(describe_app, folder / "index", "-o", folder / "d").stderr
    mined = run(mine_app, folder / "d", "-o", folder / "p", "--k", "10")
    assert mined.exit_code == 0
    assert "paraphrase pairs: " in mined.stdout
    assert "report.md" in mined.stderr
    for source in ("index", "d", "p"):
        answered = run(retrieve_app, folder / source, "population of Hazelford in 2019", "--top", "1")
        assert answered.exit_code == 0
        assert "68,328" in answered.stdout
    assert "[[68,328]]" in answered.stdout
    assert "[population of Hazelford]" in answered.stdout or "[population]" in answered.stdout
    asked = (folder / "d", "Hazelford population 2019", "--top", "1", "--format", "jsonl")
    line = json.loads(run(retrieve_app, *asked).stdout)
    assert line["value"] == 68_328.0
    assert "another script" not in run(retrieve_app, *asked).stderr
    assert "another script than the texts (Chinese 1; en)" in run(retrieve_app, folder / "d", "人口超过6万").stderr


def test_errors_reach_the_person(folder):
    with pytest.raises(InputError, match="descriptions are needed"):
        run(mine_app, folder / "index", "-o", folder / "x")
    assert run(mine_app, folder / "d", "-o", folder / "x", "--min-digits", "0").exit_code == 2
    with pytest.raises(InputError, match="empty"):
        run(retrieve_app, folder / "d", "  ")
    assert run(retrieve_app, folder / "d", "tea", "--format", "xml").exit_code == 2
    with pytest.raises(InputError, match="no such folder"):
        run(describe_app, folder / "none", "-o", folder / "x")


def test_the_language_of_a_table_is_stated_and_that_of_an_index_is_not(folder, tmp_path):
    (tmp_path / "own.csv").write_text("description,quantity\nroe,15 pct\neps,3.5\n", encoding="utf-8")
    for language in ("auto", "zh"):
        run(describe_app, tmp_path / "own.csv", "-o", tmp_path / language, "--language", language)
    assert [Descriptions.open(tmp_path / each).language for each in ("auto", "zh")] == ["en", "zh"]
    with pytest.raises(OptionError, match=r"an index is in its manifest .*build-index --language"):
        run(describe_app, folder / "index", "-o", tmp_path / "out", "--language", "zh")


@pytest.mark.parametrize(
    "option", [("--workers", "2"), ("--engine", "ray"), ("--address", "nowhere:1"), ("--parser", "tagger")]
)
def test_options_of_an_index_are_refused_with_a_table(tmp_path, option):
    (tmp_path / "own.csv").write_text("description,quantity\nroe,15 pct\n", encoding="utf-8")
    with pytest.raises(OptionError, match=rf"for an index .*{' '.join(option)}"):
        run(describe_app, tmp_path / "own.csv", "-o", tmp_path / "d", *option)
    assert not (tmp_path / "d").exists()


def test_a_table_of_ones_own(folder):
    (folder / "own.tsv").write_text("description\tquantity\nsales of tea\t$4.5 million\nno number\tnone\n")
    result = run(describe_app, folder / "own.tsv", "-o", folder / "own")
    assert result.exit_code == 0
    assert "1 descriptions" in result.stdout
    assert "left out: 1 rows (the quantity cannot be read)" in result.stderr
