"""Dates as queries write them, by the year: "in the 90s", "'89", "late 2003", "before August 1953", "02/14/14".

A document's date is no quantity, but a query may ask for one; conditions on dates are conditions on calendar years.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from qbench.quantities.english.amounts import CALENDAR_YEAR, Amount
from qbench.quantities.english.comparators import Modifiers, read_comparators
from qbench.quantities.english.lexicon import MONTHS
from qbench.quantities.english.numbers import Number
from qbench.quantities.english.tokens import Token
from qbench.quantities.types import Comparator, MentionComparator
from qbench.quantities.units import Units

CENTURY_TURN = 30
"""Two digits up to here are of this century: "'15" is 2015, "'89" 1989."""
_NAMED = {
    f"{name}ties": decade
    for decade, name in ((20, "twen"), (30, "thir"), (40, "for"), (50, "fif"), (60, "six"), (70, "seven"), (80, "eigh"),
                         (90, "nine"))
}  # fmt: skip
_PARTS = {"early": (0, 3), "mid": (4, 6), "late": (7, 9)}
"""Years of a decade."""
_MONTH = "|".join(sorted(MONTHS, key=len, reverse=True))
_DATE = re.compile(
    rf"""(?<!\w)(?:\b(?P<part>early|mid|late)\b[\s-]{{0,3}})?(?:\bthe\s)?
    (?: (?P<decade>(?:1[5-9]|20)\d0)['’]?s\b
      | (?P<short>['’](?!\d\d['’]?\d)\d0|(?<=\bthe\s)\d0|(?<=\bin\s)\d0|^\d0
          |(?(part)\d0|(?!)))['’]?s\b
      | \b(?P<named>{"|".join(_NAMED)})\b
      | (?<![\w'’])['’](?P<digits>\d\d)(?!\w)
      | (?:\b(?:{_MONTH})\b\.?\s(?:\d{{1,2}}(?:st|nd|rd|th)?,?\s)?|\b\d{{1,2}}\s(?:{_MONTH})\b\.?,?\s
          |\b(?:spring|summer|autumn|fall|winter|year)\s)(?P<year>(?:1[5-9]|20)\d\d)s?\b
      | \b\d{{1,2}}/\d{{1,2}}/(?P<slashed>\d{{4}}|\d\d)\b
      | (?<![$€£\w.,-])(?P<from>(?:19|20)\d\d)[-–](?P<to>(?:19|20)\d\d)
          (?=$|,|\s(?:below|under|less|over|above|with|in|at|for|max|min|not)\b)
      | \b(?P<iso>(?:1[5-9]|20)\d\d)-\d\d-\d\d\b
      | (?(part)(?P<plain>(?:1[5-9]|20)\d\d)\b|(?!)) )""",
    re.VERBOSE | re.IGNORECASE,
)


class AskedDate(NamedTuple):
    """A date in a query.

    Attributes:
        low, high: its first and last year.
        reading: the words that bound it, by tokens.
        first, last: its own token range.
    """

    low: float
    high: float
    reading: Modifiers
    first: int
    last: int

    def condition(self) -> tuple[Comparator, float, float]:
        """What it asks of a calendar year: "after the 90s" is > 1999, "since the 90s" >= 1990."""
        comparator: MentionComparator = self.reading.comparator
        if comparator in (">", "<="):
            return comparator, self.high, self.high
        if comparator in ("<", ">="):
            return comparator, self.low, self.low
        return ("=" if self.low == self.high else "between"), self.low, self.high


def read_dates(text: str, tokens: Sequence[Token], units: Units) -> list[AskedDate]:
    """The dates in a query's text that are more than a plain year of four digits, in order."""
    amounts = list(_amounts(text, tokens, units))
    readings = read_comparators(tokens, amounts, None)
    return [AskedDate(a.low, a.high, r, a.first, a.last) for a, r in zip(amounts, readings, strict=True)]


def _amounts(text: str, tokens: Sequence[Token], units: Units) -> Iterator[Amount]:
    unit = units.get(CALENDAR_YEAR)
    starts = [t.start for t in tokens]
    for match in _DATE.finditer(text):
        first, last = bisect_left(starts, match.start()), bisect_left(starts, match.end())
        if first == last:
            continue
        low, high = _years(match)
        yield Amount(Number(low, low, first, last, 4), unit, first, last, None, low, high)


def _years(match: re.Match[str]) -> tuple[float, float]:
    if match["from"] and int(match["from"]) < int(match["to"]):
        return float(match["from"]), float(match["to"])
    part = match["part"]
    if decade := match["decade"]:
        low = int(decade)
    elif short := match["short"] or match["named"]:
        digits = _NAMED[short.lower()] if short[-1].isalpha() else int(short[-2:])
        low = _full(digits)
    else:
        plain = match["from"] or match["year"] or match["digits"] or match["slashed"] or match["iso"] or match["plain"]
        year = int(plain) if len(plain) == 4 else _full(int(plain))
        return float(year), float(year)
    start, end = _PARTS[part.lower()] if part else (0, 9)
    return float(low + start), float(low + end)


def _full(digits: int) -> int:
    return digits + (2000 if digits <= CENTURY_TURN else 1900)
