"""Candidates by centroids: whole when everything is probed, good when little is."""

from __future__ import annotations

import tracemalloc

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from qbench.scoring import centroids
from qbench.scoring.centroids import build_centroids, candidates, centroid_count
from qbench.scoring.maxsim import TokenVectors, search


def spoken(documents, *, words=60, seed=0):
    """Documents of words; a word's vector changes a little wherever it stands."""
    rng = np.random.default_rng(seed)
    known = rng.standard_normal((words, 16))
    lengths = rng.integers(1, 12, documents)
    said = known[(words * rng.random(lengths.sum()) ** 2).astype(int)]
    vectors = said + 0.3 * rng.standard_normal(said.shape)
    vectors = (vectors / np.linalg.norm(vectors, axis=1, keepdims=True)).astype(np.float32)
    return TokenVectors(np.append(0, np.cumsum(lengths)).astype(np.int64), vectors)


@given(st.integers(0, 30), st.integers(0, 99))
def test_the_lists_say_what_the_documents_say(documents, seed):
    tokens = spoken(documents, seed=seed)
    index = build_centroids(tokens)
    by_document = {
        (d, int(c)) for d in range(len(tokens)) for c in index.members[index.starts[d] : index.starts[d + 1]]
    }
    by_centroid = {
        (int(d), c) for c in range(len(index.centroids)) for d in index.docs[index.lists[c] : index.lists[c + 1]]
    }
    assert by_document == by_centroid
    assert len(by_document) == index.members.size == index.docs.size
    nearest = (tokens.vectors @ index.centroids.T).max(axis=1, initial=-1)
    for doc in range(len(tokens)):
        chosen = index.members[index.starts[doc] : index.starts[doc + 1]]
        assert (np.diff(chosen) > 0).all()
        rows = slice(tokens.starts[doc], tokens.starts[doc + 1])
        best = (tokens.vectors[rows] @ index.centroids[chosen].T).max(axis=1)
        np.testing.assert_allclose(best, nearest[rows], atol=1e-5)


@given(st.integers(0, 30), st.integers(1, 40), st.integers(1, 60))
def test_as_many_candidates_as_asked_and_all_when_everything_is_probed(documents, count, nprobe):
    tokens = spoken(documents)
    index = build_centroids(tokens)
    query = spoken(1, seed=7).vectors
    some = candidates(index, query, nprobe=nprobe, count=count)
    assert (np.diff(some) > 0).all()
    assert some.size <= min(count, documents)
    every = candidates(index, query, nprobe=len(index.centroids) + 1, count=documents)
    assert every.tolist() == list(range(documents))
    assert candidates(index, query[:0], nprobe=1, count=5).size == 0


def test_few_probes_find_nearly_all_of_the_best():
    tokens = spoken(2000, words=200)
    index = build_centroids(tokens)
    queries = [spoken(1, words=200, seed=100 + number).vectors for number in range(30)]
    held = [
        np.isin(docs, candidates(index, query, nprobe=4, count=100)).mean()
        for query, (docs, _) in zip(queries, search(tokens, queries, 10), strict=True)
    ]
    assert np.mean(held) > 0.9


def test_the_index_has_the_same_bytes_when_it_is_built_again():
    one, two = (build_centroids(spoken(300)) for _ in range(2))
    for name in one.__dataclass_fields__:
        assert getattr(one, name).tobytes() == getattr(two, name).tobytes()


def test_there_are_more_centroids_for_more_vectors_and_never_more_than_vectors():
    counts = [centroid_count(n) for n in range(3000)]
    assert counts == sorted(counts)
    assert all(count <= n for n, count in enumerate(counts))


def test_blocks_and_scratch_change_nothing_and_leave_nothing(tmp_path, monkeypatch):
    tokens = spoken(300)
    whole = build_centroids(tokens)
    monkeypatch.setattr(centroids, "ROWS", 5)
    index = build_centroids(tokens, scratch=tmp_path)
    for name in whole.__dataclass_fields__:
        assert np.array_equal(getattr(index, name), getattr(whole, name)), name
    assert not list(tmp_path.iterdir())


def test_the_inverted_lists_take_no_memory_for_each_token(monkeypatch):
    monkeypatch.setattr(centroids, "ROWS", 1000)
    starts = np.arange(0, 1_000_001, 5).astype(np.int64)
    members = np.random.default_rng(0).integers(0, 64, 1_000_000).astype(np.int32)
    lists = np.append(0, np.cumsum(np.bincount(members))).astype(np.int64)
    tracemalloc.start()
    docs = centroids._inverted(starts, members, lists, None)
    used = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert used < members.size
    assert np.array_equal(docs, np.repeat(np.arange(200_000), 5)[np.argsort(members, kind="stable")])
