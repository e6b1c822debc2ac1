"""Reading what others wrote: lines with numbers, ids, and what happens to a row that cannot be used."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from qbench.corpora import types as corpora
from qbench.corpora.streams import Meter, SourceFile, json_objects, text_lines
from qbench.corpora.types import OnError
from qbench.errors import InputError

__all__ = ["OnError", "Problems", "as_id", "json_lines", "lines"]


_FATAL = ("broken compression", "unreadable file")


class Problems(corpora.Problems):
    """What is done with a row that cannot be used; as for corpora, but fatal unless said otherwise."""

    def __init__(self, on_error: OnError = "fail") -> None:
        super().__init__(on_error)

    def bad(self, reason: str, error: InputError) -> None:
        """One row cannot be used.

        Raises:
            InputError: `error`, where bad rows are fatal, or the file breaks off.
        """
        if self.on_error == "fail" or reason in _FATAL:
            raise error
        # Kept messages go into manifests, which say nothing of where the files lay.
        file = error.file or ""
        self.left_out(reason, message=str(error).replace(file, Path(file).name) if file else str(error))

    def summary(self) -> dict[str, dict[str, int]]:
        """The counts by reason, for a benchmark's parameters; {} where there is nothing to say."""
        parts = {"left out": self.counts, "remarks": self.notes}
        return {part: dict(counts) for part, counts in parts.items() if counts}


def lines(path: Path, problems: Problems) -> Iterator[tuple[int, str]]:
    """The lines of a UTF-8 text file (plain, .gz or .zst) with their 1-based numbers.

    Empty lines are passed over; line ends and a byte order mark are taken off.

    Raises:
        InputError: the file is missing or empty, its compression is broken, or a line is not UTF-8 (see `Problems`).
    """
    if not path.exists():
        raise InputError("no such file", file=path)
    empty = True
    for number, line in text_lines(SourceFile(path, str(path), "text"), ("UTF-8",), problems, Meter()):
        if line.strip():
            empty = False
            yield number, line
    if empty:
        raise InputError("the file is empty", file=path)


def json_lines(path: Path, problems: Problems) -> Iterator[tuple[int, dict[str, Any]]]:
    """The objects of a JSON lines file with their line numbers; anything but an object is a bad row."""
    return json_objects(lines(path, problems), str(path), problems, encodable=True)


def as_id(value: object) -> str | None:
    """An id as a string, or None: it may hold no control character, since TSV and TREC files break on those."""
    if isinstance(value, int) and not isinstance(value, bool):
        return str(value)
    if not isinstance(value, str) or not value.strip() or any(ord(c) < 32 or ord(c) == 127 for c in value):
        return None
    return value
