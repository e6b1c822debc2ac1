"""The file formats: each reader turns one file into records, in bounded memory."""

from __future__ import annotations

import csv
from collections.abc import Callable, Iterator, Mapping
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any

from qbench.corpora.fields import choose
from qbench.corpora.streams import (
    ENCODING_REMEDY,
    Feed,
    Meter,
    SourceFile,
    csv_head,
    csv_rows,
    json_objects,
    long_cells,
    text_lines,
    unique_names,
)
from qbench.corpora.types import Fields, Problems, ReadOptions, Record
from qbench.errors import InputError

if TYPE_CHECKING:
    import pyarrow as pa
    import pyarrow.parquet as pq

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
        problems: records what cannot be used.
        meter: moved on by the bytes read, as they lie on disk.

    Raises:
        InputError: something cannot be used, and that is fatal (see `Problems`).
    """
    return READERS[file.kind](file, options, problems, meter)


def _json(file: SourceFile, options: ReadOptions, problems: Problems, meter: Meter) -> Iterator[Record]:
    fields: Fields | None = None
    numbered = text_lines(file, options.encodings, problems, meter, ENCODING_REMEDY)
    for number, values in json_objects(numbered, file.name, problems):
        if fields is None:
            try:
                fields = choose(list(values), options, file.name, number)
            except InputError as error:
                problems.bad("no text field", error)
                continue
        yield fields.record(file.name, number, number, values)


def _csv(file: SourceFile, options: ReadOptions, problems: Problems, meter: Meter) -> Iterator[Record]:
    feed = Feed(file, options.encodings, problems, meter)
    with long_cells():
        delimiter, head = csv_head(feed)
        yield from _table(feed, csv.reader(chain(head, feed), delimiter=delimiter, strict=True), options)


def _tsv(file: SourceFile, options: ReadOptions, problems: Problems, meter: Meter) -> Iterator[Record]:
    feed = Feed(file, options.encodings, problems, meter)
    with long_cells():
        yield from _table(feed, _tsv_rows(feed), options)


def _tsv_rows(text: Iterator[str]) -> Iterator[list[str]]:
    # The field's TSV files hold bare quotation marks, so quotes mean nothing, except around a whole cell.
    for row in csv.reader(text, delimiter="\t", quoting=csv.QUOTE_NONE):
        yield [c[1:-1].replace('""', '"') if len(c) > 1 and c[0] == c[-1] == '"' else c for c in row]


def _table(feed: Feed, rows: Iterator[list[str]], options: ReadOptions) -> Iterator[Record]:
    try:
        header = next(rows, [])
    except csv.Error as fault:
        feed.problems.bad("bad row", InputError(f"not a readable header: {fault}", file=feed.file.name, line=1))
        return
    if not header:
        return
    names, body = _columns(header, options)
    try:
        fields = choose(names, options, feed.file.name, 1)
    except InputError as error:
        feed.problems.bad("no text field", error)
        return
    reader = rows if body else chain([header], rows)
    for row, line, values in csv_rows(feed, reader, names, ENCODING_REMEDY, line=feed.line if body else 0):
        yield fields.record(feed.file.name, row, line, values)


def _columns(header: list[str], options: ReadOptions) -> tuple[list[str], bool]:
    """Names of the columns, and whether the first line is a header: fields given as numbers say that it is not."""
    given = [name for name in (options.id_field, *options.text_fields, options.title_field) if name is not None]
    if given and all(name.isdigit() for name in given) and not set(given) <= set(header):
        return [str(number) for number in range(1, len(header) + 1)], False
    return unique_names(header), True


def _text(file: SourceFile, options: ReadOptions, problems: Problems, meter: Meter) -> Iterator[Record]:
    fields = Fields(None, ("text",), None)
    row, start, size = 0, 0, 0
    held: list[str] = []
    for number, line in text_lines(file, options.encodings, problems, meter, ENCODING_REMEDY):
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
            row = 0
            for batch in table.iter_batches(batch_rows(table.metadata), columns=used_columns(fields)):
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


def batch_rows(metadata: pq.FileMetaData) -> int:
    """How many rows of a Parquet file are read at once."""
    size: int = sum(metadata.row_group(i).total_byte_size for i in range(metadata.num_row_groups))
    rows: int = metadata.num_rows
    return max(1, min(10_000, BATCH_BYTES * rows // max(1, size)))


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
