"""Files as lines: compressed or not, of any size, in bounded memory."""

from __future__ import annotations

import gzip
import io
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO, cast

from qbench.corpora.types import Problems
from qbench.errors import InputError

LONGEST_LINE = 1 << 26
"""Longer lines (64 MiB) are bad records: a document must fit into memory several times."""

_UTF8_MARK = b"\xef\xbb\xbf"
_UTF16_MARKS = (b"\xff\xfe", b"\xfe\xff")


@dataclass
class Meter:
    """How far a reader is: `done` of `total` bytes (compressed ones), or rows; `total` 0 where it is not known."""

    done: int = 0
    total: int = 0


@dataclass(frozen=True)
class SourceFile:
    """A file of a corpus: where it lies, its name for people and ids, its format (see `formats.FORMATS`)."""

    path: Path
    name: str
    kind: str


@contextmanager
def opened(file: SourceFile) -> Iterator[tuple[BinaryIO, BinaryIO]]:
    """The decompressed stream of a file, and the raw one below it, whose position tells how far the reader is."""
    with file.path.open("rb") as raw:
        suffix = file.path.suffix.lower()
        if suffix == ".gz":
            with gzip.GzipFile(fileobj=raw) as packed:
                yield cast("BinaryIO", io.BufferedReader(cast("io.RawIOBase", packed), 1 << 16)), raw
        elif suffix == ".zst":
            import pyarrow as pa

            with pa.CompressedInputStream(pa.PythonFile(raw, mode="r"), "zstd") as unpacked:
                yield cast("BinaryIO", io.BufferedReader(unpacked, 1 << 16)), raw
        else:
            yield raw, raw


def lines(file: SourceFile, problems: Problems, meter: Meter) -> Iterator[tuple[int, bytes]]:
    """The lines of a file with their 1-based numbers, line ends and a UTF-8 byte order mark taken off.

    A compressed file that breaks off gives what was read of it, and one bad record.

    Raises:
        InputError: the file cannot be read, or is UTF-16; or a record is bad, and bad records are fatal.
    """
    before, number = meter.done, 0
    try:
        with opened(file) as (stream, raw):
            for number, line in _cut(stream, file, problems):
                meter.done = before + raw.tell()
                yield number, line
    except (gzip.BadGzipFile, EOFError, zlib.error) as fault:
        problems.bad("broken compression", InputError(f"the file breaks off: {fault}", file=file.name, line=number + 1))
    except OSError as fault:
        if fault.errno is None:  # pyarrow tells of broken zstd data in this way
            message = f"the file breaks off: {_first_line(fault)}"
            problems.bad("broken compression", InputError(message, file=file.name, line=number + 1))
        else:
            problems.bad("unreadable file", InputError(f"cannot be read: {fault.strerror}", file=file.name))
    meter.done = before + (file.path.stat().st_size if file.path.exists() else 0)


def _cut(stream: BinaryIO, file: SourceFile, problems: Problems) -> Iterator[tuple[int, bytes]]:
    number = 0
    while line := stream.readline(LONGEST_LINE + 1):
        number += 1
        if number == 1:
            if line.startswith(_UTF16_MARKS):
                raise InputError("the file is UTF-16", file=file.name, remedy="Convert it to UTF-8 first")
            line = line.removeprefix(_UTF8_MARK)
        if len(line) > LONGEST_LINE:
            problems.bad("line too long", InputError("the line is longer than 64 MiB", file=file.name, line=number))
            while line and not line.endswith(b"\n"):
                line = stream.readline(LONGEST_LINE)
            continue
        yield number, line.rstrip(b"\r\n")


def decode(line: bytes, encodings: tuple[str, ...]) -> str | None:
    """The line in the first of the encodings that fits, or None."""
    for encoding in encodings:
        try:
            return line.decode(encoding)
        except UnicodeDecodeError:
            continue
    return None


def text_lines(
    file: SourceFile, encodings: tuple[str, ...], problems: Problems, meter: Meter
) -> Iterator[tuple[int, str]]:
    """The decoded lines of a file with their numbers; a line that no encoding fits is a bad record."""
    for number, line in lines(file, problems, meter):
        text = decode(line, encodings)
        if text is None:
            problems.bad(
                "bad encoding",
                InputError(
                    f"not valid {' or '.join(encodings)}",
                    file=file.name,
                    line=number,
                    value=line[:60],
                    remedy="Give the encodings to try with --encoding",
                ),
            )
            continue
        yield number, text


def _first_line(fault: BaseException) -> str:
    return (str(fault).splitlines() or [type(fault).__name__])[0]
