"""`qbench serve-index`: what it writes and shows."""

from __future__ import annotations

import json

import pytest
from typer.testing import CliRunner

from qbench.cli.serve_index import app
from qbench.index.build import build_index


@pytest.fixture(scope="module")
def index(tmp_path_factory):
    folder = tmp_path_factory.mktemp("index")
    (folder / "corpus.jsonl").write_text(json.dumps({"doc_id": "a", "text": "A laptop of 1.2 kg."}))
    return build_index(folder / "corpus.jsonl", folder / "index", workers=1).path


def run(*words):
    result = CliRunner().invoke(app, [*map(str, words)])
    return result


def test_the_query_is_shown(index):
    shown = run(index, "--query", "laptop under 2 kg").stdout
    assert shown.startswith("WITH asked")
    assert "%(low_from_0_0)s" in shown
    assert '"base_unit_0": "kilogram"' in shown
    assert "satisfying_0" not in run(index, "--query", "laptop").stdout


def test_the_query_is_one_that_the_index_can_answer(index, tmp_path):
    assert "-- laptop at least 1.2 kilogram\n" in run(index).stdout
    (tmp_path / "corpus.jsonl").write_text(json.dumps({"doc_id": "a", "text": "Nothing is counted here."}))
    empty = build_index(tmp_path / "corpus.jsonl", tmp_path / "index", workers=1).path
    assert "-- laptop under 2 lb\n" in run(empty).stdout


def test_the_search_of_opensearch_is_shown(index):
    head, _, search = run(index, "--engine", "opensearch", "--query", "laptop under 2 kg").stdout.partition("\n")
    assert head == "POST /qbench/_search"
    assert json.loads(search)["query"]["bool"]["filter"][1]["nested"]["path"] == "mentions"


def test_concepts_are_asked_for_on_request(index):
    query = ("--query", "laptop under 2 kg")
    assert '"concept_0": []' in run(index, *query).stdout
    assert '"concept_0": ["laptop"]' in run(index, *query, "--concepts", "shared").stdout
    plain, shared = (
        run(index, "--engine", "opensearch", *query, "--concepts", concepts).stdout
        for concepts in ("ignored", "shared")
    )
    assert "mentions.concept" not in plain
    assert "mentions.concept" in shared


def test_files_for_opensearch_are_written(index, tmp_path):
    assert run(index, "--engine", "opensearch", "-o", tmp_path / "files").exit_code == 0
    names = {path.name for path in (tmp_path / "files").iterdir()}
    assert names == {
        "documents-000000.ndjson", "documents-index.json", "terms-000000.ndjson", "terms-index.json", "settings.json",
        "complete.json", "load.sh", "manifest.json",
    }  # fmt: skip
    # Those of another engine are not overwritten unasked.
    assert "--overwrite" in str(run(index, "-o", tmp_path / "files").exception)


def test_files_are_written_once(index, tmp_path):
    assert run(index, "-o", tmp_path / "files").exit_code == 0
    names = {path.name for path in (tmp_path / "files").iterdir()}
    assert names == {
        "documents.csv", "terms.csv", "postings.csv", "mentions.csv", "settings.csv", "load.sql", "search.sql",
        "manifest.json",
    }  # fmt: skip
    before = (tmp_path / "files" / "manifest.json").stat().st_mtime_ns
    assert run(index, "-o", tmp_path / "files").exit_code == 0
    assert (tmp_path / "files" / "manifest.json").stat().st_mtime_ns == before


def test_one_place_is_asked_for(index, tmp_path):
    result = run(index, "-o", tmp_path / "files", "--server", "auto")
    assert "one is needed" in str(result.exception)
