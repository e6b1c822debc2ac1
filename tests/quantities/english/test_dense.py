"""Products in whole numbers against plain arithmetic, and the compiled arithmetic against numpy's."""

import hashlib
import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import numba
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from qbench.quantities.english.parsers import dense
from qbench.quantities.english.parsers.dense import (
    FINE,
    HIGHEST,
    MOST,
    Dense,
    best_rows,
    fine,
    gelu,
    normalised,
    pairwise,
)
from qbench.quantities.english.parsers.encoder import attended

LACKS = "this processor lacks the instructions"
needs_kernel = pytest.mark.skipif(dense.kernel() is None, reason=LACKS)
needs_tiles = pytest.mark.skipif(dense.products() is dense.kernel(), reason=LACKS)


@pytest.fixture(
    params=[pytest.param("tiles", marks=needs_tiles), pytest.param("compiled", marks=needs_kernel), "numpy"]
)
def arithmetic(request, monkeypatch):
    if request.param == "numpy":
        monkeypatch.setattr(dense, "kernel", lambda: None)
    if request.param != "tiles":
        monkeypatch.setattr(dense, "products", dense.kernel)
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


@needs_tiles
@settings(deadline=None, max_examples=60)
@given(
    rows=st.integers(0, 50),
    depth=st.sampled_from([32, 96, 128, 384]),
    width=st.sampled_from([64, 192]),
    most=st.sampled_from([0, 1, HIGHEST, 128, 255, 256, FINE, MOST]),
    seed=st.integers(0, 2**32 - 1),
)
def test_products_by_tiles_are_the_same_to_the_last_bit(rows, depth, width, most, seed):
    rng = np.random.default_rng(seed)
    weights = rng.choice([rng.integers(-most, most + 1, size=(depth, width)), np.full((depth, width), most)])
    _, scale, bias = made_up(depth, width, seed)
    h, there = rng.normal(size=(rows, depth)).astype(np.float32), rng.normal(size=(rows, width)).astype(np.float32)
    by_tiles = Dense(weights, scale, bias)
    with pytest.MonkeyPatch.context() as without:
        without.setattr(dense, "products", dense.kernel)
        by_pairs = Dense(weights, scale, bias)
    np.testing.assert_array_equal(by_tiles(h), by_pairs(h))
    np.testing.assert_array_equal(by_tiles(h, onto=there.copy()), by_pairs(h, onto=there))


@needs_tiles
def test_threads_multiply_by_tiles_at_the_same_time():
    layer, h = Dense(*made_up(384, 384)), np.random.default_rng(8).normal(size=(200, 384)).astype(np.float32)
    expected = layer(h)
    with ThreadPoolExecutor(4) as threads:
        for found in threads.map(layer, [h] * 40):
            np.testing.assert_array_equal(found, expected)


@needs_tiles
def test_a_process_that_may_not_use_tiles_does_without(monkeypatch):
    monkeypatch.setattr(dense, "_tiles_allowed", lambda: False)
    assert dense.products.__wrapped__() is dense.kernel()


@needs_kernel
def test_nothing_is_written_onto_rows_that_lie_apart():
    with pytest.raises(numba.TypingError, match="write"):
        Dense(*made_up(32, 64))(np.ones((3, 32), np.float32), onto=np.ones((3, 128), np.float32)[:, ::2])


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
@pytest.mark.parametrize(("depth", "width"), [(32, 64), (96, 65), (384, 6), (8, 12)])
def test_matrices_in_half_precision_keep_their_products(depth, width):
    rng = np.random.default_rng(depth)
    h, matrix = rng.normal(size=(20, depth)).astype(np.float32), rng.normal(size=(depth, width)).astype(np.float32)
    matrix[:, 0], bias = 0, rng.normal(size=width).astype(np.float32)
    expected = h.astype(np.float64) @ matrix + bias
    found = fine(matrix, bias)(h)
    assert np.abs(found[:, :width] - expected).max() < 1e-3 * np.abs(expected).max()
    assert not found[:, width:].any()
    np.testing.assert_array_equal(fine(matrix)(h)[:, 0], 0)


LENGTHS = [1, 31, 32, 33, 6, 70]


def mixed_rows(heads, own):
    rows = np.random.default_rng(heads).normal(size=(sum(LENGTHS), 3 * heads * own))
    rows[3] *= 30  # scores above the highest that count
    return rows.astype(np.float32), np.cumsum(LENGTHS)


@pytest.mark.usefixtures("arithmetic")
@pytest.mark.parametrize(("heads", "own"), [(3, 32), (2, 64), (3, 5)])
def test_attention_is_that_of_double_precision(heads, own):
    mixed, ends = mixed_rows(heads, own)
    out = np.empty((len(mixed), heads * own), np.float32)
    attended(mixed, ends, heads, out)
    for start, end in zip([0, *ends], ends, strict=False):
        queries, keys, values = mixed[start:end].astype(np.float64).reshape(end - start, 3, heads, own).swapaxes(0, 1)
        powers = np.exp(np.minimum(np.einsum("ihd,jhd->hij", queries, keys), 60))
        expected = np.einsum("hij,jhd->ihd", powers / powers.sum(axis=2, keepdims=True), values)
        np.testing.assert_allclose(out[start:end], expected.reshape(end - start, -1), rtol=1e-3, atol=1e-4)


@needs_kernel
def test_attention_is_the_same_in_any_company():
    mixed, ends = mixed_rows(3, 32)
    together, alone = np.empty((2, len(mixed), 96), np.float32)
    attended(mixed, ends, 3, together)
    for start, end in zip([0, *ends], ends, strict=False):
        attended(mixed[start:end], np.array([end - start]), 3, alone[start:end])
    np.testing.assert_array_equal(together, alone)


@pytest.mark.usefixtures("arithmetic")
def test_the_best_row_is_the_first_of_the_greatest():
    rng = np.random.default_rng(3)
    rows, vectors, which = rng.normal(size=(4, 7, 10)), rng.normal(size=(30, 9)), np.arange(30) % 4
    rows[2, 5] = rows[2, 1]
    scores = np.einsum("kri,ki->kr", rows[which, :, :-1], vectors) + rows[which, :, -1]
    flat = np.concatenate([rows.reshape(4, -1), np.full((4, 3), 1e9)], axis=1).astype(np.float32)
    found = best_rows(flat, which, vectors.astype(np.float32), 7)
    np.testing.assert_array_equal(found, scores.argmax(axis=1))


@pytest.mark.usefixtures("arithmetic")
@pytest.mark.parametrize("width", [1, 16, 33])
def test_products_are_those_of_double_precision(width):
    rng = np.random.default_rng(width)
    rows, columns = rng.normal(size=(5, width)), rng.normal(size=(7, width))
    found = pairwise(rows.astype(np.float32)[::-1], columns.astype(np.float32))
    np.testing.assert_allclose(found, rows[::-1] @ columns.T, rtol=1e-4, atol=1e-5)


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


@needs_kernel
def test_every_processor_gives_the_same_bits():
    """Sums in one order, and no estimates of reciprocals: near ties fall alike, so that indexes have the same bytes."""

    def numbers(*shape):
        return (np.random.default_rng(5).integers(-4000, 4000, shape) / 1024).astype(np.float32)

    attention = np.empty((57, 96), np.float32)
    attended(numbers(57, 288), np.array([20, 57]), 3, attention)
    made = [gelu(numbers(30, 75)), normalised(numbers(30, 75), numbers(2, 75)), attention]
    made += [
        pairwise(numbers(9, 75), numbers(10, 75)),
        best_rows(numbers(4, 7 * 76), np.arange(30) % 4, numbers(30, 75), 7),
    ]
    assert [hashlib.sha256(array.tobytes()).hexdigest()[:12] for array in made] == [
        "137afe5c41f2",
        "d7e3ab0a600b",
        "ff31143a484a",
        "f0ee0dc0b8d7",
        "19d51311ce67",
    ]


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
