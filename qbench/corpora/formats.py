"""The file formats: each reader turns one file into records, in bounded memory."""

from __future__ import annotations

import csv
import json
import re
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any

from qbench.corpora.fields import choose
from qbench.corpora.streams import LONGEST_LINE, Meter, SourceFile, decode, lines, text_lines
from qbench.corpora.types import Fields, Problems, ReadOptions, Record
from qbench.errors import InputError

if TYPE_CHECKING:
    import pyarrow as pa

Reader = Callable[[SourceFile, ReadOptions, Problems, Meter], Iterator[Record]]

SUFFIXES: Mapping[str, str] = {
    ".jsonl": "json",
    ".ndjson": "json",
    ".json": "json",
    ".csv": "csv",
    ".tsv": "tsv",
    ".txt": "text",
    ".parquet": "parquet",
}
"""File name ending -> format; all but Parquet may be followed by .gz or .zst."""

PARAGRAPH = 100_000
"""Longest document that a plain text file gives, in characters, unless one line is longer."""

BATCH_BYTES = 1 << 24
"""How much of a Parquet file or a data set is in memory at once, about."""

_UNDECODED = re.compile(r"[\udc80-\udcff]")


def kind_of(path: Path) -> str | None:
    """The format of a file by its name; None where it is not known."""
    suffixes = [suffix.lower() for suffix in path.suffixes]
    packed = bool(suffixes) and suffixes[-1] in (".gz", ".zst")
    suffix = suffixes[-1 - packed] if len(suffixes) > packed else ""
    kind = SUFFIXES.get(suffix)
    return None if packed and kind == "parquet" else kind


def read(file: SourceFile, options: ReadOptions, problems: Problems, meter: Meter) -> Iterator[Record]:
    """The records of one file.

    Args:
        file: the file, with its format.
        options: fields and encodings.
        problems: told of what cannot be used.
        meter: moved on by the bytes read, as they lie on disk.

    Raises:
        InputError: something cannot be used, and that is fatal (see `Problems`).
    """
    return READERS[file.kind](file, options, problems, meter)


def _json(file: SourceFile, options: ReadOptions, problems: Problems, meter: Meter) -> Iterator[Record]:
    fields: Fields | None = None
    for number, line in text_lines(file, options.encodings, problems, meter):
        if not line.strip():
            continue
        try:
            values = json.loads(line)
        except (ValueError, RecursionError) as fault:
            error = InputError(f"not valid JSON: {fault}", file=file.name, line=number, value=line)
            problems.bad("bad JSON", error)
            continue
        if not isinstance(values, dict):
            message = "not a JSON object; one object a line is needed"
            problems.bad("not an object", InputError(message, file=file.name, line=number, value=line[:60]))
            continue
        if fields is None:
            try:
                fields = choose(list(values), options, file.name, number)
            except InputError as error:
                problems.bad("no text field", error)
                continue
        yield fields.record(file.name, number, number, values)


def _csv(file: SourceFile, options: ReadOptions, problems: Problems, meter: Meter) -> Iterator[Record]:
    feed = _Feed(file, options, problems, meter)
    with _long_cells():
        first = next(feed, "")
        delimiter = max(",;\t|", key=first.count)
        yield from _table(feed, first, lambda text: csv.reader(text, delimiter=delimiter, strict=True), options)


def _tsv(file: SourceFile, options: ReadOptions, problems: Problems, meter: Meter) -> Iterator[Record]:
    feed = _Feed(file, options, problems, meter)
    with _long_cells():
        yield from _table(feed, next(feed, ""), _tsv_rows, options)


def _tsv_rows(text: Iterator[str]) -> Iterator[list[str]]:
    # The field's TSV files hold bare quotation marks, so quotes mean nothing, except around a whole cell.
    for row in csv.reader(text, delimiter="\t", quoting=csv.QUOTE_NONE):
        yield [c[1:-1].replace('""', '"') if len(c) > 1 and c[0] == c[-1] == '"' else c for c in row]


class _Feed(Iterator[str]):
    """Decoded lines for `csv.reader`; `line` is the number of the last one given.

    A line that no encoding fits keeps its bytes as surrogates, because to leave it out could unbalance the quotes.
    """

    def __init__(self, file: SourceFile, options: ReadOptions, problems: Problems, meter: Meter) -> None:
        self.file = file
        self.problems = problems
        self.line = 0
        self._encodings = options.encodings
        self._lines = lines(file, problems, meter)

    def __next__(self) -> str:
        self.line, raw = next(self._lines)
        text = decode(raw, self._encodings)
        return (raw.decode("utf-8", "surrogateescape") if text is None else text) + "\n"


def _table(
    feed: _Feed, first: str, rows: Callable[[Iterator[str]], Iterator[list[str]]], options: ReadOptions
) -> Iterator[Record]:
    file, problems = feed.file, feed.problems
    if not first:
        return
    header = next(rows(iter([first])))
    names, body = _columns(header, options)
    try:
        fields = choose(names, options, file.name, 1)
    except InputError as error:
        problems.bad("no text field", error)
        return
    reader = rows(feed if body else chain([first], feed))
    row, line = 0, (1 if body else 0)
    while True:
        row, start = row + 1, line + 1
        try:
            cells = next(reader)
        except StopIteration:
            return
        except csv.Error as fault:
            message = f"not a readable row, up to line {feed.line}: {fault}"
            problems.bad("bad row", InputError(message, file=file.name, line=start))
            continue
        finally:
            line = feed.line
        if not cells:
            continue
        if len(cells) != len(names):
            message = f"{len(cells)} cells in a row, and the header has {len(names)}"
            problems.bad("wrong number of cells", InputError(message, file=file.name, line=start, value=cells[0]))
        elif any(_UNDECODED.search(cell) for cell in cells):
            message = f"not valid {' or '.join(options.encodings)}"
            remedy = "Give the encodings to try with --encoding"
            problems.bad("bad encoding", InputError(message, file=file.name, line=start, value=cells[0], remedy=remedy))
        else:
            yield fields.record(file.name, row, start, dict(zip(names, cells, strict=True)))


def _columns(header: list[str], options: ReadOptions) -> tuple[list[str], bool]:
    """Names of the columns, and whether the first line is a header: fields given as numbers say that it is not."""
    given = [name for name in (options.id_field, *options.text_fields, options.title_field) if name is not None]
    if given and all(name.isdigit() and name not in header for name in given):
        return [str(number) for number in range(1, len(header) + 1)], False
    return [name.strip() for name in header], True


@contextmanager
def _long_cells() -> Iterator[None]:
    # The csv module's limit of 131,072 characters a cell is one for the whole process.
    before = csv.field_size_limit(min(LONGEST_LINE, sys.maxsize))
    try:
        yield
    finally:
        csv.field_size_limit(before)


def _text(file: SourceFile, options: ReadOptions, problems: Problems, meter: Meter) -> Iterator[Record]:
    fields = Fields(None, ("text",), None)
    row, start, size = 0, 0, 0
    held: list[str] = []
    for number, line in text_lines(file, options.encodings, problems, meter):
        blank = not line.strip()
        if held and (blank or size + len(line) > PARAGRAPH):
            row += 1
            yield fields.record(file.name, row, start, {"text": "\n".join(held)})
            held, size = [], 0
        if not blank:
            start = start if held else number
            held.append(line)
            size += len(line) + 1
    if held:
        yield fields.record(file.name, row + 1, start, {"text": "\n".join(held)})


def _parquet(file: SourceFile, options: ReadOptions, problems: Problems, meter: Meter) -> Iterator[Record]:
    import pyarrow as pa
    import pyarrow.parquet as pq

    before, bytes_on_disk = meter.done, file.path.stat().st_size
    try:
        with pq.ParquetFile(file.path) as table:
            fields = choose(table.schema_arrow.names, options, file.name)
            rows = table.metadata.num_rows
            groups = (table.metadata.row_group(i).total_byte_size for i in range(table.metadata.num_row_groups))
            batch_rows = max(1, min(10_000, BATCH_BYTES * rows // max(1, sum(groups))))
            row = 0
            for batch in table.iter_batches(batch_rows, columns=used_columns(fields)):
                for values in rows_of(batch):
                    row += 1
                    yield fields.record(file.name, row, row, values)
                meter.done = before + bytes_on_disk * row // max(1, rows)
    except InputError as error:
        problems.bad("no text field", error)
    except (pa.ArrowException, OSError) as fault:
        message = f"not a readable Parquet file: {(str(fault).splitlines() or ['damaged'])[0]}"
        problems.bad("unreadable file", InputError(message, file=file.name))
    meter.done = before + bytes_on_disk


def used_columns(fields: Fields) -> list[str]:
    """The columns that have to be read, each once."""
    return list(dict.fromkeys(name for name in (fields.doc_id, *fields.text, fields.title) if name is not None))


def rows_of(batch: pa.RecordBatch) -> Iterator[dict[str, Any]]:
    """The rows of an Arrow batch; a string that is not UTF-8 comes as bytes."""
    names = batch.schema.names
    columns = [_cells(batch.column(i)) for i in range(len(names))]
    for cells in zip(*columns, strict=True):
        yield dict(zip(names, cells, strict=True))


def _cells(column: pa.Array) -> list[Any]:
    try:
        cells: list[Any] = column.to_pylist()
    except UnicodeDecodeError:
        cells = [_cell(cell) for cell in column]
    return cells


def _cell(cell: pa.Scalar) -> Any:
    try:
        return cell.as_py()
    except UnicodeDecodeError:
        return bytes(cell.as_buffer())


READERS: Mapping[str, Reader] = {"json": _json, "csv": _csv, "tsv": _tsv, "text": _text, "parquet": _parquet}
