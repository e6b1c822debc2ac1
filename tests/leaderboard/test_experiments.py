"""Experiments: what a file may say, what is refused and how, and that the project's own are readable."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from qbench.errors import InputError, OptionError
from qbench.leaderboard.experiment_run import inputs_of
from qbench.leaderboard.experiment_types import filled, recipe_of, systems_of
from qbench.leaderboard.experiments import read_experiment

OURS = sorted((Path(__file__).parents[2] / "benchmarks" / "experiments").glob("*.toml"))

SMALL = """
title = "Two leaderboards"

[inputs]
bench = { help = "a benchmark" }
model = { help = "an encoder", default = "some/model" }
tuned = { help = "what is tuned", default = "{model}" }
epochs = { help = "of the training", default = "3" }

[[mask]]
name = "masked"
bench = "{bench}"
what = "units"

[[train]]
name = "ft"
kind = "bi-encoder"
bench = "{bench}"
model = "{tuned}"
epochs = "{epochs}"
methods = ["original"]

[[leaderboard]]
name = "plain"
bench = "{bench}"
systems = { "BM25" = "BM25", "tuned" = "SBERT_ft(model={ft})" }

[[leaderboard]]
name = "bare"
bench = "{masked}"
systems = { "BM25" = "BM25", "tuned" = "SBERT_ft(model={ft})" }

[[table]]
title = "Change"
measures = ["nDCG@10"]
change_from = "plain"
"""


@pytest.fixture
def write(tmp_path):
    def made(text: str) -> Path:
        path = tmp_path / "experiment.toml"
        path.write_text(text, encoding="utf-8")
        return path

    return made


def test_parts_in_order(write):
    experiment = read_experiment(write(SMALL))
    assert (experiment.name, experiment.title) == ("experiment", "Two leaderboards")
    assert experiment.produced == ["masked", "ft"]
    assert [leaderboard.name for leaderboard in experiment.leaderboards] == ["plain", "bare"]
    assert experiment.leaderboards[0].measures == ("nDCG@10", "P@10", "RR@10", "R@100", "AP")
    assert experiment.tables[0].change_from == "plain"


def test_inputs_stand_for_later_ones(write):
    experiment = read_experiment(write(SMALL))
    assert inputs_of(experiment, {"bench": "B"}) == {
        "bench": "B",
        "model": "some/model",
        "tuned": "some/model",
        "epochs": "3",
    }
    assert inputs_of(experiment, {"bench": "B", "model": "mine"})["tuned"] == "mine"
    assert recipe_of(experiment.trainings[0], lambda text: filled(text, {"epochs": "5"})).epochs == 5
    for given, expected in ((True, True), ("false", False)):
        one = replace(experiment.trainings[0], recipe={"by_length": given})
        assert recipe_of(one, str).by_length is expected
    with pytest.raises(OptionError, match="epochs is no whole number"):
        recipe_of(experiment.trainings[0], lambda text: "many")
    with pytest.raises(OptionError, match=r"this experiment needs bench: a benchmark\. Add --with bench="):
        inputs_of(experiment, {})
    with pytest.raises(OptionError, match="no such input"):
        inputs_of(experiment, {"bench": "B", "modle": "x"})


def test_a_path_is_quoted_for_the_grammar(write):
    experiment = read_experiment(write(SMALL))
    systems = systems_of(experiment.leaderboards[0], lambda text: filled(text, {"ft": '/a b/"c", (d)'}))
    assert dict(systems["tuned"].first.model.params)["model"] == '/a b/"c", (d)'


def test_an_input_may_be_a_number_and_stand_in_quotes(write):
    text = SMALL.replace('"BM25" = "BM25"', '"BM25" = "BM25(k1={epochs})"', 1)
    systems = systems_of(
        read_experiment(write(text)).leaderboards[0], lambda text: filled(text, {"epochs": "3", "ft": "x"})
    )
    assert dict(systems["BM25"].first.model.params)["k1"] == 3
    text = SMALL.replace("SBERT_ft(model={ft})", 'SBERT_ft(model=\\"{ft}\\")', 1)
    systems = systems_of(read_experiment(write(text)).leaderboards[0], lambda text: filled(text, {"ft": "a b"}))
    assert dict(systems["tuned"].first.model.params)["model"] == "a b"
    inside = text.replace('\\"{ft}\\"', '\\"{ft}/WolfPQ-8\\"', 1)
    systems = systems_of(read_experiment(write(inside)).leaderboards[0], lambda text: filled(text, {"ft": "a b"}))
    assert dict(systems["tuned"].first.model.params)["model"] == "a b/WolfPQ-8"


def test_trainings_take_what_all_share_unless_they_say_otherwise(write):
    shared = """
[training]
epochs = 7
batch_size = 4

[[train]]
name = "ft"
"""
    training = read_experiment(write(SMALL.replace('[[train]]\nname = "ft"\n', shared))).trainings[0]
    assert (training.recipe["epochs"], training.recipe["batch_size"]) == ("{epochs}", 4)


def test_the_order_of_a_list_makes_no_other_checkpoint(write):
    recipes = [
        recipe_of(read_experiment(write(SMALL.replace('["original"]', text))).trainings[0], lambda text: "3")
        for text in ('["unit", "original"]', '["original", "unit"]')
    ]
    assert recipes[0] == recipes[1]


def test_a_experiment_of_ours_by_its_name(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert read_experiment("main") == read_experiment(next(path for path in OURS if path.stem == "main"))
    with pytest.raises(
        InputError, match=r"no such experiment .found 'mian'.\. Give a file, or one of alpha, augmentation, coded"
    ):
        read_experiment("mian")


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("title", "titel", r"unknown entry .found 'titel'.\. Did you mean title\?"),
        ("[[mask]]", "[mask]", r"mask should be a list of tables, \[\[mask\]\]"),
        ('what = "units"', 'what = "words"', "mask masked, what should be one of values, units"),
        ('kind = "bi-encoder"', 'kind = "bert"', "train ft, kind should be one of bi-encoder, colbert"),
        ('model = "{tuned}"', 'model = "{other}"', r"train ft: nothing before it has this name .*other"),
        ('model = "{tuned}"', 'model = "{ft}"', "nothing before it has this name"),
        ('model = "{tuned}"', "model = 5", "train ft, model should be a text .found 5"),
        ("methods", "method", "train ft: unknown entry .found 'method'.*Did you mean methods"),
        ("[[train]]", '[training]\nname = "x"\n[[train]]', "trainings have names of their own"),
        ("[[train]]", "[training]\nepoch = 2\n[[train]]", "train ft: unknown entry"),
        ('["original"]', '["original"]\nlr = -1', "lr lies between 0 and 1"),
        ('["original"]', '["original"]\nlr = "fast"', "lr is no number"),
        ('"BM25" = "BM25"', '"BM25" = "BM52"', "unknown first stage"),
        (
            '"BM25" = "BM25"',
            '"BM25" = "SBERT_ft(model={ft})"',
            "BM25 and tuned of leaderboard plain are the same system",
        ),
        ('"BM25" = "BM25"', '"BM25" = 5', "leaderboard plain, systems, BM25 should be a text"),
        (
            '"BM25" = "BM25"',
            '"Q [parsed]" = "QBM25"',
            "leaderboard plain, systems: a row is named like the source of conditions",
        ),
        ('["original"]', '"original"', "methods is a list of texts"),
        ('["original"]', '["originals"]', "train ft: no such method .found 'originals'"),
        ('["original"]', '["original"]\nseed = true', "seed is no whole number"),
        ('["original"]', '["original"]\nby_length = 1', "by_length is no true or false"),
        ('["original"]', '["original"]\nprecision = "half"', "precision is one of auto, float32, bfloat16"),
        ('["original"]', '["original"]\nmax_length = 32.5', "max_length is no whole number"),
        ('name = "bare"', 'name = "experiment.md"', "this is the name of a page"),
        ('change_from = "plain"', 'against = { "tuned" = ["BM25"] }', "table Change, against, tuned should be a text"),
        ('name = "bare"', 'name = "plain"', "this name is used twice .found 'plain'"),
        ('name = "bare"', 'name = "../bare"', "a name has letters"),
        ('name = "ft"', 'name = "bench"', "this name is used twice .found 'bench'"),
        ('"{masked}"', '"{masked}"\ndepth = 0', "leaderboard bare, depth is at least 1"),
        ('["nDCG@10"]', '["nDCG@7"]', "table Change: leaderboard plain does not have this measure"),
        ('["nDCG@10"]', '["wit"]', "wit"),
        ('change_from = "plain"', 'change_from = "first"', "table Change: no such leaderboard"),
        ('change_from = "plain"', 'change_from = "plain"\ncolumns = "kind"', "buckets are shown, which are not tested"),
        ('change_from = "plain"', 'against = { "BM26" = "BM25" }', "table Change: no such row"),
        ('change_from = "plain"', 'columns = "colour"', "table Change: no such columns"),
        (
            'change_from = "plain"',
            'change_from = "plain"\nleaderboards = ["bare"]',
            "the leaderboard it starts from is not shown",
        ),
    ],
)
def test_what_makes_no_sense_is_named_with_its_file(write, old, new, message):
    assert old in SMALL
    with pytest.raises(InputError, match=r"experiment\.toml:\d+: .*" + message):
        read_experiment(write(SMALL.replace(old, new, 1)))


@pytest.mark.parametrize("text", ["[[leaderboard]", "a = ", 'title = "\\x"'])
def test_what_is_not_toml_is_said_so(write, text):
    with pytest.raises(InputError, match=r"experiment\.toml.*: not valid TOML"):
        read_experiment(write(text))


def test_a_experiment_without_leaderboards_or_file(write, tmp_path):
    with pytest.raises(InputError, match="there is no leaderboard"):
        read_experiment(write('title = "x"'))
    with pytest.raises(InputError, match=r"nowhere\.toml"):
        read_experiment(tmp_path / "nowhere.toml")


@pytest.mark.parametrize("path", OURS, ids=lambda path: path.stem)
def test_our_own_experiments_are_readable(path):
    experiment = read_experiment(path)
    assert experiment.tables
    assert all(one.help for one in experiment.inputs.values())


@pytest.mark.parametrize("path", OURS, ids=lambda path: path.stem)
def test_every_leaderboard_of_ours_has_the_filter_and_each_q_form_that_of_its_model(path):
    experiment = read_experiment(path)
    values = {name: one.default for name, one in experiment.inputs.items() if one.default}
    for leaderboard in experiment.leaderboards:
        systems = systems_of(leaderboard, lambda text: values.get(text.strip("{}"), text.strip("{}")))
        lasts = [system.stages[-1] for system in systems.values()]
        filtered = {last.bare for last in lasts if last.filters}
        assert filtered, leaderboard.name
        assert {last.bare for last in lasts if last.takes_terms} <= filtered, leaderboard.name


def test_there_is_a_experiment_for_each_table():
    assert {path.stem for path in OURS} == {
        "alpha",
        "main",
        "coded",
        "joint",
        "numcolbert",
        "cross_dataset",
        "masking",
        "augmentation",
        "numconq",
        "storage",
        "compression",
        "deepquant",
        "language_models",
        "papers",
        "papers_numconq",
        "seeds",
        "training_curve",
    }
