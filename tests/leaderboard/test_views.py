"""Test sets on a leaderboard: names of views, one table for both, pooling, buckets by what is sought."""

from __future__ import annotations

import base64
import json
import re
import zlib
from dataclasses import replace

import polars as pl
import pytest

from qbench.errors import InputError, OptionError, UnknownNameError
from qbench.leaderboard.external import evaluate
from qbench.leaderboard.run import run_leaderboard
from qbench.leaderboard.views import Group, parse_view_system, pooled_qrels
from qbench.mining.test_set import make_test_set
from qbench.retrieval.types import RunResult
from tests.factories import tiny_benchmark
from tests.mining.pairs_factory import Record, fact_world, pair_table, pairs_folder, record_table

QUICK = {"resamples": 200, "workers": 1}


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    folder = tmp_path_factory.mktemp("views")
    return make_test_set(pairs_folder(folder / "pairs", *fact_world(20)), folder / "ts")


@pytest.mark.parametrize("name", ["C_s-BM25", "C_q-BM25", "C_q-QBM25(alpha=0.5)", "C_s-BM25(k1=2, b=0)"])
def test_names_of_views_parse_back(name):
    assert str(parse_view_system(name)) == name
    assert parse_view_system(f"  {name} ") == parse_view_system(name)


def test_parameters_are_those_of_the_system():
    assert parse_view_system("C_q-BM25(k1=1.5)") == parse_view_system("C_q-BM25")
    with pytest.raises(OptionError, match="no such parameter"):
        parse_view_system("C_q-BM25(size=3)")
    with pytest.raises(UnknownNameError, match="unknown first stage"):
        parse_view_system("C_q-BM52")


def test_descriptions_beat_sentences_where_sentences_mislead(made, tmp_path):
    leaderboard = run_leaderboard(made.folder, output=tmp_path / "out", **QUICK)
    assert leaderboard.measures == ("Exist@1", "Exist@10", "AP_found@10", "nDCG@10")
    assert [(row.ranks, row.entry.label) for row in leaderboard.rows] == [((1, 1), "C_q-BM25"), ((2, 2), "C_s-BM25")]
    assert leaderboard.rows[0].cells["Exist@1"].mean == 1
    # The trap stands before the answer.
    assert leaderboard.rows[1].cells["Exist@1"].mean == 0
    assert leaderboard.rows[1].cells["AP_found@10"].mean == 0.5
    assert leaderboard.win_measure == "nDCG@10"
    assert leaderboard.wins.rows() == [("C_q-BM25", "C_s-BM25", 1.0, True), ("C_s-BM25", "C_q-BM25", 0.0, False)]
    page = (tmp_path / "out" / "leaderboard.md").read_text()
    assert "| 1 | C\\_q-BM25 | - | 100 %\\* |" in page
    data = json.loads((tmp_path / "out" / "leaderboard.json").read_text())
    assert data["benchmark"] == {
        "name": "ts", "digest": made.digest, "split": "test", "queries": 20, "sentences": 40, "descriptions": 80,
    }  # fmt: skip
    assert data["wins"]["shares"][0] == {"winner": "C_q-BM25", "loser": "C_s-BM25", "share": 1.0, "significant": True}
    assert str(tmp_path) not in json.dumps(data)


def test_a_view_alone_has_the_same_figures(made, tmp_path):
    both = run_leaderboard(made, output=tmp_path / "both", **QUICK)
    for view, part in (("C_s", "sentences"), ("C_q", "descriptions")):
        alone = run_leaderboard(
            made.folder / part, ["BM25"], output=tmp_path / part, measures=both.measures, buckets=False, **QUICK
        )
        row = next(row for row in both.rows if row.entry.label == f"{view}-BM25")
        assert alone.rows[0].cells["nDCG@10"].mean == row.cells["nDCG@10"].mean


def test_a_second_call_makes_no_run_again(made, tmp_path, monkeypatch):
    first = run_leaderboard(made, output=tmp_path / "out", **QUICK)
    monkeypatch.setattr("qbench.retrieval.execute.run_group", lambda *_: 1 / 0)
    again = run_leaderboard(made, output=tmp_path / "out", **QUICK)
    assert first.to_dict() == again.to_dict()


def test_systems_with_conditions_run_on_views(made, tmp_path):
    leaderboard = run_leaderboard(made, ["C_q-BM25", "C_q-QBM25"], output=tmp_path / "out", **QUICK)
    assert sorted(row.entry.label for row in leaderboard.rows) == ["C_q-BM25", "C_q-QBM25 [parsed]"]
    assert not leaderboard.problems


def test_a_failing_row_loses_neither_view(made, tmp_path):
    leaderboard = run_leaderboard(made, ["C_s-BM25", "C_q-Run(path=nope.run)"], output=tmp_path / "out", **QUICK)
    assert [(row.entry.label, row.ranks) for row in leaderboard.rows] == [
        ("C_s-BM25", (1, 1)),
        ("C_q-Run(path=nope.run)", None),
    ]
    with pytest.raises(InputError, match="no such run file"):
        run_leaderboard(made, ["C_s-Run(path=no.run)", "C_q-Run(path=nope.run)"], output=tmp_path / "none", **QUICK)


def test_buckets_are_those_of_the_value_sought(made, tmp_path):
    leaderboard = run_leaderboard(made, output=tmp_path / "out", **QUICK)
    assert set(leaderboard.buckets["dimension"]) == {"family", "magnitude"}
    assert set(leaderboard.buckets["bucket"]) == {"currency", "1k-1M"}
    assert not any("Buckets" in note for note in leaderboard.notes)


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"systems": ["BM25"]}, UnknownNameError, "which corpus"),
        ({"systems": ["C_x-BM25"]}, UnknownNameError, "Write C_s-BM25"),
        ({"systems": []}, OptionError, "no system named"),
        ({"qrels": "dl19"}, OptionError, "BEIR"),
        ({"split": "train"}, OptionError, "Use test"),
        ({"pool": 0}, OptionError, "at least one document"),
    ],
)
def test_bad_options_are_told(made, tmp_path, options, error, message):
    with pytest.raises(error, match=message):
        run_leaderboard(made, output=tmp_path / "out", **options, **QUICK)
    assert not (tmp_path / "out").exists()


def test_a_benchmark_has_no_views(tmp_path):
    with pytest.raises(OptionError, match="the folder holds a benchmark"):
        run_leaderboard(tiny_benchmark(), ["C_q-BM25"], output=tmp_path / "out", **QUICK)


def test_a_test_set_without_sentences_has_one_view(tmp_path):
    records = [Record("q::0#0", "sales of Acme", 1234, ""), Record("a::0#0", "turnover of Acme", 1234, "")]
    pairs = pairs_folder(tmp_path / "pairs", record_table(records), pair_table([("q::0#0", "a::0#0")]))
    bare = make_test_set(pairs, tmp_path / "ts")
    leaderboard = run_leaderboard(bare, output=tmp_path / "out", **QUICK)
    assert [row.entry.label for row in leaderboard.rows] == ["C_q-BM25"]
    with pytest.raises(OptionError, match="has no sentences"):
        run_leaderboard(bare, ["C_s-BM25"], output=tmp_path / "out", **QUICK)


def test_run_files_are_scored_on_one_view(made, tmp_path):
    (tmp_path / "a.run").write_text("asked000::0#0 Q0 answer000::0 1 1.0 x\n")
    with pytest.raises(InputError, match="holds two benchmarks"):
        evaluate(made.folder, [tmp_path / "a.run"], **{"resamples": 100})
    leaderboard = evaluate(made.folder / "sentences", [tmp_path / "a.run"], resamples=100, buckets=False)
    assert leaderboard.rows[0].cells["nDCG@10"].mean == pytest.approx(1 / 20)


def crowd(tmp_path):
    """Two queries. Five records have the first's value: BM25 on descriptions finds two of them, on sentences three."""
    records = [
        Record("q::0#0", "sales acme", 1234, "Sales acme were 1234."),
        Record("a::0#0", "turnover acme", 1234, "Turnover acme: 1234."),
        Record("b::0#0", "earnings", 1234, "For acme earnings: 1234."),
        Record("c::0#0", "acme", 1234, "It: 1234. Acme."),
        Record("d::0#0", "rain", 1234, "Rain, 1234."),
        Record("e::0#0", "snow", 1234, "Snow, 1234."),
        Record("r::0#0", "income bolt", 5678, "Income bolt was 5678."),
        Record("s::0#0", "gain", 5678, "The gain was 5678!"),
        Record("t::0#0", "wind", 99, "Wind bolt: 99."),
    ]
    pairs = pair_table([("q::0#0", "a::0#0"), ("r::0#0", "s::0#0")])
    return make_test_set(pairs_folder(tmp_path / "pairs", record_table(records), pairs), tmp_path / "ts")


def test_pooling_counts_what_some_system_found(tmp_path):
    found = crowd(tmp_path)
    whole = run_leaderboard(found, output=tmp_path / "out", measures=["R@100"], **QUICK)
    recall = {row.entry.label: row.cells["R@100"].mean for row in whole.rows}
    assert recall == {"C_q-BM25": pytest.approx(2 / 5 / 2), "C_s-BM25": pytest.approx(3 / 5 / 2)}
    pooled = run_leaderboard(found, output=tmp_path / "out", measures=["R@100"], pool=10, **QUICK)
    # Sentences found b, whose record counts for descriptions too; nobody found d and e, or anything for the second.
    recall = {row.entry.label: row.cells["R@100"].mean for row in pooled.rows}
    assert recall == {"C_q-BM25": pytest.approx(2 / 3), "C_s-BM25": 1}
    assert pooled.scores["query_id"].unique().to_list() == ["q::0#0"]
    assert any("first 10 (3 of 6 C_s, 3 of 6 C_q)" in note for note in pooled.notes)
    assert "1 queries for which no system found anything relevant are left out." in pooled.notes
    assert pooled.about["settings"]["pool"] == 10
    assert pooled.about["benchmark"]["queries"] == 1
    # The first of each run alone: only one record.
    alone = run_leaderboard(found, ["C_q-BM25"], output=tmp_path / "out", measures=["R@100"], pool=1, **QUICK)
    assert alone.rows[0].cells["R@100"].mean == 1


def test_a_record_counts_if_it_was_found_and_not_its_neighbour_in_the_sentence():
    benchmark = tiny_benchmark()
    evidence = pl.DataFrame({"doc_id": ["d01", "d02", "d03"], "evidence": ["s1", "s1", "s2"]})
    qrels = pl.DataFrame({"query_id": ["q"] * 3, "doc_id": ["d01", "d02", "d03"], "grade": [1, 1, 1]})
    records = Group(replace(benchmark, qrels=qrels), [], "C_q-", lambda: evidence)
    pairs = evidence.select(doc_id="evidence", evidence="evidence").unique(maintain_order=True)
    sentences = Group(
        replace(benchmark, qrels=qrels[:2].with_columns(doc_id=pl.Series(["s1", "s2"]))), [], "C_s-", lambda: pairs
    )

    def found(*docs):
        run = pl.DataFrame({"query_id": ["q"] * len(docs), "doc_id": docs, "rank": range(1, len(docs) + 1)})
        return [RunResult("BM25", "none", run)]

    (kept,), (lost,) = pooled_qrels([(records, found("d01"))], 10)
    assert (kept["doc_id"].to_list(), lost["doc_id"].to_list()) == (["d01"], ["d02", "d03"])
    (kept, _), (lost, _) = pooled_qrels([(records, found("d01")), (sentences, found("s2"))], 10)
    assert (kept["doc_id"].to_list(), lost["doc_id"].to_list()) == (["d01", "d03"], ["d02"])
    # What is found without being relevant brings nothing: else a query had relevant sentences and no relevant record.
    fewer = replace(records, benchmark=replace(benchmark, qrels=qrels.filter(doc_id="d01")))
    (of_records, of_sentences), _ = pooled_qrels([(fewer, found("d02")), (sentences, found("s9"))], 10)
    assert of_records.is_empty()
    assert of_sentences.is_empty()


def test_any_benchmark_can_be_pooled(tmp_path):
    leaderboard = run_leaderboard(
        tiny_benchmark(), ["BM25"], output=tmp_path / "out", measures=["R@100"], pool=10, settings=["parsed"], **QUICK
    )
    assert leaderboard.rows[0].cells["R@100"].mean == 1
    assert isinstance(leaderboard.pairs, pl.DataFrame)


def test_a_pool_without_anything_relevant_is_told(made, tmp_path):
    with pytest.raises(OptionError, match="no system found a relevant document"):
        run_leaderboard(made, ["C_s-BM25"], output=tmp_path / "out", pool=1, **QUICK)


def test_a_page_shows_sentences_and_descriptions_side_by_side(made, tmp_path):
    leaderboard = run_leaderboard(made, output=tmp_path, resamples=100, evidence=True)
    page = leaderboard.to_html()
    packed = re.search(r'id="block-documents">(.*?)</script>', page)[1]
    block = json.loads(zlib.decompress(base64.b64decode(packed)))
    texts = {view: set(made.views[view].corpus["text"].to_list()) for view in ("C_s", "C_q")}
    order = [row.entry.label.partition("-")[0] for row in leaderboard.rows]
    assert sorted(order) == ["C_q", "C_s"]
    for _, docs, _, places, _, _ in block["shown"]:
        for view, found in zip(order, places, strict=True):
            assert {block["docs"][docs[place]][2] for place in found} <= texts[view]
