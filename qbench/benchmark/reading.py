"""Reading what others wrote: lines with numbers, ids, and what happens to a row that cannot be used."""

from __future__ import annotations

import gzip
import json
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any, cast

from qbench.corpora import types as corpora
from qbench.corpora.types import OnError
from qbench.errors import InputError

__all__ = ["OnError", "Problems", "as_id", "json_lines", "lines"]


class Problems(corpora.Problems):
    """What is done with a row that cannot be used; as for corpora, but fatal unless said otherwise."""

    def __init__(self, on_error: OnError = "fail") -> None:
        super().__init__(on_error)

    def bad(self, reason: str, error: InputError) -> None:
        """One row cannot be used.

        Raises:
            InputError: `error`, where bad rows are fatal.
        """
        if self.on_error == "fail":
            raise error
        # Kept messages go into manifests, which say nothing of where the files lay.
        place = error.file or ""
        self.left_out(reason, message=str(error).replace(place, Path(place).name) if place else str(error))

    def summary(self) -> dict[str, dict[str, int]]:
        """The counts by reason, for a benchmark's parameters; {} where there is nothing to say."""
        parts = {"left out": self.counts, "remarks": self.notes}
        return {part: dict(counts) for part, counts in parts.items() if counts}


def lines(path: Path, problems: Problems) -> Iterator[tuple[int, str]]:
    """The lines of a UTF-8 text file (plain, or gzip where the name ends in .gz) with their 1-based numbers.

    Empty lines are passed over; line ends and a byte order mark are taken off.

    Raises:
        InputError: the file is missing or empty, its compression is broken, or a line is not UTF-8 (see `Problems`).
    """
    found = False
    try:
        with _open(path) as stream:
            for number, raw in enumerate(stream, start=1):
                raw = raw.removeprefix(b"\xef\xbb\xbf") if number == 1 else raw
                try:
                    line = raw.decode("utf-8").rstrip("\r\n")
                except UnicodeDecodeError as fault:
                    message = f"not valid UTF-8 at byte {fault.start} of the line"
                    problems.bad("not UTF-8", InputError(message, file=path, line=number, value=raw[:60]))
                    continue
                if line.strip():
                    found = True
                    yield number, line
    except FileNotFoundError:
        raise InputError("no such file", file=path) from None
    except (gzip.BadGzipFile, EOFError, zlib.error) as fault:
        raise InputError(f"broken gzip file: {fault}", file=path) from None
    except OSError as fault:
        raise InputError(f"cannot be read: {fault.strerror or fault}", file=path) from None
    if not found:
        raise InputError("the file is empty", file=path)


def json_lines(path: Path, problems: Problems) -> Iterator[tuple[int, dict[str, Any]]]:
    """The objects of a JSON lines file with their line numbers; anything but an object is a bad row."""
    for number, line in lines(path, problems):
        try:
            row = json.loads(line)
        except (ValueError, RecursionError) as fault:
            problems.bad("not JSON", InputError(f"not valid JSON: {fault}", file=path, line=number, value=line))
            continue
        if "\\ud" in line.lower() and not _encodable(row):
            # "\ud83d" alone is half a character: JSON can say it, UTF-8 cannot.
            error = InputError("half of a surrogate pair", file=path, line=number, value=line)
            problems.bad("not UTF-8", error)
            continue
        if not isinstance(row, dict):
            problems.bad("not an object", InputError("not a JSON object", file=path, line=number, value=row))
            continue
        yield number, row


def as_id(value: object) -> str | None:
    """An id as a string, or None: it may hold no control character, since TSV and TREC files break on those."""
    if isinstance(value, int) and not isinstance(value, bool):
        return str(value)
    if not isinstance(value, str) or not value.strip() or any(ord(c) < 32 or ord(c) == 127 for c in value):
        return None
    return value


def _encodable(row: object) -> bool:
    try:
        json.dumps(row, ensure_ascii=False).encode()
    except (UnicodeEncodeError, RecursionError):
        return False
    return True


def _open(path: Path) -> IO[bytes]:
    return cast("IO[bytes]", gzip.open(path, "rb")) if path.suffix == ".gz" else path.open("rb")
