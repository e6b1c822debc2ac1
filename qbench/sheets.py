"""Tables that people fill in with a spreadsheet: no cell is taken for a formula, and what spreadsheets save is read."""

from __future__ import annotations

import codecs
import csv
import io
import itertools
import math
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import NoReturn

from qbench.errors import InputError
from qbench.store import atomic_file, refuse_large

LONGEST = 2000
"""Characters of a text that a cell shows."""

_FORMULA = ("=", "+", "-", "@", "\t", "\r", "'")
"""Beginnings of a cell that a spreadsheet would evaluate, or hide."""

_SEPARATORS = ",;\t"


def shielded(cell: str) -> str:
    """A cell that no spreadsheet takes for a formula; `unshielded` gives the text back.

    >>> shielded("=1+1"), unshielded(shielded("=1+1")), shielded("a=b")
    ("'=1+1", '=1+1', 'a=b')
    """
    return f"'{cell}" if cell.startswith(_FORMULA) else cell


def unshielded(cell: str) -> str:
    """The inverse of `shielded`."""
    return cell[1:] if cell.startswith("'") and cell[1:].startswith(_FORMULA) else cell


def one_line(text: str) -> str:
    """A text as a cell shows it: on one line, and cut where it is very long.

    >>> one_line("two  words ")
    'two words'
    """
    line = " ".join(text.split())
    return line if len(line) <= LONGEST else f"{line[:LONGEST]}…"


def write_sheet(path: Path, columns: Sequence[str], rows: Iterable[Sequence[str]]) -> None:
    """Write a CSV file, atomically; every cell is shielded."""
    # The mark at the beginning tells spreadsheets that the file is UTF-8.
    with atomic_file(path) as temporary, temporary.open("w", encoding="utf-8-sig", newline="") as stream:
        writer = csv.writer(stream, lineterminator="\n")
        writer.writerows([shielded(cell) for cell in row] for row in (columns, *rows))


def _fail(error: InputError) -> NoReturn:
    raise error


def read_sheet(
    path: Path, columns: Sequence[str], bad: Callable[[InputError], None] = _fail
) -> Iterator[tuple[int, dict[str, str]]]:
    """The rows of a sheet with the number of their last line, as spreadsheets save it.

    The separator is a comma, a semicolon or a tab; the encoding UTF-8, UTF-16 with a mark, or Windows-1252, in which
    spreadsheets save "CSV" by default. Rows without anything in them are passed over. Cells stay as they are.

    Args:
        path: the file.
        columns: that must be there; there may be others.
        bad: called with each row that cannot be used; by default such a row is an error.

    Raises:
        InputError: the file is missing, no text, or empty, a column is missing, or (by default) a row has another
            number of cells than the header, or a quoted cell has no end.
    """
    text = _decoded(path)
    lines = list(io.StringIO(text, newline=""))
    first = 0
    if lines and lines[0].lower().startswith("sep="):
        first = 1  # a line by which Excel learns the separator
    head = lines[first].strip() if len(lines) > first else ""
    if not head:
        raise InputError("the sheet is empty", file=path, remedy=f"It has the columns {', '.join(columns)}")
    separator = _separator(head, columns)
    if separator is None:
        raise InputError(f"a sheet has the columns {', '.join(columns)}", file=path, line=first + 1, value=head)
    rows = _rows(lines, first, separator)
    _, names, fault = next(rows)
    if names is None:
        raise InputError(f"not a readable CSV file: {fault}", file=path, line=first + 1)
    names = [name.strip() for name in names]
    for line, cells, fault in rows:
        if cells is None:
            message = f"not a readable CSV file: {fault}"
            remedy = "Is a quotation mark too many, or the file cut?"
            bad(InputError(message, file=path, line=line, remedy=remedy))
        elif len(cells) < len(names) or any(cells[len(names) :]):
            message = f"the row has {len(cells)} cells, and the header {len(names)}"
            bad(InputError(message, file=path, line=line, remedy="Is the file cut?"))
        else:
            yield line, dict(zip(names, cells, strict=False))


def _rows(lines: Sequence[str], at: int, separator: str) -> Iterator[tuple[int, list[str] | None, str]]:
    """The number of the last line of each row that is not empty, its cells, and ""; or a line, None, and what is wrong.

    A quotation mark too many takes one line with it: reading goes on at the next, and not where the next mark is.
    """
    while at < len(lines):
        begun = at
        reader = csv.reader(itertools.islice(lines, at, None), delimiter=separator, strict=True)
        try:
            for cells in reader:
                at = begun + reader.line_num
                if any(cell.strip() for cell in cells):
                    yield at, cells, ""
            return
        except csv.Error as fault:
            at += 1
            yield at, None, str(fault)


_PLAIN = re.compile(r"\s*[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]{1,4})?\s*", re.ASCII)


def plain_number(text: str) -> float | None:
    """The finite number that a text writes in ASCII digits; None for all else that Python would take for one.

    >>> [plain_number(text) for text in ("2", "-1.5e3", "-0", "1_000", "٣", "nan", "1e999")]
    [2.0, -1500.0, 0.0, None, None, None, None]
    """
    if len(text) > LONGEST or not _PLAIN.fullmatch(text):
        return None
    number = float(text) + 0.0  # no -0, which some would sort below 0
    return number if math.isfinite(number) else None


def windows(text: str) -> str:
    """A text as it comes back from a file in Windows-1252, in which some characters become question marks.

    >>> windows("≥ 5 €")
    '? 5 €'
    """
    return text.encode("cp1252", "replace").decode("cp1252", "replace")


def _separator(head: str, columns: Sequence[str]) -> str | None:
    for sign in _SEPARATORS:
        if set(columns) <= {name.strip() for name in next(csv.reader([head], delimiter=sign), [])}:
            return sign
    return None


def _decoded(path: Path) -> str:
    try:
        refuse_large(path)
        raw = path.read_bytes()
    except FileNotFoundError:
        raise InputError("no such file of judgments", file=path) from None
    except IsADirectoryError:
        raise InputError("a folder, and a file of judgments is needed", file=path) from None
    if raw.startswith(b"PK\x03\x04"):
        raise InputError("a workbook, and a CSV file is needed", file=path, remedy="Save it as CSV")
    wide = raw.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE))
    for encoding in ("utf-16",) if wide else ("utf-8-sig", "cp1252"):
        try:
            return raw.decode(encoding)
        except UnicodeDecodeError:
            continue
    raise InputError("not a text file that a spreadsheet saves", file=path, remedy="Save it as CSV in UTF-8")
