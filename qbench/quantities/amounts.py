"""Amounts: each number of a text that may be a quantity, with its unit and sign."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from qbench.quantities.lexicon import FRACTION_MARKS, ONES, TENS
from qbench.quantities.notquantity import excluded_until, is_year
from qbench.quantities.numbers import Number, read_number
from qbench.quantities.tokens import Token, glued
from qbench.quantities.unit_forms import UnitReader
from qbench.quantities.units import Unit, Units

NUMBER_WORDS = frozenset(ONES) | frozenset(TENS) | {"a", "an", "half"}
CALENDAR_YEAR = "calendar year"


@dataclass(frozen=True, slots=True)
class Amount:
    """A number with its unit, at tokens first..last-1.

    Attributes:
        number: as read; its token range is that of the digits or words.
        unit: of the value; the bare number's unit while none is known.
        first, last: token range, unit and sign included.
        unit_span: characters of the unit; None for none.
        low, high: the value, or the ends of a range.
        is_range: whether it has two ends.
        falling: whether the text names the upper end first.
        how: the rules that made it, in order, for `explain`.
    """

    number: Number
    unit: Unit
    first: int
    last: int
    unit_span: tuple[int, int] | None
    low: float
    high: float
    is_range: bool = False
    falling: bool = False
    how: tuple[str, ...] = ()

    @property
    def bare(self) -> bool:
        """Whether it has no unit of its own."""
        return not self.unit.name

    @property
    def year(self) -> bool:
        """Whether it is taken for a calendar year."""
        return self.unit.name == CALENDAR_YEAR


class AmountFinder:
    """Finds the amounts of a text. Holds no state between calls.

    Args:
        units: the known units.
    """

    def __init__(self, units: Units) -> None:
        self.units = units
        self._forms = UnitReader(units)

    def find(self, tokens: Sequence[Token], text: str) -> list[Amount]:
        """The amounts in order, years among them, noun units not yet looked for.

        A bare "one" or "half" is among them too: only the words around it tell whether it counts something.
        """
        amounts: list[Amount] = []
        i = 0
        while i < len(tokens):
            token = tokens[i]
            if token.kind != "number" and token.low not in NUMBER_WORDS and token.text not in FRACTION_MARKS:
                i += 1
                continue
            currency = self._forms.before(tokens, text, i)
            number = read_number(tokens, i, money=currency is not None)
            if number is None:
                i += 1
                continue
            amount, i = self._amount(tokens, text, number, currency)
            if amount is not None:
                amounts.append(amount)
        return amounts

    def _amount(
        self, tokens: Sequence[Token], text: str, number: Number, currency: tuple[Unit, int] | None
    ) -> tuple[Amount | None, int]:
        """The amount at a number, or None for what is no quantity; and where to go on."""
        if currency is None:
            if (end := excluded_until(tokens, number)) is not None:
                return None, end
        unit, last, span = self._forms.after(tokens, text, number)
        how = ["words" if number.written else "digits"] + (["magnitude"] if number.scaled else [])
        if unit is not None:
            how.append("unit after")
        if currency is not None:
            start, end = tokens[currency[1]].start, tokens[number.first - 1].end
            if unit is None or unit.family != "currency":
                unit, last, span = currency[0], number.last, (start, end)
                how.append("unit before")
        if unit is None and _runs_on(tokens, number):
            return None, number.last + 1
        if unit is None and _asks_age(tokens, number.first):
            unit = self.units.get("year of age")
            how.append("age")
        if unit is None and is_year(tokens, number) and not self._starts_range(tokens, text, number):
            unit = self.units.get(CALENDAR_YEAR)
            how.append("year")
        if unit is not None:
            unit, last, span = self._forms.compound(tokens, text, unit, last, span)
        first = number.first if currency is None else currency[1]
        value = _signed(tokens, first, number.value)
        if value < 0 < number.value:
            first -= 1
            how.append("minus")
        return Amount(number, unit or self.units.get(""), first, last, span, value, value, how=tuple(how)), last

    def _starts_range(self, tokens: Sequence[Token], text: str, number: Number) -> bool:
        """Whether the number opens a range that has a unit: the 2000 of "2000 to 3000 tonnes" is no year."""
        k = number.last
        if k + 1 >= len(tokens) or tokens[k].low not in ("to", "and", "-", "–") or tokens[k + 1].kind != "number":
            return False
        other = read_number(tokens, k + 1)
        return other is not None and self._forms.after(tokens, text, other)[0] is not None


def has_number(tokens: Sequence[Token]) -> bool:
    """Whether a number may start at any of the tokens."""
    return any(t.kind == "number" or t.low in NUMBER_WORDS or t.text in FRACTION_MARKS for t in tokens)


def _asks_age(tokens: Sequence[Token], first: int) -> bool:
    """Whether a bare number is an age by the word before it: "aged 26", "an age of 26", "an age less than 26"."""
    words = [t.low for t in tokens[max(0, first - 4) : first]]
    while words and words[-1] in _AGE_BRIDGE:
        words.pop()
    return bool(words) and words[-1] in ("age", "aged", "ages")


_AGE_BRIDGE = frozenset(
    "of is was under over above below than less more greater older younger between and from to least at".split()
)


def _runs_on(tokens: Sequence[Token], number: Number) -> bool:
    """Whether letters that are neither unit nor magnitude are glued to the number: "3D", "6MARKETING"."""
    k = number.last
    return not number.written and k < len(tokens) and tokens[k].kind == "word" and glued(tokens[k - 1], tokens[k])


def _signed(tokens: Sequence[Token], first: int, value: float) -> float:
    """The value, negative if a minus sign of its own stands before it."""
    if not first:
        return value
    sign = tokens[first - 1]
    if sign.low in ("minus", "negative"):
        return -value
    if sign.text not in ("-", "−", "–") or not glued(sign, tokens[first]):
        return value
    before = tokens[first - 2] if first > 1 else None
    free = before is None or not glued(before, sign) or before.text in "(=,:[<>"
    return -value if free else value
