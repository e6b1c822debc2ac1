"""Made-up numbers: what is drawn, the windows they stand in, and that a DeepQuant learns to compare by them."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from qbench.models.number_layers import satisfaction_loss
from qbench.models.numbers import Number
from qbench.training.batch import Batch
from qbench.training.deepquant import comparison_holds
from qbench.training.made_numbers import STATED, WORDS, carriers, made_numbers, with_values
from qbench.training.number_figures import value_pairs
from qbench.training.opening import open_student
from qbench.training.triples import read_triples
from tests.encoder_factories import tiny_bert
from tests.number_factories import WORDS as VOCABULARY
from tests.number_factories import operator_benchmark

DATA = read_triples(operator_benchmark())


@pytest.fixture(scope="module")
def plain(tmp_path_factory):
    return tiny_bert(tmp_path_factory.mktemp("plain") / "plain", VOCABULARY, positions=48)


@given(st.integers(0, 2**32))
def test_each_asked_value_has_a_smaller_one_itself_and_a_larger_one(seed):
    made = made_numbers(20, np.random.default_rng(seed))
    stated = np.array(made.stated).reshape(-1, STATED)
    assert (np.diff(stated, axis=1) >= 0).all()
    assert stated[:, 1].tolist() == made.asked
    assert np.isfinite(stated).all()


def test_all_magnitudes_and_both_signs_are_drawn():
    asked = np.array(made_numbers(2000, np.random.default_rng(1)).asked)
    exponents = np.floor(np.log10(np.abs(asked)))
    assert set(range(-3, 9)) <= set(exponents.tolist())
    assert 0.02 < (asked < 0).mean() < 0.1


@given(st.lists(st.text(alphabet="ab \n", max_size=12), max_size=12), st.text(alphabet="ab \n", max_size=20))
def test_a_window_holds_its_number(before, after):
    text = f"{' '.join(before)}7.5{after}"
    at = text.index("7.5")
    ((window, number),) = carriers([text], [[Number(7.5, "metre", (at, at + 3))]])
    assert window in text
    assert window[slice(*number.span)] == "7.5"
    assert len(window.split(" ")) <= 2 * WORDS + 1


def test_values_stand_in_the_windows_in_turn():
    carried = carriers(["a 1 b", "c 2 d"], [[Number(1, "", (2, 3))], [Number(2, "", (2, 3))]])
    texts, role, numbers = with_values(carried, [10.0, 20.0, 30.0], "query")
    assert (texts, role) == (["a 1 b", "c 2 d", "a 1 b"], "query")
    assert [number.value for (number,) in numbers] == [10, 20, 30]


def test_the_first_steps_learn_to_compare_values_of_all_magnitudes(plain):
    torch.manual_seed(0)
    student = open_student("deepquant", str(plain), units=DATA.units, numbers_first=0.5)
    optimizer = torch.optim.Adam(student.network.parameters(), lr=3e-3)
    before = share_right(student)
    student.network.train()
    for step in range(150):
        batch = Batch.of(DATA, DATA.draw(0, str(step), 2, most=16), step, 400)
        optimizer.zero_grad()
        student.loss(batch).backward()
        optimizer.step()
    assert share_right(student) > max(0.6, before + 0.15)


def share_right(student):
    """Of new pairs of values in bare texts."""
    pairs = value_pairs(20)
    network = student.network.eval()
    with torch.no_grad():
        sides = [
            network.contextual(["1"] * len(pairs), [[Number(value, "", (0, 1))] for value in values]).numbers
            for values in ([pair.asked for pair in pairs], [pair.stated for pair in pairs])
        ]
        logits = (network.towers.query(sides[0]) * network.towers.document(sides[1])).sum(dim=2)
    network.train()
    holds = comparison_holds([pair.asked for pair in pairs], [pair.stated for pair in pairs])
    return float(holds[range(len(pairs)), range(len(pairs))][range(len(pairs)), logits.argmax(dim=1)].mean())


def test_after_the_first_steps_it_learns_from_relevance(plain):
    student = open_student("deepquant", str(plain), units=DATA.units, numbers_first=0.5)
    assert relevance_steps(student, (4, 5)) == [False, True]


def test_made_up_numbers_come_back_among_the_other_steps(plain):
    student = open_student("deepquant", str(plain), units=DATA.units, numbers_every=3)
    assert relevance_steps(student, range(7)) == [False, True, True, False, True, True, False]


def relevance_steps(student, steps):
    """Whether each of some steps out of 10 learns from relevance, which alone moves alpha."""
    drawn = DATA.draw(0, "1", 2, most=8)
    moved = []
    for step in steps:
        student.network.zero_grad()
        student.loss(Batch.of(DATA, drawn, step, 10)).backward()
        moved.append(student.network.alpha.weight.grad is not None)
    return moved


def test_towers_learn_from_the_comparison_loss_and_from_what_satisfies(plain):
    batch = Batch.of(DATA, DATA.draw(0, "1", 2, most=8), 0, 10)
    learns = []
    for compared, satisfying in ((0.0, 0.0), (1.0, 0.0), (0.0, 1.0)):
        weights = {"comparison_weight": compared, "satisfaction_weight": satisfying}
        options = {"numbers_first": 1.0, "regular_weight": 0.0, **weights}
        student = open_student("deepquant", str(plain), units=DATA.units, **options)
        student.loss(batch).backward()
        learns.append(any(some.grad is not None and some.grad.any() for some in student.network.towers.parameters()))
    assert learns == [False, True, True]


def test_another_seed_makes_other_numbers(plain):
    student = open_student("deepquant", str(plain), units=DATA.units, numbers_first=1.0)
    drawn = DATA.draw(0, "1", 2, most=8)
    losses = [float(student.loss(Batch.of(DATA, drawn, 3, 10, seed)).detach()) for seed in (13, 13, 14)]
    assert losses[0] == losses[1] != losses[2]


def test_a_batch_without_numbers_learns_from_relevance(plain):
    student = open_student("deepquant", str(plain), units=DATA.units, numbers_first=1.0)
    assert student._made_numbers_loss(Batch.of(DATA, [])) is None


def test_satisfaction_is_learnt_without_being_told_the_operator():
    """Only the probability of the operator that is asked with lowers the loss; unknown operators have none."""
    holds = torch.tensor([[[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]]])
    own = torch.tensor([0, 0, 0]), torch.tensor([0, 1, 2])
    sure = torch.eye(3)
    losses = [satisfaction_loss(sure[k : k + 1], holds, holds, torch.tensor([2]), own).item() for k in range(3)]
    assert losses[2] < 0.01 < min(losses[:2])
    assert satisfaction_loss(sure[:1], holds, holds, torch.tensor([-1]), own).item() == 0
