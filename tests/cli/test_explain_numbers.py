"""`qbench explain --system "DeepQuant(...)"`: what it shows adds up to the scores of a run."""

from __future__ import annotations

from dataclasses import replace

import polars as pl
import pytest
from typer.testing import CliRunner

from qbench.benchmark.disk import write_benchmark
from qbench.cli.explain import app
from qbench.errors import OptionError
from qbench.retrieval.execute import execute
from qbench.retrieval.explaining import explain
from qbench.retrieval.explaining_numbers import explain_numbers
from qbench.retrieval.explaining_scores import explain_scores
from qbench.retrieval.grammar import parse_system
from qbench.retrieval.jobs import ExecuteOptions
from tests.encoder_factories import tiny_bert
from tests.number_factories import WORDS, operator_benchmark, random_deepquant

BENCHMARK = operator_benchmark()


@pytest.fixture(scope="module", params=["sum", "mean"])
def model(request, tmp_path_factory):
    folder = tmp_path_factory.mktemp(request.param)
    plain = tiny_bert(folder / "plain", WORDS, positions=48)
    return random_deepquant(plain, folder / "model", text_score=request.param)


def test_the_parts_add_up_to_the_scores_of_a_run(model, tmp_path):
    system = parse_system(f"DeepQuant(model={model}, dtype=float32)")
    query = BENCHMARK.queries_of("dev")[0]
    found = explain_numbers(BENCHMARK, system, query.query_id, tmp_path, top=4, source="given")
    (result,) = execute(BENCHMARK, [system], tmp_path, ExecuteOptions(split="dev", settings=("given",)))
    run = dict(result.run.filter(query_id=query.query_id).select("doc_id", "score").iter_rows())
    assert [document.doc_id for document in found.documents] == list(run)[:4]
    ((number, operators),) = found.asked
    assert (number.value, number.operator) == (query.conditions[0].value, query.conditions[0].comparator)
    assert sum(operators) == pytest.approx(1, abs=1e-5)
    for document in found.documents:
        ((answer,),) = document.answers
        assert document.text[slice(*answer.number.span)] == f"{answer.number.value:g}"
        assert answer.attention == 1  # its only number
        assert answer.relevance == pytest.approx(
            sum(p * n for p, n in zip(operators, answer.believed, strict=True)), rel=1e-4
        )
        assert document.numbers == answer.relevance
        mixture = (1 - found.alpha) * document.numbers + found.alpha * document.words
        assert document.score == pytest.approx(mixture, rel=1e-4)
        assert document.score == pytest.approx(run[document.doc_id], rel=1e-4)


def test_documents_without_numbers_and_with_numbers_behind_what_is_read(model, tmp_path):
    long = " ".join(["lamps"] * 60)
    texts = {"none": "lamps", "behind": f"{long} 5 kg", "both": f"a 7 kg {long} 5 kg"}
    extra = BENCHMARK.corpus.head(3).with_columns(doc_id=pl.Series(list(texts)), text=pl.Series(list(texts.values())))
    bench = replace(BENCHMARK, corpus=extra, quantities=None)
    system = parse_system(f"BM25 + DeepQuant(model={model}, dtype=float32)")
    found = explain_scores(bench, system, "lamps under 9 kg", tmp_path, docs=list(texts))
    numbers = {
        document.doc_id: [term.found for term in document.terms if term.asked == "< 9 kilogram"]
        for document in found.documents
    }
    assert numbers == {"none": [], "behind": [], "both": ["7 kilogram"]}


def test_queries_without_numbers_and_documents_that_are_named(model, tmp_path):
    system = parse_system(f"DeepQuant(model={model})")
    found = explain_numbers(BENCHMARK, system, "lamps", tmp_path, docs=["d03", "d05"])
    assert (found.alpha, found.asked) == (1.0, [])
    assert {document.doc_id for document in found.documents} == {"d03", "d05"}
    assert all(document.score == pytest.approx(document.words) for document in found.documents)
    with pytest.raises(OptionError, match="no such document"):
        explain_numbers(BENCHMARK, system, "lamps", tmp_path, docs=["nowhere"])


@pytest.mark.parametrize("name", ["BM25 + {}", "{}_filter"])
def test_as_a_reranker_or_with_a_filter_what_tokens_and_numbers_add_is_shown(model, tmp_path, name):
    plain = f"DeepQuant(model={model}, dtype=float32)"
    system = parse_system(
        name.format(plain).replace(f"{plain}_filter", f"DeepQuant_filter(model={model}, dtype=float32)")
    )
    query = BENCHMARK.queries_of("dev")[0]
    alone = explain_numbers(BENCHMARK, parse_system(plain), query.query_id, tmp_path, top=50, source="given")
    expected = {document.doc_id: document for document in alone.documents}
    found = explain_scores(BENCHMARK, system, query.query_id, tmp_path, top=4, source="given")
    assert found.documents
    for document in found.documents:
        *words, number = document.terms
        assert document.own == pytest.approx(sum(term.score for term in document.terms), rel=1e-3)
        known = expected[document.doc_id]
        assert number.score == pytest.approx((1 - alone.alpha) * known.numbers, rel=1e-4)
        assert sum(term.score for term in words) == pytest.approx(alone.alpha * known.words, rel=1e-3)
        assert number.asked.startswith(query.conditions[0].comparator.replace("=", ""))
        assert number.found.split()[0] in document.text


@pytest.mark.parametrize("name", ["BM25", "BM25 + {}", "Q{}"])
def test_other_systems_are_refused(model, tmp_path, name):
    system = parse_system(name.format(f"DeepQuant(model={model})"))
    with pytest.raises(OptionError, match="DeepQuant alone"):
        explain_numbers(BENCHMARK, system, "lamps", tmp_path)
    with pytest.raises(OptionError, match="stage with Bind"):
        explain(BENCHMARK, system, "lamps", tmp_path)


def test_it_is_printed(model, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write_benchmark(BENCHMARK, tmp_path / "bench")
    words = ["bench", "lamps with a weight under 7 kg", "--system", f"DeepQuant(model={model})", "--top", "2"]
    result = CliRunner().invoke(app, words)
    assert result.exit_code == 0, result.output
    for text in ("alpha: 0.", "asked: 7 kilogram: < 0.", "numbers + 0.", "for 7 kilogram", "relevance"):
        assert text in result.stdout
    assert len([line for line in result.stdout.splitlines() if "the weight of lamps is" in line]) == 2
