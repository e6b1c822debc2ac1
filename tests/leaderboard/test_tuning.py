"""Parameters are chosen on validation queries, and the choice is written down."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest
from typer.testing import CliRunner

from qbench.benchmark.disk import write_benchmark
from qbench.cli.tune import app
from qbench.errors import OptionError
from qbench.leaderboard.tuning import parsed_values, tune, varied
from qbench.leaderboard.views import with_models
from qbench.retrieval.grammar import parse_system
from tests.factories import tiny_benchmark


def benchmark():
    made = tiny_benchmark()
    return replace(made, queries=[replace(query, split="dev") for query in made.queries])


def names(system, values):
    return [str(each) for each in varied(parse_system(system), values)]


def test_every_combination_of_values_is_a_system():
    assert names("BM25 + SBERT(model=m)-PQ(M=8)-I", {"alpha": [0, 0.5, 1], "M": [8, 16]}) == [
        "BM25 + SBERT(model=m)-PQ(M=8)-I(alpha=0)",
        "BM25 + SBERT(model=m)-PQ(M=16)-I(alpha=0)",
        "BM25 + SBERT(model=m)-PQ(M=8)-I",
        "BM25 + SBERT(model=m)-PQ(M=16)-I",
        "BM25 + SBERT(model=m)-PQ(M=8)-I(alpha=1)",
        "BM25 + SBERT(model=m)-PQ(M=16)-I(alpha=1)",
    ]
    assert names("QBM25 + SBERT(model=m)-I", {"Q.alpha": [0.3], "I.alpha": [0.2], "k": [50], "k1": [0.9]}) == [
        "QBM25(alpha=0.3, k1=0.9) + SBERT(model=m, k=50)-I(alpha=0.2)"
    ]


@pytest.mark.parametrize(
    ("system", "values", "made"),
    [
        ("QBM25(phi=relative)", {"Q.alpha": [0, 2]}, ["QBM25(alpha=0)", "QBM25(alpha=2, phi=relative)"]),
        ("BM25", {"k1": [0, 1], "b": [0, 0.5]}, ["BM25(k1=0)", "BM25(b=0, k1=1)", "BM25(b=0.5, k1=1)"]),
        ("BM25", {"b": [0, 0.5], "k1": [0, 1]}, ["BM25(k1=0)", "BM25(b=0, k1=1)", "BM25(b=0.5, k1=1)"]),
        ("BindBM25(encoder=m)", {"meaning": [0, 1]}, ["BindBM25", "BindBM25(encoder=m, meaning=1)"]),
    ],
)
def test_what_a_tried_value_makes_idle_is_left_out(system, values, made):
    assert [parse_system(name) for name in names(system, values)] == [parse_system(name) for name in made]


@pytest.mark.parametrize(
    ("system", "values", "says"),
    [
        ("QBM25 + BM25-I", {"alpha": [0.1]}, r"2 components .* \(found 'alpha'\)\. Write Q.alpha or I.alpha"),
        ("BM25", {"alpha": [0.1]}, r"no such numeric .* \(found 'alpha'\)\. It has BM25.b, BM25.epsilon, BM25.k1"),
        ("BM25", {"engine": [1]}, "no such numeric parameter"),
        ("BM25", {"b": [1.5]}, r"b needs a number from 0 to 1 \(found 1.5\)"),
        ("BM25", {"b": []}, "nothing is to be tried"),
        ("BM25(k1=0)", {"b": [0.5]}, "b changes nothing with k1=0"),
        ("BM25", {"b": [0.5] * 200, "k1": [1.0] * 200}, "more than 10,000 combinations"),
    ],
)
def test_what_cannot_be_tried_is_an_error(system, values, says):
    with pytest.raises(OptionError, match=says):
        names(system, values)


@pytest.mark.parametrize("text", ["alpha", "=1", "alpha=", "alpha=a,b", "alpha=0:1:0", "alpha=1:0:0.1", "alpha=0:1:x"])
def test_values_that_cannot_be_read_are_errors(text):
    with pytest.raises(OptionError, match="not a parameter with values to try"):
        parsed_values(text)


def test_the_best_is_written_down_and_the_first_of_equal_ones_taken(tmp_path):
    made = tune(benchmark(), "BM25", {"k1": [1.5, 1.2], "b": [0.75, 0.0]}, output=tmp_path, measure="MRR@10")
    assert list(made.tried) == ["BM25", "BM25(b=0)", "BM25(k1=1.2)", "BM25(k1=1.2, b=0)"]
    assert made.measure == "RR@10"
    assert made.tried[made.system] == max(made.tried.values())
    assert made.system == next(name for name, mean in made.tried.items() if mean == max(made.tried.values()))
    assert (tmp_path / "system.txt").read_text() == made.system + "\n"
    kept = json.loads((tmp_path / "tuning.json").read_text())
    assert (kept["system"], kept["split"], kept["queries"]) == (made.system, "dev", made.queries)
    assert [each["mean"] for each in kept["tried"]] == list(made.tried.values())


def test_alpha_is_what_is_chosen_by_default(tmp_path):
    made = tune(benchmark(), "BM25 + BM25(k1=0)-I", output=tmp_path)
    assert len(made.tried) == 11
    assert "BM25 + BM25(k1=0)-I(alpha=0.1)" in made.tried
    with pytest.raises(OptionError, match="no interpolation whose alpha could be chosen"):
        tune(benchmark(), "BM25", output=tmp_path)


def test_test_queries_choose_nothing(tmp_path):
    with pytest.raises(OptionError, match=r"not chosen on this split \(found 'test'\)"):
        tune(tiny_benchmark(), "BM25 + BM25-I", output=tmp_path, split="test")


def test_names_stand_for_models():
    models = {"TCT-ColBERT": "my-tct"}
    assert with_models("BM25 + TCT-ColBERT-PQ(M=8)-I", models) == "BM25 + TCT-ColBERT(model=my-tct)-PQ(M=8)-I"
    assert with_models("QTCT-ColBERT(model=other)", models) == "QTCT-ColBERT(model=other)"
    assert with_models("C_s-TCT-ColBERT", models) == "C_s-TCT-ColBERT(model=my-tct)"
    with pytest.raises(OptionError, match=r"BM25 reads no model \(found 'x'\)"):
        with_models("BM25", {"BM25": "x"})
    with pytest.raises(OptionError, match="TCT-Colbert reads no model"):
        with_models("BM25", {"TCT-Colbert": "x"})


def test_the_command_prints_what_was_tried_and_writes_the_choice(tmp_path):
    write_benchmark(benchmark(), tmp_path / "bench")
    words = [str(tmp_path / "bench"), "BM25 + BM25(k1=0)-I", "--on", "dev", "-o", str(tmp_path / "tuned")]
    result = CliRunner().invoke(app, [*words, "--try", "alpha=0:1:0.5"])
    assert result.exit_code == 0, result.output
    chosen = (tmp_path / "tuned" / "system.txt").read_text().strip()
    assert result.stdout.splitlines()[-1] == chosen
    assert len(result.stdout.splitlines()) == 6
    refused = CliRunner().invoke(app, [*words[:-2], "-o", str(tmp_path / "x"), "--model-of", "TCT-ColBERT"])
    assert "not a name and its model" in str(refused.exception)
