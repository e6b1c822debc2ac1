"""Reading tables: the formats, and what is broken in them."""

import gzip
import json

import polars as pl
import pytest

from qbench.corpora.tables import Table
from qbench.corpora.types import Problems
from qbench.errors import InputError


def rows(path, **problems):
    return list(Table(path, **problems).rows())


def written(tmp_path, name, content):
    path = tmp_path / name
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("t.csv", 'a,b\n1,"x, y"\n2,z\n'),
        ("t.csv", "\ufeffa;b\r\n1;x, y\r\n2;z\r\n"),
        ("t.tsv", "a\tb\n1\tx, y\n2\tz\n"),
        ("t.csv.gz", gzip.compress(b'a,b\n1,"x, y"\n2,z\n', mtime=0)),
    ],
)
def test_csv_in_its_dialects(tmp_path, name, content):
    assert rows(written(tmp_path, name, content)) == [(1, {"a": "1", "b": "x, y"}), (2, {"a": "2", "b": "z"})]


def test_nested_json_has_dotted_columns(tmp_path):
    path = written(tmp_path, "t.jsonl", json.dumps({"n": "x", "per": {"fat": 1.5, "deep": {"er": 2}}}) + "\n\n")
    assert rows(path) == [(1, {"n": "x", "per.fat": 1.5, "per.deep.er": 2})]


def test_parquet(tmp_path):
    path = tmp_path / "t.parquet"
    pl.DataFrame({"n": ["x", None], "per": [{"fat": 1.0}, {"fat": None}]}).write_parquet(path)
    assert rows(path) == [(1, {"n": "x", "per.fat": 1.0}), (2, {"n": None, "per.fat": None})]


def test_a_line_that_is_not_utf8_is_windows_text(tmp_path):
    assert rows(written(tmp_path, "t.csv", b"a\ncaf\xe9\ncaf\xc3\xa9\n")) == [(1, {"a": "café"}), (2, {"a": "café"})]


def test_bad_lines_are_skipped_and_counted_or_fatal(tmp_path):
    path = written(tmp_path, "t.csv", "a,b\n1,2\n1,2,3\n4,5\n")
    table = Table(path)
    assert [row["a"] for _, row in table.rows()] == ["1", "4"]
    assert table.problems.counts == {"wrong number of cells": 1}
    with pytest.raises(InputError, match=r"t\.csv:3: 3 cells in a row, and the header has 2"):
        rows(path, problems=Problems("fail"))
    path = written(tmp_path, "t.jsonl", '{"a": 1}\n[1]\n{"a": \n')
    table = Table(path)
    assert [row for _, row in table.rows()] == [{"a": 1}]
    assert table.problems.counts == {"not an object": 1, "bad JSON": 1}


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("t.csv", "", "the table has no rows"),
        ("t.csv", "a,b\n", "the table has no rows"),
        ("t.jsonl", "\n", "the table has no rows"),
        ("t.jsonl", "nonsense\n", "no row of this table can be used"),
        ("t.csv", '"a', "the table has no rows"),
        ("t.parquet", "nonsense", "not a readable Parquet file"),
        ("t.xlsx", "x", "not a table that qbench reads"),
        ("t", "x", "not a table that qbench reads"),
    ],
)
def test_what_is_no_table(tmp_path, name, content, message):
    with pytest.raises(InputError, match=message):
        rows(written(tmp_path, name, content))


def test_a_missing_table(tmp_path):
    with pytest.raises(InputError, match="no such table"):
        Table(tmp_path / "t.csv")


def test_a_cell_of_ten_megabytes(tmp_path):
    path = written(tmp_path, "t.csv", f"a,b\n{'x' * 10_000_000},1\n")
    [(_, row)] = rows(path)
    assert len(row["a"]) == 10_000_000
    assert row["b"] == "1"


@pytest.mark.parametrize(
    ("content", "found"),
    [
        ("a,a,a\n1,2,3\n", [{"a": "1", "a (2)": "2", "a (3)": "3"}]),
        ('"price\nin euro",b\n1,2\n', [{"price\nin euro": "1", "b": "2"}]),
        ('"a; or\n\n, b";c\n1;2\n', [{"a; or\n\n, b": "1", "c": "2"}]),
        ("a,b\r1,2\r3,4\r", [{"a": "1", "b": "2"}, {"a": "3", "b": "4"}]),
        ('a,"b\nc"\r1,"2\n3"\r4,5\r', [{"a": "1", "b\nc": "2\n3"}, {"a": "4", "b\nc": "5"}]),
        ("a,b\r1,2\r3,4", [{"a": "1", "b": "2"}, {"a": "3", "b": "4"}]),
        ('a,b\r\n"1\r\n2",3\r\n', [{"a": "1\n2", "b": "3"}]),
    ],
)
def test_ordinary_csv(tmp_path, content, found):
    assert [row for _, row in Table(written(tmp_path, "t.csv", content)).rows()] == found


@pytest.mark.parametrize(
    ("name", "content", "lines"),
    [
        ("t.csv", 'a,b\n1,"x\ny"\n\n2,z\n', [2, 5]),
        ("t.tsv", "a\tb\n1\tx\nshort\n2\tz\n", [2, 4]),
        ("t.jsonl", '{"a": 1}\n\n{"a": 2}\n', [1, 3]),
    ],
)
def test_the_line_of_a_row_is_known(tmp_path, name, content, lines):
    table = Table(written(tmp_path, name, content), Problems("skip"))
    assert [table.line for _ in table.rows()] == lines
    assert [table.line for _ in table.rows()] == lines


def test_rows_of_parquet_are_numbered(tmp_path):
    pl.DataFrame({"a": [5, 6, 7]}).write_parquet(tmp_path / "t.parquet")
    table = Table(tmp_path / "t.parquet")
    assert [table.line for _ in table.rows()] == [1, 2, 3]
