"""Product quantisation: examples by hand, and the same codes, tables and distortion as faiss."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from qbench.errors import InputError, OptionError
from qbench.scoring.product import (
    code_bits,
    code_bytes,
    codewords_as_columns,
    decoded,
    encoded,
    looked_up,
    lookup_tables,
    packed,
    product_codebook,
)
from qbench.scoring.rotation import allocated_axes, learnt_rotation

CODEBOOK = np.array([[[0, 0], [1, 1]], [[2, 0], [0, 2]]], np.float32)
"""Two parts of two numbers, two codewords each."""


def drawn(count, width, seed=0):
    """Vectors whose numbers depend on each other, some wide and some narrow, as those of encoders."""
    rng = np.random.default_rng(seed)
    mixing = np.random.default_rng(7).standard_normal((width, width)) * np.linspace(1, 0.05, width)
    return (rng.standard_normal((count, width)) @ mixing.T).astype(np.float32)


def distortion(vectors, other):
    return float(((vectors - other) ** 2).sum(axis=1).mean())


def test_each_part_gets_the_nearest_codeword():
    vectors = np.array([[0.4, 0.4, 1.5, 0.1], [0.6, 0.6, 1, 1]], np.float32)
    codes = encoded(vectors, CODEBOOK)
    # |(.4,.4)|^2 = .32 < .72; (1.5, .1) is nearer to (2, 0). (1, 1) is as near to both: the first.
    np.testing.assert_array_equal(codes, [[0, 0], [1, 0]])
    np.testing.assert_array_equal(decoded(packed(codes, 2), CODEBOOK), [[0, 0, 2, 0], [1, 1, 2, 0]])


def test_scores_are_sums_of_products_looked_up():
    tables = lookup_tables(np.array([[1, 2, 3, 4]], np.float32), codewords_as_columns(CODEBOOK))
    np.testing.assert_array_equal(tables, [[[0, 3], [6, 8]]])  # 1*1 + 2*1; 3*2, 4*2
    codes = packed(np.array([[0, 0], [1, 1], [1, 0]], np.uint16), 2)
    np.testing.assert_array_equal(looked_up(tables, codes), [[6, 11, 9]])


def test_the_size_of_codes():
    assert [code_bits(K) for K in (2, 256, 512, 2048, 4096, 2**16)] == [1, 8, 9, 11, 12, 16]
    # The thesis' sizes: 16 bytes, 30 bytes and 144 bytes for each passage.
    assert [code_bytes(16, 256), code_bytes(24, 1024), code_bytes(96, 4096)] == [16, 30, 144]


@settings(max_examples=60, deadline=None)
@given(st.integers(2, 2**16), st.integers(1, 9), st.integers(0, 5), st.randoms(use_true_random=False))
def test_packed_codes_are_read_back_whatever_their_width(K, M, count, random):
    codes = np.array([[random.choice([0, K - 1, random.randrange(K)]) for _ in range(M)] for _ in range(count)])
    codes = codes.reshape(count, M).astype(np.uint16)
    small = packed(codes, K)
    assert small.shape == (count, code_bytes(M, K))
    codebook = np.broadcast_to(np.arange(K, dtype=np.float32)[:, None], (M, K, 1))
    np.testing.assert_array_equal(decoded(small, codebook), codes)
    tables = lookup_tables(np.ones((1, M), np.float32), codewords_as_columns(codebook))
    np.testing.assert_allclose(looked_up(tables, small)[0], codes.sum(axis=1, dtype=float), rtol=1e-6)


@pytest.mark.parametrize(("M", "bits"), [(8, 8), (4, 9), (6, 5), (3, 11), (2, 12)])
def test_codes_and_bytes_are_those_of_faiss(M, bits):
    faiss = pytest.importorskip("faiss")
    vectors = drawn(600, 24)
    theirs = faiss.ProductQuantizer(24, M, bits)
    codebook = np.random.default_rng(1).permutation(drawn(2**bits, 24, seed=1)).astype(np.float32)
    codebook = np.ascontiguousarray(codebook.reshape(2**bits, M, -1).transpose(1, 0, 2))
    faiss.copy_array_to_vector(codebook.ravel(), theirs.centroids)
    codes = theirs.compute_codes(vectors)
    np.testing.assert_array_equal(packed(encoded(vectors, codebook), 2**bits), codes)
    np.testing.assert_array_equal(decoded(codes, codebook), theirs.decode(codes))


@pytest.mark.parametrize(("M", "bits"), [(8, 6), (4, 5)])
def test_codebooks_are_as_good_as_those_of_faiss(M, bits):
    faiss = pytest.importorskip("faiss")
    vectors = drawn(2600, 32)
    theirs = faiss.ProductQuantizer(32, M, bits)
    theirs.train(vectors)
    codebook = product_codebook(vectors, M, 2**bits)
    ours = distortion(vectors, decoded(packed(encoded(vectors, codebook), 2**bits), codebook))
    assert ours <= 1.03 * distortion(vectors, theirs.decode(theirs.compute_codes(vectors)))


def test_a_learnt_rotation_is_as_good_as_that_of_faiss_and_better_than_none():
    faiss = pytest.importorskip("faiss")
    vectors, M, bits = drawn(2600, 32), 8, 5

    def after(turned):
        codebook = product_codebook(turned, M, 2**bits)
        return distortion(turned, decoded(packed(encoded(turned, codebook), 2**bits), codebook))

    theirs = faiss.OPQMatrix(32, M)
    theirs.pq = faiss.ProductQuantizer(32, M, bits)
    theirs.niter, theirs.verbose = 20, False
    theirs.train(vectors)
    rotation = learnt_rotation(vectors, M, 2**bits, rounds=10)
    np.testing.assert_allclose(rotation @ rotation.T, np.eye(32), atol=1e-4)
    ours = after(vectors @ rotation)
    assert ours <= 1.03 * after(theirs.apply(vectors))
    assert ours < 0.8 * after(vectors)


def test_axes_are_dealt_by_the_product_of_their_variances():
    # Variances 16, 8, 4, 2 along the axes: 16 * 2 = 8 * 4.
    vectors = np.concatenate([s * np.diag(np.sqrt([16.0, 8, 4, 2])) for s in (1, -1)]).astype(np.float32)
    axes = allocated_axes(vectors, 2)
    assert [int(np.abs(axis).argmax()) for axis in axes.T] == [0, 3, 1, 2]


@pytest.mark.parametrize(
    "vectors", [np.ones((40, 8), np.float32), np.repeat(drawn(3, 8), 20, axis=0), np.zeros((40, 8), np.float32)]
)
def test_constant_and_duplicate_vectors_are_kept_exactly(vectors):
    for M, K in ((4, 16), (1, 3)):
        codebook = product_codebook(vectors, M, K)
        assert np.isfinite(codebook).all()
        np.testing.assert_allclose(decoded(packed(encoded(vectors, codebook), K), codebook), vectors, atol=1e-6)
        rotation = learnt_rotation(vectors, M, K, rounds=2)
        np.testing.assert_allclose(rotation @ rotation.T, np.eye(8), atol=1e-4)


def test_what_cannot_be_learnt_says_why():
    with pytest.raises(OptionError, match=r"M has to divide .* vectors, 24 \(found 10\)\. Use .* 8, 12"):
        product_codebook(drawn(30, 24), 10, 8)
    with pytest.raises(OptionError, match=r"K is above the number of vectors to learn from, 30 \(found 31\)"):
        product_codebook(drawn(30, 24), 8, 31)
    broken = drawn(30, 24)
    broken[7, 3] = np.nan
    with pytest.raises(InputError, match=r"not finite \(found 'row 7'\)"):
        product_codebook(broken, 8, 4)
