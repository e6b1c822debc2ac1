"""MaxSim against a loop and against sentence-transformers; storage; blocks."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from qbench.scoring import maxsim as module
from qbench.scoring.maxsim import TokenVectors, blocks, maxsim, rerank, search, single_precision
from qbench.scoring.quantised import stored_as

PRECISIONS = ("float32", "float16", "int8")


def unit(rng, count, dimension=8):
    vectors = rng.standard_normal((count, dimension)).astype(np.float32)
    return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)


def by_hand(query, documents):
    """One number after the other; a document without vectors scores 0."""
    return np.array(
        [sum(max(float(q @ d) for d in document) if len(document) else 0.0 for q in query) for document in documents]
    )


def token_vectors(documents, precision="float32", dimension=8):
    vectors, scales = stored_as(np.concatenate([np.empty((0, dimension), np.float32), *documents]), precision)
    starts = np.cumsum([0, *(len(document) for document in documents)], dtype=np.int64)
    return TokenVectors(starts, vectors, scales)


@st.composite
def collections(draw):
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    lengths = draw(st.lists(st.integers(0, 5), max_size=12))
    queries = draw(st.lists(st.integers(0, 4), min_size=1, max_size=4))
    documents = [unit(rng, length) for length in lengths]
    if documents and draw(st.booleans()):
        documents.append(documents[0])
    return [unit(rng, length) for length in queries], documents


@given(collections())
def test_every_document_scores_as_by_hand(collection):
    queries, documents = collection
    tokens = token_vectors(documents)
    scores = maxsim(queries, tokens.vectors, tokens.starts)
    assert scores.shape == (len(documents), len(queries))
    for column, query in zip(scores.T, queries, strict=True):
        np.testing.assert_allclose(column, by_hand(query, documents), atol=1e-5)


@given(collections(), st.integers(1, 14), st.integers(1, 9), st.integers(1, 9), st.sampled_from(PRECISIONS))
def test_search_finds_the_best_whatever_the_blocks(collection, k, rows, columns, precision):
    queries, documents = collection
    tokens = token_vectors(documents, precision)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "ROWS", rows)
        patch.setattr(module, "COLUMNS", columns)
        found = search(tokens, queries, k)
        again = [rerank(tokens, query, np.arange(len(documents))[::-1])[::-1] for query in queries]
    kept = np.split(single_precision(tokens.vectors, tokens.scales), tokens.starts[1:-1]) if documents else []
    for query, (docs, scores), all_scores in zip(queries, found, again, strict=True):
        expected = by_hand(query, kept)
        np.testing.assert_allclose(all_scores, expected, atol=1e-5)
        assert docs.size == min(k, len(documents))
        assert len(set(docs.tolist())) == docs.size
        np.testing.assert_allclose(scores, expected[docs], atol=1e-5)
        np.testing.assert_allclose(scores, np.sort(expected)[::-1][:k], atol=1e-5)


def test_of_equal_documents_the_lower_comes_first_in_and_across_blocks(monkeypatch):
    monkeypatch.setattr(module, "ROWS", 4)
    documents = [unit(np.random.default_rng(number % 2), 3) for number in range(8)]
    query = documents[1]
    [(docs, scores)] = search(token_vectors(documents), [query], 6)
    assert docs.tolist() == [1, 3, 5, 7, 0, 2]
    assert len(set(scores.tolist())) == 2


def test_given_documents_may_repeat_and_come_in_any_order():
    rng = np.random.default_rng(1)
    documents, query = [unit(rng, n) for n in (3, 1, 0, 4)], unit(rng, 5)
    scores = rerank(token_vectors(documents), query, np.array([3, 0, 0, 2]))
    np.testing.assert_allclose(scores, by_hand(query, documents)[[3, 0, 0, 2]], atol=1e-5)
    assert scores[1] == scores[2]
    assert rerank(token_vectors(documents), query, np.array([], dtype=np.int32)).shape == (0,)


def test_sentence_transformers_gives_the_same():
    import torch
    from sentence_transformers.util import maxsim as theirs

    rng = np.random.default_rng(2)
    queries, documents = [unit(rng, n) for n in (32, 32, 7)], [unit(rng, n) for n in rng.integers(1, 30, 50)]
    tokens = token_vectors(documents)
    expected = theirs([torch.from_numpy(q) for q in queries], [torch.from_numpy(d) for d in documents]).numpy()
    np.testing.assert_allclose(maxsim(queries, tokens.vectors, tokens.starts).T, expected, rtol=1e-5, atol=1e-5)
    for row, (docs, scores) in zip(expected, search(tokens, queries, 10), strict=True):
        assert docs.tolist() == np.argsort(-row, kind="stable")[:10].tolist()
        np.testing.assert_allclose(scores, row[docs], rtol=1e-5)


@given(st.integers(0, 2**32 - 1), st.floats(1e-6, 1e4))
def test_int8_errs_by_half_a_scale_and_float16_by_its_precision(seed, size):
    vectors = unit(np.random.default_rng(seed), 5, 16) * np.float32(size)
    vectors[0] = 0
    kept, scales = stored_as(vectors, "int8")
    assert (kept.dtype, scales.dtype) == (np.int8, np.float32)
    assert (np.abs(single_precision(kept, scales) - vectors) <= 0.501 * scales[:, None]).all()
    assert not single_precision(kept, scales)[0].any()
    half, none = stored_as(vectors, "float16")
    assert none is None
    np.testing.assert_array_equal(single_precision(half), half.astype(np.float32))
    assert stored_as(vectors, "float32")[0].tobytes() == vectors.tobytes()


@given(st.lists(st.integers(0, 9), max_size=20), st.integers(1, 12))
def test_blocks_cover_all_documents_and_are_no_larger_than_asked(lengths, rows):
    starts = np.cumsum([0, *lengths])
    found = list(blocks(starts, rows))
    assert [doc for first, last in found for doc in range(first, last)] == list(range(len(lengths)))
    assert all(last == first + 1 or starts[last] - starts[first] <= rows for first, last in found)
