"""`qbench search`: what is found for a query is what a leaderboard would rank."""

from __future__ import annotations

import json

import pytest
from typer.testing import CliRunner

import qbench
from qbench.benchmark.disk import write_benchmark
from qbench.cli.search import app
from qbench.errors import InputError, OptionError, UnknownNameError
from qbench.index.build import build_index
from qbench.quantities.extractors import ExtractorOptions
from qbench.retrieval.execute import execute
from qbench.retrieval.grammar import parse_system
from qbench.retrieval.jobs import ExecuteOptions
from qbench.retrieval.searching import search
from tests.factories import tiny_benchmark

TENTS = {
    "a": "The Alder tent weighs 2.4 kg and costs $310.",
    "b": "The Birch tent weighs 900 g.",
    "c": "The Cedar kayak weighs 21 kg.",
}


@pytest.fixture(scope="module")
def index(tmp_path_factory):
    folder = tmp_path_factory.mktemp("tents")
    lines = [json.dumps({"doc_id": name, "text": text}) for name, text in TENTS.items()]
    (folder / "tents.jsonl").write_text("\n".join(lines) + "\n")
    return build_index(folder / "tents.jsonl", folder / "index", workers=1).path


@pytest.mark.parametrize(
    "system", ["BM25", "BM25_filter", "QBM25", "BindBM25", "BM25 + BindBM25(k=4)", "BM25 + BM25-RRF"]
)
def test_it_ranks_as_a_leaderboard_does(tmp_path, system):
    benchmark = tiny_benchmark()
    write_benchmark(benchmark, tmp_path / "bench")
    (result,) = execute(benchmark, [parse_system(system)], tmp_path / "runs", ExecuteOptions(settings=("parsed",)))
    queries = benchmark.queries_of("test")
    for query, hits in zip(
        queries, search(tmp_path / "bench", [one.text for one in queries], system=system), strict=True
    ):
        run = result.run.filter(query_id=query.query_id).sort("rank").head(10)
        assert [hit.doc_id for hit in hits] == run["doc_id"].to_list()
        assert [hit.score for hit in hits] == pytest.approx(run["score"].to_list())


def test_an_index_is_searched_and_what_meets_the_query_is_marked(index):
    (hits,) = qbench.search(index, ["tent under 1 kg"], progress=qbench.silent)
    assert hits[0].doc_id.startswith("b")
    assert [hits[0].text[slice(*span)] for span in hits[0].met] == ["900 g"]
    assert not any(hit.met for hit in hits[1:])
    assert (index.parent / ".index.search").is_dir()
    (priced,) = search(index, ["tent under 400 dollars"], top=1)
    assert [priced[0].text[slice(*span)] for span in priced[0].met] == ["$310"]
    (plain,) = search(index, ["tent under 1 kg"], system="BM25", top=1)
    assert len(plain) == 1
    assert plain[0].met == ()
    assert search(index, []) == []
    opened = qbench.open_index(index)
    assert search(opened, ["tent under 1 kg"]) == search(str(index), ["tent under 1 kg"])


def test_the_command_shows_documents_for_people_and_for_programs(index, tmp_path):
    shown = CliRunner().invoke(app, [str(index), "tent under 1 kg", "-o", str(tmp_path), "--top", "1"])
    assert "The Birch tent weighs [[900 g]]." in shown.stdout
    assert (tmp_path / "indexes").is_dir()
    rows = CliRunner().invoke(app, [str(index), "tent under 1 kg", "--format", "json"]).stdout
    first = json.loads(rows)[0]
    assert (first["rank"], first["text"], first["met"]) == (1, TENTS["b"], [[22, 27]])
    assert "no results" in CliRunner().invoke(app, [str(index), "xylophone"]).output


def test_an_index_with_units_of_its_own_reads_queries_with_them(tmp_path):
    (tmp_path / "own.txt").write_text("[counting]\nzork = = ; zork\n")
    (tmp_path / "c.jsonl").write_text(json.dumps({"doc_id": "a", "text": "The pale ale has 20 zork."}) + "\n")
    options = ExtractorOptions(units_file=tmp_path / "own.txt")
    path = build_index(tmp_path / "c.jsonl", tmp_path / "index", extractor=options, workers=1).path
    ((hit,),) = search(path, ["ale under 30 zork"])
    assert [hit.text[slice(*span)] for span in hit.met] == ["20 zork"]


def test_a_rate_is_marked_where_its_number_meets_the_query(tmp_path):
    rows = [{"doc_id": "a", "text": "The pulse was 110/min."}, {"doc_id": "b", "text": "The pulse was 85/min."}]
    (tmp_path / "c.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    path = build_index(tmp_path / "c.jsonl", tmp_path / "index", workers=1).path
    ((first, second),) = search(path, ["pulse over 100"])
    assert (first.text[slice(*first.met[0])], second.met) == ("110/min", ())


def test_a_benchmark_in_memory_is_searched(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    benchmark = tiny_benchmark()
    write_benchmark(benchmark, tmp_path / "bench")
    (hits,) = search(benchmark, ["laptop over 2 kg"], top=3)
    assert [hit.doc_id for hit in hits] == [
        hit.doc_id for hit in search(tmp_path / "bench", ["laptop over 2 kg"], top=3)[0]
    ]
    assert (tmp_path / f".{benchmark.name}.search").is_dir()


def test_what_cannot_be_searched_is_told(index, tmp_path):
    with pytest.raises(InputError, match="no such folder"):
        search(tmp_path / "none", ["tent"])
    with pytest.raises(InputError, match="the query is empty"):
        search(index, [" "])
    with pytest.raises(OptionError, match="queries are a list of texts"):
        search(index, "tent")
    with pytest.raises(OptionError, match="top is at least 1"):
        search(index, ["tent"], top=0)
    with pytest.raises(OptionError, match="a list of texts"):
        search(index, [3])
    with pytest.raises(InputError, match=r"this is a file.*build-index"):
        search(index.parent / "tents.jsonl", ["tent"])
    (tmp_path / "r.run").write_text("0 Q0 a::0 1 1 x\n")
    with pytest.raises(OptionError, match="a run ranks the queries that it was made for"):
        search(index, ["tent"], system=f"Run(path={tmp_path / 'r.run'})")
    with pytest.raises(UnknownNameError):
        search(index, ["tent"], system="BM52")
