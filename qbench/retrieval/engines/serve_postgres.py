"""An index written for PostgreSQL: into a server, or into files that psql loads."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from qbench.index.disk import Index
from qbench.retrieval.engines import postgres_sql as sql
from qbench.retrieval.engines.postgres import (
    ROWS,
    checked_schema,
    connect,
    copy_statement,
    csv_of,
    has_tables,
    load,
    query_parameters,
)
from qbench.retrieval.engines.serving import Served, asked_query, index_key, tables_of, write_files
from qbench.retrieval.engines.windows import windows
from qbench.store import Draft

LOAD = "load.sql"
SEARCHES = "search.sql"


def serve(index: Index, dsn: str, schema: str = "") -> Served:
    """Write an index into a PostgreSQL server; in one transaction, and once.

    Args:
        index: whose sentences are searched.
        dsn: address as libpq reads it, without a password; "auto" for what the environment names.
        schema: name of the schema; by default one of the index's own.

    Raises:
        MissingPackageError: psycopg is not installed.
        OptionError: the address holds a password, or the schema's name needs quotes.
        ServerError: the server cannot be reached, or refuses.
    """
    schema = checked_schema(schema or f"qbench_{index_key(index, 'postgres')}")
    with connect(dsn) as connection:
        new = not has_tables(connection, schema) and load(connection, schema, tables_of(index))
    return Served(schema, new)


def write(index: Index, output: Path, schema: str = "qbench", *, overwrite: bool = False) -> Served:
    """Write an index as files for psql: `load.sql`, a CSV file for each table, and `search.sql`.

    Args:
        index: whose sentences are searched.
        output: the folder.
        schema: name of the schema that `load.sql` makes.
        overwrite: replace another served index in `output`.

    Raises:
        OptionError: the schema's name needs quotes, or `output` holds something else.
        BusyError: another process is writing to `output`.
    """
    checked_schema(schema)

    def make(draft: Draft) -> None:
        tables = tables_of(index).frames()
        for name, frame in tables.items():
            with (draft.folder / f"{name}.csv").open("wb") as stream:
                for start in range(0, frame.height, ROWS):
                    stream.write(csv_of(frame.slice(start, ROWS)))
        copies = {name: copy_statement(name, frame, f"'{name}.csv'") for name, frame in tables.items()}
        (draft.folder / LOAD).write_text(_load(schema, copies), encoding="utf-8")
        (draft.folder / SEARCHES).write_text(_searches(schema), encoding="utf-8")
        draft.counts = {name: frame.height for name, frame in tables.items()}

    new = write_files(index, output, {"engine": "postgres", "schema": schema}, make, overwrite)
    return Served(str(output), new)


def shown_search(index: Index, query: str, depth: int = 10) -> tuple[str, dict[str, Any]]:
    """The statement that answers a query, as psycopg takes it, and its parameters.

    Args:
        index: whose extractor reads the query.
        query: its text.
        depth: number of documents.
    """
    asked = asked_query(index, query)
    conditions = asked.conditions
    statement = sql.filtered([len(windows(condition)) for condition in conditions]) if conditions else sql.SEARCH
    parameters = query_parameters(asked.tokens, conditions, "ignored", asked.language)
    return sql.for_psycopg(statement), {**parameters, "depth": depth}


def shown(index: Index, query: str) -> str:
    """The statement that answers a query, and its parameters, for people."""
    statement, parameters = shown_search(index, query)
    return f"{statement}\n\n-- {query}\n-- {json.dumps(parameters, ensure_ascii=False)}"


def _load(schema: str, copies: Mapping[str, str]) -> str:
    """The script that makes the tables; psql reads the files of its `copy` in the folder that it runs in."""
    lines = [
        "-- Run in this folder: psql -v ON_ERROR_STOP=1 -f load.sql",
        "BEGIN;",
        f"CREATE SCHEMA {schema};",
        f"SET LOCAL search_path = {schema};",
        sql.TABLES.rstrip(),
        *(f"\\{copy}" for copy in copies.values()),
        sql.INDEXES.rstrip(),
        "COMMIT;",
        "-- So that postings are read from their index alone.",
        *(f"VACUUM (ANALYZE) {schema}.{name};" for name in copies),
    ]
    return "\n".join(lines) + "\n"


def _searches(schema: str) -> str:
    """The statements that rank, prepared, and a call of each."""
    return "\n".join(
        [
            f"SET search_path = {schema};",
            "SET jit = off;",
            "",
            "-- The best documents for some tokens.",
            sql.prepared("search", sql.SEARCH),
            "-- Those in which one condition is met: tokens, base_unit, low_from, low_above, high_to, high_below,",
            "-- concept (words, or {} for any), depth. A condition with != has two windows, see the documentation.",
            sql.prepared("search_one", sql.filtered([1])),
            "-- Those in which two are.",
            sql.prepared("search_two", sql.filtered([1, 1])),
            "-- low_from to high_below of a query: qbench serve-index INDEX --query 'laptop under 2 kg'",
            "-- EXECUTE search_one('{laptop}', 'kilogram', '-inf', '-inf', 2.000000002, 1.9999999979999998, '{}', 10);",
            "",
        ]
    )
