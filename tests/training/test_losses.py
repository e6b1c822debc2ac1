"""Losses: by hand, and a new one in the table, which sees conditions, mentions and the tokens of their spans."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch

from qbench.errors import OptionError
from qbench.training.batch import Batch
from qbench.training.contrastive import train_retriever
from qbench.training.losses import LOSSES, Loss
from qbench.training.losses.ranking import Distillation, flops, info_nce, pairwise
from qbench.training.opening import open_student
from qbench.training.outputs import Embedded, Outputs
from qbench.training.recipes import ContrastiveRecipe
from qbench.training.students import SparseStudent
from qbench.training.triples import read_triples
from tests.encoder_factories import WORDS, regular_benchmark, tiny_bert
from tests.factories import condition
from tests.training.numeric_loss import numeric_contrast

SCORES = torch.tensor([[2.0, 1.0, 0.0], [0.0, 3.0, 1.0]])
COMPARED = np.array([[True, True, False], [True, True, True]])
OWN = np.array([[False, True, False], [True, False, True]])


def batch(compared=COMPARED):
    return Batch(None, [0, 1], [0, 1, 2], np.array([0, 1]), OWN, compared)


def outputs(scores=SCORES):
    return Outputs(None, None, None, scores)


def test_info_nce_by_hand():
    expected = -np.mean([2 - np.log(np.exp([2.0, 1.0]).sum()), 3 - np.log(np.exp([0.0, 3.0, 1.0]).sum())])
    assert float(info_nce(batch(), outputs())) == pytest.approx(expected)


def test_pairwise_by_hand():
    expected = np.mean(np.log1p(np.exp([-1.0, -3.0, -2.0])))
    assert float(pairwise(batch(), outputs())) == pytest.approx(expected)


def test_distillation_by_hand():
    class Teacher:
        network = torch.nn.Identity()

        def __init__(self, scores):
            self.scores = scores

        def outputs(self, batch):
            return outputs(self.scores)

    assert float(Distillation(Teacher(SCORES))(batch(), outputs())) == pytest.approx(0, abs=1e-6)
    assert float(Distillation(Teacher(4 * SCORES), 4.0)(batch(), outputs())) == pytest.approx(0, abs=1e-6)
    logs = [np.log(np.exp(row) / np.exp(row).sum()) for row in SCORES.numpy()]
    expected = np.mean([np.mean(np.log(1 / 3) - row) for row in logs])
    assert float(Distillation(Teacher(torch.zeros(2, 3)))(batch(), outputs())) == pytest.approx(expected)


def test_flops_by_hand():
    assert float(flops(torch.tensor([[1.0, 0.0], [3.0, 1.0]]))) == pytest.approx(4.25)


def test_the_regularisation_of_splade_rises_over_the_first_third(monkeypatch):
    student = SparseStudent(None, query_flops=1.0, text_flops=0.0, objective=lambda batch, outputs: torch.zeros(()))
    queries = Embedded(torch.tensor([[2.0]]))
    monkeypatch.setattr(SparseStudent, "outputs", lambda self, batch: Outputs(self, queries, queries, None))
    losses = [float(student.loss(replace(batch(), step=step, steps=12))) for step in range(12)]
    assert losses == pytest.approx([4 * min(1, (step + 1) / 4) ** 2 for step in range(12)])


def over_fifty():
    """Half of the amounts satisfy each query."""
    benchmark = regular_benchmark()
    queries = [
        replace(query, text=f"{query.terms} over 50", conditions=(condition(query.terms, ">", 50),))
        for query in benchmark.queries
    ]
    return replace(benchmark, queries=queries)


@pytest.fixture
def numeric(monkeypatch):
    """The loss as CONTRIBUTING.md adds it: one row."""
    monkeypatch.setitem(LOSSES, "numeric", Loss(numeric_contrast, "also the numbers against each other", True))


def test_a_new_loss_is_a_file_and_a_row(tmp_path, numeric):
    base = tiny_bert(tmp_path / "tiny", [*WORDS, "over", "of"])
    recipe = ContrastiveRecipe(epochs=3, batch_size=12, lr=3e-3, loss="numeric", max_pairs=24, dev_queries=0)
    records = []
    manifest = train_retriever("colbert", over_fifty(), tmp_path / "a", str(base), recipe, on_epoch=records.append)
    assert manifest.params["loss"] == "numeric"
    assert records[-1]["loss"] < records[1]["loss"]
    with pytest.raises(OptionError, match="one vector for each text"):
        train_retriever("bi-encoder", over_fifty(), tmp_path / "b", str(base), recipe)


def test_the_numeric_loss_is_low_where_a_query_is_near_the_numbers_that_satisfy_it(numeric):
    data = read_triples(over_fifty())
    drawn = Batch.of(data, data.draw(1, "1", 2)[:6])
    met = torch.tensor([[mention.value > 50 for (mention,) in drawn.mentions]] * len(drawn.queries))

    class Numbers:
        """One token vector for each text: along the first axis or against it."""

        def tokens_within(self, texts, role, spans, width):
            assert all(len(some) == 1 for some in spans)
            return np.ones((len(texts), width), dtype=bool)

    def loss(sign):
        queries = Embedded(torch.tensor([[[4.0 * sign]]] * len(drawn.queries)))
        texts = Embedded((2.0 * met[0].float() - 1)[:, None, None])
        return float(numeric_contrast(drawn, Outputs(Numbers(), queries, texts, torch.zeros(met.shape))))

    assert 0 < met.float().mean() < 1
    assert loss(1) < loss(-1) - 1


def test_contributing_shows_this_loss():
    shown = Path("CONTRIBUTING.md").read_text(encoding="utf-8")
    file = Path(__file__).with_name("numeric_loss.py").read_text(encoding="utf-8").splitlines()
    assert "\n".join(f"+{line}" for line in file) in shown


def test_token_vectors_of_spans(tmp_path):
    student = open_student("colbert", str(tiny_bert(tmp_path / "tiny", [*WORDS, "over", "of"])))
    texts = ["annual revenue over debt", "revenue"]
    for role in ("query", "document"):
        width = student.embed(texts, role).vectors.shape[1]
        ids = student.network.preprocess(texts, prompt=student.network.prompts[role], task=role)["input_ids"]
        within = student.tokens_within(texts, role, [[(7, 14), (20, 24)], []], width)
        chosen = student.network.tokenizer.convert_ids_to_tokens(ids[0][torch.from_numpy(within[0])[: len(ids[0])]])
        assert chosen == ["revenue", "debt"]
        assert not within[1].any()


def test_a_batch_knows_conditions_and_mentions():
    data = read_triples(over_fifty())
    drawn = Batch.of(data, data.draw(1, "1", 2)[:6])
    for text, mentions in zip(drawn.texts, drawn.mentions, strict=True):
        (mention,) = mentions
        assert text[slice(*mention.value_span)] == f"{mention.value:g}"
    for text, conditions, spans in zip(drawn.queries, drawn.conditions, drawn.condition_spans, strict=True):
        assert conditions[0].value == 50
        assert text[slice(*spans[0].value)] == "50"
