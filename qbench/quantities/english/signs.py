"""Minus signs: those of a number of its own, and those that only join it to another."""

from __future__ import annotations

from collections.abc import Sequence

from qbench.quantities.english.numbers import MINUSES, plain_digits
from qbench.quantities.english.tokens import Token, glued


def is_negative(tokens: Sequence[Token], first: int, number: int) -> bool:
    """Whether a minus sign of its own stands before the amount, or between its currency and its number.

    The brackets of tables, "(1,234)", are no sign: running text brackets many numbers that are not negative.
    """
    if number > first and tokens[number - 1].text in MINUSES:
        return True
    if not first:
        return False
    sign = tokens[first - 1]
    if sign.low in ("minus", "negative"):
        before = tokens[first - 2] if first > 1 else None
        return before is None or not (before.kind == "number" or before.low in ("or", "/", "-"))
    before = tokens[first - 2] if first > 1 else None
    if sign.text == "−" and before is not None and _stands_apart(tokens, first - 1):
        return True  # "a mean of − 0.43", with a space
    if sign.text not in MINUSES or not glued(sign, tokens[first]) or _goes_up(tokens, first):
        return False
    if before is not None and before.low in ("minus", "negative"):
        return True
    if before is None or not glued(before, sign) or before.text in "(=,:[<>":
        return True
    return before.low == "to" and first > 2 and not glued(tokens[first - 3], before)  # "-1.9 to-1.4" has lost a space


def _stands_apart(tokens: Sequence[Token], sign: int) -> bool:
    """Whether the "−" at token `sign` is one of the number behind it by what stands before: "of − 5", ": − 5, − 6"."""
    while sign > 3 and tokens[sign - 1].text in ",;" and tokens[sign - 2].kind == "number":
        if tokens[sign - 3].text != "−":
            return False
        sign -= 3  # "− 5, − 6"
    before = tokens[sign - 1]
    if before.low in _BEFORE_SIGNS or before.text in "(=:":
        return True
    return sign > 1 and before.text in ",;" and tokens[sign - 2].low in _BEFORE_SIGNS  # "CI, − 2.0"


_BEFORE_SIGNS = frozenset("mean median average was were is are be of at to by from than and about ci".split())
"""Words after which a minus sign is one of the number, whatever stands between them."""


def _goes_up(tokens: Sequence[Token], first: int) -> bool:
    """Whether the sign before a number joins it to a smaller one, as in texts that part their signs: "20 % -40 %"."""
    if first < 3 or tokens[first - 2].text != "%" or glued(tokens[first - 3], tokens[first - 2]):
        return False
    low, high = tokens[first - 3], tokens[first]
    return low.kind == high.kind == "number" and float(plain_digits(low.text)) < float(plain_digits(high.text))


def sign_length(tokens: Sequence[Token], first: int) -> int:
    """How many tokens before the amount are its sign: one, two for "minus-45", none within "$-5"."""
    if not first:
        return 0
    sign = tokens[first - 1]
    if sign.text in MINUSES and first > 1 and tokens[first - 2].low in ("minus", "negative"):
        return 2
    return int(sign.text in MINUSES or sign.low in ("minus", "negative"))
