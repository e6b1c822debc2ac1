"""CodedColBERT in training: scores are those of a search, codes are not learnt, words learn whose value it is."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import polars as pl
import pytest
import torch

from qbench.benchmark.benchmark import Benchmark
from qbench.benchmark.types import Query
from qbench.errors import InputError
from qbench.models.multi_vector import load_multi_vector_encoder
from qbench.quantities.types import to_row
from qbench.quantities.units import load_units
from qbench.retrieval.coded import CodedEncoder, Weights, value_code
from qbench.retrieval.rankers import Search
from qbench.training.batch import Batch
from qbench.training.coded import code_of
from qbench.training.contrastive import train_retriever
from qbench.training.dev import dev_pool
from qbench.training.opening import open_student
from qbench.training.recipes import ContrastiveRecipe
from qbench.training.triples import read_triples
from tests.encoder_factories import tiny_bert
from tests.factories import condition, frame, quantity
from tests.numeric_factories import numeric_benchmark

LENGTHS = ("long", "high", "wide")
WORDS = ["boats", "some", "over", "metre", *LENGTHS]
VALUES = tuple(range(11, 20))


def own_value_benchmark() -> Benchmark:
    """Boats with a length, a height and a width in metres: codes alone do not tell which of them satisfies a query."""
    random = np.random.default_rng(5)
    corpus, mentions, queries, qrels, samples, triples = [], [], [], [], [], []
    sizes = [random.permutation(VALUES)[: len(LENGTHS)].tolist() for _ in range(40)]
    for place, values in enumerate(sizes):
        text = "some boats " + " ".join(f"{name} {value} metre" for name, value in zip(LENGTHS, values, strict=True))
        corpus.append((f"d{place:03}", text, "", f"page{place}"))
        for name, value in zip(LENGTHS, values, strict=True):
            at = text.index(name)
            own = replace(quantity(text, str(value), value, "metre", name), concept_spans=((at, at + len(name)),))
            mentions.append(to_row(f"d{place:03}", own))
    for name in LENGTHS:
        for number in VALUES[2:-2]:
            key, split = f"{name}{number}", "dev" if number % 3 == 0 else "train"
            asked = condition(f"boats {name}", ">", number, "metre")
            text = f"boats {name} over {number} metre"
            queries.append(Query(key, text, f"boats {name}", (asked,), split, "seen"))
            column = LENGTHS.index(name)
            good = [n for n, values in enumerate(sizes) if values[column] > number]
            bad = [n for n, values in enumerate(sizes) if values[column] <= number < max(values)]
            qrels += [(key, f"d{n:03}", 1) for n in good]
            if split == "dev":
                continue
            for label, chosen in ((1, good), (0, bad)):
                for n in chosen:
                    row = mentions[n * len(LENGTHS) + column]
                    at = (row["value"], row["unit"], row["value_start"], row["value_end"])
                    samples.append((f"{key}-{n}", key, f"d{n:03}", corpus[n][1], label, "original", *at))
            triples += [(key, f"{key}-{a}", f"{key}-{b}") for a in good for b in bad[:4]]
    return Benchmark(
        name="own values",
        corpus=frame("corpus", corpus),
        queries=queries,
        qrels=frame("qrels", qrels),
        samples=frame("samples", samples),
        triples=frame("triples", triples),
        quantities=frame("quantities", mentions),
    )


BENCHMARK = own_value_benchmark()


@pytest.fixture(scope="module")
def base(tmp_path_factory):
    return str(tiny_bert(tmp_path_factory.mktemp("base") / "tiny", [*WORDS, *map(str, VALUES)]))


def searched(base, queries, texts, mentions, weights):
    """The scores of `qbench.retrieval.coded`, shape (queries, texts)."""
    of_text = dict(zip(texts, mentions, strict=True))
    code = value_code(BENCHMARK.quantities, load_units())
    encoder = CodedEncoder(load_multi_vector_encoder(base), code, lambda text: of_text[text])
    lengths, vectors = encoder.encode(texts)
    documents = np.split(vectors, np.cumsum(lengths)[:-1])
    asked = [encoder.question(Search("q", q.text, q.conditions, terms=q.terms), weights) for q in queries]
    return np.array([[(query @ one.T).max(axis=1).sum() for one in documents] for query in asked])


@pytest.mark.parametrize(("token_weight", "code_weight"), [(10.0, 20.0), (0.0, 3.0), (2.0, 0.0)])
def test_scores_are_those_of_a_search(base, token_weight, code_weight):
    own = {
        "token_weight": token_weight,
        "code_weight": code_weight,
        "code": value_code(BENCHMARK.quantities, load_units()),
    }
    student = open_student("codedcolbert", base, **own)
    student.network.eval()
    pool = dev_pool(BENCHMARK, 4, 1)
    first = pool.queries[0]
    two = replace(first, conditions=(*first.conditions, condition("boats wide", "<", 15, "metre")))
    unknown = replace(first, conditions=(condition("boats", ">", 1e280, "parsec"),), terms="")
    nowhere = replace(first, terms="quasars")
    queries = [*pool.queries, two, unknown, nowhere, replace(first, conditions=())]
    texts = [*pool.texts[:6], "some boats", "metre"]
    mentions = [*map(pool.mentions.of, range(6)), (), ()]
    with torch.no_grad():
        scores = student.scores(student.embed_queries(queries), student.embed_documents(texts, mentions))
    expected = searched(base, queries, texts, mentions, Weights(token_weight, code_weight, 0.0))
    np.testing.assert_allclose(scores.numpy(), expected, atol=1e-4)


def test_a_condition_that_is_not_met_costs_its_weight(base):
    own = {"token_weight": 0.0, "code_weight": 7.0, "code": value_code(BENCHMARK.quantities, load_units())}
    student = open_student("codedcolbert", base, **own)
    student.network.eval()
    asked = Query("q", "boats long over 15 metre", "boats long", (condition("long", ">", 15, "metre"),), "dev", "seen")
    text = "some boats long 17 metre"
    stated = quantity(text, "17", 17, "metre", "long")
    mentions = [(stated,), (replace(stated, value=12, high=12, base_value=12, base_high=12),)]
    with torch.no_grad():
        ((met, broken),) = student.scores(student.embed_queries([asked]), student.embed_documents([text] * 2, mentions))
    assert float(met - broken) == pytest.approx(7.0, abs=1e-3)


def test_it_learns_whose_value_it_is(base, tmp_path):
    recipe = ContrastiveRecipe(epochs=4, batch_size=16, lr=3e-3, clip=5.0, negatives=3, dev_queries=20, seed=3)
    made = train_retriever("codedcolbert", BENCHMARK, tmp_path / "coded", base, recipe)
    plain = train_retriever("colbert", BENCHMARK, tmp_path / "plain", base, recipe)
    # The widths and heights of other boats satisfy the same conditions, so codes alone are not enough.
    assert made.counts["dev_untrained"] < made.counts["dev"] - 0.1
    assert made.counts["dev"] > max(0.9, plain.counts["dev"])


def test_gradients_reach_the_model_through_copies(base):
    student = open_student("codedcolbert", base, code=value_code(BENCHMARK.quantities, load_units()))
    data = read_triples(BENCHMARK)
    student.loss(Batch.of(data, data.draw(1, "0", 1)[:4])).backward()
    assert max(float(p.grad.abs().max()) for p in student.network.parameters() if p.grad is not None) > 0


@pytest.mark.parametrize("value", [1e-300, 1e300, -1e300, 0.0, -5.0, math.nan, math.inf])
def test_extreme_values_and_many_mentions_give_finite_losses(base, value):
    values = pl.lit(value)
    odd = BENCHMARK.quantities.with_columns(values.alias(name) for name in ("base_value", "base_high"))
    benchmark = replace(BENCHMARK, quantities=pl.concat([odd] * 70))
    student = open_student("codedcolbert", base, code=value_code(benchmark.quantities, load_units()))
    data = read_triples(benchmark)
    loss = student.loss(Batch.of(data, data.draw(1, "0", 1)[:2]))
    assert torch.isfinite(loss)
    loss.backward()


def test_grids_know_rates_of_documents_and_samples_as_amounts():
    texts = dict(BENCHMARK.corpus.select("doc_id", "text").iter_rows())
    numbers = {doc: next(word for word in text.split() if word.isdigit()) for doc, text in texts.items()}
    rates = [
        to_row(doc, quantity(text, numbers[doc], int(numbers[doc]), "dollar per year")) for doc, text in texts.items()
    ]
    benchmark = replace(BENCHMARK, quantities=frame("quantities", rates))
    code = code_of([benchmark], [read_triples(benchmark)])
    assert np.unique(code.grids["dollar"].first).tolist() == pytest.approx(sorted({*map(float, numbers.values())}))
    alone = code_of([replace(benchmark, quantities=None)], [read_triples(benchmark)])
    assert set(alone.grids["dollar"].first) <= set(code.grids["dollar"].first)


def test_a_benchmark_without_quantities_is_refused(base, tmp_path):
    with pytest.raises(InputError, match="learns from the quantities of all documents"):
        train_retriever("codedcolbert", numeric_benchmark(quantities=False), tmp_path / "out", base)
