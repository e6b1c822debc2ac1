"""PQ, OPQ and K-means as codecs: sizes to the byte, and what they refuse."""

from __future__ import annotations

import numpy as np
import pytest

from qbench.compression.product import FEW, OPQ, PQ, KMeans
from qbench.errors import InputError


def drawn(count, seed=0, width=24):
    return np.random.default_rng(seed).standard_normal((count, width)).astype(np.float32)


@pytest.mark.parametrize(
    ("codec", "row", "learnt"),
    [
        (PQ(M=8, K=256), 8, 256 * 24 * 4),
        (PQ(M=8, K=512), 9, 512 * 24 * 4),
        (PQ(M=6, K=20), 4, 20 * 24 * 4),
        (OPQ(M=4, K=16), 2, 16 * 24 * 4 + 24 * 24 * 4),
        (KMeans(K=300), 2, 300 * 24 * 4),
    ],
)
def test_bytes_are_codes_codebook_and_rotation(codec, row, learnt):
    fitted = codec.fit(drawn(600))
    codes = fitted.encode(drawn(50, 1))["codes"]
    assert codes.nbytes == 50 * row
    assert sum(array.nbytes for array in fitted.learnt.values()) == learnt


@pytest.mark.parametrize("codec", [PQ(M=8, K=32), OPQ(M=8, K=32), KMeans(K=32), PQ(M=4, K=512)])
def test_few_queries_look_up_and_many_multiply_with_the_same_scores(codec):
    fitted = codec.fit(drawn(600))
    arrays, queries = fitted.encode(drawn(50, 1)), drawn(FEW + 1, 2)
    few, many = fitted.tables(queries[:FEW]), fitted.tables(queries)
    assert (few.ndim, many.ndim) == (3, 2)
    scores = fitted.scores(many, arrays)
    np.testing.assert_allclose(fitted.scores(few, arrays), scores[:FEW], rtol=1e-4, atol=1e-4)
    np.testing.assert_allclose(scores, queries @ fitted.decode(arrays).T, rtol=1e-4, atol=1e-4)


def test_scoring_few_queries_decodes_nothing(monkeypatch):
    fitted = PQ(M=8, K=32).fit(drawn(600))
    arrays = fitted.encode(drawn(50, 1))
    monkeypatch.setattr("qbench.scoring.product.decoded", lambda *_: pytest.fail("decoded"))
    assert fitted.scores(fitted.tables(drawn(2, 2)), arrays).shape == (2, 50)


def test_a_codebook_of_another_encoder_is_refused():
    fitted = PQ(M=4, K=8).fit(drawn(30))
    for call in (fitted.encode, fitted.tables):
        with pytest.raises(InputError, match=r"learnt from vectors of 24 numbers.* \(found 32\)"):
            call(drawn(3, width=32))


def test_a_vector_that_is_not_finite_is_refused():
    fitted, broken = PQ(M=4, K=8).fit(drawn(30)), drawn(9)
    broken[4, 1] = np.inf
    for call in (fitted.encode, PQ(M=4, K=8).fit, OPQ(M=4, K=8).fit):
        with pytest.raises(InputError, match=r"not finite \(found 'row 4'\)"):
            call(broken)
