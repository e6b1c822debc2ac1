"""DeepQuant in training: its losses, what switches them off, what it learns without being told, its figures."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import polars as pl
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from qbench.errors import InputError
from qbench.evaluation.buckets import MAGNITUDES, magnitude
from qbench.models.deepquant import load_deepquant
from qbench.models.numbers import OPERATORS
from qbench.quantities.written import asked_numbers
from qbench.training.batch import Batch
from qbench.training.contrastive import _params, checkpoint_key, train_retriever
from qbench.training.deepquant import comparison_holds
from qbench.training.dev import dev_pool
from qbench.training.number_figures import CARRIERS, value_pairs
from qbench.training.opening import open_student
from qbench.training.outputs import Embedded
from qbench.training.reading import reading_figures
from qbench.training.recipes import ContrastiveRecipe
from qbench.training.triples import read_triples
from tests.encoder_factories import tiny_bert
from tests.number_factories import WORDS, operator_benchmark, random_deepquant

BENCHMARK = operator_benchmark()
DATA = read_triples(BENCHMARK)


@pytest.fixture(scope="module")
def plain(tmp_path_factory):
    return tiny_bert(tmp_path_factory.mktemp("plain") / "plain", WORDS, positions=48)


def student_of(plain, **options):
    torch.manual_seed(0)
    return open_student("deepquant", str(plain), units=DATA.units, **options)


def batch(step=0, most=16):
    return Batch.of(DATA, DATA.draw(0, str(step), 4, most=most))


def test_it_learns_operators_from_relevance_alone(plain):
    """Queries are "under" and "over"; nothing says so but which texts satisfy them."""
    student = student_of(plain)
    optimizer = torch.optim.Adam(student.network.parameters(), lr=5e-3)
    student.network.train()
    for step in range(140):
        loss = student.loss(batch(step))
        optimizer.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(student.network.parameters(), 1.0)
        optimizer.step()
    pool = dev_pool(BENCHMARK, 20, 0)
    assert pool.score(student) > 0.85
    figures = student.figures(pool)
    assert figures["operator"] > 0.8
    assert figures["unit"] == 1
    assert figures["comparison"] > 0.45  # chance: 1/3


@pytest.mark.parametrize(
    ("weight", "parameters"),
    [
        ("number_weight", ("heads.mantissa.weight", "heads.exponent.weight")),
        ("comparison_weight", ()),
        ("regular_weight", ()),
        ("unit_weight", ()),
    ],
)
def test_a_weight_of_zero_leaves_a_loss_out(plain, weight, parameters):
    weights = dict.fromkeys(("number_weight", "unit_weight", "comparison_weight", "regular_weight"), 0.0)
    without, only = student_of(plain, **weights), student_of(plain, **{**weights, weight: 2.0})
    for student in (without, only):
        student.network.eval()
    seen = batch()
    queries, texts = only.embedded(seen)
    parts = only.network.parts(queries.contextual, texts.contextual)
    ((factor, loss),) = only.number_losses(queries, texts, parts.logits, only._holds(queries, texts))
    assert factor == 2.0
    torch.testing.assert_close(only.loss(seen), without.loss(seen) + 2 * loss, rtol=1e-4, atol=1e-4)
    without.loss(seen).backward()
    only.loss(seen).backward()
    for name in parameters:
        assert dict(without.network.named_parameters())[name].grad is None
        assert dict(only.network.named_parameters())[name].grad.abs().max() > 0


def test_the_retrieval_loss_is_info_nce_with_the_papers_temperature(plain):
    weights = dict.fromkeys(("number_weight", "unit_weight", "comparison_weight", "regular_weight"), 0.0)
    student = student_of(plain, **weights)
    student.network.eval()
    seen = batch(most=3)
    with torch.no_grad():
        outputs = student.outputs(seen)
        network = student.network
        parts = network.parts(outputs.queries.contextual, outputs.texts.contextual)
        losses = []
        for row, positive in enumerate(seen.positives):
            powers = torch.exp((parts.score[row] - parts.score[row].max()) / 0.02) * torch.tensor(seen.compared[row])
            losses.append(-torch.log(powers[positive] / powers.sum()))
    torch.testing.assert_close(student.loss(seen), torch.stack(losses).mean(), rtol=1e-3, atol=1e-3)


values = st.sampled_from([0.0, 1.0, 1.0 + 1e-12, -1.0, 1e300, -1e300, 1e-300, 5e-324, 2.5])


@given(st.lists(values, max_size=4), st.lists(values, max_size=4))
def test_one_comparison_holds_for_each_pair(asked, stated):
    holds = comparison_holds(asked, stated)
    assert holds.shape == (len(asked), len(stated), 3)
    assert (holds.sum(axis=2) == 1).all()
    for i, a in enumerate(asked):
        for j, b in enumerate(stated):
            expected = "=" if math.isclose(a, b, rel_tol=1e-9) else "<" if b < a else ">"
            assert OPERATORS[int(holds[i, j].argmax())] == expected


def test_texts_come_back_in_their_order_whatever_their_length(plain):
    student = student_of(plain)
    student.network.eval()
    seen = batch()
    texts = [*seen.texts[:3], "boxes", "the weight of lamps is 7 kg with boxes of lamps over the weight", ""]
    numbers = [[] for _ in texts]
    whole = student.embed_numbered(texts, "document", numbers)
    for place, text in enumerate(texts):
        alone = student.embed_numbered([text], "document", [[]])
        count = alone.vectors.shape[1]
        torch.testing.assert_close(whole.vectors[place, :count], alone.vectors[0], rtol=1e-3, atol=1e-4)
        assert whole.mask[place, :count].tolist() == alone.mask[0].tolist()
        assert not whole.mask[place, count:].any()


def test_what_another_model_embedded_is_refused(plain):
    student = student_of(plain)
    with pytest.raises(TypeError, match="DeepQuant"):
        student.scores(Embedded(torch.zeros(1, 2, 3)), Embedded(torch.zeros(1, 2, 3)))


def test_a_trained_model_goes_on_with_other_units(plain, tmp_path):
    saved = random_deepquant(plain, tmp_path / "model", units=("smoot", "kilogram"))
    student = open_student("deepquant", str(saved), units=["kilogram", "metre"])
    assert student.network.units.names == ("smoot", "kilogram", "metre")
    assert student.start == ""
    before = load_deepquant(str(saved)).heads.unit.weight
    torch.testing.assert_close(student.network.heads.unit.weight[:3], before)


@pytest.mark.parametrize("samples", [True, False])
def test_a_benchmark_without_quantities_teaches_nothing(plain, tmp_path, samples):
    none = replace(BENCHMARK, quantities=None)
    if not samples:
        none = replace(none, triples=BENCHMARK.triples.clear(), samples=BENCHMARK.samples.clear())
    with pytest.raises(InputError, match=r"learns from the quantities.*--quantities ours"):
        train_retriever("deepquant", none, tmp_path / "out", str(plain), ContrastiveRecipe(epochs=1, dev_queries=0))


def test_the_report_says_how_numbers_are_read(plain, tmp_path):
    recipe = ContrastiveRecipe(epochs=1, batch_size=40, evaluations=1, lr=1e-4)
    manifest = train_retriever("deepquant", BENCHMARK, tmp_path / "out", str(plain), recipe)
    numbers = manifest.counts["dev_numbers"]
    by_magnitude = [f"comparison {name}" for name in MAGNITUDES[1:]]
    assert list(numbers) == ["operator", "alpha", "unit", "comparison", *by_magnitude]
    assert all(0 <= value <= 1 for value in numbers.values())
    # The same from the checkpoint alone.
    again = reading_figures(str(tmp_path / "out"), BENCHMARK, seed=recipe.seed)
    assert {name: again[name] for name in numbers} == pytest.approx(numbers, abs=1e-6)
    assert all(name.startswith("order") for name in set(again) - set(numbers))
    trained = load_deepquant(str(tmp_path / "out"))
    assert trained.units.names == ("kilogram",)
    queries = BENCHMARK.queries_of("dev")
    assert 0 < numbers["alpha"] < 1
    with torch.no_grad():
        seen = trained.contextual(
            [query.text for query in queries], [asked_numbers(q.text, q.conditions) for q in queries], "query"
        )
        likeliest = trained.operators(seen.numbers).argmax(dim=1).tolist()
    wanted = [OPERATORS.index(query.conditions[0].comparator) for query in queries]
    assert numbers["operator"] == pytest.approx(np.mean([a == b for a, b in zip(likeliest, wanted, strict=True)]))


def test_figures_of_models_that_are_no_retrievers_and_splits_without_queries(plain, tmp_path):
    (tmp_path / "parser").mkdir()
    for name in ("config.json", "tagger.json"):
        (tmp_path / "parser" / name).write_text("{}")
    with pytest.raises(InputError, match=r"ranks no documents.*Name a checkpoint"):
        reading_figures(str(tmp_path / "parser"), BENCHMARK)
    model = str(random_deepquant(plain, tmp_path / "model"))
    with pytest.raises(InputError, match="the split test has no judged query"):
        reading_figures(model, BENCHMARK, split="test")


@pytest.mark.parametrize("kind", ["deepquant", "numcolbert"])
def test_extreme_values_and_many_numbers_leave_losses_and_gradients_finite(plain, kind):
    """1e-300, 1e300, negative, zero, NaN and infinity after extraction; 200 quantities in one document."""
    table = BENCHMARK.quantities
    values = pl.Series([1e-300, 1e300, -1e300, -5.0, 0.0, math.nan, math.inf, 5e-324])
    cycled = values.gather([place % len(values) for place in range(table.height)])
    table = table.with_columns(cycled.alias(name) for name in ("value", "high", "base_value", "base_high"))
    first = BENCHMARK.samples["doc_id"][0]
    many = table.filter(pl.col("doc_id") == first).sample(200, with_replacement=True, seed=1)
    changed = replace(BENCHMARK, quantities=pl.concat([table.filter(pl.col("doc_id") != first), many]))
    data = read_triples(changed)
    torch.manual_seed(0)
    student = open_student(kind, str(plain), units=["metre"])  # that of the texts was never seen
    loss = student.loss(Batch.of(data, data.draw(0, "1", 4, most=24)))
    loss.backward()
    assert loss.isfinite()
    assert all(p.grad.isfinite().all() for p in student.network.parameters() if p.grad is not None)


def test_values_of_pairs_are_of_their_magnitude_and_in_thirds():
    pairs = value_pairs(CARRIERS)
    assert len(pairs) == 3 * CARRIERS * len(MAGNITUDES[1:])
    for pair in pairs:
        assert magnitude(pair.asked) == pair.bucket
        assert OPERATORS[comparison_holds([pair.asked], [pair.stated])[0, 0].argmax()] == pair.operator
    shares = [np.mean([pair.operator == op for pair in pairs]) for op in OPERATORS]
    np.testing.assert_allclose(shares, 1 / 3, atol=0.02)
    assert value_pairs(CARRIERS) == pairs


def test_centred_logits_change_attention_and_no_units_probability(plain, tmp_path):
    model = str(random_deepquant(plain, tmp_path / "model"))
    student, centred = (open_student("deepquant", model, centred_units=on) for on in (False, True))
    vectors = torch.randn(6, student.network.heads.unit.in_features, generator=torch.Generator().manual_seed(1))
    before, after = (one.network.heads.units(vectors) for one in (student, centred))
    torch.testing.assert_close(after.mean(dim=1), torch.zeros(6))
    torch.testing.assert_close(torch.softmax(before, dim=1), torch.softmax(after, dim=1))
    assert not torch.allclose(before @ before.T, after @ after.T)
    centred.save(tmp_path / "saved")
    torch.testing.assert_close(load_deepquant(str(tmp_path / "saved")).heads.units(vectors), after)


def test_a_late_option_is_in_the_key_only_when_it_is_used(plain):
    recipe = ContrastiveRecipe()
    other = replace(recipe, centred_units=True)
    keys = [checkpoint_key("deepquant", BENCHMARK, str(plain), one) for one in (recipe, other)]
    assert keys[0] != keys[1]
    assert "centred_units" not in _params("deepquant", BENCHMARK, str(plain), recipe, None, None)


def test_no_number_no_figure(plain):
    none = replace(BENCHMARK, quantities=BENCHMARK.quantities.clear())
    pool = dev_pool(replace(none, queries=[replace(q, conditions=()) for q in none.queries]), 20, 0)
    assert student_of(plain).figures(pool) == {}
    assert set(student_of(plain).figures(dev_pool(none, 20, 0))) == {"operator", "alpha", "unit"}


def test_a_trained_one_keeps_what_it_was_made_with(plain, tmp_path):
    made = {"text_score": "sum", "centred_units": True}
    first = open_student("deepquant", str(plain), units=DATA.units, **made)
    first.save(tmp_path / "model")
    again = open_student("deepquant", str(tmp_path / "model")).network
    assert (again.config.text_score, again.config.centred_units, again.heads.centred) == ("sum", True, True)
    changed = open_student("deepquant", str(tmp_path / "model"), text_score="mean", centred_units=False).network
    assert (changed.config.text_score, changed.heads.centred) == ("mean", False)


def test_a_general_benchmark_without_quantities_is_refused(plain, tmp_path):
    general = replace(BENCHMARK, quantities=None)
    with pytest.raises(InputError, match="learns from the quantities of all documents"):
        train_retriever("deepquant", BENCHMARK, tmp_path / "a", str(plain), ContrastiveRecipe(epochs=1), joint=general)
