"""Sequential coalescing, by hand."""

from __future__ import annotations

import numpy as np

from qbench.scoring.coalescing import coalesced

UNIT = np.array([[np.cos(a), np.sin(a)] for a in np.radians([0, 20, 40, 90, 0])], np.float32)


def test_the_next_passage_is_compared_with_the_mean_of_the_group():
    # 40 degrees from the first, but 30 from the mean direction of the first two, 10 degrees: 1 - cos 30 = 0.134.
    sizes, means = coalesced(UNIT, 0.15)
    assert sizes.tolist() == [3, 1, 1]
    np.testing.assert_allclose(means[0], UNIT[:3].mean(axis=0), rtol=1e-6)
    np.testing.assert_array_equal(means[1:], UNIT[3:])
    assert coalesced(UNIT, 0.13)[0].tolist() == [2, 1, 1, 1]


def test_thresholds_at_the_ends():
    assert coalesced(UNIT, 0)[0].tolist() == [1] * 5
    assert coalesced(UNIT, 2)[0].tolist() == [5]
    sizes, means = coalesced(UNIT[:0], 0.1)
    assert (sizes.size, means.shape) == (0, (0, 2))


def test_a_vector_of_zeros_is_near_to_none():
    sizes, means = coalesced(np.zeros((3, 4), np.float32), 0.5)
    assert sizes.tolist() == [1, 1, 1]
    assert not means.any()
