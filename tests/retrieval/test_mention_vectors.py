"""The part of Bind that an encoder gives."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

from qbench.quantities.types import quantity_schema, to_row
from qbench.retrieval.execute import execute
from qbench.retrieval.explaining import explain
from qbench.retrieval.grammar import parse_system
from qbench.retrieval.jobs import ExecuteOptions, plan
from qbench.retrieval.mention_vectors import AROUND, mention_texts
from qbench.retrieval.mentions import document_mentions
from qbench.scoring.binding import MEANING, Asked, Target, meanings
from qbench.scoring.records import OTHER, Mentions, Texts, records_of
from tests.encoder_factories import tiny_bert
from tests.factories import quantity, tiny_benchmark


def test_a_mention_is_what_it_is_of_and_its_text_without_numbers():
    text = "The tent weighs 4 kg and costs 1,200 dollars."
    found = [
        quantity(text, "4", 4.0, "kilogram", "tent weight"),
        quantity(text, "1,200", 1200.0, "dollar"),
    ]
    table = pl.DataFrame([to_row("a", one) for one in found], quantity_schema())
    made = mention_texts(pl.Series([text]), document_mentions(table, pl.Series(["a"])))
    masked = "The tent weighs # kg and costs # dollars."
    assert made == [f"tent weight kilogram: {masked}", f"dollar: {masked}"]


def test_a_long_text_is_cut_at_words_around_the_mention():
    text = "early " * 60 + "weight of 7 kg " + "later " * 60
    table = pl.DataFrame([to_row("a", quantity(text, "7", 7.0, "kilogram"))], quantity_schema())
    (made,) = mention_texts(pl.Series([text]), document_mentions(table, pl.Series(["a"])))
    assert "weight of # kg" in made
    assert set(made.split()) == {"kilogram:", "early", "weight", "of", "#", "kg", "later"}
    assert len(made) < 2 * AROUND + 20


def test_the_nearest_of_the_satisfying_mentions_counts_by_hand():
    # Three mentions of unit 0 in two documents: 5, 20 and 30; over 10 is asked for, and over 25.
    made = Mentions(
        np.array([0, 2, 3]),
        np.array([[0, OTHER, 0, 0, -1]] * 3, np.int32),
        np.array([[value] * 4 + [1.0] for value in (5.0, 20.0, 30.0)]),
        np.zeros(4, np.int64),
        np.empty(0, np.int32),
    )
    over = [Target(0, OTHER, ">", value, value, value, value) for value in (10.0, 25.0)]
    none = np.empty(0), np.empty((0, 0))
    asked = Asked(np.empty(0, np.int32), *none, tuple(over), np.empty((2, 0)))
    records = records_of(made, Texts(np.array([0, 1, 3]), np.arange(3, dtype=np.int32)))
    found = meanings(records, asked, np.array([0, 1]), np.array([0.9, 0.5, -0.2]))
    assert found.tolist() == [0.25, 0.0]  # 20 satisfies the first alone: 0.5 / 2; a cosine below zero counts as zero
    back = meanings(records, asked, np.array([1, 0]), np.array([0.8, 0.9, 0.5]))
    assert back.tolist() == pytest.approx([0.8, 0.25])


def test_bind_with_an_encoder_is_run_and_explained(tmp_path):
    model = tiny_bert(tmp_path / "tiny", ["laptop", "weight", "kilogram", "the", "of", "price"])
    benchmark = tiny_benchmark()
    systems = [parse_system("BindBM25"), parse_system(f'BindBM25(encoder="{model}", meaning=2)')]
    plain, with_meaning = execute(benchmark, systems, tmp_path / "runs", ExecuteOptions(settings=("given",)))
    assert plain.run["score"].to_list() != with_meaning.run["score"].to_list()
    found = explain(benchmark, systems[1], "q4", tmp_path / "runs", source="given")
    run = dict(with_meaning.run.filter(query_id="q4").select("doc_id", "score").iter_rows())
    for document in found.documents:
        assert 0 <= document.parts[MEANING] <= 1
        assert document.score == pytest.approx(run[document.doc_id])
        assert document.score == pytest.approx(sum(found.weights[part] * x for part, x in document.parts.items()))
    assert any(document.parts[MEANING] > 0 for document in found.documents)
    assert systems[1].is_neural
    assert not parse_system("BindBM25").is_neural


def test_a_run_is_keyed_by_the_content_of_the_encoder(tmp_path):
    words = ["laptop", "weight"]
    one, other = tiny_bert(tmp_path / "one", words), tiny_bert(tmp_path / "other", words, seed=2)
    benchmark = tiny_benchmark()

    def key(model):
        system = parse_system(f'BindBM25(encoder="{model}")')
        options = ExecuteOptions(settings=("given",))
        return plan(benchmark, "key", [system], benchmark.queries, tmp_path, options)[0].key

    (tmp_path / "one").rename(tmp_path / "moved")
    moved = key(tmp_path / "moved")
    (tmp_path / "moved").rename(one)
    assert key(one) == moved != key(other)
