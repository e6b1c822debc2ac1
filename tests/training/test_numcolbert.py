"""NumColBERT in training: losses by hand, labels, a made task on which gate and heads learn, ablations, bad input."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
import torch

from qbench.models.multi_vector import load_multi_vector_encoder, load_multi_vector_model
from qbench.models.numbers import OPERATORS, Number, UnitList
from qbench.models.numcolbert import heads_of
from qbench.quantities.conditions import BROKEN, MET, UNDECIDED
from qbench.quantities.written import asked_numbers
from qbench.training.batch import Batch
from qbench.training.contrastive import train_retriever
from qbench.training.dev import dev_pool
from qbench.training.losses.numeric import classes, contrast, detection, value
from qbench.training.numcolbert import head_figures
from qbench.training.numeric_labels import NumericLabels, satisfaction, unsure_spans
from qbench.training.opening import open_student
from qbench.training.recipes import ContrastiveRecipe
from qbench.training.triples import read_triples
from tests.encoder_factories import tiny_bert
from tests.factories import condition, quantity
from tests.numeric_factories import NUMERIC_WORDS, numeric_benchmark

RECIPE = ContrastiveRecipe(
    epochs=6, batch_size=16, lr=3e-3, head_lr=1e-2, clip=5.0, negatives=3, info_weight=1.0, dev_queries=0, seed=3
)
DEV = list(numeric_benchmark().queries_of("dev"))


@pytest.fixture(scope="module")
def base(tmp_path_factory):
    return str(tiny_bert(tmp_path_factory.mktemp("base") / "tiny", NUMERIC_WORDS))


@pytest.fixture(scope="module")
def trained(base, tmp_path_factory):
    folder = tmp_path_factory.mktemp("trained") / "numcolbert"
    train_retriever("numcolbert", numeric_benchmark(), folder, base, RECIPE)
    return folder


def test_detection_by_hand():
    scores, numeric = torch.tensor([[0.0, 2.0, 5.0], [1.0, 1.0, 1.0]]), torch.tensor([[True, False, False]] * 2)
    counted = torch.tensor([[True, True, False], [False, False, False]])
    expected = (math.log(2) + math.log(1 + math.exp(2))) / 2
    assert float(detection(scores, numeric, counted)) == pytest.approx(expected)
    assert float(detection(scores, numeric, torch.zeros_like(counted))) == 0


def test_values_by_hand():
    """256 = 2.56 * 10^2: mantissa / 10 off by 0.056, exponent / 10 by 0.1."""
    predicted = torch.tensor([[0.2, 0.3], [0.1, -0.5]])
    loss = value(predicted, torch.tensor([2.56, 1.0]), torch.tensor([2, -5]))
    assert float(loss) == pytest.approx((0.056**2 + 0.1**2) / 2)
    assert float(value(torch.zeros(0, 2), torch.zeros(0), torch.zeros(0))) == 0


def test_classes_by_hand():
    scores = torch.tensor([[0.0, math.log(3)], [9.0, 0.0]])
    assert float(classes(scores, torch.tensor([1, -1]))) == pytest.approx(math.log(4 / 3))
    assert float(classes(scores, torch.tensor([-1, -1]))) == 0


def test_contrast_by_hand():
    """Two positives at cosine 1 and 0, a negative at 0, one that is neither at 1; tau = 1/2."""
    anchors = torch.tensor([[1.0, 0.0]])
    candidates = torch.tensor([[1.0, 0.0], [0.0, 1.0], [0.0, -1.0], [1.0, 0.0]])
    positive, negative = torch.tensor([[True, True, False, False]]), torch.tensor([[False, False, True, False]])
    whole = math.exp(2) + 1 + 1
    expected = -(math.log(math.exp(2) / whole) + math.log(1 / whole)) / 2
    assert float(contrast(anchors, candidates, positive, negative, 0.5)) == pytest.approx(expected)
    # Anchors without a positive, or with nothing to tell it from, say nothing.
    for some in ((positive, torch.zeros_like(negative)), (torch.zeros_like(positive), negative)):
        assert float(contrast(anchors, candidates, *some, 0.5)) == 0
    assert float(contrast(anchors[:0], candidates, positive[:0], negative[:0], 0.5)) == 0
    assert float(contrast(anchors, candidates[:0], positive[:, :0], negative[:, :0], 0.5)) == 0


class Drawn:
    """A batch of one query, "over 3 metre", as far as `satisfaction` looks at it."""

    def __init__(self, mentions, asked=("over", ">", 3, "metre")):
        self.conditions = [(condition(*asked),)]
        self.mentions = [tuple(mentions)]

    def codes(self, mode):
        none = np.empty(0)
        queries, texts = (
            NumericLabels(none, none, np.zeros(n, int), np.arange(n), none, none, none, none)
            for n in (1, len(self.mentions[0]))
        )
        return [matrix[0].tolist() for matrix in satisfaction(self, queries, texts, mode)]


def test_what_satisfies_a_query_in_each_mode():
    text = "5 2 4000 4 5 3"
    mentions = [
        quantity(text, "5", 5, "metre"),
        quantity(text, "2", 2, "metre"),
        quantity(text, "4000", 4000, "millimetre"),  # 4 m
        quantity(text, "4", 4, "kilogram"),
        replace(quantity(text, "5", 2, "metre"), comparator=">"),  # more than 2
    ]
    drawn = Drawn(mentions)
    assert drawn.codes("unit") == [[MET, MET, MET, BROKEN, MET]]
    assert drawn.codes("numeric") == [[MET, BROKEN, MET, MET, UNDECIDED]]
    assert drawn.codes("joint") == [[MET, BROKEN, MET, BROKEN, UNDECIDED]]
    assert drawn.codes("separate") == [drawn.codes("unit")[0], drawn.codes("numeric")[0]]
    assert Drawn([]).codes("joint") == [[]]


@pytest.mark.parametrize("mode", ["unit", "numeric", "joint", "separate"])
def test_extreme_values_are_compared(mode):
    text = "1 2 3 4 5"
    values = (1e-300, 1e300, -4.0, 0.0, 5.0)
    drawn = Drawn([quantity(text, "1", value) for value in values], ("over", ">", 0, ""))
    codes = drawn.codes(mode)[-1]
    assert codes == ([MET] * 5 if mode == "unit" else [MET, MET, BROKEN, BROKEN, MET])


def test_labels_of_extreme_and_many_numbers():
    numbers = [
        [Number(x, "metre", (2 * n, 2 * n + 1)) for n, x in enumerate((1e-300, 1e300, -256.0, 0.0))],
        [],
        [Number(float(n), "parsec", (2 * n, 2 * n + 1), operator=">") for n in range(200)],
    ]
    offsets = [[(0, 0), *((2 * n, 2 * n + 1) for n in range(count))] for count in (4, 3, 200)]
    labels = NumericLabels.of(numbers, offsets, 64, UnitList(("metre",)), [(), None, ()])
    assert labels.owners[0, :6].tolist() == [-1, 0, 1, 2, 3, -1]
    assert (labels.owners[1] == -1).all()
    assert labels.owners[2, [1, 63]].tolist() == [4, 66]  # those beyond are cut off
    assert labels.exponents[:4].tolist() == [-20, 20, 2, 0]
    assert labels.mantissas[:4].tolist() == [1, 1, -2.56, 0]
    assert set(labels.units[:4]) == {1}
    assert set(labels.units[4:]) == {0}  # a unit that the list lacks
    assert labels.operators[[0, 4]].tolist() == [-1, OPERATORS.index(">")]
    assert labels.known.all(axis=1).tolist() == [True, False, True]
    assert not labels.known[1].any()


def test_gate_and_heads_learn(base, trained):
    pool = dev_pool(numeric_benchmark(), 100, 1)
    before, student = open_student("numcolbert", base), open_student("numcolbert", str(trained))
    assert pool.score(student) > pool.score(before) + 0.2
    assert "heads are not trained" in before.start
    assert student.start == ""
    assert heads_of(student.network).config.units == ("kilogram", "metre", "second")
    assert head_figures(before, DEV)["detection_f1"] == 0  # nothing is detected at the start
    assert head_figures(student, DEV)["detection_f1"] > 0.9
    assert head_figures(student, DEV)["unit_accuracy"] > 0.9
    student.network.eval()
    embedded = student.embed(["boats over 5 metre"], "query")
    norms = embedded.vectors.detach().norm(dim=2)[0]
    detected = (embedded.detected[0] > 0).nonzero().flatten().tolist()
    tokens = student.network.tokenizer.convert_ids_to_tokens(
        student.network.preprocess(["boats over 5 metre"], prompt=student.network.prompts["query"], task="query")[
            "input_ids"
        ][0]
    )
    assert [tokens[at] for at in detected] == ["5"]
    assert float(norms[detected[0]]) != pytest.approx(1.0, abs=0.05)  # the gate has moved
    others = [at for at in range(len(tokens)) if at not in detected]
    np.testing.assert_allclose(norms[others], 1.0, atol=1e-4)


def test_the_comparator_is_read_from_the_words_before_a_number(base):
    data = read_triples(numeric_benchmark())
    torch.manual_seed(1)  # before its heads are drawn
    student = open_student("numcolbert", base, units=data.units, info_weight=1.0)
    batch = Batch.of(data, data.draw(1, "1", 1)[:48])
    asked = [data.queries[row] for row in batch.query_rows]
    assert {query.conditions[0].comparator for query in asked} == {"<", "=", ">"}
    optimizer = torch.optim.Adam(student.network.parameters(), 5e-3)
    for _ in range(100):
        optimizer.zero_grad()
        sum(student.numeric_losses(batch, student.outputs(batch))).backward()
        optimizer.step()
    figures = head_figures(student, asked)
    assert figures["operator_accuracy"] > 0.9
    assert figures["detection_f1"] > 0.9


def test_it_resumes_with_the_same_heads(base, tmp_path, monkeypatch):
    from qbench.models.folders import model_digest
    from qbench.training.trainer import Trainer

    short = replace(RECIPE, epochs=2, max_pairs=32)
    whole = train_retriever("numcolbert", numeric_benchmark(), tmp_path / "whole", base, short)
    train, begun = Trainer._train, []

    def killed(self, stretch):
        begun.append(stretch)
        if len(begun) == 2:
            raise KeyboardInterrupt
        return train(self, stretch)

    monkeypatch.setattr(Trainer, "_train", killed)
    with pytest.raises(KeyboardInterrupt):
        train_retriever("numcolbert", numeric_benchmark(), tmp_path / "again", base, short)
    torch.manual_seed(7)
    assert train_retriever("numcolbert", numeric_benchmark(), tmp_path / "again", base, short) == whole
    assert model_digest(tmp_path / "again") == model_digest(tmp_path / "whole")


@pytest.mark.parametrize(
    ("changes", "still"),
    [
        ({"gate": False}, ("gate",)),
        ({"info_weight": 0.0}, ("value", "unit", "operator")),
        ({"detect_weight": 0.0, "gate": False}, ("detection", "gate")),
        ({"contrast_weight": 0.0}, ()),
        ({"contrast": "joint"}, ()),
        ({"contrast": "separate"}, ()),
        ({"contrast": "numeric"}, ()),
        ({"chunk": 8, "loss": "pairwise"}, ()),
    ],
)
def test_each_part_can_be_switched_off(base, changes, still):
    """Tables 2 and 4: what is switched off gets no gradient, and what is left has a finite one."""
    data = read_triples(numeric_benchmark())
    options = {name: changes[name] for name in changes if name not in ("chunk", "loss")}
    student = open_student("numcolbert", base, chunk=changes.get("chunk", 0), units=data.units, **options)
    with torch.no_grad():
        heads_of(student.network).detection.bias.fill_(1.0)  # every token is a number, so that the gate is in use
    batch = Batch.of(data, data.draw(1, "1", 2)[:6])
    student.loss(batch).backward()
    gradients = {name: parameter.grad for name, parameter in heads_of(student.network).named_parameters()}
    for name, gradient in gradients.items():
        moved = gradient is not None and bool(gradient.abs().sum() > 0)
        assert moved is (name.partition(".")[0] not in still), name
        assert gradient is None or bool(torch.isfinite(gradient).all())


def test_the_total_is_the_weighted_sum(base):
    """Eq. 1."""
    data = read_triples(numeric_benchmark())
    weights = {"detect_weight": 0.5, "info_weight": 0.25, "contrast_weight": 2.0}
    student = open_student("numcolbert", base, units=data.units, **weights)
    student.network.eval()
    batch = Batch.of(data, data.draw(1, "1", 2)[:6])
    with torch.no_grad():
        outputs = student.outputs(batch)
        detect, info, near = (float(part) for part in student.numeric_losses(batch, outputs))
        assert min(detect, info, near) > 0
        expected = float(student.objective(batch, outputs)) + 0.5 * detect + 0.25 * info + 2.0 * near
        assert float(student.loss(batch)) == pytest.approx(expected, rel=1e-5)


def test_texts_whose_numbers_nobody_extracted_are_no_example_of_text_without_numbers(base):
    """As of a general benchmark in joint training (table 3)."""
    plain = numeric_benchmark(quantities=False)
    silent = replace(plain, queries=[replace(query, conditions=()) for query in plain.queries])
    data = read_triples(replace(silent, samples=silent.samples.clear(), triples=silent.triples.clear()))
    student = open_student("numcolbert", base)
    batch = Batch.of(data, data.draw(1, "1", 2)[:6])
    parts = student.numeric_losses(batch, student.outputs(batch))
    assert [part.item() for part in parts] == [0, 0, 0]
    student.loss(batch).backward()


def test_other_numbers_of_a_query_are_no_example_of_words(base):
    """Digits beside those of the conditions may be numbers; a condition that is not found may be any word."""
    texts = ["boats 7 over 3 metre", "boats over three metre", "boats over 3 metre under nine second"]
    over, under = condition("boats", ">", 3, "metre"), condition("boats", "<", 9, "second")
    conditions = [(over,), (over,), (over, under)]
    student = open_student("numcolbert", base)
    numbers = [asked_numbers(*row) for row in zip(texts, conditions, strict=True)]
    unsure = [unsure_spans(*row) for row in zip(texts, numbers, conditions, strict=True)]
    labels = student._labels(texts, "query", numbers, student.embed(texts, "query"), unsure)
    words = [student.network.tokenizer.convert_ids_to_tokens(row) for row in tokens_of(student, texts)]
    told = [
        [word for word, known in zip(row, some, strict=False) if known]
        for row, some in zip(words, labels.known, strict=True)
    ]
    assert "7" not in told[0]
    assert {"boats", "over", "3", "metre"} <= set(told[0])
    assert told[1:] == [[], ["3"]]
    # What the head says of an unsure token does not change the loss.
    embedded = student.embed(texts, "query")
    before = student._detection([(labels, embedded)])
    other = embedded.detected + 5.0 * torch.from_numpy(~labels.known)
    torch.testing.assert_close(student._detection([(labels, replace(embedded, detected=other))]), before)


def tokens_of(student, texts):
    return student.network.preprocess(texts, prompt=student.network.prompts.get("query"), task="query")["input_ids"]


def test_two_benchmarks_are_learnt_together(base, tmp_path):
    recipe = replace(RECIPE, epochs=1, max_pairs=32, joint_share=0.5)
    manifest = train_retriever(
        "numcolbert", numeric_benchmark(), tmp_path / "a", base, recipe, joint=numeric_benchmark(quantities=False)
    )
    assert manifest.counts["joint"]["queries"] > 0


def test_training_goes_on_with_another_list_of_units(trained, tmp_path):
    """A checkpoint whose list has other units keeps what it knows, and learns the new ones."""
    benchmark = numeric_benchmark()
    import polars as pl

    renamed = replace(
        benchmark,
        quantities=benchmark.quantities.with_columns(pl.col("unit").replace("second", "hour")),
        samples=benchmark.samples.with_columns(pl.col("unit").replace("second", "hour")),
    )
    recipe = replace(RECIPE, epochs=1, max_pairs=16, lr=0.0, head_lr=0.0)
    train_retriever("numcolbert", renamed, tmp_path / "on", str(trained), recipe)
    heads = heads_of(load_multi_vector_model(str(tmp_path / "on")))
    assert heads.config.units == ("kilogram", "metre", "second", "hour")
    before = heads_of(load_multi_vector_model(str(trained)))
    assert torch.equal(heads.unit.weight[:4], before.unit.weight)


def test_queries_in_units_never_seen_and_without_numbers_are_encoded(trained):
    encoder = load_multi_vector_encoder(str(trained))
    texts = ["stones over 1e300 parsec", "", "some boats", "over 5 " * 200]
    lengths, vectors = encoder.encode(texts, "query")
    assert (lengths > 0).all()
    assert np.isfinite(vectors).all()
    student = open_student("numcolbert", str(trained))
    assert head_figures(student, []) == {}
    asked = list(numeric_benchmark().queries_of("test"))
    other = [replace(query, conditions=(replace(query.conditions[0], unit="parsec"),)) for query in asked]
    assert head_figures(student, other)["unit_accuracy"] < head_figures(student, asked)["unit_accuracy"]


def test_a_learning_rate_of_their_own_for_the_heads(base):
    student = open_student("numcolbert", base, units=["metre"], head_lr=1e-2)
    optimizer = student.optimizer(replace(RECIPE, lr=1e-5))
    rates = {id(p): group["lr"] for group in optimizer.param_groups for p in group["params"]}
    heads = {id(p) for p in heads_of(student.network).parameters()}
    assert {rates[p] for p in heads} == {1e-2}
    assert {rate for p, rate in rates.items() if p not in heads} == {1e-5}
