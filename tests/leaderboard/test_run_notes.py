"""What is said of runs under a table."""

import polars as pl

from qbench.leaderboard.run_notes import crowded


def rows(names, **columns):
    table = pl.DataFrame([tuple(name.split("/")) for name in names], schema=["query_id", "doc_id"], orient="row")
    return table.with_columns(**columns)


def test_queries_whose_ranking_undecided_documents_fill():
    documents = [f"{query}/d{number}" for query in ("full", "fair") for number in range(12)] + ["short/d0"]
    run = rows(documents, rank=1)
    undecided = [f"full/d{number}" for number in range(9)] + ["fair/d0", "fair/d1", "short/d0"]
    qrels = rows(undecided, grade=pl.lit(-1, pl.Int8))
    (note,) = crowded(run, qrels, ["full", "fair", "short"], 12)
    assert note.startswith("for 1 of 3 queries undecided documents fill the ranking")
    assert crowded(run, qrels.with_columns(grade=pl.lit(0, pl.Int8)), ["full", "fair", "short"], 12) == []
    assert crowded(run, qrels, ["fair", "short"], 12) == []
    assert crowded(run, qrels, ["full", "fair", "short"], 13) == []  # nothing was cut
