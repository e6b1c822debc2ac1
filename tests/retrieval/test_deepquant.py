"""DeepQuant as first stage and reranker: its arrays on disk, blocks, equal texts, no numbers, compression, keys."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import polars as pl
import pytest
import torch

from qbench.benchmark.benchmark import Benchmark
from qbench.compression.plain import DTYPES, Float32
from qbench.errors import InputError
from qbench.models.deepquant import load_deepquant
from qbench.quantities.written import asked_numbers, stated_numbers
from qbench.retrieval.execute import execute
from qbench.retrieval.grammar import parse_system
from qbench.retrieval.jobs import ExecuteOptions
from qbench.retrieval.mentions import document_mentions
from qbench.retrieval.opening import open_ranker
from qbench.retrieval.rankers import RankerContext, Search
from qbench.scoring import maxsim
from tests.encoder_factories import tiny_bert
from tests.factories import frame
from tests.number_factories import WORDS, operator_benchmark, random_deepquant
from tests.rankers import scores_of


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    folder = tmp_path_factory.mktemp("deepquant")
    return random_deepquant(tiny_bert(folder / "plain", WORDS, positions=48), folder / "model")


@pytest.fixture(scope="module")
def benchmark() -> Benchmark:
    """With two documents of one text, and one without a number."""
    made = operator_benchmark()
    more = [("d90", made.corpus["text"][0], "", "page"), ("d91", "the boxes", "", "page"), ("d92", "", "", "page")]
    first = made.quantities.filter(pl.col("doc_id") == "d00").with_columns(doc_id=pl.lit("d90"))
    corpus = pl.concat([made.corpus, frame("corpus", more)])
    return replace(made, corpus=corpus, quantities=pl.concat([made.quantities, first]))


def context(benchmark, root, depth=1000):
    corpus = benchmark.corpus.select("doc_id", passage="text").sort("doc_id", descending=True)
    mentions = document_mentions(benchmark.quantities, corpus["doc_id"])
    return RankerContext(corpus, "key", root, depth, quantities=lambda: mentions)


def opened(benchmark, model, root, depth=1000, options="dtype=float32"):
    return open_ranker(parse_system(f"DeepQuant(model={model}, {options})").first, context(benchmark, root, depth))


def by_hand(benchmark, model, query, corpus):
    """The scores of all documents, in the order of a corpus, straight from the model."""
    network = load_deepquant(str(model))
    mentions = document_mentions(benchmark.quantities, corpus["doc_id"])
    texts = corpus["passage"].to_list()
    stated = [stated_numbers(text, mentions.of(place)) for place, text in enumerate(texts)]
    with torch.no_grad():
        asked = network.contextual([query.text], [asked_numbers(query.text, query.conditions)], "query")
        return network.parts(asked, network.contextual(texts, stated)).score[0].numpy()


def test_it_ranks_as_the_model_scores(benchmark, model, tmp_path, monkeypatch):
    found, where = opened(benchmark, model, tmp_path), context(benchmark, tmp_path)
    query = benchmark.queries[0]
    wanted = by_hand(benchmark, model, query, where.corpus)
    search = Search(query.query_id, query.text, query.conditions)
    for rows in (4096, 7):  # all documents in one block, and one or two in each
        monkeypatch.setattr(maxsim, "ROWS", rows)
        (prepared,) = found.ranker.prepared([search])
        hits = found.ranker.search(prepared)
        assert hits.docs.tolist() == list(range(where.corpus.height))
        np.testing.assert_allclose(hits.scores, wanted, rtol=1e-4)
    assert found.ranker.search(search).scores.tolist() == hits.scores.tolist()
    (encoded,) = found.ranker.encoded([search])
    docs = np.array([5, 0, 13])
    np.testing.assert_allclose(scores_of(found.ranker, encoded, docs), wanted[docs], rtol=1e-4)
    assert found.meta["numbers"] == 12


def test_documents_in_bfloat16_are_nearly_those_of_single_precision_and_queries_are_the_same(
    benchmark, model, tmp_path
):
    exact = opened(benchmark, model, tmp_path).ranker
    quick = opened(benchmark, model, tmp_path, options="dtype=float32, precision=bfloat16").ranker
    one, other = (ranker.tokens.rows(0, len(ranker.tokens)) for ranker in (exact, quick))
    assert not np.array_equal(one, other)
    np.testing.assert_allclose(np.linalg.norm(other, axis=1), 1, atol=1e-5)
    assert (one * other).sum(axis=1).min() > 0.99
    towers = (exact.numbers.towers, quick.numbers.towers)
    assert not np.array_equal(*towers)
    np.testing.assert_allclose(*towers, atol=0.05)
    query = benchmark.queries[0]
    asked = [ranker.encoded([Search("q", query.text, query.conditions)])[0].vector for ranker in (exact, quick)]
    np.testing.assert_array_equal(*(each.words for each in asked))
    np.testing.assert_array_equal(*(each.units for each in asked))


def test_the_best_documents_are_cut_by_position_and_equal_texts_score_alike(benchmark, model, tmp_path):
    query = benchmark.queries[0]
    search, where = Search(query.query_id, query.text, query.conditions), context(benchmark, tmp_path)
    whole = opened(benchmark, model, tmp_path).ranker.search(search)
    ids = where.corpus["doc_id"].to_list()
    assert whole.scores[ids.index("d00")] == whole.scores[ids.index("d90")]
    few = opened(benchmark, model, tmp_path, depth=3).ranker.search(search)
    best = np.lexsort((whole.docs, -whole.scores))[:3]
    assert few.docs.tolist() == sorted(whole.docs[best].tolist())


def test_a_query_without_conditions_is_searched_by_its_words(benchmark, model, tmp_path):
    ranker = opened(benchmark, model, tmp_path).ranker
    (encoded,) = ranker.encoded([Search("q", "lamps with a weight")])
    assert (encoded.vector.alpha, len(encoded.vector.operators)) == (1.0, 0)
    best, scores = maxsim.search(ranker.tokens, [encoded.vector.words], 20)[0]
    hits = ranker.search(encoded)
    for doc, score in zip(hits.docs, hits.scores, strict=True):
        assert score == pytest.approx(scores[best.tolist().index(ranker.tokens.shared.of[doc])], rel=1e-5)


def test_no_document_has_a_number(benchmark, model, tmp_path):
    none = replace(benchmark, quantities=benchmark.quantities.clear())
    found, query = opened(none, model, tmp_path), benchmark.queries[0]
    hits = found.ranker.search(Search(query.query_id, query.text, query.conditions))
    where = context(none, tmp_path)
    np.testing.assert_allclose(hits.scores, by_hand(none, model, query, where.corpus), rtol=1e-4)
    assert found.meta["numbers"] == 0


@pytest.mark.parametrize("codec", ["-int8", "-float16"])
def test_words_are_compressed_and_numbers_stay(benchmark, model, tmp_path, codec):
    query = benchmark.queries[0]
    search = Search(query.query_id, query.text, query.conditions)
    whole = opened(benchmark, model, tmp_path).ranker.search(search)
    stage = parse_system(f"DeepQuant(model={model}, dtype=float32){codec}").first
    smaller = open_ranker(stage, context(benchmark, tmp_path))
    np.testing.assert_allclose(smaller.ranker.search(search).scores, whole.scores, atol=0.2)
    towers = smaller.ranker.numbers.towers.nbytes
    assert smaller.size > towers + smaller.meta["codes_bytes"]


def test_words_as_codes_of_a_pq_are_scored_as_what_they_stand_for(benchmark, model, tmp_path):
    stage = parse_system(f"DeepQuant(model={model}, dtype=float32)-PQ(M=4, K=16)").first
    coded = open_ranker(stage, context(benchmark, tmp_path)).ranker
    tokens = replace(coded.tokens, codec=Float32(), arrays={"vectors": coded.tokens.rows(0, len(coded.tokens))})
    query = benchmark.queries[0]
    search = Search(query.query_id, query.text, query.conditions)
    found, expected = coded.search(search), replace(coded, tokens=tokens).search(search)
    np.testing.assert_allclose(np.sort(found.scores), np.sort(expected.scores), rtol=1e-4)


@pytest.mark.parametrize("dtype", [name for name in DTYPES if name != "float32"])
def test_stored_in_fewer_bytes_it_scores_nearly_the_same(benchmark, model, tmp_path, dtype):
    query = benchmark.queries[0]
    search = Search(query.query_id, query.text, query.conditions)
    whole, small = (opened(benchmark, model, tmp_path, options=f"dtype={name}") for name in ("float32", dtype))
    np.testing.assert_allclose(small.ranker.search(search).scores, whole.ranker.search(search).scores, atol=0.2)
    assert small.size < whole.size


def test_other_quantities_are_other_arrays(benchmark, model, tmp_path):
    def folders():
        return {path.parent for path in tmp_path.rglob("number_towers.npy")}

    opened(benchmark, model, tmp_path)
    opened(benchmark, model, tmp_path)
    assert len(folders()) == 1
    opened(replace(benchmark, quantities=benchmark.quantities[1:]), model, tmp_path)
    assert len(folders()) == 2


def test_quantities_that_cannot_be_read_do_no_harm(benchmark, model, tmp_path):
    values = pl.Series([float("nan"), float("inf"), 1e300, -1e300, 1e-300, 0.0, *benchmark.quantities["value"][6:]])
    odd = benchmark.quantities.with_columns(value=values, high=values, unit=pl.lit("smoot"))
    found, query = opened(replace(benchmark, quantities=odd), model, tmp_path), benchmark.queries[0]
    assert found.meta["numbers"] == 11  # infinity stays a word; the text of the first is the last document's, too
    asked = replace(query.conditions[0], value=1e300, high=1e300, unit="smoot")
    scores = found.ranker.search(Search(query.query_id, query.text, (asked,))).scores
    assert np.isfinite(scores).all()


def test_an_interrupted_build_goes_on(benchmark, model, tmp_path, monkeypatch):
    from qbench.retrieval import deepquant as module

    save, calls = module._save_numbers, []

    def killed(folder):
        save(folder)
        calls.append(folder)
        raise KeyboardInterrupt

    monkeypatch.setattr(module, "BLOCK", 5)
    monkeypatch.setattr(module, "_save_numbers", killed)
    with pytest.raises(KeyboardInterrupt):
        opened(benchmark, model, tmp_path / "a")
    monkeypatch.setattr(module, "_save_numbers", save)
    query = benchmark.queries[0]
    search = Search(query.query_id, query.text, query.conditions)
    resumed, whole = (opened(benchmark, model, tmp_path / name).ranker.search(search) for name in "ab")
    assert calls
    assert resumed.scores.tolist() == whole.scores.tolist()


def test_it_runs_as_first_stage_and_as_reranker(benchmark, model, tmp_path):
    names = [f"DeepQuant(model={model})", f"BM25 + DeepQuant(model={model}, k=5)", f"DeepQuant(model={model}) + BM25"]
    systems = [parse_system(name) for name in names]
    results = execute(benchmark, systems, tmp_path, ExecuteOptions(split="dev"))
    assert [result.conditions for result in results] == ["given", "parsed"] * 3
    for result in results:
        assert result.run.height
        assert result.run["score"].is_finite().all()


def test_a_model_of_another_kind_is_refused(benchmark, tmp_path):
    plain = tiny_bert(tmp_path / "plain", WORDS)
    with pytest.raises(InputError, match="a DeepQuant"):
        opened(benchmark, plain, tmp_path)


def test_mentions_are_named_by_what_they_say():
    ids = pl.Series(["a", "b"])
    rows = operator_benchmark().quantities.head(2).with_columns(doc_id=pl.Series(["a", "b"]))
    one = document_mentions(rows, ids).digest
    assert document_mentions(rows, ids).digest == one
    numbers = {"value": 9.0, "base_value": 9.0, "base_high": 9.0, "value_start": 3, "unit_end": 99}
    words = {"unit": "gram", "base_unit": "gram", "comparator": ">", "change": "up", "concept_spans": [[0, 1]]}
    changes = [pl.lit(to).cast(rows[name].dtype).alias(name) for name, to in (numbers | words).items()]
    others = {document_mentions(rows.with_columns(change), ids).digest for change in changes}
    assert len(others | {one}) == 1 + len(changes)
    assert document_mentions(rows.head(1), ids).digest != document_mentions(rows.head(1).clear(), ids).digest
