"""Files as lines, JSON objects and rows: compressed or not, of any size, in bounded memory."""

from __future__ import annotations

import csv
import gzip
import io
import json
import re
import sys
import zlib
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any, BinaryIO, cast

from qbench.corpora.types import Problems
from qbench.errors import InputError
from qbench.store import parse_json

LONGEST_LINE = 1 << 26
"""Longer lines (64 MiB) are bad records: a document must fit into memory several times."""

BLOCK = 1 << 16
"""Bytes that are read at once; what a broken compressed file holds before the break is lost at most from here on."""

BLANK = 1_000_000
"""Blank lines in a row that a reader sees one by one."""

ENCODING_REMEDY = "Give the encodings to try with --encoding"

_HEAD = 100
"""Most lines of a header."""
_QUOTED = re.compile(r'"[^"]*"')
_QUOTED_BYTES = re.compile(rb'"[^"]*"')
_UNDECODED = re.compile(r"[\udc80-\udcff]")
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
            for number, line in cut_lines(stream, file.name, problems):
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


def cut_lines(stream: BinaryIO, name: str, problems: Problems) -> Iterator[tuple[int, bytes]]:
    """The lines of a stream with their 1-based numbers, line ends and a UTF-8 byte order mark taken off.

    Lines end with a line feed; in a stream that begins without one outside of quotes, with a carriage return (as old
    spreadsheets save them). A line that is longer than `LONGEST_LINE` is a bad record. Of more than `BLANK` blank lines
    in a row, some are passed over.

    Args:
        stream: the bytes; what there is, is read, so that it may be a terminal.
        name: of the file, for errors.
        problems: receives lines that are too long.

    Raises:
        InputError: the stream is UTF-16; or a line is too long, and bad records are fatal.
    """
    number, held, size = 0, list[bytes](), 0
    for end, block, blank in _blocks(stream, name):
        if blank and not b"".join(held).strip():
            number += block.count(end)
            rest = block[block.rfind(end) + 1 :]
            held, size = [rest], len(rest)
            continue
        *whole, rest = block.split(end)
        for piece in whole:
            number += 1
            if size + len(piece) > LONGEST_LINE:
                problems.bad("line too long", InputError("the line is longer than 64 MiB", file=name, line=number))
            else:
                yield number, (b"".join((*held, piece)) if held else piece).rstrip(b"\r\n")
            held, size = [], 0
        size += len(rest)
        held.append(rest)
        if size > LONGEST_LINE:  # no more than its length is kept
            held = []
    if size > LONGEST_LINE:
        problems.bad("line too long", InputError("the line is longer than 64 MiB", file=name, line=number + 1))
    elif any(held):
        yield number + 1, b"".join(held).rstrip(b"\r\n")


def _blocks(stream: BinaryIO, name: str) -> Iterator[tuple[bytes, bytes, bool]]:
    """Blocks of a stream with the end of its lines, and whether they only go on with a great many blank lines."""
    end, blank = b"", 0
    while block := cast("io.BufferedReader", stream).read1(BLOCK):
        if not end:
            if block.startswith(_UTF16_MARKS):
                raise InputError("the file is UTF-16", file=name, remedy="Convert it to UTF-8 first")
            block = block.removeprefix(_UTF8_MARK)
            bare = _QUOTED_BYTES.sub(b"", block)  # such spreadsheets write line feeds within cells
            end = b"\r" if b"\r" in bare[:-1] and b"\n" not in bare else b"\n"
        blank = blank + block.count(end) if block.isspace() else 0
        yield end, block, blank > BLANK


def decode(line: bytes, encodings: tuple[str, ...]) -> str | None:
    """The line in the first of the encodings that fits, or None."""
    for encoding in encodings:
        try:
            return line.decode(encoding)
        except UnicodeDecodeError:
            continue
    return None


def text_lines(
    file: SourceFile, encodings: tuple[str, ...], problems: Problems, meter: Meter, remedy: str | None = None
) -> Iterator[tuple[int, str]]:
    """The decoded lines of a file with their numbers; a line that no encoding fits is a bad record (with `remedy`)."""
    for number, line in lines(file, problems, meter):
        text = decode(line, encodings)
        if text is None:
            message = f"not valid {' or '.join(encodings)}"
            error = InputError(message, file=file.name, line=number, value=line[:60], remedy=remedy)
            problems.bad("bad encoding", error)
            continue
        yield number, text


def json_objects(
    numbered: Iterable[tuple[int, str]], name: str, problems: Problems, *, encodable: bool = False
) -> Iterator[tuple[int, dict[str, Any]]]:
    r"""The objects of JSON lines with their line numbers; blank lines are passed over, anything else is a bad record.

    Args:
        numbered: lines with their numbers.
        name: of the file, for errors.
        problems: receives what is no object.
        encodable: whether half a character ("\ud83d" alone), which JSON can say and UTF-8 cannot, makes a bad record.
    """
    for number, line in numbered:
        if not line.strip():
            continue
        try:
            row = parse_json(line, name, line=number)
        except InputError as error:
            problems.bad("bad JSON", error)
            continue
        if encodable and "\\ud" in line.lower() and not _encodable(row):
            problems.bad("bad encoding", InputError("half of a surrogate pair", file=name, line=number, value=line))
        elif not isinstance(row, dict):
            message = "not a JSON object; one object a line is needed"
            problems.bad("not an object", InputError(message, file=name, line=number, value=line[:60]))
        else:
            yield number, row


def _encodable(row: object) -> bool:
    try:
        json.dumps(row, ensure_ascii=False).encode()
    except (UnicodeEncodeError, RecursionError):
        return False
    return True


class Feed(Iterator[str]):
    """Decoded lines for `csv.reader`; `line` is the number of the last one given.

    A line that no encoding fits keeps its bytes as surrogates, because to leave it out could unbalance the quotes.
    """

    def __init__(self, file: SourceFile, encodings: tuple[str, ...], problems: Problems, meter: Meter) -> None:
        self.file = file
        self.problems = problems
        self.encodings = encodings
        self.line = 0
        self._lines = lines(file, problems, meter)

    def __next__(self) -> str:
        self.line, raw = next(self._lines)
        text = decode(raw, self.encodings)
        return (raw.decode("utf-8", "surrogateescape") if text is None else text) + "\n"


def csv_head(feed: Feed) -> tuple[str, list[str]]:
    """The delimiter of a CSV file, and the lines of its header, of which a quoted name may hold line breaks.

    Returns:
        the most frequent of , ; tab | outside of quotes; no lines where the file is empty.
    """
    head = list(islice(feed, 1))
    while head and "".join(head).count('"') % 2 and len(head) < _HEAD:
        more = next(feed, None)
        if more is None:
            break
        head.append(more)
    names = _QUOTED.sub("", "".join(head))
    return max(",;\t|", key=names.count), head


def unique_names(header: Sequence[str]) -> list[str]:
    """Names of columns without white space around them; the second of one name is "NAME (2)".

    >>> unique_names(["price", " price", "", ""])
    ['price', 'price (2)', '', ' (2)']
    """
    seen: Counter[str] = Counter()
    names = []
    for name in map(str.strip, header):
        seen[name] += 1
        names.append(f"{name} ({seen[name]})" if seen[name] > 1 else name)
    return names


def csv_rows(
    feed: Feed, reader: Iterator[list[str]], names: Sequence[str], remedy: str | None = None, *, line: int = 1
) -> Iterator[tuple[int, int, dict[str, str]]]:
    """The rows that `reader` makes of the lines of `feed`: their number, their first line, and their cells by column.

    A row that is not readable, has not as many cells as there are names, or is in no known encoding is a bad record.
    Blank lines count as rows; `line` is the number of lines before the first row. Hold `long_cells` meanwhile.
    """
    name, problems = feed.file.name, feed.problems
    row = 0
    while True:
        row, start = row + 1, line + 1
        try:
            cells = next(reader)
        except StopIteration:
            return
        except csv.Error as fault:
            message = f"not a readable row, up to line {feed.line}: {fault}"
            problems.bad("bad row", InputError(message, file=name, line=start))
            continue
        finally:
            line = feed.line
        if not cells:
            continue
        if len(cells) != len(names):
            message = f"{len(cells)} cells in a row, and the header has {len(names)}"
            problems.bad("wrong number of cells", InputError(message, file=name, line=start, value=cells[0]))
        elif any(_UNDECODED.search(cell) for cell in cells):
            message = f"not valid {' or '.join(feed.encodings)}"
            error = InputError(message, file=name, line=start, value=cells[0], remedy=remedy)
            problems.bad("bad encoding", error)
        else:
            yield row, start, dict(zip(names, cells, strict=True))


@contextmanager
def long_cells(longest: int = LONGEST_LINE) -> Iterator[None]:
    """Let the csv module read cells of this many characters; its limit of 131,072 is one for the whole process."""
    before = csv.field_size_limit(min(longest, sys.maxsize))
    try:
        yield
    finally:
        csv.field_size_limit(before)


def _first_line(fault: BaseException) -> str:
    return (str(fault).splitlines() or [type(fault).__name__])[0]


@contextmanager
def reading_parquet(
    file: str | Path, message: str = "not a readable Parquet file", remedy: str | None = None
) -> Iterator[None]:
    """Raise what polars or pyarrow find wrong with a file as an error that names it, with the first line of theirs.

    Raises:
        InputError: the file cannot be read.
    """
    try:
        yield
    except BaseException as fault:
        if not _of_parquet(fault):
            raise
        reason = (str(fault).splitlines() or ["damaged"])[0]
        raise InputError(f"{message}: {reason[:200]}", file=file, remedy=remedy) from None


def _of_parquet(fault: BaseException) -> bool:
    """Whether an error is about a file's content; polars' panics, which damaged files cause, are no exceptions."""
    from polars.exceptions import PolarsError
    from pyarrow import ArrowException

    return (
        isinstance(fault, PolarsError | ArrowException | OSError | UnicodeDecodeError)
        or type(fault).__name__ == "PanicException"
    )
