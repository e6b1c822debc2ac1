"""Numbers that are no quantities: dates, clock times, versions, labels, ordinals, names. And calendar years."""

from __future__ import annotations

from collections.abc import Sequence

from qbench.quantities.lexicon import LABELS, MONTHS, VERBS
from qbench.quantities.numbers import Number
from qbench.quantities.tokens import Token, glued

ORDINAL_ENDINGS = frozenset({"st", "nd", "rd", "th"})
GLUED_PREFIXES = frozenset({"sub", "minus", "plus", "to", "and", "non"})
"""Words that may be joined to a number by a hyphen without making a name of it."""
YEAR_CUES = frozenset(
    (
        "in of since by until till before after during from to fiscal year years early late mid through "
        "between and the for ended ending circa"
    ).split()
)


def excluded_until(tokens: Sequence[Token], number: Number) -> int | None:
    """Where to go on if the number is part of something that is no quantity; None if it may be one."""
    if number.first and tokens[number.first - 1].low == "per":
        return number.last  # "fat per 100 g": the denominator of something else
    for rule in (_date, _clock, _version, _p_value, _joined_to_word, _label, _product_name):
        if (end := rule(tokens, number)) is not None:
            return end
    return None


def is_year(tokens: Sequence[Token], number: Number) -> bool:
    """Whether a bare number is a calendar year: 1900-2100, or 1500-2100 after a word that announces years."""
    token = tokens[number.first]
    if number.last != number.first + 1 or len(token.text) != 4 or not token.text.isdecimal():
        return False
    before = tokens[number.first - 1] if number.first else None
    cue = before is None or before.low in YEAR_CUES or before.text in MONTHS or before.text in ",("
    if not 1500 <= int(token.text) <= 2100:
        return False
    if before is not None and before.low == "than":
        return False
    return cue or int(token.text) >= 1900


def _date(tokens: Sequence[Token], number: Number) -> int | None:
    first, last = number.first, number.last
    if number.scaled or number.written:
        return None
    before = tokens[first - 1] if first else None
    if before is not None and before.text == "." and first > 1:
        before = tokens[first - 2]
    whole = tokens[first].text.isdecimal()
    if before is not None and before.text in MONTHS and whole and number.value <= 31:
        return last
    if last < len(tokens) and tokens[last].text in MONTHS and whole and number.value <= 31:
        return last + 1
    # 12/31/2023, 2024-01-05, 9/11 with a year, 2023-24
    chain = _chain(tokens, first, "/-–.")
    if chain >= 5:
        return first + chain
    if chain == 3 and tokens[first + 1].text in "-–" and len(tokens[first].text) == 4 and _is_short_year(tokens, first):
        return first + 3
    return None


def _is_short_year(tokens: Sequence[Token], first: int) -> bool:
    return 1900 <= int(tokens[first].text or 0) <= 2100 and len(tokens[first + 2].text) == 2


def _chain(tokens: Sequence[Token], first: int, marks: str) -> int:
    """How many tokens from `first` are whole numbers glued together by one and the same mark."""
    n = 1
    if not tokens[first].text.isdecimal():
        return 0
    while (
        first + n + 1 < len(tokens)
        and tokens[first + n].text in marks
        and tokens[first + n].text == tokens[first + 1].text
        and tokens[first + n + 1].kind == "number"
        and glued(tokens[first + n - 1], tokens[first + n])
        and glued(tokens[first + n], tokens[first + n + 1])
    ):
        n += 2
    return n


def _clock(tokens: Sequence[Token], number: Number) -> int | None:
    first, last = number.first, number.last
    if last + 1 < len(tokens) and tokens[last].text == ":" and tokens[last + 1].kind == "number":
        if glued(tokens[last - 1], tokens[last]) and glued(tokens[last], tokens[last + 1]):
            chain = _chain(tokens, first, ":")
            return first + max(chain, 3)
    following = "".join(t.low for t in tokens[last : last + 4])
    if number.value <= 12 and following.startswith(("a.m", "p.m")):
        return last + 3
    if number.value <= 12 and last < len(tokens) and tokens[last].low in ("am", "pm", "o'clock", "o’clock"):
        return last + 1
    return None


def _version(tokens: Sequence[Token], number: Number) -> int | None:
    """1.2.3, and whatever a dot joins to digits or letters on the left."""
    first, last = number.first, number.last
    if first >= 2 and tokens[first - 1].text == "." and glued(tokens[first - 1], tokens[first]):
        if tokens[first - 2].kind == "number" and glued(tokens[first - 2], tokens[first - 1]):
            return last
    n = 0
    while (
        last + n + 1 < len(tokens)
        and tokens[last + n].text == "."
        and tokens[last + n + 1].kind == "number"
        and glued(tokens[last + n - 1], tokens[last + n])
        and glued(tokens[last + n], tokens[last + n + 1])
    ):
        n += 2
    return last + n if n else None


def _p_value(tokens: Sequence[Token], number: Number) -> int | None:
    """ "p = 0.03", "P<.001": a property of a test, no quantity of the world."""
    k = number.first - 1
    while k >= 0 and tokens[k].text in "=<>≤≥≦≧":
        k -= 1
    is_p = 0 <= k < number.first - 1 and tokens[k].low == "p" and number.value <= 1
    return number.last if is_p else None


def _joined_to_word(tokens: Sequence[Token], number: Number) -> int | None:
    """ "G20", "COVID-19", "F-16", "1st", "1990s", "10-K"."""
    first, last = number.first, number.last
    if number.written:
        return None
    if first and glued(tokens[first - 1], tokens[first]):
        before = tokens[first - 1]
        if before.kind == "word":
            return last
        if before.text in "-/#@_" and first > 1 and glued(tokens[first - 2], before):
            if tokens[first - 2].kind == "word" and tokens[first - 2].low not in GLUED_PREFIXES:
                return last
        if before.text in "#@_":
            return last
    if last < len(tokens) and glued(tokens[last - 1], tokens[last]):
        after = tokens[last]
        if after.low in ORDINAL_ENDINGS or (after.text in ("s", "’s", "'s") and number.value >= 10):
            return last + 1
        if after.text in ("'", "’") and last + 1 < len(tokens) and tokens[last + 1].text == "s":
            return last + 2
        if after.text == "-" and last + 1 < len(tokens) and glued(after, tokens[last + 1]):
            code = tokens[last + 1]
            if code.kind == "word" and len(code.text) <= 2 and code.text.isupper():
                return last + 2
    return None


def _label(tokens: Sequence[Token], number: Number) -> int | None:
    first = number.first
    if not first or number.written or (number.scaled and len(tokens[number.last - 1].text) > 1):
        return None
    k = first - 1
    if tokens[k].text == "." and k and glued(tokens[k - 1], tokens[k]):
        k -= 1
    if tokens[k].text == "(" and k:
        k -= 1
    word = tokens[k]
    if word.kind != "word" or word.low not in LABELS:
        return None
    # "no more than 5" has words between; "no 5" and "No. 5" are labels, "a total of no 5" does not occur.
    return number.last


def _product_name(tokens: Sequence[Token], number: Number) -> int | None:
    """A short whole number after a capitalised word, with nothing after it to count: "iPhone 11", "Boeing 747"."""
    first, last = number.first, number.last
    text = tokens[first].text
    if not first or number.written or number.scaled or not text.isdecimal() or len(text) > 4:
        return None
    before = tokens[first - 1]
    inner_capital = before.kind == "word" and any(c.isupper() for c in before.text[1:])
    capital = before.kind == "word" and before.text[:1].isupper() and first > 1 and tokens[first - 2].text not in ".!?"
    if not (capital or inner_capital) or (before.text.isupper() and len(before.text) <= 3):
        return None
    if last < len(tokens):
        after = tokens[last]
        if glued(tokens[last - 1], after) and after.kind == "word":
            return None
        if after.kind == "word" and after.low not in _AFTER_NAMES and after.low not in VERBS:
            return None
        if after.text in "%‰°″′$€£-–/":
            return None
    return last


_AFTER_NAMES = frozenset(
    (
        "is was are were has had have will would can could may with and or of in on at for from to by the a "
        "an as which that who when while but"
    ).split()
)
