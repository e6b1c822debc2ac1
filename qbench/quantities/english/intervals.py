"""Confidence intervals: "95 % CI 1.2, 3.4". The level is part of the name; the two numbers after it are one range."""

from __future__ import annotations

from collections.abc import Sequence

from qbench.quantities.english.numbers import Number
from qbench.quantities.english.tokens import Token, glued

_NAMES = frozenset("ci cis cri cris cl cls iqr hdi".split())
_KINDS = frozenset("confidence credible credibility uncertainty prediction".split())
_INTERVALS = frozenset("interval intervals limit limits bound bounds band bands".split())
_PERCENT = frozenset("% percent pct".split())
_LINKS = frozenset("( [ = : , of was is were are from".split())
"""What may stand between an interval's name and its first number."""
_REACH = 5
"""Tokens between an interval's name and its first number at most."""


def level_until(tokens: Sequence[Token], number: Number) -> int | None:
    """Where to go on if the number is the level of an interval: the 95 of "95 % CI", "CI95%"."""
    if number.written or number.scaled or not 50 <= number.value < 100:
        return None
    j = number.last
    percent = j < len(tokens) and tokens[j].low in _PERCENT
    if not percent and j + 1 < len(tokens) and tokens[j].low == "per" and tokens[j + 1].low == "cent":
        percent, j = True, j + 1
    k = j + percent
    if k < len(tokens) and tokens[k].text in "-(":
        k += 1
    if _name_ends(tokens, k) and (percent or tokens[k].text.isupper()):  # "50 Ci" are curies
        return j + percent
    before = number.first - 1
    before -= before > 0 and tokens[before].text in "(-"
    return j + 1 if percent and before >= 0 and tokens[before].low in _NAMES else None


def freedom_until(tokens: Sequence[Token], number: Number) -> int | None:
    """Where to go on if the number is a degree of freedom of a statistic: "F(1, 88) = 4.9", "t(45) = 2.1"."""
    k, stop = number.first - 1, max(0, number.first - _REACH)
    if number.written or k < 0:
        return None
    while k > stop and (tokens[k].kind == "number" or tokens[k].text == ","):
        k -= 1
    opened = tokens[k].text in "(["
    k -= opened
    if k > 0 and tokens[k].text in "²2" and glued(tokens[k - 1], tokens[k]):
        k -= 1
    if k < 0 or tokens[k].text not in _STATISTICS or not glued(tokens[k], tokens[k + 1]):
        return None
    j, end = number.last, min(len(tokens), number.last + _REACH)
    while j < end and (tokens[j].kind == "number" or tokens[j].text == ","):
        j += 1
    if opened:
        j += j < end and tokens[j].text in ")]"
    return number.last if j < len(tokens) and tokens[j].text in "=<>" else None


_STATISTICS = frozenset("F t χ X r T z Z Q".split())


def _name_ends(tokens: Sequence[Token], k: int) -> int:
    """The token after the name of an interval that starts at token k, or 0."""
    if k >= len(tokens):
        return 0
    if tokens[k].low in _NAMES:
        return k + 1
    near = [t.low for t in tokens[k : k + 3]]
    if near == ["c", ".", "i"]:
        return k + 4 if k + 3 < len(tokens) and tokens[k + 3].text == "." else k + 3
    return k + 2 if len(near) > 1 and near[0] in _KINDS and near[1] in _INTERVALS else 0


def in_interval(tokens: Sequence[Token], first: int) -> bool:
    """Whether an interval's name stands before the number that begins at token `first`: "CI = (1.2", "95 % CI: 1.2"."""
    k, stop = first - 1, max(0, first - _REACH)
    while k >= stop and tokens[k].low in _LINKS:
        k -= 1
    if k and tokens[k].text == ")" and tokens[k - 1].low in _NAMES:
        return True  # "95 % confidence interval (CI) 1.2"
    if k < 0:
        return False
    if k and tokens[k].low in _PERCENT and tokens[k - 1].kind == "number":
        k -= 2  # "CI 95%: 1.2"
    if k < 0:
        return False
    word = tokens[k].low
    if word in _NAMES or (k and word in _INTERVALS and tokens[k - 1].low in _KINDS):
        return True
    initials = [t.low for t in tokens[max(0, k - 3) : k + 1]]
    return initials[-3:] == ["c", ".", "i"] or initials == ["c", ".", "i", "."]


def is_interval(tokens: Sequence[Token], first: int, last: int) -> bool:
    """Whether two numbers with a comma between, tokens first to last - 1, are the ends of an interval.

    By its name, or by the estimate before their brackets, which lies between them: "an odds ratio of 2.1 (1.4, 3.2)".
    """
    return in_interval(tokens, first) or _holds_estimate(tokens, first, last)


def _holds_estimate(tokens: Sequence[Token], first: int, last: int) -> bool:
    sign = first > 0 and tokens[first - 1].text in "-−"
    k = first - 1 - sign
    if k < 1 or last >= len(tokens) or tokens[k].text not in "([" or tokens[last].text not in ")]":
        return False
    inside = [float(t.text.replace("·", ".")) for t in tokens[first:last] if t.kind == "number" and "," not in t.text]
    near = tokens[max(0, k - _NEAR_ESTIMATE) : k]
    estimate = next((t.text for t in reversed(near) if t.kind == "number"), "")
    if len(inside) != _ENDS or not ("." in estimate or "·" in estimate) or "," in estimate:
        return False
    low, high = sorted(abs(end) for end in inside) if not sign else (0.0, max(inside))
    return low <= float(estimate.replace("·", ".")) <= high


_NEAR_ESTIMATE = 3
"""Tokens of an estimate's unit before the bracket at most."""
_ENDS = 2
