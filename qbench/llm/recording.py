"""Answers on disk, each under what was asked: what is recorded is not paid for again, and replays without a key.

One sqlite file, one table. Inputs are not in it, only their digests: a recording can be passed on where the texts may
not. Several processes may use one file at once; what two of them lack at the same time, both ask and pay for, and the
answer that comes first is kept.
"""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Iterable, Iterator, Mapping
from contextlib import closing, contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from qbench.errors import BusyError, InputError
from qbench.llm.calls import Answer, Call, from_blob, to_blob

if TYPE_CHECKING:
    from pathlib import Path

_OURS = 0x71626C6D
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
"""Seconds to wait for another process' write."""
_AT_ONCE = 500
"""Keys of one query; sqlite takes a limited number."""


class Table:
    """An open recording."""

    def __init__(self, connection: sqlite3.Connection, path: Path) -> None:
        self._connection, self._path = connection, path

    def find(self, keys: Iterable[bytes]) -> dict[bytes, Answer]:
        """The answers to those keys that are recorded.

        Raises:
            InputError: a recorded answer is damaged.
        """
        found = {}
        for key, form, value in self._rows("key, form, value", keys):
            try:
                found[key] = from_blob(form, value)
            except ValueError as fault:
                raise InputError(f"a recorded answer is damaged: {fault}", file=self._path) from None
        return found

    def held(self, keys: Iterable[bytes]) -> set[bytes]:
        """Those of the keys that have an answer."""
        return {key for (key,) in self._rows("key", keys)}

    def keep(self, call: Call, answers: Mapping[bytes, Answer]) -> None:
        """Write answers, all or none; one that is there already stays as it is."""
        rows = [(key, call.text, *to_blob(answer)) for key, answer in answers.items()]
        with self._connection:
            self._connection.executemany("INSERT OR IGNORE INTO answers VALUES (?, ?, ?, ?)", rows)

    def calls(self) -> dict[str, int]:
        """Each different call, as JSON, with the number of its answers."""
        return dict(self._connection.execute("SELECT call, count(*) FROM answers GROUP BY call ORDER BY call"))

    def columns(self) -> dict[str, tuple[str, ...]]:
        """The columns of each table, view or other thing in the file."""
        rows = self._connection.execute(
            "SELECT s.name, c.name FROM sqlite_master s LEFT JOIN pragma_table_info(s.name) c"
            " WHERE s.name NOT LIKE 'sqlite_autoindex_%' ORDER BY s.name, c.cid"
        )
        found: dict[str, tuple[str, ...]] = {}
        for name, column in rows:
            found[name] = (*found.get(name, ()), *filter(None, [column]))
        return found

    def _rows(self, columns: str, keys: Iterable[bytes]) -> Iterator[tuple[Any, ...]]:
        every = list(keys)
        for start in range(0, len(every), _AT_ONCE):
            some = every[start : start + _AT_ONCE]
            marks = ", ".join("?" * len(some))
            # Column names and marks are ours; keys are bound.
            yield from self._connection.execute(f"SELECT {columns} FROM answers WHERE key IN ({marks})", some)  # noqa: S608


@dataclass(frozen=True)
class Recording:
    """A file of answers.

    Attributes:
        path: the file.
    """

    path: Path

    @contextmanager
    def opened(self, *, only_read: bool = False) -> Iterator[Table]:
        """The recording while the block runs; made if it is not there.

        Args:
            only_read: write nothing, and make nothing; works where nothing can be written, too.

        Raises:
            InputError: the file is missing and only to be read, is something else, or cannot be used.
        """
        try:
            with closing(self._reading() if only_read else self._writing()) as connection:
                yield Table(connection, self.path)
        except sqlite3.Error as fault:
            raise InputError(
                f"this recording cannot be used: {fault}",
                file=self.path,
                remedy="Choose another file; qbench makes it if it is not there",
            ) from None

    def _reading(self) -> sqlite3.Connection:
        if not self.path.is_file():
            raise InputError("no such recording", file=self.path)
        place = self.path.absolute().as_uri()
        try:
            # Not mode=ro, whose readers leave their own files behind.
            connection = self._ours(sqlite3.connect(f"{place}?mode=rw", uri=True, timeout=_PATIENCE))
            connection.execute("PRAGMA query_only = ON")
            return connection
        except sqlite3.OperationalError:
            # Even a reader writes beside the file, which a read-only medium refuses; there nobody changes it either.
            return self._ours(sqlite3.connect(f"{place}?immutable=1", uri=True))

    def _writing(self) -> sqlite3.Connection:
        self.path.parent.mkdir(parents=True, exist_ok=True)
        connection = sqlite3.connect(self.path, timeout=_PATIENCE)
        try:
            # Looked at before anything is changed: it may be somebody else's.
            if connection.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]:
                self._ours(connection)
            _until_free(connection, "PRAGMA journal_mode = WAL")
            connection.execute("PRAGMA synchronous = NORMAL")
            connection.execute(f"PRAGMA application_id = {_OURS}")
            connection.execute(_TABLE)
            connection.commit()
        except BaseException:
            connection.close()
            raise
        return connection

    def _ours(self, connection: sqlite3.Connection) -> sqlite3.Connection:
        try:
            (mark,) = connection.execute("PRAGMA application_id").fetchone()
            # Asked, because an unreadable file answers the line above all the same.
            connection.execute("SELECT count(*) FROM sqlite_master").fetchone()
        except BaseException:
            connection.close()
            raise
        if mark != _OURS:
            connection.close()
            raise InputError("a database, but no recording of qbench's", file=self.path, remedy="Choose another file")
        return connection


def refuse_more_than_answers(path: Path) -> None:
    """Look whether a recording can be given away: nothing but answers in it, all of them in this one file.

    Raises:
        InputError: it is no recording, or holds something else as well.
        BusyError: another process uses it, so that some answers are in files beside it.
    """
    recording = Recording(path)
    if _journal(path):
        with recording.opened():  # takes in what a killed process left beside it
            pass
        if _journal(path):
            raise BusyError("another process uses this recording", file=path, remedy="Wait for it")
    with recording.opened(only_read=True) as table:
        found = table.columns()
    if found != {"answers": _COLUMNS}:
        raise InputError(
            "this recording holds more than answers", file=path, value=", ".join(sorted(found)), remedy="Leave it away"
        )


def _journal(path: Path) -> bool:
    """Whether a part of a recording is in the file beside it."""
    beside = path.with_name(f"{path.name}-wal")
    return beside.exists() and beside.stat().st_size > 0


def _until_free(connection: sqlite3.Connection, statement: str) -> None:
    """Run a statement for which sqlite itself does not wait while another process holds the file."""
    end = time.monotonic() + _PATIENCE
    while True:
        try:
            connection.execute(statement)
        except sqlite3.OperationalError as fault:
            if "locked" not in str(fault) or time.monotonic() > end:
                raise
            time.sleep(0.02)
        else:
            return
