"""Numbers: digits and words, separators, magnitudes, fractions. Reads one number at a token, or none."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from qbench.quantities.lexicon import (
    ABBREVIATED_SCALES,
    FRACTION_MARKS,
    FRACTIONS,
    GLUED_SCALES,
    MONEY_SCALES,
    ONES,
    SCALES,
    TENS,
)
from qbench.quantities.tokens import Token, glued

NUMERALS = frozenset(ONES) | frozenset(TENS) | frozenset(SCALES)
MAX_DIGITS = 18
"""A number with more digits is an identifier."""
MAX_PLAIN_DIGITS = 11
"""So is a longer run of digits without separators: registry numbers, bar codes."""


@dataclass(frozen=True, slots=True)
class Number:
    """A number read from tokens first..last-1.

    Attributes:
        value: magnitudes multiplied out.
        mantissa: the value before the magnitude.
        first, last: token range.
        digits: significant digits as written.
        written: whether it was spelt in words.
    """

    value: float
    mantissa: float
    first: int
    last: int
    digits: int
    written: bool = False

    @property
    def scaled(self) -> bool:
        """Whether a magnitude was read."""
        return self.value != self.mantissa


def read_number(tokens: Sequence[Token], i: int, *, money: bool = False) -> Number | None:
    """The number that starts at token i, with its magnitude; None if there is none.

    Args:
        tokens: of the text.
        i: where to look.
        money: a currency stands before, so that "m" means million.
    """
    token = tokens[i]
    if token.kind == "number":
        plain = _digits(tokens, i)
    elif token.kind == "word":
        plain = _words(tokens, i)
    else:
        plain = _fraction_mark(tokens, i)
    return None if plain is None else _with_scale(tokens, plain, money)


def significant_digits(text: str) -> int:
    """Significant digits of a number as written; trailing zeros of a whole number do not count.

    >>> [significant_digits(t) for t in ("4,587", "4.60", "0.05", "5,000", "0")]
    [4, 3, 1, 1, 1]
    """
    digits = text.replace(",", "")
    whole, dot, part = digits.partition(".")
    kept = (whole + part).lstrip("0") if dot else whole.strip("0")
    return max(1, len(kept))


def _digits(tokens: Sequence[Token], i: int) -> Number | None:
    text = tokens[i].text
    if len(text) > MAX_DIGITS * 2 or sum(c.isdigit() for c in text) > MAX_DIGITS:
        return None
    if text.isdecimal() and len(text) > MAX_PLAIN_DIGITS:
        return None
    value, last, digits = float(text.replace(",", "")), i + 1, significant_digits(text)
    whole = "." not in text
    # "5 1/2" and "5½": a whole number and a fraction
    if whole and last < len(tokens):
        fraction = _fraction_mark(tokens, last) if tokens[last].text in FRACTION_MARKS else None
        fraction = fraction or (_slash(tokens, last) if tokens[last].kind == "number" else None)
        if (
            fraction is None
            and tokens[last].text == "-"
            and last + 1 < len(tokens)
            and glued(tokens[last - 1], tokens[last])
        ):
            fraction = _slash(tokens, last + 1)  # "22-1/2", as newswires write
        if fraction is not None:
            value += fraction.value
            return Number(value, value, i, fraction.last, digits + 1)
        if (slashed := _slash(tokens, i)) is not None:
            return slashed
    return Number(value, value, i, last, digits)


def _slash(tokens: Sequence[Token], i: int) -> Number | None:
    """A proper fraction, "3/4"."""
    if i + 2 >= len(tokens) or tokens[i + 1].text != "/" or tokens[i + 2].kind != "number":
        return None
    if not (glued(tokens[i], tokens[i + 1]) and glued(tokens[i + 1], tokens[i + 2])):
        return None
    top, bottom = tokens[i].text, tokens[i + 2].text
    if not (top.isdecimal() and bottom.isdecimal()) or len(bottom) > 3 or not 0 < int(top) < int(bottom):
        return None
    if i + 3 < len(tokens) and tokens[i + 3].text == "/":
        return None
    value = int(top) / int(bottom)
    return Number(value, value, i, i + 3, len(top))


def _fraction_mark(tokens: Sequence[Token], i: int) -> Number | None:
    value = FRACTION_MARKS.get(tokens[i].text)
    return None if value is None else Number(value, value, i, i + 1, 1)


def _words(tokens: Sequence[Token], i: int) -> Number | None:
    """A number in words: "twenty-five thousand", "a million", "half a dozen", "two thirds"."""
    word = tokens[i].low
    if word in ("a", "an"):
        return _article(tokens, i)
    if word == "half":
        return _half(tokens, i)
    if word in ("dozens", "hundreds", "thousands", "millions", "billions", "trillions"):
        return None
    total, group, j, seen = 0.0, 0.0, i, 0
    while j < len(tokens):
        word = tokens[j].low
        if tokens[j].text == "-" and seen and j + 1 < len(tokens) and tokens[j + 1].low in NUMERALS:
            j += 1
            continue
        if word == "and" and seen and group % 100 == 0 and j + 1 < len(tokens) and tokens[j + 1].low in NUMERALS:
            j += 1
            continue
        if word in TENS and group % 100 == 0:
            group += TENS[word]
        elif word in ONES and (group % 10 == 0 and (group % 100 != 10 or group == 0)) and not _full(group, word):
            group += ONES[word]
        elif word == "hundred" and seen and group:
            group *= 100
        elif word in SCALES and word != "hundred" and seen and group:
            total += group * SCALES[word]
            group = 0.0
        else:
            break
        j += 1
        seen += 1
    if not seen:
        return None
    value = total + group
    if j < len(tokens) and (part := _denominator(tokens, j)) is not None and total == 0 and 0 < value < 20:
        value *= part[0]
        j = part[1]
    return Number(value, value, i, j, significant_digits(f"{value:.0f}"), written=True)


def _full(group: float, word: str) -> bool:
    """Whether a group has its ones place taken, so that the next word starts another number."""
    return group % 10 != 0 or (ONES[word] >= 10 and group % 100 != 0)


def _denominator(tokens: Sequence[Token], j: int) -> tuple[float, int] | None:
    """ "thirds" after "two" or "two-"."""
    if tokens[j].text == "-" and j + 1 < len(tokens):
        j += 1
    word = tokens[j].low
    if word in FRACTIONS and word not in ("half", "third", "fourth", "fifth", "sixth", "eighth", "tenth"):
        return FRACTIONS[word], j + 1
    return None


def _article(tokens: Sequence[Token], i: int) -> Number | None:
    """ "a million", "a third of"."""
    if i + 1 >= len(tokens):
        return None
    word = tokens[i + 1].low
    if word in SCALES:
        following = tokens[i + 2].low if i + 2 < len(tokens) else ""
        extra = SCALES[following] if following in SCALES and SCALES[following] > SCALES[word] else 1.0
        value = SCALES[word] * extra
        return Number(value, value, i, i + 2 + (extra != 1.0), 1, written=True)
    if word in ("third", "fifth", "tenth") and i + 2 < len(tokens) and tokens[i + 2].low == "of":
        value = FRACTIONS[word]
        return Number(value, value, i, i + 2, 1, written=True)
    if word == "half" and i + 3 < len(tokens) and tokens[i + 2].low in SCALES:
        value = 0.5 * SCALES[tokens[i + 2].low]
        return Number(value, value, i, i + 3, 1, written=True)
    return None


def _half(tokens: Sequence[Token], i: int) -> Number | None:
    """ "half a million", "half of", "half the"."""
    if i + 2 < len(tokens) and tokens[i + 1].low == "a" and tokens[i + 2].low in SCALES:
        value = 0.5 * SCALES[tokens[i + 2].low]
        return Number(value, value, i, i + 3, 1, written=True)
    if i + 1 < len(tokens) and tokens[i + 1].low in ("of", "the"):
        return Number(0.5, 0.5, i, i + 1, 1, written=True)
    return None


def _with_scale(tokens: Sequence[Token], number: Number, money: bool) -> Number:
    value, j = number.value, number.last
    while j < len(tokens):
        token, before = tokens[j], tokens[j - 1]
        is_glued = glued(before, token)
        if token.text == "-" and is_glued and j + 1 < len(tokens) and tokens[j + 1].low in SCALES:
            j += 1
            continue
        scale = None if token.kind != "word" else _scale(token, is_glued, money)
        if scale is None:
            break
        # 131.8 million is 131800000, not the 131800000.00000001 that binary fractions make of it.
        value = float(f"{value * scale:.15g}")
        j += 1
    while j > number.last and tokens[j - 1].kind != "word":
        j -= 1
    return Number(value, number.mantissa, number.first, j, number.digits, number.written)


def _scale(token: Token, is_glued: bool, money: bool) -> float | None:
    if token.low in SCALES or token.low in ABBREVIATED_SCALES:
        return SCALES.get(token.low) or ABBREVIATED_SCALES[token.low]
    if is_glued:
        return (MONEY_SCALES if money else GLUED_SCALES).get(token.text)
    return MONEY_SCALES.get(token.text) if money and token.low in ("m", "b") else None
