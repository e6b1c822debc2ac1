"""`Postgres`: BM25 and the filter of *Numbers Matter* (section 4) computed by a PostgreSQL server."""

from __future__ import annotations

import re
import time
import weakref
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from qbench.errors import InputError, OptionError, ServerError
from qbench.extras import needed
from qbench.quantities.concept_match import folded
from qbench.quantities.types import Condition
from qbench.retrieval.engines import postgres_sql as sql
from qbench.retrieval.engines.ranker import ServedRanker, ranked, tables_key
from qbench.retrieval.engines.tables import ServedTables, Weights, served_tables
from qbench.retrieval.engines.windows import windows
from qbench.retrieval.ranker_options import PostgresOptions, refuse_password
from qbench.retrieval.rankers import Candidates, OpenedRanker, RankerContext, Search, Terms
from qbench.retrieval.systems import Stage

if TYPE_CHECKING:
    import psycopg

ROWS = 100_000
"""Rows sent together."""

EXTENSION = "Install what it lacks there; vectors need pgvector (Debian: postgresql-NN-pgvector)"

_NAME = re.compile(r"[a-z_][a-z0-9_]{0,62}")


def open_postgres(stage: Stage, options: PostgresOptions, context: RankerContext) -> OpenedRanker:
    """A first stage on a PostgreSQL server; the tables are written there if they are missing.

    Raises:
        MissingPackageError: psycopg is not installed.
        OptionError: the address holds a password.
        ServerError: the server cannot be reached, or refuses.
    """
    weights = Weights(options.k1, options.b, options.epsilon)
    connection = connect(options.dsn)
    try:
        start = time.perf_counter()
        schema = with_tables(connection, context, weights)
        seconds = time.perf_counter() - start
        ranker = Postgres(connection, schema, context.corpus.height, options.concepts, context.language)
        return OpenedRanker(ranker, seconds, stored_bytes(connection, schema))
    except BaseException:
        connection.close()
        raise


def with_tables(connection: psycopg.Connection[Any], context: RankerContext, weights: Weights) -> str:
    """The schema with the tables of a corpus, written if they are missing.

    Raises:
        ServerError: the server refuses.
    """
    key = tables_key(context, weights)
    schema = f"qbench_{key}"
    if not is_complete(connection, schema, key):
        corpus, mentions = context.corpus, context.quantities().table
        tables = served_tables(corpus, mentions, context.units(), weights=weights, language=context.language)
        load(connection, schema, tables, key)
    return schema


class Postgres(ServedRanker):
    """BM25 in SQL, and conditions with it.

    Args:
        connection: to the server; closed with the ranker.
        schema: of the tables.
        size: number of documents.
        concepts: whether a mention meets a condition only if their concepts share a word.
        language: code of the texts' language.
    """

    def __init__(
        self, connection: psycopg.Connection[Any], schema: str, size: int, concepts: str, language: str
    ) -> None:
        super().__init__(size, language)
        self.concepts = concepts
        self._connection = connection
        self._close = weakref.finalize(self, connection.close)
        with named():
            connection.execute(f"SET search_path = {identifier(schema)}")

    def search(self, search: Search) -> Candidates:
        """The documents that hold at least one of the tokens, with their BM25 scores."""
        found = self._ranked(sql.SEARCH, tokens=_sent(search.tokens), depth=None)
        order = np.argsort(found.docs)
        return Candidates(found.docs[order], found.scores[order])

    def best(self, searches: Sequence[Search], depth: int) -> list[Candidates]:
        """The best documents of each search, best first."""
        return [self._ranked(sql.SEARCH, tokens=_sent(search.tokens), depth=depth) for search in searches]

    def best_satisfying(self, search: Search, conditions: Sequence[Condition], depth: int) -> Candidates:
        """The best documents in which every condition is met; without conditions, the best of all."""
        if not conditions:
            return self.best([search], depth)[0]
        asked = query_parameters(search.tokens, conditions, self.concepts, self.language)
        statement = sql.filtered([len(windows(condition)) for condition in conditions])
        return self._ranked(statement, **asked, depth=depth)

    def holding(self, search: Search, terms: Terms) -> NDArray[np.intp]:
        """The documents that hold any, or all, of the tokens."""
        least = 1 if terms == "any" else len(set(search.tokens))
        rows = self._rows(sql.HOLDING, tokens=_sent(search.tokens), least=least)
        return np.array([doc for (doc,) in rows], dtype=np.intp)

    def _ranked(self, statement: str, **parameters: Any) -> Candidates:
        return ranked((score, doc) for doc, score in self._rows(statement, **parameters))

    def _rows(self, statement: str, **parameters: Any) -> list[tuple[Any, ...]]:
        return rows_of(self._connection, statement, parameters)


def rows_of(
    connection: psycopg.Connection[Any], statement: str, parameters: Mapping[str, Any]
) -> list[tuple[Any, ...]]:
    """The rows that a statement with named places finds.

    Raises:
        ServerError: the server refuses, or is gone.
    """
    with named():
        # Never prepared: a plan for any tokens takes no account of how frequent these are.
        found = connection.execute(sql.for_psycopg(statement), dict(parameters), prepare=False, binary=True)
        rows: list[tuple[Any, ...]] = found.fetchall()
    return rows


def query_parameters(
    tokens: Sequence[str], conditions: Sequence[Condition], concepts: str, language: str
) -> dict[str, Any]:
    """The parameters of `postgres_sql.filtered`, but for the depth.

    Args:
        tokens: of the query.
        conditions: at least one.
        concepts: "shared" if the concept of a mention must share a word with its condition's; else "ignored".
        language: code of the texts' language.
    """
    parameters: dict[str, Any] = {"tokens": _sent(tokens)}
    for number, condition in enumerate(conditions):
        parameters[f"base_unit_{number}"] = condition.base_unit
        words = folded(condition.concept, language) if concepts == "shared" else ()
        parameters[f"concept_{number}"] = sorted(words)
        for place, window in enumerate(windows(condition)):
            parameters |= {f"{name}_{number}_{place}": edge for name, edge in asdict(window).items()}
    return parameters


def _sent(tokens: Sequence[str]) -> list[str]:
    return [token.replace("\x00", "") for token in tokens]


def quoted(word: str) -> str:
    r"""A word as an array of PostgreSQL is written.

    >>> print(quoted('say "a\\b"'))
    "say \"a\\b\""
    """
    return '"' + word.replace("\x00", "").replace("\\", "\\\\").replace('"', '\\"') + '"'


def connect(dsn: str) -> psycopg.Connection[Any]:
    """A connection to a server; each statement is its own transaction.

    Args:
        dsn: address as libpq reads it; "auto" for what the environment names (PGHOST, PGSERVICE, ...).

    Raises:
        MissingPackageError: psycopg is not installed.
        OptionError: the address holds a password.
        ServerError: the server cannot be reached, or refuses.
    """
    refuse_password(dsn)
    driver = needed("psycopg", "postgres", "PostgreSQL")
    with named():
        connection: psycopg.Connection[Any] = driver.connect("" if dsn == "auto" else dsn, autocommit=True)
        # Compiling a query takes longer than the query.
        connection.execute("SET jit = off")
    return connection


def checked_schema(name: str) -> str:
    """A name of a schema: the same in quotes and without, unless it is a reserved word.

    Raises:
        OptionError: it is none.
    """
    if not _NAME.fullmatch(name):
        raise OptionError("not a schema's name", value=name, remedy="Use small letters, digits and _, at most 63")
    return name


def identifier(schema: str) -> str:
    """The name of a schema as SQL takes it: in quotes, since reserved words are names, too.

    Raises:
        OptionError: not a name of a schema.
    """
    return f'"{checked_schema(schema)}"'


def is_complete(connection: psycopg.Connection[Any], schema: str, key: str, *, overwrite: bool = False) -> bool:
    """Whether a schema holds the tables of a key; they are written in one transaction, so it holds all or none.

    Args:
        connection: with the right to read the tables.
        schema: its name.
        key: of the content.
        overwrite: tables of another key are to be replaced.

    Raises:
        OptionError: not a name of a schema; or it holds something that is not to be replaced.
        ServerError: the server refuses.
    """
    held = _held_key(connection, schema)
    if held in (None, key):
        return held == key
    if not overwrite:
        remedy = "Give --overwrite to replace it, or choose another --name"
        raise OptionError(f"the schema {schema} is there, and holds something else", remedy=remedy)
    return False


def _held_key(connection: psycopg.Connection[Any], schema: str) -> str | None:
    """The key of the tables of a schema; None if there are none, "" if they were written before keys were.

    Raises:
        OptionError: not a name of a schema, or the schema holds tables of something else.
    """
    settings = f"{identifier(schema)}.settings"
    with named():
        columns = {
            name
            for (name,) in connection.execute(
                "SELECT attname FROM pg_attribute WHERE attrelid = to_regclass(%s) AND attnum > 0", (settings,)
            )
        }
        if not columns:
            return None
        if "mean_tokens" not in columns:
            raise OptionError(f"the schema {schema} is there, and holds something else", remedy="Choose another --name")
        if "key" not in columns:
            return ""
        found = connection.execute(f"SELECT key FROM {settings}").fetchone()  # noqa: S608  a checked name
    return str(found[0]) if found else ""


def load(
    connection: psycopg.Connection[Any], schema: str, tables: ServedTables, key: str, *, overwrite: bool = False
) -> bool:
    """Write the tables into a schema; several at once do it once.

    Args:
        connection: with the right to create tables in the schema, and the schema itself if it is missing.
        schema: its name.
        tables: what to write.
        key: of their content.
        overwrite: replace tables of another key, and vectors beside them.

    Returns:
        whether they were written now; False where they were there.

    Raises:
        OptionError: not a name of a schema, or the schema holds something else.
        ServerError: the server refuses.
    """
    with named(), connection.transaction():
        new = write_tables(connection, schema, tables, key, overwrite=overwrite)
    if new:
        vacuum(connection, schema)
    return new


def write_tables(
    connection: psycopg.Connection[Any], schema: str, tables: ServedTables, key: str, *, overwrite: bool
) -> bool:
    """`load` within a transaction, without what cannot be done in one."""
    with named():
        connection.execute("SELECT pg_advisory_xact_lock(hashtext(%s))", (checked_schema(schema),))
        if is_complete(connection, schema, key, overwrite=overwrite):
            return False
        # Asked first: IF NOT EXISTS needs the right to create schemas even where it creates none.
        if connection.execute("SELECT to_regnamespace(%s) IS NULL", (identifier(schema),)).fetchone() == (True,):
            connection.execute(f"CREATE SCHEMA {identifier(schema)}".encode())
        connection.execute(f"SET LOCAL search_path = {identifier(schema)}".encode())
        grants = _dropped(connection, schema) if overwrite else []
        connection.execute(sql.TABLES.encode())
        for name, frame in frames_of(tables, key).items():
            _copy(connection, name, frame)
        connection.execute(sql.INDEXES.encode())
        for grant in grants:
            connection.execute(grant.encode())
    return True


def _dropped(connection: psycopg.Connection[Any], schema: str) -> list[str]:
    """Drop the tables of another index, and the vectors beside them; returns what gives others their rights again."""
    if _held_key(connection, schema) is None:
        return []
    where = {"schema": identifier(schema), "tables": list(sql.ORDER)}
    grants = [statement for (statement,) in connection.execute(sql.GRANTS, where)]
    vectors = [
        f'"{name}"'
        for (name,) in connection.execute(
            "SELECT relname FROM pg_class WHERE relnamespace = to_regnamespace(%(schema)s) AND relkind = 'r'"
            " AND relname ~ '^vectors_[0-9a-z]+$' ORDER BY relname",
            where,
        )
    ]
    first, second, *others = sql.ORDER
    connection.execute(f"DROP TABLE {', '.join([first, second, *vectors, *others])}".encode())
    return grants


def vacuum(connection: psycopg.Connection[Any], schema: str) -> None:
    """Let the server count the tables; without it, it reads each posting's row besides the index."""
    with named():
        for name in sql.ORDER:
            connection.execute(f"VACUUM (ANALYZE) {identifier(schema)}.{name}".encode())


def frames_of(tables: ServedTables, key: str) -> dict[str, pl.DataFrame]:
    """The tables by name, the key of their content among the settings."""
    return {**tables.frames(), "settings": tables.settings.with_columns(key=pl.lit(key))}


def _copy(connection: psycopg.Connection[Any], name: str, frame: pl.DataFrame) -> None:
    with connection.cursor() as cursor, cursor.copy(copy_statement(name, frame).encode()) as copy:
        for start in range(0, frame.height, ROWS):
            copy.write(csv_of(frame.slice(start, ROWS)))


def copy_statement(name: str, frame: pl.DataFrame, source: str = "STDIN") -> str:
    """The COPY of a table, from CSV without a header."""
    return f"COPY {name} ({', '.join(frame.columns)}) FROM {source} (FORMAT csv)"


def csv_of(frame: pl.DataFrame) -> bytes:
    """Rows as CSV that COPY reads: texts in quotes, arrays in braces, without the character that PostgreSQL refuses."""
    lists = [name for name, kind in frame.schema.items() if isinstance(kind, pl.List)]
    arrays = [
        pl.Series(name, ["{" + ",".join(map(quoted, words)) + "}" for words in frame[name]], dtype=pl.String)
        for name in lists
    ]
    rows = frame.with_columns(arrays).with_columns(pl.col(pl.String).str.replace_all("\x00", "", literal=True))
    return rows.write_csv(include_header=False, quote_style="non_numeric").encode()


def stored_bytes(connection: psycopg.Connection[Any], schema: str) -> int:
    """Bytes of the tables and their indexes on the server."""
    with named():
        rows = connection.execute(
            "SELECT sum(pg_total_relation_size(oid)) FROM pg_class"
            " WHERE relnamespace = to_regnamespace(%s) AND relkind = 'r'",
            (schema,),
        ).fetchone()
    return int(rows[0] or 0) if rows else 0


@contextmanager
def named() -> Iterator[None]:
    """Errors of the server as ours."""
    errors = needed("psycopg", "postgres", "PostgreSQL").errors
    try:
        yield
    except errors.DuplicateTable as error:
        raise OptionError(f"PostgreSQL: {_first(error)}", remedy="Choose another --name, or drop this schema") from None
    except errors.FeatureNotSupported as error:
        raise ServerError(f"PostgreSQL: {_first(error)}", remedy=EXTENSION) from None
    except errors.OperationalError as error:
        raise ServerError(
            f"PostgreSQL: {_first(error)}", remedy="Check the address, and that the server runs"
        ) from None
    except errors.DataError as error:
        raise InputError(f"PostgreSQL: {_first(error)}") from None
    except errors.Error as error:
        raise ServerError(f"PostgreSQL: {_first(error)}") from None


def _first(error: Exception) -> str:
    return (str(error).strip().splitlines() or [type(error).__name__])[0]
