"""Rerankers and fusion on top of a first stage."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

from qbench.errors import OptionError
from qbench.retrieval.dense import Dense
from qbench.retrieval.execute import execute
from qbench.retrieval.finishing import reranked
from qbench.retrieval.grammar import parse_system
from qbench.retrieval.jobs import ExecuteOptions
from qbench.retrieval.lexical import BM25
from qbench.retrieval.rankers import Candidates
from tests.encoder_factories import tiny_bert
from tests.factories import tiny_benchmark

BENCHMARK = tiny_benchmark()


@pytest.fixture(scope="session")
def tiny(tmp_path_factory):
    words = [word for text in BENCHMARK.corpus["text"] for word in text.lower().split()]
    return tiny_bert(tmp_path_factory.mktemp("rerankers") / "tiny", words)


def ask(folder, *names, **options):
    how = ExecuteOptions(settings=("given",), **options)
    return execute(BENCHMARK, [parse_system(name) for name in names], folder, how)


def scores(result, query_id):
    return dict(result.run.filter(query_id=query_id).select("doc_id", "score").iter_rows())


def ranking(result, query_id):
    return result.run.filter(query_id=query_id)["doc_id"].to_list()


def shares(found):
    return {doc: score / max(found.values()) for doc, score in found.items()}


def test_a_reranker_orders_what_the_first_stage_found_by_its_own_scores(tmp_path, tiny):
    first, dense, both = ask(tmp_path, "BM25", f"SBERT(model={tiny})", f"BM25 + SBERT(model={tiny})")
    for query in BENCHMARK.queries_of("test"):
        found, cosines = scores(both, query.query_id), scores(dense, query.query_id)
        assert set(found) == set(scores(first, query.query_id))
        assert found == pytest.approx({doc: cosines[doc] for doc in found}, abs=1e-6)
    assert both.cost.index_bytes == first.cost.index_bytes + dense.cost.index_bytes


def test_the_best_k_are_ranked_again_and_the_others_left_out(tmp_path, tiny):
    first, both = ask(tmp_path, "BM25", f"BM25 + SBERT(model={tiny}, k=2)")
    for query in BENCHMARK.queries_of("test"):
        best = first.run.filter(query_id=query.query_id)["doc_id"][:2]
        assert set(scores(both, query.query_id)) == set(best)


def test_more_can_be_ranked_again_than_is_kept(tmp_path, tiny):
    name = f"BM25 + SBERT(model={tiny})"
    bare, whole = ask(tmp_path / "whole", "BM25", name)
    short_bare, short = ask(tmp_path / "short", "BM25", name, depth=2)
    for query in BENCHMARK.queries_of("test"):
        for few, all_of_them in ((short_bare, bare), (short, whole)):
            best = all_of_them.run.filter(query_id=query.query_id)["doc_id"][:2]
            assert few.run.filter(query_id=query.query_id)["doc_id"].to_list() == best.to_list()


@pytest.mark.parametrize("name", ["TCT-ColBERT", "Aggretriever", "SBERT_out"])
def test_every_dense_model_reranks_with_the_scores_that_it_retrieves_with(tmp_path, tiny, name):
    dense, both = ask(tmp_path, f"{name}(model={tiny})", f"BM25 + {name}(model={tiny}, k=3)")
    for query in BENCHMARK.queries_of("test"):
        found, alone = scores(both, query.query_id), scores(dense, query.query_id)
        assert found == pytest.approx({doc: alone[doc] for doc in found}, rel=1e-5)
    assert both.meta["reranker_documents_cut"] == dense.meta["documents_cut"] == 0
    assert ("reranker_note" in both.meta) == (name == "Aggretriever")


@pytest.mark.parametrize("alpha", [0, 0.25, 1])
def test_interpolation_is_equation_5_10(tmp_path, tiny, alpha):
    reranker = f"BM25 + SBERT(model={tiny})"
    names = ["BM25", reranker, f"{reranker}-I(alpha={alpha})", f"{reranker}-I(alpha={alpha}, norm=none)"]
    first, second, mixed, raw = ask(tmp_path, *names)
    for query in BENCHMARK.queries_of("test"):
        a, b = scores(first, query.query_id), scores(second, query.query_id)
        expected = {doc: (1 - alpha) * b[doc] + alpha * a[doc] for doc in a}
        assert scores(raw, query.query_id) == pytest.approx(expected)
        if min(b.values()) > 0:
            a, b = shares(a), shares(b)
            expected = {doc: (1 - alpha) * b[doc] + alpha * a[doc] for doc in a}
            assert scores(mixed, query.query_id) == pytest.approx(expected)


def test_reciprocal_rank_fusion_adds_both_ranks(tmp_path, tiny):
    reranker = f"BM25 + SBERT(model={tiny})"
    first, second, fused = ask(tmp_path, "BM25", reranker, f"{reranker}-RRF(k=10)")
    for query in BENCHMARK.queries_of("test"):
        a, b = scores(first, query.query_id), scores(second, query.query_id)

        def rank(table, doc):
            return 1 + sum(score > table[doc] for score in table.values())

        expected = {doc: 1 / (10 + rank(a, doc)) + 1 / (10 + rank(b, doc)) for doc in a}
        assert scores(fused, query.query_id) == pytest.approx(expected)


def test_a_quantity_score_stays_with_the_first_stage(tmp_path, tiny):
    first, both = ask(tmp_path, "QBM25", f"QBM25 + SBERT(model={tiny})-I(alpha=1)")
    for query in BENCHMARK.queries_of("test"):
        assert list(scores(both, query.query_id)) == list(scores(first, query.query_id))
    assert both.label.endswith("[given]")


def quantity_part(alone, without):
    """What Q added to each document's score."""
    return {doc: score - without[doc] for doc, score in alone.items()}


def test_a_reranker_may_have_a_quantity_score(tmp_path, tiny):
    """Equation 7 over what another stage found: scores for the search words, by the best of them, plus qs."""
    names = [f"BM25 + QSBERT(model={tiny})", f"BM25 + QSBERT(alpha=0, model={tiny})"]
    names += [f"BM25 + QSBERT(model={tiny})-I(alpha=0)", "BM25"]
    names += [f"QSBERT(model={tiny})", f"QSBERT(alpha=0, model={tiny})"]
    both, none, fused, first, alone, bare = ask(tmp_path, *names)
    asked = [query for query in BENCHMARK.queries_of("test") if query.conditions]
    added = 0
    for query in asked:
        found = scores(both, query.query_id)
        assert set(found) == set(scores(first, query.query_id))
        index = {doc: value for doc, value in quantity_part(found, scores(none, query.query_id)).items() if value}
        added += len(index)
        assert max(scores(none, query.query_id).values()) == pytest.approx(1)
        assert scores(fused, query.query_id) == pytest.approx(shares(found))
        expected = quantity_part(scores(alone, query.query_id), scores(bare, query.query_id))
        assert index == pytest.approx({doc: value for doc, value in expected.items() if value and doc in found})
    assert added
    assert both.label.endswith("[given]")


def test_a_lexical_reranker_adds_quantities_where_a_search_term_is(tmp_path):
    """Its indicator 1_Tx holds behind any first stage, also for documents that this one found by other words."""
    path = tmp_path / "all.run"
    docs = BENCHMARK.corpus["doc_id"].to_list()
    lines = [f"{q.query_id} Q0 {doc} {i} {-i} x" for q in BENCHMARK.queries_of("test") for i, doc in enumerate(docs, 1)]
    path.write_text("\n".join(lines) + "\n")
    for terms in ("any", "all"):
        alone, behind = ask(tmp_path, f"QBM25(terms={terms})", f"Run(path={path}) + QBM25(terms={terms})")
        for query in BENCHMARK.queries_of("test"):
            expected, found = scores(alone, query.query_id), scores(behind, query.query_id)
            if expected:
                assert found == pytest.approx({doc: expected.get(doc, 0.0) for doc in docs})
            else:  # no document holds a word of it: none is better than another
                assert len(set(found.values())) == 1


def test_a_reranker_may_filter(tmp_path, tiny):
    names = [f"BM25 + SBERT(model={tiny})", f"BM25 + SBERT_filter(model={tiny})", "BM25_filter"]
    names.append(f"BM25 + SBERT_filter(model={tiny})-RRF")
    plain, kept, meeting, fused = ask(tmp_path, *names)
    for query in BENCHMARK.queries_of("test"):
        met = set(scores(meeting, query.query_id))
        assert set(scores(fused, query.query_id)) == met
        expected = {doc: score for doc, score in scores(plain, query.query_id).items() if doc in met}
        assert scores(kept, query.query_id) == pytest.approx(expected)


def test_a_quantity_score_leaves_out_what_its_reranker_does_not_know(tmp_path):
    path = tmp_path / "other.run"
    query = next(query for query in BENCHMARK.queries_of("test") if query.conditions)
    found = ask(tmp_path, "BM25")[0].run.filter(query_id=query.query_id)["doc_id"].to_list()
    path.write_text(f"{query.query_id} Q0 {found[1]} 1 5.0 x\n{query.query_id} Q0 {found[0]} 2 4.0 x\n")
    (only,) = ask(tmp_path, f"BM25 + QRun(alpha=0, path={path})")
    assert scores(only, query.query_id) == pytest.approx({found[1]: 1.0, found[0]: 0.8})


def test_a_run_may_rerank_and_ranks_what_it_knows(tmp_path):
    path = tmp_path / "other.run"
    (query, *_) = BENCHMARK.queries_of("test")
    found = ask(tmp_path, "BM25")[0].run.filter(query_id=query.query_id)["doc_id"].to_list()
    path.write_text(f"{query.query_id} Q0 {found[1]} 1 5.0 x\n{query.query_id} Q0 {found[0]} 2 4.0 x\n")
    only, fused = ask(tmp_path, f"BM25 + Run(path={path})", f"BM25 + Run(path={path})-RRF")
    assert list(scores(only, query.query_id)) == found[1::-1]
    assert set(scores(fused, query.query_id)) == set(found)
    others = [q.query_id for q in BENCHMARK.queries_of("test") if q.query_id != query.query_id]
    assert only.run.filter(pl.col("query_id").is_in(others)).is_empty()


def test_what_can_change_a_reranked_run_changes_its_digest(tmp_path, tiny):
    other = tiny_bert(tmp_path / "other", ["fox"], seed=1)
    tails = [f"SBERT(model={tiny})", f"SBERT(model={other})", f"SBERT(model={tiny}, k=3)", f"SBERT(model={tiny})-RRF"]
    tails += [f"SBERT(model={tiny})-I", f"SBERT(model={tiny})-I(alpha=0.1)", "BM25", "BM25(k1=1)"]
    results = ask(tmp_path, "BM25", *(f"BM25 + {tail}" for tail in tails))
    assert len({result.digest for result in results}) == len(tails) + 1


def test_equal_scores_keep_the_order_of_positions():
    ranking = Candidates(np.array([5, 1, 3]), np.array([3.0, 2.0, 1.0]))
    assert reranked(ranking, np.array([0.5, 0.5, 0.9])).docs.tolist() == [3, 1, 5]


def test_a_reranker_ranks_at_least_one_document():
    with pytest.raises(OptionError, match="at least 1"):
        parse_system("BM25 + BM25(k=0)")


def test_every_reranker_ranks_the_best_of_the_ranking_before_it(tmp_path, tiny):
    two = f"BM25 + SBERT(model={tiny}, k=6)"
    first, second, third = ask(tmp_path, "BM25", two, f"{two} + BM25(k=3)")
    for query in BENCHMARK.queries_of("test"):
        bm25, dense = scores(first, query.query_id), scores(second, query.query_id)
        assert set(dense) == set(list(bm25)[:6])
        assert scores(third, query.query_id) == {doc: bm25[doc] for doc in list(dense)[:3]}
        assert ranking(third, query.query_id) == sorted(list(dense)[:3], key=lambda doc: (bm25[doc], doc), reverse=True)


def test_fusions_filters_and_quantity_scores_stand_on_any_stage(tmp_path, tiny):
    two = f"BM25 + SBERT(model={tiny}, k=6)"
    names = [two, f"{two} + BM25(k=4)-I(alpha=0.25, norm=none)", f"{two} + BM25_filter(k=4)", f"{two} + QBM25(k=4)"]
    second, mixed, filtered, scored = ask(tmp_path, *names)
    first, meeting = ask(tmp_path, "BM25", "BM25_filter")
    for query in BENCHMARK.queries_of("test"):
        bm25, dense = scores(first, query.query_id), scores(second, query.query_id)
        best = dict(list(dense.items())[:4])
        expected = {doc: 0.75 * bm25[doc] + 0.25 * score for doc, score in best.items()}
        assert scores(mixed, query.query_id) == pytest.approx(expected)
        met = set(scores(meeting, query.query_id))
        assert scores(filtered, query.query_id) == {doc: bm25[doc] for doc in best if doc in met}
        assert set(scores(scored, query.query_id)) == set(best)
    assert scores(scored, "q4") != scores(second, "q4")


def test_shared_prefixes_run_once_whatever_their_length(tmp_path, tiny, monkeypatch):
    calls = {"search": [], "rerank": []}
    best, rerank = BM25.best, Dense.rerank
    found = calls["search"]
    monkeypatch.setattr(BM25, "best", lambda self, s, d: found.extend(q.query_id for q in s) or best(self, s, d))
    monkeypatch.setattr(Dense, "rerank", lambda self, s, c: calls["rerank"].append(len(s)) or rerank(self, s, c))
    two = f"BM25 + SBERT(model={tiny}, k=6)"
    tails = ["BM25(k=3)", "BM25(k=3)-RRF", "QBM25", "QBM25 + BM25(k=2)"]
    results = ask(tmp_path, "BM25", two, *(f"{two} + {tail}" for tail in tails))
    queries = BENCHMARK.queries_of("test")
    assert calls == {"search": [query.query_id for query in queries], "rerank": [len(queries)]}
    times = [result.cost.ms_median for result in results]
    # What is shared counts for each system.
    assert times[0] < times[1] < times[2]
    assert times[4] < times[5]


def test_costs_and_notes_of_every_stage_are_reported(tmp_path, tiny):
    dense = f"SBERT(model={tiny}, k=6)"
    first, second, third = ask(tmp_path, "BM25", f"BM25 + {dense}", f"BM25 + {dense} + ColBERT(model={tiny}, k=3)")
    assert first.cost.index_bytes < second.cost.index_bytes < third.cost.index_bytes
    assert first.cost.index_seconds < second.cost.index_seconds < third.cost.index_seconds
    assert "reranker_documents_cut" in second.meta
    assert {"reranker_documents_cut", "reranker2_documents_cut", "reranker2_token_vectors"} <= set(third.meta)
