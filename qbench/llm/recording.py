"""Recorded answers on disk: not paid for again, and replayed without a key.

One sqlite file with one table. It holds no inputs, only their digests, so that a recording can be passed on where the
texts cannot. Several processes may use one file at once; an answer that two of them lack at the same time is asked and
paid for twice, and the first one stays.
"""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Iterable, Iterator, Mapping
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from qbench.errors import BusyError, InputError
from qbench.llm.calls import Answer, Call, from_blob, to_blob

_APPLICATION = 0x71626C6D
"""The application id in the file's header ("qblm")."""

_TABLE = """
CREATE TABLE IF NOT EXISTS answers (
    key BLOB PRIMARY KEY, -- 16 bytes: call and input
    call TEXT NOT NULL,   -- JSON: kind, model, parameters
    form TEXT NOT NULL,   -- float32 (little-endian) or json
    value BLOB NOT NULL
)
"""
_COLUMNS = ("key", "call", "form", "value")
_PATIENCE = 60.0
"""Seconds to wait while another process writes."""
_AT_ONCE = 500
"""Keys per query; sqlite limits their number."""


class Table:
    """An open recording."""

    def __init__(self, connection: sqlite3.Connection, path: Path) -> None:
        self._connection, self._path = connection, path

    def find(self, keys: Iterable[bytes]) -> dict[bytes, Answer]:
        """The recorded answers of these keys.

        Raises:
            InputError: a recorded answer is damaged.
        """
        answers = {}
        for key, form, value in self._rows("key, form, value", keys):
            try:
                answers[key] = from_blob(form, value)
            except ValueError as error:
                raise InputError(f"a recorded answer is damaged: {error}", file=self._path) from None
        return answers

    def recorded(self, keys: Iterable[bytes]) -> set[bytes]:
        """Those of the keys that have an answer."""
        return {key for (key,) in self._rows("key", keys)}

    def add(self, call: Call, answers: Mapping[bytes, Answer]) -> None:
        """Write answers, all or none; an answer that is recorded already stays."""
        rows = [(key, call.text, *to_blob(answer)) for key, answer in answers.items()]
        with self._connection:
            self._connection.executemany("INSERT OR IGNORE INTO answers VALUES (?, ?, ?, ?)", rows)

    def calls(self) -> dict[str, int]:
        """The number of answers of each call, by the call's JSON."""
        return dict(self._connection.execute("SELECT call, count(*) FROM answers GROUP BY call ORDER BY call"))

    def has(self, call: Call) -> bool:
        """Whether there is any answer of this call."""
        found = self._connection.execute("SELECT 1 FROM answers WHERE call = ? LIMIT 1", (call.text,))
        return found.fetchone() is not None

    def columns(self) -> dict[str, tuple[str, ...]]:
        """The columns of each table, view or index in the file."""
        rows = self._connection.execute(
            "SELECT s.name, c.name FROM sqlite_master s LEFT JOIN pragma_table_info(s.name) c"
            " WHERE s.name NOT LIKE 'sqlite_autoindex_%' ORDER BY s.name, c.cid"
        )
        columns: dict[str, tuple[str, ...]] = {}
        for name, column in rows:
            columns[name] = (*columns.get(name, ()), *filter(None, [column]))
        return columns

    def _rows(self, columns: str, keys: Iterable[bytes]) -> Iterator[tuple[Any, ...]]:
        every = list(keys)
        for start in range(0, len(every), _AT_ONCE):
            block = every[start : start + _AT_ONCE]
            marks = ", ".join("?" * len(block))
            # Column names and marks are ours; keys are bound.
            yield from self._connection.execute(f"SELECT {columns} FROM answers WHERE key IN ({marks})", block)  # noqa: S608


@dataclass(frozen=True)
class Recording:
    """A file of answers.

    Attributes:
        path: the file.
    """

    path: Path

    @contextmanager
    def opened(self, *, read_only: bool = False) -> Iterator[Table]:
        """Open the recording until the block ends; create it if there is none.

        Args:
            read_only: write and create nothing; also works on a read-only medium.

        Raises:
            InputError: the file is no recording, cannot be used, or is missing although `read_only` is set.
        """
        try:
            with closing(self._reading() if read_only else self._writing()) as connection:
                yield Table(connection, self.path)
        except (sqlite3.Error, UnicodeDecodeError) as error:  # what is wrong is told with bytes of a damaged file
            raise InputError(
                f"this recording cannot be used: {error}",
                file=self.path,
                remedy="Choose another file; qbench creates it if there is none",
            ) from None

    def _reading(self) -> sqlite3.Connection:
        if not self.path.is_file():
            raise InputError("no such recording", file=self.path)
        address = self.path.absolute().as_uri()
        try:
            # Not mode=ro, whose readers leave their own files behind.
            connection = self._checked(sqlite3.connect(f"{address}?mode=rw", uri=True, timeout=_PATIENCE))
            connection.execute("PRAGMA query_only = ON")
            return connection
        except sqlite3.OperationalError:
            # Even a reader writes beside the file, which a read-only medium refuses; there nobody changes it either.
            return self._checked(sqlite3.connect(f"{address}?immutable=1", uri=True))

    def _writing(self) -> sqlite3.Connection:
        self.path.parent.mkdir(parents=True, exist_ok=True)
        connection = sqlite3.connect(self.path, timeout=_PATIENCE)
        try:
            # Checked before anything is changed: the file may belong to another program.
            if connection.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]:
                self._checked(connection)
            _until_free(connection, "PRAGMA journal_mode = WAL")
            connection.execute("PRAGMA synchronous = NORMAL")
            connection.execute(f"PRAGMA application_id = {_APPLICATION}")
            connection.execute(_TABLE)
            connection.commit()
        except BaseException:
            connection.close()
            raise
        return connection

    def _checked(self, connection: sqlite3.Connection) -> sqlite3.Connection:
        try:
            (mark,) = connection.execute("PRAGMA application_id").fetchone()
            # An unreadable file answers the line above all the same.
            connection.execute("SELECT count(*) FROM sqlite_master").fetchone()
        except BaseException:
            connection.close()
            raise
        if mark != _APPLICATION:
            connection.close()
            raise InputError("a database, but no recording of qbench's", file=self.path, remedy="Choose another file")
        return connection


def refuse_more_than_answers(path: Path) -> None:
    """Check that a recording can be given away: it holds nothing but answers, all of them in this one file.

    Raises:
        InputError: it is no recording, or holds other tables.
        BusyError: another process uses it, so that some answers are in files beside it.
    """
    recording = Recording(path)
    if _journal(path):
        with recording.opened():  # merges the file that a killed process left beside it
            pass
        if _journal(path):
            raise BusyError("another process uses this recording", file=path, remedy="Wait for it")
    with recording.opened(read_only=True) as table:
        columns = table.columns()
    if columns != {"answers": _COLUMNS}:
        raise InputError(
            "this recording holds more than answers", file=path, value=", ".join(sorted(columns)), remedy="Leave it out"
        )


def _journal(path: Path) -> bool:
    """Whether some answers are in sqlite's file beside the recording."""
    log = path.with_name(f"{path.name}-wal")
    return log.exists() and log.stat().st_size > 0


def _until_free(connection: sqlite3.Connection, statement: str) -> None:
    """Run a statement for which sqlite itself does not wait while another process locks the file."""
    end = time.monotonic() + _PATIENCE
    while True:
        try:
            connection.execute(statement)
        except sqlite3.OperationalError as error:
            if "locked" not in str(error) or time.monotonic() > end:
                raise
            time.sleep(0.02)
        else:
            return
