"""Filled sheets: what comes of them, and what is wrong with them."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from qbench.annotation.judged import import_answers
from qbench.annotation.options import ImportOptions, SheetOptions
from qbench.annotation.sheet import export_sheet
from qbench.benchmark.check import check
from qbench.benchmark.disk import open_benchmark
from qbench.benchmark.mask import mask_benchmark
from qbench.errors import InputError, OptionError
from qbench.leaderboard.run import run_leaderboard
from tests.annotation.conftest import GRADES, fill, page_file, rows_of

PAIRS = [("q4", "d01"), ("q4", "d03"), ("q5", "d09"), ("q5", "d10"), ("q6", "d08"), ("q7", "d02")]


def complete(sheet, change=None):
    grades = {(item.query_id, item.doc_id): GRADES.get((item.query_id, item.doc_id), 0) for item in sheet.items}
    return [(*pair, grade) for pair, grade in {**grades, **(change or {})}.items()]


def test_one_annotator_makes_a_benchmark(bench, sheet, tmp_path):
    made = import_answers(bench, sheet, [fill(sheet, tmp_path / "anna.csv")], tmp_path / "judged")
    judged = open_benchmark(tmp_path / "judged")
    assert judged.manual
    assert judged.qrels.rows() == [
        ("q4", "d01", 0), ("q4", "d03", 2), ("q4", "d12", 0), ("q5", "d09", 2), ("q5", "d10", 0),
        ("q6", "d05", 0), ("q6", "d08", 2), ("q7", "d02", 1), ("q7", "d04", 0),
    ]  # fmt: skip
    assert [query.query_id for query in judged.queries] == ["q4", "q5", "q6", "q7"]
    assert judged.corpus.equals(bench.corpus)
    assert judged.quantities.equals(bench.quantities)
    assert (judged.samples.height, judged.triples.height) == (0, 0)
    assert made.counts["annotators"] == {"anna": {"judged": 9, "cannot_tell": 0, "left_blank": 0}}
    assert made.counts["agreement"] == {}
    assert made.counts["relevant_by_source"] == {"look-up and runs": 2, "look-up alone": 2, "runs alone": 0}
    assert not [finding for finding in check(judged) if finding.severity == "error"]
    assert "People judged the candidates" in (tmp_path / "judged" / "README.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("names", [False, True])
def test_annotators_are_numbered_unless_names_are_asked_for(bench, sheet, tmp_path, names):
    files = [
        fill(sheet, tmp_path / "Anna-Zyx.csv"),
        page_file(sheet, tmp_path / "by-Ben-Zyx.json", complete(sheet, {("q4", "d01"): 1}), "Benno Zyx"),
    ]
    with pytest.raises(InputError):
        import_answers(bench, sheet, files, tmp_path / "judged")
    (table,) = tmp_path.glob("judged.disagreements-*.csv")
    filled = table.read_text(encoding="utf-8-sig").replace(",,,", ",2,,")
    carla = tmp_path / "Carla-Zyx.csv"
    carla.write_text(filled, encoding="utf-8")
    made = import_answers(bench, sheet, files, tmp_path / "judged", ImportOptions(adjudicated=carla, names=names))
    assert list(made.counts["annotators"]) == ["Anna-Zyx", "Benno Zyx"]
    told = open_benchmark(tmp_path / "judged").params
    numbered = ["annotator 1", "annotator 2"]
    assert list(told["counts"]["annotators"]) == (["Anna-Zyx", "Benno Zyx"] if names else numbered)
    assert list(told["counts"]["agreement"]) == ["Anna-Zyx and Benno Zyx" if names else "annotator 1 and annotator 2"]
    written = b"".join(path.read_bytes() for path in (tmp_path / "judged").iterdir())
    assert (b"Zyx" in written) == names


def test_the_page_and_the_table_say_the_same(bench, sheet, tmp_path):
    one = import_answers(bench, sheet, [fill(sheet, tmp_path / "a.csv")], tmp_path / "one")
    two = import_answers(bench, sheet, [page_file(sheet, tmp_path / "a.json", complete(sheet))], tmp_path / "two")
    assert one.benchmark.qrels.equals(two.benchmark.qrels)
    again = import_answers(bench, sheet, [tmp_path / "a.csv"], tmp_path / "again")
    for name in ("qrels.parquet", "queries.parquet"):
        assert (tmp_path / "one" / name).read_bytes() == (tmp_path / "again" / name).read_bytes()
    assert again.benchmark.digest == one.benchmark.digest != two.benchmark.digest


def test_what_is_blank_or_unsure_has_no_judgment(bench, sheet, tmp_path):
    path = fill(sheet, tmp_path / "a.csv", {("q4", "d01"): "?", ("q5", "d10"): "", ("q6", "d08"): " 1,0 "})
    made = import_answers(bench, sheet, [path], tmp_path / "judged")
    grades = {(q, d): g for q, d, g in made.benchmark.qrels.rows()}
    assert ("q4", "d01") not in grades
    assert ("q5", "d10") not in grades
    assert grades["q6", "d08"] == 1
    assert made.counts["annotators"]["a"] == {"judged": 7, "cannot_tell": 1, "left_blank": 1}
    assert made.counts["items_without_a_judgment"] == 2


def test_queries_without_anything_relevant_are_left_out_and_counted(bench, sheet, tmp_path):
    path = fill(sheet, tmp_path / "a.csv", {("q4", "d03"): 0})
    made = import_answers(bench, sheet, [path], tmp_path / "judged")
    assert "q4" not in [query.query_id for query in made.benchmark.queries]
    assert made.counts["judged_queries_without_a_relevant_document"] == 1
    with pytest.raises(InputError, match="no answer is relevant"):
        import_answers(bench, sheet, [fill(sheet, tmp_path / "b.csv", dict.fromkeys(GRADES, 0))], tmp_path / "none")
    assert not (tmp_path / "none").exists()


def test_two_who_differ_are_measured_and_have_to_settle(bench, sheet, tmp_path):
    anna = fill(sheet, tmp_path / "anna.csv")
    ben = page_file(
        sheet, tmp_path / "x.json", [*complete(sheet, {("q4", "d01"): 1}), ("q4", "d03", 2, "sure")], "Ben  B"
    )
    out = tmp_path / "judged"
    with pytest.raises(InputError) as caught:
        import_answers(bench, sheet, [anna, ben], out)
    message = str(caught.value)
    assert "1 items are graded differently: q4, d01: 0 (anna.csv:" in message
    assert "against 1 (x.json). Cohen's kappa of anna and Ben B: 0.8" in message
    assert "--adjudicated" in message
    assert not out.exists()
    (table,) = tmp_path.glob("judged.disagreements-*.csv")
    (row,) = rows_of(table)
    assert (row["doc_id"], row["by anna"], row["by Ben B"], row["grade"]) == ("d01", "0", "1", "")
    (screen,) = tmp_path.glob("judged.disagreements-*.html")
    assert "Ben B: 1" in screen.read_text(encoding="utf-8")

    for resolve, grade in (("first", 0), ("lowest", 0), ("highest", 1)):
        made = import_answers(bench, sheet, [anna, ben], tmp_path / resolve, ImportOptions(resolve=resolve))
        assert {(q, d): g for q, d, g in made.benchmark.qrels.rows()}["q4", "d01"] == grade
        assert made.counts["graded_differently"] == 1
        figures = made.counts["agreement"]["anna and Ben B"]
        assert figures["judged_by_both"] == 9
        assert figures["equal"] == pytest.approx(8 / 9, abs=1e-4)


def test_a_third_settles_it(bench, sheet, tmp_path):
    one = fill(sheet, tmp_path / "one.csv")
    two = fill(sheet, tmp_path / "two.csv", {("q4", "d01"): 1, ("q5", "d10"): 2})
    with pytest.raises(InputError, match="2 items are graded differently"):
        import_answers(bench, sheet, [one, two], tmp_path / "judged")
    (table,) = tmp_path.glob("judged.disagreements-*.csv")
    text = table.read_text(encoding="utf-8-sig")
    filled = text.splitlines()
    filled[1] = filled[1].replace(",,,", ",2,,")
    table.write_text("\n".join(filled) + "\n", encoding="utf-8")
    kept = table.read_bytes()
    with pytest.raises(InputError, match=r"1 items are graded differently and not settled in judged\.disagreements"):
        import_answers(bench, sheet, [one, two], tmp_path / "judged", ImportOptions(adjudicated=table))
    assert table.read_bytes() == kept, "what was settled is never written over"
    table.write_text(text.replace(",,,", ",2,,"), encoding="utf-8")
    made = import_answers(bench, sheet, [one, two], tmp_path / "judged", ImportOptions(adjudicated=table))
    grades = {(q, d): g for q, d, g in made.benchmark.qrels.rows()}
    assert (grades["q4", "d01"], grades["q5", "d10"]) == (2, 2)
    assert made.counts["agreement"]["one and two"]["equal"] == round(7 / 9, 4)


@pytest.mark.parametrize(
    ("encoding", "options"),
    [
        ("utf-8-sig", {"delimiter": ";", "lineterminator": "\r\n"}),
        ("cp1252", {"delimiter": ";", "lineterminator": "\r\n"}),
        ("utf-16", {"delimiter": "\t", "lineterminator": "\r\n"}),
        ("utf-8", {"lineterminator": "\r"}),
    ],
)
def test_what_spreadsheets_save_is_read(bench, run, tmp_path, encoding, options):
    import polars as pl

    text = pl.when(pl.col("doc_id") == "d03").then(pl.lit("Für ≥ 2.4 kg – “schwer”; ja, €5.")).otherwise("text")
    changed = replace(bench, corpus=bench.corpus.with_columns(text=text), digest="")
    sheet = export_sheet(changed, tmp_path / "s", runs={"a run": run})
    path = fill(sheet, tmp_path / "a.csv", encoding=encoding, **options)
    assert import_answers(changed, sheet, [path], tmp_path / "judged").benchmark.qrels.height == 9


def spoil(sheet, path, change):
    lines = fill(sheet, path).read_text(encoding="utf-8").splitlines()[:-1]
    path.write_text("\n".join(change(lines)) + "\n", encoding="utf-8")
    return path


@pytest.mark.parametrize(
    ("change", "message", "reason"),
    [
        (
            lambda lines: [lines[0], lines[1].replace(",d", ",ghost-d", 1), *lines[2:]],
            r"a\.csv:2: this item is not in the sheet \(found \('q.', 'ghost-d..'\)\)\. Were ids changed",
            "not in the sheet",
        ),
        (
            lambda lines: [*lines[:3], lines[3].rpartition(",")[0][:-1] + "7,", *lines[4:]],
            r"a\.csv:4: not a grade of this sheet \(found '7'\)\. Write 0, 1, 2, \? for cannot tell, or nothing",
            "not a grade",
        ),
        *(
            (
                lambda lines, odd=odd: [*lines[:3], f"{lines[3].rpartition(',')[0][:-1]}{odd},", *lines[4:]],
                r"a\.csv:4: not a grade of this sheet",
                "not a grade",
            )
            for odd in ("\u0662", "\u00b2", "-1", "9" * 5_000)
        ),
        (
            lambda lines: [*lines, lines[1].rpartition(",")[0][:-1] + "?,"],
            r"a\.csv:11: two answers for one item, \d and \? \(found .*\)\. Keep one of them",
            "two answers for one item",
        ),
        (
            lambda lines: [*lines[:-1], lines[-1][: len(lines[-1]) // 3]],
            r"a\.csv:10: the row has \d cells, and the header 8\. Is the file cut\?",
            "not a whole row",
        ),
        (
            lambda lines: [lines[0], lines[1].replace(".,", "!,"), *lines[2:]],
            r"a\.csv:2: this is not the text that the sheet has for these ids",
            "text changed",
        ),
    ],
)  # fmt: skip
def test_rows_that_cannot_be_used(bench, sheet, tmp_path, change, message, reason):
    path = spoil(sheet, tmp_path / "a.csv", change)
    with pytest.raises(InputError, match=message):
        import_answers(bench, sheet, [path], tmp_path / "judged")
    assert not (tmp_path / "judged").exists()
    whole = fill(sheet, tmp_path / "whole.csv")
    made = import_answers(bench, sheet, [whole, path], tmp_path / "judged", ImportOptions(on_error="skip"))
    assert made.counts["left out"] == {reason: 1}
    assert made.counts["annotators"]["a"]["judged"] == 8
    assert made.counts["annotators"]["a"]["left_blank"] == 1
    assert "a.csv" in made.examples[0]


@pytest.mark.parametrize("mark", ['"', '"oops', '"oops" he said', 'he said "oops'])
@pytest.mark.parametrize("at", [1, 4, 9])
def test_a_stray_quotation_mark_takes_one_row_with_it(bench, sheet, tmp_path, mark, at):
    path = spoil(sheet, tmp_path / "a.csv", lambda lines: [*lines[:at], lines[at] + mark, *lines[at + 1 :]])
    whole = fill(sheet, tmp_path / "whole.csv")
    if mark.startswith('"'):
        with pytest.raises(InputError, match=rf"a\.csv:{at + 1}: not a readable CSV file: .*quotation mark too many"):
            import_answers(bench, sheet, [path], tmp_path / "judged")
    made = import_answers(bench, sheet, [whole, path], tmp_path / "judged", ImportOptions(on_error="skip"))
    lost = int(mark.startswith('"'))
    assert made.counts.get("left out", {}) == ({"not a whole row": 1} if lost else {})
    assert made.counts["annotators"]["a"]["judged"] == 9 - lost
    assert made.counts["annotators"]["a"].get("rows_missing", 0) == lost


def test_the_same_answer_twice_is_one(bench, sheet, tmp_path):
    path = spoil(sheet, tmp_path / "a.csv", lambda lines: [*lines, lines[1]])
    made = import_answers(bench, sheet, [path], tmp_path / "judged")
    assert made.counts["remarks"] == {"the same answer twice": 1}
    assert made.benchmark.qrels.height == 9


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"", "the sheet is empty"),
        (b"\xef\xbb\xbf\r\n", "the sheet is empty"),
        (b"query_id;doc_id\nq4;d03\n", "a sheet has the columns query_id, doc_id, grade"),
        (b"query_id,doc_id,grade\nq4,d03,\n", "nothing is judged in this file"),
        (b'query_id,doc_id,grade\nq4,"d03,2\n', "a.csv:2: not a readable CSV file|a.csv: nothing is judged"),
        (b"PK\x03\x04....", "a workbook, and a CSV file is needed"),
        (b"\x00\x81\xff", "not a text file|not a readable CSV|has the columns"),
        (
            b'{"qbench": "answers", "answers": [{"que',
            "a.csv:1: not a whole file of answers.*Save it from the page again",
        ),
        (b'{"qbench": "answers", "sheet": "abc", "answers": []}', "answers to another sheet"),
        (b'{"a": 1}', "not a file of answers"),
        (b"{" * 100_000, "not a whole file of answers|not a file of answers"),
    ],
)
def test_files_that_are_no_answers(bench, sheet, tmp_path, data, message):
    (tmp_path / "a.csv").write_bytes(data)
    for on_error in ("fail", "skip"):
        with pytest.raises(InputError, match=message) as caught:
            import_answers(bench, sheet, [tmp_path / "a.csv"], tmp_path / "judged", ImportOptions(on_error=on_error))
            raise AssertionError
        assert "a.csv" in str(caught.value)


def test_a_page_file_with_a_bad_answer(bench, sheet, tmp_path):
    path = page_file(sheet, tmp_path / "a.json", [*complete(sheet), ("q4", "ghost", 1)])
    with pytest.raises(InputError, match=r"a\.json: answer 10: this item is not in the sheet"):
        import_answers(bench, sheet, [path], tmp_path / "judged")
    data = json.loads(path.read_text())
    data["answers"][-1] = [1]
    path.write_text(json.dumps(data))
    with pytest.raises(InputError, match=r"answer 10: not an answer"):
        import_answers(bench, sheet, [path], tmp_path / "judged")
    made = import_answers(bench, sheet, [path], tmp_path / "judged", ImportOptions(on_error="skip"))
    assert made.counts["left out"] == {"not an answer": 1}


def test_what_does_not_belong_together(bench, sheet, tmp_path):
    path = fill(sheet, tmp_path / "a.csv")
    with pytest.raises(OptionError, match="no file of answers"):
        import_answers(bench, sheet, [], tmp_path / "judged")
    with pytest.raises(OptionError, match="named twice"):
        import_answers(bench, sheet, [path, tmp_path / "." / "a.csv"], tmp_path / "judged")
    with pytest.raises(OptionError, match="made from another benchmark"):
        import_answers(replace(bench, digest="other"), sheet, [path], tmp_path / "judged")
    (tmp_path / "b").mkdir()
    with pytest.raises(OptionError, match="two annotators of one name"):
        import_answers(bench, sheet, [path, fill(sheet, tmp_path / "b" / "a.csv")], tmp_path / "judged")
    with pytest.raises(InputError, match="no such file of judgments"):
        import_answers(bench, sheet, [tmp_path / "none.csv"], tmp_path / "judged")


def test_a_binary_scale_has_two_grades(bench, run, tmp_path):
    sheet = export_sheet(bench, tmp_path / "s", SheetOptions(scale="binary"), runs={"a run": run})
    with pytest.raises(InputError, match="Write 0, 1, "):
        import_answers(bench, sheet, [fill(sheet, tmp_path / "a.csv")], tmp_path / "judged")
    made = import_answers(bench, sheet, [fill(sheet, tmp_path / "a.csv", dict.fromkeys(GRADES, 1))], tmp_path / "j")
    assert set(made.benchmark.qrels["grade"]) == {0, 1}


def test_parts_of_a_sheet_are_put_together(bench, run, tmp_path):
    sheet = export_sheet(bench, tmp_path / "s", SheetOptions(annotators=2, shared=1), runs={"a run": run})
    files = []
    for part in (1, 2):
        rows = rows_of(sheet.folder / f"sheet-{part}.csv")
        answers = [(r["query_id"], r["doc_id"], GRADES.get((r["query_id"], r["doc_id"]), 0)) for r in rows]
        files.append(page_file(sheet, tmp_path / f"{part}.json", answers))
    made = import_answers(bench, sheet, files, tmp_path / "judged")
    assert made.benchmark.qrels.height == 9
    assert all(who["left_blank"] == 0 for who in made.counts["annotators"].values())
    assert made.counts["agreement"]["1 and 2"]["kappa"] == 1.0


def test_the_leaderboard_says_what_share_was_judged(bench, sheet, tmp_path):
    path = fill(sheet, tmp_path / "a.csv", {("q4", "d01"): "?"})
    judged = import_answers(bench, sheet, [path], tmp_path / "judged").benchmark
    board = run_leaderboard(judged, ["BM25"], output=tmp_path / "board", resamples=100, buckets=False)
    assert board.measures[-1] == "Judged@10"
    shares = board.scores.filter(measure="Judged@10")["value"].to_list()
    assert 0 < max(shares) < 1
    masked = run_leaderboard(
        mask_benchmark(judged, "values"), ["BM25"], output=tmp_path / "masked", resamples=100, buckets=False
    )
    assert "Judged@10" in masked.measures
    strict = run_leaderboard(bench, ["BM25"], output=tmp_path / "strict", resamples=100, buckets=False)
    assert "Judged@10" not in strict.measures


def test_a_table_cut_between_two_rows_is_counted(bench, sheet, tmp_path):
    whole = fill(sheet, tmp_path / "whole.csv")
    path = spoil(sheet, tmp_path / "a.csv", lambda lines: lines[:5])
    made = import_answers(bench, sheet, [whole, path], tmp_path / "judged")
    assert made.counts["annotators"]["a"] == {"judged": 4, "cannot_tell": 0, "left_blank": 5, "rows_missing": 5}


def test_a_name_can_be_no_formula_and_no_column_of_the_sheet(bench, sheet, tmp_path):
    anna = fill(sheet, tmp_path / "anna.csv")
    for number, name in enumerate(("grade", "=1+1", "a\u202eb\x1b[31m")):
        ben = page_file(sheet, tmp_path / "ben.json", complete(sheet, {("q4", "d01"): 1}), name)
        with pytest.raises(InputError, match="graded differently") as caught:
            import_answers(bench, sheet, [anna, ben], tmp_path / str(number))
        assert "\x1b" not in str(caught.value)
        (table,) = tmp_path.glob(f"{number}.disagreements-*.csv")
        (row,) = rows_of(table)
        assert row["grade"] == ""
        assert not any(cell.startswith("=") for cell in [*row, *row.values()])
