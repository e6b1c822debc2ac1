"""When two quantities are the same: the rule behind value coincidence (*Quantity Retrieval*, section 3.2).

Two values are compared in the base unit of their family (`base_unit`), so "1.5 km" and "1,500 m" can agree; a number
between 0 and 1 without a unit is compared as a percentage ("0.125" and "12.5 %"). They are

- the **same**, if they compare, are single and exact ("about 5" and "5 to 8" are neither), point the same way where
  both are sizes of a change, and agree when the more precise is rounded to the digits of the other ("4.6 billion" and
  "4,587 million" agree on 2 digits; only numbers that are written with 1,000 and more are taken for rounded). The more
  precise needs at least `least` significant digits (3 by default: "5" and "5" are too short to mean anything), the
  other at least `rounded`: as many, unless fewer are allowed where it is rounded;
- **different**, if they compare and are not the same;
- **undecided** otherwise, and of no use: too few digits, a range, an approximation, whole numbers like
  years (1900 to 2100), units that do not compare where one value may be the other ("$5.2 bn" and "5,200"), the same
  digits a thousand, million or billion times as large ("$5.2 bn", and "$5,200" of a table in millions).

Significant digits are as written: trailing zeros of a whole number do not count ("4,500,000" has two).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import polars as pl
from numpy.typing import NDArray

from qbench.errors import OptionError
from qbench.mining.options import LEAST_DIGITS

YEARS = (1900, 2100)
ROUNDED = 1_000
"""Smallest number that may be another one, rounded: "101" is not "101.25", and "3.8 %" not "3.75 %"."""
PERCENTAGE = "percentage"
"""The base unit of shares."""
_SLACK = 1e-9
"""Relative error of a conversion; far below any rounding that the rule allows for."""

VALUE_COLUMNS = ("value", "high", "comparator", "change", "base_unit", "base_value", "digits")
"""The columns of descriptions that `Values` are made of."""

DIFFERENT, UNDECIDED, SAME = np.int8(-1), np.int8(0), np.int8(1)


@dataclass(frozen=True)
class Values:
    """The values of some descriptions as arrays, all of shape (n,).

    Attributes:
        value: in the base unit; the size of a change, without sign.
        unit: number of the base unit.
        digits: significant digits as written.
        written: the number as it stands, scale word included, without sign.
        step: by how much a value moves with its last significant digit, in the base unit.
        usable: whether it may agree with another: single, exact, not like a year, not zero.
    """

    value: NDArray[np.float64]
    unit: NDArray[np.int64]
    digits: NDArray[np.int64]
    written: NDArray[np.float64]
    step: NDArray[np.float64]
    usable: NDArray[np.bool_]

    @classmethod
    def of(cls, table: pl.DataFrame) -> Values:
        """The values of a table with `VALUE_COLUMNS`, of `qbench.mining.types.description_schema`."""
        written = table["value"].to_numpy().astype(np.float64)
        fraction = (table["base_unit"] == "").to_numpy() & (written > 0) & (written < 1)
        value = table["base_value"].to_numpy().astype(np.float64) * np.where(fraction, 100.0, 1.0)
        digits = np.maximum(table["digits"].to_numpy().astype(np.int64), 1)
        years = (written == np.rint(written)) & (written >= YEARS[0]) & (written <= YEARS[1])
        single = (table["value"] == table["high"]).to_numpy() & (table["comparator"] == "=").to_numpy()
        bases = pl.select(
            pl.when(pl.Series(fraction)).then(pl.lit(PERCENTAGE)).otherwise(table["base_unit"])
        ).to_series()
        unit = (bases + "\x1f" + table["change"].fill_null("")).rank("dense").to_numpy().astype(np.int64)
        step = _step(np.abs(written), np.abs(value), digits)
        usable = single & ~years & (value != 0) & np.isfinite(value)
        return cls(value, unit, digits, np.abs(written), step, usable)


def _step(written: NDArray[np.float64], base: NDArray[np.float64], digits: NDArray[np.int64]) -> NDArray[np.float64]:
    """The place of the last significant digit: of the number as it stands, then in the base unit.

    4,587 million: 1 million; 12.5 %: 0.1 per cent points.
    """
    with np.errstate(divide="ignore", invalid="ignore"):
        exponent = np.floor(np.log10(written) + 1e-12) - digits + 1
        factor = np.where(written > 0, base / written, 1.0)
    step: NDArray[np.float64] = np.where(written > 0, 10.0 ** np.nan_to_num(exponent) * factor, 0.0)
    return step


def compare(
    values: Values,
    a: NDArray[np.integer],
    b: NDArray[np.integer],
    *,
    least: int = LEAST_DIGITS,
    rounded: int | None = None,
) -> tuple[NDArray[np.int8], NDArray[np.int64]]:
    """Whether the values of records a and b agree.

    Args:
        values: of all records.
        a, b: shape (n,), positions of records.
        least: significant digits of the more precise value.
        rounded: significant digits of the other one, where it has fewer; `least` by default.

    Returns:
        -1, 0 or 1 (different, undecided, same), and the number of digits on which they agree (0 unless same), each of
        shape (n,).

    Raises:
        OptionError: `least` or `rounded` is below 1.
    """
    fewest = least if rounded is None else min(rounded, least)
    if fewest < 1:
        raise OptionError("values have to agree on at least one digit", value=least)
    x, y = values.value[a], values.value[b]
    coarse = np.maximum(values.step[a], values.step[b])
    slack = _SLACK * np.maximum(np.abs(x), np.abs(y))
    close = np.abs(x - y) <= coarse / 2 * (1 + 1e-6) + slack
    # The number that would have been rounded.
    finer = np.where(values.step[a] <= values.step[b], values.written[a], values.written[b])
    agree = close & ((finer >= ROUNDED) | (np.abs(x - y) <= slack))
    comparable = (values.unit[a] == values.unit[b]) & values.usable[a] & values.usable[b]
    digits = np.minimum(values.digits[a], values.digits[b])
    # What rounding could explain, even where it is not believed, is not held for different.
    result = np.where(comparable & ~close & ~_scaled(x, y), DIFFERENT, UNDECIDED)
    enough = (digits >= fewest) & (np.maximum(values.digits[a], values.digits[b]) >= least)
    result = np.where(comparable & agree & enough, SAME, result)
    apart = (values.unit[a] != values.unit[b]) & ~_near(x, y)
    result = np.where(apart & values.usable[a] & values.usable[b], DIFFERENT, result)
    return result.astype(np.int8), np.where(result == SAME, digits, 0)


def _near(x: NDArray[np.float64], y: NDArray[np.float64]) -> NDArray[np.bool_]:
    """Whether one number may be the other in another unit: the same digits, whatever the power of ten."""
    with np.errstate(divide="ignore", invalid="ignore"):
        logs = np.log10(np.abs(x)) - np.log10(np.abs(y))
        near: NDArray[np.bool_] = np.abs(logs - np.rint(logs)) < 0.005
    return near


def _scaled(x: NDArray[np.float64], y: NDArray[np.float64]) -> NDArray[np.bool_]:
    """Whether one number may be the other in thousands, millions or billions: tables say so above, not beside it."""
    with np.errstate(divide="ignore", invalid="ignore"):
        logs = np.abs(np.log10(np.abs(x)) - np.log10(np.abs(y))) / 3
        scaled: NDArray[np.bool_] = _near(x, y) & (np.rint(logs) >= 1) & (np.abs(logs - np.rint(logs)) < 0.01)
        return scaled


def agreeing(
    table: pl.DataFrame,
    queries: NDArray[np.integer],
    *,
    least: int = LEAST_DIGITS,
    rounded: int | None = None,
    most: int | None = None,
) -> pl.DataFrame:
    """All records whose values agree with those of some records, by a search in sorted values: no cross product.

    Args:
        table: `qbench.mining.types.description_schema`.
        queries: positions of the records to compare with all.
        least, rounded: as in `compare`.
        most: maximum number of agreeing records; queries with more are left out.

    Returns:
        columns query_row, doc_row, digits (all Int64), by query, then record; a record never agrees with itself.
    """
    values = Values.of(table)
    fewest = least if rounded is None else min(rounded, least)
    order = np.lexsort((values.value, values.unit))
    order = order[values.usable[order] & (values.digits[order] >= fewest)]
    units, sorted_values = values.unit[order], values.value[order]
    bounds = {unit: (np.searchsorted(units, unit), np.searchsorted(units, unit, side="right")) for unit in set(units)}
    rows: list[NDArray[np.int64]] = []
    queried: list[NDArray[np.int64]] = []
    for query in np.asarray(queries, dtype=np.int64):
        if not values.usable[query] or values.unit[query] not in bounds or values.digits[query] < fewest:
            continue
        start, end = bounds[values.unit[query]]
        # With `fewest` digits in each, no value farther away than this can round to the other.
        reach = np.abs(values.value[query]) * 10.0 ** (1 - fewest)
        values_of_unit = sorted_values[start:end]
        low = start + np.searchsorted(values_of_unit, values.value[query] - reach)
        high = start + np.searchsorted(values_of_unit, values.value[query] + reach, side="right")
        near = order[low:high]
        same, _ = compare(values, np.full(near.size, query), near, least=least, rounded=rounded)
        docs_of_query = np.sort(near[(same == SAME) & (near != query)]).astype(np.int64)
        if most is None or docs_of_query.size <= most:
            rows.append(docs_of_query)
            queried.append(np.full(docs_of_query.size, query, dtype=np.int64))
    docs = np.concatenate(rows) if rows else np.empty(0, np.int64)
    by = np.concatenate(queried) if queried else np.empty(0, np.int64)
    _, digits = compare(values, by, docs, least=least, rounded=rounded)
    return pl.DataFrame({"query_row": by, "doc_row": docs, "digits": digits.astype(np.int64)})
