"""The times that descriptions name, whatever their language; which words name them is the languages' own."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields

import numpy as np
import polars as pl
from numpy.typing import NDArray


@dataclass(frozen=True)
class Periods:
    """Times of n texts, one bit each; arrays of shape (n,), 0 where a text names none.

    Attributes:
        years: modulo 64.
        months: a quarter is its three months.
        lengths: of reporting periods, in weeks up to 63; a month has four, and a year 48.
    """

    years: NDArray[np.uint64]
    months: NDArray[np.uint64]
    lengths: NDArray[np.uint64]

    @classmethod
    def together(cls, parts: Sequence[Periods]) -> Periods:
        """Those of texts one part after the other."""
        none = np.zeros(0, np.uint64)
        return cls(*(np.concatenate([none, *(getattr(part, each.name) for part in parts)]) for each in fields(cls)))

    def apart(self, a: NDArray[np.integer], b: NDArray[np.integer]) -> NDArray[np.bool_]:
        """Whether both texts of a pair name some years (months, lengths), and none in common."""
        return _apart(self.years, a, b) | _apart(self.months, a, b) | _apart(self.lengths, a, b)


def years(texts: pl.Series, pattern: str) -> NDArray[np.uint64]:
    """Years of four digits as bits, modulo 64: two years that are confused lie 64 years apart.

    Args:
        texts: n texts.
        pattern: finds what begins with the digits of a year.
    """
    matches = texts.str.extract_all(pattern).to_frame("year").with_row_index("row").explode("year")
    rows = matches.drop_nulls().with_columns(pl.col("year").str.head(4).cast(pl.UInt64) % 64)
    years = np.zeros(len(texts), dtype=np.uint64)
    np.bitwise_or.at(years, rows["row"].to_numpy(), np.uint64(1) << rows["year"].to_numpy())
    return years


def _apart(bits: NDArray[np.uint64], a: NDArray[np.integer], b: NDArray[np.integer]) -> NDArray[np.bool_]:
    apart: NDArray[np.bool_] = (bits[a] != 0) & (bits[b] != 0) & (bits[a] & bits[b] == 0)
    return apart
