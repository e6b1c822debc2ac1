"""CSV files whose cells hold Python lists, read without trusting them."""

from __future__ import annotations

import ast
import csv
import json
import math
import re
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from functools import lru_cache
from pathlib import Path
from typing import Any

from qbench.benchmark.reading import Problems
from qbench.corpora.streams import Feed, Meter, SourceFile, long_cells
from qbench.errors import InputError
from qbench.sheets import plain_number

LONGEST_LIST = 1_000_000
"""Characters of a cell that holds a list."""

SHORT = 200
"""Characters of a cell whose list is remembered."""

DEEPEST_LIST = 20
"""Brackets in brackets; the real ones go three deep, and thousands would exhaust the parser's stack."""


def table_rows(
    path: Path, delimiter: str, columns: tuple[str, ...], problems: Problems
) -> Iterator[tuple[int, int, dict[str, str]]]:
    """The rows of a CSV or TSV file with a header.

    A row that cannot be used still counts, since ids are row numbers.

    Args:
        path: the file, UTF-8.
        delimiter: between cells.
        columns: those that it must have.
        problems: what to do with a bad row.

    Yields:
        0-based row number, 1-based line number (of the row's last line), and the cells by column. Hold `big_cells`
        meanwhile.

    Raises:
        InputError: the file is missing, is empty, lacks a column, or (see `Problems`) a row is malformed.
    """
    if not path.is_file():
        raise InputError("no such file", file=path)
    # Ids are row numbers: a line that cannot be read at all is fatal. Undecodable bytes become lone surrogates, so that
    # the row that holds them is known and the next rows keep their numbers.
    feed = Feed(SourceFile(path, str(path), "csv"), ("utf-8",), Problems("fail"), Meter())
    reader = csv.reader(feed, delimiter=delimiter)
    header = _header(reader, columns, path)
    number = -1
    for row in _cells(reader, path):
        number += 1
        fault = _row_fault(row, header)
        if fault:
            error = InputError(fault, file=path, line=reader.line_num, value=_readable(delimiter.join(row)))
            problems.bad("malformed rows", error)
            continue
        yield number, reader.line_num, dict(zip(header, row, strict=True))
    if number < 0:
        raise InputError("the file has a header and no rows", file=path)


def parse_list(cell: str, name: str, path: Path, line: int) -> list[Any]:
    """The list that a cell holds as a Python literal; no code is run.

    Raises:
        InputError: it holds no list, or one too long or too deep.
    """
    value = _numbers(cell)
    if value is None:
        try:
            value = _short_literal(cell) if len(cell) <= SHORT else _literal(cell)
        except (MemoryError, RecursionError):
            message = f"the list in {name} is too long or too deep"
            raise InputError(message, file=path, line=line, value=cell) from None
        except (ValueError, SyntaxError, TypeError):
            raise InputError(f"no Python list in {name}", file=path, line=line, value=cell) from None
    if not isinstance(value, (list, tuple)):
        raise InputError(f"no Python list in {name}", file=path, line=line, value=cell)
    return list(value)


def _numbers(cell: str) -> Any:
    """A list of numbers, or of pairs of them, by the JSON reader, ten times as fast as Python's; None for all else."""
    if not _PLAIN.fullmatch(cell):
        return None
    try:
        return json.loads(cell.replace("(", "[").replace(")", "]"))
    except (ValueError, RecursionError):
        return None


_NUMBER = r"\s*-?\d{1,18}(?:\.\d{1,20})?\s*"
_PAIR = rf"\s*\({_NUMBER},{_NUMBER}\)\s*"
_PLAIN = re.compile(rf"\s*\[(?:{_NUMBER}|{_PAIR}|\[{_PAIR}\]|\[\])?\]\s*")
"""What nearly all cells look like: one number, one pair, or one list of one pair."""


def _literal(cell: str) -> Any:
    if len(cell) > LONGEST_LIST or _depth(cell) > DEEPEST_LIST:
        raise RecursionError
    return ast.literal_eval(cell.strip())


_short_literal = lru_cache(maxsize=4096)(_literal)
"""Lists of units repeat: a few hundred different cells in hundreds of thousands. Never change what comes back."""


def _depth(cell: str) -> int:
    """How deep brackets stand in brackets; those in strings count too, which errs on the safe side."""
    depth = deepest = 0
    for character in cell:
        depth += (character in "[({") - (character in "])}")
        deepest = max(deepest, depth)
    return deepest


def number_of(value: object) -> float | None:
    """A finite float of a number or of its text in ASCII digits, else None."""
    if isinstance(value, bool) or not isinstance(value, (int, float, str)):
        return None
    if isinstance(value, str):
        return plain_number(value)
    try:
        number = float(value)
    except OverflowError:
        return None
    return number if math.isfinite(number) else None


def _header(reader: Iterator[list[str]], columns: tuple[str, ...], path: Path) -> list[str]:
    header = next(_cells(reader, path), None)
    if header is None:
        raise InputError("the file is empty", file=path)
    missing = [name for name in columns if name not in header]
    if missing:
        raise InputError(
            f"the column {missing[0]!r} is missing",
            file=path,
            line=1,
            value=header,
            remedy=f"It needs {', '.join(columns)}",
        )
    return header


def _cells(reader: Iterator[list[str]], path: Path) -> Iterator[list[str]]:
    """The reader's rows without blank lines, which are no rows (pandas, which numbered them, skips them too)."""
    try:
        yield from (row for row in reader if row)
    except csv.Error as fault:
        line = getattr(reader, "line_num", None)
        raise InputError(f"not readable as a table: {fault}", file=path, line=line) from None


def _row_fault(row: list[str], header: list[str]) -> str:
    if len(row) != len(header):
        return f"the row has {len(row)} cells, and the header {len(header)}"
    if any(not cell.isascii() and _UNDECODABLE.search(cell) for cell in row):
        return "not valid UTF-8"
    return ""


_UNDECODABLE = re.compile("[\udc80-\udcff]")


def _readable(text: str) -> str:
    return text[:200].encode("utf-8", "surrogateescape").decode("utf-8", "replace")


@contextmanager
def big_cells() -> Iterator[None]:
    """Reading with cells of any length that occurs, and without the compiler's remarks on bad lists.

    Both settings belong to the process, so an importer holds them once, around everything that it reads.
    """
    with long_cells(), warnings.catch_warnings():
        warnings.simplefilter("ignore", SyntaxWarning)
        warnings.simplefilter("ignore", DeprecationWarning)
        yield
