"""k-means: nothing gets worse, nothing is lost, the same every time."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from qbench.errors import InputError, OptionError
from qbench.scoring import kmeans as module
from qbench.scoring.kmeans import assigned, kmeans

VECTORS = arrays(np.float32, st.tuples(st.integers(1, 30), st.integers(1, 4)), elements=st.integers(-9, 9).map(float))


def loss(vectors, centroids, spherical):
    return -float(assigned(vectors, centroids, spherical=spherical)[1].astype(np.float64).sum())


@given(VECTORS, st.integers(1, 8), st.booleans(), st.integers(0, 3))
def test_more_iterations_are_never_worse_and_give_the_same_bytes_twice(vectors, k, spherical, seed):
    runs = [kmeans(vectors, k, seed=seed, iterations=n, spherical=spherical) for n in (1, 2, 4, 20)]
    losses = [loss(vectors, run, spherical) for run in runs]
    assert all(later <= earlier + 1e-3 for earlier, later in pairwise(losses))
    assert runs[-1].shape == (min(k, len(vectors)), vectors.shape[1])
    assert runs[-1].dtype == np.float32
    assert np.isfinite(runs[-1]).all()
    assert kmeans(vectors, k, seed=seed, iterations=20, spherical=spherical).tobytes() == runs[-1].tobytes()


@given(VECTORS, st.integers(1, 8), st.booleans(), st.integers(1, 7))
def test_blocks_do_not_change_what_is_nearest(vectors, k, spherical, rows):
    centroids = kmeans(vectors, k, spherical=spherical, iterations=2)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "PRODUCTS", rows * len(centroids))
        labels, nearness = assigned(vectors, centroids, spherical=spherical)
    wide, narrow = vectors.astype(np.float64), centroids.astype(np.float64)
    by_hand = wide @ narrow.T if spherical else -((wide[:, None] - narrow) ** 2).sum(axis=2)
    np.testing.assert_allclose(nearness, by_hand.max(axis=1), atol=1e-3)
    np.testing.assert_allclose(by_hand[np.arange(len(wide)), labels], by_hand.max(axis=1), atol=1e-3)


def test_clusters_are_found():
    rng = np.random.default_rng(3)
    middles = rng.standard_normal((6, 16)) * 20
    vectors = (np.repeat(middles, 50, axis=0) + rng.standard_normal((300, 16))).astype(np.float32)
    for spherical in (False, True):
        labels, _ = assigned(vectors, kmeans(vectors, 24, spherical=spherical), spherical=spherical)
        groups = [set(labels[i * 50 : i * 50 + 50].tolist()) for i in range(6)]
        assert len(set.union(*groups)) == sum(len(group) for group in groups)  # no cluster holds two middles
        assert len(set.union(*groups)) == 24  # none is empty


def test_a_centroid_without_vectors_starts_anew_far_away():
    # Both centroids start at one of 99 equal vectors; the loner is found all the same.
    vectors = np.zeros((100, 2), np.float32)
    vectors[-1] = 5
    for seed in range(5):
        assert {tuple(row) for row in kmeans(vectors, 2, seed=seed).tolist()} == {(0.0, 0.0), (5.0, 5.0)}


def test_fewer_different_vectors_than_centroids():
    found = kmeans(np.ones((9, 3), np.float32), 4)
    assert found.shape == (4, 3)
    assert (found == 1).all()
    assert kmeans(np.empty((0, 3), np.float32), 4).shape == (0, 3)


def test_spherical_centroids_have_length_one_and_opposites_do_not_break_them():
    rng = np.random.default_rng(4)
    found = kmeans(rng.standard_normal((200, 5)).astype(np.float32), 7, spherical=True)
    np.testing.assert_allclose(np.linalg.norm(found, axis=1), 1, rtol=1e-5)
    opposites = np.array([[1, 0], [-1, 0]], np.float32)
    np.testing.assert_allclose(np.linalg.norm(kmeans(opposites, 1, spherical=True), axis=1), 1)


@pytest.mark.parametrize("options", [{"k": 0}, {"k": 2, "iterations": 0}])
def test_too_few_of_anything(options):
    with pytest.raises(OptionError, match="at least 1"):
        kmeans(np.ones((3, 2), np.float32), **options)


def test_vectors_that_are_not_finite_are_named():
    vectors = np.ones((3, 2), np.float32)
    vectors[1, 0] = np.nan
    with pytest.raises(InputError, match="row 1"):
        kmeans(vectors, 2)
