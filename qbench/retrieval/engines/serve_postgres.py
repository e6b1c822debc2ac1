"""An index written for PostgreSQL: into a server, or into files that psql loads."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

from qbench.compression.plain import DTYPES
from qbench.index.disk import Index
from qbench.models.folders import model_digest, model_folder
from qbench.models.single_vector import load_encoder
from qbench.retrieval.dense import build_dense
from qbench.retrieval.engines import postgres_sql as sql
from qbench.retrieval.engines.pgvector import nearest_search, vector_lines, write_vectors
from qbench.retrieval.engines.postgres import (
    ROWS,
    checked_schema,
    connect,
    copy_statement,
    csv_of,
    frames_of,
    identifier,
    is_complete,
    named,
    query_parameters,
    vacuum,
    write_tables,
)
from qbench.retrieval.engines.serving import Served, asked_query, index_key, tables_of, write_files
from qbench.retrieval.engines.windows import windows
from qbench.retrieval.passages import passages
from qbench.retrieval.ranker_options import Concepts, PgVectorOptions
from qbench.retrieval.rankers import RankerContext, Search
from qbench.retrieval.vectors import StoredVectors, open_built
from qbench.store import Draft

LOAD = "load.sql"
SEARCHES = "search.sql"

FUSED = 100
"""Documents of each ranking that the query shown fuses."""


def serve(index: Index, dsn: str, schema: str = "", *, model: str = "", overwrite: bool = False) -> Served:
    """Write an index into a PostgreSQL server; in one transaction, and once.

    Who asks the tables while another index is replaced waits, and gets the new ones.

    Args:
        index: whose sentences are searched.
        dsn: address as libpq reads it, without a password; "auto" for what the environment names.
        schema: name of the schema; by default one of the index's own.
        model: single-vector model whose vectors are written as well, with a graph over them; "" for none.
        overwrite: replace another index in the schema, and its vectors.

    Raises:
        MissingPackageError: psycopg is not installed, or what models need.
        OptionError: the address holds a password, not a name of a schema, or the schema holds something else.
        ServerError: the server cannot be reached, or refuses.
    """
    key = index_key(index, "postgres")
    schema = checked_schema(schema or f"qbench_{key}")
    with connect(dsn) as connection, ExitStack() as stack:
        tables = None if is_complete(connection, schema, key, overwrite=overwrite) else tables_of(index)
        vectors = stack.enter_context(_vectors(index, model)) if model else None
        with named(), connection.transaction():
            made = tables is not None and write_tables(connection, schema, tables, key, overwrite=overwrite)
            added = vectors is not None and write_vectors(connection, schema, vectors_name(model), vectors)
            if model:
                connection.execute(sql.vectors_index(vectors_name(model)).encode())
        if made:
            vacuum(connection, schema)
    return Served(schema, made or added)


def vectors_name(model: str) -> str:
    """The table of the vectors of a model."""
    return f"vectors_{model_digest(model_folder(model), None)[:12]}"


@contextmanager
def _vectors(index: Index, model: str) -> Iterator[StoredVectors]:
    """The vectors of an index's sentences, encoded in blocks into a folder that is removed afterwards."""
    corpus = passages(index.sentences().collect())
    with tempfile.TemporaryDirectory(prefix="qbench-") as folder:
        context = RankerContext(corpus, index.manifest.digest, Path(folder))
        built = build_dense(load_encoder(model), {"model": vectors_name(model)}, "float32", context)
        yield open_built(built.folder, DTYPES["float32"])


def write(index: Index, output: Path, schema: str = "qbench", *, model: str = "", overwrite: bool = False) -> Served:
    """Write an index as files for psql: `load.sql`, a file for each table, and `search.sql`.

    Args:
        index: whose sentences are searched.
        output: the folder.
        schema: name of the schema that `load.sql` makes.
        model: single-vector model whose vectors are written as well, with a graph over them; "" for none.
        overwrite: replace another served index in `output`.

    Raises:
        OptionError: not a name of a schema, or `output` holds something else.
        BusyError: another process is writing to `output`.
    """
    checked_schema(schema)

    def make(draft: Draft) -> None:
        tables = frames_of(tables_of(index), index_key(index, "postgres"))
        for name, frame in tables.items():
            with (draft.folder / f"{name}.csv").open("wb") as stream:
                for start in range(0, frame.height, ROWS):
                    stream.write(csv_of(frame.slice(start, ROWS)))
        copies = {name: copy_statement(name, frame, f"'{name}.csv'") for name, frame in tables.items()}
        more = _write_vectors(draft.folder, index, model) if model else []
        (draft.folder / LOAD).write_text(_load(schema, copies, more), encoding="utf-8")
        (draft.folder / SEARCHES).write_text(_searches(schema), encoding="utf-8")
        draft.counts = {name: frame.height for name, frame in tables.items()}

    what = {"engine": "postgres", "schema": schema, **({"vectors": vectors_name(model)} if model else {})}
    new = write_files(index, output, what, make, overwrite)
    return Served(str(output), new)


def _write_vectors(folder: Path, index: Index, model: str) -> list[str]:
    """Write the vectors of a model; returns the lines of `load.sql` that load them."""
    name = vectors_name(model)
    with _vectors(index, model) as vectors:
        with (folder / f"{name}.tsv").open("wb") as stream:
            stream.writelines(vector_lines(vectors))
        dimension = vectors.dimension
    return [
        "CREATE EXTENSION IF NOT EXISTS vector SCHEMA public;",
        sql.vectors_table(name, dimension).replace(" vector(", " public.vector("),
        f"\\COPY {name} (doc, vector) FROM '{name}.tsv'",
        sql.vectors_index(name).replace("vector_ip_ops", "public.vector_ip_ops"),
    ]


def shown_search(
    index: Index, query: str, depth: int = 10, *, model: str = "", concepts: Concepts = "ignored"
) -> tuple[str, dict[str, Any]]:
    """The statement that answers a query, as psycopg takes it, and its parameters.

    Args:
        index: whose extractor reads the query.
        query: its text.
        depth: number of documents.
        model: whose vectors were written; the ranks by vectors and by BM25 are fused. "" for BM25 alone.
        concepts: "shared" if the concept of a mention must share a word with its condition's.
    """
    asked = asked_query(index, query)
    if model:
        (vector,) = load_encoder(model).encode([query], "query")
        search = Search("", query, tokens=asked.tokens, vector=vector)
        options = PgVectorOptions(model=model, hybrid="bm25", candidates=FUSED, concepts=concepts)
        fused, places = nearest_search(vectors_name(model), search, asked.conditions, options, depth, asked.language)
        return sql.for_psycopg(fused), places
    conditions = asked.conditions
    statement = sql.filtered([len(windows(condition)) for condition in conditions]) if conditions else sql.SEARCH
    parameters = query_parameters(asked.tokens, conditions, concepts, asked.language)
    return sql.for_psycopg(statement), {**parameters, "depth": depth}


def shown(index: Index, query: str, *, model: str = "", concepts: Concepts = "ignored") -> str:
    """The statement that answers a query, and its parameters, for people: of a vector the first numbers."""
    statement, parameters = shown_search(index, query, model=model, concepts=concepts)
    if "vector" in parameters:
        parameters["vector"] = f"{','.join(parameters['vector'].split(',')[:3])}, ...]"
    return f"{statement}\n\n-- {query}\n-- {json.dumps(parameters, ensure_ascii=False)}"


def _load(schema: str, copies: Mapping[str, str], more: Sequence[str] = ()) -> str:
    """The script that makes the tables; psql reads the files of its `copy` in the folder that it runs in."""
    name = identifier(schema)
    lines = [
        "-- Run in this folder: psql -v ON_ERROR_STOP=1 -f load.sql",
        "BEGIN;",
        # Where it is there, the right to create schemas is not needed.
        f"SELECT to_regnamespace('{name}') IS NULL AS missing \\gset",
        "\\if :missing",
        f"CREATE SCHEMA {name};",
        "\\endif",
        f"SET LOCAL search_path = {name};",
        sql.TABLES.rstrip(),
        *(f"\\{copy}" for copy in copies.values()),
        sql.INDEXES.rstrip(),
        *more,
        "COMMIT;",
        "-- So that postings are read from their index alone.",
        *(f"VACUUM (ANALYZE) {name}.{table};" for table in copies),
    ]
    return "\n".join(lines) + "\n"


def _searches(schema: str) -> str:
    """The statements that rank, prepared, and a call of each."""
    return "\n".join(
        [
            f"SET search_path = {identifier(schema)};",
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
