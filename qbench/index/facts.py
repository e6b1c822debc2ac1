"""The tables of a grounded index: things, what a table states of them, and the mentions that state it."""

from __future__ import annotations

from typing import Literal, get_args

import polars as pl

from qbench.index.schemas import Schema

THINGS = "things.parquet"
FACTS = "facts.parquet"
STATED = "stated.parquet"
MAPPING = "mapping.toml"
"""Files of a grounded index beside those of every index; `MAPPING` says how the table was read."""

Status = Literal["stated", "bounded", "unstated", "disagrees"]
"""What a document says of a fact: its value; a range or a bound that holds it; nothing; another value."""

STATUSES: tuple[Status, ...] = get_args(Status)


def thing_schema() -> Schema:
    """One row per document: what the row of the table says the document is about.

    `source_id` is the document, `row` the row's number in the table, from 1. `kind`, `qualifier` and `broader` are
    as in `qbench.synth.facts.Thing`, "" where the table does not say.
    """
    return {
        "source_id": pl.String,
        "row": pl.Int64,
        "name": pl.String,
        "kind": pl.String,
        "qualifier": pl.String,
        "broader": pl.String,
    }


def fact_schema() -> Schema:
    """One row per document and cell with a quantity.

    `attribute` is the number of the mapping's attribute, from 0, `name` what it is called; `value`, `unit`, `base_unit`
    and `base_value` are the cell's; `status` is one of `STATUSES`.
    """
    return {
        "source_id": pl.String,
        "attribute": pl.Int32,
        "column": pl.String,
        "name": pl.String,
        "value": pl.Float64,
        "unit": pl.String,
        "base_unit": pl.String,
        "base_value": pl.Float64,
        "status": pl.String,
    }


def stated_schema() -> Schema:
    """One row per mention that states a fact, or (`agrees` false) says something else about it.

    `doc_id` and `value_start` name the mention in the table of quantities; `low`, `high` and `comparator` are its
    `base_value`, `base_high` and `comparator`; `words` is what the text says.
    """
    return {
        "source_id": pl.String,
        "attribute": pl.Int32,
        "doc_id": pl.String,
        "value_start": pl.Int32,
        "low": pl.Float64,
        "high": pl.Float64,
        "comparator": pl.String,
        "agrees": pl.Boolean,
        "words": pl.String,
    }
