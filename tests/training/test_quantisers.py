"""The quantisers that WolfPQ is compared with: DPQ and RepCONC by hand, and what they leave."""

from __future__ import annotations

import math

import numpy as np
import pytest
import torch

from qbench.compression.quantiser import Quantiser
from qbench.models.dpq import DPQ
from qbench.models.product_quantiser import nearest
from qbench.models.repconc import RepCONC, balanced
from qbench.training.codebook_task import quantiser_of
from qbench.training.losses.quantisers import contrast
from tests.compression.trained_codebook import drawn


def dpq(keys, values):
    """One part; keys and values of one number each."""
    network = DPQ(np.array([[[key] for key in keys]], np.float32))
    with torch.no_grad():
        network.codewords.copy_(torch.tensor(values).reshape(1, -1, 1) / network.size)
    return network


def test_keys_select_and_values_stand_for_what_was_selected():
    network = dpq([0.0, 2.0], [10.0, 30.0])
    # 0.9 is nearer to the key 0, and 1.1 to the key 2; 12 is far from both, and nearer to 2.
    vectors = torch.tensor([[0.9], [1.1], [12.0]])
    np.testing.assert_allclose(network(vectors).detach(), [[10], [30], [30]], rtol=1e-5)
    stored = quantiser_of(network)
    np.testing.assert_allclose(stored.quantised(vectors.numpy()), [[10], [30], [30]], rtol=1e-5)
    np.testing.assert_allclose(stored.keys[0, :, 0], [0, 2], rtol=1e-5)


def test_keys_have_the_gradient_of_the_softmax():
    network = dpq([0.0, 2.0], [10.0, 30.0])
    size, x = float(network.size), 0.9
    network(torch.tensor([[x]])).sum().backward()
    # In units of `size`: logits x k - k^2 / 2, with the derivative x - k.
    a, b = 0.0, x * 2 / size**2 - (2 / size) ** 2 / 2
    share = math.exp(b) / (math.exp(a) + math.exp(b))
    slope = share * (1 - share) * (30 - 10)
    expected = [-slope * x / size, slope * (x - 2) / size]
    np.testing.assert_allclose(network.selecting.grad[0, :, 0], expected, rtol=1e-4)
    # The value that was selected is what comes out; the other one has its share of the softmax in no gradient.
    np.testing.assert_allclose(network.codewords.grad[0, :, 0], [size, 0], atol=1e-5)


def test_what_dpq_leaves_selects_as_it_did_in_training(tmp_path):
    network = DPQ(drawn((3, 8, 4)))
    with torch.no_grad():
        network.selecting += torch.from_numpy(drawn((3, 8, 4), 1))
    vectors = drawn((50, 12), 2)
    quantiser_of(network).save(tmp_path, variant="DPQ", vectors={})
    opened = Quantiser.open(tmp_path)
    np.testing.assert_allclose(opened.quantised(vectors), network(torch.from_numpy(vectors)).detach(), atol=1e-5)
    assert (opened.codes(vectors) != Quantiser(opened.codebook).codes(vectors)).any()


def test_the_constraint_moves_what_costs_least():
    # Four vectors for two codewords, two each: the third is the nearest to 1 of the three that are nearer to 0.
    vectors, codewords = torch.tensor([[0.1], [0.0], [0.2], [1.0]]), torch.tensor([[[0.0], [1.0]]])
    assert nearest(vectors, codewords).T.tolist() == [[0, 0, 0, 1]]
    assert balanced(vectors, codewords, 0.2).T.tolist() == [[0, 0, 1, 1]]


def test_codewords_are_used_more_equally_under_the_constraint():
    vectors, codewords = torch.from_numpy(drawn((128, 12)) + 1), torch.from_numpy(drawn((3, 8, 4), 1))

    def spread(codes):
        return np.bincount(codes[:, 0].numpy(), minlength=8).std()

    assert spread(balanced(vectors, codewords)) < 0.5 * spread(nearest(vectors, codewords))
    # Whatever the distances: no codeword that is far from all, no single vector, and no equal codewords break it.
    far = codewords + torch.tensor([1e4, 0, 0, 0])
    for some, words in ((vectors, far), (vectors[:1], codewords), (vectors, torch.zeros(3, 8, 4))):
        codes = balanced(some, words)
        assert codes.shape == (len(some), 3)
        assert 0 <= codes.min() <= codes.max() < 8


def test_repconc_ends_as_a_plain_pq():
    network, vectors = RepCONC(drawn((3, 8, 4), 1)), torch.from_numpy(drawn((40, 12)) + 1)
    stored = quantiser_of(network)
    assert stored.keys is None
    assert stored.semantic is None
    free, constrained = network.eval()(vectors), network.train()(vectors)
    assert not torch.equal(free, constrained)
    np.testing.assert_allclose(free.detach(), stored.quantised(vectors.numpy()), atol=1e-5)
    constrained.sum().backward()
    assert network.codewords.grad.abs().sum() > 0


def test_the_contrast_by_hand():
    positives, negatives = torch.tensor([[2.0, 1.0]]), torch.tensor([[0.0, 1.0, 1.0]])
    others = 1 + 2 * math.e
    expected = -(math.log(math.e**2 / (math.e**2 + others)) + math.log(math.e / (math.e + others))) / 2
    assert contrast(positives, negatives).item() == pytest.approx(expected)
