"""DeepQuant's equations against numbers worked out by hand."""

from __future__ import annotations

import math

import pytest

torch = pytest.importorskip("torch")

from qbench.models.number_layers import (  # noqa: E402
    NumberEmbedding,
    NumberHeads,
    OperatorHead,
    Towers,
    comparison_loss,
    comparisons,
    mantissa_width,
    max_sim,
    quantity_relevance,
    reconstruction_loss,
    regulariser,
    unit_attention,
    unit_loss,
    with_rows_of,
)

WIDTH = 40


def logit(probability):
    return math.log(probability / (1 - probability))


def test_nine_tenths_of_the_dimensions_encode_the_mantissa():
    assert (mantissa_width(768), mantissa_width(384), mantissa_width(WIDTH)) == (691, 346, 36)


def test_mantissas_are_gaussians_around_prototypes_and_exponents_are_looked_up():
    layer = NumberEmbedding(WIDTH)
    vectors = layer(torch.tensor([2.56, 2.56, -10.0]), torch.tensor([2, -20, 20]))
    assert vectors.shape == (3, WIDTH)
    # Prototype j of 36 is at -10 + 20 j / 35.
    by_hand = [math.exp(-((2.56 - (-10 + 20 * j / 35)) ** 2)) for j in range(36)]
    torch.testing.assert_close(vectors[0, 4:], torch.tensor(by_hand))
    assert vectors[2, 4].item() == 1
    torch.testing.assert_close(vectors[0, :4], layer.exponents.weight[22])
    torch.testing.assert_close(vectors[1:, :4], layer.exponents.weight[[0, 40]])
    torch.testing.assert_close(vectors[0, 4:], vectors[1, 4:])


def test_a_wider_gaussian_reaches_further():
    one, two = (NumberEmbedding(WIDTH, sigma)(torch.tensor([1.0]), torch.tensor([0]))[0, 4:] for sigma in (1.0, 2.0))
    assert (two >= one).all()
    torch.testing.assert_close(two, one ** (1 / 4))


@pytest.mark.parametrize("sigma", [0.5, 1.0, 2.0])
def test_exponents_and_mantissas_are_of_one_size(sigma):
    torch.manual_seed(3)
    layer = NumberEmbedding(400, sigma)
    mantissas = torch.linspace(1, 9.9, 41)
    vectors = layer(mantissas, torch.arange(-20, 21)).detach()
    exponent, mantissa = (part.square().mean().sqrt().item() for part in (vectors[:, :40], vectors[:, 40:]))
    assert exponent == pytest.approx(mantissa, rel=0.15)


def test_heads_read_their_own_part_of_the_vector():
    heads, vectors = NumberHeads(WIDTH, units=5), torch.randn(3, WIDTH, requires_grad=True)
    assert heads.exponents(vectors).shape == (3, 41)
    assert heads.units(vectors).shape == (3, 5)
    heads.mantissas(vectors).sum().backward()
    assert (vectors.grad[:, :4] == 0).all()
    assert (vectors.grad[:, 4:] != 0).any()


def test_probabilities_of_operators_sum_to_one():
    probabilities = OperatorHead(WIDTH)(torch.randn(4, WIDTH))
    torch.testing.assert_close(probabilities.sum(dim=1), torch.ones(4))


def test_the_sides_of_a_comparison_have_networks_of_their_own():
    towers, vectors = Towers(WIDTH), torch.randn(2, WIDTH)
    queries, documents = towers.query(vectors), towers.document(vectors)
    assert queries.shape == documents.shape == (2, 3, 128)
    assert not torch.allclose(queries, documents)
    assert not torch.allclose(queries[:, 0], queries[:, 2])
    logits = comparisons(queries, documents)
    torch.testing.assert_close(logits[1, 0, 2], queries[1, 2] @ documents[0, 2])


def test_units_of_a_document_compete():
    queries, documents = torch.tensor([[1.0, 0.0]]), torch.tensor([[math.log(3), 5.0], [0.0, 9.0], [7.0, 0.0]])
    members = torch.tensor([[0, 1], [2, -1], [-1, -1]])
    shares = unit_attention(queries, documents, members)
    torch.testing.assert_close(shares, torch.tensor([[[0.75, 0.25], [1.0, 0.0], [0.0, 0.0]]]))


def test_relevance_is_marginalised_over_operators_and_the_best_number_counts():
    operators = torch.tensor([[0.7, 0.2, 0.1]])
    believed = torch.tensor([[[0.9, 0.1, 0.2], [0.1, 0.1, 1.0], [0.5, 0.5, 0.5]]])
    attention = torch.tensor([[[0.25, 0.75], [1.0, 0.0], [0.0, 0.0]]])
    members = torch.tensor([[0, 1], [2, -1], [-1, -1]])
    # .7 * .9 + .2 * .1 + .1 * .2 = .67 and .07 + .02 + .1 = .19: the larger of .25 * .67 and .75 * .19.
    found = quantity_relevance(operators, attention, believed, members)
    torch.testing.assert_close(found, torch.tensor([[0.25 * 0.67, 0.5, 0.0]]))


def test_documents_without_any_number_have_none_to_choose():
    nothing = quantity_relevance(torch.rand(2, 3), torch.rand(2, 4, 0), torch.rand(2, 0, 3), torch.empty(4, 0).long())
    assert torch.equal(nothing, torch.zeros(2, 4))


def test_the_regulariser_wants_equality_where_less_and_more_agree():
    logits = torch.tensor([[[logit(0.3), logit(0.6), logit(0.8)]]])
    # |1 - .6| exp(-(.3 - .8)^2)
    torch.testing.assert_close(regulariser(logits), torch.tensor(0.4 * math.exp(-0.25)))
    assert regulariser(torch.tensor([[[0.0, 20.0, 0.0]]])) < 1e-6


def test_the_supplementary_loss_is_a_cross_entropy():
    logits = torch.tensor([[[logit(0.8), logit(0.4), logit(0.5)]]])
    holds = torch.tensor([[[1.0, 0.0, 0.0]]])
    both = -(math.log(0.8) + math.log(0.6) + math.log(0.5))
    torch.testing.assert_close(comparison_loss(logits, holds), torch.tensor(both))
    torch.testing.assert_close(comparison_loss(logits, holds, as_printed=True), torch.tensor(-math.log(0.8)))
    # Operators are summed up, pairs are averaged.
    torch.testing.assert_close(comparison_loss(logits.repeat(2, 5, 1), holds.repeat(2, 5, 1)), torch.tensor(both))


def test_as_it_is_printed_believing_everything_costs_nothing():
    sure, holds = torch.full((2, 3, 3), 50.0), torch.zeros(2, 3, 3)
    holds[:, :, 1] = 1
    assert comparison_loss(sure, holds, as_printed=True) + regulariser(sure) < 1e-9
    assert comparison_loss(sure, holds) > 10


def test_numbers_are_reconstructed():
    heads = NumberHeads(WIDTH, units=3)
    with torch.no_grad():
        for layer in (heads.exponent, heads.mantissa, heads.unit):
            layer.weight.zero_()
            layer.bias.zero_()
        heads.mantissa.bias.fill_(2.0)
    vectors = torch.randn(2, WIDTH)
    loss = reconstruction_loss(heads, vectors, torch.tensor([3.0, 5.0]), torch.tensor([0, -20]))
    torch.testing.assert_close(loss, torch.tensor(math.log(41) + (1 + 9) / 2))
    torch.testing.assert_close(unit_loss(heads, vectors, torch.tensor([0, 2])), torch.tensor(math.log(3)))


def test_without_numbers_losses_are_zero_and_have_a_gradient():
    heads, none = NumberHeads(WIDTH, units=3), torch.zeros(0, WIDTH, requires_grad=True)
    empty = torch.zeros(0)
    losses = [
        reconstruction_loss(heads, none, empty, empty.long()),
        unit_loss(heads, none, empty.long()),
        regulariser(comparisons(Towers(WIDTH).query(none), torch.rand(4, 3, 128))),
        comparison_loss(torch.zeros(0, 4, 3, requires_grad=True), torch.zeros(0, 4, 3)),
    ]
    assert [loss.item() for loss in losses] == [0, 0, 0, 0]
    assert all(loss.requires_grad for loss in losses)


def test_rows_of_a_layer_move_with_their_names():
    layer = torch.nn.Linear(4, 3)
    made = with_rows_of(layer, torch.tensor([2, -1, 0]))
    assert torch.equal(made.weight[[0, 2]], layer.weight[[2, 0]])
    assert torch.equal(made.bias[[0, 2]], layer.bias[[2, 0]])


def test_texts_are_compared_as_colbert_does():
    queries = torch.tensor([[[1.0, 0.0], [0.0, 1.0]]])
    texts = torch.tensor([[[1.0, 0.0], [0.6, 0.8]], [[-1.0, 0.0], [0.0, 1.0]]])
    asked, counted = torch.tensor([[True, True]]), torch.tensor([[True, True], [True, False]])
    torch.testing.assert_close(max_sim(queries, asked, texts, counted), torch.tensor([[1.8, -1.0]]))
    none = max_sim(queries, torch.tensor([[True, False]]), texts, torch.zeros(2, 2).bool())
    torch.testing.assert_close(none, torch.tensor([[-1.0, -1.0]]))
