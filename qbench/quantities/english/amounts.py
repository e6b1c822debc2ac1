"""Amounts: each number of a text that may be a quantity, with its unit and sign."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from qbench.quantities.english.ages import is_age, is_time_of_life, of_cohort
from qbench.quantities.english.ambiguity import resolve, scaled
from qbench.quantities.english.dates import is_earlier, is_year, names_a_year
from qbench.quantities.english.lexicon import FRACTION_MARKS, FUNCTION_WORDS
from qbench.quantities.english.names import names_model
from qbench.quantities.english.notquantity import excluded_until
from qbench.quantities.english.numbers import MINUSES, Number, bracketed, read_number, with_late_scale
from qbench.quantities.english.p_values import P_VALUE, p_value_name
from qbench.quantities.english.page_marks import is_between_dashes
from qbench.quantities.english.signs import is_negative, sign_length
from qbench.quantities.english.tokens import HYPHENS, Token, glued, past_brackets
from qbench.quantities.english.unit_forms import UnitReader
from qbench.quantities.english.written import STARTERS, and_fraction, is_part, of_a
from qbench.quantities.types import Span
from qbench.quantities.units import Unit, Units

SHORTEST = 2
"""Letters of a unit behind brackets, "2.8 (10.7) days": one may be anything."""
CALENDAR_YEAR = "calendar year"
AGES = {period: f"{period} of age" for period in ("year", "month", "week", "day")}
"""The unit of age for each unit of time that ages are given in."""
TIMES = frozenset("x×X*")
"""What joins the sides of a thing, or how many there are of it to its size."""
SIDES = frozenset({"length", "image"})
"""Families of which each number of "9x13" takes the unit; of others the first number counts: "2x8 GB"."""
MEASURED = frozenset({"time", "length", "mass", "volume"})
"""Families of units of which there may be "a mile and a half"."""
_PARTED = MEASURED | {"ratio", "ratio difference"}
"""Families of units of which there may be "an eighth of a percent"."""
_RESTATED = frozenset({"length", "mass", "volume"})
"""Families of units in which a size is stated twice: "500ml/17oz"."""
_ROUNDED = 0.1
"""How far the two may be from one another, as a share."""
SMALLEST, LARGEST = 200, 20_000
"""Pixels on the sides of a screen."""


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
    how: tuple[str, ...] = ()

    @property
    def bare(self) -> bool:
        """Whether it has no unit of its own, and may get one."""
        return not self.unit.name and not self.p_value

    @property
    def p_value(self) -> bool:
        """Whether it is the p-value of a test."""
        return self.how[-1:] == (P_VALUE,)

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
            if (
                token.kind != "number"
                and token.low not in STARTERS
                and token.low not in _OFTEN
                and token.text not in FRACTION_MARKS
            ):
                i += 1
                continue
            if (sides := self._dimensions(tokens, text, i)) is not None:
                amounts += sides
                i = sides[-1].last
                continue
            if (often := self._often(tokens, text, i)) is not None:
                amounts.append(often)
                i = often.last
                continue
            if (more := self._and_a_half(tokens, text, i)) is not None:
                amounts.append(more)
                i = more.last
                continue
            currency, times = self._currency(tokens, text, i), 1.0
            if currency is None and i and (thousands := self.forms.scaled_code(tokens[i - 1])) is not None:
                currency, times = (thousands[0], i - 1), thousands[1]
            currency = currency or self._outside(tokens, text, i)
            money = currency is not None or _ends_range_of_money(tokens, i, amounts)
            number = read_number(tokens, i, money=money)
            if number is None:
                i += 1
                continue
            number = bracketed(tokens, number, money=money)
            if currency is None:
                number = scaled(tokens, _kelvin(tokens, number))
            elif times != 1.0 and not number.scaled:
                number = number.times(times, number.last)
            goes_on = bool(amounts) and amounts[-1].last == i - 1 and self._goes_on(tokens, text, number, amounts[-1])
            if amounts and amounts[-1].last == i and tokens[i - 1].kind == "word":  # the symbol of "100 µF 16 V"
                goes_on = goes_on or not tokens[i - 1].text.islower()
            amount, i = self._amount(tokens, text, number, currency, goes_on=goes_on)
            if amount is not None:
                amounts.append(amount)
                self._lend_rate(tokens, text, amounts)
                i = max(i, amounts[-1].last)
        return amounts

    def _goes_on(self, tokens: Sequence[Token], text: str, number: Number, before: Amount) -> bool:
        """Whether a mark joins a number to the amount before it: "5 kg-10 kg", "4GB/64GB", "1.5L/50oz"."""
        joint = tokens[max(0, number.first - 1)]
        if is_between_dashes(tokens, number.first, number.last):
            return False
        if joint.text != "/" or before.unit.family == "data":
            return joint.text == "/" or joint.text in HYPHENS
        unit, _, span = self.forms.after(tokens, text, number)
        if unit is None or span is None or before.unit_span is None or unit.name == before.unit.name:
            return False
        a, family = self._size(before.low, before.unit, unit)
        b, other = self._size(number.value, unit, before.unit)
        return family == other and family in _RESTATED and abs(a - b) <= _ROUNDED * max(a, b)  # not "5 mg/10 kg"

    def _size(self, value: float, unit: Unit, beside: Unit) -> tuple[float, str]:
        """A value in the base unit, and its family; ounces beside a volume are fluid ounces."""
        if unit.name == "ounce" and beside.family == "volume":
            unit = self.units.get("fluid ounce")
        return self.units.to_base(value, unit.name), unit.family

    def _lend_rate(self, tokens: Sequence[Token], text: str, amounts: list[Amount]) -> None:
        """ "C$6 (US$4.46) per share", "$900-1,100 per month": both amounts of money are per share, per month."""
        if len(amounts) < 2 or amounts[-2].unit.family != "currency":
            return
        a, b = amounts[-2:]
        gap = [t.low for t in tokens[a.last : b.first]]
        if b.bare and gap in _TO_MORE and a.first < a.number.first:
            unit, last, span = self.forms.compound(tokens, text, a.unit, b.last, None)
            if unit.family != "currency":
                amounts[-1] = replace(b, unit=unit, last=last, unit_span=span, how=(*b.how, "rate"))
            return
        if b.unit.family != "currency":
            return
        if (
            b.last + 1 >= len(tokens)
            or tokens[b.last].text != ")"
            or [t.text for t in tokens[a.last : b.first]] != ["("]
        ):
            return
        lent = [self.forms.compound(tokens, text, amount.unit, b.last + 1, amount.unit_span)[0] for amount in (a, b)]
        if all(unit.family != "currency" for unit in lent):
            amounts[-2:] = [replace(x, unit=u, how=(*x.how, "rate")) for x, u in zip((a, b), lent, strict=True)]

    def _often(self, tokens: Sequence[Token], text: str, i: int) -> Amount | None:
        """ "twice daily", "once a week": so many times in a day, in a week; "once-daily" is a kind of pill."""
        if tokens[i].low not in _OFTEN or i + 1 >= len(tokens) or tokens[i + 1].text in HYPHENS:
            return None
        value = _OFTEN[tokens[i].low]
        unit, last, span = self.forms.compound(tokens, text, self.units.get("count"), i + 1, None)
        if not unit.name.startswith("count per "):
            return None
        number = Number(value, value, i, i + 1, 1, written=True, rule="words")
        return Amount(number, unit, i, last, span, value, value, how=("words", OFTEN))

    def _and_a_half(self, tokens: Sequence[Token], text: str, i: int) -> Amount | None:
        """ "an hour and a half", "a mile and a quarter": one unit, and a part of one."""
        if tokens[i].low not in ("a", "an") or i + 1 >= len(tokens):
            return None
        unit, last, span = self.forms.after(tokens, text, Number(1.0, 1.0, i, i + 1, 1, written=True))
        part = and_fraction(tokens, last) if unit is not None and last < len(tokens) else None
        if unit is None or part is None or unit.family not in MEASURED:
            return None
        value = 1 + part[0]
        number = Number(value, value, i, part[1], 2, written=True, rule="fraction")
        return Amount(number, unit, i, part[1], span, value, value, how=("fraction", "unit after"))

    def _dimensions(self, tokens: Sequence[Token], text: str, i: int) -> list[Amount] | None:
        """The amounts of "9x13-inch", "1920x1080", "2x8 GB": numbers that an x joins without a space."""
        numbers, k = [], i
        if i + 2 >= len(tokens) or tokens[i + 1].text not in TIMES:
            return None
        if i and glued(tokens[i - 1], tokens[i]) and tokens[i - 1].text != "(":
            return None
        while k < len(tokens) and tokens[k].kind == "number" and (number := read_number(tokens, k)) is not None:
            numbers.append(number)
            k = number.last
            joint = tokens[k] if k + 1 < len(tokens) else None
            if (
                joint is None
                or joint.text not in TIMES
                or not (glued(tokens[k - 1], joint) and glued(joint, tokens[k + 1]))
            ):
                break
            k += 1
        if len(numbers) < 2 or any(n.last - n.first > 1 or not n.value for n in numbers):
            return None
        unit, last, span = self.forms.after(tokens, text, numbers[-1])
        pixels = len(numbers) == 2 and all(n.value.is_integer() and SMALLEST <= n.value <= LARGEST for n in numbers)
        if unit is None and pixels:
            unit = self.units.get("pixel")
        if unit is None or (len(numbers) > 2 and unit.family != "length"):
            return None
        alike = unit.family in SIDES
        units = [unit if alike or n is numbers[-1] else self.units.get("") for n in numbers]
        spans = [span if u is unit else None for u in units]
        ends = [*(n.last + 1 for n in numbers[:-1]), last]
        return [
            Amount(n, u, n.first, end, where, n.value, n.value, how=("digits", "dimensions"))
            for n, u, end, where in zip(numbers, units, ends, spans, strict=True)
        ]

    def _currency(self, tokens: Sequence[Token], text: str, i: int) -> tuple[Unit, int] | None:
        """A currency before token i, a sign between them or not ("$-50.8bn"), and the token at which it starts."""
        currency = self.forms.before(tokens, text, i)
        if currency is None and i > 3 and (tokens[i - 3].text, tokens[i - 1].text) in _FRAMES:
            framed = self.forms.before(tokens, text, i - 1)  # "( EUR ) 35 million", "& euro ; 35 million"
            return (framed[0], i - 3) if framed is not None and framed[1] == i - 2 else None
        if currency is None and i > 1 and tokens[i - 1].text in "-−" and glued(tokens[i - 1], tokens[i]):
            near = glued(tokens[i - 2], tokens[i - 1])
            if tokens[i - 2].kind == "mark" if near else tokens[i - 2].text.isupper() or tokens[i - 2].text in "$€£":
                return self.forms.before(tokens, text, i - 1)
        return currency

    def _outside(self, tokens: Sequence[Token], text: str, i: int) -> tuple[Unit, int] | None:
        """A currency before the bracket that opens at token i - 1, "$(1,245)", and the token at which it starts."""
        opens = i > 1 and tokens[i - 1].text == "(" and glued(tokens[i - 1], tokens[i])
        currency = self.forms.before(tokens, text, i - 1) if opens else None
        return currency if currency is not None and tokens[currency[1]].kind == "mark" else None

    def _amount(
        self, tokens: Sequence[Token], text: str, number: Number, currency: tuple[Unit, int] | None, *, goes_on: bool
    ) -> tuple[Amount | None, int]:
        """The amount at a number, or None for what is no quantity; and where to go on.

        Args:
            goes_on: it follows the unit of the amount before it, or a hyphen joins the two: "5 kg-10 kg".
        """
        if tokens[number.first].text == "000":
            return None, number.last  # "in $000's": the scale of a table
        if currency is None and not goes_on:
            if of_cohort(tokens, number):
                return self._of_age(tokens, number), number.last + 1
            if (end := excluded_until(tokens, number)) is not None:
                return None, end
        if currency is None and p_value_name(tokens, number):
            low, first, last = number.value, number.first, number.last
            return Amount(number, self.units.get(""), first, last, None, low, low, how=(number.rule, P_VALUE)), last
        number, unit, last, span = self._unit_after(tokens, text, number)
        how = [number.rule] + (["magnitude"] if number.scaled else [])
        if unit is not None:
            how.append("unit after")
        else:
            last = number.last
        if currency is not None:
            start, end = tokens[currency[1]].start, tokens[number.first - 1].end
            signed = unit is not None and not unit.name.endswith(("dollar", "peso", "real", currency[0].name))
            if unit is None or unit.family != "currency" or (signed and tokens[number.first - 1].text in "$€£"):
                unit, last, span = currency[0], number.last, (start, end)
                how.append("unit before")
        if unit is None:
            runs_on = _runs_on(tokens, number) and self.forms.per(tokens, text, number.last) is None  # not "12s−1"
            if runs_on or _is_fragment(tokens, number):
                return None, max(number.last, number.first + 1) + runs_on
            if self._is_exponent(tokens, number) or (not goes_on and names_model(tokens, number)):
                return None, number.last
            unit, rule = self._without_unit(tokens, text, number)
            how += [rule] if rule else []
        if unit is not None and unit.name != CALENDAR_YEAR:
            unit, last, span = self._with_denominators(tokens, text, unit, last, span)
            rate = self._rate_behind(tokens, text, unit, last)
            how += ["rate"] if rate is not unit else []
            unit = rate
            if unit.name in AGES and is_time_of_life(tokens, number, last):
                unit = self.units.get(AGES[unit.name])
                how.append("age")
        first = number.first if currency is None else currency[1]
        high = number.value if number.high is None else number.high
        amount = Amount(
            number, unit or self.units.get(""), first, last, span, number.value, high, number.high is not None
        )
        return _signed(tokens, replace(amount, how=tuple(how))), last

    def _rate_behind(self, tokens: Sequence[Token], text: str, unit: Unit, last: int) -> Unit:
        """The unit of "$2 or more per share", "2 tonnes of pulp a year": words stand between it and its rate."""
        unit = self.forms.in_a_period(tokens, text, unit, last)
        closes = [t.low for t in tokens[last : last + 2]]
        if unit.family != "currency" or closes[:1] != ["or"] or closes[-1] not in _CLOSING:
            return unit
        return self.forms.compound(tokens, text, unit, last + 2, None)[0]

    def _of_age(self, tokens: Sequence[Token], number: Number) -> Amount:
        """The 5 of "under-5s", with the characters of its "s" for a unit."""
        unit, value = self.units.get("year of age"), number.value
        span = tokens[number.last].start, tokens[number.last].end
        return Amount(number, unit, number.first, number.last + 1, span, value, value, how=(number.rule, "age"))

    def _unit_after(
        self, tokens: Sequence[Token], text: str, number: Number
    ) -> tuple[Number, Unit | None, int, tuple[int, int] | None]:
        """The unit after a number, with the number: magnitudes may follow a currency ("75 USD million", "30 MEUR")."""
        unit, last, span = self.forms.after(tokens, text, _before_of(tokens, number))
        if unit is None and (behind := _behind_brackets(tokens, number)) is not None:
            unit, end, span = self.forms.after(tokens, text, replace(number, last=behind))
            if unit is None or unit.family == "count" or span is None or span[1] - span[0] < SHORTEST:
                return number, None, number.last, None
            unit, _, span = self.forms.compound(tokens, text, unit, end, span)
            return number, unit, number.last, span
        if unit is None and number.last < len(tokens) and not number.scaled:
            if (thousands := self.forms.scaled_code(tokens[number.last])) is not None:
                unit, last = thousands[0], number.last + 1
                span = (tokens[number.last].start, tokens[number.last].end)
                number = number.times(thousands[1], number.last)
        if unit is not None and _is_heading(tokens, number, unit, last):
            unit, span = None, None
        if unit is None and 0 < number.value < 1 and (of := of_a(tokens, number.last)):
            unit, last, span = self.forms.after(tokens, text, replace(number, last=number.last + of))
            if unit is None or _is_whole(unit) or span is None or span[1] - span[0] < SHORTEST:
                return number, None, number.last, None
        if unit is not None and unit.family == "currency" and not number.scaled:
            number, last = with_late_scale(tokens, number, last)
        return number, unit, last, span

    def _with_denominators(
        self, tokens: Sequence[Token], text: str, unit: Unit, last: int, span: Span | None
    ) -> tuple[Unit, int, Span | None]:
        """The unit as a compound, also behind the plus of "£9+ an hour"."""
        if unit.family == "currency" and last < len(tokens) and tokens[last].text == "+":
            paid = self.forms.compound(tokens, text, unit, last + 1, span)
            if paid[0] != unit:
                return paid
        return self.forms.compound(tokens, text, unit, last, span)

    def _without_unit(self, tokens: Sequence[Token], text: str, number: Number) -> tuple[Unit | None, str]:
        """The unit of a number that has none beside it: an age, a multiple, a calendar year; and the rule's name."""
        if number.rule == "fold":
            return self.units.get("count"), ""
        if is_age(tokens, number) and not self._starts_range(tokens, text, number):
            return self.units.get("year of age"), "age"
        if is_year(tokens, number) and not self._starts_range(tokens, text, number):
            if not self.forms.is_rate(tokens, text, number):
                return self.units.get(CALENDAR_YEAR), "year"
        return None, ""

    def _starts_range(self, tokens: Sequence[Token], text: str, number: Number) -> bool:
        """Whether the number opens a range that has a unit: the 2000 of "2000 to 3000 tonnes" is no year."""
        k = number.last
        if k + 1 >= len(tokens) or tokens[k].low not in ("to", "and", "-", "–") or tokens[k + 1].kind != "number":
            return False
        before = tokens[number.first - 1].low if number.first else ""
        if before == "of" and tokens[number.first - 2].low in _PERIODS:
            return False  # "in the second quarter of 2007 to 5 million"
        if before in ("in", "since", "during", ",") or (tokens[k].low == "and" and before != "between"):
            return False  # "53% in 1978 and 55% in 1984"
        other = read_number(tokens, k + 1)
        if other is None or (other.scaled and tokens[k].low == "to"):
            return False  # "fell in calendar 1986 to 15 billion dollars"
        return self.forms.after(tokens, text, other)[0] is not None

    def _is_exponent(self, tokens: Sequence[Token], number: Number) -> bool:
        """Whether a number is what is left of a unit's negative power: the 1 of "12 counts s −1"."""
        k = number.first - 1
        if k < 1 or number.value not in (1, 2, 3) or number.written or tokens[k].text not in MINUSES:
            return False
        unit = self.units.symbol(tokens[k - 1].text)
        if tokens[k].text == "−":
            unit = unit or self.units.named(tokens[k - 1].low)  # no hyphen, as in "6-foot-2"
        return unit is not None and glued(tokens[k], tokens[k + 1])


_CLOSING = frozenset("more less higher lower fewer above below over under".split())
_PERIODS = frozenset("quarter quarters half months month period".split())
OFTEN = "how often"
"""The rule's name of "twice daily" in `Amount.how`."""
_OFTEN = {"once": 1.0, "twice": 2.0, "thrice": 3.0}
_TO_MORE = (["-"], ["–"], ["to"])
"""What joins the ends of a range of money."""
_FRAMES = {("(", ")"), ("&", ";")}
"""The marks around a currency that some texts leave there."""


def _is_whole(unit: Unit) -> bool:
    """Whether there is no part of a unit: "a third of a ship"."""
    return unit.family not in _PARTED and unit.name != "point"


def _behind_brackets(tokens: Sequence[Token], number: Number) -> int | None:
    """The token at which the unit of a number may stand, behind brackets or a plus: both of "2.8 (10.7) days"."""
    first, last = number.first, number.last
    if first > 1 and last + 1 < len(tokens) and tokens[first - 1].text in "([" and tokens[last].text in ")]":
        return last + 1 if tokens[first - 2].kind == "number" and not glued(tokens[last], tokens[last + 1]) else None
    if last + 1 < len(tokens) and tokens[last].text == "+" and glued(tokens[last - 1], tokens[last]):
        return None if glued(tokens[last], tokens[last + 1]) else last + 1  # "80+ km"
    return past_brackets(tokens, last)


def _ends_range_of_money(tokens: Sequence[Token], i: int, amounts: Sequence[Amount]) -> bool:
    """Whether the number at token i ends a range whose first number has the currency: the 70 of "€50-70m"."""
    if not amounts or amounts[-1].last != i - 1 or tokens[i - 1].text not in HYPHENS:
        return False
    before = amounts[-1]
    return before.unit.family == "currency" and before.first < before.number.first and glued(tokens[i - 1], tokens[i])


def _kelvin(tokens: Sequence[Token], number: Number) -> Number:
    """The number without the magnitude of its "K" where the words around make it kelvin: "573.15K, not 300 °C"."""
    k = number.last - 1
    if not number.scaled or tokens[k].text != "K" or number.written:
        return number
    sense = resolve("K", tokens, k, k + 1)
    if sense is None or not sense.cued or sense.unit != "kelvin":
        return number
    return replace(number, value=number.mantissa, last=k, magnitude=1.0)


def _signed(tokens: Sequence[Token], amount: Amount) -> Amount:
    """The amount with the minus before it, or with that of the brackets around it."""
    first = amount.first
    if not (amount.number.bracketed or is_negative(tokens, first, amount.number.first)):
        return amount
    how = (*amount.how, "minus")
    return replace(amount, low=-amount.high, high=-amount.low, first=first - sign_length(tokens, first), how=how)


def _is_heading(tokens: Sequence[Token], number: Number, unit: Unit, last: int) -> bool:
    """Whether the word after a number is no unit of it: "5.6 mln year earlier", "its 1986 year", "the 1985 share".

    A singular after such a number belongs to something else than the number.
    """
    word = tokens[last - 1]
    if word.low == "real" and last - number.last == 1 and last < len(tokens) and tokens[last].kind == "word":
        return tokens[last].low not in FUNCTION_WORDS  # "2009 Real Weddings"
    if unit.family not in ("time", "count") or last - number.last != 1 or glued(tokens[last - 2], word):
        return False
    if len(word.text) < 3 or (word.low != unit.name and word.low not in ("shr", "qtr")):
        return False
    return is_earlier(tokens, number, last) or (not number.scaled and names_a_year(tokens, number.first))


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
