"""Systems of one's own: registered from Python or by a package, run like others, refused and lost one by one."""

from __future__ import annotations

import functools
import re
from dataclasses import dataclass
from importlib.metadata import EntryPoint
from pathlib import Path
from typing import Literal

import numpy as np
import pytest
from typer.testing import CliRunner

import qbench
from qbench.benchmark.disk import write_benchmark
from qbench.cli.systems import app
from qbench.errors import OptionError, UnknownNameError
from qbench.options import option
from qbench.retrieval import registration
from qbench.retrieval.entries import REGISTRY
from qbench.retrieval.execute import execute
from qbench.retrieval.grammar import parse_system
from qbench.retrieval.jobs import ExecuteOptions
from tests.factories import tiny_benchmark

BENCHMARK = tiny_benchmark()
README = Path(__file__).parents[2] / "README.md"


@pytest.fixture(autouse=True)
def registry(monkeypatch):
    REGISTRY.of("first stage")
    monkeypatch.setattr(REGISTRY, "entries", REGISTRY.entries)


def overlap(documents, *, weight: float = 1.0, case: Literal["fold", "keep"] = "fold"):
    """Counts shared words."""

    def words(text):
        return set((text.lower() if case == "fold" else text).split())

    sets = [words(text) for text in documents.texts]
    return lambda query: [weight * len(words(query.text) & held) for held in sets]


@dataclass(frozen=True)
class Wish:
    """Options of Near."""

    reach: float = option(0.5, help="relative distance that still counts", low=0)


class Near:
    """Scores documents by mentions near the value of a condition."""

    def __init__(self, documents, options: Wish):
        self.documents, self.reach = documents, options.reach

    def __call__(self, query):
        mentions = [self.documents.quantities().of(doc) for doc in range(len(self.documents))]
        return np.array([max([self.near(q, query) for q in some], default=-np.inf) for some in mentions])

    def near(self, mention, query):
        return float(
            any(
                mention.base_unit == c.base_unit and abs(mention.base_value - c.base_value) <= self.reach * c.base_value
                for c in query.conditions
            )
        )


def ask(folder, *names, **options):
    systems = [parse_system(name) for name in names]
    return execute(BENCHMARK, systems, folder, ExecuteOptions(**{"settings": ("given",), **options}))


def test_a_function_stands_as_first_stage_and_as_reranker(tmp_path):
    qbench.register("Overlap", overlap)
    names = ["Overlap", "Overlap(weight=2, case=keep)", "QOverlap", "BM25 + Overlap(k=3)-I", "Overlap_filter + BM25"]
    assert [str(parse_system(name)) for name in names] == names
    results = ask(tmp_path, *names, depth=5)
    assert len({result.digest for result in results}) == len(names)
    for query in BENCHMARK.queries_of("test"):
        run = results[0].run.filter(query_id=query.query_id)
        words = {doc: set(text.lower().split()) for doc, text in BENCHMARK.corpus.select("doc_id", "text").iter_rows()}
        counts = {doc: len(held & set(query.text.lower().split())) for doc, held in words.items()}
        assert run["doc_id"].to_list() == sorted(counts, key=lambda doc: (counts[doc], doc), reverse=True)[:5]
        assert run["score"].to_list() == sorted(counts.values(), reverse=True)[:5]
    assert results[0].cost.index_seconds > 0
    assert results[0].cost.ms_median > 0


def test_a_class_with_a_dataclass_of_options_reads_quantities_and_conditions(tmp_path):
    qbench.register("Near", Near, reads=("conditions", "quantities"))
    near, far = ask(tmp_path, "Near(reach=0.25)", "Near(reach=0)")
    assert near.label == "Near(reach=0.25) [given]"
    best = near.run.filter(query_id="q4")
    assert best.filter(doc_id="d03")["score"].to_list() == [1.0]  # 2.4 kg is near 2 kg
    assert far.run.filter(query_id="q4")["score"].max() == 0
    assert best.height < BENCHMARK.corpus.height  # documents without a mention are not retrieved


def test_finished_runs_stay_and_a_version_makes_new_ones(tmp_path):
    calls = []

    def counting(documents):
        calls.append(len(documents))
        return lambda query: [0.0] * len(documents)

    with pytest.raises(OptionError, match="does not say all"):
        qbench.register("Counting", counting)
    qbench.register("Counting", counting, version="1")
    ask(tmp_path, "Counting")
    ask(tmp_path, "Counting")
    assert calls == [12]
    qbench.register("Counting", counting, version="2")
    ask(tmp_path, "Counting")
    assert calls == [12, 12]


def test_the_source_names_what_it_computes(tmp_path):
    source = tmp_path / "mine.py"
    digests = []
    for number in (1, 2, 1):
        source.write_text(f"def mine(documents):\n    return lambda query: [{number}.0] * len(documents)\n")
        space = {}
        exec(compile(source.read_text(), str(source), "exec"), space)
        qbench.register("Mine", space["mine"])
        digests.append(ask(tmp_path / "runs", "Mine")[0].digest)
    assert digests[0] == digests[2] != digests[1]


@pytest.mark.parametrize(
    ("name", "make", "says"),
    [
        ("BM25", overlap, "written alike"),
        ("my system", overlap, "letters"),
        ("Bad", lambda documents, *, k: None, "has no type"),
        ("Bad", len, "does not say all"),
    ],
)
def test_what_cannot_be_registered_says_why(name, make, says):
    with pytest.raises((OptionError, ValueError), match=says):
        qbench.register(name, make)


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ({"reads": "conditions"}, "reads of Own"),
        ({"reads": ("text",)}, "reads of Own"),
        ({"roles": "reranker"}, "roles of Own"),
        ({"roles": ("first",)}, "roles of Own"),
        ({"roles": ()}, "roles of Own"),
        ({"version": ""}, "version"),
    ],
)
def test_unknown_roles_and_readings_are_refused(arguments, says):
    with pytest.raises(OptionError, match=says):
        qbench.register("Own", overlap, **arguments)


@pytest.mark.parametrize(
    ("name", "make", "says"),
    [
        (3, overlap, "letters"),
        ("Q", overlap, "something else"),
        ("Own_filter", overlap, "something else"),
        ("Own", 3, "not callable"),
        ("Own", lambda documents, weight=1.0: None, "more than the documents"),
    ],
)
def test_names_and_objects_that_cannot_be_systems_are_refused(name, make, says):
    with pytest.raises(OptionError, match=says):
        qbench.register(name, make, version="1")


def test_quantities_are_read_only_by_a_system_that_says_so(tmp_path):
    def sly(documents):
        documents.quantities()

    qbench.register("Sly", sly, version="1")
    with pytest.raises(OptionError, match="without saying so"):
        ask(tmp_path, "Sly")


def test_the_documents_need_no_type_that_is_known_at_run_time(tmp_path):
    def typed(documents: "OnlyForTypeCheckers", *, weight: float = 1.0):  # noqa: F821, UP037
        return lambda query: [weight] * len(documents)

    qbench.register("Typed", typed, version="1")
    assert ask(tmp_path, "Typed(weight=2)")[0].run["score"].unique().to_list() == [2.0]


def test_a_partial_function_has_the_options_that_are_left(tmp_path):
    def weighed(documents, *, base: float, weight: float = 1.0):
        return lambda query: [base * weight] * len(documents)

    qbench.register("Weighed", functools.partial(weighed, base=3.0), version="1")
    assert ask(tmp_path, "Weighed(weight=2)")[0].run["score"].unique().to_list() == [6.0]


def test_options_of_other_types_and_taken_names_are_refused():
    def listed(documents, *, words: list):
        return None

    def taken(documents, *, k: int = 3):
        return None

    with pytest.raises(OptionError, match="cannot be written"):
        qbench.register("Listed", listed, version="1")
    with pytest.raises(OptionError, match="rerankers or quantity scores"):
        qbench.register("Taken", taken, version="1")


@pytest.mark.parametrize(
    ("scores", "says"),
    [
        ([1.0], r"shape \(1,\) for 12 documents"),
        ([[1.0]] * 12, r"shape \(12, 1\)"),
        ([float("nan")] * 12, "gave document d12 a score"),
        (["much"] * 12, "not numbers"),
        (None, "shape"),
    ],
)
def test_wrong_scores_lose_their_own_row_alone(tmp_path, scores, says):
    qbench.register("Wrong", lambda documents: lambda query: scores, version="1")
    leaderboard = qbench.run_leaderboard(
        BENCHMARK, ["BM25", "Wrong", "BM25 + Wrong"], output=tmp_path / "out", resamples=100
    )
    reasons = {row.entry.label: row.entry.problem for row in leaderboard.problems}
    assert set(reasons) == {"Wrong", "BM25 + Wrong"}
    assert all(re.search(says, reason) for reason in reasons.values()), reasons
    assert not (tmp_path / "out" / "errors.txt").exists() or says == "shape"


def test_qbench_systems_lists_and_explains_it():
    qbench.register("Overlap", overlap, what="counts shared words")
    listed, told = CliRunner().invoke(app, []).stdout, CliRunner().invoke(app, ["BM25 + Overlap(weight=2)"]).stdout
    assert re.search(r"Overlap +counts shared words", listed)
    assert "counts shared words" in told
    assert "weight" in told


def test_packages_bring_systems_by_entry_points(monkeypatch, tmp_path):
    points = [
        EntryPoint("Overlap", f"{__name__}:overlap", "qbench.systems"),
        EntryPoint("Broken", "no_such_package:make", "qbench.systems"),
        EntryPoint("BM25", f"{__name__}:overlap", "qbench.systems"),
    ]
    monkeypatch.setattr(registration, "entry_points", lambda group: points)
    with pytest.warns(UserWarning, match="written alike"):
        registration.add_installed(REGISTRY)
    (result,) = ask(tmp_path, "Overlap(weight=2)")
    assert result.run.height > 0
    leaderboard = qbench.run_leaderboard(BENCHMARK, ["BM25", "Broken"], output=tmp_path / "out", resamples=100)
    (row,) = leaderboard.problems
    assert "cannot be loaded: ModuleNotFoundError" in row.entry.problem


def test_the_example_of_the_readme_runs(tmp_path, monkeypatch):
    (code,) = (block for block in re.findall(r"```python\n(.*?)```", README.read_text(), re.S) if "register" in block)
    write_benchmark(BENCHMARK, tmp_path / "bench")
    (tmp_path / "example.py").write_text(code)
    monkeypatch.chdir(tmp_path)
    with pytest.raises(UnknownNameError):
        parse_system("Overlap")
    exec(compile(code, str(tmp_path / "example.py"), "exec"), {})
    assert (tmp_path / "out" / "leaderboard.json").is_file()
