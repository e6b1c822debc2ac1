"""A PostgreSQL server as a first stage, and an index written for one: on a real server, where there is one."""

from __future__ import annotations

import subprocess
import threading

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
        postgres.load(connection, "odd", odd_tables())
        (concept,) = connection.execute("SELECT concept FROM odd.mentions").fetchone()
        assert sorted(concept) == sorted(odd_tables().mentions["concept"][0])
        with pytest.raises(OptionError, match="schema"):
            postgres.load(connection, "odd; DROP SCHEMA odd", odd_tables())


def test_several_that_load_at_once_load_once(postgres_address):
    loaded = []

    def load():
        with postgres.connect(postgres_address) as connection:
            loaded.append(postgres.load(connection, "once", odd_tables()))

    threads = [threading.Thread(target=load) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(loaded) == [False, False, False, True]


def test_a_schema_of_something_else_is_not_touched(postgres_address):
    with postgres.connect(postgres_address) as connection:
        connection.execute("CREATE SCHEMA theirs; CREATE TABLE theirs.terms (x int)")
        with pytest.raises(OptionError, match="terms"):
            postgres.load(connection, "theirs", odd_tables())
        assert connection.execute("SELECT count(*) FROM pg_tables WHERE schemaname = 'theirs'").fetchone() == (1,)


def test_files_load_with_psql_and_answer(served_index, postgres_address, tmp_path):
    if program("psql") is None:
        pytest.skip("psql is not installed")
    served = serve.write(served_index, tmp_path / "files", schema="from_files")
    assert served.new
    assert not serve.write(served_index, tmp_path / "files", schema="from_files").new
    with pytest.raises(OptionError, match="--overwrite"):
        serve.write(served_index, tmp_path / "files", schema="other")
    more = tmp_path / "files" / serve.SEARCHES
    call = "EXECUTE search_one('{laptop}', 'kilogram', '-inf', '-inf', 2, 1.9, '{}', 10);\n"
    (tmp_path / "ask.sql").write_text(more.read_text() + call)
    for script in ("load.sql", tmp_path / "ask.sql"):
        done = subprocess.run(
            [str(program("psql")), postgres_address, "-v", "ON_ERROR_STOP=1", "-qAt", "-f", str(script)],
            cwd=tmp_path / "files", capture_output=True, text=True, check=False,
        )  # fmt: skip
        assert done.returncode == 0, done.stderr
    assert len(done.stdout.splitlines()) == 1


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
