"""The times that Chinese text names: where they stand, and which years, months and lengths of periods they are."""

from __future__ import annotations

import re

import numpy as np
import polars as pl
from numpy.typing import NDArray

from qbench.mining.periods import Periods, years
from qbench.quantities.chinese.characters import folded

_DIGITS = r"[\d０-９〇零一二三四五六七八九十]"
_DATE = rf"{_DIGITS}{{4}} ?年(?: ?{_DIGITS}{{1,3}} ?月(?:份|底|末|初)?)?(?: ?{_DIGITS}{{1,3}} ?[日号])?"
_DAY = rf"{_DIGITS}{{1,3}} ?月(?: ?{_DIGITS}{{1,3}} ?[日号]|份|底|末|初)?"
_PART = "上半年|下半年|半年度?|年度|全年|前三季度|前三个?季度?|第?[一二三四1-4]季度?|季度|中期|年末|年底|年初|年报"
_RELATIVE = (
    "截至目前|截止目前|报告期末|报告期内?|本报告期|上年同期|去年同期|本期|上期|上年|去年|前年|今年|本年度?|当年|"
    "本月|上月|当月|当日|当天|近日|日前|目前|未来[一二三四五六七八九十两\\d]+年|过去[一二三四五六七八九十两\\d]+年"
)
_ISO = r"\d{4}[-/.]\d{1,2}[-/.]\d{1,2}"
_ONE = rf"(?:{_DATE}|{_DAY}|{_ISO}|{_RELATIVE})(?:(?:{_PART})(?:末)?)?|上半年|下半年|前三季度"
TIME = re.compile(rf"(?:截[至止]到?)?(?:{_ONE})(?:(?:至|到|-|—|~)(?:{_ONE}|{_DIGITS}{{1,2}}日))?")
"""A time, with what bounds it: 截至2020年9月30日, 2019年上半年, 9月9日至12日."""

_MONTH = r"(?:^|[^\d])(1[0-2]|0?[1-9])月"
_PARTS = {
    "上半年|半年度|中期": 0b000000111111,
    "下半年": 0b111111000000,
    "前三季度": 0b000111111111,
    "(?:^|[^前])(?:第?一|1|q1)季": 0b000000000111,
    "(?:^|[^前])(?:第?二|2|q2)季": 0b000000111000,
    "(?:^|[^前])(?:第?三|3|q3)季": 0b000111000000,
    "(?:^|[^前])(?:第?四|4|q4)季": 0b111000000000,
}
"""Parts of a year -> their months, January the lowest bit."""
_LENGTHS = {"半年|中期": 24, "前三季度": 36, "(?:^|[^半])年度|年报|全年": 48, "(?:第?[一二三四]|[1-4]|单|本|当)季": 12}
"""Reporting periods -> their length in weeks."""


def periods(texts: pl.Series) -> Periods:
    """The years, months and lengths of reporting periods of each text."""
    plain = pl.Series(texts.name, [folded(text or "") for text in texts], dtype=pl.String)
    return Periods(years(plain, r"(?:19|20)\d\d(?:年|[-/.]\d)"), _months(plain), _bits(plain, _LENGTHS))


def _months(texts: pl.Series) -> NDArray[np.uint64]:
    months = np.zeros(len(texts), dtype=np.uint64)
    named = texts.str.extract_all(_MONTH).list.eval(pl.element().str.extract(r"(\d+)月").cast(pl.UInt64) - 1)
    rows = named.to_frame("month").with_row_index("row").explode("month").drop_nulls()
    np.bitwise_or.at(months, rows["row"].to_numpy(), np.uint64(1) << rows["month"].to_numpy())
    for pattern, bits in _PARTS.items():
        months |= np.where(texts.str.contains(pattern).to_numpy(), np.uint64(bits), np.uint64(0))
    return months


def _bits(texts: pl.Series, lengths: dict[str, int]) -> NDArray[np.uint64]:
    found = np.zeros(len(texts), dtype=np.uint64)
    for pattern, weeks in lengths.items():
        found |= texts.str.contains(pattern).to_numpy().astype(np.uint64) << np.uint64(weeks)
    return found
