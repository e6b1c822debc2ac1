"""Experiments that run: what is made and where, what is compared with what, what is not made again."""

from __future__ import annotations

import json
import re
from dataclasses import asdict, replace
from functools import partial
from pathlib import Path

import pytest

from qbench.benchmark.disk import write_benchmark
from qbench.benchmark.export import export_beir
from qbench.errors import BusyError, InputError, OptionError
from qbench.evaluation.significance import SignificanceTests, holm
from qbench.leaderboard.experiment_documents import as_dict, cell_text, markdown
from qbench.leaderboard.experiment_run import inputs_of, plan_experiment, run_experiment
from qbench.leaderboard.experiment_tables import ExperimentCell
from qbench.leaderboard.experiment_types import filled, recipe_of
from qbench.leaderboard.experiments import read_experiment
from qbench.leaderboard.standings import SMOKE
from tests.encoder_factories import WORDS, regular_benchmark, tiny_bert
from tests.factories import tiny_benchmark
from tests.holding import held_by_another

QUICK = {"tests": SignificanceTests(resamples=200), "workers": 1}

LEXICAL = """
[inputs]
bench = { help = "a benchmark" }

[[mask]]
name = "values"
bench = "{bench}"
what = "values"

[[leaderboard]]
name = "plain"
bench = "{bench}"
systems = { "BM25" = "BM25", "Q" = "QBM25" }
measures = ["nDCG@10", "P@10"]

[[leaderboard]]
name = "masked"
bench = "{values}"
systems = { "BM25" = "BM25", "Q" = "QBM25" }
measures = ["nDCG@10", "P@10"]

[[table]]
title = "Rows"
against = { "Q" = "BM25" }

[[table]]
title = "Leaderboards"
measures = ["nDCG@10"]
change_from = "plain"

[[table]]
title = "Kinds"
columns = "comparator"
leaderboards = ["plain"]
"""

TRAINED = """
[inputs]
bench = { help = "a benchmark" }
model = { help = "an encoder" }

[[train]]
name = "ft"
kind = "bi-encoder"
bench = "{bench}"
model = "{model}"
epochs = 1
batch_size = 12
max_pairs = 24
dev_queries = 3

[[leaderboard]]
name = "all"
bench = "{bench}"
systems = { "BM25" = "BM25", "SBERT" = "SBERT(model={model})", "SBERT_ft" = "SBERT_ft(model={ft})" }

[[table]]
title = "All"
against = { "SBERT_ft" = "SBERT" }
"""


@pytest.fixture
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write_benchmark(tiny_benchmark(), tmp_path / "tiny")
    return tmp_path


def experiment_of(text: str, name: str = "experiment"):
    path = Path(f"{name}.toml")
    path.write_text(text, encoding="utf-8")
    return read_experiment(path)


def test_rows_are_compared_with_rows_and_leaderboards_with_leaderboards(here):
    result = run_experiment(experiment_of(LEXICAL), {"bench": "tiny"}, "out", **QUICK)
    rows, leaderboards, kinds = result.tables
    plain, masked = result.leaderboards["plain"], result.leaderboards["masked"]
    assert rows.columns == ("plain: nDCG@10", "plain: P@10", "masked: nDCG@10", "masked: P@10")
    first = rows.rows["Q"][0]
    means = {row.entry.name: row.cells["nDCG@10"].mean for row in plain.rows}
    assert (first.mean, first.base) == (means["Q"], "BM25")
    assert first.change == pytest.approx(means["Q"] - means["BM25"])
    # Two comparisons of the measure are shown, one for each leaderboard; Holm is over them.
    p = [one["p"] for b in (plain, masked) for one in b.pairs.to_dicts() if one["measure"] == "nDCG@10"]
    assert (first.p, rows.rows["Q"][2].p) == tuple(holm(p))
    assert rows.rows["BM25"][0].change is None

    assert leaderboards.columns == ("plain", "masked")
    start, end = leaderboards.rows["BM25"]
    assert start.change is None
    there = {row.entry.name: row.cells["nDCG@10"].mean for row in masked.rows}
    assert end.change == pytest.approx(there["BM25"] - means["BM25"])
    assert end.base == "plain"
    assert 0 < end.p <= 1
    assert sum(int(head.rpartition("(")[2].partition("/")[0]) for head in kinds.columns) == 4
    assert len(kinds.rows["Q"]) == len(kinds.columns)


def test_pages_name_no_folder_of_the_machine(here):
    given, command = {"bench": str(here / "tiny")}, "qbench leaderboard --with bench=tiny"
    result = run_experiment(experiment_of(LEXICAL), given, here / "out", command=command, **QUICK)
    for name in ("experiment.md", "experiment.json", "plain/leaderboard.md", "plain/leaderboard.json"):
        text = (here / "out" / "experiment-tiny" / name).read_text(encoding="utf-8")
        assert str(here) not in text, name
    page = (here / "out" / "experiment-tiny" / "experiment.md").read_text(encoding="utf-8")
    assert page == markdown(result)
    assert "| Q | " in page
    assert "--with bench=tiny" in page
    made = json.loads((here / "out" / "experiment-tiny" / "experiment.json").read_text(encoding="utf-8"))
    assert made["tables"][1]["rows"]["BM25"][1]["base"] == "plain"
    assert made["inputs"]["bench"]["benchmark"] == "tiny"


def test_the_same_again_makes_the_same_bytes_and_runs_nothing(here, monkeypatch):
    experiment = experiment_of(LEXICAL)
    run_experiment(experiment, {"bench": "tiny"}, "out", **QUICK)
    before = (here / "out" / "experiment-tiny" / "experiment.json").read_bytes()

    def never(*_: object) -> None:
        raise AssertionError("it was made before")

    monkeypatch.setattr("qbench.retrieval.execute.run_group", never)
    run_experiment(experiment, {"bench": "tiny"}, "out", **QUICK)
    assert (here / "out" / "experiment-tiny" / "experiment.json").read_bytes() == before


def test_training_then_searching_with_it(here):
    write_benchmark(regular_benchmark(), here / "regular")
    tiny_bert(here / "base", WORDS)
    told: list[str] = []
    given = {"bench": "regular", "model": "base"}
    result = run_experiment(experiment_of(TRAINED), given, "out", tell=told.append, **QUICK)
    assert len(list((here / "out" / "checkpoints").glob("bi-encoder-*/manifest.json"))) == 1
    assert [line.partition(":")[0] for line in told] == ["train ft", "leaderboard all"]
    assert list(result.tables[0].rows) == ["BM25", "SBERT", "SBERT_ft"]
    assert all(cells[0] is not None for cells in result.tables[0].rows.values())
    page = markdown(result)
    assert "bi-encoder from {model}" in page
    assert "sentence-transformers" in page.splitlines()[-1]
    # Of the trained row alone it is known on how little it was trained: 24 positives an epoch.
    assert result.tables[0].words == {"SBERT_ft": ("smoke size: 24 training samples",)}
    assert "| SBERT\\_ft **(smoke size: 24 training samples)** |" in page
    assert as_dict(result)["tables"][0]["words"] == {"SBERT_ft": ["smoke size: 24 training samples"]}
    assert "labels not audited" in result.words
    assert "**Labels not audited" in page
    board = result.leaderboards["all"]
    assert {row.entry.name: row.entry.trained_on for row in board.rows} == {
        "BM25": None,
        "SBERT": None,
        "SBERT_ft": 24,
    }
    # Another experiment in the same folder finds the checkpoint and the runs.
    other = experiment_of(TRAINED.replace('"All"', '"Other"'), "other")
    run_experiment(other, given, "out", **QUICK)
    assert len(list((here / "out" / "work" / "runs").iterdir())) == 3
    assert len(list((here / "out" / "checkpoints").glob("bi-encoder-*"))) == 1


def test_a_checkpoint_of_another_recipe_lies_beside(here):
    write_benchmark(regular_benchmark(), here / "regular")
    tiny_bert(here / "base", WORDS)
    given = {"bench": "regular", "model": "base"}
    run_experiment(experiment_of(TRAINED), given, "out", **QUICK)
    run_experiment(experiment_of(TRAINED.replace("max_pairs = 24", "max_pairs = 12")), given, "out", **QUICK)
    params = [
        json.loads(path.read_text())["params"]
        for path in (here / "out" / "checkpoints").glob("bi-encoder-*/manifest.json")
    ]
    assert sorted(one["max_pairs"] for one in params) == [12, 24]


def test_a_row_without_a_run_stays_visible(here):
    text = LEXICAL.replace('"Q" = "QBM25" }', '"Q" = "QBM25", "lost" = "Run(path=nowhere.trec)" }', 1)
    result = run_experiment(experiment_of(text), {"bench": "tiny"}, "out", **QUICK)
    assert result.tables[0].rows["lost"] == (None, None, None, None)
    assert "| lost | - | - | - | - |" in markdown(result)
    assert "nowhere.trec" in markdown(result)


def test_nothing_is_made_before_everything_is_checked(here):
    experiment = experiment_of(TRAINED)
    with pytest.raises(InputError, match="nowhere"):
        run_experiment(experiment, {"bench": "nowhere", "model": "base"}, "out", **QUICK)
    with pytest.raises(InputError, match="nobody"):
        run_experiment(experiment, {"bench": "tiny", "model": "nobody"}, "out", **QUICK)
    with pytest.raises(OptionError, match="resamples"):
        run_experiment(experiment, {"bench": "tiny", "model": "base"}, "out", tests=SignificanceTests(resamples=5))
    assert not (here / "out" / "checkpoints").exists()


def test_leaderboards_with_other_queries_are_not_compared(here):
    # The same ids are not the same queries.
    queries = [replace(query, text=f"{query.text}, then") for query in tiny_benchmark().queries]
    write_benchmark(replace(tiny_benchmark(), queries=queries, digest=""), here / "other")
    text = LEXICAL.replace('bench = "{values}"', 'bench = "{other}"').replace(
        'bench = { help = "a benchmark" }', 'bench = { help = "a benchmark" }\nother = { help = "another" }'
    )
    with pytest.raises(OptionError, match=r"compares leaderboards with different queries .found 'plain and masked'"):
        run_experiment(experiment_of(text), {"bench": "tiny", "other": "other"}, "out", **QUICK)
    assert not (here / "out" / "work").exists()


def test_a_change_is_compared_with_that_of_another_row(here):
    text = LEXICAL.replace('change_from = "plain"', 'change_from = "plain"\nagainst = { "Q" = "BM25" }')
    result = run_experiment(experiment_of(text), {"bench": "tiny"}, "out", **QUICK)
    cell = result.tables[1].rows["Q"][1]
    assert (cell.base, cell.other) == ("plain", "BM25")
    assert 0 < cell.p_other <= 1
    assert result.tables[1].rows["BM25"][1].p_other is None
    assert "†: changed significantly more or less than another row (Q with BM25" in result.tables[1].notes[2]
    known = ExperimentCell(0.5, "plain", -0.25, 0.01, "BM25", 0.02)
    assert cell_text(known) == "0.500 (-0.250*†)"


def test_a_leaderboard_without_a_single_run_does_not_end_the_experiment(here):
    first = LEXICAL.replace('{ "BM25" = "BM25", "Q" = "QBM25" }', '{ "lost" = "Run(path=nowhere.trec)" }', 1)
    text = first.replace('against = { "Q" = "BM25" }', "").replace(
        'leaderboards = ["plain"]', 'leaderboards = ["masked"]'
    )
    result = run_experiment(experiment_of(text.replace('change_from = "plain"', "")), {"bench": "tiny"}, "out", **QUICK)
    assert list(result.leaderboards) == ["masked"]
    assert result.lost == 1
    assert "plain: no row has a run: " in markdown(result)
    assert as_dict(result)["leaderboards"]["plain"]["problems"]
    both = LEXICAL.replace('{ "BM25" = "BM25", "Q" = "QBM25" }', '{ "lost" = "Run(path=nowhere.trec)" }')
    both = both.replace('against = { "Q" = "BM25" }', "")
    with pytest.raises(InputError, match=r"nowhere\.trec"):
        run_experiment(experiment_of(both), {"bench": "tiny"}, "out", **QUICK)


def test_what_a_benchmark_lacks_is_said(here):
    write_benchmark(replace(regular_benchmark(), quantities=None, digest=""), here / "regular")
    tiny_bert(here / "base", WORDS)
    given = {"bench": "regular", "model": "base"}
    text = TRAINED.replace("epochs = 1", 'epochs = 1\nmethods = ["original", "value"]')
    result = run_experiment(experiment_of(text), given, "out", **QUICK)
    assert result.notes[0] == "ft: regular has no training samples of this kind: value."
    assert "no training samples of this kind: value" in markdown(result)
    with pytest.raises(InputError, match="no quantities to mask"):
        run_experiment(experiment_of(LEXICAL), {"bench": "regular"}, "out", **QUICK)
    asked = [replace(query, split="test") for query in regular_benchmark().queries]
    write_benchmark(replace(regular_benchmark(), queries=asked, digest=""), here / "asked")
    with pytest.raises(InputError, match="ft: the benchmark has no training split"):
        plan_experiment(experiment_of(TRAINED), {"bench": "asked", "model": "base"})
    bare = [replace(query, conditions=()) for query in tiny_benchmark().queries]
    write_benchmark(replace(tiny_benchmark(), queries=bare, digest=""), here / "bare")
    text = LEXICAL.replace('measures = ["nDCG@10", "P@10"]', 'measures = ["nDCG@10", "P@10"]\nconditions = "given"', 1)
    with pytest.raises(OptionError, match="leaderboard plain: these queries come without conditions"):
        run_experiment(experiment_of(text), {"bench": "bare"}, "out", **QUICK)


def test_numbers_in_the_names_of_systems_are_no_models(here):
    tiny_bert(here / "base", WORDS)
    text = """
[inputs]
bench = { help = "a benchmark" }
model = { help = "an encoder" }
parts = { help = "M", default = "8" }

[[leaderboard]]
name = "all"
bench = "{bench}"
systems = { "SBERT-PQ" = "BM25 + SBERT(model={model}, k=5)-PQ(M={parts}, K=4)" }
"""
    result = run_experiment(experiment_of(text), {"bench": "tiny", "model": "base"}, "out", **QUICK)
    assert result.about["inputs"]["parts"] == {"value": "8"}
    assert result.about["inputs"]["model"]["model"] == "base"


def test_a_leaderboard_chooses_among_judgments(here):
    export_beir(tiny_benchmark(), here / "beir")
    qrels = here / "beir" / "qrels"
    (qrels / "other.tsv").write_bytes((qrels / "test.tsv").read_bytes())
    text = """
[inputs]
root = { help = "a folder with benchmarks" }

[[leaderboard]]
name = "other"
bench = "{root}/beir"
qrels = "other"
systems = { "BM25" = "BM25" }
"""
    result = run_experiment(experiment_of(text), {"root": str(here)}, "out", **QUICK)
    assert result.about["inputs"]["root"] == {"value": here.name}
    assert (here / "out" / "experiment-experiment" / "experiment.md").is_file()


def test_a_plan_says_what_would_be_made(here):
    tiny_bert(here / "base", WORDS)
    text = LEXICAL + TRAINED[TRAINED.index("[[train]]") : TRAINED.index("[[leaderboard]]")]
    text = text.replace(
        'bench = { help = "a benchmark" }', 'bench = { help = "a benchmark" }\nmodel = { help = "an encoder" }'
    )
    given = {"bench": "tiny", "model": "base"}
    assert plan_experiment(experiment_of(text), given) == [
        "mask values: values of tiny",
        "train ft: bi-encoder from base on tiny",
        "leaderboard plain, on tiny: BM25, Q",
        "leaderboard masked, on {values}: BM25, Q",
    ]
    assert not (here / "checkpoints").exists()
    with pytest.raises(InputError, match="nobody"):
        plan_experiment(experiment_of(text), {"bench": "tiny", "model": "nobody"})


def test_two_at_once(here):
    with held_by_another(here / "out"), pytest.raises(BusyError):
        run_experiment(experiment_of(LEXICAL), {"bench": "tiny"}, "out", **QUICK)


def test_the_output_is_no_artefact(here):
    with pytest.raises(OptionError, match="itself a qbench artefact"):
        run_experiment(experiment_of(LEXICAL), {"bench": "tiny"}, "tiny", **QUICK)


def test_the_script_of_real_text_knows_the_inputs():
    folder = Path(__file__).parents[2] / "benchmarks"
    script = (folder / "neural_experiments.sh").read_text(encoding="utf-8")
    lines = [line for line in script.splitlines() if line.startswith("trainings")]
    given = set(re.findall(r'"(\w+)=\$', "\n".join(lines)))
    assert given == {"epochs", "pairs", "batch", "lr", "colbert_lr", "length", "dev"}
    trained = (folder / "trained.sh").read_text(encoding="utf-8")
    others = set(re.findall(r'"(\w+)=\$', "\n".join(re.findall(r"^inputs.*$", trained, re.MULTILINE))))
    others |= set(re.findall(r'"(\w+)=\$epochs"', trained))
    assert others == {"model", "epochs", "batch", "length", "dev", "precision"}
    for path in (folder / "experiments").glob("*.toml"):
        inputs = set(read_experiment(path).inputs)
        assert {"bench", "model"} <= inputs
        assert given <= inputs or others <= inputs or path.stem in ("storage", "compression", "language_models")
        if others <= inputs:
            assert f"{path.stem}-" in trained
            assert ("limit" in inputs) == (path.stem != "training_curve")


def test_what_is_trained_for_real_is_trained_alike():
    """From the same encoder, on as many samples, in batches of the same size, chosen in the same way."""
    folder = Path(__file__).parents[2] / "benchmarks" / "experiments"
    for name in ("papers", "papers_numconq", "seeds", "training_curve"):
        experiment = read_experiment(folder / f"{name}.toml")
        values = inputs_of(experiment, {one: one for one, entry in experiment.inputs.items() if entry.default is None})
        fill = partial(filled, values=values)
        recipes = [asdict(recipe_of(training, fill)) for training in experiment.trainings]
        # DeepQuant begins with numbers that no benchmark has.
        recipes = [recipe for recipe in recipes if recipe["numbers_first"] < 1]
        # And what no other kind has: the weight of NumColBERT's own losses, DeepQuant's made-up numbers.
        free = {"lr", "seed", "info_weight", "numbers_every", "epochs", "limit" if name == "training_curve" else "lr"}
        alike = [{key: value for key, value in recipe.items() if key not in free} for recipe in recipes]
        assert all(recipe == alike[0] for recipe in alike)
        assert alike[0]["batch_size"] >= 64
        assert alike[0]["evaluations"] >= 4
        assert {recipe["epochs"] for recipe in recipes if not recipe["numbers_every"]} == {2}
        for recipe in recipes:
            steps = max(each["limit"] for each in recipes) * recipe["epochs"] / recipe["batch_size"]
            every = recipe["numbers_every"]
            assert steps * (1 - 1 / every if every else 1) >= 600
        assert max(recipe["limit"] for recipe in recipes) >= SMOKE
