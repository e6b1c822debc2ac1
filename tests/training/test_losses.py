"""Losses: by hand, and a new one in the table, which sees conditions, mentions and the tokens of their spans."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import torch

from qbench.quantities.conditions import verdict
from qbench.training.batch import Batch
from qbench.training.contrastive import train_retriever
from qbench.training.losses import LOSSES, Loss
from qbench.training.losses.ranking import Distillation, flops, info_nce, pairwise
from qbench.training.recipes import ContrastiveRecipe
from qbench.training.students import Embedded, Outputs, SparseStudent, open_student
from qbench.training.triples import read_triples
from tests.encoder_factories import WORDS, regular_benchmark, tiny_bert
from tests.factories import condition

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


def numeric_contrast(batch, outputs):
    """In small what NumColBERT adds: a query's number lies near the numbers that meet its condition."""
    student = outputs.student

    def numbers(embedded, texts, role, spans):
        within = student.tokens_within(texts, role, spans, embedded.vectors.shape[1])
        weights = outputs.tensor(within).float()
        return (embedded.vectors * weights[:, :, None]).sum(1) / weights.sum(1, keepdim=True).clamp(min=1)

    asked = [[one.value for one in spans] for spans in batch.condition_spans]
    stated = [[mention.value_span for mention in mentions] for mentions in batch.mentions]
    products = (
        numbers(outputs.queries, batch.queries, "query", asked)
        @ numbers(outputs.texts, batch.texts, "document", stated).T
    )
    met = [
        [all(any(verdict(m, c) == "met" for m in mentions) for c in conditions) for mentions in batch.mentions]
        for conditions in batch.conditions
    ]
    # The probability of the numbers that meet the condition, and 1 where none does.
    shares = (torch.softmax(products, dim=1) * torch.tensor(met)).sum(1)
    return -torch.where(torch.tensor(met).any(dim=1), shares, 1.0).log().mean()


def test_a_new_loss_is_a_function_and_a_row(tmp_path, monkeypatch):
    monkeypatch.setitem(LOSSES, "numeric", Loss(numeric_contrast, "numbers against numbers"))
    base = tiny_bert(tmp_path / "tiny", [*WORDS, "over", "of"])
    recipe = ContrastiveRecipe(epochs=3, batch_size=12, lr=3e-3, loss="numeric", max_pairs=24, dev_queries=0)
    records = []
    manifest = train_retriever("colbert", over_fifty(), tmp_path / "a", str(base), recipe, on_epoch=records.append)
    assert manifest.params["loss"] == "numeric"
    assert records[-1]["loss"] < records[1]["loss"]


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
