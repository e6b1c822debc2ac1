"""What annotators are shown, and that nothing says who proposed it."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path

import polars as pl
import pytest

from qbench.annotation.options import SheetOptions
from qbench.annotation.page import pieces, read_guideline
from qbench.annotation.pooling import LOOK_UP, choose, load_runs
from qbench.annotation.query_form import COLUMNS
from qbench.annotation.sheet import export_sheet, open_sheet
from qbench.benchmark.disk import write_benchmark
from qbench.benchmark.trec import write_run
from qbench.errors import InputError, OptionError
from qbench.generation.expansions import Expansions
from tests.annotation.conftest import rows_of
from tests.factories import tiny_benchmark


def sources(sheet):
    return {(item.query_id, item.doc_id): item.sources for item in sheet.items}


def test_candidates_are_what_the_index_and_the_runs_propose(sheet):
    assert sources(sheet) == {
        ("q4", "d03"): (LOOK_UP, "a run"),
        ("q4", "d01"): ("a run",),
        ("q4", "d12"): ("a run",),
        ("q5", "d09"): (LOOK_UP, "a run"),
        ("q5", "d10"): ("a run",),
        ("q6", "d08"): (LOOK_UP,),
        ("q6", "d05"): ("a run",),
        ("q7", "d02"): (LOOK_UP,),
        ("q7", "d04"): ("a run",),
    }
    assert sheet.counts == {
        "queries": 4,
        "queries_without_a_candidate": 0,
        "items": 9,
        "items_by_source": {"a run": 7, LOOK_UP: 4},
        "looked_up_and_left_out": 0,
    }


def test_depth_most_and_the_part_are_obeyed(bench, run, tmp_path):
    made = export_sheet(bench, tmp_path / "s", SheetOptions(depth=1, most=0), runs={"a run": run})
    assert set(sources(made)) == {("q4", "d01"), ("q5", "d10"), ("q6", "d05"), ("q7", "d04")}
    assert made.counts["looked_up_and_left_out"] == 4
    made = export_sheet(bench, tmp_path / "t", SheetOptions(split="train"))
    assert set(sources(made)) == {("q1", "d01"), ("q1", "d02"), ("q2", "d04")}


def test_synonyms_and_tolerance_widen_the_look_up(bench, tmp_path):
    options = SheetOptions(queries=("q6",))
    wide = export_sheet(bench, tmp_path / "a", options, expansions=Expansions({"profit": ["laptop price"]}))
    assert {doc for _, doc in sources(wide)} == {"d02", "d04", "d08"}
    far = SheetOptions(queries=("q2",), tolerance=0.9)
    assert {doc for _, doc in sources(export_sheet(bench, tmp_path / "b", far))} == {"d02", "d04"}


def test_annotators_are_told_of_a_tolerance(bench, tmp_path):
    def page_of(sheet):
        text = (sheet.folder / "sheet.html").read_text(encoding="utf-8")
        return json.loads(re.search(r'<script[^>]*id="data"[^>]*>(.*?)</script>', text, re.S)[1])

    options = SheetOptions(split="train", tolerance=0.05)
    made = export_sheet(bench, tmp_path / "a", options)
    told = (made.folder / "guideline.md").read_text(encoding="utf-8")
    assert '"=" has a tolerance of 5 %' in told
    assert "Near is 1, partly; the value itself is 2." in told
    (asked,) = {row["condition"] for row in rows_of(made.folder / "sheet.csv") if row["query_id"] == "q2"}
    data = page_of(made)
    assert data["guideline"][0] == ["h", "The tolerance of this sheet"]
    assert "a tolerance of 5 %" in data["guideline"][1][1]
    (shown,) = [one["asks"] for one in data["queries"] if one["id"] == "q2"]
    assert shown == [asked]
    assert re.fullmatch(r".* = 800 dollar \(near: 760 to 840\)", asked), asked
    (other,) = {row["condition"] for row in rows_of(made.folder / "sheet.csv") if row["query_id"] == "q1"}
    assert "near" not in other, "a bound has no tolerance"
    binary = export_sheet(
        bench, tmp_path / "b", replace(options, scale="binary"), guideline=made.folder / "guideline.md"
    )
    told = (binary.folder / "guideline.md").read_text(encoding="utf-8")
    assert "Near is 1, relevant, as the value itself is." in told
    again = export_sheet(bench, tmp_path / "c", options, guideline=made.folder / "guideline.md")
    assert (again.folder / "guideline.md").read_bytes() == (made.folder / "guideline.md").read_bytes()
    plain = export_sheet(bench, tmp_path / "d", replace(options, tolerance=0.0))
    assert "tolerance of this sheet" not in (plain.folder / "guideline.md").read_text(encoding="utf-8")


def test_what_a_mention_leaves_open_is_a_candidate(bench, tmp_path):
    asked = [query for query in bench.queries if query.query_id == "q5"]
    high = replace(asked[0].conditions[0], comparator=">", value=1000, high=1000, base_value=1000, base_high=1000)
    changed = replace(bench, queries=[replace(asked[0], conditions=(high,))], digest="")
    made = export_sheet(changed, tmp_path / "s")
    assert {doc for _, doc in sources(made)} == {"d10"}  # "more than 900"


def test_the_table_shows_what_is_needed_and_not_who_proposed_it(sheet):
    rows = rows_of(sheet.folder / "sheet.csv")
    assert tuple(rows[0]) == COLUMNS
    row = next(row for row in rows if (row["query_id"], row["doc_id"]) == ("q7", "d02"))
    assert row["query"] == "laptop under 1 kg for more than $1000"
    assert row["condition"] == "laptop weight < 1 kilogram; laptop price > 1000 dollar"
    assert row["text"] == "The Brio laptop weighs 900 g and costs $1500."
    assert row["grade"] == row["comment"] == ""
    for name in ("sheet.csv", "sheet.html"):
        text = (sheet.folder / name).read_text(encoding="utf-8")
        assert "a run" not in text
        assert LOOK_UP not in text


def test_queries_stand_together_in_an_order_of_chance(bench, run, tmp_path):
    orders = []
    for seed in range(6):
        made = export_sheet(bench, tmp_path / str(seed), SheetOptions(seed=seed), runs={"a run": run})
        asked = [item.query_id for item in made.items]
        assert asked == sorted(asked, key=asked.index)
        orders.append([item.doc_id for item in made.items if item.query_id == "q4"])
    assert len({tuple(order) for order in orders}) > 1


def test_the_same_input_gives_the_same_bytes(bench, run, sheet, tmp_path):
    export_sheet(bench, tmp_path / "again", SheetOptions(), runs={"a run": run})
    for path in sheet.folder.iterdir():
        assert (tmp_path / "again" / path.name).read_bytes() == path.read_bytes()


def test_work_is_shared_out(bench, run, tmp_path):
    made = export_sheet(bench, tmp_path / "s", SheetOptions(annotators=2, shared=1), runs={"a run": run})
    one, two = ({row["query_id"] for row in rows_of(tmp_path / "s" / f"sheet-{n}.csv")} for n in (1, 2))
    assert len(one & two) == 1
    assert one | two == {"q4", "q5", "q6", "q7"}
    assert {len(one), len(two)} == {2, 3}
    assert made.counts["queries_for_all_annotators"] == 1
    assert (tmp_path / "s" / "sheet-2.html").is_file()


def test_comparators_take_turns():
    benchmark = tiny_benchmark()
    heavy, staff = (next(q for q in benchmark.queries if q.query_id == name) for name in ("q4", "q5"))
    many = replace(benchmark, queries=[*(replace(heavy, query_id=f"h{n}") for n in range(20)), staff])
    kinds = [query.conditions[0].comparator for query in choose(many, "test", 4, (), 0)]
    assert sorted(kinds) == [">", ">", ">", "between"]


def test_queries_without_conditions_have_them_read_from_the_text(run, tmp_path):
    plain = replace(tiny_benchmark(), queries=[replace(q, conditions=()) for q in tiny_benchmark().queries])
    made = export_sheet(plain, tmp_path / "s", SheetOptions(queries=("q4",)), runs={"a run": run})
    assert sources(made)["q4", "d03"] == (LOOK_UP, "a run")
    assert "> 2 kilogram" in rows_of(tmp_path / "s" / "sheet.csv")[0]["condition"]


def test_without_quantities_runs_alone_propose(run, tmp_path):
    bare = replace(tiny_benchmark(), quantities=None)
    made = export_sheet(bare, tmp_path / "s", runs={"a run": run})
    assert set(made.counts["items_by_source"]) == {"a run"}
    with pytest.raises(OptionError, match="no quantities to look up, and no run"):
        export_sheet(bare, tmp_path / "t")


def test_a_sheet_that_was_filled_in_is_never_written_over(bench, run, sheet, tmp_path):
    path = sheet.folder / "sheet.csv"
    path.write_text(path.read_text(encoding="utf-8-sig").replace(",,\n", ",2,\n"), encoding="utf-8")
    before = path.read_bytes()
    for options in (SheetOptions(), SheetOptions(seed=3)):
        with pytest.raises(OptionError, match=r"sheet\.csv: this file may hold judgments.*Move it elsewhere"):
            export_sheet(bench, sheet.folder, options, runs={"a run": run}, overwrite=True)
    assert path.read_bytes() == before
    path.rename(tmp_path / "anna.csv")
    assert export_sheet(bench, sheet.folder, SheetOptions(), runs={"a run": run}).digest == sheet.digest
    assert path.is_file()


def test_another_sheet_needs_overwrite(bench, run, sheet):
    with pytest.raises(OptionError, match="a sheet made from other input"):
        export_sheet(bench, sheet.folder, SheetOptions(seed=3), runs={"a run": run})
    made = export_sheet(bench, sheet.folder, SheetOptions(seed=3), runs={"a run": run}, overwrite=True)
    assert made.digest != sheet.digest


def test_texts_are_shielded_and_harmless(tmp_path):
    benchmark = tiny_benchmark()
    nasty = '=cmd|"/C calc"!A0 </script><script>alert(1)</script>\n<b>2.4 kg</b>'
    text = pl.when(pl.col("doc_id") == "d03").then(pl.lit(nasty)).otherwise("text")
    start = nasty.index("2.4")
    at = pl.col("doc_id") == "d03"
    quantities = benchmark.quantities.with_columns(
        value_start=pl.when(at).then(start).otherwise("value_start").cast(pl.Int32),
        value_end=pl.when(at).then(start + 3).otherwise("value_end").cast(pl.Int32),
    )
    changed = replace(benchmark, corpus=benchmark.corpus.with_columns(text=text), quantities=quantities)
    export_sheet(changed, tmp_path / "s", SheetOptions(queries=("q4",)))
    assert rows_of(tmp_path / "s" / "sheet.csv")[0]["text"].startswith("'=cmd")
    assert (tmp_path / "s" / "sheet.html").read_text(encoding="utf-8").count("<script") == 2


def test_a_guideline_of_ones_own(bench, tmp_path):
    (tmp_path / "told.md").write_text("# Rule\n\nOnly dollars\ncount.\n- And\n  cents.\n", encoding="utf-8")
    export_sheet(bench, tmp_path / "s", guideline=tmp_path / "told.md")
    page = (tmp_path / "s" / "sheet.html").read_text(encoding="utf-8")
    assert '["h","Rule"],["p","Only dollars count."],["l","And cents."]' in page
    with pytest.raises(InputError, match="no such guideline file"):
        export_sheet(bench, tmp_path / "t", guideline=tmp_path / "none.md")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"depth": 0}, "depth is at least 1"),
        ({"number": 0}, "number is at least 1"),
        ({"scale": "stars"}, "scale is one of binary, graded"),
        ({"queries": ("q99",)}, "no such query"),
        ({"queries": ("q4", "q4")}, "named twice"),
        ({"tolerance": 1.5}, "tolerance lies between 0 and 1"),
    ],
)
def test_options_that_make_no_sense(bench, tmp_path, options, message):
    with pytest.raises(OptionError, match=message):
        export_sheet(bench, tmp_path / "s", SheetOptions(**options))
    assert not (tmp_path / "s").exists()


def test_runs_come_from_files_and_folders(bench, run, tmp_path):
    write_run(run, tmp_path / "my.bm25.run.gz", "x")
    assert list(load_runs([tmp_path / "my.bm25.run.gz"], bench)) == ["my.bm25"]
    with pytest.raises(OptionError, match="two sources of one name"):
        load_runs([tmp_path / "my.bm25.run.gz", tmp_path / "my.bm25.run.gz"], bench)
    (tmp_path / "empty").mkdir()
    with pytest.raises(InputError, match="no finished run on this benchmark"):
        load_runs([(tmp_path / "empty")], bench)
    strange = run.with_columns(doc_id=pl.lit("ghost")).unique("query_id")
    with pytest.raises(InputError, match=r"the run r has a document that is not in the corpus \(found 'ghost'\)"):
        export_sheet(bench, tmp_path / "s", runs={"r": strange})


def test_a_damaged_sheet_is_told(sheet):
    path = sheet.folder / "items.parquet"
    pl.read_parquet(path).head(2).write_parquet(path)
    with pytest.raises(InputError, match="has changed since the sheet was made"):
        open_sheet(sheet.folder)
    path.write_bytes(path.read_bytes()[:50])
    with pytest.raises(InputError, match="not a readable Parquet file"):
        open_sheet(sheet.folder)
    with pytest.raises(InputError, match=r"qbench annotate export|this is a qbench benchmark"):
        open_sheet(write_benchmark(tiny_benchmark(), sheet.folder.parent / "b") and sheet.folder.parent / "b")


def test_marks_that_overlap_or_lie_outside_are_left_out():
    assert pieces("ab  cd", [(4, 6, "x"), (5, 6, "y"), (90, 95, "z")]) == ["ab ", ["cd", "x"]]
    long = pieces("x" * 3000, [])
    assert long == ["x" * 2000 + "…"]
    assert not re.search("\n", str(pieces("a\nb", [])))


def test_the_documented_guideline_is_the_one_that_annotators_see():
    page = (Path(__file__).parents[2] / "docs" / "how-to" / "annotate.md").read_text(encoding="utf-8")
    shown = page.partition("## The guideline\n")[2].replace("### ", "# ")
    assert read_guideline(None).strip() in shown
