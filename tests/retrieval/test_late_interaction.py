"""ColBERT as a ranker: what it ranks, what is kept under which key, both engines, eq. 7, killed builds, bad input."""

from __future__ import annotations

import json
import sys

import numpy as np
import polars as pl
import pytest

from qbench.compression.plain import DTYPES
from qbench.errors import InputError, MissingPackageError
from qbench.models.multi_vector import MultiVector, load_multi_vector_encoder
from qbench.retrieval import late_interaction as module
from qbench.retrieval import vectors
from qbench.retrieval.analysis import tokens
from qbench.retrieval.execute import execute
from qbench.retrieval.faiss_index import FaissIndex, build_faiss, open_faiss
from qbench.retrieval.grammar import parse_system
from qbench.retrieval.jobs import ExecuteOptions
from qbench.retrieval.opening import open_ranker
from qbench.retrieval.passages import passages
from qbench.retrieval.rankers import RankerContext, Search
from qbench.retrieval.shared_texts import SharedTexts
from qbench.retrieval.systems import Component, Stage
from qbench.scoring.fusion import normalised
from qbench.scoring.maxsim import search as exact_search
from qbench.store import MANIFEST, read_json
from tests.encoder_factories import tiny_bert
from tests.factories import tiny_benchmark
from tests.rankers import scores_of

BENCHMARK = tiny_benchmark()
TEXTS = ["the quick fox", "", "the lazy dog, and the fox", "a fox of 5 kg", "the quick fox", "...", "dog dog dog"]
CORPUS = pl.DataFrame({"doc_id": [f"d{9 - i}" for i in range(len(TEXTS))], "passage": TEXTS})
ENGINES = ["exact", "centroids", "faiss"]
DEFAULTS = {"max_length": 0, "dtype": "float32", "engine": "exact", "nprobe": 4, "candidates": 4096}


@pytest.fixture(scope="session")
def tiny(tmp_path_factory):
    words = [word for text in [*TEXTS, *BENCHMARK.corpus["text"]] for word in [*tokens(text), ".", ","]]
    return tiny_bert(tmp_path_factory.mktemp("models") / "tiny", words)


def opened(model, root, corpus=CORPUS, *, depth=1000, key="key", role="first stage", **changes):
    values = {"model": str(model), **DEFAULTS, **changes}
    if role == "reranker":
        values = {name: values[name] for name in ("model", "max_length", "dtype")}
    return open_ranker(Stage(Component("ColBERT", tuple(values.items()))), RankerContext(corpus, key, root, depth))


def found(ranker, text):
    candidates = ranker.search(Search("q", text))
    return dict(zip(candidates.docs.tolist(), candidates.scores.tolist(), strict=True))


def artefacts(root, name):
    return sorted(path.parent for path in root.rglob(name) if not path.parent.name.startswith("."))


def test_it_ranks_as_sentence_transformers_scores(tiny, tmp_path):
    encoder = load_multi_vector_encoder(str(tiny))
    documents, queries = encoder.model.encode_document(TEXTS), encoder.model.encode_query(["a quick dog"])
    expected = encoder.model.similarity(queries, documents)[0].numpy()
    scores = found(opened(tiny, tmp_path).ranker, "a quick dog")
    np.testing.assert_allclose([scores[i] for i in range(len(TEXTS))], expected, atol=1e-4)
    for dtype, tolerance in (("float16", 0.02), ("int8", 0.2)):
        scores = found(opened(tiny, tmp_path, dtype=dtype).ranker, "a quick dog")
        np.testing.assert_allclose([scores[i] for i in range(len(TEXTS))], expected, atol=tolerance)


@pytest.mark.parametrize("engine", ENGINES)
def test_equal_texts_score_alike_and_are_cut_by_position(tiny, tmp_path, engine):
    whole = found(opened(tiny, tmp_path, engine=engine).ranker, "the quick fox")
    assert whole[0] == whole[4] == max(whole.values())
    ranker = opened(tiny, tmp_path, engine=engine, depth=1).ranker
    assert list(found(ranker, "the quick fox")) == [0]
    (asked,) = ranker.encoded([Search("q", "the quick fox")])
    one, other = scores_of(ranker, asked, np.array([4, 0]))
    assert one == other


@pytest.mark.parametrize(
    ("parts", "how"),
    [
        ("centroids", {"engine": "centroids"}),
        ("faiss_lists", {"engine": "faiss"}),
        ("faiss_lists", {"engine": "faiss", "copy": "pq"}),
    ],
)
def test_parts_that_are_all_probed_find_what_exact_search_finds(tiny, tmp_path, parts, how):
    exact = opened(tiny, tmp_path)
    probed = opened(tiny, tmp_path, nprobe=1000, **how)
    assert probed.meta[parts] >= 1
    assert probed.size > exact.size
    assert parts not in exact.meta
    for text in ("quick dog", "5 kg", "", "..."):
        one, other = found(exact.ranker, text), found(probed.ranker, text)
        assert one.keys() == other.keys()
        np.testing.assert_allclose(list(one.values()), list(other.values()), atol=1e-5)


@pytest.mark.parametrize("engine", ENGINES[1:])
def test_recall_is_the_share_of_the_best_that_are_candidates(tiny, tmp_path, engine):
    texts = [f"{TEXTS[n % 4]} {TEXTS[(n * 7) % 5]} {'fox dog quick lazy'.split()[n % 4 :][0]} {n}" for n in range(60)]
    corpus = pl.DataFrame({"doc_id": [f"d{n:02d}" for n in range(60)], "passage": texts})
    asked = [Search(str(n), text) for n, text in enumerate(("quick dog", "5 kg", "the lazy fox", "and 5 kg dog"))]
    exact = opened(tiny, tmp_path, corpus, depth=9).ranker
    assert exact.recall(asked) is None
    assert opened(tiny, tmp_path, corpus, engine=engine, nprobe=1000).ranker.recall(asked) == 1.0
    poor = opened(tiny, tmp_path, corpus, depth=9, engine=engine, nprobe=1, candidates=1).ranker
    shares = [len(found(exact, each.text).keys() & found(poor, each.text).keys()) / 9 for each in asked]
    assert poor.recall(asked) == pytest.approx(np.mean(shares))
    assert 0 < poor.recall(asked) < 1
    assert poor.recall([]) == 1.0


@pytest.mark.parametrize("compression", ["", "-PQ(M=8, K=16)"])
@pytest.mark.parametrize("model", ["ColBERT", "CodedColBERT"])
@pytest.mark.parametrize("how", ["engine=centroids", "engine=faiss", "engine=faiss, copy=pq"])
def test_a_board_says_what_candidates_hold_on_its_queries(tiny, tmp_path, how, model, compression):
    name = f"{model}(model={tiny}, {how}, nprobe=1000){compression}"
    probed, exact = ask(tmp_path, name, f"{model}(model={tiny}){compression}")
    # Of some texts and of all, products of matrices differ in the last bits on some processors, and ties are broken.
    by_document = [each.run.sort("query_id", "doc_id") for each in (probed, exact)]
    assert by_document[0][["query_id", "doc_id"]].equals(by_document[1][["query_id", "doc_id"]])
    np.testing.assert_allclose(by_document[0]["score"], by_document[1]["score"], atol=1e-5)
    assert probed.meta["candidate_recall"] == 1.0
    assert probed.meta["candidate_recall_queries"] == len(BENCHMARK.queries_of("test"))
    assert "candidate_recall" not in exact.meta


@pytest.mark.parametrize("engine", ENGINES[1:])
def test_fewer_candidates_than_documents_asked_for_are_too_few(tiny, tmp_path, engine):
    ranker = opened(tiny, tmp_path, engine=engine, nprobe=1000, candidates=1, depth=3).ranker
    assert len(found(ranker, "the quick fox")) == 3


def test_quantised_copies_of_token_vectors_are_small_and_propose_nearly_as_well(tmp_path):
    """Texts of ten words each from a vocabulary of 300 vectors, each occurrence a little apart."""
    rng = np.random.default_rng(5)
    words = rng.standard_normal((300, 16))
    said = words[rng.integers(300, size=24_000)] + 0.4 * rng.standard_normal((24_000, 16))
    said = (said / np.linalg.norm(said, axis=1, keepdims=True)).astype(np.float32)
    starts, none = np.arange(0, 24_001, 10), np.empty(0, np.int64)
    tokens = vectors.StoredVectors(DTYPES["float32"], {"vectors": said}, SharedTexts(none, none), 16, starts)
    asked = [said[starts[text] : starts[text + 1]] + 0.1 * rng.standard_normal((10, 16)) for text in range(0, 2400, 80)]
    asked = [query.astype(np.float32) for query in asked]
    best = [docs for docs, _ in exact_search(tokens, asked, 20)]
    whole, small = (build_faiss(tokens, "key", tmp_path, copy=copy) for copy in ("whole", "pq"))
    assert small.size < whole.size - 24_000 * (16 * 4 - 4) + 20_000
    recalls = {}
    for built, copy, nprobe in ((whole, "whole", 32), (small, "pq", 32), (small, "pq", 1)):
        lists = open_faiss(built.folder, nprobe, copy)
        found = [lists.texts(query, 200) for query in asked]
        assert all(some.size <= 200 and (np.diff(some) > 0).all() for some in found)
        recalls[copy, nprobe] = np.mean([np.isin(b, f).mean() for b, f in zip(best, found, strict=True)])
    assert recalls["whole", 32] > 0.9
    assert recalls["pq", 32] > recalls["whole", 32] - 0.1
    assert recalls["pq", 1] < recalls["pq", 32]
    assert small.folder != whole.folder


def test_a_text_without_a_near_vector_is_taken_to_have_the_last_one_found():
    """Two query vectors, two token vectors found for each: the gains over the last are 3 + 0, 0 + 5 and 0."""
    index = FaissIndex(None, 1)
    found = np.array([[0, 1, -1], [1, 2, 1]]), np.array([[4, 1, -9], [7, 3, 2]], np.float32)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(FaissIndex, "_nearest", lambda self, query, k: found[::-1])
        query = np.zeros((2, 3), np.float32)
        assert [index.texts(query, count).tolist() for count in (1, 2, 3)] == [[1], [0, 1], [0, 1, 2]]


def test_without_faiss_there_is_a_line_to_install_it_before_any_encoding(tiny, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "faiss", None)
    with pytest.raises(MissingPackageError, match=r"pip install 'qbench\[faiss\]'"):
        opened(tiny, tmp_path, engine="faiss")
    assert not list(tmp_path.rglob("vectors.npy"))


def test_what_is_told_of_the_index(tiny, tmp_path):
    texts = [*TEXTS, *["fox " * 10_000] * 2]
    corpus = pl.DataFrame({"doc_id": [f"d{99 - i}" for i in range(len(texts))], "passage": texts})
    made = opened(tiny, tmp_path, corpus)
    assert made.meta["documents_cut"] == 2
    assert made.meta["note"] == "the projection was not trained: qbench train colbert"
    lengths, _ = load_multi_vector_encoder(str(tiny)).encode(list(dict.fromkeys(texts)))
    assert made.meta["token_vectors"] == lengths.sum()
    assert made.meta["bytes_per_document"] == pytest.approx(made.size / len(texts), abs=0.1)
    small = opened(tiny, tmp_path, corpus, dtype="int8")
    assert small.meta["bytes_per_document"] < made.meta["bytes_per_document"] / 2
    again = opened(tiny, tmp_path, corpus)
    assert (again.meta, again.seconds, again.size) == (made.meta, made.seconds, made.size)
    short = opened(tiny, tmp_path, max_length=5)
    assert short.meta["documents_cut"] == 6  # all but the empty one have more than two words or marks


def test_a_trained_model_has_no_note(tiny, tmp_path):
    load_multi_vector_encoder(str(tiny)).model.save(str(tmp_path / "saved"))
    assert "note" not in opened(tmp_path / "saved", tmp_path / "indexes").meta


def test_vectors_are_kept_under_everything_that_can_change_them(tiny, tmp_path):
    root, kept = tmp_path / "indexes", 0
    wide = tiny_bert(tmp_path / "wide", ["fox"], seed=1)
    import torch
    from sentence_transformers.base.modules import Dense

    encoder = load_multi_vector_encoder(str(wide))
    encoder.model[1] = Dense(
        32, 16, bias=False, activation_function=torch.nn.Identity(), module_input_name="token_embeddings"
    )
    encoder.model.save(str(tmp_path / "narrow"))
    for model, changes in (
        (tiny, {}),
        (tiny, {"dtype": "int8"}),
        (tiny, {"max_length": 5}),
        (tiny, {"key": "another corpus"}),
        (wide, {}),
        (tmp_path / "narrow", {}),  # another dimension: never the same index
    ):
        ranker = opened(model, root, **changes).ranker
        kept += 1
        assert len(artefacts(root, "vector_starts.npy")) == kept
        assert ranker.tokens.dimension == ranker.encoder.dimension
        assert found(ranker, "fox")
    opened(tiny, root, role="reranker")
    opened(tiny, root, engine="centroids", nprobe=1)
    opened(tiny, root, engine="centroids", nprobe=2)
    assert len(artefacts(root, "vector_starts.npy")) == kept
    assert len(artefacts(root, "centroids.npy")) == 1
    for path in root.rglob("*.json"):
        assert str(tmp_path) not in path.read_text()


def test_documents_in_bfloat16_are_nearly_those_of_single_precision_and_queries_are_the_same(tiny, tmp_path):
    exact = opened(tiny, tmp_path / "indexes", dtype="float32").ranker
    quick = opened(tiny, tmp_path / "indexes", dtype="float32", precision="bfloat16").ranker
    assert len(artefacts(tmp_path / "indexes", "vector_starts.npy")) == 2
    one, other = (ranker.tokens.rows(0, len(ranker.tokens)) for ranker in (exact, quick))
    assert not np.array_equal(one, other)
    np.testing.assert_allclose(np.linalg.norm(other, axis=1), 1, atol=1e-5)
    assert (one * other).sum(axis=1).min() > 0.995
    np.testing.assert_array_equal(*(ranker.encoded([Search("q", "fox")])[0].vector for ranker in (exact, quick)))


@pytest.mark.parametrize("dtype", ["float32", "float16", "int8"])
def test_an_index_has_the_same_bytes_when_it_is_built_again_and_when_it_was_killed(tiny, tmp_path, monkeypatch, dtype):
    def files(root):
        return {p.relative_to(root): p.read_bytes() for p in root.rglob("*.npy")}

    monkeypatch.setattr(module, "BLOCK", 2)
    for name in ("one", "two"):
        opened(tiny, tmp_path / name, dtype=dtype, engine="centroids")
    assert files(tmp_path / "one") == files(tmp_path / "two")
    calls, encode = [], MultiVector.encode

    def killed(self, texts, role="document"):
        calls.append(list(texts))
        if len(calls) == 2:
            raise KeyboardInterrupt
        return encode(self, texts, role)

    monkeypatch.setattr(MultiVector, "encode", killed)
    with pytest.raises(KeyboardInterrupt):
        opened(tiny, tmp_path / "cut", dtype=dtype, engine="centroids")
    opened(tiny, tmp_path / "cut", dtype=dtype, engine="centroids")
    assert calls == [TEXTS[:2], TEXTS[2:4], TEXTS[2:4], TEXTS[5:]]  # the fifth text is the first one again
    assert files(tmp_path / "cut") == files(tmp_path / "one")


def test_a_build_that_was_killed_after_its_blocks_encodes_nothing_again(tiny, tmp_path, monkeypatch):
    monkeypatch.setattr(module, "BLOCK", 2)
    with monkeypatch.context() as patch:
        patch.setattr(vectors, "save_arrays", lambda *_: (_ for _ in ()).throw(KeyboardInterrupt))
        with pytest.raises(KeyboardInterrupt):
            opened(tiny, tmp_path)
    with monkeypatch.context() as patch:
        patch.setattr(MultiVector, "encode", None)
        opened(tiny, tmp_path)
    assert found(opened(tiny, tmp_path).ranker, "fox") == found(opened(tiny, tmp_path / "whole").ranker, "fox")
    assert not list(tmp_path.rglob(".[a-z]*.npy"))


@pytest.mark.parametrize("engine", ENGINES)
def test_an_empty_corpus_and_one_of_empty_documents(tiny, tmp_path, engine):
    none = opened(tiny, tmp_path, CORPUS[:0], key="none", engine=engine)
    assert found(none.ranker, "the quick fox") == {}
    assert (none.meta["token_vectors"], none.meta["documents_cut"]) == (0, 0)
    corpus = pl.DataFrame({"doc_id": ["b", "a"], "passage": ["", ""]})
    empty = opened(tiny, tmp_path, corpus, key="empty", engine=engine)
    scores = found(empty.ranker, "the quick fox")
    assert list(scores) == [0, 1]
    assert scores[0] == scores[1]


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("text", ["", "the of and", "... , !", "the fox " * 500])
def test_odd_queries_are_answered(tiny, tmp_path, engine, text):
    ranker = opened(tiny, tmp_path, engine=engine).ranker
    scores = found(ranker, text)
    assert scores
    assert all(np.isfinite(score) for score in scores.values())


def test_vectors_that_are_not_finite_name_the_document(tiny, tmp_path):
    import torch

    encoder = load_multi_vector_encoder(str(tiny))
    row = encoder.model.tokenizer.convert_tokens_to_ids("lazy")
    with torch.no_grad():
        encoder.model.transformers_model.get_input_embeddings().weight[row] = float("nan")
    encoder.model.save(str(tmp_path / "broken"))
    first = next(n for n, text in enumerate(TEXTS) if text == "the lazy dog, and the fox")
    said = rf"document {CORPUS['doc_id'][first]} a vector that is not finite \(found 'the lazy dog, and the fox'\)"
    with pytest.raises(InputError, match=said):
        opened(tmp_path / "broken", tmp_path / "indexes")


def ask(folder, *names, **options):
    how = ExecuteOptions(settings=("given",), **options)
    return execute(BENCHMARK, [parse_system(name) for name in names], folder, how)


def rows(result, query_id):
    return dict(result.run.filter(query_id=query_id).select("doc_id", "score").iter_rows())


@pytest.mark.parametrize("engine", ENGINES)
def test_qcolbert_is_equation_7_with_its_plus_on_the_top_k(tiny, tmp_path, engine):
    name = f"(model={tiny}, engine={engine})"
    part = BENCHMARK.queries_of("test")
    names = f"ColBERT{name}", f"QColBERT(k=5, {name[1:]}", f"ColBERT_filter{name}"
    plain, scored, filtered = ask(tmp_path, *names, depth=5)
    assert len({result.digest for result in (plain, scored, filtered)}) == 3
    # The quantity score sees the search words' top k alone, whatever the depth, normalised by the best of them.
    corpus = passages(BENCHMARK.corpus)
    values = {"model": str(tiny), **DEFAULTS, "dtype": "float16", "engine": engine}
    stage = Stage(Component("ColBERT", tuple(values.items())))
    ranker = open_ranker(stage, RankerContext(corpus, "elsewhere", tmp_path / "own", 5)).ranker
    for query in part:
        candidates = ranker.search(Search("q", query.terms))
        terms = dict(
            zip(corpus["doc_id"].gather(candidates.docs).to_list(), normalised(candidates.scores), strict=True)
        )
        got = rows(scored, query.query_id)
        assert got.keys() == terms.keys()
        added = {doc: got[doc] - term for doc, term in terms.items()}
        assert all(-1e-5 < extra <= 1.00001 for extra in added.values())
    # q4 asks for laptops of > 2 kg: d03 (2.4 kg, its one quantity) gets 2 / 2.4, as in QBM25.
    (exact,) = ask(tmp_path, f"QColBERT(model={tiny})")
    (bare,) = ask(tmp_path, f"QColBERT(model={tiny}, alpha=0)")
    assert rows(exact, "q4")["d03"] - rows(bare, "q4")["d03"] == pytest.approx(2 / 2.4)
    assert rows(exact, "q4")["d01"] == pytest.approx(rows(bare, "q4")["d01"])
    assert set(rows(filtered, "q7")) <= {"d02"}


def test_it_reranks_another_stage_with_its_own_scores_and_reports_both(tiny, tmp_path):
    first, reranked = ask(tmp_path, "BM25", f"BM25 + ColBERT_ft(model={tiny}, dtype=float32, k=3)")
    (alone,) = ask(tmp_path, f"ColBERT_ft(model={tiny}, dtype=float32)")
    for query in BENCHMARK.queries_of("test"):
        best = list(rows(first, query.query_id))[:3]
        scores = rows(alone, query.query_id)
        assert list(rows(reranked, query.query_id)) == sorted(best, key=lambda doc: -scores[doc])
    assert reranked.meta["reranker_documents_cut"] == 0
    assert reranked.meta["reranker_token_vectors"] > 0
    manifests = [read_json(path) for path in (tmp_path / "indexes").rglob(MANIFEST)]
    assert [manifest["kind"] for manifest in manifests].count("token vectors") == 1
    assert "model" in json.dumps(manifests)


def test_the_three_names_are_one_ranker(tiny, tmp_path):
    runs = ask(tmp_path, *(f"{name}(model={tiny})" for name in ("ColBERT", "ColBERT_ft", "ColBERT_out")))
    assert runs[0].run.equals(runs[1].run)
    assert runs[0].run.equals(runs[2].run)
    assert len(artefacts(tmp_path, "vector_starts.npy")) == 1
