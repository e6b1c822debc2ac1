"""Amounts that belong together: ranges, shared units and magnitudes, tolerances. Two amounts become one, or lend."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from qbench.quantities.amounts import Amount
from qbench.quantities.lexicon import CHANGE_VERBS
from qbench.quantities.tokens import Token, glued


def join(tokens: Sequence[Token], amounts: list[Amount]) -> list[Amount]:
    """ "5-8 kg", "between $10 and $15 billion", "from 3 to 4 per cent": two amounts become one."""
    joined: list[Amount] = []
    for amount in amounts:
        if joined and (both := _range(tokens, joined[-1], amount)) is not None:
            joined[-1] = both
        elif joined and _is_score(tokens, joined[-1], amount):
            joined.pop()
        elif joined and (shared := _shared(tokens, joined[-1], amount)) is not None:
            joined[-1:] = [shared, amount]
        elif joined and _is_tolerance(tokens, joined[-1], amount):
            joined[-1] = replace(
                joined[-1], last=amount.last, unit=joined[-1].unit if not joined[-1].bare else amount.unit
            )
        else:
            joined.append(amount)
    return joined


def _range(tokens: Sequence[Token], a: Amount, b: Amount) -> Amount | None:
    between = "".join(t.low for t in tokens[a.last : b.first])
    if a.is_range or between not in ("-", "–", "—", "to", "and", "-to-", "through", "till") or b.last - a.first > 24:
        return None
    start = a.first
    while start and tokens[start - 1].low in ("the", "years", "year", "ages", "of"):
        start -= 1
    lead = tokens[start - 1].low if start else ""
    if between == "and" and lead != "between":
        return None
    if between in ("to", "through", "till"):
        around = {t.low for t in tokens[max(0, a.first - 6) : a.first]}
        if around & CHANGE_VERBS and not {"between", "ranging", "range", "ranged"} & around:
            return None
    if a.year and not b.year and not b.bare:
        a = replace(a, unit=b.unit)  # "2000 to 3000 employees"
    if not a.bare and not b.bare and a.unit.base_unit != b.unit.base_unit:
        return None
    low, high = a.low, b.low
    if b.number.scaled and not a.number.scaled and a.number.mantissa < b.number.mantissa:
        low *= b.number.value / b.number.mantissa
    # The minus sign of "-5 to -8" is part of a number, the hyphen of "5-8" is not: `_signed` saw to that.
    if between in ("-", "–", "—", "-to-"):
        high = abs(high)
    unit = b.unit if a.bare else a.unit
    if not a.bare and not b.bare and a.unit.name != b.unit.name:
        return None
    if low > high or low == high:
        return None
    first = start - 1 if lead in ("between", "from") else a.first
    # The unit of "$5 to $8" stands before both numbers: the first sign lies outside the span of the range's value.
    precedes = a.unit_span is not None and a.unit_span[0] < tokens[a.number.first].start
    span = a.unit_span if precedes else b.unit_span or a.unit_span
    number = replace(a.number, last=b.number.last, digits=max(a.number.digits, b.number.digits))
    return Amount(number, unit, first, b.last, span, low, high, is_range=True)


def _is_score(tokens: Sequence[Token], a: Amount, b: Amount) -> bool:
    """ "3-2": two small whole numbers, the larger first, with nothing but a hyphen between and no unit."""
    if b.first - a.last != 1 or tokens[a.last].text not in ("-", "–") or not (a.bare and b.bare):
        return False
    return b.low <= a.low < 200 and a.low.is_integer() and b.low.is_integer() and glued(tokens[a.last], tokens[b.first])


def _shared(tokens: Sequence[Token], a: Amount, b: Amount) -> Amount | None:
    """The first of two amounts that share the second's unit: "rose from 5 to 8 mln dlrs", "eight or nine euros"."""
    between = "".join(t.low for t in tokens[a.last : b.first])
    if between not in ("to", "or", "and") or not a.bare or b.bare or b.unit.family in ("date", "count"):
        return None
    if between != "to" and not abs(b.low) / 10 <= abs(a.low) <= abs(b.low) * 10:
        return None  # "2,227,000 or four cts a share": two quantities, not two guesses at one
    scale = b.number.value / b.number.mantissa if b.number.scaled and not a.number.scaled and b.number.mantissa else 1.0
    return replace(a, unit=b.unit, low=a.low * scale, high=a.high * scale, unit_span=b.unit_span)


def _is_tolerance(tokens: Sequence[Token], a: Amount, b: Amount) -> bool:
    return "".join(t.text for t in tokens[a.last : b.first]) in ("±", "+/-", "+-", "+/−")
