"""Search in blocks finds what a sort of all products finds."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import array_shapes, arrays

from qbench.scoring import nearest as module
from qbench.scoring.nearest import nearest

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
