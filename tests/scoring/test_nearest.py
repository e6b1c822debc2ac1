"""Search in blocks finds what a sort of all products finds."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import array_shapes, arrays

from qbench.scoring import nearest as module
from qbench.scoring.nearest import nearest, products
from qbench.scoring.quantised import quantised, restored

# Small whole numbers: products are exact, and many are equal.
matrices = arrays(np.float32, array_shapes(min_dims=2, max_dims=2, max_side=12), elements=st.integers(-2, 2).map(float))


@given(matrices, st.integers(0, 4), st.integers(1, 15), st.integers(1, 5), st.randoms())
def test_blocks_change_nothing(vectors, queries, k, rows, random):
    asked = np.array([[random.randint(-2, 2) for _ in range(vectors.shape[1])] for _ in range(queries)], np.float32)
    asked = asked.reshape(queries, vectors.shape[1])
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "ROWS", rows)
        patch.setattr(module, "QUERIES", 2)
        found, products = nearest(vectors, asked, k)
    assert found.shape == products.shape == (queries, min(k, len(vectors)))
    for row, scores, query in zip(found, products, asked, strict=True):
        every = vectors @ query
        expected = sorted(range(len(vectors)), key=lambda i: (-every[i], i))[:k]
        assert row.tolist() == expected
        assert scores.tolist() == [every[i] for i in expected]


def test_nothing_to_search_and_nothing_asked():
    none = np.empty((0, 3), np.float32)
    assert nearest(none, np.ones((2, 3), np.float32), 5)[0].shape == (2, 0)
    assert nearest(np.ones((4, 3), np.float32), none, 5)[0].shape == (0, 4)


@given(matrices, st.sampled_from(["float16", "int8"]), st.integers(1, 15), st.integers(1, 5), st.randoms())
def test_stored_types_are_searched_as_what_they_stand_for(vectors, dtype, k, rows, random):
    # Scales that are powers of two, so that products stay exact and equal vectors stay equal.
    scales = np.array([random.choice([0.25, 1.0, 2.0]) for _ in vectors], np.float32) if dtype == "int8" else None
    small = vectors.astype(dtype)
    asked = np.array([[random.randint(-2, 2) for _ in range(vectors.shape[1])] for _ in range(3)], np.float32)
    meant = restored(small, scales)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "ROWS", rows)
        found, dots = nearest(small, asked, k, scales)
    expected, scores = nearest(meant, asked, k)
    assert found.tolist() == expected.tolist()
    assert dots.tolist() == scores.tolist()


def test_a_stored_matrix_is_converted_block_by_block(tmp_path):
    import tracemalloc

    rng = np.random.default_rng(0)
    path = tmp_path / "vectors.npy"
    np.save(path, rng.integers(-127, 128, (60_000, 64), dtype=np.int8))
    scales = rng.random(60_000, dtype=np.float32)
    mapped, asked = np.load(path, mmap_mode="r"), rng.random((4, 64), dtype=np.float32)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "ROWS", 1000)
        tracemalloc.start()
        nearest(mapped, asked, 10, scales)
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
    assert peak < 60_000 * 64  # less than the stored bytes; converted whole they would be four times as many


finite = st.floats(-1e6, 1e6, width=32, allow_subnormal=False)


@given(arrays(np.float32, array_shapes(min_dims=2, max_dims=2, max_side=20), elements=finite))
def test_no_number_is_off_by_more_than_half_a_step(vectors):
    codes, scales = quantised(vectors)
    assert codes.dtype == np.int8
    assert codes.shape == vectors.shape
    assert scales.shape == vectors.shape[:1]
    highest = np.abs(vectors).max(axis=1, keepdims=True)
    error = np.abs(restored(codes, scales).astype(np.float64) - vectors)
    assert (error <= highest / 254 * (1 + 1e-4) + 1e-37).all()
    assert (codes[vectors == 0] == 0).all()
    again, same = quantised(-vectors)
    assert (again == -codes).all()
    assert (same == scales).all()


@given(arrays(np.float32, (5, 16), elements=finite), arrays(np.float32, 16, elements=st.floats(-10, 10, width=32)))
def test_a_product_is_off_by_no_more_than_the_bound(vectors, query):
    codes, scales = quantised(vectors)
    ours = products(query[None], codes, scales)[0]
    exact = vectors.astype(np.float64) @ query.astype(np.float64)
    bound = np.abs(query).sum() * np.abs(vectors).max(axis=1) / 254
    # And what float32 rounds.
    rounding = 1e-5 * (np.abs(vectors).astype(np.float64) @ np.abs(query).astype(np.float64) + bound)
    assert (np.abs(ours - exact) <= bound * (1 + 1e-4) + rounding + 1e-30).all()


def test_vectors_of_zeros_and_none_at_all_can_be_stored():
    codes, scales = quantised(np.zeros((2, 3), np.float32))
    assert not codes.any()
    assert not scales.any()
    assert quantised(np.empty((0, 3), np.float32))[0].shape == (0, 3)
    tiny = np.full((1, 3), 1e-45, np.float32)  # its scale would be 0
    assert np.isfinite(restored(*quantised(tiny))).all()
