"""A PostgreSQL server as a first stage, and an index written for one: on a real server, where there is one."""

from __future__ import annotations

import subprocess
import threading
import time

import pytest

from qbench.errors import OptionError, ServerError
from qbench.quantities.units import load_units
from qbench.retrieval.analysis import tokens
from qbench.retrieval.engines import postgres
from qbench.retrieval.engines import postgres_sql as sql
from qbench.retrieval.engines import serve_postgres as serve
from qbench.retrieval.engines.tables import served_tables
from qbench.retrieval.grammar import parse_system
from qbench.retrieval.passages import passages
from tests.postgres_server import lacking, program
from tests.retrieval.served import BENCHMARK, odd_tables, run


def test_a_password_is_refused_before_anything_runs():
    for address in ("postgresql://me:secret@host/x", "host=a password=secret", "host=a sslpassword=secret"):
        with pytest.raises(OptionError, match="PGPASSWORD") as caught:
            parse_system(f'Postgres(dsn="{address}")')
        assert "secret" not in str(caught.value)


def test_no_server_is_one_line(tmp_path):
    if "psycopg" in lacking():
        pytest.skip(lacking())
    with pytest.raises(ServerError, match="Check the address"):
        run(tmp_path, f'Postgres(dsn="host={tmp_path} user=nobody")')


def test_any_concept_arrives_as_it_is(postgres_address):
    with postgres.connect(postgres_address) as connection:
        postgres.load(connection, "odd", odd_tables(), "k")
        (concept,) = connection.execute("SELECT concept FROM odd.mentions").fetchone()
        assert sorted(concept) == sorted(odd_tables().mentions["concept"][0])
        with pytest.raises(OptionError, match="schema"):
            postgres.load(connection, "odd; DROP SCHEMA odd", odd_tables(), "k")


def test_several_that_load_at_once_load_once(postgres_address):
    loaded = []

    def load():
        with postgres.connect(postgres_address) as connection:
            loaded.append(postgres.load(connection, "once", odd_tables(), "k"))

    threads = [threading.Thread(target=load) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(loaded) == [False, False, False, True]


def test_a_schema_of_something_else_is_not_touched(postgres_address):
    with postgres.connect(postgres_address) as connection:
        connection.execute("CREATE SCHEMA theirs; CREATE TABLE theirs.terms (x int)")
        with pytest.raises(OptionError, match=r"terms.*another --name"):
            postgres.load(connection, "theirs", odd_tables(), "k", overwrite=True)
        assert connection.execute("SELECT count(*) FROM pg_tables WHERE schemaname = 'theirs'").fetchone() == (1,)


def test_settings_of_something_else_are_not_replaced(postgres_address):
    with postgres.connect(postgres_address) as connection:
        connection.execute("CREATE SCHEMA app; CREATE TABLE app.settings (x int); CREATE TABLE app.terms (x int)")
        with pytest.raises(OptionError, match=r"holds something else.*another --name"):
            postgres.load(connection, "app", odd_tables(), "k", overwrite=True)
        assert connection.execute("SELECT count(*) FROM pg_tables WHERE schemaname = 'app'").fetchone() == (2,)


def test_tables_without_a_key_are_replaced_only_if_asked(postgres_address):
    with postgres.connect(postgres_address) as connection:
        postgres.load(connection, "older", odd_tables(), "k")
        connection.execute("ALTER TABLE older.settings DROP COLUMN key")
        with pytest.raises(OptionError, match="--overwrite"):
            postgres.load(connection, "older", odd_tables(), "k")
        assert postgres.load(connection, "older", odd_tables(), "k", overwrite=True)
        assert not postgres.load(connection, "older", odd_tables(), "k")


@pytest.fixture
def role(postgres_address):
    """A role that may create no schema; its address, with a schema of its own, "granted"."""
    with postgres.connect(postgres_address) as connection:
        connection.execute("CREATE ROLE clerk LOGIN; CREATE SCHEMA granted AUTHORIZATION clerk")
        yield postgres_address.replace("user=tester", "user=clerk")
        connection.execute("DROP OWNED BY clerk CASCADE; DROP ROLE clerk")


def test_a_schema_that_is_there_needs_no_right_to_make_one(role, served_index, tmp_path):
    assert serve.serve(served_index, role, "granted").new
    with pytest.raises(ServerError, match="permission denied for database"):
        serve.serve(served_index, role, "elsewhere")
    if program("psql") is None:
        return
    serve.write(served_index, tmp_path / "files", schema="granted")
    with postgres.connect(role) as connection:
        connection.execute("DROP TABLE granted.documents, granted.terms, granted.postings, granted.mentions")
        connection.execute("DROP TABLE granted.settings")
    psql(role, "load.sql", tmp_path / "files")
    # Files and servers write the same.
    assert not serve.serve(served_index, role, "granted").new


def test_who_reads_sees_the_old_or_the_new(postgres_address, role, monkeypatch):
    """And rights on the tables stay, and vectors of the old are gone."""
    with postgres.connect(postgres_address) as connection:
        postgres.load(connection, "swapped", odd_tables(), "old")
        connection.execute("CREATE TABLE swapped.vectors_abc (doc int); GRANT USAGE ON SCHEMA swapped TO clerk")
        connection.execute("GRANT SELECT ON ALL TABLES IN SCHEMA swapped TO clerk")
    halfway, read, seen = threading.Event(), threading.Event(), []
    copied = postgres._copy

    def copy(connection, name, frame):
        copied(connection, name, frame)
        halfway.set()
        time.sleep(0.05)

    def ask():
        with postgres.connect(role) as connection:
            while not read.is_set():
                seen.append(connection.execute("SELECT key, (SELECT count(*) FROM swapped.documents) "
                                               "FROM swapped.settings").fetchone())  # fmt: skip

    monkeypatch.setattr(postgres, "_copy", copy)
    reader = threading.Thread(target=ask)
    reader.start()
    with postgres.connect(postgres_address) as connection:
        assert postgres.load(connection, "swapped", odd_tables(), "new", overwrite=True)
        assert halfway.is_set()
        time.sleep(0.05)
        read.set()
        reader.join()
        assert connection.execute("SELECT to_regclass('swapped.vectors_abc')").fetchone() == (None,)
    assert set(seen) == {("old", 5), ("new", 5)}


def psql(address, script, folder):
    """Run a script in a folder; what it prints."""
    done = subprocess.run(
        [str(program("psql")), address, "-v", "ON_ERROR_STOP=1", "-qAt", "-f", str(script)],
        cwd=folder, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


@pytest.mark.parametrize("schema", ["from_files", "both"])
def test_files_load_with_psql_and_answer(served_index, postgres_address, tmp_path, schema):
    if program("psql") is None:
        pytest.skip("psql is not installed")
    served = serve.write(served_index, tmp_path / "files", schema=schema)
    assert served.new
    assert not serve.write(served_index, tmp_path / "files", schema=schema).new
    with pytest.raises(OptionError, match="--overwrite"):
        serve.write(served_index, tmp_path / "files", schema="other")
    more = tmp_path / "files" / serve.SEARCHES
    call = "EXECUTE search_one('{laptop}', 'kilogram', '-inf', '-inf', 2, 1.9, '{}', 10);\n"
    (tmp_path / "ask.sql").write_text(more.read_text() + call)
    psql(postgres_address, "load.sql", tmp_path / "files")
    assert len(psql(postgres_address, tmp_path / "ask.sql", tmp_path / "files")) == 1


def test_parameters_are_named_and_numbered():
    assert sql.for_psycopg("a = {base_unit_0} LIMIT {depth}") == ("a = %(base_unit_0)s::text LIMIT %(depth)s::integer")
    assert sql.prepared("p", "{depth} {tokens} {depth}") == "PREPARE p (integer, text[]) AS\n$1 $2 $1;\n"


def test_tables_hold_what_bm25_holds():
    tables = served_tables(passages(BENCHMARK.corpus), BENCHMARK.quantities.clear(), load_units())
    words = [tokens(text) for text in tables.documents["passage"]]
    assert tables.documents["tokens"].to_list() == [len(each) for each in words]
    counted = tables.postings.join(tables.terms, on="term")
    for token, doc, count in counted.select("token", "doc", "count").iter_rows():
        assert words[doc].count(token) == count
    assert tables.postings["count"].sum() == sum(map(len, words))
