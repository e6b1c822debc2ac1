"""A PostgreSQL server as a first stage, and an index written for one: on a real server, where there is one."""

from __future__ import annotations

import json
import math
import subprocess
import tempfile
import threading
from pathlib import Path

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from qbench.errors import OptionError, ServerError
from qbench.index.build import build_index
from qbench.quantities.conditions import verdict
from qbench.quantities.types import COMPARATORS, MENTION_COMPARATORS, quantity_schema, to_row
from qbench.quantities.units import load_units
from qbench.retrieval.analysis import tokens
from qbench.retrieval.engines import postgres
from qbench.retrieval.engines import postgres_sql as sql
from qbench.retrieval.engines import serve_postgres as serve
from qbench.retrieval.engines.tables import served_tables
from qbench.retrieval.engines.windows import windows
from qbench.retrieval.execute import execute
from qbench.retrieval.grammar import parse_system
from qbench.retrieval.jobs import ExecuteOptions
from qbench.retrieval.passages import passages
from tests.factories import condition, quantity, tiny_benchmark
from tests.postgres_server import lacking, program, running

BENCHMARK = tiny_benchmark()
NUMBERS = st.sampled_from((0.0, 1.0, -2.0, 5.0, 5.000000001, 5.00000001, 4.999999999, 8.0, 3e9))


@pytest.fixture(scope="session")
def server(tmp_path_factory):
    if reason := lacking():
        pytest.skip(reason)
    # Not below the folders of pytest, which only their owner may enter.
    with tempfile.TemporaryDirectory(prefix="qbench-postgres-") as name:
        folder = Path(name)
        folder.chmod(0o755)
        with running(folder) as address:
            yield address


def run(folder, *names, benchmark=BENCHMARK):
    return execute(benchmark, [parse_system(name) for name in names], folder, ExecuteOptions(settings=("given",)))


@given(
    st.sampled_from(MENTION_COMPARATORS), st.sampled_from(COMPARATORS), st.tuples(NUMBERS, NUMBERS),
    st.tuples(NUMBERS, NUMBERS),
)  # fmt: skip
def test_windows_say_what_verdicts_do(stated, asked, mention, wanted):
    low, high = sorted(mention) if stated == "between" else (mention[0], mention[0])
    given_quantity = quantity("5", "5", low, "kilogram", comparator=stated, high=high)
    bounds = sorted(wanted) if asked == "between" else (wanted[0], wanted[0])
    query = condition("x", asked, bounds[0], "kilogram", high=bounds[1])
    found = any(
        window.holds(
            -math.inf if stated in ("<", "<=") else low,
            math.inf if stated in (">", ">=") else high,
            low_open=stated == ">",
            high_open=stated == "<",
        )
        for window in windows(query)
    )
    assert found == (verdict(given_quantity, query) == "met")


@pytest.mark.parametrize("name", ["", "_filter"])
def test_a_server_ranks_as_we_do_to_the_last_bit(tmp_path, server, name):
    ours, theirs = run(tmp_path, f"BM25{name}", f'Postgres{name}(dsn="{server}")')
    assert ours.run.equals(theirs.run)
    assert ours.run.height
    assert theirs.cost.index_bytes


def test_parameters_of_bm25_are_the_servers_too(tmp_path, server):
    ours, theirs = run(tmp_path, "BM25(k1=0.9, b=0.4)", f'Postgres(dsn="{server}", k1=0.9, b=0.4)')
    assert ours.run.equals(theirs.run)


def test_scores_of_ours_follow_a_servers(tmp_path, server):
    address = f'dsn="{server}"'
    systems = ["QBM25(terms=all)", f"QPostgres(terms=all, {address})", "BM25 + BM25", f"Postgres({address}) + BM25"]
    systems += ["BindBM25", f"BindPostgres({address})"]
    results = run(tmp_path, *systems)
    for ours, theirs in zip(results[::2], results[1::2], strict=True):
        assert ours.run.equals(theirs.run), ours.label


def test_concepts_can_be_asked_for(tmp_path, server):
    wide, narrow = run(tmp_path, *(f'Postgres_filter(dsn="{server}", concepts={c})' for c in ("ignored", "shared")))
    assert 0 < narrow.run.height < wide.run.height
    together = narrow.run.join(wide.run, on=["query_id", "doc_id", "score"])
    assert together.height == narrow.run.height


def test_the_address_is_in_no_key(tmp_path, server):
    once, again = run(tmp_path, f'Postgres(dsn="{server}")', f'Postgres(dsn="{server} application_name=x")')
    assert once.run.equals(again.run)
    assert len(list((tmp_path / "runs").iterdir())) == 1


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


ODD = pl.DataFrame(
    {
        "doc_id": ['d"1', "d,2", "d\n3", "d\\4", ""],
        "passage": ['a "quoted" one, and 5', "zero\x00byte", "línea\r\nother \\N \\. one", "one" * 2000, ""],
    }
).sort("doc_id", descending=True)


def odd_tables():
    kept = [quantity("5", "5", 5, "kilogram", concept='a"b c\\d NULL {x,y}')]
    rows = [to_row('d"1', each) for each in kept]
    return served_tables(ODD, pl.DataFrame(rows, schema=quantity_schema(), orient="row"), load_units())


def test_any_text_arrives_as_it_is(server):
    with postgres.connect(server) as connection:
        assert postgres.load(connection, "odd", odd_tables())
        rows = connection.execute("SELECT doc_id, passage FROM odd.documents ORDER BY doc").fetchall()
        expected = ODD.with_columns(pl.col("passage").str.replace("\x00", "", literal=True)).rows()
        assert rows == expected
        (concept,) = connection.execute("SELECT concept FROM odd.mentions").fetchone()
        assert sorted(concept) == sorted(odd_tables().mentions["concept"][0])
        assert not postgres.load(connection, "odd", odd_tables())
        with pytest.raises(OptionError, match="schema"):
            postgres.load(connection, "odd; DROP SCHEMA odd", odd_tables())


def test_several_that_load_at_once_load_once(server):
    loaded = []

    def load():
        with postgres.connect(server) as connection:
            loaded.append(postgres.load(connection, "crowded", odd_tables()))

    threads = [threading.Thread(target=load) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(loaded) == [False, False, False, True]


def test_a_schema_of_something_else_is_not_touched(server):
    with postgres.connect(server) as connection:
        connection.execute("CREATE SCHEMA theirs; CREATE TABLE theirs.terms (x int)")
        with pytest.raises(OptionError, match="terms"):
            postgres.load(connection, "theirs", odd_tables())
        assert connection.execute("SELECT count(*) FROM pg_tables WHERE schemaname = 'theirs'").fetchone() == (1,)


LINES = [
    {"doc_id": "a", "text": "The old laptop weighs 3 kg. The new laptop weighs 1.2 kg."},
    {"doc_id": "b", "text": "A laptop of more than 2 kg costs $900."},
    {"doc_id": "c", "text": "The parcel weighs 1 kg."},
]


@pytest.fixture(scope="module")
def index(tmp_path_factory):
    folder = tmp_path_factory.mktemp("served")
    (folder / "corpus.jsonl").write_text("\n".join(map(json.dumps, LINES)))
    return build_index(folder / "corpus.jsonl", folder / "index", workers=1)


def test_an_index_is_served(index, server):
    first, second = serve.serve(index, server), serve.serve(index, server)
    assert (first.new, second.new) == (True, False)
    assert first.place == second.place
    statement, parameters = serve.shown_search(index, "laptop under 4 lb")
    with postgres.connect(server) as connection:
        connection.execute(f"SET search_path = {first.place}")
        found = connection.execute(statement, parameters).fetchall()
        ids = passages(index.sentences().collect())["doc_id"]
    assert [ids[doc] for doc, _ in found] == ["a::1"]


def test_files_load_with_psql_and_answer(index, server, tmp_path):
    if program("psql") is None:
        pytest.skip("psql is not installed")
    served = serve.write(index, tmp_path / "files", schema="from_files")
    assert served.new
    assert not serve.write(index, tmp_path / "files", schema="from_files").new
    with pytest.raises(OptionError, match="--overwrite"):
        serve.write(index, tmp_path / "files", schema="other")
    more = tmp_path / "files" / serve.SEARCHES
    call = "EXECUTE search_one('{laptop}', 'kilogram', '-inf', '-inf', 2, 1.9, '{}', 10);\n"
    (tmp_path / "ask.sql").write_text(more.read_text() + call)
    for script in ("load.sql", tmp_path / "ask.sql"):
        done = subprocess.run(
            [str(program("psql")), server, "-v", "ON_ERROR_STOP=1", "-qAt", "-f", str(script)],
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
