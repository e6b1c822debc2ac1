"""Rows by a query, over tables and databases."""

from __future__ import annotations

import sqlite3
from contextlib import closing

import pytest

from qbench.corpora.sql import QueriedTable
from qbench.errors import InputError


@pytest.fixture
def csv(tmp_path):
    path = tmp_path / "kettles.csv"
    path.write_text("code,price,name\n007,12.5,Velora\n008,99,Tarnic\n009,n/a,Ormade\n")
    return path


@pytest.fixture
def database(tmp_path):
    path = tmp_path / "shop.db"
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("CREATE TABLE kettles (sku TEXT, price REAL)")
        connection.execute("INSERT INTO kettles VALUES ('K1', 12.5), ('K2', NULL)")
    return path


def test_a_table_is_called_facts(csv):
    table = QueriedTable(csv, sql="SELECT code, price * 2 AS double FROM facts WHERE price < 50 AND name <> 'Ormade'")
    assert list(table.rows()) == [(1, {"code": "007", "double": 25})]
    assert list(table.rows()) == list(table.rows())


def test_a_database_is_read_and_never_written(database):
    before = database.read_bytes()
    rows = list(QueriedTable(database, sql="SELECT * FROM kettles ORDER BY sku").rows())
    assert rows == [(1, {"sku": "K1", "price": 12.5}), (2, {"sku": "K2", "price": None})]
    for query in ("DELETE FROM kettles", "CREATE TABLE more (a)"):
        with pytest.raises(InputError):
            list(QueriedTable(database, sql=query).rows())
    assert database.read_bytes() == before


@pytest.mark.parametrize(
    ("sql", "message"),
    [
        ("SELECT colour FROM facts", "no such column"),
        ("SELECT price, price FROM facts", "two columns of this query have one name"),
        ("SELECT * FROM facts WHERE price > 1e9 AND name = 'x'", "the query gives no row"),
        ("DELETE FROM facts", "the query cannot be answered"),
        ("", "this is no SELECT"),
    ],
)
def test_what_is_no_query_is_said(csv, sql, message):
    with pytest.raises(InputError) as fault:
        list(QueriedTable(csv, sql=sql).rows())
    assert message in str(fault.value)
    assert "kettles.csv" in str(fault.value)


def test_what_is_no_database_is_said(tmp_path):
    with pytest.raises(InputError, match="no such database"):
        QueriedTable(tmp_path / "shop.db", sql="SELECT 1")
    (tmp_path / "shop.db").write_text("no database, whatever its name says, and long enough to be looked at" * 20)
    with pytest.raises(InputError, match="the query cannot be answered"):
        list(QueriedTable(tmp_path / "shop.db", sql="SELECT 1 FROM x").rows())
