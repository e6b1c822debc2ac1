"""Dense search: how vectors are stored, what is counted, what is refused, and what faiss finds."""

from __future__ import annotations

import shutil
import subprocess
import sys
from dataclasses import replace

import numpy as np
import polars as pl
import pytest

from qbench.compression.plain import DTYPES
from qbench.errors import InputError, MissingPackageError, OptionError
from qbench.models import single_vector
from qbench.retrieval import dense as module
from qbench.retrieval.dense import Dense
from qbench.retrieval.entries import REGISTRY
from qbench.retrieval.faiss_index import FILE, LISTS, build_faiss, lists_of, measured_recall, open_faiss
from qbench.retrieval.opening import open_ranker
from qbench.retrieval.rankers import RankerContext, Search
from qbench.retrieval.shared_texts import SharedTexts
from qbench.retrieval.systems import Component, Stage
from qbench.retrieval.vectors import StoredVectors
from qbench.work.tasks import in_this_process
from tests.encoder_factories import FILLERS, THINGS, WORDS, YEARS, tiny_bert
from tests.rankers import scores_of
from tests.resealed import reseal

TEXTS = [f"the {filler} {thing} of {year}" for filler in FILLERS for thing in THINGS for year in YEARS]
CORPUS = pl.DataFrame({"doc_id": [f"d{n:03}" for n in range(96)][::-1], "passage": TEXTS})
ASKED = [Search("q1", "revenue of 2019"), Search("q2", "the tax"), Search("q3", "")]


@pytest.fixture(scope="module")
def tiny(tmp_path_factory):
    return tiny_bert(tmp_path_factory.mktemp("models") / "tiny", WORDS)


def dense(model, folder, name="SBERT", *, corpus=CORPUS, key="key", depth=20, **changes):
    stage = Stage(Component(name, (("model", str(model)), *changes.items())))
    return open_ranker(stage, RankerContext(corpus, key, folder, depth))


@pytest.mark.parametrize(("dtype", "size"), [("float32", 4), ("float16", 2), ("int8", 1)])
def test_the_index_is_as_large_as_its_numbers_and_ranks_nearly_alike(tiny, tmp_path, dtype, size):
    exact = dense(tiny, tmp_path).ranker
    found = dense(tiny, tmp_path, dtype=dtype)
    assert found.ranker.vectors.arrays["vectors"].dtype == dtype
    rest = 96 * 8 * 2 + 5000 + (96 * 4 if dtype == "int8" else 0)  # starts, docs, headers; scales
    assert 96 * 32 * size < found.size < 96 * 32 * size + rest
    for one in ASKED:
        (asked,) = exact.encoded([one])
        docs = np.arange(96)
        off = np.abs(scores_of(found.ranker, asked, docs) - scores_of(exact, asked, docs)).max()
        assert off < {4: 1e-6, 2: 1e-3, 1: 2e-2}[size]


def test_vectors_in_bfloat16_are_nearly_those_of_single_precision(tiny, tmp_path):
    exact = dense(tiny, tmp_path).ranker
    found = dense(tiny, tmp_path, precision="bfloat16").ranker
    assert found.vectors.about["precision"] == "bfloat16"
    assert "precision" not in exact.vectors.about  # keys of other indexes stay as they are
    one, other = (ranker.vectors.rows(0, len(ranker.vectors)) for ranker in (exact, found))
    assert not np.array_equal(one, other)
    np.testing.assert_allclose(np.linalg.norm(other, axis=1), 1, atol=1e-5)
    assert (one * other).sum(axis=1).min() > 0.995
    (search,) = found.encoded(ASKED[:1])
    assert not np.array_equal(search.vector, exact.encoded(ASKED[:1])[0].vector)


def test_each_way_to_store_is_an_index_of_its_own(tiny, tmp_path):
    for changes in ({}, {"dtype": "float16"}, {"dtype": "int8"}, {"pooling": "cls"}, {"similarity": "dot"}):
        dense(tiny, tmp_path, **changes)
    assert len(list(tmp_path.rglob("vectors.npy"))) == 5
    dense(tiny, tmp_path, similarity="cosine")  # the model's own
    assert len(list(tmp_path.rglob("vectors.npy"))) == 5


def test_documents_that_are_cut_are_counted_with_their_copies(tiny, tmp_path):
    long = "the revenue of 2019 " * 2500
    corpus = pl.DataFrame({"doc_id": ["e", "d", "c", "b", "a"], "passage": [long, "tax", long, "", "tax"]})
    found = dense(tiny, tmp_path, corpus=corpus)
    assert found.meta == {"documents_cut": 2, "similarity": "cosine"}
    assert dense(tiny, tmp_path, corpus=corpus).meta["documents_cut"] == 2  # from the disk
    scores = found.ranker.search(ASKED[0]).scores
    assert scores[0] == scores[2]
    assert np.isfinite(scores).all()
    assert dense(tiny, tmp_path, name="TCT-ColBERT", corpus=corpus).meta["documents_cut"] == 2
    said = dense(tiny, tmp_path, name="Aggretriever", corpus=corpus).meta
    assert said["documents_cut"] == 2
    assert "not trained" in said["note"]


@pytest.mark.parametrize("engine", ["exact", "faiss"])
@pytest.mark.parametrize("dtype", ["float32", "int8"])
def test_an_empty_corpus_finds_nothing(tiny, tmp_path, engine, dtype):
    corpus = pl.DataFrame({"doc_id": [], "passage": []}, schema={"doc_id": pl.String, "passage": pl.String})
    found = dense(tiny, tmp_path, corpus=corpus, engine=engine, dtype=dtype)
    assert found.ranker.search(ASKED[0]).docs.size == 0
    assert found.meta["documents_cut"] == 0


def test_a_vector_that_is_not_finite_names_its_document(tiny, tmp_path):
    import torch
    from transformers import AutoModel

    broken = shutil.copytree(tiny, tmp_path / "broken")
    words = (tiny / "vocab.txt").read_text().split()
    model = AutoModel.from_pretrained(tiny)
    with torch.no_grad():
        model.embeddings.word_embeddings.weight[words.index("debt")] = float("nan")
    model.save_pretrained(broken)
    first = next(n for n, text in enumerate(TEXTS) if "debt" in text)
    said = rf"document {CORPUS['doc_id'][first]} a vector that is not finite \(found '{TEXTS[first]}'\)"
    with pytest.raises(InputError, match=said):
        dense(broken, tmp_path / "indexes")
    with pytest.raises(InputError, match=r"not finite \(found 'the debt'\)"):
        without = CORPUS.filter(~pl.col("passage").str.contains("debt"))
        dense(broken, tmp_path / "indexes", corpus=without, key="other").ranker.encoded([Search("q", "the debt")])


def test_a_model_that_does_not_fit_the_index_is_refused(tiny, tmp_path):
    found = dense(tiny, tmp_path).ranker
    with pytest.raises(InputError, match=r"vectors of 30 numbers, and the model gives others \(found 32\)"):
        Dense(found.encoder, replace(found.vectors, dimension=30), 5)


def test_a_killed_build_goes_on_and_gives_the_same_bytes(tiny, tmp_path, monkeypatch):
    monkeypatch.setattr(module, "BLOCK", 40)
    whole = dense(tiny, tmp_path / "whole", dtype="int8")
    real, calls = single_vector.SingleVector.encode, []

    def dying(self, texts, role="document"):
        calls.append(len(texts))
        if len(calls) == 2:
            raise KeyboardInterrupt
        return real(self, texts, role)

    monkeypatch.setattr(single_vector.SingleVector, "encode", dying)
    with pytest.raises(KeyboardInterrupt):
        dense(tiny, tmp_path / "killed", dtype="int8")
    again = dense(tiny, tmp_path / "killed", dtype="int8")
    assert calls == [40, 40, 40, 16]

    def arrays(folder):
        return {path.name: path.read_bytes() for path in folder.rglob("*.npy")}

    assert arrays(tmp_path / "killed") == arrays(tmp_path / "whole")
    assert set(arrays(tmp_path / "whole")) == {"vectors.npy", "scales.npy", "text_starts.npy", "text_docs.npy"}
    assert again.meta == whole.meta


def clustered(count, dimension=16):
    rng = np.random.default_rng(0)
    middles = rng.standard_normal((20, dimension))
    found = middles[rng.integers(20, size=count)] + 0.5 * rng.standard_normal((count, dimension))
    return found.astype(np.float32)


@pytest.mark.parametrize("dtype", ["float32", "float16", "int8"])
def test_faiss_finds_more_the_more_lists_it_looks_into(tmp_path, dtype):
    vectors, asked = np.split(clustered(6030), [6000])
    codec, none = DTYPES[dtype], np.empty(0, np.int64)
    stored = StoredVectors(codec, codec.encode(vectors), SharedTexts(none, none), 16, np.arange(len(vectors) + 1))
    folder = build_faiss(stored, dtype, tmp_path).folder
    exact, _ = stored.nearest(asked, 50)
    recalls = []
    for nprobe in (1, 8, 10_000):
        proposed = open_faiss(folder, nprobe).propose(asked, 50)
        assert all((np.diff(row) > 0).all() for row in proposed)
        recalls.append(np.mean([np.isin(e, p).mean() for e, p in zip(exact, proposed, strict=True)]))
    assert recalls[0] < recalls[1] <= recalls[2] + 1e-9
    assert recalls[1] > 0.8
    # All lists: what is lost is what faiss' own copy rounds.
    assert recalls[2] > (0.999 if dtype == "float32" else 0.9)


def test_faiss_is_a_part_of_the_index_and_the_same_again(tiny, tmp_path):
    plain = dense(tiny, tmp_path / "a")
    found = dense(tiny, tmp_path / "a", engine="faiss")
    assert found.size > plain.size + 96 * 32 * 4
    assert found.seconds > plain.seconds
    other = dense(tiny, tmp_path / "a", engine="faiss", nprobe=1)
    assert len(list((tmp_path / "a").rglob(FILE))) == 1
    assert other.ranker.index.nprobe == 1
    dense(tiny, tmp_path / "b", engine="faiss")
    one, two = (next((tmp_path / name).rglob(FILE)).read_bytes() for name in "ab")
    assert one == two


def test_all_lists_give_what_exact_search_gives(tiny, tmp_path):
    exact, faiss = dense(tiny, tmp_path).ranker, dense(tiny, tmp_path, engine="faiss", nprobe=1000).ranker
    for a, b in zip(exact.prepared(ASKED), faiss.prepared(ASKED), strict=True):
        assert a.hits.docs.tolist() == b.hits.docs.tolist()
        np.testing.assert_allclose(a.hits.scores, b.hits.scores, atol=1e-6)


def test_a_damaged_faiss_file_is_named(tiny, tmp_path):
    dense(tiny, tmp_path, engine="faiss")
    path = next(tmp_path.rglob(FILE))
    path.write_bytes(b"x" * path.stat().st_size)
    reseal(path.parent)
    with pytest.raises(InputError, match=r"vectors.faiss: the index cannot be read"):
        dense(tiny, tmp_path, engine="faiss")


def test_without_faiss_there_is_a_line_to_install_it_before_any_encoding(tiny, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "faiss", None)
    with pytest.raises(MissingPackageError, match=r"pip install 'qbench\[faiss\]'"):
        dense(tiny, tmp_path, engine="faiss")
    assert not list(tmp_path.rglob("vectors.npy"))
    assert dense(tiny, tmp_path).ranker.search(ASKED[0]).docs.size == 20


def test_lists_are_as_many_as_k_means_can_fill():
    assert [lists_of(n) for n in (0, 1, 39, 78, 96)] == [1, 1, 1, 2, 2]
    assert all(lists_of(n) * 39 <= max(n, 39) for n in range(0, 30_000, 777))


def test_values_that_are_not_allowed_are_refused():
    for name, value in (("dtype", "float64"), ("engine", "hnsw"), ("pooling", "sum"), ("nprobe", 0)):
        parameter = next(
            p for p in REGISTRY.find("SBERT", "first stage").parameters_as("first stage") if p.name == name
        )
        with pytest.raises(OptionError, match=name):
            parameter.checked(value)
    assert "engine" not in {p.name for p in REGISTRY.find("SBERT", "reranker").parameters_as("reranker")}


def test_a_vector_that_is_not_finite_names_its_document_from_an_engine_too(tiny, tmp_path, monkeypatch):
    corpus = pl.DataFrame({"doc_id": ["b", "a"], "passage": ["tax", "revenue"]})
    monkeypatch.setattr(single_vector.SingleVector, "encode", _broken)
    with pytest.raises(InputError, match="document a a vector"):
        stage = Stage(Component("SBERT", (("model", str(tiny)),)))
        open_ranker(stage, RankerContext(corpus, "key", tmp_path, 20, engine=in_this_process))


def _broken(self, texts, role="document"):
    single_vector.check_finite([text != "revenue" for text in texts], texts)


def test_quantised_copies_are_small_and_propose_nearly_as_well(tmp_path):
    vectors, asked = np.split(clustered(10_030), [10_000])
    none = np.empty(0, np.int64)
    rows = np.arange(len(vectors) + 1)
    stored = StoredVectors(DTYPES["float32"], {"vectors": vectors}, SharedTexts(none, none), 16, rows)
    whole, small = (build_faiss(stored, "key", tmp_path, copy=copy) for copy in ("whole", "pq"))
    assert small.size < whole.size - 10_000 * (16 * 4 - 4) + 20_000
    exact, _ = stored.nearest(asked, 50)
    recalls = []
    for built, copy in ((whole, "whole"), (small, "pq")):
        proposed = open_faiss(built.folder, 32, copy).propose(asked, 50)
        recalls.append(np.mean([np.isin(e, p).mean() for e, p in zip(exact, proposed, strict=True)]))
    assert recalls[1] > recalls[0] - 0.1
    assert recalls[1] > 0.8
    low, high = (
        measured_recall(open_faiss(small.folder, nprobe, "pq"), small, stored, 100, tmp_path) for nprobe in (1, 100)
    )
    assert 0 < low < high <= 1


@pytest.mark.parametrize("copy", ["whole", "pq"])
def test_lists_that_are_put_together_on_disk_find_the_same(tmp_path, monkeypatch, capfd, copy):
    vectors, asked = np.split(clustered(60_030), [60_000])
    vectors[30_000:] = vectors[:30_000]  # equal scores in different parts
    none = np.empty(0, np.int64)
    stored = StoredVectors(
        DTYPES["float32"], {"vectors": vectors}, SharedTexts(none, none), 16, np.arange(0, len(vectors) + 1, 2)
    )
    memory = build_faiss(stored, "key", tmp_path / "memory", copy=copy)
    monkeypatch.setattr("qbench.retrieval.faiss_index.ENOUGH", 1 << 18)
    monkeypatch.setattr("qbench.retrieval.faiss_index.ROWS", 1000)
    parts = []
    monkeypatch.setattr("faiss.contrib.ondisk.merge_ondisk", _noting(parts))
    disk = build_faiss(stored, "key", tmp_path / "disk", copy=copy)
    assert [path.name for path in disk.folder.rglob("*") if path.name.startswith(".")] == []
    assert not (memory.folder / LISTS).exists()
    assert (disk.folder / LISTS).stat().st_size >= 60_000 * 8
    assert len(parts) > 2
    moved = tmp_path / "elsewhere"
    shutil.move(disk.folder, moved)
    for nprobe in (1, 8, 10_000):
        one, other = (open_faiss(folder, nprobe, copy) for folder in (memory.folder, moved))
        for k in (1, 50, 40_000):
            assert all(map(np.array_equal, one.propose(asked, k), other.propose(asked, k)))
        assert np.array_equal(one.texts(asked[:4], 100), other.texts(asked[:4], 100))
    assert capfd.readouterr().out == ""
    (moved / LISTS).unlink()
    with pytest.raises(InputError, match=r"vectors\.faiss: the index cannot be read"):
        open_faiss(moved, 8, copy)


def _noting(seen):
    from faiss.contrib.ondisk import merge_ondisk

    def merge(index, parts, path):
        seen.extend(parts)
        merge_ondisk(index, parts, path)

    return merge


def test_recall_is_reported(tiny, tmp_path):
    assert dense(tiny, tmp_path, engine="faiss", nprobe=1000).meta["faiss_recall"] == 1.0
    assert "faiss_copy" not in dense(tiny, tmp_path, engine="faiss", nprobe=1000).meta
    small = dense(tiny, tmp_path, engine="faiss", copy="pq", nprobe=1000).meta
    assert (small["faiss_recall"], small["faiss_copy"]) == (1.0, "whole")
    assert "faiss_recall" not in dense(tiny, tmp_path).meta


LIMITED = """
import resource, sys
import numpy as np
from qbench.compression.plain import DTYPES
from qbench.retrieval.shared_texts import SharedTexts
from qbench.retrieval.vectors import StoredVectors
none = np.empty(0, np.int64)
vectors = np.load(sys.argv[1], mmap_mode="r")
stored = StoredVectors(DTYPES["float32"], {"vectors": vectors}, SharedTexts(none, none), 64, none)
stored.nearest(np.ones((2, 64), np.float32), 5)
with open("/proc/self/status") as status:
    held = next(int(line.split()[1]) for line in status if line.startswith("VmData")) * 1024
resource.setrlimit(resource.RLIMIT_DATA, (held + 100_000_000, -1))
rows, scores = stored.nearest(np.ones((2, 64), np.float32), 5)
print(sorted(rows[0].tolist())[-1], scores[0].max())
try:
    np.array(vectors)
except MemoryError:
    print("the whole does not fit")
"""


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="limits of memory are those of Linux")
def test_exact_search_reads_vectors_from_disk(tmp_path):
    path = tmp_path / "vectors.npy"
    rows = np.lib.format.open_memmap(path, "w+", np.float32, (1_000_000, 64))  # 256 MB, of which little is on disk
    rows[999_999] = 1
    rows.flush()
    done = subprocess.run([sys.executable, "-c", LIMITED, str(path)], capture_output=True, text=True, check=False)
    assert done.stdout.split("\n")[:2] == ["999999 64.0", "the whole does not fit"], done.stderr
