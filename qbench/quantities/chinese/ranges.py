"""Two amounts that are the ends of one: 3至5, 8-10美元, 1亿元至2亿元, 介于3%和5%之间, 大于10小于20 stay two."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from qbench.quantities.chinese.amounts import Amount
from qbench.quantities.units import Unit

_TO = re.compile(r"[ ]?(?:-{1,2}|~|至|到|—|-|到了)[ ]?(?:约|每股|人民币)?[ ]?")
_AND = re.compile(r"[ ]?(?:和|与|至|到|-|~|及)[ ]?")
_SIDE = re.compile(r"[ ]?[×xX*/][ ]?")
_WITHIN = re.compile(r"(?:介于|介乎|位于|在|处于|从|于)[ ]?$")
_BETWEEN = re.compile(r"[ ]?(?:之间|间(?!接|隔)|区间|范围)")


@dataclass(frozen=True, slots=True)
class Stated:
    """An amount of a text: one, or the two ends of a range.

    Attributes:
        amount: the one; of a range the upper end, which has the unit.
        value, high: in the unit.
        start, end: the whole.
        span: of the number or of both.
        how: names of the rules.
    """

    amount: Amount
    value: float
    high: float
    start: int
    end: int
    span: tuple[int, int]
    how: tuple[str, ...]

    @property
    def unit(self) -> Unit:
        """Of the amount."""
        return self.amount.unit


def stated(text: str, amounts: Sequence[Amount]) -> list[Stated]:
    """The amounts of a text in order, those that are two ends joined."""
    found: list[Stated] = []
    amounts = _sides(text, amounts)
    at = 0
    while at < len(amounts):
        one = amounts[at]
        joined = _joined(text, one, amounts[at + 1]) if at + 1 < len(amounts) else None
        if joined is not None:
            found.append(joined)
            at += 2
        else:
            low, high = sorted((one.value, one.high))
            found.append(Stated(one, low, high, one.start, one.end, (one.number.start, one.number.end), one.how))
            at += 1
    return found


def _sides(text: str, amounts: Sequence[Amount]) -> list[Amount]:
    """The same, with the unit that is said once after several numbers: 30×20×10厘米, 120/80mmHg."""
    found = list(amounts)
    for at in range(len(found) - 1, 0, -1):
        one, other = found[at - 1], found[at]
        shared = other.unit.family == "length" or other.unit.name == "millimetre of mercury"
        if shared and one.unit_span is None and not one.unit.name and _SIDE.fullmatch(text, one.end, other.start):
            found[at - 1] = replace(one, unit=other.unit, factor=other.factor, unit_span=other.unit_span)
    return found


def _joined(text: str, one: Amount, other: Amount) -> Stated | None:
    gap = text[one.end : other.start]
    to = _TO.fullmatch(gap)
    within = _WITHIN.search(text, max(0, one.start - 3), one.start)
    lies = within is not None and within[0].strip() in ("介于", "介乎")
    between = _AND.fullmatch(gap) and (lies or _BETWEEN.match(text, other.end) is not None)
    if to and not other.unit.name and other.unit_span is None and "sign before" in one.how:  # $3-5 million
        other = replace(other, unit=one.unit, unit_span=one.unit_span)
    bare = other.unit.name.partition(" per ")[0]
    if not (to or between) or one.unit.name.partition(" per ")[0] not in ("", bare):
        return None
    if "per" in one.how and "per" not in other.how:  # 每股8元至9元
        other = replace(other, unit=one.unit)
    if one.unit_span is not None and not one.unit.name:
        return None
    first, second = one.value, other.value
    if not one.unit.name or one.unit_span == other.unit_span:
        first *= other.factor
        if one.number.scale == 1 and other.number.scale > 1 and one.number.value < second / other.number.scale * 10:
            first *= other.number.scale
    if first > second:
        return None
    close = _BETWEEN.match(text, other.end)
    start = within.start() if within and (close or lies or within[0].strip() == "从") else one.start
    return Stated(replace(other, start=one.start), first, second, start, close.end() if close else other.end,
                  (one.number.start, other.number.end), (*other.how, "range"))  # fmt: skip
