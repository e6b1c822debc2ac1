"""The times that English descriptions name, as bits: two that name other ones are of other facts."""

from __future__ import annotations

import re

import numpy as np
import polars as pl
from numpy.typing import NDArray

from qbench.mining.periods import Periods, years


def periods(texts: pl.Series) -> Periods:
    """The years, months and lengths of reporting periods ("six months ended", "36 weeks ended") of each text."""
    return Periods(years(texts, r"\b(?:19|20)\d\d\b"), _months(texts), _lengths(texts))


_MONTHS = (
    "January|Jan",
    "February|Feb",
    "March|Mar",
    "April|Apr",
    "May",
    "June|Jun",
    "July|Jul",
    "August|Aug",
    "September|Sept|Sep",
    "October|Oct",
    "November|Nov",
    "December|Dec",
)
_QUARTERS = tuple(
    rf"Q{n}|{n}Q(?:\d\d)?|(?i:{name}[ -]quarter)"
    for n, name in enumerate(("first", "second", "third", "fourth"), start=1)
)


def _months(texts: pl.Series) -> NDArray[np.uint64]:
    months = np.zeros(len(texts), dtype=np.uint64)
    for number, name in enumerate(_MONTHS):
        # With a capital: "may" and "march" are verbs.
        months |= texts.str.contains(rf"\b(?:{name})\b").to_numpy().astype(np.uint64) << np.uint64(number)
    for number, pattern in enumerate(_QUARTERS):
        matches = texts.str.contains(rf"\b(?:{pattern})\b").to_numpy()
        months |= np.where(matches, np.uint64(7 << 3 * number), np.uint64(0))
    return months


_SPELLED = {"three": 3, "six": 6, "nine": 9, "twelve": 12}
_LENGTH = r"(?i)\b(three|six|nine|twelve|\d\d?) (months|weeks) ended\b"


def _lengths(texts: pl.Series) -> NDArray[np.uint64]:
    """Lengths of reporting periods as bits, in weeks: a month has four, and a year that ended 48."""
    lengths = np.where(texts.str.contains(r"(?i)\byears? ended\b").to_numpy(), np.uint64(1 << 48), np.uint64(0))
    named = texts.str.contains(_LENGTH).to_numpy()
    for row in np.flatnonzero(named).tolist():
        for number, unit in re.findall(_LENGTH, texts[row]):
            count = _SPELLED.get(number.lower()) or int(number)
            weeks = min(4 * count if unit.lower() == "months" else 12 * (count // 12) or count, 63)
            lengths[row] |= np.uint64(1) << np.uint64(weeks)
    return lengths
