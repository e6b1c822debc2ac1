import dataclasses
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from qbench.benchmark.check import check
from qbench.benchmark.disk import open_benchmark, write_benchmark
from qbench.benchmark.importers import finish
from qbench.benchmark.importers.literals import parse_list
from qbench.benchmark.importers.quant import read_quant
from qbench.errors import InputError, OptionError
from qbench.quantities.extractors import ExtractorOptions
from tests.benchmark_helpers import FakeExtractor
from tests.factories import condition


def test_the_authors_layout(quant):
    bench = read_quant(quant.write())
    assert bench.corpus["doc_id"].to_list() == ["0", "1", "2", "3", "4"]
    assert bench.corpus["text"][2] == 'The "Bolt" plant employs 40 workers.'
    assert [(q.query_id, q.kind, q.split, q.terms) for q in bench.queries] == [
        ("0", "seen", "test", "Acme shares"),
        ("1", "unseen", "test", "Acme payment"),
        ("2", "expansion", "test", "Bolt workers"),
        ("3", "wo_surface", "test", "stock"),
    ]
    assert [q.topic for q in bench.queries] == ["acme share", "acme payment", "bolt worker", "stock"]
    asked = [dataclasses.replace(q.conditions[0], value_text="", unit_text="") for q in bench.queries]
    expected = [
        condition("acme shares", "<", 6, "percentage"),
        condition("acme payment", "=", 3e6, "dollar"),
        condition("bolt workers", ">", 30, "worker"),
        condition("stock", ">", 8, "percentage"),
    ]
    assert asked == [dataclasses.replace(one, value_text="", unit_text="") for one in expected]
    assert bench.qrels.rows() == [("0", "0", 1), ("1", "1", 1), ("1", "3", 0), ("2", "2", 1), ("3", "4", 1)]
    assert bench.params["quantities"] == "given"
    assert bench.params["counts"] == {"remarks": {"units taken for counted nouns": 2}}  # "worker", twice


def test_keywords_may_be_a_list_of_phrases(quant):
    folder = quant.write()
    file = folder / "queries.tsv"
    plain = file.read_text(encoding="utf-8")
    file.write_text(plain.replace("\tAcme shares\t", "\t['Acme', 'shares']\t"), encoding="utf-8")
    assert read_quant(folder).queries == read_quant(quant.write()).queries
    file.write_text(plain.replace("\tAcme shares\t", "\t['Acme', 'sh\t"), encoding="utf-8")
    with pytest.raises(InputError, match=r"queries.tsv:2: no Python list in keywords"):
        read_quant(folder)


def test_given_quantities_point_into_the_text(quant):
    bench = read_quant(quant.write())
    texts = dict(bench.corpus.select("doc_id", "text").iter_rows())
    seen = [
        (
            row["value"],
            row["unit"],
            row["family"],
            texts[row["doc_id"]][row["value_start"] : row["value_end"]],
            texts[row["doc_id"]][row["unit_start"] : row["unit_end"]] if row["unit_start"] >= 0 else None,
        )
        for row in bench.quantities.iter_rows(named=True)
    ]
    assert seen == [
        (5.0, "percentage", "ratio", "5", "percent"),
        (3e6, "dollar", "currency", "3 million", "$"),
        (40.0, "worker", "count", "40", "workers"),
        (7.0, "", "", "7", None),
        (9.0, "percentage", "ratio", "9", "percent"),
    ]


def test_an_imported_set_is_sound_and_kept(quant, tmp_path):
    made = write_benchmark(read_quant(quant.write()), tmp_path / "bench")
    assert {finding.severity for finding in check(made)} == {"skipped"}
    assert open_benchmark(tmp_path / "bench").queries == made.queries


def test_the_same_files_give_the_same_digest(quant, tmp_path):
    first = read_quant(quant.write()).digest
    quant.path.rename(tmp_path / "elsewhere")
    assert read_quant(tmp_path / "elsewhere").digest == first
    assert read_quant(tmp_path / "elsewhere", given=False).digest != first


@pytest.mark.parametrize(("ending", "sub"), [("", ""), (".json", "qrels"), ("", "gt")])
def test_where_the_judgments_may_lie(quant, ending, sub):
    assert len(read_quant(quant.write(ending, sub)).queries) == 4


def test_the_folder_may_lie_below(quant, tmp_path):
    quant.write()
    outer = tmp_path / "data"
    outer.mkdir()
    quant.path.rename(outer / "finance")
    assert len(read_quant(outer).queries) == 4
    (outer / "medicine").mkdir()
    (outer / "medicine" / "collection.csv").write_text("x", encoding="utf-8")
    with pytest.raises(OptionError, match="finance, medicine"):
        read_quant(outer)


def test_units_of_theirs_become_ours(quant):
    quant.collection[1][4] = "['kilometer']"
    quant.collection[2][4] = "['US dollar']"
    bench = read_quant(quant.write())
    assert bench.quantities["unit"].to_list()[:3] == ["kilometre", "dollar", "worker"]
    assert bench.quantities["base_value"][0] == 5000.0
    assert bench.quantities["base_unit"][0] == "metre"


def test_a_unit_that_nobody_knows_is_counted(quant):
    quant.collection[1][4] = "['zorkmid']"
    bench = read_quant(quant.write())
    assert bench.quantities.row(0, named=True)["unit"] == "zorkmid"
    assert bench.quantities.row(0, named=True)["family"] == "count"
    assert bench.params["counts"]["remarks"]["units taken for counted nouns"] == 3


@pytest.mark.parametrize(
    ("value_at", "expected"),
    [
        ("[[(20, 21)]]", (20, 21)),
        ("[(20, 21)]", (20, 21)),
        ("[[20, 21]]", (20, 21)),
        ("[[(20, 21), (22, 29)]]", (20, 29)),  # one value written in two pieces
        ("[[(20, 99)]]", (-1, -1)),
        ("[[(21, 20)]]", (-1, -1)),
        ("[[(-3, 20)]]", (-1, -1)),
        ("[[(19, 20)]]", (-1, -1)),  # white space
        ("[]", (-1, -1)),
        ("[[]]", (-1, -1)),
        ("[[(True, 21)]]", (-1, -1)),
        ("['20', '21']", (-1, -1)),
        ("", (-1, -1)),
    ],
)
def test_spans_are_used_where_they_can_be_right(quant, value_at, expected):
    quant.collection[1][5] = value_at
    row = read_quant(quant.write()).quantities.row(0, named=True)
    assert (row["value_start"], row["value_end"]) == expected


def test_a_span_that_cuts_a_number_is_not_used(quant):
    quant.collection[3][5] = "[[(25, 26)]]"  # the 4 of 40
    assert read_quant(quant.write()).quantities["value_start"][2] == -1


def test_a_pair_of_values_is_a_range(quant):
    quant.collection[1][3] = "[(5.0, 8)]"
    row = read_quant(quant.write()).quantities.row(0, named=True)
    assert (row["value"], row["high"], row["comparator"]) == (5.0, 8.0, "between")


def cells(row, column, text, message):
    return pytest.param(row, column, text, message, id=f"{message}-{text[:20]}")


BAD_CELLS = [
    cells(2, 3, "[nan]", "no Python list in values"),
    cells(2, 3, "[1e999]", "a value is a finite number"),
    cells(2, 3, "[True]", "a value is a finite number"),
    cells(2, 3, "['many']", "a value is a finite number"),
    cells(2, 3, "[(1, 2, 3)]", "a value is a finite number"),
    cells(2, 3, "[9" + "9" * 400 + "]", "a value is a finite number"),
    cells(2, 3, "3000000", "no Python list in values"),
    cells(2, 3, "[3000000", "no Python list in values"),
    cells(2, 3, "__import__('os').getcwd()", "no Python list in values"),
    cells(2, 3, "[" * 5_000, "too long or too deep"),
    cells(2, 3, "[" + "1," * 600_000 + "]", "too long or too deep"),
    cells(2, 3, "[1.0, 2.0]", "2 values and 1 units"),
    cells(2, 4, "[5]", "a value is a finite number .or a pair of them., a unit a text"),
    cells(2, 4, "dollar", "no Python list in units"),
    cells(2, 5, "(", "no Python list in character indices"),
]


@pytest.mark.parametrize(("row", "column", "text", "message"), BAD_CELLS)
def test_a_bad_cell_is_named_or_left_out_and_counted(quant, row, column, text, message):
    quant.collection[row][column] = text
    quant.write()
    with pytest.raises(InputError, match=message) as caught:
        read_quant(quant.path)
    assert (caught.value.file, caught.value.line) == (str(quant.path / "collection.csv"), row + 1)
    # Ids are row numbers: the rows after a bad one keep theirs, and the query that asked for it has no answer left.
    bench = read_quant(quant.path, on_error="skip")
    assert bench.corpus["doc_id"].to_list() == ["0", "2", "3", "4"]
    assert [query.query_id for query in bench.queries] == ["0", "2", "3"]
    assert bench.params["counts"]["left out"] == {
        "sentences with unusable quantities": 1,
        "judgments of a missing document": 1,
        "queries without a relevant document": 1,
    }
    assert str(quant.path) not in str(bench.params)


def test_their_quantities_need_not_be_right_if_ours_are_used(quant):
    quant.collection[2][3] = "nonsense"
    bench = read_quant(quant.write(), given=False)
    assert bench.quantities is None
    assert bench.corpus.height == 5


@pytest.mark.parametrize(
    ("row", "message"),
    [
        (["five percent of Acme", "Acme", "percentage", "five", "="], "a query needs"),
        (["5 percent of Acme", "Acme", "percentage", "nan", "="], "a query needs"),
        (["5 percent of Acme", "Acme", "percentage", "inf", "="], "a query needs"),
        (["5 percent of Acme", "Acme", "percentage", "5", ">="], "a query needs"),
        ([" ", "Acme", "percentage", "5", "="], "a query needs"),
        (["5 percent of Acme", "Acme"], "the row has 2 cells, and the header 5"),
    ],
)
def test_a_bad_query(quant, row, message):
    quant.queries[2] = row
    quant.write()
    with pytest.raises(InputError, match=message) as caught:
        read_quant(quant.path)
    assert (caught.value.file, caught.value.line) == (str(quant.path / "queries.tsv"), 3)
    bench = read_quant(quant.path, on_error="skip")
    assert [query.query_id for query in bench.queries] == ["0", "2", "3"]


@pytest.mark.parametrize(
    ("spoil", "message", "count"),
    [
        (lambda q: q["qrel_compelete"]["1"].update({"99": 1}), "missing document", "judgments of a missing document"),
        (lambda q: q["qrel_compelete"].update({"99": {"1": 1}}), "does not exist", "judgments of a missing query"),
        (lambda q: q["qrels_less"].update({"99": {"1": 1}}), "does not exist", "judgments of a missing query"),
        (lambda q: q["qrel_compelete"]["1"].update({"0": 0.5}), "no whole number", "grades that are no whole number"),
        (lambda q: q["qrel_compelete"]["1"].update({"0": "1"}), "no whole number", "grades that are no whole number"),
        (lambda q: q["qrel_compelete"]["1"].update({"0": True}), "no whole number", "grades that are no whole number"),
        (
            lambda q: q["qrel_compelete"]["1"].update({"0": math.nan}),
            "no whole number",
            "grades that are no whole number",
        ),
        (lambda q: q["qrel_compelete"].update({"3": [["4", 1]]}), "should be an object", "malformed judgments"),
        (lambda q: q["qrel_compelete"]["3"].update({"4": 0}), "no relevant", "queries without a relevant document"),
    ],
)
def test_bad_judgments(quant, spoil, message, count):
    spoil(quant.qrels)
    quant.write()
    with pytest.raises(InputError, match=message):
        read_quant(quant.path)
    assert count in read_quant(quant.path, on_error="skip").params["counts"]["left out"]


def test_a_key_that_stands_twice(quant):
    quant.write()
    path = quant.path / "qrel_compelete.json"
    path.write_text('{"0": {"0": 1, "0": 0}, "1": {"1": 1}, "1": {"3": 1}}', encoding="utf-8")
    with pytest.raises(InputError, match="documents judged twice"):
        read_quant(quant.path)
    bench = read_quant(quant.path, on_error="skip")
    assert bench.qrels.rows() == [("0", "0", 1), ("1", "1", 1)]


def test_files_that_disagree_are_reported(quant):
    quant.qrels["qrels_less"]["1"] = {"1": 1}
    quant.qrels["qrel_not_training"]["0"] = {"0": 1}
    quant.qrels["qrel_in_training"]["0"]["3"] = 1
    del quant.qrels["qrel_wo_surface"]
    bench = read_quant(quant.write())
    assert bench.params["counts"]["remarks"] == {
        "no file qrel_wo_surface": 1,
        "units taken for counted nouns": 2,
        "queries of two kinds": 1,
        "queries whose condition differs between files": 1,
        "queries whose judgments differ from the complete ones": 1,
    }
    assert "qrels_less.json: query 1 is listed under <, and its condition is =" in bench.params["notes"]
    assert [q.kind for q in bench.queries] == ["seen", "unseen", "expansion", "given"]


def test_a_query_that_nobody_judged_is_left_out(quant):
    quant.queries.append(["more", "more", "-", "5", "="])
    bench = read_quant(quant.write())
    assert len(bench.queries) == 4
    assert bench.params["counts"]["left out"] == {"queries without judgments": 1}


@pytest.mark.parametrize(
    ("spoil", "message"),
    [
        (lambda p: (p / "collection.csv").unlink(), "no collection.csv"),
        (lambda p: (p / "collection.csv").write_bytes(b""), "collection.csv: the file is empty"),
        (lambda p: (p / "collection.csv").write_bytes(b"sentence,values,units\n"), "a header and no rows"),
        (lambda p: (p / "collection.csv").write_bytes(b"a,b\n1,2\n"), "the column 'sentence' is missing"),
        (lambda p: (p / "queries.tsv").unlink(), "queries.tsv: no such file"),
        (lambda p: (p / "queries.tsv").write_bytes(b"query_text\n"), "the column 'keywords' is missing"),
        (lambda p: (p / "qrel_compelete.json").unlink(), "qrel_compelete.json is missing"),
        (lambda p: (p / "qrel_compelete.json").write_bytes(b""), "qrel_compelete.json: the file is empty"),
        (lambda p: (p / "qrel_compelete.json").write_bytes(b'{"0": {"0": 1'), "qrel_compelete.json:1: not valid JSON"),
        (lambda p: (p / "qrel_compelete.json").write_bytes(b"[" * 100_000), "qrel_compelete.json: not valid JSON"),
        (lambda p: (p / "qrel_compelete.json").write_bytes(b'{"\xff": 1}'), "not UTF-8 at byte 2"),
        (lambda p: (p / "qrel_compelete.json").write_bytes(b"[]"), "not a JSON object"),
        (lambda p: (p / "qrel_compelete.json").write_bytes(b"5"), "not a JSON object"),
        (lambda p: (p / "qrel_compelete.json").write_bytes(b"{}"), "no query has a relevant document"),
    ],
)
def test_missing_empty_and_broken_files(quant, spoil, message):
    spoil(quant.write())
    with pytest.raises(InputError, match=message):
        read_quant(quant.path)


def test_a_missing_folder(tmp_path):
    with pytest.raises(InputError, match="no such folder"):
        read_quant(tmp_path / "nowhere")


def test_bytes_that_are_not_utf8(quant):
    quant.write()
    path = quant.path / "collection.csv"
    path.write_bytes(path.read_bytes().replace(b"Acme paid", b"Acm\xe9 paid"))
    with pytest.raises(InputError, match=r"collection\.csv:3: not valid UTF-8"):
        read_quant(quant.path)
    assert read_quant(quant.path, on_error="skip").corpus["doc_id"].to_list() == ["0", "2", "3", "4"]


def test_big_cells_blank_lines_line_ends_and_control_characters(quant):
    quant.collection[1][1] = "Shares of Acme rose 5 percent. " + "and more " * 1_200_000
    quant.collection[4][1] = "Acme sold 7 of\nits\x00 sh\x1b[31mops."
    quant.write()
    path = quant.path / "collection.csv"
    path.write_bytes(b"\xef\xbb\xbf" + path.read_bytes().replace(b"\n2,", b"\n\n2,"))
    bench = read_quant(quant.path)
    assert len(bench.corpus["text"][0]) > 10_000_000
    assert bench.corpus["text"][3] == "Acme sold 7 of\nits\x00 sh\x1b[31mops."
    assert bench.corpus.height == 5


def test_the_csv_limit_is_put_back(quant):
    import csv

    before = csv.field_size_limit()
    quant.collection[2][3] = "nonsense"
    with pytest.raises(InputError):
        read_quant(quant.write())
    assert csv.field_size_limit() == before


def test_our_quantities_take_the_place_of_theirs(quant, tmp_path, monkeypatch):
    monkeypatch.setattr(finish, "get_extractor", lambda options: FakeExtractor())
    plain = read_quant(quant.write(), given=False)
    seen = []
    bench = finish.with_our_quantities(plain, ExtractorOptions(), lambda done, total=None, what="": seen.append(done))
    made = write_benchmark(finish.with_source(bench, "CC BY 4.0", "qbench benchmark import"), tmp_path / "bench")
    assert made.quantities["value"].to_list() == [5.0, 3.0, 40.0, 7.0, 9.0]
    assert made.params["quantities"] == "extracted"
    assert made.params["extractor"]["extractor"] == "rules"
    assert seen
    assert "CC BY 4.0, as its maker stated" in (tmp_path / "bench" / "README.md").read_text(encoding="utf-8")


plain = st.recursive(
    st.one_of(st.integers(-9999, 9999), st.floats(allow_nan=False, allow_infinity=False), st.text("a'\\\n\u00e9")),
    lambda inner: st.lists(inner, max_size=3),
    max_leaves=6,
)


@given(st.lists(plain, max_size=4))
def test_any_list_that_python_prints_is_read(tmp_path_factory, value):
    assert parse_list(repr(value), "values", tmp_path_factory.getbasetemp() / "x.csv", 1) == value
