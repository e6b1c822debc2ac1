"""Run files of other tools: what is scored, what is ignored, what is said about it."""

from __future__ import annotations

import gzip

import polars as pl
import pytest

from qbench.benchmark.disk import write_benchmark
from qbench.errors import InputError, OptionError, UnknownNameError
from qbench.leaderboard.external import evaluate
from tests.factories import tiny_benchmark

QUICK = {"resamples": 100, "measures": ("RR@10", "P@1")}


@pytest.fixture
def files(tmp_path):
    """Judgments of three queries (one of them without a relevant document), and two runs."""
    (tmp_path / "judged.txt").write_text("q1 0 a 1\nq1 0 b 0\nq2 0 c 2\nnone 0 a 0\n")
    good = "q1 Q0 a 1 9 x\nq1 Q0 b 2 8 x\nq2 Q0 c 1 3 x\nother Q0 z 1 1 x\n"
    (tmp_path / "good.run").write_text(good)
    with gzip.open(tmp_path / "poor.trec.gz", "wt") as stream:
        stream.write("q1 Q0 new 1 9 x\nq1 Q0 a 2 8 x\n")
    return tmp_path


def test_scores_notes_and_names(files):
    leaderboard = evaluate(files / "judged.txt", [files / "good.run", files / "poor.trec.gz"], **QUICK)
    assert [row.entry.label for row in leaderboard.rows] == ["good", "poor"]
    means = {row.entry.label: row.cells["RR@10"].mean for row in leaderboard.rows}
    assert means == {"good": 1.0, "poor": 0.25}
    assert leaderboard.notes == (
        "1 queries without a relevant document are left out.",
        "good: 1 queries of the run are not scored (not judged, or not here).",
        "poor: 1 judged queries are not in the run and score 0.",
        "poor: 50.0 % of the documents in the top 10 are not judged; they count as not relevant.",
        "No topics are named: each query counts as one of its own.",
        "With 1 pairs of systems and 2 topics no difference can be significant after Holm.",
    )
    assert {row.entry.conditions for row in leaderboard.rows} == {"unknown"}
    page = leaderboard.to_markdown()
    assert "whether conditions were given or parsed is not known" in page
    assert "## Cost" not in page
    assert "## By" not in page


def test_scores_decide_the_order_not_the_rank_column(files):
    (files / "upside.run").write_text("q1 Q0 b 1 1 x\nq1 Q0 a 2 5 x\n")
    leaderboard = evaluate(files / "judged.txt", [files / "upside.run"], **QUICK)
    assert leaderboard.rows[0].cells["P@1"].mean == 0.5


def test_a_benchmark_gives_its_part_and_buckets(tmp_path):
    write_benchmark(tiny_benchmark(), tmp_path / "bench")
    rows = [("q4", "d03", 2.0), ("q5", "d09", 1.0), ("q1", "d01", 1.0)]
    run = pl.DataFrame(rows, schema=["query_id", "doc_id", "score"], orient="row")
    run.write_parquet(tmp_path / "mine.parquet")
    leaderboard = evaluate(tmp_path / "bench", [tmp_path / "mine.parquet"], names=["My run"], **QUICK)
    assert leaderboard.name == "bench"
    assert leaderboard.scores["query_id"].unique().sort().to_list() == ["q4", "q5", "q6", "q7"]
    assert leaderboard.rows[0].cells["P@1"].mean == 0.5
    assert "My run: 1 queries of the run are not scored (not judged, or not here)." in leaderboard.notes
    pl.concat([run, run.with_columns(doc_id=pl.lit("elsewhere"))]).write_parquet(tmp_path / "more.parquet")
    mixed = evaluate(tmp_path / "bench", [tmp_path / "more.parquet"], **QUICK)
    assert "more: 1 of its documents are not in the benchmark, such as elsewhere." in mixed.notes
    run.with_columns(doc_id=pl.lit("elsewhere")).write_parquet(tmp_path / "other.parquet")
    with pytest.raises(InputError, match="no document of this run is in the benchmark"):
        evaluate(tmp_path / "bench", [tmp_path / "other.parquet"], **QUICK)
    over = leaderboard.buckets.filter(dimension="comparator", bucket=">", measure="P@1")
    assert over.select("mean", "queries", "topics").rows() == [(None, 1, 1)]
    train = evaluate(tmp_path / "bench", [tmp_path / "mine.parquet"], split="train", buckets=False, **QUICK)
    assert train.rows[0].cells["P@1"].mean == 0.5
    assert train.buckets.is_empty()


@pytest.mark.parametrize(
    ("runs", "options", "error", "message"),
    [
        ([], {}, OptionError, "no run file"),
        (["good.run", "good.run"], {}, OptionError, "two runs of one name"),
        (["good.run"], {"names": ["a", "b"]}, OptionError, "one name for each run"),
        (["good.run"], {"measures": ["x"]}, UnknownNameError, "unknown measure"),
        (["good.run"], {"resamples": 1}, OptionError, "resamples"),
        (["good.run"], {"qrels": "dl19"}, OptionError, "BEIR"),
        (["missing.run"], {}, InputError, "missing.run"),
        (["foreign.run"], {}, InputError, "no query of this run"),
        (["empty.run"], {}, InputError, "the file is empty"),
    ],
)
def test_what_cannot_be_scored_is_told(files, runs, options, error, message):
    (files / "foreign.run").write_text("elsewhere Q0 a 1 1 x\n")
    (files / "empty.run").write_text("")
    with pytest.raises(error, match=message):
        evaluate(files / "judged.txt", [files / run for run in runs], **{**QUICK, **options})


def test_judgments_without_a_relevant_document_are_an_error(files):
    (files / "zero.txt").write_text("q1 0 a 0\n")
    with pytest.raises(InputError, match="no query has a relevant document"):
        evaluate(files / "zero.txt", [files / "good.run"], **QUICK)
