"""`qbench explain` of models alone, with Q and with filters: terms and quantities add up to the scores of a run."""

from __future__ import annotations

import json
from dataclasses import replace

import polars as pl
import pytest
from typer.testing import CliRunner

from qbench.benchmark.disk import write_benchmark
from qbench.cli.explain import app, score_lines
from qbench.errors import OptionError
from qbench.retrieval.execute import execute
from qbench.retrieval.explaining_scores import explain_scores
from qbench.retrieval.grammar import parse_system
from qbench.retrieval.jobs import ExecuteOptions
from tests.encoder_factories import tiny_bert
from tests.factories import tiny_benchmark

BENCHMARK = tiny_benchmark()


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    words = sorted({word for text in BENCHMARK.corpus["text"] for word in text.lower().split()})
    return tiny_bert(tmp_path_factory.mktemp("model") / "tiny", words, head=True)


@pytest.mark.parametrize(
    "name",
    [
        "BM25",
        "QBM25",
        "QBM25(norm=all, scale=minmax, alpha=0.5)",
        "BM25_filter",
        "BM25 + QBM25(k=5)",
        "SPLADE(model={})",
        "QColBERT(model={}, dtype=float32)",
        "BM25 + ColBERT(model={}, dtype=float16)",
        "QSBERT(model={})",
        "CodedColBERT(model={}, dtype=float32)",
        "BM25 + CodedColBERT(model={}, dtype=float32, term_weight=0)",
    ],
)
def test_the_parts_add_up_to_the_scores_of_a_run(model, tmp_path, name):
    system = parse_system(name.format(model))
    found = explain_scores(BENCHMARK, system, "q4", tmp_path, top=3, source="given")
    (result,) = execute(BENCHMARK, [system], tmp_path, ExecuteOptions(settings=("given",)))
    run = dict(result.run.filter(query_id="q4").select("doc_id", "score").iter_rows())
    assert [document.doc_id for document in found.documents] == list(run)[: len(found.documents)]
    for document in found.documents:
        assert document.score == pytest.approx(run[document.doc_id], rel=1e-5)
        if "SBERT" not in name:
            assert document.own == pytest.approx(sum(term.score for term in document.terms), rel=1e-3)
        else:
            assert not document.terms
        if "Q" in name:
            assert document.score == pytest.approx(document.normalised + document.added)
        else:
            assert (document.normalised, document.added) == (None, None)


def test_quantities_that_are_added_are_the_mean_of_phi_over_those_in_the_unit(tmp_path):
    found = explain_scores(BENCHMARK, parse_system("QBM25(alpha=3)"), "q4", tmp_path, source="given")
    for document in found.documents:
        ((*mentions,),) = document.mentions
        mean = sum(each.phi for each in mentions) / max(len(mentions), 1)
        assert document.added == pytest.approx(3 * mean)
    assert any(document.added for document in found.documents)


def test_a_document_that_a_filter_leaves_out_is_shown_last_with_the_reason(tmp_path):
    query, system = "laptop weight under 2 kg", parse_system("BM25_filter")
    kept = {one.doc_id for one in explain_scores(BENCHMARK, system, query, tmp_path, top=99).documents}
    plain = explain_scores(BENCHMARK, parse_system("BM25"), query, tmp_path, top=99).documents
    out = next(one.doc_id for one in plain if one.doc_id not in kept)
    found = explain_scores(BENCHMARK, system, query, tmp_path, docs=[out, *kept])
    assert found.documents[-1].doc_id == out
    assert [one.score is None for one in found.documents] == [False] * len(kept) + [True]
    assert not any(each.satisfies for each in found.documents[-1].mentions[0])
    assert any(line.startswith(f"-. {out}: left out by the filter") for line in score_lines(found))


def test_what_is_earned_in_a_period_is_shown_where_a_score_counts_it(tmp_path):
    text = pl.when(pl.col("doc_id") == "d04").then(pl.lit("A Delta laptop earns $800 annually.")).otherwise("text")
    benchmark = replace(BENCHMARK, corpus=BENCHMARK.corpus.with_columns(text=text))
    for name in ("QBM25", "BM25_filter"):
        found = explain_scores(benchmark, parse_system(name), "q2", tmp_path, source="given")
        (shown,) = (one for one in found.documents if one.doc_id == "d04")
        assert [(one.mention.unit, one.satisfies) for one in shown.mentions[0]] == [("dollar per year", True)]


def test_bind_and_fusions_are_refused(tmp_path):
    for name in ("BindBM25", "BM25 + BM25-RRF"):
        with pytest.raises(OptionError, match="with Bind or a fusion"):
            explain_scores(BENCHMARK, parse_system(name), "q4", tmp_path)
    with pytest.raises(OptionError, match="scores none of these"):
        explain_scores(BENCHMARK, parse_system("BM25"), "xylophone", tmp_path)


def test_it_is_printed_for_people_and_for_programs(tmp_path):
    write_benchmark(BENCHMARK, tmp_path / "bench")
    given = [str(tmp_path / "bench"), "q4", "--system", "QBM25", "-o", str(tmp_path / "kept")]
    shown = CliRunner().invoke(app, given)
    assert shown.exit_code == 0, shown.output
    assert shown.stdout.startswith("searched: ")
    assert " satisfies > " in shown.stdout or " satisfies < " in shown.stdout
    best = explain_scores(BENCHMARK, parse_system("QBM25"), "q4", tmp_path / "kept").documents[0]
    assert f"1. {best.doc_id}: {best.score:.3f} = {best.normalised:.3f} normalised" in shown.stdout
    one = CliRunner().invoke(app, [*given[:2], best.doc_id, *given[2:], "--format", "json"])
    (record,) = json.loads(one.stdout)
    assert (record["doc_id"], record["rank"]) == (best.doc_id, 1)
    assert record["score"] == pytest.approx(best.score)
    assert record["conditions"][0]["mentions"][0]["phi"] > 0
