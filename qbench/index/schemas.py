"""The written schemas of an index's tables, for polars and for Arrow."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

import polars as pl
import pyarrow as pa

Schema = dict[str, pl.DataType | type[pl.DataType]]

FORMAT = 3
"""Version of the tables' columns: an index of another version is not opened, but built again."""


def sentence_schema() -> Schema:
    """Sentences: `doc_id` is "SOURCE_ID::N"; `start` and `end` are offsets into the document `source_id`."""
    return {
        "doc_id": pl.String,
        "text": pl.String,
        "title": pl.String,
        "source_id": pl.String,
        "start": pl.Int64,
        "end": pl.Int64,
    }


def pair_schema() -> Schema:
    """The concept/unit index (*Numbers Matter*, B.1): one row per (concept, unit), sorted by them.

    `values` are all values in `unit` with repetition, in the order of the corpus; `doc_ids` are their sentences.
    `count` is the number of mentions, `sentences` that of distinct sentences; `mean`, `low` and `high` are of `values`.
    """
    return {
        "concept": pl.String,
        "unit": pl.String,
        "family": pl.String,
        "base_unit": pl.String,
        "count": pl.UInt32,
        "sentences": pl.UInt32,
        "mean": pl.Float64,
        "low": pl.Float64,
        "high": pl.Float64,
        "values": pl.List(pl.Float64),
        "doc_ids": pl.List(pl.String),
    }


def frame_of(rows: Sequence[Mapping[str, Any]], schema: Schema, nested: str) -> pl.DataFrame:
    """Rows as a table.

    Args:
        rows: a value for every column.
        schema: of the table.
        nested: the column of spans, which go to polars through JSON, three times faster than from Python. (pyarrow is
            faster still, but loads pandas, where that is installed, with the first list that it is given.)
    """
    spans = pl.Series(nested, [json.dumps(row[nested]) for row in rows], dtype=pl.String)
    columns = {
        column: spans.str.json_decode(pl.List(pl.List(pl.Int32)))
        if column == nested
        else pl.Series(column, [row[column] for row in rows], dtype=dtype)
        for column, dtype in schema.items()
    }
    return pl.DataFrame(columns)


def arrow(frame: pl.DataFrame) -> pa.Table:
    """The frame for Arrow, with types that every Parquet reader knows."""
    return frame.to_arrow(compat_level=pl.CompatLevel.oldest())


def arrow_schema(schema: Schema) -> pa.Schema:
    """A written schema for Arrow."""
    return arrow(pl.DataFrame(schema=schema)).schema
