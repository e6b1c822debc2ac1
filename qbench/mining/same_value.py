"""The same-value rule: which records give one and the same value (a first version: equal values, three digits)."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    import polars as pl
    from numpy.typing import NDArray

DIGITS = 3
"""Values with fewer significant digits coincide too often to mean anything."""


def agreeing(table: pl.DataFrame, queries: NDArray[np.int64]) -> pl.DataFrame:
    """All records whose value agrees with that of some of them.

    Args:
        table: `description_schema`.
        queries: rows of `table`.

    Returns:
        columns query_row, doc_row, digits: every agreeing pair but a record with itself, by query_row, then doc_row.
    """
    import polars as pl

    values = table.with_row_index("row").select(
        pl.col("row").cast(pl.Int64), "base_unit", "digits", value=pl.col("base_value").round_sig_figs(12)
    )
    long = values.filter(pl.col("digits") >= DIGITS)
    asked = pl.DataFrame({"row": queries}, schema={"row": pl.Int64}).join(long, on="row")
    return (
        asked.join(long, on=["base_unit", "value"], suffix="_doc")
        .filter(pl.col("row") != pl.col("row_doc"))
        .select(query_row="row", doc_row="row_doc", digits=pl.min_horizontal("digits", "digits_doc"))
        .sort("query_row", "doc_row")
    )
