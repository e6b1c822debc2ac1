"""Numbers: digits and words, separators, magnitudes, fractions, powers. Reads one number at a token, or none."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

from qbench.quantities.english.lexicon import ABBREVIATED_SCALES, FRACTION_MARKS, GLUED_SCALES, MONEY_SCALES, SCALES
from qbench.quantities.english.notations import notation
from qbench.quantities.english.ratios import ratio
from qbench.quantities.english.tokens import Token, glued
from qbench.quantities.english.written import PLURAL_SCALES, and_fraction, read_words

MAX_DIGITS = 18
"""A number with more digits is an identifier."""
MAX_PLAIN_DIGITS = 11
"""So is a longer run of digits without separators: registry numbers, bar codes."""
MAX_EXPONENT = 290
"""Values with larger powers of ten might leave the range of a double when they are converted."""
MAX_SCALES = 2
"""Magnitudes in a row: "5 hundred thousand", "3 lakh crore"."""
MINUSES = "-−–"
_DENOMINATORS = frozenset({*range(2, 13), 15, 16, 20, 25, 32, 64, 100, 128})
"""Of what fractions are written with a stroke."""
_BYTES = frozenset("GB MB TB gb Gb".split())
_FLATTENED = frozenset(f"10{k}" for k in range(3, 25))
_PUNCTUATION = frozenset("–—‑’‘”“…»«·•")
_SUPERSCRIPTS = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹⁻⁺", "0123456789-+")
_AFTER_DIGITS = {**{w: s for w, s in PLURAL_SCALES.items() if s >= 1e3}, "lac": 1e5, "lacs": 1e5}
"""Magnitudes that only digits take: "5 millions", "3 lacs"."""
_WHO = frozenset(
    "patients patient participants subjects children women men infants adults cases volunteers animals mice rats "
    "people students dogs eyes teeth".split()
)
"""Who is counted as so many of so many."""
_PEOPLE = frozenset(
    (
        "people inhabitants residents users customers viewers workers subscribers voters fans jobs homes households "
        "shares votes downloads followers members dollars euros pounds yen rupees barrels tonnes tons units vehicles "
        "cars"
    ).split()
)
"""What is counted by the million, and not measured in metres: "35m users", "8 B people"."""


@dataclass(frozen=True, slots=True)
class Number:
    """A number read from tokens first..last-1.

    Attributes:
        value: magnitudes multiplied out.
        mantissa: the value before the magnitude.
        first, last: token range.
        digits: significant digits as written.
        written: whether it was spelt in words.
        high: the upper end of an indefinite plural ("thousands of": 1,000 to 10,000), else None.
        rule: what kind of number it is, for `explain`.
        magnitude: by what the number's last word multiplies ("million"); 1 where it has none.
        bracketed: whether it stands in brackets that accountants write for a minus: "$(1,245)", "(3.5)%".
    """

    value: float
    mantissa: float
    first: int
    last: int
    digits: int
    written: bool = False
    high: float | None = None
    rule: str = "digits"
    magnitude: float = 1.0
    bracketed: bool = False

    def times(self, scale: float, last: int) -> Number:
        """The number with a magnitude that ends before token `last`."""
        # 131.8 million is 131800000, not the 131800000.00000001 that binary fractions make of it.
        value = float(f"{self.value * scale:.15g}")
        high = None if self.high is None else float(f"{self.high * scale:.15g}")
        return replace(self, value=value, high=high, last=last, magnitude=self.magnitude * scale)

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
    if (parts := ratio(tokens, i)) is not None:
        digits = significant_digits(parts.figures)
        return Number(parts.value, parts.value, i, parts.last, digits, token.kind == "word", rule=parts.rule)
    if token.kind == "number":
        plain = _digits(tokens, i, money=money)
    elif token.text in FRACTION_MARKS:
        plain = _fraction_mark(tokens, i)
    else:
        plain = _words(tokens, i)
    if plain is None or plain.high is not None or plain.rule in ("fold", "power of ten"):
        return plain
    return _restated(tokens, _with_scale(tokens, _restated(tokens, plain), money))


def _restated(tokens: Sequence[Token], number: Number) -> Number:
    """A number with the same number in brackets behind it, in digits and words: "thirty (30) days", "3 (three)"."""
    k = number.last + 1
    if k + 1 >= len(tokens) or tokens[k - 1].text != "(":
        return number
    if tokens[k].kind != ("number" if number.written else "word"):
        return number
    other = _digits(tokens, k, money=False) if number.written else _words(tokens, k)
    if other is None or other.high is not None:
        return number
    other = _with_scale(tokens, other, money=False)
    closes = other.last < len(tokens) and tokens[other.last].text == ")"
    return replace(number, last=other.last + 1) if closes and other.value == number.value else number


def bracketed(tokens: Sequence[Token], number: Number, *, money: bool) -> Number:
    """The number with the brackets around it, where they say that it is negative: "$(1,245) million", "(3.5)%".

    Brackets with nothing outside, "(1,234)", are no sign: running text brackets many numbers that are not negative.
    """
    first, last = number.first, number.last
    if not first or last >= len(tokens) or tokens[last].text != ")" or number.scaled:
        return number
    if money and first > 1 and tokens[first - 1].text in _SIGNS and tokens[first - 2].text == "(":
        scaled = _with_scale(tokens, replace(number, last=last + 1, bracketed=True), money)
        return scaled if scaled.scaled else number  # "a loss of ($4.5) million"
    if tokens[first - 1].text != "(":
        return number
    percent = last + 1 < len(tokens) and tokens[last + 1].text == "%"
    outside = tokens[first - 2] if first > 1 else None
    signed = money and outside is not None and outside.text in _SIGNS
    if not signed and not (percent and glued(tokens[last], tokens[last + 1])):
        return number
    return _with_scale(tokens, replace(number, first=first - 1, last=last + 1, bracketed=True), money)


_SIGNS = frozenset("$€£¥₹")


def with_late_scale(tokens: Sequence[Token], number: Number, last: int) -> tuple[Number, int]:
    """The number with the magnitude after its currency, "75 USD million", and the token after that."""
    if last >= len(tokens) or tokens[last - 1].kind != "word" or not tokens[last - 1].text.isupper():
        return number, last
    scale = SCALES.get(tokens[last].low) or ABBREVIATED_SCALES.get(tokens[last].low)
    if scale is None or scale < 1e3:
        return number, last
    return number.times(scale, number.last), last + 1


def significant_digits(text: str) -> int:
    """Significant digits of a number as written; trailing zeros of a whole number do not count.

    >>> [significant_digits(t) for t in ("4,587", "4.60", "0.05", "5,000", "0")]
    [4, 3, 1, 1, 1]
    """
    digits = text.replace(",", "")
    whole, dot, part = digits.partition(".")
    significant = (whole + part).lstrip("0") if dot else whole.strip("0")
    return max(1, len(significant))


def plain_digits(text: str) -> str:
    """A number token as `float` reads it: without separators of thousands, with a decimal point.

    >>> [plain_digits(t) for t in ("1,200.5", "1.200,5", "1.200.000", "50·3")]
    ['1200.5', '1200.5', '1200000', '50.3']
    """
    if "," in text and "." in text and text.rfind(",") > text.rfind("."):
        return text.replace(".", "").replace(",", ".")
    if text.count(".") > 1:
        return text.replace(".", "")
    return "".join("." if c == "·" else c for c in text if c not in ", \u00a0\u2009\u202f")


def _digits(tokens: Sequence[Token], i: int, *, money: bool) -> Number | None:
    raw = tokens[i].text
    if len(raw) > MAX_DIGITS * 2 or sum(c.isdigit() for c in raw) > MAX_DIGITS:
        return None
    if raw.isdecimal() and len(raw) > MAX_PLAIN_DIGITS:
        return None
    text = plain_digits(raw)
    value, last, digits = float(text), i + 1, significant_digits(text)
    number = Number(value, value, i, last, digits)
    if last >= len(tokens):
        return number
    if (more := notation(tokens, i, money=money)) is not None:
        digits = significant_digits(more.figures)
        return Number(more.value, more.value, i, more.last, digits, high=more.high, rule=more.rule)
    if money and "." not in text and tokens[last].text[0] == "." and tokens[last].kind == "number":
        if tokens[last].start - tokens[i].end == 1:  # "EUR13 .1 m", as some texts part them
            value = float(text + tokens[last].text)
            return Number(value, value, i, last + 1, significant_digits(text + tokens[last].text))
    if (power := _power(tokens, number, text)) is not None:
        return power
    if "." not in text and (mixed := _mixed(tokens, number)) is not None:
        return mixed
    return number


def _mixed(tokens: Sequence[Token], number: Number) -> Number | None:
    """ "5 1/2", "5½", "22-1/2" as newswires write it, "2 and a half"; or a proper fraction, "3/4"."""
    i, last = number.first, number.last
    fraction = _fraction_mark(tokens, last) if tokens[last].text in FRACTION_MARKS else None
    fraction = fraction or (_slash(tokens, last) if tokens[last].kind == "number" else None)
    if fraction is None and tokens[last].text == "-" and last + 1 < len(tokens) and glued(tokens[i], tokens[last]):
        fraction = _slash(tokens, last + 1)
        if fraction is not None and _second_after(tokens, fraction.last):
            fraction = None  # "30-1/8000 s" is a range
    if fraction is not None:
        value, end = number.value + fraction.value, fraction.last
    elif (half := and_fraction(tokens, last)) is not None:
        value, end = number.value + half[0], half[1]
    else:
        return _slash(tokens, i)
    return Number(value, value, i, end, number.digits + 1, rule="fraction")


def _slash(tokens: Sequence[Token], i: int) -> Number | None:
    """A proper fraction, "3/4"."""
    if i + 2 >= len(tokens) or tokens[i + 1].text not in "/⁄" or tokens[i + 2].kind != "number":
        return None
    if not (glued(tokens[i], tokens[i + 1]) and glued(tokens[i + 1], tokens[i + 2])):
        return None
    top, bottom = tokens[i].text, tokens[i + 2].text
    if _inch_after(tokens, i + 3) and (parts := _of_an_inch(top, bottom)):
        return Number(parts, parts, i, i + 3, significant_digits(bottom), rule="fraction")
    if top == "1" and bottom.isdecimal() and 1 < int(bottom) <= _SHUTTER and _second_after(tokens, i + 3):
        return Number(1 / int(bottom), 1 / int(bottom), i, i + 3, significant_digits(bottom), rule="fraction")
    if not (top.isdecimal() and bottom.isdecimal()) or len(bottom) > 3 or not 0 < int(top) < int(bottom):
        return None
    if i + 3 < len(tokens) and (tokens[i + 3].text == "/" or tokens[i + 3].text in _BYTES):
        return None  # "8/128GB": memory and storage
    if int(bottom) not in _DENOMINATORS or math.gcd(int(top), int(bottom)) > 1:
        return None  # "37/53", "4/8": so many of so many; "18/24 weeks": one or the other
    if i + 3 < len(tokens) and tokens[i + 3].low in _WHO:
        return None  # "9/16 patients"
    value = int(top) / int(bottom)
    return Number(value, value, i, i + 3, len(top), rule="fraction")


def _of_an_inch(top: str, bottom: str) -> float:
    """The value of "40/64" and "1/1.7" before "inch": a drill, the sensor of a camera; 0 for anything else."""
    if top == "1" and 1 < float(bottom) < 10 and "." in bottom and len(bottom) <= 4:
        return 1 / float(bottom)
    halves = bottom in ("8", "16", "32", "64") and top.isdecimal() and 0 < int(top) < int(bottom)
    return int(top) / int(bottom) if halves else 0.0


_SHUTTER = 100_000
"""What part of a second a shutter is open at least."""


def _second_after(tokens: Sequence[Token], k: int) -> bool:
    """Whether a second follows, of which "1/500" is a part: "1/500 s", "1/60-second"."""
    k += k < len(tokens) and tokens[k].text in ("-", ".")
    after = tokens[k] if k < len(tokens) else None
    return after is not None and (after.text in ("s", "sec") or after.low in ("second", "seconds", "secs"))


def _inch_after(tokens: Sequence[Token], k: int) -> bool:
    k += k < len(tokens) and tokens[k].text == "-"
    return k < len(tokens) and (tokens[k].low in ("inch", "inches") or tokens[k].text in '"″')


def _fraction_mark(tokens: Sequence[Token], i: int) -> Number | None:
    value = FRACTION_MARKS.get(tokens[i].text)
    return None if value is None else Number(value, value, i, i + 1, 1, rule="fraction")


def _power(tokens: Sequence[Token], number: Number, text: str) -> Number | None:
    """Powers of ten: "1.2 x 10^6", "1.99×10−30", "10⁹", "3e-5"."""
    last = number.last
    sign = tokens[last]
    if sign.text in ("e", "E") and glued(tokens[last - 1], sign):
        exponent = _exponent(tokens, last + 1, bare=True)
        if exponent is None or (exponent[1] < len(tokens) and _letters_glued(tokens, exponent[1])):
            return None
    elif sign.text in ("x", "X", "×", "*", "·", "⋅") and last + 1 < len(tokens) and tokens[last + 1].text == "10":
        exponent = _exponent(tokens, last + 2, bare=False)
        exponent = exponent or (_parted_exponent(tokens, last + 2) if number.value < 100 else None)
    elif sign.text == "×" and last + 1 < len(tokens) and number.value < 100 and tokens[last + 1].text in _FLATTENED:
        exponent = (int(tokens[last + 1].text[2:]), last + 2)  # "6 × 106 kg": the exponent has lost its raise
    elif text == "10":
        text, exponent = "1", _exponent(tokens, last, bare=False)
        if exponent is not None and tokens[last].text not in "^⁻⁺" and tokens[last].kind != "word":
            return None  # "10-30" alone is a range
        if exponent is None and sign.text == "−":
            exponent = _parted_exponent(tokens, last)
    else:
        return None
    if exponent is None or abs(exponent[0]) > MAX_EXPONENT:
        return None
    value = float(f"{text}e{exponent[0]}")
    return Number(value, value, number.first, exponent[1], number.digits, rule="power of ten")


def _exponent(tokens: Sequence[Token], k: int, *, bare: bool) -> tuple[int, int] | None:
    """The exponent at token k, glued to what stands before, and the token after it.

    Args:
        tokens: of the text.
        k: where to look.
        bare: whether digits without a caret or a sign will do ("3e5").
    """
    if k >= len(tokens) or not glued(tokens[k - 1], tokens[k]):
        return None
    raised = tokens[k].text.translate(_SUPERSCRIPTS)
    if raised != tokens[k].text:
        if raised in ("-", "+") and k + 1 < len(tokens):
            k += 1
            raised += tokens[k].text.translate(_SUPERSCRIPTS)
        digits = raised.lstrip("+-")
        return (int(raised), k + 1) if digits.isascii() and digits.isdecimal() and len(digits) <= 3 else None
    caret = tokens[k].text == "^"
    j = k + caret
    sign = 1
    if j < len(tokens) and tokens[j].text in (*MINUSES, "+"):
        sign, j = (1 if tokens[j].text == "+" else -1), j + 1
    elif not caret and not bare:
        return None
    if j >= len(tokens) or not glued(tokens[j - 1], tokens[j]) or not tokens[j].text.isdecimal():
        return None
    return (sign * int(tokens[j].text), j + 1) if len(tokens[j].text) <= 3 else None


def _parted_exponent(tokens: Sequence[Token], k: int) -> tuple[int, int] | None:
    """An exponent after a space, as raised digits become when a page is turned into text: "5 × 10 6", "10 −4"."""
    signed = k + 1 < len(tokens) and tokens[k].text in MINUSES and glued(tokens[k], tokens[k + 1])
    j = k + signed
    if j >= len(tokens) or tokens[k].start - tokens[k - 1].end != 1 or not tokens[j].text.isdecimal():
        return None
    exponent = int(tokens[j].text) if len(tokens[j].text) <= 2 else 0
    if not 2 <= exponent <= 24 or (j + 1 < len(tokens) and tokens[j + 1].text in ("-", "–", "×")):
        return None
    return (-exponent if signed else exponent), j + 1


def _letters_glued(tokens: Sequence[Token], j: int) -> bool:
    return tokens[j].kind == "word" and glued(tokens[j - 1], tokens[j])


def _words(tokens: Sequence[Token], i: int) -> Number | None:
    number = read_words(tokens, i)
    if number is None:
        return None
    digits = significant_digits(f"{number.value:.0f}" if number.value >= 1 else "1")
    last = tokens[number.last - 1].low
    magnitude = SCALES[last] if number.last - i > 1 and last in _SHARED and number.high is None else 1.0
    return Number(number.value, number.value, i, number.last, digits, True, number.high, number.rule, magnitude)


_SHARED = frozenset("thousand million billion trillion lakh crore".split()) & SCALES.keys()
"""Magnitudes that a number in words shares with one before it: "six to seven billion"."""


def _with_scale(tokens: Sequence[Token], number: Number, money: bool) -> Number:
    value, j, read = number.value, number.last, 0
    while j < len(tokens) and read < MAX_SCALES:
        token, before = tokens[j], tokens[j - 1]
        is_glued = glued(before, token)
        if token.text == "-" and is_glued and j + 1 < len(tokens):
            if tokens[j + 1].low in SCALES or tokens[j + 1].low in ABBREVIATED_SCALES:
                j += 1
                continue
        if token.text == "+" and is_glued and j + 1 < len(tokens) and tokens[j + 1].low in SCALES:
            j += 1  # "2.5+million", "5+ million": the comparator is read by itself
            continue
        scale = None if token.kind != "word" else _scale(tokens, j, is_glued, money)
        if scale is None and token.kind == "word" and not number.written:
            scale = _AFTER_DIGITS.get(token.low)
        if scale is None and token.low == "dozens":
            scale = SCALES["dozen"]
        if scale is None or (len(token.text) == 1 and number.value >= _LONG):
            break  # "5,400,000 B shares"
        # 131.8 million is 131800000, not the 131800000.00000001 that binary fractions make of it.
        value = float(f"{value * scale:.15g}")
        j += 1
        read += 1
        if j < len(tokens) and (half := and_fraction(tokens, j)) is not None:
            value, j = value + half[0] * scale, half[1]  # "3 million and a half"
            break
    while j > number.last and tokens[j - 1].kind != "word":
        j -= 1
    if j == number.last:
        return number
    return replace(number, value=value, last=j, magnitude=value / number.value if number.value else 1.0)


_CURRENCIES = frozenset("dollars euros pounds yen yuan won rupees francs kronor kroner pesos rand".split())
"""Money in words, before which a letter glued to a number is a magnitude."""
_LONG = 1e5
"""A number from which on no single letter is a magnitude of it."""


def _scale(tokens: Sequence[Token], j: int, is_glued: bool, money: bool) -> float | None:
    token = tokens[j]
    if token.low in SCALES or token.low in ABBREVIATED_SCALES:
        return SCALES.get(token.low) or ABBREVIATED_SCALES[token.low]
    counts = j + 1 < len(tokens) and tokens[j + 1].low in _PEOPLE
    if counts and token.text in ("m", "b", "M", "B", "k", "K"):
        return MONEY_SCALES[token.text]
    if is_glued:
        money = money or (j + 1 < len(tokens) and tokens[j + 1].low in _CURRENCIES)  # "1.6T yen"
        following = tokens[j + 1].text if j + 1 < len(tokens) and glued(token, tokens[j + 1]) else ""
        if following in ("€", "£", "$"):
            return MONEY_SCALES.get(token.text)  # "10k€", "1m€"
        if not following.isascii() and following.isprintable() and following not in _PUNCTUATION:
            return None  # "2M☉": the letter begins a symbol
        return (MONEY_SCALES if money else GLUED_SCALES).get(token.text)
    if money and token.low in ("mil", "mill"):
        return 1e6
    return MONEY_SCALES.get(token.text) if money and token.low in ("m", "b") else None
