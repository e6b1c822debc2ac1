"""DeepQuant's score from arrays, by hand and against the plain formula."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from qbench.scoring import maxsim as words
from qbench.scoring.maxsim import TokenVectors
from qbench.scoring.number_relevance import (
    AskedNumbers,
    StatedNumbers,
    mixed,
    number_relevance,
    quantity_scores,
    scored,
    search,
)


def logit(probability):
    return np.log(probability / (1 - probability))


def asked(operators, alpha=0.5, divisor=1.0):
    """A query of one unit dimension, whose towers are ones."""
    count = len(operators)
    return AskedNumbers(
        np.array([[1, 0]], np.float32), np.array(operators), np.ones((count, 3, 1)), np.ones((count, 1)), alpha, divisor
    )


def test_by_hand():
    query = asked([[0.7, 0.2, 0.1]])
    beliefs = [[0.9, 0.1, 0.2], [0.1, 0.1, 0.99], [0.5, 0.5, 0.5]]
    numbers = StatedNumbers(
        np.array([0, 2, 2, 3]), logit(np.array(beliefs))[:, :, None], np.array([[np.log(3)], [0.0], [7.0]])
    )
    found = number_relevance(query, numbers)
    np.testing.assert_allclose(found.attention, [[0.75, 0.25, 1.0]], rtol=1e-5)
    np.testing.assert_allclose(found.believed[0], beliefs, rtol=1e-5)
    # .7 * .9 + .2 * .1 + .1 * .2 = .67
    np.testing.assert_allclose(found.relevance[0, 0], 0.75 * 0.67, rtol=1e-5)
    np.testing.assert_allclose(quantity_scores(query, numbers), [0.75 * 0.67, 0, 0.5], rtol=1e-5)
    np.testing.assert_allclose(mixed(query, np.array([2.0]), np.array([0.4])), [1.2])
    np.testing.assert_allclose(mixed(asked([[1, 0, 0]], 0.25, 4), np.array([2.0]), np.array([0.4])), [0.425])


def test_the_best_number_of_each_constraint_counts():
    query = AskedNumbers(
        np.zeros((0, 2), np.float32),
        np.array([[1, 0, 0], [0, 0, 1]]),
        np.ones((2, 3, 1)),
        np.array([[9.0, 0.0], [0.0, 9.0]]),
        0.0,
    )
    towers = logit(np.array([[0.8, 0.5, 0.1], [0.3, 0.5, 0.6]]))[:, :, None]
    numbers = StatedNumbers(np.array([0, 2]), towers, np.array([[9.0, 0.0], [0.0, 9.0]]))
    np.testing.assert_allclose(quantity_scores(query, numbers), [0.8 + 0.6], rtol=1e-5)


counts = st.lists(st.integers(0, 4), min_size=1, max_size=12)


@given(counts, st.integers(0, 3), st.integers(0, 2**16))
def test_blocks_and_chosen_documents_give_the_plain_formula(numbers_of, constraints, seed):
    random = np.random.default_rng(seed)
    starts = np.append(0, np.cumsum(numbers_of))
    numbers = StatedNumbers(starts, random.normal(size=(starts[-1], 3, 4)), random.normal(size=(starts[-1], 3)))
    lengths = random.integers(1, 4, len(numbers_of))
    tokens = TokenVectors(np.append(0, np.cumsum(lengths)), random.normal(size=(lengths.sum(), 2)).astype(np.float32))
    operators = random.dirichlet(np.ones(3), constraints) if constraints else np.empty((0, 3))
    query = AskedNumbers(
        random.normal(size=(2, 2)).astype(np.float32),
        operators,
        random.normal(size=(constraints, 3, 4)),
        random.normal(size=(constraints, 3)),
        0.3 if constraints else 1.0,
    )
    wanted = words.rerank(tokens, query.words, np.arange(len(lengths))) * query.alpha
    for doc in range(len(lengths)):
        own = range(starts[doc], starts[doc + 1])
        for a in range(constraints):
            powers = {b: np.exp(query.units[a] @ numbers.units[b]) for b in own}
            relevance = [
                powers[b]
                / sum(powers.values())
                * sum(
                    query.operators[a, op] / (1 + np.exp(-query.towers[a, op] @ numbers.towers[b, op]))
                    for op in range(3)
                )
                for b in own
            ]
            wanted[doc] += (1 - query.alpha) * max(relevance, default=0)
    docs = random.permutation(len(lengths))
    np.testing.assert_allclose(scored(tokens, numbers, query, docs), wanted[docs], rtol=1e-4, atol=1e-6)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(words, "ROWS", 3)
        ((best, scores),) = search(tokens, numbers, [query], len(lengths))
    np.testing.assert_allclose(scores, wanted[best], rtol=1e-4, atol=1e-6)
    assert (np.diff(scores) <= 0).all()


def test_far_logits_do_not_overflow():
    query = asked([[0.5, 0.25, 0.25]])
    numbers = StatedNumbers(np.array([0, 2]), np.array([[[1e4]] * 3, [[-1e4]] * 3]), np.array([[1e4], [-1e4]]))
    with np.errstate(over="raise", invalid="raise"):
        np.testing.assert_allclose(quantity_scores(query, numbers), [1.0])
