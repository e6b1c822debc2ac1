"""Products in whole numbers against plain arithmetic; where the processor has none, products of floats."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from qbench.quantities.english.parsers import dense
from qbench.quantities.english.parsers.dense import COLUMNS, LANES, ROWS, Dense


@pytest.fixture(params=["compiled", "floats"])
def layer_of(request, monkeypatch):
    if request.param == "floats":
        monkeypatch.setattr(dense, "kernel", lambda: None)
    elif dense.kernel() is None:
        pytest.skip("this processor lacks the instructions")
    return Dense


def made_up(depth, width, seed=5):
    rng = np.random.default_rng(seed)
    weights = rng.integers(-127, 128, size=(depth, width)).astype(np.int8)
    scale, bias = rng.uniform(0.001, 0.1, size=width), rng.normal(size=width)
    return weights, scale.astype(np.float32), bias.astype(np.float32)


def plainly(h, weights, scale, bias):
    return h.astype(np.float64) @ (weights.astype(np.float64) * scale) + bias


@pytest.mark.parametrize("rows", [1, ROWS - 1, ROWS, ROWS + 1, 50])
@pytest.mark.parametrize(("depth", "width"), [(LANES, COLUMNS), (96, 3 * COLUMNS), (1536, COLUMNS), (8, 12)])
def test_products_are_those_of_plain_arithmetic(layer_of, rows, depth, width):
    parts = made_up(depth, width)
    h = np.random.default_rng(rows).normal(size=(rows, depth)).astype(np.float32)
    expected = plainly(h, *parts)
    found = layer_of(*parts)(h)
    assert found.shape == expected.shape
    assert np.abs(found - expected).max() < 3e-4 * np.abs(expected).max()


def test_rows_may_lie_apart_in_memory(layer_of):
    parts = made_up(LANES, COLUMNS)
    h = np.random.default_rng(1).normal(size=(9, 3, LANES)).astype(np.float32)[:, 1]
    np.testing.assert_array_equal(layer_of(*parts)(h), layer_of(*parts)(h.copy()))


@pytest.mark.parametrize("depth", [LANES, 384, 1536, 4096])
@pytest.mark.parametrize("sign", [1, -1])
def test_the_largest_sums_do_not_overflow(layer_of, depth, sign):
    weights = np.full((depth, COLUMNS), 127, dtype=np.int8)
    one, nought = np.ones(COLUMNS, dtype=np.float32), np.zeros(COLUMNS, dtype=np.float32)
    found = layer_of(weights, one, nought)(np.full((2, depth), sign, dtype=np.float32))
    np.testing.assert_allclose(found, np.full((2, COLUMNS), sign * 127.0 * depth), rtol=1e-5)


@pytest.mark.parametrize("rows", [0, 3])
def test_nothing_gives_the_bias(layer_of, rows):
    weights, scale, bias = made_up(LANES, COLUMNS)
    found = layer_of(weights, scale, bias)(np.zeros((rows, LANES), dtype=np.float32))
    np.testing.assert_array_equal(found, np.tile(bias, (rows, 1)))


@pytest.mark.skipif(dense.kernel() is None, reason="this processor lacks the instructions")
@settings(deadline=None, max_examples=30)
@given(st.integers(1, 30), st.integers(0, 2**32 - 1))
def test_a_row_is_the_same_in_any_company(rows, seed):
    layer = Dense(*made_up(64, COLUMNS))
    h = np.random.default_rng(seed).normal(size=(rows, 64)).astype(np.float32) * 10
    together = layer(h)
    for row, alone in zip(together, h, strict=True):
        np.testing.assert_array_equal(row, layer(alone[None])[0])
