"""Rows by a query: SQL over a table that qbench reads, or over a database of SQLite."""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from qbench.corpora.tables import Row, Table
from qbench.corpora.types import Problems
from qbench.errors import InputError

DATABASES = (".sqlite", ".sqlite3", ".db")
"""Endings of the names of SQLite's databases."""

NAME = "facts"
"""What a table is called in a query."""

_CODE = re.compile(r"0\d+")
"""A cell that is no number, though it has digits only: a barcode."""


@dataclass
class QueriedTable(Table):
    """The rows that a SELECT gives: of a table, called `facts`, which is copied into memory, or of a database.

    Nothing is ever written: databases are opened read-only.

    Attributes:
        sql: the query.

    Raises:
        InputError: the file is missing, or neither a table nor a database.
    """

    sql: str = ""

    def __post_init__(self) -> None:
        if not self._is_database:
            super().__post_init__()
        elif not self.path.is_file():
            raise InputError("no such database", file=self.path)

    @property
    def _is_database(self) -> bool:
        return is_database(self.path)

    def rows(self, problems: Problems | None = None) -> Iterator[tuple[int, Row]]:
        """The rows with their numbers, from 1.

        Raises:
            InputError: the query is wrong, gives no row, or two columns of one name; or as in `Table.rows`.
        """
        number = 0
        try:
            source = f"{self.path.absolute().as_uri()}?mode=ro" if self._is_database else ":memory:"
            with closing(sqlite3.connect(source, uri=True)) as connection:
                if not self._is_database:
                    _copy([row for _, row in super().rows(problems)], connection)
                connection.execute("PRAGMA query_only = ON")
                cursor = connection.execute(self.sql)
                names = [column[0] for column in cursor.description or ()]
                if len({*names}) < max(1, len(names)):
                    what = "two columns of this query have one name" if names else "this is no SELECT"
                    raise InputError(what, file=self.path, value=", ".join(names) or self.sql)
                for number, row in enumerate(cursor, start=1):
                    yield number, dict(zip(names, row, strict=True))
        except (sqlite3.Error, sqlite3.Warning) as fault:
            raise InputError(f"the query cannot be answered: {fault}", file=self.path, value=self.sql) from None
        if not number:
            raise InputError("the query gives no row", file=self.path, value=self.sql)


def is_database(path: Path) -> bool:
    """Whether a file is, by its name, a database of SQLite."""
    return path.suffix.lower() in DATABASES


def _copy(rows: list[Row], connection: sqlite3.Connection) -> None:
    columns = list(dict.fromkeys(name for row in rows for name in row))
    # With the affinity NUMERIC a number in text compares as one; codes with a leading zero would lose it.
    codes = {name for row in rows for name, cell in row.items() if isinstance(cell, str) and _CODE.fullmatch(cell)}
    named = ", ".join(f"{_quoted(name)} {'TEXT' if name in codes else 'NUMERIC'}" for name in columns)
    connection.execute(f"CREATE TABLE {NAME} ({named})")
    places = ", ".join("?" * len(columns))
    cells = ([_cell(row.get(name)) for name in columns] for row in rows)
    connection.executemany(f"INSERT INTO {NAME} VALUES ({places})", cells)  # noqa: S608 - a constant and marks


def _quoted(name: str) -> str:
    escaped = name.replace('"', '""')
    return f'"{escaped}"'


def _cell(cell: Any) -> str | int | float | None:
    """A cell as SQLite holds it."""
    if cell is None or isinstance(cell, str | float):
        return cell
    return cell if isinstance(cell, int) and abs(cell) < 1 << 63 else str(cell)
