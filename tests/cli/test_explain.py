"""`qbench explain`: the parts that it prints are those that make up the score."""

from __future__ import annotations

import pytest
from typer.testing import CliRunner

from qbench.benchmark.disk import open_benchmark
from qbench.cli.explain import app
from qbench.errors import OptionError
from qbench.retrieval.execute import execute
from qbench.retrieval.explaining import explain
from qbench.retrieval.grammar import parse_system
from qbench.retrieval.jobs import ExecuteOptions
from tests.factories import tiny_benchmark


@pytest.mark.parametrize("name", ["BindBM25(ratio=2)", "BM25 + BindBM25(ratio=2, k=4)", "BM25 + BM25 + BindBM25(k=4)"])
def test_the_parts_add_up_to_the_scores_of_a_run(tmp_path, name):
    benchmark, system = tiny_benchmark(), parse_system(name)
    found = explain(benchmark, system, "q4", tmp_path, top=3, source="given")
    (result,) = execute(benchmark, [system], tmp_path, ExecuteOptions(settings=("given",)))
    run = dict(result.run.filter(query_id="q4").select("doc_id", "score").iter_rows())
    assert [document.doc_id for document in found.documents] == list(run)[:3]
    for document in found.documents:
        assert document.score == pytest.approx(run[document.doc_id])
        assert document.score == pytest.approx(sum(found.weights[part] * x for part, x in document.parts.items()))
        assert document.text
    (asked, words) = found.conditions[0]
    assert asked.unit == "kilogram"
    assert 0 < sum(words.values()) <= 1  # an unknown word has a share, too
    best = found.documents[0].mentions[0][0]
    assert best.satisfies
    assert best.value == pytest.approx(found.documents[0].parts["binding"])


def test_given_documents_are_explained_and_others_refused(tmp_path):
    benchmark, system = tiny_benchmark(), parse_system("BindBM25")
    last = explain(benchmark, system, "laptop weight over 2 kg", tmp_path, top=100).documents[-1].doc_id
    (one,) = explain(benchmark, system, "laptop weight over 2 kg", tmp_path, docs=[last]).documents
    assert one.doc_id == last
    with pytest.raises(OptionError, match="no such document"):
        explain(benchmark, system, "laptop weight over 2 kg", tmp_path, docs=[last, "nowhere"])
    with pytest.raises(OptionError, match="scores none of these"):
        explain(benchmark, system, "xylophone over 2 kg", tmp_path, docs=[last])
    with pytest.raises(OptionError, match="no conditions are given"):
        explain(benchmark, system, "laptop weight over 2 kg", tmp_path, source="given")
    for other in ("BM25", "QBM25", "BindBM25 + BM25", "BM25 + BindBM25-RRF"):
        with pytest.raises(OptionError, match="last stage with Bind, without fusion"):
            explain(benchmark, parse_system(other), "q4", tmp_path)


def test_it_is_printed(tmp_path):
    folder = tmp_path / "beir"
    (folder / "qrels").mkdir(parents=True)
    (folder / "corpus.jsonl").write_text(
        '{"_id": "a", "text": "The tent weighs 4 kg and its bag weighs 900 g."}\n'
        '{"_id": "b", "text": "The tent weighs 900 g and its bag weighs 4 kg."}\n'
    )
    (folder / "queries.jsonl").write_text('{"_id": "q", "text": "tents that weigh less than 1 kg"}\n')
    (folder / "qrels" / "test.tsv").write_text("query-id\tcorpus-id\tscore\nq\tb\t1\n")
    assert open_benchmark(folder).name
    result = CliRunner().invoke(app, [str(folder), "q", "-o", str(tmp_path / "kept")])
    assert result.exit_code == 0, result.output
    lines = result.stdout.splitlines()
    assert lines[0].startswith("words: ")
    assert "tents" in lines[0]  # the query's word, not its stem
    assert lines[1].startswith("condition: < 1 kilogram: ")
    assert lines[3].startswith("1. b: ")
    assert "   900 gram satisfies < 1 kilogram (" in result.stdout
    assert "   4 kilogram does not satisfy < 1 kilogram (" in result.stdout
