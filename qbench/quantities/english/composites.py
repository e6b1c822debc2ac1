"""Amounts of several parts that are one: "five dollars and 20 cents", "2 hours and a half", "one in five adults".

Also an amount that is said again in brackets, "ten percent (10%)", which is one amount and not two.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from qbench.quantities.english.amounts import Amount
from qbench.quantities.english.lexicon import ABBREVIATED_SCALES, FUNCTION_WORDS, SCALES, VERBS
from qbench.quantities.english.tokens import Token
from qbench.quantities.english.written import and_fraction
from qbench.quantities.units import Units

PROPORTION = "one in so many"
"""The rule of "one in five adults", whose noun has a share of 0.2 and is not counted."""
_FINER = {
    ("hour", "minute"), ("minute", "second"), ("year", "month"), ("week", "day"), ("day", "hour"), ("foot", "inch"),
    ("pound-mass", "ounce"), ("stone", "pound-mass"),
}  # fmt: skip
"""Units of which the second goes on where the first ends."""
_ALTERNATIVES = frozenset("between from either both respectively".split())
_WHOLES = frozenset({*range(2, 13), 15, 16, 20, 25, 30, 40, 50, 60, 80, 150, 250})
"""Of how many something is said to be "one in": round numbers."""
_DIGITS = 10
"""From here on numbers are written in digits, also where a "one in" stands before them."""
_NEAR = 4


def compose(tokens: Sequence[Token], amounts: Sequence[Amount], units: Units) -> list[Amount]:
    """The amounts in order, those that are one joined."""
    joined: list[Amount] = []
    for amount in amounts:
        previous = joined[-1] if joined else None
        if previous is not None:
            if _is_repeated(tokens, previous, amount):
                joined[-1] = replace(previous, last=amount.last + 1)
                continue
            if amount.first < previous.last:
                continue  # the "half" of "two hours and a half"
            if (lent := _before_brackets(tokens, previous, amount)) is not None:
                joined[-1] = lent
                joined.append(_with_scale_behind(tokens, lent, amount))
                continue
            if (lent := _slashed(tokens, previous, amount)) is not None:
                joined[-1] = lent
            one = _sum(tokens, previous, amount, units) or _height(tokens, previous, amount)
            if (one := one or _proportion(tokens, previous, amount)) is not None:
                joined[-1] = one
                continue
        joined.append(_and_a_half(tokens, amount))
    return joined


def _is_repeated(tokens: Sequence[Token], a: Amount, b: Amount) -> bool:
    """ "five thousand dollars ($5,000)", "ten percent (10%)": in words, and in digits between brackets."""
    if not a.number.written or b.number.written or b.first != a.last + 1 or tokens[a.last].text != "(":
        return False
    closes = b.last < len(tokens) and tokens[b.last].text == ")"
    return closes and (a.low, a.high, a.unit) == (b.low, b.high, b.unit) and not a.bare


def _sum(tokens: Sequence[Token], a: Amount, b: Amount, units: Units) -> Amount | None:
    """ "five dollars and 20 cents a litre", "2 hours 30 minutes", "6 ft 2 in": whole units, and a part of one more."""
    finer, per, below = b.unit.name.partition(" per ")
    small = units.get(finer)
    cents = finer == "cent" and (a.unit.name == "euro" or a.unit.name.endswith(" dollar"))  # "9 euros and 50 cents"
    money = a.unit.family == small.family == "currency" and (cents or small.base_unit == a.unit.name)
    if not money and (a.unit.name, finer) not in _FINER:
        return None
    if a.is_range or b.is_range or a.low < 0 or b.low < 0 or not a.low.is_integer() or b.number.scaled:
        return None
    part = b.low * small.factor / (1 if cents else a.unit.factor)
    between = [t.low for t in tokens[a.last : b.first]]
    if not 0 < part < 1 or between not in ([], ["and"], [","]) or (between == [","] and not money):
        return None
    around = {t.low for t in (*tokens[max(0, a.first - _NEAR) : a.first], *tokens[b.last : b.last + _NEAR])}
    if around & _ALTERNATIVES or (a.first and tokens[a.first - 1].text == ","):
        return None
    whole = _with(a, float(f"{a.low + part:.12g}"), b.last, b.last, "several units")
    return replace(whole, unit=units.get(a.unit.name + per + below)) if per else whole


def _height(tokens: Sequence[Token], a: Amount, b: Amount) -> Amount | None:
    """ "6 ft 2", "5 foot 4 tall", "6-foot-2": feet, and inches of which the unit is not said."""
    hyphen = [t.text for t in tokens[a.last : b.first]] == ["-"]
    if a.unit.name != "foot" or not b.bare or a.is_range or (b.first != a.last and not hyphen):
        return None
    whole = a.low.is_integer() and 1 <= a.low <= _TALLEST and b.low.is_integer() and 0 < b.low < _INCHES
    after = tokens[b.last] if b.last < len(tokens) else None
    if not whole or b.how[:1] != ("digits",) or len(b.how) > 1 or (after is not None and after.kind == "number"):
        return None
    ends = after is None or (after.kind == "mark" and after.text not in "-–/:'\"″′") or after.low in _SIZED
    if not ends and not hyphen and (after is None or after.low not in FUNCTION_WORDS | VERBS or after.low in _FURTHER):
        return None
    return _with(a, float(f"{a.low + b.low / _INCHES:.12g}"), b.last, b.last, "several units")


_TALLEST, _INCHES = 9, 12
_SIZED = frozenset("tall high long wide deep".split())
_FURTHER = frozenset("of x by to or per".split())


def _before_brackets(tokens: Sequence[Token], a: Amount, b: Amount) -> Amount | None:
    """The first of "EUR 0.2 (1.3) million" and "EUR 0.2 1.3 million", in millions; None for anything else."""
    if a.unit.family != "currency" or a.number.scaled or a.is_range or not b.bare or a.last != a.number.last:
        return None
    between = [t.text for t in tokens[a.last : b.first]]
    opens = between in (["("], ["(", "+"])
    scale = b.number.magnitude if between == [] else _scale_behind(tokens, b) if opens else 1.0
    if scale < _THOUSAND:
        return None
    low = float(f"{a.low * scale:.15g}")
    return replace(a, low=low, high=low, how=(*a.how, "shared magnitude"))


def _scale_behind(tokens: Sequence[Token], b: Amount) -> float:
    """The magnitude behind the bracket that closes after b."""
    if b.number.scaled or b.last + 1 >= len(tokens) or tokens[b.last].text != ")":
        return 1.0
    word = tokens[b.last + 1].low
    return SCALES.get(word) or ABBREVIATED_SCALES.get(word) or 1.0


def _with_scale_behind(tokens: Sequence[Token], a: Amount, b: Amount) -> Amount:
    """The number in the brackets, with the currency and the magnitude that it shares with a."""
    low = b.low if b.number.scaled else float(f"{b.low * _scale_behind(tokens, b):.15g}")
    return replace(b, low=low, high=low, unit=a.unit, how=(*b.how, "shared unit"))


_THOUSAND = 1e3


def _slashed(tokens: Sequence[Token], a: Amount, b: Amount) -> Amount | None:
    """The first of "$7/$9 million", "$5/$8 a month" with what the second has; None for anything else."""
    if [t.text for t in tokens[a.last : b.first]] != ["/"] or a.unit.family != "currency" or a.is_range:
        return None
    if b.unit.name.startswith(f"{a.unit.name} per ") and not b.number.scaled and b.first < b.number.first:
        return replace(a, unit=b.unit, how=(*a.how, "rate"))  # "$5/$8 a month"
    if a.unit != b.unit:
        return None
    if a.number.scaled or not b.number.scaled or not 0 < abs(a.low) < _SMALL:
        return None
    value = float(f"{a.low * b.number.value / b.number.mantissa:.15g}")
    return replace(a, low=value, high=value, how=(*a.how, "shared magnitude"))


_SMALL = 1_000


def _and_a_half(tokens: Sequence[Token], a: Amount) -> Amount:
    """ "two hours and a half": the half stands behind the unit."""
    if a.bare or a.is_range or a.low < 0 or not a.low.is_integer() or a.last <= a.number.last or a.number.scaled:
        return a
    part = and_fraction(tokens, a.last) if a.last < len(tokens) else None
    if part is None or (part[1] < len(tokens) and tokens[part[1]].low in ("of", "dozen", "million", "-")):
        return a
    return _with(a, a.low + part[0], part[1], part[1], "fraction")


def _with(a: Amount, value: float, number: int, last: int, rule: str) -> Amount:
    whole = replace(a.number, value=value, mantissa=value, last=number, digits=a.number.digits + 1)
    return replace(a, number=whole, low=value, high=value, last=last, how=(*a.how, rule))


_OF_EVERY = (["of", "every"], ["out", "of", "every"], ["in", "every"])


def _is_whole(of: float) -> bool:
    """Whether something is said to be "one in" so many: a round number."""
    return of in _WHOLES or (of >= min(_ROUND) and any(of % step == 0 and of < 100 * step for step in _ROUND))


_ROUND = (100, 1000, 10_000, 100_000, 1_000_000)
"""What a larger number is round by, with one or two digits before the noughts: 2,500, 50,000."""


def _proportion(tokens: Sequence[Token], a: Amount, b: Amount) -> Amount | None:
    """ "one in five adults", "three in ten", "1 in 20 trees": a share, said of a round number."""
    between = [t.low for t in tokens[a.last : b.first]]
    every = between in _OF_EVERY
    # "three of every five hectares" is a share, too; "one in 5 km" is none.
    known = b.bare or (every and b.first == b.number.first)
    if not (a.bare and known) or a.is_range or b.is_range or not (every or between == ["in"]):
        return None
    if not 0 < a.low < b.low or not _is_whole(b.low) or not a.low.is_integer():
        return None
    mixed = a.number.written and not b.number.written and a.low == 1 and b.low >= _DIGITS  # "one in 10"
    if (a.number.written != b.number.written and not mixed) or not (a.number.written or a.low == 1 or every):
        return None
    if a.first and tokens[a.first - 1].low in ("no", "number", "the", "ranked", "finished"):
        return None
    after = tokens[b.last] if b.last < len(tokens) else None
    if a.number.written or after is None or after.kind == "mark" or after.low in FUNCTION_WORDS or after.text.islower():
        return _with(a, float(f"{a.low / b.low:.6g}"), b.number.last, b.last, PROPORTION)
    return None
