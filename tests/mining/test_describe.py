"""From an index, or a table, to descriptions on disk."""

import json
import shutil

import polars as pl
import pytest

from qbench.errors import InputError, MissingPackageError, OptionError, UnknownNameError
from qbench.index.disk import QUANTITIES
from qbench.mining import describe as module
from qbench.mining.describe import Descriptions, describe
from qbench.mining.description_table import import_descriptions
from qbench.mining.options import ParserOptions
from qbench.mining.types import DESCRIPTIONS, description_schema
from qbench.quantities.extractors import ExtractorOptions
from tests.resealed import reseal


def test_a_row_for_each_fact(descriptions):
    table = descriptions.table().collect()
    assert table.columns == list(description_schema())
    assert table.height == descriptions.manifest.counts["descriptions"] == 50
    assert descriptions.manifest.counts["mentions"] == 60
    assert descriptions.manifest.counts["no fact"] == 10
    first = table.row(0, named=True)
    assert first["description_id"] == f"{first['doc_id']}#0"
    assert first["source_id"] == "Aldergate-a"
    assert first["description"] == "2019 population of Aldergate people"
    assert [first["sentence"][a:b] for a, b in first["segments"]] == ["2019", "population of Aldergate", "people"]
    assert first["sentence"][first["value_start"] : first["value_end"]] == "61,237"


def test_the_same_bytes_whatever_the_workers_and_the_chunks(index, descriptions, tmp_path, monkeypatch):
    monkeypatch.setattr(module, "SENTENCES", 7)
    monkeypatch.setattr(module, "_ROWS", 11)
    monkeypatch.setattr(module, "_NAMES", 7)
    told = []
    other = describe(index, tmp_path / "other", workers=2, progress=lambda *report: told.append(report))
    with_mentions = pl.read_parquet(index / QUANTITIES)["doc_id"].n_unique()
    assert told[-1][:2] == (with_mentions, with_mentions)
    assert (other.path / DESCRIPTIONS).read_bytes() == (descriptions.path / DESCRIPTIONS).read_bytes()


def test_a_second_call_makes_nothing_again(index, descriptions):
    again = describe(index, descriptions.path)
    assert descriptions.new
    assert not again.new


def test_a_stopped_run_goes_on(index, descriptions, tmp_path, monkeypatch):
    monkeypatch.setattr(module, "SENTENCES", 10)
    told = []

    def stop(done, total=None, what=""):
        told.append(done)
        if len(told) == 2:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        describe(index, tmp_path / "d", workers=1, progress=stop)
    assert not (tmp_path / "d").exists()
    later = []
    describe(index, tmp_path / "d", workers=1, progress=lambda done, total=None, what="": later.append(done))
    assert later[0] > told[-1]
    assert (tmp_path / "d" / DESCRIPTIONS).read_bytes() == (descriptions.path / DESCRIPTIONS).read_bytes()


def test_what_cannot_be(index, descriptions, tmp_path):
    with pytest.raises(UnknownNameError, match="rules, tagger"):
        describe(index, tmp_path / "d", parser=ParserOptions("regex"))
    with pytest.raises(OptionError, match="--checkpoint"):
        describe(index, tmp_path / "d", parser=ParserOptions("tagger"))
    with pytest.raises(OptionError, match="at least one worker"):
        describe(index, tmp_path / "d", workers=0)
    with pytest.raises((InputError, MissingPackageError)):
        describe(index, tmp_path / "d", parser=ParserOptions("tagger", tmp_path / "none"))
    with pytest.raises(InputError, match="and an index is needed"):
        describe(descriptions.path, tmp_path / "d")
    with pytest.raises(InputError, match="descriptions are needed"):
        Descriptions.open(index)
    assert not (tmp_path / "d").exists()


def test_a_damaged_table_is_told(index, tmp_path):
    found = describe(index, tmp_path / "d", workers=1)
    (found.path / DESCRIPTIONS).write_bytes((found.path / DESCRIPTIONS).read_bytes()[:-10])
    with pytest.raises(InputError, match="not as it was written"):
        Descriptions.open(found.path)
    again = describe(index, tmp_path / "d", workers=1)
    assert again.new
    assert Descriptions.open(again.path).read().height == found.manifest.counts["descriptions"]
    path = found.path / DESCRIPTIONS
    path.write_bytes(b"x" * path.stat().st_size)
    reseal(found.path)
    with pytest.raises(InputError, match="not a readable Parquet file"):
        Descriptions.open(found.path).read()


@pytest.mark.parametrize("orphan", [False, True])
def test_quantities_out_of_order_are_told(index, tmp_path, orphan):
    copy = tmp_path / "index"
    shutil.copytree(index, copy)
    table = pl.read_parquet(copy / QUANTITIES)
    changed = table.with_columns(doc_id=pl.lit("nobody")) if orphan else table.reverse()
    changed.write_parquet(copy / QUANTITIES)
    reseal(copy)
    with pytest.raises(InputError, match="not in the order of the sentences"):
        describe(copy, tmp_path / "d", workers=1)


def test_rows_of_a_table_with_the_same_sentence_share_it(tmp_path):
    table = tmp_path / "t.csv"
    sentence = "Revenue and cash were $12.5 million and $3.25 million."
    rows = ["revenue,$12.5 million,a", "cash,$3.25 million,a", "revenue,$12.5 million,b", "margin,12.5%,a"]
    ends = [f',"{sentence}"', f',"{sentence}"', f',"{sentence}"', ","]
    table.write_text("description,quantity,document,sentence\n" + "\n".join(map(str.__add__, rows, ends)))
    made = import_descriptions(table, tmp_path / "d", extractor=WORDS_ONLY).read()
    first, second, elsewhere, bare = made["doc_id"]
    assert first == second
    assert len({first, elsewhere, bare}) == 3
    assert made["source_id"].to_list() == ["a", "a", "b", "a"]


WORDS_ONLY = ExtractorOptions(spacy_model="none")


def written(path, rows):
    path.write_text("\n".join(json.dumps(row) for row in rows))
    return path


def test_a_table_of_ones_own(tmp_path):
    table = tmp_path / "own.csv"
    table.write_text(
        "id,document,description,quantity,sentence\n"
        "a,report,yearly sales of tea,$4.5 million,Tea sold for $4.5 million.\n"
        "b,report,share of green tea,12.5%,\n"
        "c,,staff,120 people,\n"
    )
    found = import_descriptions(table, tmp_path / "d", extractor=WORDS_ONLY).table().collect()
    assert found["description_id"].to_list() == ["a#0", "b#0", "c#0"]
    assert found["source_id"].to_list() == ["report", "report", "c"]
    assert found["value"].to_list() == [4.5e6, 12.5, 120.0]
    assert found["unit"].to_list() == ["dollar", "percentage", "people"]
    assert found["digits"].to_list() == [2, 3, 2]


def test_bad_rows_are_counted_or_fatal(tmp_path):
    rows = [
        {"description": "sales of tea", "quantity": "$5"},
        {"description": "  ", "quantity": "$5"},
        {"description": "sales of tea", "quantity": "much"},
        {"description": "sales of tea", "quantity": "between $5 and 3 kg"},
        {"description": "tea " * 1_001, "quantity": "$5"},
        {"description": "sales of tea", "quantity": None},
        {"description": "sales of tea", "quantity": "4.587 Mio. €"},
        {"id": "row-1", "description": "twice", "quantity": "$5"},
    ]
    table = written(tmp_path / "t.jsonl", rows)
    found = import_descriptions(table, tmp_path / "d", extractor=WORDS_ONLY)
    assert found.manifest.counts["descriptions"] == 1
    assert sum(found.manifest.counts["bad"].values()) == 7
    assert found.manifest.counts["bad"]["the text beside the number is not understood"] == 1
    with pytest.raises(InputError) as caught:
        import_descriptions(table, tmp_path / "e", extractor=WORDS_ONLY, on_error="fail")
    assert (caught.value.line, caught.value.message) == (2, "the description is empty")
    assert not (tmp_path / "e").exists()


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("", "the table has no rows"),
        ("description,value\ntea,5\n", "lacks a column"),
        ("description,quantity\n,5\n", "no row"),
    ],
)
def test_tables_of_no_use(tmp_path, content, message):
    table = tmp_path / "t.csv"
    table.write_text(content)
    with pytest.raises(InputError, match=message):
        import_descriptions(table, tmp_path / "d", extractor=WORDS_ONLY)
