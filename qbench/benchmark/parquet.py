"""The tables of a benchmark as Parquet files: written schemas, checked on the way in and on the way out."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from pathlib import Path

import polars as pl

from qbench.benchmark.types import (
    Schema,
    corpus_schema,
    known_schema,
    qrels_schema,
    query_schema,
    sample_schema,
    triple_schema,
)
from qbench.corpora.streams import reading_parquet
from qbench.errors import InputError
from qbench.quantities.types import quantity_schema

SCHEMAS: Mapping[str, Callable[[], Schema]] = {
    "corpus": corpus_schema,
    "queries": query_schema,
    "qrels": qrels_schema,
    "quantities": quantity_schema,
    "facts": known_schema,
    "samples": sample_schema,
    "triples": triple_schema,
}
"""The tables, in the order in which the card lists them; each lies in `NAME.parquet`."""

OPTIONAL = ("quantities", "facts")
"""The tables that not every benchmark has."""

KEYS: Mapping[str, tuple[str, ...]] = {
    "corpus": ("doc_id",),
    "queries": ("query_id",),
    "qrels": ("query_id", "doc_id"),
    "samples": ("sample_id",),
}
"""The columns that name a row: no two rows of a table agree in all of them."""


def empty(table: str) -> pl.DataFrame:
    """The table of that name, without rows."""
    return pl.DataFrame(schema=SCHEMAS[table]())


EARLIER = {
    "comparator": "bound",
    "comparator_start": "bound_start",
    "comparator_end": "bound_end",
    "sheet": "part",
}
"""Columns that had another name in artefacts of earlier development versions, which can still be read."""


def conform(frame: pl.DataFrame, table: str, file: Path | None = None) -> pl.DataFrame:
    """The frame with exactly the columns of its schema, in order.

    Args:
        frame: what should be the table.
        table: its name, a key of `SCHEMAS`.
        file: where it comes from, for the error.

    Raises:
        InputError: a column is missing, is of another type or holds a null.
    """
    return fit(frame, SCHEMAS[table](), file or Path(f"{table}.parquet"))


def fit(frame: pl.DataFrame, schema: Schema, file: Path, nullable: Collection[str] = ()) -> pl.DataFrame:
    """The frame with exactly the columns of a schema, in order.

    Args:
        frame: what should keep the schema.
        schema: column -> type.
        file: where it comes from, for the error.
        nullable: the columns that may hold a null.

    Raises:
        InputError: a column is missing, is of another type or holds a null.
    """
    for column, dtype in schema.items():
        if column not in frame.columns:
            raise InputError(f"the column {column!r} is missing", file=file, remedy=f"It needs {', '.join(schema)}")
        if frame.schema[column] != dtype:
            raise InputError(
                f"the column {column!r} should be {dtype}", file=file, value=_Bare(str(frame.schema[column]))
            )
        if column not in nullable and frame[column].null_count():
            row = frame[column].is_null().arg_max()
            raise InputError(f"the column {column!r} has an empty cell", file=file, line=(row or 0) + 1)
    return frame.select(list(schema))


def read_table(path: Path, table: str, where: pl.Expr | None = None) -> pl.DataFrame:
    """Read one table of a benchmark.

    Args:
        path: its file.
        table: its name, a key of `SCHEMAS`.
        where: which rows; None for all.

    Raises:
        InputError: the file is missing, is no Parquet, or does not have the table's schema.
    """
    return read_parquet(path, SCHEMAS[table](), where=where)


def read_parquet(
    path: Path, schema: Schema, nullable: Collection[str] = (), where: pl.Expr | None = None
) -> pl.DataFrame:
    """Read a Parquet file that should keep a schema; `fit` says how.

    Args:
        path: the file.
        schema, nullable: as in `fit`.
        where: which rows; None for all. What else the file holds is not looked at.

    Raises:
        InputError: the file is missing, is no Parquet, or does not have the schema.
    """
    rows = _scanned(path, schema)
    if where is not None:
        fit(pl.DataFrame(schema=rows.collect_schema()), schema, path)
        rows = rows.filter(where)
    with reading_parquet(path):
        frame = rows.collect()
    return fit(_with_topic(_with_change(frame), schema), schema, path, nullable)


def scan_parquet(path: Path, schema: Schema) -> pl.LazyFrame:
    """A Parquet file that should keep a schema, none of whose rows is read before it is needed.

    Raises:
        InputError: the file is missing, is no Parquet, or has not the columns and types of the schema.
    """
    rows = _scanned(path, schema)
    fit(pl.DataFrame(schema=rows.collect_schema()), schema, path)
    return rows.select(list(schema))


def _scanned(path: Path, schema: Schema) -> pl.LazyFrame:
    """The columns of the schema that a file has, under the names of today.

    Raises:
        InputError: the file is missing, or is no Parquet.
    """
    if not path.is_file():
        raise InputError("no such file", file=path)
    with reading_parquet(path):
        rows = pl.scan_parquet(path, glob=False)
        there = rows.collect_schema().names()
    earlier = {old: new for new, old in EARLIER.items() if new in schema and new not in there and old in there}
    return rows.rename(earlier).select(name for name in (earlier.get(name, name) for name in there) if name in schema)


def _with_change(frame: pl.DataFrame) -> pl.DataFrame:
    """Conditions of earlier development versions asked for levels only, and did not say so."""
    dtype = frame.schema.get("conditions")
    if not isinstance(dtype, pl.List) or not isinstance(dtype.inner, pl.Struct):
        return frame
    if any(field.name == "change" for field in dtype.inner.fields):
        return frame
    level = pl.element().struct.with_fields(pl.lit("").alias("change"))
    return frame.with_columns(pl.col("conditions").list.eval(level))


def _with_topic(frame: pl.DataFrame, schema: Schema) -> pl.DataFrame:
    """Queries of earlier development versions named no topic: each is one of its own."""
    lacking = "topic" in schema and "topic" not in frame.columns
    return frame.with_columns(topic=pl.lit("")) if lacking else frame


def write_table(frame: pl.DataFrame, table: str, folder: Path) -> None:
    """Write one table as `NAME.parquet`; the same rows give the same bytes.

    Raises:
        InputError: the frame does not have the table's schema, holds a number that is not finite, or names a row twice.
    """
    path = folder / f"{table}.parquet"
    frame = conform(frame, table)
    _refuse_infinite(frame, table)
    _refuse_duplicates(frame, table)
    frame.rechunk().write_parquet(path, compression="zstd", statistics=True)


def _refuse_infinite(frame: pl.DataFrame, table: str) -> None:
    for column in (name for name, dtype in frame.schema.items() if dtype == pl.Float64):
        bad = frame[column].is_finite().not_()
        if bad.any():
            row = bad.arg_max() or 0
            raise InputError(
                f"the column {column!r} has a value that is not a finite number",
                file=f"{table}.parquet",
                line=row + 1,
                value=frame[column][row],
            )


def _refuse_duplicates(frame: pl.DataFrame, table: str) -> None:
    key = KEYS.get(table)
    if key is None:
        return
    if frame.select(key).hash_rows().n_unique() == frame.height:  # rows that are equal have one hash
        return
    duplicated = frame.select(key).is_duplicated()
    if duplicated.any():
        row = duplicated.arg_max() or 0
        raise InputError(
            f"{' and '.join(key)} should name one row only",
            file=f"{table}.parquet",
            line=row + 1,
            value=frame.select(key).row(row),
        )


class _Bare(str):
    """A word printed as it is, without quotes."""

    def __repr__(self) -> str:
        return str(self)
