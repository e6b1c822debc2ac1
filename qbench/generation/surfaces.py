"""Surface forms of numbers ("10,000,000", "10 million") and units ("€", "EUR", "euros") (*Numbers Matter* 3.3.2)."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from functools import lru_cache
from typing import Literal

import numpy as np

from qbench.quantities.english.lexicon import ABBREVIATED_SCALES, MONEY_SCALES, SCALES
from qbench.quantities.units import Unit, Units, plural, singular

Style = Literal["plain", "comma", "word", "letter"]

WORDS = (("trillion", 12), ("billion", 9), ("million", 6), ("thousand", 3))
LETTERS = (("T", 12), ("B", 9), ("M", 6), ("K", 3))
NAMES, SYMBOLS = 4, 2
"""Forms of a unit that are written: the first ones, which the file lists as the usual ones. Others ("greenbacks") are
only read. Four names are two, each in singular and plural."""
DECIMALS = {"word": 3, "letter": 2, "K": 1}
"""More decimals than this before a magnitude ("3.4567 million", "1.987K") are not how people write."""

_NUMBER = re.compile(r"([-−+]?)(\d[\d,]*(?:\.\d+)?|\.\d+)(?:([\s‑-]*)([A-Za-z]+))?")


@dataclass(frozen=True, slots=True)
class UnitForm:
    """One way to write a unit: what stands before the number, or after it (spaces included)."""

    before: str = ""
    after: str = ""
    named: bool = False

    @property
    def bare(self) -> str:
        """The form without the space that joins it to the number."""
        return (self.before or self.after).strip()


@dataclass(frozen=True, slots=True)
class Written:
    """A number as it stands in a text: its parts, so that another number can be written alike.

    Attributes:
        value: what it says.
        decimals: digits after the point.
        comma: whether thousands are separated.
        gap, scale: what joins the magnitude, and its word or letter; "" where there is none.
    """

    value: float
    decimals: int
    comma: bool
    gap: str = ""
    scale: str = ""


def read_value(text: str) -> Written | None:
    """Read a number in digits with at most one magnitude ("3.5 million", "$"-less); None for anything else.

    >>> read_value("3.5 million").value, read_value("1,250").comma, read_value("five")
    (3500000.0, True, None)
    """
    match = _NUMBER.fullmatch(text.strip())
    if match is None:
        return None
    sign, digits, gap, scale = match[1], match[2], match[3] or "", match[4] or ""
    factor = _factor(scale)
    if factor is None:
        return None
    value = Decimal(digits.replace(",", "")) * factor
    decimals = len(digits.partition(".")[2])
    return Written(float(-value if sign in ("-", "−") else value), decimals, "," in digits, gap, scale)


def _factor(scale: str) -> Decimal | None:
    if not scale:
        return Decimal(1)
    factor = SCALES.get(scale.lower()) or ABBREVIATED_SCALES.get(scale.lower()) or MONEY_SCALES.get(scale)
    return None if factor is None else Decimal(int(factor))


def value_forms(value: float) -> dict[Style, str]:
    """Every exact way to write a number; each reads back to the same value.

    >>> value_forms(10_000_000.0)
    {'plain': '10000000', 'comma': '10,000,000', 'word': '10 million', 'letter': '10M'}
    """
    exact = Decimal(repr(clean(value)))
    forms: dict[Style, str] = {"plain": _digits(exact)}
    if abs(exact) >= 1000:
        forms["comma"] = _digits(exact, comma=True)
    for style, names, gap in (("word", WORDS, " "), ("letter", LETTERS, "")):
        for name, power in names:
            # "10 thousand" is written, "5 thousand" hardly; "5K" is.
            if abs(exact) >= Decimal(10) ** (power + (power == 3 and style == "word")):
                mantissa = exact / Decimal(10) ** power
                if _decimals(mantissa) <= DECIMALS.get(name, DECIMALS[style]):
                    forms["word" if style == "word" else "letter"] = f"{_digits(mantissa)}{gap}{name}"
                break
    return forms


def clean(value: float) -> float:
    """A value without the last bits that arithmetic left in it: 3299999.9999999995 is 3300000."""
    return float(f"{value:.12g}")


def write_like(value: float, original: str) -> str:
    """A number written the way another one is: its separators, decimals and magnitude where they suit.

    >>> write_like(4_200_000.0, "3.5 million"), write_like(950.0, "1,250"), write_like(7.0, "5.00")
    ('4.2 million', '950', '7.00')
    """
    like = read_value(original)
    exact = Decimal(repr(clean(value)))
    if like is None:
        return _digits(exact, comma=abs(exact) >= 10_000)
    if like.scale:
        factor = _factor(like.scale)
        mantissa = exact / factor if factor else exact
        if Decimal("0.1") <= abs(mantissa) < 10_000 and _decimals(mantissa) <= max(DECIMALS["word"], like.decimals):
            return f"{_digits(mantissa, least=like.decimals, comma=like.comma)}{like.gap}{like.scale}"
        return _digits(exact, comma=abs(exact) >= 1000)
    return _digits(exact, least=like.decimals, comma=like.comma or (abs(like.value) < 1000 <= abs(exact)))


def _digits(exact: Decimal, *, least: int = 0, comma: bool = False) -> str:
    """Digits without an exponent, with a minimum number of decimals."""
    decimals = max(_decimals(exact), least)
    return f"{exact:{',' if comma else ''}.{decimals}f}"


def _decimals(exact: Decimal) -> int:
    """Decimals that are needed to write a number exactly."""
    exponent = exact.normalize().as_tuple().exponent
    return max(0, -exponent) if isinstance(exponent, int) else 0


def unit_forms(unit: Unit, units: Units, value: float) -> tuple[UnitForm, ...]:
    """The ways to write a unit beside a value, those that name another unit when read back left out.

    Written-out names agree with the number: the singular for 1, plurals for the rest.
    """
    return _unit_forms(unit, units, abs(value) == 1) if unit.name else (UnitForm(),)


@lru_cache(maxsize=10_000)
def _unit_forms(unit: Unit, units: Units, is_singular: bool) -> tuple[UnitForm, ...]:
    names = _agreeing(unit.names[:NAMES], is_singular)
    forms: list[UnitForm] = [UnitForm(after=f" {name}", named=True) for name in names]
    forms += [UnitForm(after=symbol if _sticks(symbol) else f" {symbol}") for symbol in unit.symbols[:SYMBOLS]]
    valid = [form for form in forms if _same(units.lookup(form.bare), unit)]
    for symbol in unit.before[:SYMBOLS]:
        if _same(units.preceding(symbol), unit):
            valid.append(UnitForm(before=f"{symbol} " if symbol[-1].isalpha() and len(symbol) > 1 else symbol))
    if valid:
        return tuple(dict.fromkeys(valid))

    return (UnitForm(after=f" {unit.name if is_singular else plural(unit.name)}", named=True),)


def _same(read: Unit | None, unit: Unit) -> bool:
    # Units that the file does not list (nouns, compounds) are known by nobody, so nothing else claims their names.
    return read is None or read.name == unit.name


def _sticks(symbol: str) -> bool:
    """Whether a symbol is written without a space after the number."""
    return not symbol[0].isalnum()


def _agreeing(names: Sequence[str], is_singular: bool) -> list[str]:

    def plural_of(many: str, single: str) -> bool:
        a, b = many.split(), single.split()
        return len(a) == len(b) and a != b and all(x == y or singular(x) == y for x, y in zip(a, b, strict=True))

    pairs = [(many, single) for many in names for single in names if plural_of(many, single)]
    unwanted = {many if is_singular else single for many, single in pairs}
    return [name for name in names if name not in unwanted]


def pick_form(value: float, form: UnitForm, rng: np.random.Generator, high: float | None = None) -> tuple[str, str]:
    """Write one number (or both ends of a range alike) in a randomly chosen exact form that suits the unit's form.

    Returns:
        the low and the high number; equal for a single one.
    """
    styles = value_forms(value)
    ends = styles if high is None else value_forms(high)
    suited = [s for s in styles if s in ends and _suits(s, form, max(abs(value), abs(value if high is None else high)))]
    style = suited[int(rng.integers(len(suited)))] if suited else "plain"
    return styles[style], ends[style]


def _suits(style: Style, form: UnitForm, size: float) -> bool:
    # A magnitude goes with money, written-out units and bare numbers; "10M kg" and "10 million%" are not written.
    if style in ("word", "letter"):
        return form.named or bool(form.before) or not form.after
    return style == "comma" or size < 1e9
