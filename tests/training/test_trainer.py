"""The course of a training, on a task of two weights: steps, accumulation, clipping, stopping, going on."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest
import torch

from qbench.errors import OptionError
from qbench.progress import silent
from qbench.training.recipes import Recipe
from qbench.training.trainer import Task, Trainer, adamw, batches_by_length, rate_share

POINTS = torch.arange(16.0).reshape(8, 2) / 16


def error(network, points, wanted):
    return (network(points)[:, 0] - wanted @ torch.tensor([1.0, 2.0])).square().mean()


class Line(Task):
    """Learns x + 2y; its batches are rows of POINTS, and it is evaluated by minus its error."""

    def __init__(self, recipe, size=2, figures=()):
        self.network, self.recipe, self.size = torch.nn.Linear(2, 1, bias=False), recipe, size
        torch.nn.init.zeros_(self.network.weight)
        self.figures, self.seen = list(figures), []

    def batches(self, epoch):
        return list(POINTS.split(self.size))

    def loss(self, batch, step, steps):
        self.seen.append((step, steps))
        return error(self.network, torch.nn.functional.dropout(batch, 0.1), batch)

    def untrained(self):
        return None

    def evaluate(self):
        return {"dev": self.figures.pop(0) if self.figures else 0.0}

    def figure(self, record):
        return record["dev"]

    def save(self, folder):
        (folder / "weights").write_text(str(self.network.weight.tolist()))


class Descent(Line):
    """With plain gradient descent, whose steps show gradients and rates."""

    def optimizer(self):
        return torch.optim.SGD(self.network.parameters(), lr=self.recipe.lr)

    def loss(self, batch, step, steps):
        return error(self.network, batch, batch)


def weights(task, folder, **how):
    folder.mkdir(exist_ok=True)
    history = Trainer(task, folder, how.pop("progress", silent), **how).run()
    return task.network.weight.detach().clone(), history


def test_accumulated_batches_are_one_step(tmp_path):
    plain = {"epochs": 1, "lr": 0.1, "clip": 0.0, "warmup": 0.0, "schedule": "constant"}
    four = weights(Descent(Recipe(**plain), size=4), tmp_path / "a")[0]
    pairs = weights(Descent(Recipe(**plain, accumulation=2), size=2), tmp_path / "b")[0]
    alone = weights(Descent(Recipe(**plain), size=2), tmp_path / "c")[0]
    assert torch.allclose(four, pairs)
    assert not torch.allclose(four, alone)


def test_an_incomplete_accumulation_makes_a_step_too(tmp_path):
    task = Line(Recipe(epochs=2, accumulation=3))
    weights(task, tmp_path / "a")
    assert task.seen == [(step, 4) for step in (0, 0, 0, 1, 2, 2, 2, 3)]


def test_gradients_are_clipped(tmp_path):
    for clip, norm in ((0.01, 0.01), (0.0, None)):
        recipe = Recipe(epochs=1, lr=1.0, clip=clip, warmup=0.0, schedule="constant")
        moved = weights(Descent(recipe, size=8), tmp_path / str(clip))[0].norm()
        assert moved == pytest.approx(norm) if norm else moved > 0.1


def test_a_schedule_that_is_constant_goes_further(tmp_path):
    ends = {
        schedule: weights(Descent(Recipe(epochs=4, lr=0.1, warmup=0.0, schedule=schedule)), tmp_path / schedule)[0]
        for schedule in ("linear", "constant")
    }
    assert ends["constant"].norm() > ends["linear"].norm() > 0


def test_the_best_epoch_is_kept_and_patience_ends_it(tmp_path):
    records = []
    recipe = Recipe(epochs=9, patience=2, warmup=0.0, schedule="constant")
    task = Line(recipe, figures=[0.2, 0.5, 0.4, 0.5, 0.9])
    kept, history = weights(task, tmp_path / "a", on_epoch=records.append)
    assert (history.best, history.epochs) == (2, 4)
    assert json.loads((tmp_path / "a" / "log.json").read_text()) == records == list(history.records)
    for epochs, same in ((2, True), (3, False)):
        other = Line(replace(recipe, epochs=epochs), figures=range(epochs))
        assert torch.equal(kept, weights(other, tmp_path / str(epochs))[0]) == same


def test_patience_begins_after_the_steps_that_teach_something_else(tmp_path):
    recipe = Recipe(epochs=6, patience=1, warmup=0.0, schedule="constant")
    ended = {}
    for share in (0.0, 0.5):
        task = Line(recipe, figures=[0.1, 0.1, 0.1, 0.6, 0.1, 0.1])
        task.patient_until = lambda share=share: share
        _, history = weights(task, tmp_path / str(share))
        ended[share] = history.best, history.epochs
    assert ended == {0.0: (1, 2), 0.5: (4, 5)}


def test_a_killed_training_goes_on_with_the_same_weights(tmp_path):
    recipe = Recipe(epochs=3, accumulation=2, lr=0.1)
    whole, history = weights(Line(recipe), tmp_path / "whole")

    def kill(done, total, what):
        if done == 6:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        weights(Line(recipe), tmp_path / "cut", progress=kill)
    done, records = [], []
    went_on = weights(
        Line(recipe), tmp_path / "cut", progress=lambda *what: done.append(what[0]), on_epoch=records.append
    )
    assert torch.equal(went_on[0], whole)
    assert went_on[1] == history
    assert (done, [record["epoch"] for record in records]) == ([*range(5, 13)], [1, 2, 3])


def test_an_epoch_is_evaluated_as_often_as_the_recipe_says_between_steps_alone(tmp_path):
    # 4 batches are 2 steps of 3 and 1 batches: no more than two evaluations are possible.
    for evaluations, ends in ((1, [1, 2]), (2, [0.5, 1, 1.5, 2]), (4, [0.5, 1, 1.5, 2])):
        recipe = Recipe(epochs=2, accumulation=3, evaluations=evaluations, patience=9)
        task, records = Line(recipe), []
        _, history = weights(task, tmp_path / str(evaluations), on_epoch=records.append)
        assert [record["epoch"] for record in records] == ends
        assert task.seen == [(step, 4) for step in (0, 0, 0, 1, 2, 2, 2, 3)]
        assert (history.steps, history.epochs) == (4, 2)


@pytest.mark.parametrize("killed", range(1, 16))
def test_a_training_killed_within_an_epoch_goes_on_from_the_last_evaluation(tmp_path, killed):
    recipe = Recipe(epochs=2, evaluations=3, lr=0.1, patience=9)
    whole, history = weights(Line(recipe, size=1), tmp_path / "whole")
    assert [record["epoch"] for record in history.records] == [0.3333, 0.6667, 1, 1.3333, 1.6667, 2]

    def kill(done, total, what):
        if done == killed:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        weights(Line(recipe, size=1), tmp_path / "cut", progress=kill)
    done = []
    went_on = weights(Line(recipe, size=1), tmp_path / "cut", progress=lambda *what: done.append(what[0]))
    assert torch.equal(went_on[0], whole)
    assert went_on[1] == history
    ends = (0, 3, 5, 8, 11, 13, 16)
    assert done[0] == max(end for end in ends if end < killed) + 1


def test_the_untrained_weights_are_a_candidate(tmp_path):
    class Begun(Line):
        def untrained(self):
            return self.evaluate()

    recipe = Recipe(epochs=3, patience=2, evaluations=2, lr=0.1)
    kept, history = weights(Begun(recipe, figures=[0.5, 0.4, 0.4, 0.5, 0.3, 0.9]), tmp_path / "a")
    assert (history.best, history.epochs) == (0, 2)
    assert torch.equal(kept, torch.zeros(1, 2))
    kept, history = weights(Begun(recipe, figures=[0.5, 0.6, 0.4, 0.5, 0.3, 0.6, 0.6]), tmp_path / "b")
    assert history.best == 0.5
    assert kept.norm() > 0


def test_a_loss_that_is_not_finite_is_an_error(tmp_path, monkeypatch):
    monkeypatch.setattr(Line, "loss", lambda self, *_: self.network.weight.sum() * float("nan"))
    with pytest.raises(OptionError, match=r"no longer finite in epoch 1.*Lower the learning rate"):
        weights(Line(Recipe()), tmp_path / "a")


def test_weights_decay_but_biases_and_norms_do_not():
    module = torch.nn.ModuleDict(
        {"lstm": torch.nn.LSTM(2, 2), "norm": torch.nn.LayerNorm(2), "out": torch.nn.Linear(2, 2)}
    )
    groups = adamw([(module.named_parameters(), 0.1)], 0.5).param_groups
    assert [(group["weight_decay"], group["lr"], len(group["params"])) for group in groups] == [
        (0.5, 0.1, 3),
        (0.0, 0.1, 5),
    ]


def test_the_rate_rises_then_falls_to_nothing():
    rates = [rate_share(step, 20, 0.2, "linear") for step in range(20)]
    assert rates[:4] == [0.25, 0.5, 0.75, 1.0]
    assert rates[3:] == sorted(rates[3:], reverse=True)
    assert 0 < rates[-1] < 0.1
    assert rate_share(0, 1, 0.0, "linear") == 1
    assert [rate_share(step, 4, 0.5, "constant") for step in range(4)] == [0.5, 1, 1, 1]


def test_batches_hold_every_text_once_and_others_of_its_length():
    lengths = np.random.default_rng(1).integers(5, 90, 700).tolist()
    batches = batches_by_length(lengths, 7, np.random.default_rng(2))
    assert sorted(n for batch in batches for n in batch) == list(range(700))
    assert {len(batch) for batch in batches} == {7}
    assert max(max(lengths[n] for n in batch) - min(lengths[n] for n in batch) for batch in batches) < 12
    assert batches != batches_by_length(lengths, 7, np.random.default_rng(3))
