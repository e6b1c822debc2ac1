"""Sentences whose quantities and concepts are marked where they stand."""

from __future__ import annotations

import re

import polars as pl

from qbench.quantities.types import Quantity, quantity_schema, to_row


def table_of(text, change="", unit=("dollar", "currency"), value=5.0):
    """A text with {concept} and <number> marked, each number about all that is marked, as a table, and its text."""
    plain, spans, values = "", [], []
    for part in re.split(r"(\{.*?\}|<.*?>)", text):
        span = (len(plain), len(plain) + len(part.strip("{}<>")))
        (spans if part.startswith("{") else values if part.startswith("<") else []).append(span)
        plain += part.strip("{}<>")
    words = tuple(word for first, last in spans for word in plain[first:last].lower().split())
    rows = [
        Quantity(
            value,
            value,
            "=",
            *unit,
            unit[0],
            value,
            value,
            words,
            value_span=at,
            concept_spans=(*spans,),
            change=change,
        )
        for at in values
    ]
    return pl.DataFrame([to_row("d", row) for row in rows], schema=quantity_schema()), plain
