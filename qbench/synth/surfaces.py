"""How a quantity is written: number, unit, comparator. The value that is recorded is computed from what is written."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from functools import lru_cache

from qbench.quantities.english.numbers import significant_digits
from qbench.quantities.types import MentionComparator
from qbench.quantities.units import Unit, Units
from qbench.synth.dice import Dice
from qbench.synth.mapping import counted_plural

SMALL = "zero one two three four five six seven eight nine ten eleven twelve".split()
SCALES = ((10**9, " billion", "B"), (10**6, " million", "M"), (10**3, " thousand", "k"))

BOUNDED, CONVERTED, SCALED, SPELT, GROUPED = 0.16, 0.4, 0.35, 0.25, 0.75
"""Shares of the quantities, where there is a choice, that are bounded, converted, "1.2 million", "eight", "1,200"."""

ORDINARY = (0.5, 5_000.0)
"""Between these a converted value reads like something people say."""

SHORT = 2
"""Digits that a converted value below 1 may have: 500 GB are 0.5 TB, and nobody writes 512 GB as 0.512 TB."""

NEAR = 0.05
"""Rounding takes no value farther away than this share of it: 1.3 kg are not "about 1 kg"."""

_INVARIANT = frozenset(
    ("hertz", "horsepower", "per cent", "percent", "dozen", "lux", "yen", "yuan", "baht", "rand", "won")
)


@dataclass(frozen=True, slots=True)
class Written:
    """A quantity as it stands in a text.

    Attributes:
        value, high: what the text says, in `unit`; equal unless it says a range.
        comparator: how it bounds the value.
        unit: canonical name.
        digits: significant digits of the number.
        pieces: (text, role) in order; roles are "value", "unit", "comparator", and "" for what is between them.
    """

    value: float
    high: float
    comparator: MentionComparator
    unit: str
    digits: int
    pieces: tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class Form:
    """One way to write a unit: its text for one and for many, and how it joins the number."""

    singular: str
    plural: str
    joins: str  # "space", "glue" or "before"


class Surfaces:
    """Writes quantities in many forms.

    Args:
        units: the known units.
        comparators: comparator -> phrases.
        alternatives: family -> groups of units that people use for one another.
        unwanted: surface forms to leave out.
    """

    def __init__(
        self,
        units: Units,
        comparators: Mapping[str, Sequence[str]],
        alternatives: Mapping[str, Sequence[Sequence[str]]],
        unwanted: Sequence[str],
    ) -> None:
        self._units = units
        self._comparators = comparators
        self._alternatives = alternatives
        self._unwanted = frozenset(unwanted)
        self._forms: dict[str, tuple[Form, ...]] = {}
        self._near: dict[str, list[str]] = {}

    def forms(self, name: str) -> tuple[Form, ...]:
        """The forms of a unit that name it and nothing else; () for the bare number."""
        if name not in self._forms:
            self._forms[name] = tuple(self._make_forms(self._units.get(name))) if name else ()
        return self._forms[name]

    def write(self, value: float, unit: str, dice: Dice, *, convert: bool = True) -> Written:
        """A quantity in a form of the dice's choice; true of the fact that it is made from, up to the rounding.

        Args:
            value: of the fact.
            unit: canonical name.
            dice: chooses unit, comparator ("more than 5" instead of 5.3) and form.
            convert: whether another unit may be chosen.
        """
        written_in, amount = self._choose_unit(value, unit, dice) if convert else (unit, value)
        if amount > 0 and dice.chance(BOUNDED):
            return self._bounded(amount, written_in, dice)
        return self._plain("=", "", amount, written_in, dice)

    def adjective(self, value: float, unit: str) -> Written | None:
        """ "13.3-inch"; None for units that are not written so."""
        forms = (form for form in self.forms(unit) if form.joins == "space" and form.singular != form.plural)
        form = next((form for form in forms if form.singular.isalpha()), None)
        if form is None or value <= 0 or self._units.get(unit).family == "count":
            return None
        text = number_text(value)
        pieces = ((text, "value"), ("-", ""), (form.singular, "unit"))
        return Written(value, value, "=", unit, significant_digits(text), pieces)

    def _choose_unit(self, value: float, unit: str, dice: Dice) -> tuple[str, float]:
        others = self._others(unit)
        if value == 0 or not others or not dice.chance(CONVERTED):
            return unit, value
        alternative = dice.choice(others)
        converted = self._units.convert(value, unit, alternative)
        low, high = ORDINARY
        if not low <= abs(converted) < high:
            return unit, value
        digits = min(4, max(3, significant_digits(number_text(abs(value)))))
        rounded = float(f"{converted:.{digits}g}")
        if abs(rounded) < 1 and significant_digits(number_text(abs(rounded))) > SHORT:
            return unit, value
        return alternative, rounded

    def _others(self, unit: str) -> list[str]:
        if unit not in self._near:
            own = self._units.get(unit)
            groups = [group for group in self._alternatives.get(own.family, ()) if unit in group]
            same = [self._units.get(name) for group in groups for name in group if name != unit]
            self._near[unit] = [alternative.name for alternative in same if alternative.base_unit == own.base_unit]
        return self._near[unit]

    def _bounded(self, value: float, unit: str, dice: Dice) -> Written:
        comparator: MentionComparator = dice.choice(("~", "~", ">", ">", "<", "<", ">=", "<=", "between"))
        text = number_text(value)
        digits = significant_digits(text)
        if digits == 1 or comparator in (">=", "<="):
            # Too round to be rounded: "at least 8 GB" of exactly 8 is true, "more than 8" is not.
            comparator = comparator if comparator in (">=", "<=") else "~"
            return self._plain(comparator, dice.choice(self._comparators[comparator]), value, unit, dice)
        step = Decimal(10) ** (Decimal(text).adjusted() - (1 if digits > 2 else 0))
        low = Decimal(text) // step * step
        high = low + step
        if comparator == "between":
            return self._range(float(low), float(high), unit, dice)
        if comparator == "~":
            rounded = low if Decimal(text) - low <= high - Decimal(text) else high
            if abs(float(rounded) - value) > NEAR * value:
                return self._plain("=", "", value, unit, dice)
            return self._plain(comparator, dice.choice(self._comparators[comparator]), float(rounded), unit, dice)
        edge = low if comparator == ">" else high
        if edge <= 0 or float(edge) == value:
            return self._plain("=", "", value, unit, dice)
        return self._plain(comparator, dice.choice(self._comparators[comparator]), float(edge), unit, dice)

    def _plain(self, comparator: MentionComparator, phrase: str, value: float, unit: str, dice: Dice) -> Written:
        form = self._form(value, unit, dice)
        text, mantissa = self._number(value, unit, form, dice)
        pieces = [(phrase, "comparator"), (" ", "")] if phrase else []
        pieces += _joined(text, value, form)
        return Written(value, value, comparator, unit, significant_digits(mantissa), tuple(pieces))

    def _range(self, low: float, high: float, unit: str, dice: Dice) -> Written:
        template = dice.choice(self._comparators["between"])
        form = self._form(low, unit, dice)
        before, between, _ = template.replace("{high}", "{low}").split("{low}")
        texts = [number_text(low), number_text(high)]
        pieces = [(before, "")] if before else []
        if form is not None and form.joins == "before":
            pieces += [(form.singular, "unit"), (f"{texts[0]}{between}{form.singular}{texts[1]}", "value")]
        else:
            pieces += _joined(f"{texts[0]}{between}{texts[1]}", high, form)
        return Written(low, high, "between", unit, max(map(significant_digits, texts)), tuple(pieces))

    def _form(self, value: float, unit: str, dice: Dice) -> Form | None:
        forms = self.forms(unit)
        if value < 0:
            # "$-5" is nobody's way to write it
            forms = tuple(f for f in forms if f.joins != "before") or forms
        return dice.choice(forms) if forms else None

    def _number(self, value: float, unit: str, form: Form | None, dice: Dice) -> tuple[str, str]:
        """The number, and the part of it whose digits count."""
        plain = number_text(value)
        family = self._units.get(unit).family
        tight = form is not None and form.joins == "glue"
        counted = family in ("count", "currency", "")
        if counted and not tight and abs(value) >= 1_000 and dice.chance(SCALED):
            for size, word, letter in SCALES:
                scaled = Decimal(plain) / size
                if abs(scaled) >= 1 and scaled == round(scaled, 2):
                    mantissa = number_text(float(scaled))
                    return mantissa + (letter if dice.chance(0.4) else word), mantissa
        spelt = form is None or (form.joins == "space" and len(form.plural) > 3)
        if spelt and value == int(value) and 2 <= value <= 12 and dice.chance(SPELT):
            return SMALL[int(value)], plain
        if abs(value) >= 1_000 and dice.chance(GROUPED):
            whole, dot, part = plain.partition(".")
            return f"{int(whole):,}{dot}{part}", plain
        return plain, plain

    def _make_forms(self, unit: Unit) -> list[Form]:
        forms: list[Form] = []
        listed = unit.name in self._units
        for single, many in self._name_pairs(unit, listed)[:2]:
            forms += [Form(single, many, "space")] * 2
        for symbol in [s for s in unit.symbols if self._wanted(s, unit, listed)][:2]:
            if symbol in ("%", "°C", "°F", "″") or not symbol[0].isalpha():
                forms.append(Form(symbol, symbol, "glue"))
            else:
                forms += [Form(symbol, symbol, "space"), Form(symbol, symbol, "glue")]
        for symbol in [s for s in unit.before if self._wanted(s, unit, listed)][:2]:
            forms.append(Form(symbol + " " if symbol.isalpha() else symbol, "", "before"))
        return forms or [Form(unit.name, unit.name if listed else counted_plural(unit.name), "space")]

    def _name_pairs(self, unit: Unit, listed: bool) -> list[tuple[str, str]]:
        if not listed and unit.family == "count":
            return [(unit.name, counted_plural(unit.name))]
        names = [name for name in unit.names if self._wanted(name, unit, listed)]
        pairs, i = [], 0
        while i < len(names):
            paired = i + 1 < len(names) and _is_plural_of(names[i + 1], names[i])
            if paired or names[i] in _INVARIANT or unit.family == "currency":
                pairs.append((names[i], names[i + 1] if paired else names[i]))
            i += 1 + paired
        return pairs

    def _wanted(self, surface: str, unit: Unit, listed: bool) -> bool:
        if surface in self._unwanted:
            return False
        return not listed or self._units.lookup(surface) is unit


@lru_cache(maxsize=65_536)
def number_text(value: float) -> str:
    """The shortest decimal that reads back as `value`, without an exponent.

    >>> number_text(1339.0), number_text(0.00002), number_text(1e6)
    ('1339', '0.00002', '1000000')
    """
    text = f"{Decimal(repr(float(value))):f}"
    return text.rstrip("0").rstrip(".") if "." in text else text


def _joined(number: str, value: float, form: Form | None) -> list[tuple[str, str]]:
    if form is None:
        return [(number, "value")]
    if form.joins == "before":
        symbol = form.singular.rstrip()
        return [(symbol, "unit"), *([(" ", "")] if form.singular != symbol else []), (number, "value")]
    unit = (form.singular if abs(value) == 1 else form.plural, "unit")
    return [(number, "value"), unit] if form.joins == "glue" else [(number, "value"), (" ", ""), unit]


def _is_plural_of(many: str, single: str) -> bool:
    if many in (counted_plural(single), single.replace("foot", "feet")):
        return True
    first, _, rest = single.partition(" ")
    return bool(rest) and many == f"{counted_plural(first)} {rest}"
