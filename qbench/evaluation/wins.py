"""The win matrix of *Quantity Retrieval* (table 3): the share of the queries on which one system beats another."""

from __future__ import annotations

import numpy as np
import polars as pl
from numpy.typing import NDArray

from qbench.evaluation.significance import Scores

_TIE = 1e-9
"""Scores that differ by no more are equal: measures are sums, and sums round."""


def win_schema() -> dict[str, pl.DataType | type[pl.DataType]]:
    """Columns of `win_matrix`."""
    return {"winner": pl.String, "loser": pl.String, "share": pl.Float64, "significant": pl.Boolean}


def win_matrix(scores: pl.DataFrame, pairs: pl.DataFrame, measure: str) -> pl.DataFrame:
    """W_ij: the share of queries on which system i scores strictly higher than system j.

    W_ij + W_ji is 1 less the share of ties. A win counts whatever its margin: W says how often a system wins, and the
    means by how much.

    Args:
        scores: columns label, query_id, measure, value; one row per system, query and measure.
        pairs: `pair_schema` of qbench.evaluation.significance: the compared pairs, each once.
        measure: whose scores are compared; nDCG@10 in the paper.

    Returns:
        `win_schema`, two rows for each couple, ordered by winner, then loser. `significant` says that the winner's
        *mean* is significantly above the loser's, as in `pairs`.
    """
    couples = pairs.filter(pl.col("measure") == measure).select("a", "b", "difference", "significant")
    if couples.is_empty():
        return pl.DataFrame(schema=win_schema())
    turned = couples.select(a="b", b="a", difference=-pl.col("difference"), significant="significant")
    arranged = Scores.from_frame(scores.filter(pl.col("measure") == measure))
    shares = win_counts(arranged.values)[0] / len(arranged.query_ids)
    row = {label: i for i, label in enumerate(arranged.labels)}
    both = pl.concat([couples, turned.select(couples.columns)]).sort("a", "b")
    return both.select(
        winner="a",
        loser="b",
        share=pl.Series([shares[row[a], row[b]] for a, b in both.select("a", "b").iter_rows()], dtype=pl.Float64),
        significant=pl.col("significant") & (pl.col("difference") > 0),
    )


def win_counts(values: NDArray[np.float64]) -> NDArray[np.int64]:
    """The number of queries on which one system scores strictly higher than another.

    Args:
        values: shape (systems, measures, queries).

    Returns:
        shape (measures, systems, systems): row i, column j counts the wins of i over j.
    """
    return np.stack([(row - values > _TIE).sum(axis=2).T for row in values], axis=1)
