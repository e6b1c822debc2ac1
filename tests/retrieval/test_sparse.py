"""SPLADE on its inverted index: what it finds, what it adds to quantities, how its index is made."""

from __future__ import annotations

import json
import shutil

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from qbench.errors import InputError
from qbench.models.sparse import UNTRAINED, Splade
from qbench.retrieval import sparse as module
from qbench.retrieval.analysis import tokens
from qbench.retrieval.execute import execute
from qbench.retrieval.grammar import parse_system
from qbench.retrieval.jobs import ExecuteOptions
from qbench.retrieval.opening import open_ranker
from qbench.retrieval.rankers import RankerContext, Search
from qbench.retrieval.sparse import Sparse, build_sparse, open_postings
from qbench.retrieval.systems import Component, Stage
from qbench.retrieval.vectors import open_shared
from tests.encoder_factories import tiny_bert
from tests.factories import tiny_benchmark
from tests.rankers import scores_of

BENCHMARK = tiny_benchmark()
TEXTS = ["the quick brown fox", "", "a fox of 5 kg", "the lazy dog", "the quick brown fox", "kg of fox"]
CORPUS = pl.DataFrame({"doc_id": [f"d{9 - i}" for i in range(len(TEXTS))], "passage": TEXTS})


class Table:
    """An encoder by a table; a query's weights are those of its text, and twice as high."""

    note = ""

    def __init__(self, rows, fails_at=None):
        self.rows, self.fails_at, self.asked = rows, fails_at, []
        self.dimension = len(next(iter(rows.values()), [0]))

    def terms(self):
        return [str(number) for number in range(self.dimension)]

    def encode(self, texts, role="document"):
        from scipy.sparse import csr_array

        self.asked.append((role, list(texts)))
        if len(self.asked) == self.fails_at:
            raise KeyboardInterrupt
        dense = np.array([self.rows[text] for text in texts], np.float32).reshape(-1, self.dimension)
        return csr_array(dense * (2 if role == "query" else 1))

    def cut(self, texts):
        return np.array([len(text) > 12 for text in texts], dtype=bool)


def built(folder, texts, encoder, progress=lambda *_: None):
    corpus = pl.DataFrame(
        {"doc_id": map(str, range(len(texts))), "passage": texts}, dict.fromkeys(("doc_id", "passage"), pl.String)
    )
    index = build_sparse(encoder, {}, RankerContext(corpus, "key", folder, progress=progress))
    return Sparse(encoder, open_postings(index.folder), open_shared(index.folder))


@pytest.fixture(scope="session")
def model(tmp_path_factory):
    words = [word for text in [*TEXTS, *BENCHMARK.corpus["text"]] for word in tokens(text)]
    return tiny_bert(tmp_path_factory.mktemp("model") / "masked", words, head=True, positions=16)


def opened(model, folder, *, corpus=CORPUS, max_length=0, name="SPLADE"):
    stage = Stage(Component(name, (("model", str(model)), ("max_length", max_length))))
    return open_ranker(stage, RankerContext(corpus, "key", folder))


def ask(folder, *names, **options):
    how = ExecuteOptions(settings=("given",), **options)
    return execute(BENCHMARK, [parse_system(name) for name in names], folder, how)


def scores(result, query_id):
    return dict(result.run.filter(query_id=query_id).select("doc_id", "score").iter_rows())


ROWS = {"a": [1, 0, 0.5], "b": [0, 2, 0], "c": [0, 0, 0], "d": [0.25, 3, 1]}


@given(st.lists(st.sampled_from(list(ROWS)), max_size=10), st.sampled_from(list(ROWS)))
@settings(max_examples=40, deadline=None)
def test_it_finds_what_a_dense_product_says(tmp_path_factory, texts, query):
    stage = built(tmp_path_factory.mktemp("index"), texts, Table(ROWS))
    expected = np.array([np.dot(ROWS[text], ROWS[query]) * 2 for text in texts])
    found = stage.search(Search("q", query))
    assert found.docs.tolist() == np.flatnonzero(expected > 0).tolist()
    np.testing.assert_allclose(found.scores, expected[found.docs])
    (asked,) = stage.encoded([Search("q", query)])
    np.testing.assert_allclose(scores_of(stage, asked, np.arange(len(texts))), expected)


def test_scores_are_those_of_sentence_transformers(model, tmp_path):
    from sentence_transformers import SparseEncoder

    theirs = SparseEncoder(str(model))
    documents, query = theirs.encode_document(TEXTS).to_dense(), theirs.encode_query(["a quick dog"]).to_dense()
    expected = (documents @ query[0]).numpy()
    stage = opened(model, tmp_path).ranker
    found = stage.search(Search("q", "a quick dog"))
    np.testing.assert_allclose(found.scores, expected[found.docs], rtol=1e-4)
    assert found.docs.tolist() == np.flatnonzero(expected).tolist()


def test_equal_texts_are_encoded_once_and_score_alike(model, tmp_path, monkeypatch):
    asked, encode = [], Splade.encode
    monkeypatch.setattr(
        Splade, "encode", lambda self, texts, *role: asked.append(list(texts)) or encode(self, texts, *role)
    )
    stage = opened(model, tmp_path).ranker
    assert asked == [TEXTS[:4] + TEXTS[5:]]
    found = scores_of(stage, Search("q", "quick fox"), np.array([0, 4]))
    assert found[0] == found[1] > 0


def test_a_query_without_weights_finds_nothing(tmp_path):
    stage = built(tmp_path, ["a", "c", "d"], Table(ROWS))
    assert stage.search(Search("q", "c")).docs.size == 0
    assert scores_of(stage, Search("q", "c"), np.arange(3)).tolist() == [0, 0, 0]


@pytest.mark.parametrize("texts", [[], ["c", "c"]])
def test_a_corpus_without_weights_is_searched_all_the_same(tmp_path, texts):
    found = built(tmp_path, texts, Table(ROWS)).search(Search("q", "d"))
    assert found.docs.size == found.scores.size == 0


def test_what_was_cut_how_many_terms_there_are_and_a_made_head_are_told(model, tmp_path):
    whole = opened(model, tmp_path)
    assert set(whole.meta) == {"documents_cut", "mean_terms"}
    assert whole.meta["documents_cut"] == 0
    assert whole.meta["mean_terms"] == round(whole.ranker.postings.docs.size / 5, 1)
    assert whole.size > whole.ranker.postings.docs.size * 8
    short = opened(model, tmp_path, max_length=5)
    assert short.meta["documents_cut"] == 3  # of three words or more; the same text twice is two documents
    assert opened(model, tmp_path, max_length=5).meta == short.meta
    plain = tiny_bert(tmp_path / "plain", ["fox"])
    assert opened(plain, tmp_path).meta["note"] == UNTRAINED


def test_a_killed_index_goes_on_and_has_the_same_bytes(tmp_path, monkeypatch):
    monkeypatch.setattr(module, "BLOCK", 3)
    texts, told = [*"abcd", *(f"{text}{number}" for number in range(2) for text in "abcd")], []
    rows = {text: ROWS[text[0]] for text in texts}
    killed = Table(rows, fails_at=3)
    with pytest.raises(KeyboardInterrupt):
        built(tmp_path / "cut", texts, killed)
    again = Table(rows)
    built(tmp_path / "cut", texts, again, lambda done, total, what: told.append((done, total)))
    assert [len(some) for _, some in again.asked] == [3, 3]
    assert told[-1] == (12, 12)
    built(tmp_path / "whole", texts, Table(rows))
    monkeypatch.setattr(module, "BLOCK", 100)
    built(tmp_path / "one block", texts, Table(rows))
    for chunk in (1, 7):  # postings sorted at a time; some terms have more
        monkeypatch.setattr(module, "CHUNK", chunk)
        monkeypatch.setattr(module, "ENTRIES", chunk)
        built(tmp_path / f"chunks of {chunk}", texts, Table(rows))
    files = [{path.name: path.read_bytes() for path in made.rglob("*.npy")} for made in sorted(tmp_path.iterdir())]
    assert len(files) == 5
    assert all(some == files[0] for some in files)
    assert set(files[0]) == {
        f"{name}.npy" for name in ("terms", "postings", "weights", "text_starts", "text_docs", "size")
    }


def test_an_index_is_kept_under_what_can_change_it(model, tmp_path):
    def kept():
        return {path.name for path in (tmp_path / "indexes").iterdir() if path.is_dir()}

    opened(model, tmp_path / "indexes")
    first = kept()
    opened(model, tmp_path / "indexes", name="SPLADE_ft")
    assert kept() == first
    opened(model, tmp_path / "indexes", max_length=4)
    opened(tiny_bert(tmp_path / "other", ["fox"], head=True), tmp_path / "indexes")
    assert len(kept()) == 3
    for path in (tmp_path / "indexes").rglob("*.json"):
        assert str(tmp_path) not in path.read_text()


def test_qsplade_is_equation_9_over_the_whole_ranking(model, tmp_path):
    from sentence_transformers import SparseEncoder

    theirs = SparseEncoder(str(model))
    texts, ids = BENCHMARK.corpus["text"].to_list(), BENCHMARK.corpus["doc_id"].to_list()
    weights = theirs.encode_document(texts).to_dense().numpy()
    asked = theirs.encode_query(["laptop weight"]).to_dense().numpy()[0]
    terms = dict(zip(ids, (weights @ asked).tolist(), strict=True))
    (result,) = ask(tmp_path, f"QSPLADE(model={model}, alpha=0.7)")
    # "laptop weight over 2 kg": only d03 (2.4 kg, its one quantity) satisfies it, with a ratio of 2 / 2.4.
    expected = {doc: score / max(terms.values()) for doc, score in terms.items() if score > 0}
    assert "d03" in expected
    expected["d03"] += 0.7 * 2 / 2.4
    assert scores(result, "q4") == pytest.approx(expected, rel=1e-4)


def test_quantities_are_not_added_where_no_term_matches(model, tmp_path, monkeypatch):
    asked = [text for query in BENCHMARK.queries for text in (query.text, query.terms)]
    rows = {text: [1, 0] for text in [*BENCHMARK.corpus["text"], *asked]}
    rows[BENCHMARK.corpus["text"][2]] = [0, 1]  # d03
    monkeypatch.setattr("qbench.models.sparse.load_sparse_encoder", lambda *_, **__: Table(rows))
    names = [f"{name}(model={model})" for name in ("SPLADE", "QSPLADE", "SPLADE_filter")]
    plain, scored, filtered = ask(tmp_path, *names)
    assert set(scores(scored, "q4")) == set(scores(plain, "q4")) == set(BENCHMARK.corpus["doc_id"]) - {"d03"}
    assert set(scores(scored, "q4").values()) == {1}
    assert scores(filtered, "q4") == {}
    assert set(scores(filtered, "q7")) == {"d02"}


def test_it_ranks_again_what_bm25_found(model, tmp_path):
    first, sparse, both = ask(tmp_path, "BM25", f"SPLADE(model={model})", f"BM25 + SPLADE_out(model={model})")
    for query in BENCHMARK.queries_of("test"):
        found, products = scores(both, query.query_id), scores(sparse, query.query_id)
        assert set(found) == set(scores(first, query.query_id))
        assert found == pytest.approx({doc: products.get(doc, 0.0) for doc in found}, rel=1e-5)
    assert both.meta["reranker_mean_terms"] == sparse.meta["mean_terms"] > 0


def test_a_missing_model_is_named(tmp_path):
    with pytest.raises(InputError, match="no such model folder"):
        ask(tmp_path, f"SPLADE(model={tmp_path}/nope)")


def test_a_weight_that_is_not_finite_names_its_document(model, tmp_path, monkeypatch):
    from safetensors.numpy import load_file, save_file

    broken = shutil.copytree(model, tmp_path / "broken")
    # The head has weights of its own, so that the texts without the word stay finite.
    weights = load_file(model / "model.safetensors")
    row = (model / "vocab.txt").read_text().split("\n").index("lazy")
    weights["bert.embeddings.word_embeddings.weight"][row] = np.nan
    weights["cls.predictions.decoder.weight"] = np.nan_to_num(weights["bert.embeddings.word_embeddings.weight"])
    weights["cls.predictions.decoder.bias"] = weights["cls.predictions.bias"].copy()
    save_file(weights, broken / "model.safetensors", {"format": "pt"})
    (broken / "config.json").write_text(
        json.dumps({**json.loads((broken / "config.json").read_text()), "tie_word_embeddings": False})
    )
    monkeypatch.setattr(module, "BLOCK", 2)  # it is not in the first one
    first = TEXTS.index("the lazy dog")
    said = rf"document {CORPUS['doc_id'][first]} a vector .* \(found 'the lazy dog'\)\. Its"
    with pytest.raises(InputError, match=said):
        opened(broken, tmp_path / "indexes")
