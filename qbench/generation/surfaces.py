"""Surface forms of numbers ("10,000,000", "10 million") and units ("€", "EUR", "euros") (*Numbers Matter* 3.3.2)."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from functools import lru_cache

import numpy as np

from qbench.generation.forms import Style as Style
from qbench.generation.forms import UnitForm as UnitForm
from qbench.generation.languages import generation_package
from qbench.quantities.chinese.numbers import SCALES as HAN_SCALES
from qbench.quantities.english.inflection import plural, singular
from qbench.quantities.english.lexicon import ABBREVIATED_SCALES, MONEY_SCALES, SCALES
from qbench.quantities.languages import ENGLISH
from qbench.quantities.units import Unit, Units

WORDS = (("trillion", 12), ("billion", 9), ("million", 6), ("thousand", 3))
LETTERS = (("T", 12), ("B", 9), ("M", 6), ("K", 3))
NAMES, SYMBOLS = 4, 2
"""Forms of a unit that are written: the first ones, which the file lists as the usual ones. Others ("greenbacks") are
only read. Four names are two, each in singular and plural."""
RARE = 10
"""A surface that a corpus writes so many times less often than another one is odd."""

DECIMALS = {"word": 3, "letter": 2, "K": 1}
"""More decimals than this before a magnitude ("3.4567 million", "1.987K") are not how people write."""

_NUMBER = re.compile(r"([-−+]?)(\d[\d,]*(?:\.\d+)?|\.\d+)(?:([\s‑-]*)([A-Za-z]+|[百千万亿]+))?")


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
    small = scale.lower()
    factor = SCALES.get(small) or ABBREVIATED_SCALES.get(small) or MONEY_SCALES.get(scale) or HAN_SCALES.get(scale)
    return None if factor is None else Decimal(int(factor))


def value_forms(value: float) -> dict[Style, str]:
    """Every exact way to write a number; each reads back to the same value.

    >>> value_forms(10_000_000.0)
    {'plain': '10000000', 'comma': '10,000,000', 'word': '10 million', 'letter': '10M'}
    """
    exact = Decimal(repr(clean(value)))
    forms: dict[Style, str] = {"plain": digits_of(exact)}
    if abs(exact) >= 1000:
        forms["comma"] = digits_of(exact, comma=True)
    for style, names, gap in (("word", WORDS, " "), ("letter", LETTERS, "")):
        for name, power in names:
            # "10 thousand" is written, "5 thousand" hardly; "5K" is.
            if abs(exact) >= Decimal(10) ** (power + (power == 3 and style == "word")):
                mantissa = exact / Decimal(10) ** power
                if _decimals(mantissa) <= DECIMALS.get(name, DECIMALS[style]):
                    forms["word" if style == "word" else "letter"] = f"{digits_of(mantissa)}{gap}{name}"
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
        return digits_of(exact, comma=abs(exact) >= 10_000)
    if like.scale:
        factor = _factor(like.scale)
        mantissa = exact / factor if factor else exact
        if Decimal("0.1") <= abs(mantissa) < 10_000 and _decimals(mantissa) <= max(DECIMALS["word"], like.decimals):
            return f"{digits_of(mantissa, least=like.decimals, comma=like.comma)}{like.gap}{like.scale}"
        return digits_of(exact, comma=abs(exact) >= 1000)
    return digits_of(exact, least=like.decimals, comma=like.comma or (abs(like.value) < 1000 <= abs(exact)))


def digits_of(exact: Decimal, *, least: int = 0, comma: bool = False) -> str:
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
    # No "5 dlr", as there is "dlrs"; but "5 kg", though somebody writes "kgs".
    agreeing = _agreeing(unit.symbols, is_singular) if unit.family == "currency" else unit.symbols
    symbols = [symbol for symbol in unit.symbols[:SYMBOLS] if symbol in agreeing]
    forms: list[UnitForm] = [UnitForm(after=f" {name}", named=True) for name in names]
    forms += [UnitForm(after=symbol if _sticks(symbol) else f" {symbol}") for symbol in symbols]
    valid = [form for form in forms if _same(units.lookup(form.bare), unit)]
    for symbol in unit.before[:SYMBOLS]:
        if _same(units.preceding(symbol), unit):
            valid.append(UnitForm(before=f"{symbol} " if symbol[-1].isalpha() and len(symbol) > 1 else symbol))
    if valid:
        return tuple(dict.fromkeys(valid))

    return (UnitForm(after=f" {unit.name if is_singular else plural(unit.name)}", named=True),)


def usual_forms(
    said: Mapping[tuple[str, bool], int], unit: Unit, units: Units, value: float
) -> list[tuple[UnitForm, int]]:
    """The ways in which a corpus writes a unit beside a value, with how often it does; [] if it never writes it.

    Args:
        said: (surface, whether it stands before the number) -> how often.
        unit, units: as in `unit_forms`.
        value: of the number; names agree with it.
    """
    counts: dict[UnitForm, int] = {}
    names = {name.lower() for name in unit.names}
    for (surface, before), number in said.items():
        read = units.preceding(surface) if before else units.lookup(surface)
        if read is None or read.name != unit.name:
            continue
        if before and " " in surface:
            continue  # "EUR € 5": the sign and the code
        if before:
            form = UnitForm(before=f"{surface} " if surface[-1].isalpha() and len(surface) > 1 else surface)
        else:
            if _hyphenated(surface):
                continue  # "a 60-year-old woman", but no "age of 60 year-old"
            text = _one(surface, unit, units) if abs(value) == 1 else _many(surface, unit, units)
            named = text.lower() in names or (unit.family == "currency" and text.isalpha())
            form = UnitForm(after=text if _sticks(text) else f" {text}", named=named)
        counts[form] = counts.get(form, 0) + number
    most = max(counts.values(), default=0)
    ordered = sorted(counts.items(), key=lambda item: (-item[1], item[0].bare))
    return [(form, number) for form, number in ordered if RARE * number >= most]


def plain_forms(unit: Unit, units: Units, value: float) -> list[UnitForm]:
    """The forms that everybody knows: the first name, the first symbol after a number, the first one before it."""
    kinds: dict[tuple[bool, bool], UnitForm] = {}
    for form in unit_forms(unit, units, value):
        kinds.setdefault((form.named, bool(form.before)), form)
    return list(kinds.values())


def _hyphenated(surface: str) -> bool:
    return re.fullmatch(r"[A-Za-z]+(?:[-‑][A-Za-z]+)+", surface) is not None


def _one(surface: str, unit: Unit, units: Units) -> str:
    """A surface as it stands after 1: "day" where the corpus has "5 days"."""
    one = singular(surface)
    read = units.lookup(one) if surface.isalpha() and len(surface) > 2 else None
    return one if read is not None and read.name == unit.name else surface


def _many(surface: str, unit: Unit, units: Units) -> str:
    """A surface as it stands after a number that is not 1: "months" where the corpus has "a 6-month period"."""
    several = next((name for name in unit.names if _plural_of(name, surface.lower())), plural(surface))
    words = surface.replace(" ", "").isalpha() and not surface.isupper()
    read = units.lookup(several) if words and singular(surface) == surface and len(surface) > 2 else None
    return several if read is not None and read.name == unit.name else surface


def _same(read: Unit | None, unit: Unit) -> bool:
    # Units that the file does not list (nouns, compounds) are known by nobody, so nothing else claims their names.
    return read is None or read.name == unit.name


def _sticks(symbol: str) -> bool:
    """Whether a symbol is written without a space after the number."""
    return not symbol[0].isalnum()


_PLURALS = {"penny": "pence"}


def _plural_of(many: str, single: str) -> bool:
    """Whether a name is another one with some of its words in the plural: "years old", "year old"."""
    a, b = many.split(), single.split()
    return (
        len(a) == len(b)
        and a != b
        and all(x == y or singular(x) == y or _PLURALS.get(y) == x for x, y in zip(a, b, strict=True))
    )


def _agreeing(names: Sequence[str], is_singular: bool) -> list[str]:
    pairs = [(many, single) for many in names for single in names if _plural_of(many, single)]
    unwanted = {many if is_singular else single for many, single in pairs}
    return [name for name in names if name not in unwanted]


def pick_form(
    value: float,
    form: UnitForm,
    rng: np.random.Generator,
    high: float | None = None,
    *,
    odd: bool = False,
    language: str = ENGLISH,
) -> tuple[str, str]:
    """Write one number (or both ends of a range alike) in an exact form that suits the unit's form.

    Args:
        value, high: the number, or both ends.
        form: of the unit.
        rng: chooses among the forms, the usual ones more often ("554 million", not 554000000).
        odd: every form that suits the unit is as likely as any other.
        language: code of the language of the text.

    Returns:
        the low and the high number; equal for a single one.
    """
    package = generation_package(language)
    styles = package.value_forms(value)
    ends = styles if high is None else package.value_forms(high)
    size = max(abs(value), abs(value if high is None else high))
    suited = [s for s in styles if s in ends and _suits(s, form, size)]
    weights = np.array([1.0 if odd else package.usual(style, size) for style in suited])
    if not suited or not weights.sum():
        style: Style = "comma" if "comma" in styles and "comma" in ends else "plain"
    else:
        style = suited[int(rng.choice(len(suited), p=weights / weights.sum()))]
    return styles[style], ends[style]


def usual(style: Style, size: float) -> float:
    """How usual a style is for numbers of a size."""
    if size >= 1e6:
        return {"word": 8.0, "letter": 2.0, "comma": 1.0 if size < 1e8 else 0.0, "plain": 0.0}[style]
    return {"word": 0.0, "letter": 1.0, "comma": 8.0, "plain": 8.0 if size < 1e4 else 1.0}[style]


def _suits(style: Style, form: UnitForm, size: float) -> bool:
    # A magnitude goes with money, written-out units and bare numbers; "10M kg" and "10 million%" are not written.
    if style in ("word", "letter"):
        return form.named or bool(form.before) or not form.after
    return style == "comma" or size < 1e9
