"""A new reranker is one file and one row; it sees texts, quantities and conditions. See tests/retrieval/lengths.py."""

from __future__ import annotations

from dataclasses import replace

import polars as pl
import pytest

from qbench.retrieval.entries import REGISTRY
from qbench.retrieval.execute import execute
from qbench.retrieval.grammar import parse_system
from qbench.retrieval.jobs import ExecuteOptions
from qbench.retrieval.mentions import document_mentions
from tests.factories import tiny_benchmark
from tests.retrieval.lengths import ENTRY, Length

BENCHMARK = tiny_benchmark()
TEXTS = dict(BENCHMARK.corpus.select("doc_id", "text").iter_rows())


@pytest.fixture
def length(monkeypatch):
    REGISTRY.of("reranker")
    monkeypatch.setattr(REGISTRY, "entries", (*REGISTRY.entries, ENTRY))


def ask(folder, *names, benchmark=BENCHMARK, **options):
    return execute(benchmark, [parse_system(name) for name in names], folder, ExecuteOptions(**options))


def scores(result, query_id):
    return dict(result.run.filter(query_id=query_id).select("doc_id", "score").iter_rows())


def expected(doc_id, unit, weight=1.0):
    mentions = BENCHMARK.quantities.filter(doc_id=doc_id, base_unit=unit).height if unit else 0
    return weight * mentions - len(TEXTS[doc_id]) / 1000


def test_a_toy_reranker_sees_texts_quantities_and_conditions(tmp_path, length):
    name = "BM25 + Length(weight=2, k=5)"
    assert str(parse_system(name)) == name
    given, parsed, plain = ask(tmp_path, name, "BM25")
    assert [result.label for result in (given, parsed)] == [f"{name} [given]", f"{name} [parsed]"]
    for query in BENCHMARK.queries_of("test"):
        best = list(scores(plain, query.query_id))[:5]
        units = {condition.base_unit for condition in query.conditions}
        if len(units) == 1:
            (unit,) = units
            assert scores(given, query.query_id) == pytest.approx({doc: expected(doc, unit, 2) for doc in best})
            assert next(iter(scores(given, query.query_id))) == max(best, key=lambda doc: (expected(doc, unit, 2), doc))


def test_conditions_are_those_of_the_setting(tmp_path, length):
    silent = replace(
        BENCHMARK, queries=[replace(q, text=q.terms) if q.split == "test" else q for q in BENCHMARK.queries]
    )
    given, parsed = ask(tmp_path, "Length", benchmark=silent)
    assert max(scores(given, "q4").values()) > 0.5
    assert max(scores(parsed, "q4").values()) < 0  # nothing to parse: lengths alone
    assert parsed.meta["queries_without_condition"] == 4


def test_it_stands_with_a_score_a_filter_and_a_fusion_in_one_batch(tmp_path, length, monkeypatch):
    batches, rerank = [], Length.rerank
    monkeypatch.setattr(Length, "rerank", lambda self, s, c: batches.append(len(s)) or rerank(self, s, c))
    names = ["BM25 + QLength", "BM25 + Length_filter", "BM25 + Length-RRF + BM25(k=2)"]
    results = ask(tmp_path, *names, settings=("given",))
    assert batches == [4, 4, 4]
    assert all(result.run.height for result in results)
    assert set(scores(results[1], "q4")) == {"d03"}
    # Quantities come from the texts where the benchmark's own are gold.
    gold = replace(BENCHMARK, params={"quantities": "gold"})
    (extracted,) = ask(tmp_path / "gold", "Length", benchmark=gold, settings=("given",))
    assert extracted.cost.extraction_seconds > 0
    assert max(scores(extracted, "q4").values()) > 0.5


def test_spans_of_mentions_lie_in_the_passage():
    quantities = BENCHMARK.quantities.filter(doc_id="d03").with_columns(offset=pl.lit(3))
    mentions = document_mentions(quantities, pl.Series(["d09", "d03"]), pl.Series([0, 7]))
    assert mentions.of(0) == []
    (mention,) = mentions.of(1)
    start, end = quantities.select("value_start", "value_end").row(0)
    assert mention.value_span == (start + 10, end + 10)
