"""When two quantities are the same: the rule behind value coincidence (*Quantity Retrieval*, section 3.2).

Two values are compared in the base unit of their family (`base_unit`), so "1.5 km" and "1,500 m" can agree; per cent
and fractions of one share the family "ratio". They are

- the **same**, if they compare, are single and exact ("about 5" and "5 to 8" are neither), point the same way where
  both are sizes of a change, and agree when the more precise is rounded to the digits of the other ("4.6 billion" and
  "4,587 million" agree on 2 digits; only numbers of 1,000 and more are taken for rounded), on at least `least`
  significant digits (3 by default: "5" and "5" are too short to mean anything);
- **different**, if they compare and are not the same;
- **undecided** otherwise, and of no use: too few digits, a range, an approximation, whole numbers like
  years (1900 to 2100), units that do not compare where one value may be the other ("$5.2 bn" and "5,200").

Significant digits are as written: trailing zeros of a whole number do not count ("4,500,000" has two).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from qbench.errors import OptionError

if TYPE_CHECKING:
    import polars as pl
    from numpy.typing import NDArray

LEAST_DIGITS = 3
YEARS = (1900, 2100)
ROUNDED = 1_000
"""From here on a number may be another one, rounded: "101" is not "101.25", and "3.8 %" not "3.75 %"."""
_SLACK = 1e-9
"""Relative error of a conversion; far below any rounding that the rule knows."""

DIFFERENT, UNDECIDED, SAME = np.int8(-1), np.int8(0), np.int8(1)


@dataclass(frozen=True)
class Values:
    """The values of some descriptions as arrays, all of shape (n,).

    Attributes:
        value: in the base unit; the size of a change, without sign.
        unit: number of the base unit.
        digits: significant digits as written.
        step: by how much a value moves with its last significant digit, in the base unit.
        usable: whether it may agree with another: single, exact, not like a year, not zero.
    """

    value: NDArray[np.float64]
    unit: NDArray[np.int64]
    digits: NDArray[np.int64]
    step: NDArray[np.float64]
    usable: NDArray[np.bool_]

    @classmethod
    def of(cls, table: pl.DataFrame) -> Values:
        """The values of a table with the columns of `qbench.mining.types.description_schema`."""
        value = table["base_value"].to_numpy().astype(np.float64)
        digits = np.maximum(table["digits"].to_numpy().astype(np.int64), 1)
        written = table["value"].to_numpy().astype(np.float64)
        years = (written == np.rint(written)) & (written >= YEARS[0]) & (written <= YEARS[1])
        single = (table["value"] == table["high"]).to_numpy() & (table["bound"] == "=").to_numpy()
        names = table["base_unit"] + "\x1f" + table["change"].fill_null("")
        unit = names.rank("dense").to_numpy().astype(np.int64)
        return cls(value, unit, digits, _step(table, digits), single & ~years & (value != 0) & np.isfinite(value))


def _step(table: pl.DataFrame, digits: NDArray[np.int64]) -> NDArray[np.float64]:
    """The place of the last significant digit: of the number as it stands, then in the base unit.

    4,587 million: 1 million; 12.5 %: 0.1 per cent points.
    """
    written = np.abs(table["value"].to_numpy().astype(np.float64))
    base = np.abs(table["base_value"].to_numpy().astype(np.float64))
    with np.errstate(divide="ignore", invalid="ignore"):
        place = np.floor(np.log10(written) + 1e-12) - digits + 1
        factor = np.where(written > 0, base / written, 1.0)
    step: NDArray[np.float64] = np.where(written > 0, 10.0 ** np.nan_to_num(place) * factor, 0.0)
    return step


def compare(
    values: Values, a: NDArray[np.integer], b: NDArray[np.integer], *, least: int = LEAST_DIGITS
) -> tuple[NDArray[np.int8], NDArray[np.int64]]:
    """Whether the values of records a and b agree.

    Args:
        values: of all records.
        a, b: shape (n,), positions of records.
        least: significant digits on which both have to agree.

    Returns:
        -1, 0 or 1 (different, undecided, same), and the number of digits on which they agree (0 unless same), each of
        shape (n,).

    Raises:
        OptionError: `least` is below 1.
    """
    if least < 1:
        raise OptionError("values have to agree on at least one digit", value=least)
    x, y = values.value[a], values.value[b]
    coarse = np.maximum(values.step[a], values.step[b])
    slack = _SLACK * np.maximum(np.abs(x), np.abs(y))
    close = np.abs(x - y) <= coarse / 2 * (1 + 1e-6) + slack
    rounded = np.minimum(np.abs(x), np.abs(y)) >= ROUNDED
    agree = close & (rounded | (np.abs(x - y) <= slack))
    comparable = (values.unit[a] == values.unit[b]) & values.usable[a] & values.usable[b]
    digits = np.minimum(values.digits[a], values.digits[b])
    # What rounding could explain, even where it is not believed, is not held for different.
    result = np.where(comparable & ~close, DIFFERENT, UNDECIDED)
    result = np.where(comparable & agree & (digits >= least), SAME, result)
    apart = (values.unit[a] != values.unit[b]) & ~_near(x, y)
    result = np.where(apart & values.usable[a] & values.usable[b], DIFFERENT, result)
    return result.astype(np.int8), np.where(result == SAME, digits, 0)


def _near(x: NDArray[np.float64], y: NDArray[np.float64]) -> NDArray[np.bool_]:
    """Whether one number may be the other in another unit: the same digits, whatever the power of ten."""
    with np.errstate(divide="ignore", invalid="ignore"):
        logs = np.log10(np.abs(x)) - np.log10(np.abs(y))
        near: NDArray[np.bool_] = np.abs(logs - np.rint(logs)) < 0.005
    return near


def agreeing(
    table: pl.DataFrame, queries: NDArray[np.integer], *, least: int = LEAST_DIGITS, most: int | None = None
) -> pl.DataFrame:
    """All records whose value agrees with that of some records, found by sorted values: no cross product.

    Args:
        table: `qbench.mining.types.description_schema`.
        queries: positions of the records to find the agreeing ones of.
        least: as in `compare`.
        most: queries that more records may agree with are left out.

    Returns:
        columns query_row, doc_row, digits (all Int64), by query, then record; a record never agrees with itself.
    """
    import polars as pl

    values = Values.of(table)
    order = np.lexsort((values.value, values.unit))
    order = order[values.usable[order] & (values.digits[order] >= least)]
    units, sorted_values = values.unit[order], values.value[order]
    bounds = {unit: (np.searchsorted(units, unit), np.searchsorted(units, unit, side="right")) for unit in set(units)}
    rows: list[NDArray[np.int64]] = []
    asked: list[NDArray[np.int64]] = []
    for query in np.asarray(queries, dtype=np.int64):
        if not values.usable[query] or values.unit[query] not in bounds or values.digits[query] < least:
            continue
        start, end = bounds[values.unit[query]]
        # With `least` digits in each, no value farther away than this can round to the other.
        reach = np.abs(values.value[query]) * 10.0 ** (1 - least)
        part = sorted_values[start:end]
        low = start + np.searchsorted(part, values.value[query] - reach)
        high = start + np.searchsorted(part, values.value[query] + reach, side="right")
        near = order[low:high]
        same, _ = compare(values, np.full(near.size, query), near, least=least)
        found = np.sort(near[(same == SAME) & (near != query)]).astype(np.int64)
        if most is None or found.size <= most:
            rows.append(found)
            asked.append(np.full(found.size, query, dtype=np.int64))
    docs = np.concatenate(rows) if rows else np.empty(0, np.int64)
    by = np.concatenate(asked) if asked else np.empty(0, np.int64)
    _, digits = compare(values, by, docs, least=least)
    return pl.DataFrame({"query_row": by, "doc_row": docs, "digits": digits.astype(np.int64)})
