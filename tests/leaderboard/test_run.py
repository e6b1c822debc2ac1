"""From a benchmark to a leaderboard: which runs are asked for, what a failure costs, what is said of a run."""

from __future__ import annotations

import inspect
from dataclasses import replace

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from qbench.benchmark.types import Query
from qbench.errors import BusyError, InputError, OptionError, UnknownNameError
from qbench.leaderboard.run import run_leaderboard, sort_into_buckets
from qbench.quantities.types import Condition
from qbench.retrieval.types import Cost, RunResult, run_schema
from tests.encoder_factories import tiny_bert
from tests.factories import tiny_benchmark
from tests.holding import held_by_another

QUICK = {"resamples": 100, "measures": ("nDCG@10", "AP"), "workers": 1}


def ranking(queries: list[str], docs: list[str]) -> pl.DataFrame:
    rows = [(q, d, rank, -float(rank)) for q in queries for rank, d in enumerate(docs, start=1)]
    return pl.DataFrame(rows, schema=run_schema(), orient="row")


class FakeExecute:
    """Stands for qbench.retrieval.execute: remembers what it was asked, fails where it is told to."""

    def __init__(self, failing: dict[str, Exception] | None = None) -> None:
        self.failing = failing or {}
        self.calls: list[tuple[list[str], tuple[str, ...]]] = []

    def __call__(self, benchmark, systems, folder, options) -> list[RunResult]:
        settings = options.settings
        self.calls.append(([str(system) for system in systems], tuple(settings)))
        results = []
        for system in systems:
            for source in settings if system.uses_conditions else ("none",):
                label = str(system) if source == "none" else f"{system} [{source}]"
                if label in self.failing:
                    raise self.failing[label]
                docs = ["d03", "d09", "d08", "d02"] if system.uses_conditions else ["d12", "d03"]
                run = ranking([query.query_id for query in benchmark.queries_of(options.split)], docs)
                results.append(RunResult(str(system), source, run, Cost(ms_median=1.0), digest=label))
        return results


@pytest.fixture
def fake(monkeypatch):
    def use(failing: dict[str, Exception] | None = None) -> FakeExecute:
        stand_in = FakeExecute(failing)
        monkeypatch.setattr("qbench.leaderboard.outcomes.execute", stand_in)
        return stand_in

    return use


def labels(leaderboard) -> list[str]:
    return sorted(row.entry.label for row in leaderboard.rows)


def test_defaults_run_four_systems_in_both_settings(tmp_path, fake):
    ran = fake()
    leaderboard = run_leaderboard(tiny_benchmark(), output=tmp_path / "out", resamples=100)
    assert ran.calls == [(["BM25", "BM25_filter", "QBM25", "BindBM25"], ("given", "parsed"))]
    assert labels(leaderboard) == [
        "BM25",
        "BM25_filter [given]",
        "BM25_filter [parsed]",
        "BindBM25 [given]",
        "BindBM25 [parsed]",
        "QBM25 [given]",
        "QBM25 [parsed]",
    ]
    assert leaderboard.measures == ("nDCG@10", "P@10", "RR@10", "R@100", "AP")
    assert (tmp_path / "out" / "leaderboard.json").is_file()
    assert leaderboard.about["benchmark"]["queries"] == 4


def test_without_conditions_only_the_parsed_setting_runs(tmp_path, fake):
    bench = tiny_benchmark()
    bare = replace(bench, queries=[replace(query, conditions=()) for query in bench.queries])
    ran = fake()
    leaderboard = run_leaderboard(bare, ["BM25", "QBM25"], output=tmp_path / "out", **QUICK)
    assert ran.calls == [(["BM25", "QBM25"], ("parsed",))]
    assert "Buckets: the conditions of 4 of 4 queries are not given; they were read from the text." in leaderboard.notes
    # The buckets are those of the conditions in the text.
    assert set(leaderboard.buckets.filter(dimension="constraints")["bucket"]) == {"1", "2"}
    with pytest.raises(OptionError, match="have no conditions"):
        run_leaderboard(bare, output=tmp_path / "out", settings=["given"], **QUICK)


def test_a_failing_system_does_not_lose_the_others(tmp_path, fake):
    fake({"QBM25 [parsed]": ValueError("bad luck"), "BM25_filter [given]": InputError("cannot read", file="x.json")})
    leaderboard = run_leaderboard(tiny_benchmark(), output=tmp_path / "out", **QUICK)
    assert len(leaderboard.rows) == 7
    reasons = {row.entry.label: row.entry.problem for row in leaderboard.problems}
    assert reasons == {
        "QBM25 [parsed]": "ValueError: bad luck (traceback in errors.txt)",
        "BM25_filter [given]": "x.json: cannot read",
    }
    assert all(row.ranks is None for row in leaderboard.problems)
    assert leaderboard.scores["label"].n_unique() == 5


def test_the_traceback_of_an_unexpected_error_is_kept_until_the_next_call(tmp_path, fake):
    fake({"QBM25 [parsed]": ValueError("bad luck"), "BM25_filter [given]": InputError("cannot read")})
    run_leaderboard(tiny_benchmark(), output=tmp_path / "out", **QUICK)
    kept = (tmp_path / "out" / "errors.txt").read_text()
    assert "QBM25 [parsed]\nTraceback" in kept
    assert "in __call__" in kept
    assert "ValueError: bad luck" in kept
    assert "cannot read" not in kept
    fake()
    run_leaderboard(tiny_benchmark(), output=tmp_path / "out", **QUICK)
    assert not (tmp_path / "out" / "errors.txt").exists()


def test_an_error_that_only_all_rows_together_raise_is_kept_too(tmp_path, fake, monkeypatch):
    ran = fake()

    def execute(benchmark, systems, *rest):
        if len(systems) > 1:
            raise ZeroDivisionError("shared part")
        return ran(benchmark, systems, *rest)

    monkeypatch.setattr("qbench.leaderboard.outcomes.execute", execute)
    leaderboard = run_leaderboard(tiny_benchmark(), output=tmp_path / "out", **QUICK)
    assert not leaderboard.problems
    assert (tmp_path / "out" / "errors.txt").read_text().startswith("all rows at once\nTraceback")


def test_a_setting_is_ranked_and_tested_by_itself(tmp_path, fake):
    fake()
    leaderboard = run_leaderboard(tiny_benchmark(), output=tmp_path / "out", **QUICK)
    crossing = {frozenset(pair) for pair in leaderboard.pairs.select("a", "b").rows()}
    # Of 21 pairs, nine are a given and a parsed row.
    assert len(crossing) == 12
    assert not any("[given]" in a + b and "[parsed]" in a + b for a, b in crossing)


@settings(max_examples=30, deadline=None)
@given(st.lists(st.text(st.sampled_from("ab per2µ/ "), max_size=12), min_size=1, max_size=4))
def test_buckets_take_any_name_of_a_unit(names):
    bench = tiny_benchmark()
    asked = [
        Query(f"q{i}", "t", conditions=(Condition("=", 1.0, 1.0, name, name, 1.0, 1.0),))
        for i, name in enumerate(names)
    ]
    frame, notes = sort_into_buckets(asked, replace(bench, quantities=None))
    assert notes == []
    assert frame.filter(dimension="family")["bucket"].str.len_chars().min() > 0


def test_the_family_of_a_users_own_unit_is_that_of_the_benchmarks_quantities():
    bench = tiny_benchmark()
    own = bench.quantities.head(1).with_columns(unit=pl.lit("smoot"), family=pl.lit("length"))
    asked = [
        Query(name, "t", conditions=(Condition("=", 1.0, 1.0, name, name, 1.0, 1.0),))
        for name in ("smoot", "blorb", "gram")
    ]
    frame, _ = sort_into_buckets(asked, replace(bench, quantities=own))
    found = dict(frame.filter(dimension="family").select("query_id", "bucket").iter_rows())
    assert found == {"smoot": "length", "blorb": "count", "gram": "mass"}


@pytest.mark.parametrize("systems", [["BM25"], ["BM25", "BM25(k1=2)"]])
def test_if_all_fail_the_first_error_is_raised(tmp_path, fake, systems):
    fake({"BM25": InputError("first"), "BM25(k1=2)": InputError("second")})
    with pytest.raises(InputError, match="first"):
        run_leaderboard(tiny_benchmark(), systems, output=tmp_path / "out", **QUICK)
    assert not (tmp_path / "out" / "leaderboard.json").exists()


def test_an_earlier_leaderboard_survives_a_failure(tmp_path, fake):
    fake()
    run_leaderboard(tiny_benchmark(), ["BM25"], output=tmp_path / "out", **QUICK)
    before = {path.name: path.read_bytes() for path in (tmp_path / "out").iterdir() if path.is_file()}
    fake({"BM25": InputError("broken")})
    with pytest.raises(InputError):
        run_leaderboard(tiny_benchmark(), ["BM25"], output=tmp_path / "out", **QUICK)
    assert before == {path.name: path.read_bytes() for path in (tmp_path / "out").iterdir() if path.is_file()}


def test_interruption_is_not_a_failure_of_a_system(tmp_path, fake):
    fake({"BM25": KeyboardInterrupt()})  # type: ignore[dict-item]
    with pytest.raises(KeyboardInterrupt):
        run_leaderboard(tiny_benchmark(), output=tmp_path / "out", **QUICK)


def test_two_at_once_are_told(tmp_path, fake):
    fake()
    with held_by_another(tmp_path / "out"), pytest.raises(BusyError):
        run_leaderboard(tiny_benchmark(), output=tmp_path / "out", **QUICK)


def test_what_a_reader_should_know_of_a_run_is_said(tmp_path, monkeypatch):
    bench = tiny_benchmark()
    meta = {"queries": 4, "queries_without_condition": 1, "queries_without_results": 2}
    meta |= {"note": "not trained", "reranker_documents_cut": 3, "faiss_recall": 0.926}
    meta |= {"candidate_recall": 0.9714, "candidate_recall_queries": 64}
    meta |= {"reranker_codes_bytes": 21267, "reranker_codebook_bytes": 786432, "reranker_compression": 4.49}
    run = ranking(["q4", "q5"], ["d03"])
    monkeypatch.setattr(
        "qbench.leaderboard.outcomes.execute", lambda *_, **__: [RunResult("QBM25", "parsed", run, meta=meta)]
    )
    leaderboard = run_leaderboard(bench, ["QBM25"], output=tmp_path / "out", settings=["parsed"], **QUICK)
    assert "QBM25 [parsed]: no condition was found in the text for 1 of 4 queries." in leaderboard.notes
    assert "QBM25 [parsed]: no results for 2 of 4 queries; they score 0." in leaderboard.notes
    assert "QBM25 [parsed]: not trained." in leaderboard.notes
    assert "QBM25 [parsed]: faiss proposes 92.6 % of what exact search finds nearest." in leaderboard.notes
    monkeypatch.setattr(
        "qbench.leaderboard.outcomes.execute",
        lambda *_, **__: [RunResult("QBM25", "parsed", run, meta={**meta, "faiss_copy": "whole"})],
    )
    small = run_leaderboard(bench, ["QBM25"], output=tmp_path / "small", settings=["parsed"], **QUICK)
    assert any(note.endswith("Its copies are whole: copy=pq takes 9,984 vectors or more.") for note in small.notes)
    told = "candidates hold 97.1 % of what exact MaxSim finds best, on 64 queries of the board."
    assert f"QBM25 [parsed]: {told}" in leaderboard.notes
    assert "QBM25 [parsed]: reranker: 3 documents are longer than the model reads, and were cut." in leaderboard.notes
    told = "vectors take 21,267 bytes, and 786,432 for the codebook and what else was learnt: together 4.49 times"
    assert f"QBM25 [parsed]: reranker: {told} smaller than in single precision." in leaderboard.notes
    assert leaderboard.scores.filter(query_id="q6")["value"].to_list() == [0, 0]


def test_queries_without_a_relevant_document_are_left_out_and_counted(tmp_path, fake):
    fake()
    bench = tiny_benchmark()
    poorer = replace(bench, qrels=bench.qrels.filter(pl.col("query_id") != "q4"))
    leaderboard = run_leaderboard(poorer, ["BM25"], output=tmp_path / "out", **QUICK)
    assert leaderboard.scores["query_id"].n_unique() == 3
    assert "1 queries without a relevant document are left out." in leaderboard.notes


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"systems": ["BM52"]}, UnknownNameError, "BM25"),
        ({"systems": []}, OptionError, "no system"),
        ({"measures": ["nDGC@10"]}, UnknownNameError, "unknown measure"),
        ({"primary": "nothing"}, UnknownNameError, "unknown measure"),
        ({"resamples": 5}, OptionError, "resamples"),
        ({"depth": 0}, OptionError, "at least one document"),
        ({"settings": ["guessed"]}, OptionError, "given, parsed"),
        ({"settings": []}, OptionError, "given, parsed"),
        ({"qrels": "dl19"}, OptionError, "folder"),
    ],
)
def test_bad_options_are_told_before_anything_runs(tmp_path, fake, options, error, message):
    ran = fake()
    with pytest.raises(error, match=message):
        run_leaderboard(tiny_benchmark(), output=tmp_path / "out", **options)
    assert ran.calls == []
    assert not (tmp_path / "out").exists()


def test_an_empty_part_names_the_others(tmp_path, fake):
    fake()
    bench = tiny_benchmark()
    tests = replace(bench, queries=[query for query in bench.queries if query.split != "dev"])
    with pytest.raises(OptionError, match="Use train or test"):
        run_leaderboard(tests, output=tmp_path / "out", split="dev", **QUICK)


def test_the_output_must_not_be_a_file_or_an_artefact(tmp_path, fake):
    fake()
    (tmp_path / "file").touch()
    with pytest.raises(OptionError, match="is a file"):
        run_leaderboard(tiny_benchmark(), output=tmp_path / "file", **QUICK)
    (tmp_path / "bench").mkdir()
    (tmp_path / "bench" / "manifest.json").write_text("{}")
    with pytest.raises(OptionError, match="itself a qbench artefact"):
        run_leaderboard(tiny_benchmark(), output=tmp_path / "bench", **QUICK)


def test_the_primary_measure_can_be_another(tmp_path, fake):
    fake()
    leaderboard = run_leaderboard(tiny_benchmark(), output=tmp_path / "out", primary="RR@10", **QUICK)
    assert leaderboard.measures == ("RR@10", "nDCG@10", "AP")


def test_buckets_can_be_left_out(tmp_path, fake):
    fake()
    leaderboard = run_leaderboard(tiny_benchmark(), output=tmp_path / "out", buckets=False, **QUICK)
    assert leaderboard.buckets.is_empty()
    assert leaderboard.bucket_tables() == []


def test_end_to_end_with_real_systems(tmp_path):
    """Twice: the second time the runs are there, and every file but the costs' is the same anyway."""
    states: list[list[tuple[float, float, str]]] = [[], []]

    def leaderboard(seen):
        return run_leaderboard(
            tiny_benchmark(), output=tmp_path / "out", progress=lambda *state: seen.append(state), **QUICK
        )

    leaderboards = [leaderboard(seen) for seen in states]
    for seen in states:  # one bar, from nothing to its end, that never goes back
        done = [state[0] for state in seen]
        assert done == sorted(done)
        assert {state[1] for state in seen} == {8.0}
        assert (done[0], done[-1]) == (0, 8)
    assert not leaderboards[0].problems
    assert labels(leaderboards[0]) == labels(leaderboards[1])
    assert leaderboards[0].to_dict() == leaderboards[1].to_dict()
    best = leaderboards[0].rows[0]
    assert best.entry.name in ("BM25_filter", "QBM25", "BindBM25")
    by_label = {row.entry.label: row.cells["nDCG@10"].mean for row in leaderboards[0].rows}
    assert by_label["QBM25 [given]"] >= by_label["BM25"]
    assert all(row.entry.cost is not None and row.entry.cost.ms_median > 0 for row in leaderboards[0].rows)
    assert set(leaderboards[0].buckets["bucket"]) >= {
        ">",
        "<",
        "between",
        "seen",
        "unseen",
        "expansion",
        "1",
        "2",
        "mass",
    }
    assert str(tmp_path) not in (tmp_path / "out" / "leaderboard.json").read_text()


def test_the_public_names_are_functions_not_rooms():
    """A name that is also a package would be the package as soon as something imports it."""
    import qbench

    assert inspect.unwrap(qbench.run_leaderboard) is run_leaderboard
    assert callable(qbench.evaluate)


def test_models_that_were_not_trained_and_documents_that_were_cut_are_told(tmp_path):
    words = [word for text in tiny_benchmark().corpus["text"] for word in text.lower().split()]
    model = tiny_bert(tmp_path / "tiny", words)
    names = [f"ColBERT(model={model}, max_length=5)", f"BM25 + ColBERT(model={model})"]
    leaderboard = run_leaderboard(tiny_benchmark(), names, output=tmp_path / "out", **QUICK)
    untrained = "the projection was not trained: qbench train colbert."
    assert any("max_length=5" in note and note.endswith(": " + untrained) for note in leaderboard.notes)
    assert any("documents are longer than the model reads, and were cut." in note for note in leaderboard.notes)
    assert any(note.startswith("BM25 + ") and note.endswith("reranker: " + untrained) for note in leaderboard.notes)


def test_the_topics_of_the_queries_decide_what_is_drawn(tmp_path):
    queries = [replace(query, topic=f"on {query.query_id in ('q4', 'q5')}") for query in tiny_benchmark().queries]
    made = replace(tiny_benchmark(), queries=queries)
    board = run_leaderboard(made, ["BM25", "BM25_filter"], output=tmp_path / "out", settings=("given",), **QUICK)
    assert board.about["topics"] == 2
    topics = dict(board.scores.select("query_id", "topic").unique().iter_rows())
    assert topics == {"q4": "on True", "q5": "on True", "q6": "on False", "q7": "on False"}
    assert board.pairs["topics"].unique().to_list() == [2]
    # Two topics have two sign vectors that matter.
    assert board.pairs["p"].min() > 0.4
    assert board.words == ("labels not audited", "too few topics (2)")
    assert not any(note.startswith("No topics") for note in board.notes)
    alone = run_leaderboard(made, ["BM25", "BM25_filter"], output=tmp_path / "out", by="query", **QUICK)
    assert "tests by query" in alone.words
    with pytest.raises(OptionError, match="by topic or by query"):
        run_leaderboard(made, ["BM25"], output=tmp_path / "out", by="concept", **QUICK)
