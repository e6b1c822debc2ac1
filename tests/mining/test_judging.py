"""Pooling and judging: what is in a sheet, what comes back from it, and what is wrong with it."""

from __future__ import annotations

import csv
import json
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from qbench.annotation.options import ImportOptions
from qbench.errors import InputError, OptionError
from qbench.leaderboard.run import run_leaderboard
from qbench.mining.judging import COLUMNS, judge, pool_sheet
from qbench.mining.options import PoolOptions
from qbench.mining.test_set import make_test_set
from qbench.sheets import shielded, unshielded
from tests.mining.pairs_factory import Record, fact_world, pair_table, pairs_folder, record_table

QUICK = {"resamples": 100, "buckets": False}


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    folder = tmp_path_factory.mktemp("judging")
    test_set = make_test_set(pairs_folder(folder / "pairs", *fact_world(12)), folder / "ts")
    run_leaderboard(test_set, output=folder / "board", **QUICK)
    return test_set


@pytest.fixture
def board(made):
    return made.folder.parent / "board"


def rows_of(path):
    with path.open(encoding="utf-8-sig", newline="") as stream:
        return list(csv.DictReader(stream))


def write(path, rows, **options):
    with path.open("w", encoding="utf-8", newline="") as stream:
        writer = csv.DictWriter(stream, ["query_id", "doc_id", "judgment"], extrasaction="ignore", **options)
        writer.writeheader()
        writer.writerows(rows)
    return path


def sheet(path, *judgments):
    return write(path, [dict(zip(("query_id", "doc_id", "judgment"), row, strict=True)) for row in judgments])


Q0, Q1 = "asked000::0#0", "asked001::0#0"
A0, A1, T0 = "answer000::0#0", "answer001::0#0", "trap000::0#0"


def test_a_sheet_has_all_that_agrees_and_some_of_the_rest(made, board, tmp_path):
    counts = pool_sheet(made, [board], tmp_path / "s.csv", PoolOptions(queries=5, irrelevant=3))
    rows = rows_of(tmp_path / "s.csv")
    assert tuple(rows[0]) == COLUMNS
    asked = dict.fromkeys(row["query_id"] for row in rows)
    assert len(asked) == counts["queries"] == 5
    assert list(asked) != sorted(asked)
    for query_id in asked:
        mine = [row for row in rows if row["query_id"] == query_id]
        number = query_id[5:8]
        assert "automatic" not in mine[0]  # who judges is not told what the values say
        assert f"answer{number}::0#0" in [row["doc_id"] for row in mine]
        assert len(mine) == 4
        assert all(row["judgment"] == "" for row in mine)
    assert counts["rows"] == len(rows) == 20
    orders = [[row["doc_id"] for row in rows if row["query_id"] == query_id] for query_id in asked]
    assert any(order != sorted(order) for order in orders), "the order of ids would show what agrees"


def test_a_sheet_shows_what_a_judge_needs(made, board, tmp_path):
    pool_sheet(made, [board], tmp_path / "s.csv")
    row = next(row for row in rows_of(tmp_path / "s.csv") if (row["query_id"], row["doc_id"]) == (Q0, A0))
    assert row["query"] == "total revenue firmaa"
    assert row["query_value"] == row["value"] == "1234 dollar"
    assert row["query_sentence"] == "total revenue firmaa was 1234; weather 0 was 50003"
    assert row["description"] == "annual revenue firmaa"
    assert row["sentence"].startswith("annual revenue firmaa was 1234; harvest")


def test_a_sentence_brings_all_its_records(made, tmp_path):
    run_leaderboard(made, ["C_s-BM25"], output=tmp_path / "board", **QUICK)
    pool_sheet(made, [tmp_path / "board"], tmp_path / "s.csv", PoolOptions(depth=2, queries=99, irrelevant=99))
    rows = [row["doc_id"] for row in rows_of(tmp_path / "s.csv") if row["query_id"] == Q0]
    assert sorted(rows) == [A0, "answer000::0#1", T0, "trap000::0#1"]


def test_depth_and_seed_are_obeyed(made, board, tmp_path):
    # Sentences alone find a trap first, so that only descriptions bring the answer at depth 1.
    counts = pool_sheet(made, [board], tmp_path / "one.csv", PoolOptions(depth=1, irrelevant=99))
    assert counts == {
        "queries": 12,
        "rows": 36,
        "automatically_relevant": 12,
        "automatically_irrelevant": 24,
        "queries_without_a_relevant_result": 0,
    }
    again = [tmp_path / f"{name}.csv" for name in ("a", "b", "c")]
    for path, seed in zip(again, (1, 1, 2), strict=True):
        pool_sheet(made, [board], path, PoolOptions(seed=seed, queries=4))
    assert again[0].read_bytes() == again[1].read_bytes() != again[2].read_bytes()


def test_a_sheet_is_never_written_over(made, board, tmp_path):
    (tmp_path / "s.csv").write_text("hours of work")
    with pytest.raises(OptionError, match="may hold judgments"):
        pool_sheet(made, [board], tmp_path / "s.csv")
    assert (tmp_path / "s.csv").read_text() == "hours of work"


@pytest.mark.parametrize("options", [{"depth": 0}, {"queries": 0}, {"irrelevant": -1}])
def test_numbers_that_make_no_sense(made, board, tmp_path, options):
    with pytest.raises(OptionError, match="at least"):
        pool_sheet(made, [board], tmp_path / "s.csv", PoolOptions(**options))


def test_what_cannot_be_pooled_is_told(made, board, tmp_path):
    with pytest.raises(InputError, match="no finished run on this test set"):
        pool_sheet(made, [tmp_path], tmp_path / "s.csv")
    with pytest.raises(OptionError, match="no leaderboard"):
        pool_sheet(made, [], tmp_path / "s.csv")
    judged = judge(made, [sheet(tmp_path / "a.csv", (Q0, A0, 1))], tmp_path / "judged")
    with pytest.raises(OptionError, match="judged already"):
        pool_sheet(judged, [board], tmp_path / "s.csv")


@given(st.text(st.sampled_from("=+-@'\ta1 "), max_size=5))
def test_no_cell_is_a_formula_and_every_cell_comes_back(text):
    assert not shielded(text).startswith(("=", "+", "-", "@", "\t"))
    assert unshielded(shielded(text)) == text


def test_ids_that_look_like_formulas_come_back(tmp_path):
    records = [
        Record("=q::0#0", "sales of Acme", 1234, "=cmd|' /C calc'!A0 sales of Acme were 1234"),
        Record("-a::0#0", "turnover of Acme", 1234, "Turnover of\nAcme: 1234."),
    ]
    pairs = pairs_folder(tmp_path / "pairs", record_table(records), pair_table([("=q::0#0", "-a::0#0")]))
    made = make_test_set(pairs, tmp_path / "ts")
    run_leaderboard(made, output=tmp_path / "board", **QUICK)
    pool_sheet(made, [tmp_path / "board"], tmp_path / "s.csv")
    rows = rows_of(tmp_path / "s.csv")
    assert all(not cell.startswith(("=", "-")) for row in rows for cell in row.values())
    assert rows[0]["sentence"] == "Turnover of Acme: 1234."
    judged = judge(made, [write(tmp_path / "j.csv", [{**row, "judgment": "1"} for row in rows])], tmp_path / "out")
    assert judged.views["C_q"].qrels.rows() == [("=q::0#0", "-a::0#0", 1)]


def test_judgments_become_a_test_set(made, tmp_path):
    path = sheet(
        tmp_path / "a.csv", (Q1, A1, "2"), (Q0, A0, "0"), (Q0, T0, "1"), (Q0, "trap000::0#1", " 0 "), (Q1, T0, "")
    )
    judged = judge(made, [path], tmp_path / "out")
    assert judged.manual
    # In the order of queries and records, not of the sheet.
    expected = [(Q0, A0, 0), (Q0, T0, 1), (Q0, "trap000::0#1", 0), (Q1, A1, 2)]
    assert judged.views["C_q"].qrels.rows() == expected
    # answer000's second record was not judged: nobody knows of that sentence.
    assert judged.views["C_s"].qrels.rows() == [(Q0, "trap000::0", 1), (Q1, "answer001::0", 2)]
    assert [query.query_id for query in judged.views["C_s"].queries] == [Q0, Q1]
    assert judged.records().equals(made.records())
    assert judged.counts["rows_not_judged"] == 1
    board = run_leaderboard(judged, output=tmp_path / "board", **QUICK)
    assert any(
        "C_s-BM25: " in note and "% of the documents in the top 10 are not judged" in note for note in board.notes
    )


def test_a_sentence_whose_records_are_all_irrelevant_is_judged(made, tmp_path):
    path = sheet(tmp_path / "a.csv", (Q0, A0, 1), (Q0, T0, 0), (Q0, "trap000::0#1", 0))
    assert judge(made, [path], tmp_path / "out").views["C_s"].qrels.rows() == [
        (Q0, "answer000::0", 1),
        (Q0, "trap000::0", 0),
    ]


def test_a_query_without_a_relevant_record_is_left_out_and_counted(made, tmp_path):
    judged = judge(made, [sheet(tmp_path / "a.csv", (Q0, A0, 1), (Q1, A1, 0))], tmp_path / "out")
    assert judged.queries()["description_id"].to_list() == [Q0]
    assert judged.counts["judged_queries_without_a_relevant_record"] == 1
    with pytest.raises(InputError, match="no judgment is relevant"):
        judge(made, [sheet(tmp_path / "b.csv", (Q0, A0, 0))], tmp_path / "none")


def test_the_page_shows_records_and_its_answers_are_read(made, board, tmp_path):
    pool_sheet(made, [board], tmp_path / "s.csv", PoolOptions(queries=3))
    text = (tmp_path / "s.html").read_text(encoding="utf-8")
    data = json.loads(re.search(r'<script[^>]*id="data"[^>]*>(.*?)</script>', text, re.S)[1])
    assert data["scale"] == ["not relevant", "relevant"]
    asked = {query["id"]: query for query in data["queries"]}
    assert len(asked) == 3
    rows = rows_of(tmp_path / "s.csv")
    assert [row["doc_id"] for row in rows if row["query_id"] == rows[0]["query_id"]] == [
        item["id"] for item in asked[rows[0]["query_id"]]["items"]
    ]
    query = asked[rows[0]["query_id"]]
    assert query["text"] == rows[0]["query"]
    assert query["asks"] == [rows[0]["query_value"], rows[0]["query_sentence"]]
    answers = [{"query_id": Q0, "doc_id": A0, "grade": 1}, {"query_id": Q0, "doc_id": T0, "grade": "?"}]
    saved = {"qbench": "answers", "sheet": data["sheet"], "annotator": "Anna", "answers": answers}
    (tmp_path / "anna.json").write_text(json.dumps(saved))
    judged = judge(made, [tmp_path / "anna.json"], tmp_path / "out")
    assert judged.views["C_q"].qrels.rows() == [(Q0, A0, 1)]
    (tmp_path / "anna.json").write_text(json.dumps({**saved, "sheet": "other"}))
    with pytest.raises(InputError, match="answers to another sheet"):
        judge(made, [tmp_path / "anna.json"], tmp_path / "none")


def test_a_third_person_resolves_disagreements(made, tmp_path):
    files = [sheet(tmp_path / f"{name}.csv", (Q0, A0, 1), (Q0, T0, grade)) for name, grade in (("a", 0), ("b", 1))]
    with pytest.raises(InputError, match="--adjudicated"):
        judge(made, files, tmp_path / "out")
    (table,) = tmp_path.glob("out.disagreements-*.csv")
    (row,) = rows_of(table)
    assert (row["query_id"], row["doc_id"], row["judgment"], row["by a"], row["by b"]) == (Q0, T0, "", "0", "1")
    settled = write(tmp_path / "c.csv", [{**row, "judgment": "0"}])
    judged = judge(made, files, tmp_path / "out", ImportOptions(adjudicated=settled, names=True))
    assert judged.views["C_q"].qrels.rows() == [(Q0, A0, 1), (Q0, T0, 0)]


def test_sheets_may_share_the_work(made, tmp_path):
    sheets = [sheet(tmp_path / "a.csv", (Q0, A0, 1), (Q1, A1, "")), sheet(tmp_path / "b.csv", (Q1, A1, 1))]
    judged = judge(made, sheets, tmp_path / "out")
    assert judged.counts["judgments"] == 2
    assert judged.counts["agreement"] == {}


def test_two_who_agree_are_measured(made, tmp_path):
    rows = [(Q0, A0, 1), (Q0, T0, 0), (Q1, A1, 1)]
    judged = judge(made, [sheet(tmp_path / "a.csv", *rows), sheet(tmp_path / "b.csv", *rows[:2])], tmp_path / "out")
    figures = {"judged_by_both": 2, "equal": 1.0, "kappa": 1.0}
    assert judged.counts["agreement"] == {"annotator 1 and annotator 2": figures}


@pytest.mark.parametrize(
    ("resolve", "order", "grade"),
    [("first", "ab", 1), ("first", "ba", 0), ("lowest", "ab", 0), ("highest", "ba", 1)],
)
def test_two_who_differ_are_told_or_resolved(made, tmp_path, resolve, order, grade):
    sheets = {
        "a": sheet(tmp_path / "a.csv", (Q1, A1, 1), (Q0, A0, 1), (Q0, T0, 1), (Q1, T0, 0)),
        "b": sheet(tmp_path / "b.csv", (Q1, A1, 1), (Q0, A0, 1), (Q0, T0, 0), (Q1, T0, 0)),
    }
    with pytest.raises(InputError) as told:
        judge(made, [sheets["a"], sheets["b"]], tmp_path / "out")
    assert f"1 items are graded differently: {Q0}, {T0}: 1 (a.csv:4) against 0 (b.csv:4)" in str(told.value)
    assert "kappa of a and b: 0.5" in str(told.value)
    judged = judge(made, [sheets[name] for name in order], tmp_path / "out", ImportOptions(resolve=resolve))
    assert judged.views["C_q"].qrels.filter(query_id=Q0, doc_id=T0)["grade"].to_list() == [grade]
    assert judged.counts["judged_differently"] == 1


@pytest.mark.parametrize("delimiter", [";", "\t"])
def test_sheets_as_spreadsheets_save_them(made, tmp_path, delimiter):
    path = write(tmp_path / "a.csv", [{"query_id": Q0, "doc_id": A0, "judgment": "1.0"}], delimiter=delimiter)
    path.write_bytes(b"\xef\xbb\xbf" + path.read_bytes())
    assert judge(made, [path], tmp_path / "out").views["C_q"].qrels.rows() == [(Q0, A0, 1)]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (f"query_id,doc_id,judgment\n{Q0},{A0},1\n{Q1},{A1},yes\n", r"a\.csv:3: not a grade of this sheet"),
        (f"query_id,doc_id,judgment\n{Q0},{A0},0.5\n", r"a\.csv:2: not a grade of this sheet \(found '0\.5'\)"),
        (f"query_id,doc_id,judgment\n{Q0},{A0},-1\n", r"a\.csv:2: not a grade of this sheet"),
        (f"query_id,doc_id,judgment\n{Q0},{A0},nan\n", r"a\.csv:2: not a grade of this sheet"),
        (f"query_id,doc_id,judgment\n{Q0},{A0},1e9\n", r"a\.csv:2: not a grade of this sheet"),
        (
            f"query_id,doc_id,judgment\nghost,{A0},1\n",
            r"a\.csv:2: this item is not in the sheet \(found \('ghost', ",
        ),
        (f"query_id,doc_id,judgment\n{Q0},{Q0},1\n", r"a\.csv:2: this item is not in the sheet"),
        (f"query_id,doc_id,judgment\n{Q0},{A0},1\n{Q0},{A0},0\n", r"a\.csv:3: two answers for one item, 1 and 0"),
        (f"query_id,doc_id,judgment\n{Q0},{A0}\n", r"a\.csv:2: the row has 2 cells, and the header 3"),
        (f"query_id,doc_id,judgment\n{Q0},{A0},1,2\n", r"a\.csv:2: the row has 4 cells, and the header 3"),
        (f'query_id,doc_id,judgment\n"{Q0},{A0},1\n', r"a\.csv:2: not a readable CSV file"),
        ("query,judgment\na,b\n", r"a\.csv:1: a sheet has the columns query_id, doc_id, judgment"),
        ("", r"a\.csv: the sheet is empty"),
        (f"query_id,doc_id,judgment\n{Q0},{A0},\n", r"a\.csv: nothing is judged in this file"),
    ],
)
def test_what_is_wrong_with_a_sheet_is_named(made, tmp_path, text, message):
    (tmp_path / "a.csv").write_text(text)
    with pytest.raises(InputError, match=message):
        judge(made, [tmp_path / "a.csv"], tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_a_judged_test_set_is_the_same_for_the_same_sheets(made, tmp_path):
    path = sheet(tmp_path / "a.csv", (Q0, A0, 1))
    first = judge(made, [path], tmp_path / "out")
    before = (first.folder / "manifest.json").read_bytes()
    assert judge(made, [path], tmp_path / "out").digest == first.digest
    assert judge(made, [path], tmp_path / "other" / "out").folder.joinpath("manifest.json").read_bytes() == before
    with pytest.raises(OptionError, match="--overwrite"):
        judge(made, [sheet(tmp_path / "b.csv", (Q0, A0, 2))], tmp_path / "out")
    with pytest.raises(OptionError, match="no file of answers"):
        judge(made, [], tmp_path / "out")
    with pytest.raises(OptionError, match="resolve is one of"):
        ImportOptions(resolve="vote")
