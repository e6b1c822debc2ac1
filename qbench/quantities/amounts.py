"""Amounts: each number of a text that may be a quantity, with its unit and sign."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from qbench.quantities.ambiguity import scaled
from qbench.quantities.dates import is_month, is_year
from qbench.quantities.lexicon import FRACTION_MARKS, FUNCTION_WORDS, VERBS
from qbench.quantities.notquantity import excluded_until
from qbench.quantities.numbers import MINUSES, Number, read_number
from qbench.quantities.tokens import Token, glued
from qbench.quantities.unit_forms import UnitReader
from qbench.quantities.units import Unit, Units
from qbench.quantities.written import STARTERS, is_part

NUMBER_WORDS = STARTERS
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
        self.forms = UnitReader(units)

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
            currency = self._currency(tokens, text, i)
            number = read_number(tokens, i, money=currency is not None)
            if number is None:
                i += 1
                continue
            if currency is None:
                number = scaled(tokens, number)
            amount, i = self._amount(tokens, text, number, currency)
            if amount is not None:
                amounts.append(amount)
        return amounts

    def _currency(self, tokens: Sequence[Token], text: str, i: int) -> tuple[Unit, int] | None:
        """A currency before token i, a sign between them or not ("$-50.8bn"), and the token at which it starts."""
        currency = self.forms.before(tokens, text, i)
        if currency is None and i > 1 and tokens[i - 1].text in "-−" and glued(tokens[i - 1], tokens[i]):
            if glued(tokens[i - 2], tokens[i - 1]) and tokens[i - 2].kind == "mark":
                return self.forms.before(tokens, text, i - 1)
        return currency

    def _amount(
        self, tokens: Sequence[Token], text: str, number: Number, currency: tuple[Unit, int] | None
    ) -> tuple[Amount | None, int]:
        """The amount at a number, or None for what is no quantity; and where to go on."""
        if currency is None:
            if (end := excluded_until(tokens, number)) is not None:
                return None, end
        unit, last, span = self.forms.after(tokens, text, _before_of(tokens, number))
        how = [number.rule] + (["magnitude"] if number.scaled else [])
        if unit is not None:
            how.append("unit after")
        else:
            last = number.last
        if currency is not None:
            start, end = tokens[currency[1]].start, tokens[number.first - 1].end
            if unit is None or unit.family != "currency":
                unit, last, span = currency[0], number.last, (start, end)
                how.append("unit before")
        if unit is None:
            if _runs_on(tokens, number) or _is_fragment(tokens, number):
                return None, max(number.last, number.first + 1) + _runs_on(tokens, number)
            unit, rule = self._without_unit(tokens, text, number)
            how += [rule] if rule else []
        if unit is not None:
            unit, last, span = self.forms.compound(tokens, text, unit, last, span)
        first = number.first if currency is None else currency[1]
        low, high = number.value, number.high or number.value
        if _is_negative(tokens, first, number.first):
            low, high = -high, -low
            first -= _sign_length(tokens, first)
            how.append("minus")
        is_range = number.high is not None
        unit = unit or self.units.get("")
        return Amount(number, unit, first, last, span, low, high, is_range=is_range, how=tuple(how)), last

    def _without_unit(self, tokens: Sequence[Token], text: str, number: Number) -> tuple[Unit | None, str]:
        """The unit of a number that has none beside it: an age, a multiple, a calendar year; and the rule's name."""
        if number.rule == "fold":
            return self.units.get("count"), ""
        if _asks_age(tokens, number.first) or _age_after_name(tokens, number):
            return self.units.get("year of age"), "age"
        if is_year(tokens, number) and not self._starts_range(tokens, text, number):
            return self.units.get(CALENDAR_YEAR), "year"
        return None, ""

    def _starts_range(self, tokens: Sequence[Token], text: str, number: Number) -> bool:
        """Whether the number opens a range that has a unit: the 2000 of "2000 to 3000 tonnes" is no year."""
        k = number.last
        if k + 1 >= len(tokens) or tokens[k].low not in ("to", "and", "-", "–") or tokens[k + 1].kind != "number":
            return False
        other = read_number(tokens, k + 1)
        return other is not None and self.forms.after(tokens, text, other)[0] is not None


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


def _before_of(tokens: Sequence[Token], number: Number) -> Number:
    """The number with an "of" after it where units stand behind that: "thousands of dollars", "a couple of miles"."""
    if number.rule not in ("indefinite plural", "couple") or number.last >= len(tokens):
        return number
    return replace(number, last=number.last + 1) if tokens[number.last].low == "of" else number


def _is_fragment(tokens: Sequence[Token], number: Number) -> bool:
    """Whether a number without a unit is no number: the 05 of a code, "half" of nothing that is named."""
    text = tokens[number.first].text
    if text == "half" or text == "Half":
        alone = number.last == number.first + 1 or tokens[number.last - 1].low in ("a", "an")
        return alone and not is_part(tokens, number.first)
    return len(text) > 1 and text[0] == "0" and text.isdecimal()


def _age_after_name(tokens: Sequence[Token], number: Number) -> bool:
    """Whether a number between commas after a name is an age: "Marta Ruiz, 65, now runs it"."""
    first, last = number.first, number.last
    if number.written or number.scaled or first < 2 or last + 1 >= len(tokens) or not 1 <= number.value < 120:
        return False
    name, following = tokens[first - 2], tokens[last + 1]
    if tokens[first - 1].text != "," or tokens[last].text not in ",." or not tokens[first].text.isdecimal():
        return False
    if name.kind != "word" or not name.text.istitle() or len(name.text) < 2 or is_month(name):
        return False
    if name.low in FUNCTION_WORDS or name.low in VERBS or name.low in _WEEKDAYS:
        return False
    return tokens[last].text == "," and following.kind == "word" and not is_month(following)


_WEEKDAYS = frozenset("monday tuesday wednesday thursday friday saturday sunday however first second".split())


def _is_negative(tokens: Sequence[Token], first: int, number: int) -> bool:
    """Whether a minus sign of its own stands before the amount, or between its currency and its number."""
    if number > first and tokens[number - 1].text in MINUSES:
        return True
    if not first:
        return False
    sign = tokens[first - 1]
    if sign.low in ("minus", "negative"):
        before = tokens[first - 2] if first > 1 else None
        return before is None or not (before.kind == "number" or before.low in ("or", "/", "-"))
    if sign.text not in MINUSES or not glued(sign, tokens[first]):
        return False
    before = tokens[first - 2] if first > 1 else None
    if before is not None and before.low in ("minus", "negative"):
        return True
    return before is None or not glued(before, sign) or before.text in "(=,:[<>"


def _sign_length(tokens: Sequence[Token], first: int) -> int:
    """How many tokens before the amount are its sign: one, two for "minus-130", none within "$-5"."""
    if not first:
        return 0
    sign = tokens[first - 1]
    if sign.text in MINUSES and first > 1 and tokens[first - 2].low in ("minus", "negative"):
        return 2
    return int(sign.text in MINUSES or sign.low in ("minus", "negative"))
