"""Buckets by DeepQuant's alpha, under a leaderboard that has one."""

from __future__ import annotations

from dataclasses import replace

import pytest

pytest.importorskip("torch")

from qbench.benchmark.types import Query
from qbench.evaluation.buckets import ALPHA, UNKNOWN, quarter
from qbench.leaderboard.alphas import alpha_buckets
from qbench.leaderboard.run import run_leaderboard
from qbench.models.deepquant import load_deepquant
from qbench.models.deepquant_encoder import DeepQuantEncoder
from qbench.quantities.written import asked_numbers
from qbench.retrieval.grammar import parse_system
from tests.encoder_factories import tiny_bert
from tests.number_factories import WORDS, operator_benchmark, random_deepquant

BENCHMARK = operator_benchmark()


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    folder = tmp_path_factory.mktemp("models")
    return random_deepquant(tiny_bert(folder / "plain", WORDS, positions=48), folder / "model")


def test_queries_lie_in_the_quarter_of_their_alpha(model):
    queries = [*BENCHMARK.queries_of("dev"), Query("bare", "lamps of the boxes")]
    systems = [parse_system(name) for name in ("BM25", f"BM25 + DeepQuant(model={model}, k=5)")]
    frame, notes = alpha_buckets(systems, queries)
    encoder = DeepQuantEncoder(load_deepquant(str(model)))
    made = encoder.queries([q.text for q in queries], [asked_numbers(q.text, q.conditions) for q in queries])
    expected = [quarter(one.alpha) for one in made[:-1]] + [UNKNOWN]
    assert frame["bucket"].to_list() == expected
    assert set(frame["dimension"]) == {ALPHA}
    assert frame["query_id"].to_list() == [query.query_id for query in queries]
    assert len(notes) == 1
    assert "DeepQuant(model=model" in notes[0]


def test_without_a_deepquant_there_are_none(model, tmp_path):
    assert alpha_buckets([parse_system("BM25")], BENCHMARK.queries)[0].is_empty()
    gone = parse_system(f"DeepQuant(model={model})")
    stage = replace(gone.first, model=replace(gone.first.model, params={"model": str(tmp_path / "gone")}))
    frame, notes = alpha_buckets([replace(gone, stages=(stage,))], BENCHMARK.queries)
    assert frame.is_empty()
    assert notes[0].startswith("Buckets: without DeepQuant's alpha: ")


def test_the_leaderboard_has_them(model, tmp_path):
    systems = ["BM25", f"DeepQuant(model={model})"]
    options = {"split": "dev", "settings": ["given"], "workers": 1, "resamples": 100}
    made = run_leaderboard(BENCHMARK, systems, output=tmp_path, **options)
    rows = made.buckets.filter(dimension=ALPHA)
    assert set(rows["label"]) == {row.entry.label for row in made.rows}
    assert rows.unique("bucket")["queries"].sum() == len(BENCHMARK.queries_of("dev"))
    assert any("alpha is that of DeepQuant(model=model)" in note for note in made.notes)
