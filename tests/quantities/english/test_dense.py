"""Products in whole numbers against plain arithmetic, and the compiled arithmetic against numpy's."""

import os
import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from qbench.quantities.english.parsers import dense
from qbench.quantities.english.parsers.dense import HIGHEST, Dense, gelu, normalised

needs_kernel = pytest.mark.skipif(dense.kernel() is None, reason="this processor lacks the instructions")


@pytest.fixture(params=[pytest.param("compiled", marks=needs_kernel), "numpy"])
def arithmetic(request, monkeypatch):
    if request.param == "numpy":
        monkeypatch.setattr(dense, "kernel", lambda: None)
    return request.param


def made_up(depth, width, seed=5):
    rng = np.random.default_rng(seed)
    weights = rng.integers(-HIGHEST, HIGHEST + 1, size=(depth, width)).astype(np.int8)
    scale, bias = rng.uniform(0.001, 0.1, size=width), rng.normal(size=width)
    return weights, scale.astype(np.float32), bias.astype(np.float32)


@pytest.mark.usefixtures("arithmetic")
@pytest.mark.parametrize("rows", [0, 1, 5, 6, 7, 50])
@pytest.mark.parametrize(("depth", "width"), [(32, 64), (96, 192), (1536, 64), (8, 12)])
def test_products_are_those_of_plain_arithmetic(rows, depth, width):
    weights, scale, bias = made_up(depth, width)
    h = np.random.default_rng(rows).normal(size=(rows, depth)).astype(np.float32)
    expected = h.astype(np.float64) @ (weights.astype(np.float64) * scale) + bias
    found = Dense(weights, scale, bias)(h)
    assert found.shape == expected.shape
    assert np.abs(found - expected).max(initial=0) < 3e-4 * np.abs(expected).max(initial=1)


@pytest.mark.usefixtures("arithmetic")
def test_rows_may_lie_apart_in_memory():
    layer = Dense(*made_up(32, 64))
    h = np.random.default_rng(1).normal(size=(9, 3, 32)).astype(np.float32)[:, 1]
    np.testing.assert_array_equal(layer(h), layer(h.copy()))


@pytest.mark.usefixtures("arithmetic")
@pytest.mark.parametrize("depth", [32, 384, 1536, 4096])
@pytest.mark.parametrize("sign", [1, -1])
def test_the_largest_sums_do_not_overflow(depth, sign):
    weights = np.full((depth, 64), HIGHEST, dtype=np.int8)
    one, nought = np.ones(64, dtype=np.float32), np.zeros(64, dtype=np.float32)
    found = Dense(weights, one, nought)(np.full((2, depth), sign, dtype=np.float32))
    np.testing.assert_allclose(found, np.full((2, 64), sign * float(HIGHEST) * depth), rtol=1e-5)


@pytest.mark.usefixtures("arithmetic")
def test_products_can_be_added_to_what_is_there():
    layer, rng = Dense(*made_up(32, 64)), np.random.default_rng(4)
    h, there = rng.normal(size=(9, 32)).astype(np.float32), rng.normal(size=(9, 64)).astype(np.float32)
    expected = there + layer(h)
    assert layer(h, onto=there) is there
    np.testing.assert_allclose(there, expected, rtol=1e-5, atol=1e-5)


@pytest.mark.usefixtures("arithmetic")
def test_rows_of_noughts_give_the_bias():
    weights, scale, bias = made_up(32, 64)
    np.testing.assert_array_equal(Dense(weights, scale, bias)(np.zeros((3, 32), np.float32)), np.tile(bias, (3, 1)))


@needs_kernel
@settings(deadline=None, max_examples=30)
@given(st.integers(1, 30), st.integers(0, 2**32 - 1))
def test_a_row_is_the_same_in_any_company(rows, seed):
    layer = Dense(*made_up(64, 64))
    h = np.random.default_rng(seed).normal(size=(rows, 64)).astype(np.float32) * 10
    together = layer(h)
    for row, alone in zip(together, h, strict=True):
        np.testing.assert_array_equal(row, layer(alone[None])[0])


@pytest.mark.usefixtures("arithmetic")
def test_gelu_is_that_of_double_precision():
    x = np.concatenate([np.linspace(-40, 40, 4001), [0.0, 1e-30, -1e-30, 3e4, -3e4]]).astype(np.float32).reshape(2, -1)
    exact = x.astype(np.float64)
    exact = exact / (1 + np.exp(np.minimum(-2 * np.sqrt(2 / np.pi) * (exact + 0.044715 * exact**3), 700)))
    np.testing.assert_allclose(gelu(x.copy()), exact, rtol=1e-5, atol=1e-6)


@pytest.mark.usefixtures("arithmetic")
def test_rows_are_normalised_as_in_double_precision():
    rng = np.random.default_rng(2)
    h, norm = rng.normal(3, 5, size=(7, 40)).astype(np.float32), rng.normal(size=(2, 40)).astype(np.float32)
    exact = h.astype(np.float64)
    exact = (exact - exact.mean(axis=1, keepdims=True)) / exact.std(axis=1, keepdims=True) * norm[0] + norm[1]
    np.testing.assert_allclose(normalised(h, norm), exact, rtol=1e-4, atol=1e-4)


READ = """
from qbench.quantities.extractors import ExtractorOptions, get_extractor
print([q.concept for q in get_extractor(ExtractorOptions()).extract("The mill sold 40 tons of flour last May.")])
"""


@pytest.mark.parametrize("settings", [{}, {"NUMBA_DISABLE_JIT": "1"}, {"NUMBA_CPU_NAME": "generic"}], ids=str)
def test_sentences_are_read_whatever_numba_may_do(settings, tmp_path):
    """A cache that cannot be written, no compiler, or one for another processor."""
    nowhere = tmp_path / "file"
    nowhere.touch()
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(nowhere / "cache"), **settings}
    done = subprocess.run([sys.executable, "-c", READ], env=environment, capture_output=True, text=True, timeout=120)
    assert done.stdout == "[('flour',)]\n", done.stderr
