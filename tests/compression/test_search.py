"""A codec of one's own, one file and one row of the registry, is searched with through a system's name."""

from __future__ import annotations

import json

import numpy as np
import polars as pl
import pytest

from qbench.errors import OptionError
from qbench.retrieval import vectors
from qbench.retrieval.entries import REGISTRY
from qbench.retrieval.execute import execute
from qbench.retrieval.grammar import parse_system
from qbench.retrieval.jobs import ExecuteOptions
from qbench.retrieval.opening import open_ranker
from qbench.retrieval.passages import passages, placed
from qbench.retrieval.rankers import RankerContext, Search
from qbench.retrieval.registry import Entry
from qbench.scoring.coalescing import coalesced
from qbench.store import MANIFEST
from tests.compression.sign_codec import Sign
from tests.encoder_factories import tiny_bert
from tests.factories import tiny_benchmark
from tests.rankers import scores_of

ROW = Entry("Sign", ("compression",), "keeps the sign of each number, and one scale for each vector", "a test", Sign)
BENCHMARK = tiny_benchmark()


@pytest.fixture(autouse=True)
def _row():
    entries = REGISTRY.entries
    object.__setattr__(REGISTRY, "entries", (*entries, ROW))
    yield
    object.__setattr__(REGISTRY, "entries", entries)


@pytest.fixture(scope="module")
def tiny(tmp_path_factory):
    words = [word for text in BENCHMARK.corpus["text"] for word in text.lower().split()]
    return tiny_bert(tmp_path_factory.mktemp("compressed") / "tiny", words)


def ranker(name, folder, depth=1000):
    context = RankerContext(passages(BENCHMARK.corpus), "key", folder, depth)
    return open_ranker(parse_system(name).first, context)


def kinds(folder):
    return sorted(json.loads(path.read_text())["kind"] for path in folder.rglob(MANIFEST))


@pytest.mark.parametrize("name", ["SBERT(model={}, dtype=float16)", "TCT-ColBERT(model={}, engine=faiss, nprobe=1000)"])
def test_dense_search_scores_codes(tiny, tmp_path, name):
    name = name.format(tiny)
    plain, small = ranker(name, tmp_path), ranker(f"{name}-Sign", tmp_path)
    stored = small.ranker.vectors
    assert {key: array.dtype.name for key, array in stored.arrays.items()} == {"codes": "uint8", "scales": "float32"}
    (asked,) = small.ranker.prepared([Search("q", "laptop weight")])
    docs = np.arange(BENCHMARK.corpus.height)
    expected = stored.chosen(stored.shared.of) @ asked.vector
    np.testing.assert_allclose(scores_of(small.ranker, asked, docs), expected, rtol=1e-5, atol=1e-6)
    np.testing.assert_allclose(asked.hits.scores, expected[asked.hits.docs], rtol=1e-5, atol=1e-6)
    assert not np.allclose(scores_of(plain.ranker, asked, docs), expected)
    assert kinds(tmp_path).count("dense") == 1  # encoded once for both


@pytest.mark.parametrize("dtype", ["float16", "int8"])
@pytest.mark.parametrize("model", ["SBERT", "ColBERT"])
def test_plain_codecs_as_components_store_and_score_what_dtype_does(tiny, tmp_path, model, dtype):
    named = ranker(f"{model}(model={tiny}, dtype=float32)-{dtype}", tmp_path)
    option = ranker(f"{model}(model={tiny}, dtype={dtype})", tmp_path)
    attribute = "vectors" if model == "SBERT" else "tokens"
    stored, expected = (getattr(opened.ranker, attribute) for opened in (named, option))
    assert stored.codec == expected.codec
    assert stored.arrays.keys() == expected.arrays.keys()
    for name, array in expected.arrays.items():
        assert array.dtype == stored.arrays[name].dtype
        np.testing.assert_array_equal(array, stored.arrays[name])
    docs = np.arange(BENCHMARK.corpus.height)
    scores = [scores_of(o.ranker, o.ranker.encoded([Search("q", "laptop weight")])[0], docs) for o in (named, option)]
    np.testing.assert_array_equal(*scores)


@pytest.mark.parametrize("engine", ["exact", "centroids, nprobe=1000"])
def test_late_interaction_compares_decoded_vectors(tiny, tmp_path, engine):
    small = ranker(f"ColBERT(model={tiny}, engine={engine})-Sign(boost=2)", tmp_path)
    tokens = small.ranker.tokens
    assert tokens.codec == Sign(boost=2)
    assert np.abs(tokens.codec.learnt["mean"]).max() > 0
    (asked,) = small.ranker.encoded([Search("q", "laptop weight")])
    scores = scores_of(small.ranker, asked, np.arange(BENCHMARK.corpus.height))
    first = tokens.rows(int(tokens.starts[0]), int(tokens.starts[1]))
    doc = int(tokens.shared.docs[0])
    assert scores[doc] == pytest.approx((first @ asked.vector.T).max(axis=0).sum(), rel=1e-5)


def test_a_system_with_it_stands_beside_others(tiny, tmp_path):
    names = [f"SBERT(model={tiny})-Sign", f"QColBERT(model={tiny})-Sign(boost=3)", f"BM25 + SBERT(model={tiny})-Sign-I"]
    systems = [parse_system(name) for name in names]
    assert [str(system) for system in systems] == names
    results = execute(
        BENCHMARK, [*systems, parse_system(f"SBERT(model={tiny})")], tmp_path, ExecuteOptions(settings=("given",))
    )
    assert len({result.digest for result in results}) == 4
    assert results[0].cost.index_bytes < results[3].cost.index_bytes
    assert kinds(tmp_path / "indexes").count("compressed vectors") == 2
    execute(
        BENCHMARK, [parse_system(f"SBERT(model={tiny})-Sign(boost=0.5)")], tmp_path, ExecuteOptions(settings=("given",))
    )
    assert kinds(tmp_path / "indexes").count("compressed vectors") == 3


@pytest.mark.parametrize(
    ("name", "learnt"),
    [
        ("SBERT(model={})-PQ(M=8, K=4)", 4 * 4 * 32),
        ("TCT-ColBERT(model={})-OPQ(M=4, K=3)", 4 * 3 * 32 + 4 * 32 * 32),
        ("Aggretriever(model={})-KMeans(K=5)", None),
        ("ColBERT(model={}, dtype=float32)-PQ(M=4, K=16)", 4 * 16 * 32),
    ],
)
def test_the_size_reported_is_that_of_the_files_codes_and_codebook(tiny, tmp_path, name, learnt):
    opened = ranker(name.format(tiny), tmp_path)
    (folder,) = [path.parent for path in tmp_path.rglob("codec.codebook.npy")]
    files = {path.name: path.stat().st_size for path in folder.iterdir() if path.name not in (MANIFEST, "seconds.json")}
    assert opened.size == sum(files.values())
    # What numpy writes before an array takes 128 bytes.
    assert opened.meta["codes_bytes"] == files["codes.npy"] - 128
    arrays = [size - 128 for file, size in files.items() if file.startswith("codec.")]
    assert opened.meta["codebook_bytes"] == sum(arrays) == (learnt or sum(arrays))
    stored = opened.ranker.tokens if "token_vectors" in opened.meta else opened.ranker.vectors
    whole = 4 * len(stored) * stored.dimension
    assert opened.meta["compression"] == round(whole / (opened.meta["codes_bytes"] + sum(arrays)), 2)
    assert "text_docs.npy" not in files  # each of these texts has one document


def test_documents_with_one_text_share_codes(tiny, tmp_path):
    corpus = passages(BENCHMARK.corpus)
    corpus = pl.concat([corpus, corpus.head(3).with_columns(doc_id=pl.lit("a ") + pl.col("doc_id"))])
    opened = open_ranker(
        parse_system(f"SBERT(model={tiny})-PQ(M=8, K=4)").first, RankerContext(corpus, "key", tmp_path)
    )
    (asked,) = opened.ranker.encoded([Search("q", "laptop weight")])
    scores = scores_of(opened.ranker, asked, np.arange(corpus.height))
    np.testing.assert_array_equal(scores[-3:], scores[:3])
    assert len(opened.ranker.vectors) == BENCHMARK.corpus.height
    (path,) = [path for path in tmp_path.rglob("text_docs.npy") if (path.parent / "codes.npy").is_file()]
    assert np.load(path).dtype == np.uint8


def test_passages_of_a_document_share_the_mean_of_their_vectors(tiny, tmp_path):
    corpus = placed(BENCHMARK.corpus)
    context = RankerContext(corpus, "key", tmp_path)
    plain = open_ranker(parse_system(f"SBERT(model={tiny})").first, context).ranker.vectors
    vectors = plain.chosen(plain.shared.of)
    delta = round(float(np.quantile(1 - vectors @ vectors.T, 0.5)), 6)
    name = f"SBERT(model={tiny})-Coalesced(delta={delta})"
    opened = open_ranker(parse_system(name).first, context)
    expected = np.empty_like(vectors)
    groups = 0
    for _, rows in corpus.with_row_index("row").sort("place").group_by("source_id", maintain_order=True):
        theirs = rows["row"].to_numpy()
        sizes, means = coalesced(vectors[theirs], delta)
        expected[theirs] = np.repeat(means, sizes, axis=0)
        groups += sizes.size
    assert corpus["source_id"].n_unique() < groups < len(vectors)
    stored = opened.ranker.vectors
    assert len(stored) == groups
    (asked,) = opened.ranker.prepared([Search("q", "laptop weight")])
    scores = scores_of(opened.ranker, asked, np.arange(corpus.height))
    np.testing.assert_allclose(scores, expected @ asked.vector, rtol=1e-5, atol=1e-6)
    np.testing.assert_allclose(asked.hits.scores, scores[asked.hits.docs], rtol=1e-6)
    assert opened.meta["compression"] == round(len(vectors) / groups, 2)
    with pytest.raises(OptionError, match="ColBERT has several vectors for each passage"):
        open_ranker(parse_system(f"ColBERT(model={tiny})-Coalesced").first, context)
    with pytest.raises(OptionError, match="not known which passages are of one document"):
        ranker(name, tmp_path / "other")


def test_an_index_cut_short_is_made_again(tiny, tmp_path):
    name = f"SBERT(model={tiny})-PQ(M=8, K=4)"
    ranker(name, tmp_path)
    (path,) = tmp_path.rglob("codes.npy")
    whole = path.read_bytes()
    path.write_bytes(whole[:-5])
    ranker(name, tmp_path)
    assert path.read_bytes() == whole


@pytest.mark.parametrize(
    ("name", "says"),
    [
        ("PQ(M=7)", r"M has to divide the dimension of the vectors, 32 \(found 7\)"),
        ("PQ(M=8, K=4096)", r"K is above the number of vectors to learn from, \d+ \(found 4096\)"),
        ("OPQ(M=5, K=4)", r"M has to divide"),
        ("PQ(K=1)", r"K needs a whole number from 2 to 65536"),
    ],
)
def test_options_that_do_not_fit_the_vectors_are_errors(tiny, tmp_path, name, says):
    with pytest.raises(OptionError, match=says):
        ranker(f"SBERT(model={tiny})-{name}", tmp_path)


@pytest.mark.parametrize("name", ["SBERT(model={})-PQ(M=7)", "SBERT(model={})-LexPQ(M=5)", "ColBERT(model={})-PQ(M=7)"])
def test_what_cannot_fit_is_said_before_documents_are_encoded(tiny, tmp_path, name):
    with pytest.raises(OptionError, match="M has to divide"):
        ranker(name.format(tiny), tmp_path)
    assert not list(tmp_path.rglob("*.npy"))


@pytest.mark.parametrize("name", ["BM25-Sign", "SPLADE(model=m)-Sign(boost=2)", "BM25 + SPLADE(model=m)-Sign-I"])
def test_a_model_without_such_vectors_takes_no_compression(tmp_path, name):
    with pytest.raises(OptionError, match=r"(BM25|SPLADE) stores no vectors that could be compressed \(found 'Sign"):
        execute(BENCHMARK, [parse_system(name)], tmp_path)


def test_a_killed_compression_goes_on_without_learning_again(tiny, tmp_path, monkeypatch):
    name, fits, encodes = f"SBERT(model={tiny})-Sign", [], []
    ranker(name, tmp_path / "whole")
    fit, encode = Sign.fit, Sign.encode

    def killed(self, some):
        encodes.append(len(some))
        if len(encodes) == 2:
            raise KeyboardInterrupt
        return encode(self, some)

    monkeypatch.setattr(vectors, "ROWS", 3)
    monkeypatch.setattr(Sign, "fit", lambda self, sample: fits.append(len(sample)) or fit(self, sample))
    monkeypatch.setattr(Sign, "encode", killed)
    with pytest.raises(KeyboardInterrupt):
        ranker(name, tmp_path / "killed")
    ranker(name, tmp_path / "killed")
    count = len(ranker(name, tmp_path / "whole").ranker.vectors)
    assert [size for size in fits if size] == [count]  # of none, options are checked before encoding
    assert sum(encodes) == count + 3
    files = [{p.name: p.read_bytes() for p in (tmp_path / n).rglob("*.npy")} for n in ("whole", "killed")]
    assert files[0] == files[1]
