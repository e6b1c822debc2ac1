"""What every first stage promises, and what BM25's two engines give alike."""

from __future__ import annotations

import shutil

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from qbench.compression.plain import DTYPES
from qbench.errors import InputError, OptionError
from qbench.retrieval.analysis import tokens
from qbench.retrieval.dense import Dense
from qbench.retrieval.finishing import ranked
from qbench.retrieval.opening import open_ranker
from qbench.retrieval.rankers import BatchRanker, RankerContext, Search
from qbench.retrieval.registration import own_entry
from qbench.retrieval.shared_texts import distinct
from qbench.retrieval.systems import Component, Stage
from qbench.retrieval.vectors import StoredVectors
from qbench.scoring.ranking import LARGE
from tests.api_server import ApiServer
from tests.encoder_factories import tiny_bert
from tests.rankers import scores_of

TEXTS = {
    "d1": "the quick brown fox",
    "d2": "the lazy dog and the quick dog",
    "d3": "",
    "d4": "a fox of 5 kg",
    "d5": "the dog weighs 3.5 kg, the fox 5",
    "d6": "the end",
    "d7": "the quick brown fox",
}
CORPUS = pl.DataFrame({"doc_id": list(TEXTS), "passage": list(TEXTS.values())}).sort("doc_id", descending=True)
RUN = [("q1", "d1", 3.0), ("q1", "d5", 4.0), ("q1", "d2", -1.0), ("q2", "d6", 0.5)]


def opened(name, values, corpus, key, folder, depth=1000):
    return open_ranker(Stage(Component(name, tuple(values.items()))), RankerContext(corpus, key, folder, depth))


@pytest.fixture(scope="session")
def model(tmp_path_factory):
    words = [word for text in TEXTS.values() for word in tokens(text)]
    return tiny_bert(tmp_path_factory.mktemp("model") / "tiny", words)


@pytest.fixture(scope="session")
def masked(tmp_path_factory):
    words = [word for text in TEXTS.values() for word in tokens(text)]
    return tiny_bert(tmp_path_factory.mktemp("model") / "masked", words, head=True)


@pytest.fixture(scope="session")
def aggretriever(tmp_path_factory, model):
    from qbench.models.aggretriever import Aggretriever

    folder = tmp_path_factory.mktemp("aggretriever") / "tiny"
    folder.mkdir()
    Aggretriever.new(model, agg_dimension=12, cls_dimension=8).save(folder)
    return folder


DENSE = {
    "dense": ("SBERT", {}),
    "dense-float16": ("SBERT", {"dtype": "float16"}),
    "dense-int8": ("SBERT", {"dtype": "int8"}),
    "dense-faiss": ("SBERT", {"engine": "faiss"}),
    "dense-faiss-int8": ("SBERT", {"engine": "faiss", "dtype": "int8"}),
    "dense-cls-dot": ("SBERT_ft", {"pooling": "cls", "similarity": "dot"}),
    "tct": ("TCT-ColBERT", {}),
    "tct-max-plain-int8": ("TCT-ColBERT", {"pooling": "max", "markers": "none", "dtype": "int8"}),
    "aggretriever": ("Aggretriever", {}),
    "aggretriever-faiss": ("Aggretriever", {"engine": "faiss", "dtype": "float16"}),
}


LATE = {
    "late exact": {},
    "late centroids": {"engine": "centroids", "nprobe": 1, "candidates": 5},
    "late faiss": {"engine": "faiss", "nprobe": 1, "candidates": 5},
    "late faiss pq": {"engine": "faiss", "nprobe": 1, "candidates": 5, "copy": "pq"},
}


@pytest.fixture(params=["numpy", "rank-bm25", "run", *DENSE, "sparse", *LATE, "OpenAI", "Cohere", "own"])
def stage(request, tmp_path, monkeypatch):
    if request.param == "own":
        return own(tmp_path)
    if request.param in ("OpenAI", "Cohere"):
        return api(request.param, request.getfixturevalue("web"), tmp_path, monkeypatch, depth=4)
    if request.param in DENSE:
        name, changes = DENSE[request.param]
        model = request.getfixturevalue("aggretriever" if name == "Aggretriever" else "model")
        return dense(model, tmp_path, depth=4, name=name, **changes)
    if request.param.startswith("late"):
        return late(request.getfixturevalue("model"), tmp_path, **LATE[request.param])
    if request.param == "sparse":
        values = {"model": str(request.getfixturevalue("masked")), "max_length": 0}
        return opened("SPLADE", values, CORPUS, "key", tmp_path).ranker
    if request.param == "run":
        path = tmp_path / "a.run"
        path.write_text("".join(f"{q} Q0 {d} 1 {s} x\n" for q, d, s in RUN))
        return opened("Run", {"path": str(path)}, CORPUS, "key", tmp_path).ranker
    return bm25(request.param, tmp_path)


def own(folder):
    def lengths(documents, *, weight: float = 0.5):
        def score(query):
            words = set(query.text.split())
            return [weight * len(text) if words & set(text.split()) else -np.inf for text in documents.texts]

        return score

    entry = own_entry("Lengths", lengths, "1", "", "")
    return entry.opener(Stage(Component("Lengths")), entry.typed(()), RankerContext(CORPUS, "key", folder, 4)).ranker


def bm25(engine, folder, **changes):
    values = {"k1": 1.5, "b": 0.75, "epsilon": 0.25, "engine": engine, **changes}
    return opened("BM25", values, CORPUS, "key", folder).ranker


def opened_dense(model, folder, *, depth=1000, corpus=CORPUS, name="SBERT", **changes):
    return opened(name, {"model": str(model), **changes}, corpus, "key", folder, depth=depth)


def dense(model, folder, **options):
    return opened_dense(model, folder, **options).ranker


@pytest.fixture
def web():
    with ApiServer() as server:
        yield server


def api(name, web, folder, monkeypatch, *, depth=1000, **changes):
    monkeypatch.setenv("no_proxy", "127.0.0.1")
    where = web.url if name == "OpenAI" else web.address
    values = {"model": "m", "base_url": where, "batch": 3, **changes}
    return opened(name, values, CORPUS, "key", folder, depth=depth).ranker


def late(model, folder, **changes):
    return opened("ColBERT", {"model": str(model), **changes}, CORPUS, "key", folder, depth=4).ranker


def search(text, query_id="q1"):
    return Search(query_id, text, tokens=tokens(text))


@pytest.mark.parametrize("text", ["quick fox", "the the dog", "nothing known", "", "5 kg"])
def test_candidates_are_ascending_positions_with_a_score_each(stage, text):
    found = stage.search(search(text))
    assert (np.diff(found.docs) > 0).all()
    assert found.docs.shape == found.scores.shape
    assert found.scores.dtype == np.float64
    assert ((found.docs >= 0) & (found.docs < CORPUS.height)).all()
    again = stage.search(search(text))
    assert again.scores.tolist() == found.scores.tolist()


@pytest.mark.parametrize("text", ["quick fox", "the the dog", "nothing known", "", "5 kg"])
def test_given_documents_score_as_when_they_are_found(stage, text):
    (asked,) = stage.prepared([Search("q1", text)])
    found = stage.search(asked)
    backwards = found.docs[::-1]
    (asked,) = stage.encoded([Search("q1", text)])
    np.testing.assert_allclose(scores_of(stage, asked, backwards), found.scores[::-1], rtol=1e-5, atol=1e-6)
    assert scores_of(stage, asked, found.docs[:0]).shape == (0,)


def test_searches_prepared_together_find_what_each_finds_alone(stage):
    asked = [Search(f"q{number}", text) for number, text in enumerate(["quick fox", "dog", "", "5 kg"], 1)]
    ready = stage.prepared(asked)
    assert [(s.query_id, s.text) for s in ready] == [(s.query_id, s.text) for s in asked]
    for one, alone in zip(ready, asked, strict=True):
        (alone,) = stage.prepared([alone])
        first, second = stage.search(one), stage.search(alone)
        np.testing.assert_allclose(first.scores, second.scores, rtol=1e-5, atol=1e-6)
        scores = [dict(zip(found.docs.tolist(), found.scores.tolist(), strict=True)) for found in (first, second)]
        for doc in scores[0].keys() | scores[1].keys():
            # Padding rounds otherwise: what is not in both is as good as the last, and no other.
            a, b = (some.get(doc, found.scores[-1]) for some, found in zip(scores, (first, second), strict=True))
            assert a == pytest.approx(b, rel=1e-5, abs=1e-6)


def test_dense_search_ranks_by_cosine_and_equal_texts_by_falling_id(model, tmp_path):
    from sentence_transformers import SentenceTransformer

    theirs = SentenceTransformer(str(model))
    cosines = theirs.similarity(theirs.encode(["a quick dog"]), theirs.encode(CORPUS["passage"].to_list()))[0]
    found = dense(model, tmp_path).search(search("a quick dog"))
    assert found.docs.tolist() == list(range(CORPUS.height))
    np.testing.assert_allclose(found.scores, cosines, atol=1e-5)
    twins = [CORPUS["doc_id"].to_list().index(name) for name in ("d7", "d1")]
    assert found.scores[twins[0]] == found.scores[twins[1]]
    first = dense(model, tmp_path, depth=1).search(search(TEXTS["d1"]))
    assert first.docs.tolist() == twins[:1]


@pytest.mark.parametrize("name", ["OpenAI", "Cohere"])
def test_a_provider_s_embeddings_rank_as_the_model_behind_them(name, model, web, tmp_path, monkeypatch):
    from sentence_transformers import SentenceTransformer

    theirs = SentenceTransformer(str(model))
    web.embed = lambda texts: 3 * theirs.encode(texts).astype(np.float64)
    known = CORPUS.filter(pl.col("passage") != "")  # a provider is never asked for the vector of nothing
    monkeypatch.setitem(globals(), "CORPUS", known)
    ours, local = api(name, web, tmp_path, monkeypatch), dense(model, tmp_path, corpus=known)
    for text in ("a quick dog", "5 kg", "the end"):
        a, b = ours.search(search(text)), local.search(search(text))
        assert a.docs.tolist() == b.docs.tolist()
        np.testing.assert_allclose(a.scores, b.scores, atol=1e-5)


def test_a_provider_s_vectors_are_kept_under_what_can_change_them(web, tmp_path, monkeypatch):
    def folders():
        return len([path for path in tmp_path.iterdir() if path.is_dir()])

    api("OpenAI", web, tmp_path, monkeypatch)
    asked = len(web.seen)
    api("OpenAI", web, tmp_path, monkeypatch, batch=2)
    assert (folders(), len(web.seen)) == (1, asked)
    for number, changes in enumerate(({"model": "n"}, {"dimensions": 8}, {"max_length": 1}), 2):
        api("OpenAI", web, tmp_path, monkeypatch, **changes)
        assert folders() == number
    api("Cohere", web, tmp_path, monkeypatch)
    assert folders() == 5


@given(st.lists(st.sampled_from(list(TEXTS.values())), max_size=12), st.integers(1, 14))
def test_a_dense_ranking_is_cut_as_if_every_document_had_its_own_vector(texts, depth):
    distinct_texts, shared = distinct(pl.Series(texts, dtype=pl.String))
    assert [distinct_texts[int(t)] for t in shared.of] == texts
    table = {text: i % 3 for i, text in enumerate(TEXTS.values())}  # some different texts score alike

    class Encoder:
        dimension = 1

        def encode(self, texts, role="document"):
            return np.array([[1.0 if role == "query" else table[text]] for text in texts], np.float32).reshape(-1, 1)

    arrays = {"vectors": Encoder().encode(distinct_texts.to_list())}
    stage = Dense(Encoder(), StoredVectors(DTYPES["float32"], arrays, shared, 1, shared.starts), depth)
    found = stage.search(Search("q", "anything"))
    expected = sorted(sorted(range(len(texts)), key=lambda i: (-table[texts[i]], i))[:depth])
    assert found.docs.tolist() == expected
    assert found.scores.tolist() == [table[texts[i]] for i in expected]


def test_vectors_are_kept_under_what_the_model_holds(model, tmp_path):
    root = tmp_path / "indexes"
    dense(model, root)
    kept = {path.name for path in root.iterdir() if path.is_dir()}
    copy = shutil.copytree(model, tmp_path / "elsewhere")
    dense(copy, root)
    assert {path.name for path in root.iterdir() if path.is_dir()} == kept
    other = tiny_bert(tmp_path / "other", ["fox"], seed=1)
    dense(other, root)
    assert len([path for path in root.iterdir() if path.is_dir()]) == len(kept) + 1
    for path in root.rglob("*.json"):
        assert str(tmp_path) not in path.read_text()


@pytest.mark.parametrize("engine", ["numpy", "rank-bm25"])
def test_a_lexical_stage_retrieves_the_documents_that_hold_a_token(engine, tmp_path):
    stage = bm25(engine, tmp_path)
    positions = {doc: i for i, doc in enumerate(CORPUS["doc_id"])}
    asked = search("quick 5 unheard")
    held = {doc for doc, text in TEXTS.items() if set(asked.tokens) & set(tokens(text))}
    assert stage.search(asked).docs.tolist() == sorted(positions[doc] for doc in held)
    assert stage.holding(asked, "any").tolist() == stage.search(asked).docs.tolist()
    assert stage.holding(asked, "all").size == 0
    both = {doc for doc, text in TEXTS.items() if {"the", "fox"} <= set(tokens(text))}
    assert stage.holding(search("fox the"), "all").tolist() == sorted(positions[doc] for doc in both)
    assert all(stage.holding(search(""), terms).size == 0 for terms in ("any", "all"))


@pytest.mark.parametrize("many", [False, True])
def test_the_best_of_many_searches_are_those_of_each(many, tmp_path):
    """Of a small corpus, and of one that compiled loops search on all cores."""
    texts = [text for text in TEXTS.values() for _ in range(LARGE // 6 if many else 1)]
    corpus = pl.DataFrame({"doc_id": [f"{n:06d}" for n in range(len(texts))], "passage": texts})
    ranker = opened("BM25", {}, corpus, f"many {many}", tmp_path).ranker
    assert isinstance(ranker, BatchRanker)
    asked = ["the quick dog", "fox", "lazy", "nothing of it", "", "5 kg the the"]
    searches = ranker.prepared([Search(str(n), text) for n, text in enumerate(asked)])
    for depth in (1, 4, 1000):
        for search, found in zip(searches, ranker.best(searches, depth), strict=True):
            expected = ranked(ranker.search(search), depth)
            assert found.docs.tolist() == expected.docs.tolist()
            np.testing.assert_array_equal(found.scores, expected.scores)


def test_both_engines_give_the_same_scores(tmp_path):
    for changes in ({}, {"k1": 0.5, "b": 0.2}, {"epsilon": 0.0}, {"b": 0.0}, {"b": 1.0}):
        ours, theirs = bm25("numpy", tmp_path, **changes), bm25("rank-bm25", tmp_path, **changes)
        for text in ("quick fox", "the the dog 5", "kg", "unheard", ""):
            a, b = ours.search(search(text)), theirs.search(search(text))
            assert a.docs.tolist() == b.docs.tolist()
            np.testing.assert_allclose(a.scores, b.scores, rtol=1e-12)


def test_the_reference_cannot_do_without_k1_and_ours_can(tmp_path):
    with pytest.raises(OptionError, match="k1=0"):
        bm25("rank-bm25", tmp_path, k1=0.0)
    found = bm25("numpy", tmp_path, k1=0.0).search(search("dog dog"))
    assert found.scores[0] == found.scores[1] > 0  # how often a document says it does not matter


@pytest.mark.parametrize("engine", ["numpy", "rank-bm25"])
def test_a_corpus_without_words_retrieves_nothing(engine, tmp_path):
    corpus = pl.DataFrame({"doc_id": ["b", "a"], "passage": ["", "-"]})
    values = {"k1": 1.5, "b": 0.75, "epsilon": 0.25, "engine": engine}
    stage = opened("BM25", values, corpus, "empty", tmp_path).ranker
    assert stage.search(search("the")).docs.size == 0


def test_an_index_is_built_once_and_its_cost_is_kept(tmp_path):
    values = {"k1": 1.5, "b": 0.75, "epsilon": 0.25, "engine": "numpy"}
    first = opened("BM25", values, CORPUS, "key", tmp_path)
    assert first.size > 0
    again = opened("BM25", values, CORPUS, "key", tmp_path)
    assert (again.seconds, again.size) == (first.seconds, first.size)
    folders = [path.name for path in tmp_path.iterdir() if path.is_dir()]
    opened("BM25", {**values, "k1": 0.9}, CORPUS, "key", tmp_path)
    opened("BM25", values, CORPUS, "another corpus", tmp_path)
    assert len([path for path in tmp_path.iterdir() if path.is_dir()]) == len(folders) + 2


def test_an_index_has_the_same_bytes_when_it_is_built_again(tmp_path):
    def files(folder):
        bm25("numpy", folder)
        made = (path for path in folder.rglob("*") if path.suffix in (".npy", ".parquet"))
        return {path.relative_to(folder): path.read_bytes() for path in made}

    assert files(tmp_path / "a") == files(tmp_path / "b")


def test_a_given_run_keeps_its_scores_and_knows_only_its_queries(tmp_path):
    path = tmp_path / "a.run"
    path.write_text("".join(f"{q} Q0 {d} 1 {s} x\n" for q, d, s in RUN))
    stage = opened("Run", {"path": str(path)}, CORPUS, "key", tmp_path).ranker
    found = stage.search(search("whatever", "q1"))
    ids = CORPUS["doc_id"].gather(found.docs).to_list()
    assert dict(zip(ids, found.scores.tolist(), strict=True)) == {"d1": 3.0, "d5": 4.0, "d2": -1.0}
    assert stage.search(search("whatever", "q3")).docs.size == 0


def test_a_run_of_another_corpus_is_refused(tmp_path):
    path = tmp_path / "a.run"
    path.write_text("q1 Q0 d99 1 1.0 x\n")
    with pytest.raises(InputError, match=r"1 documents that the benchmark does not have .*d99"):
        opened("Run", {"path": str(path)}, CORPUS, "key", tmp_path)
