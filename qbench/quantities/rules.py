"""The default extractor: numbers, units, bounds and concepts by rules over tokens.

One pass finds amounts (a number with its unit), a second joins ranges, a third reads the words around each
(*Numbers Matter* section 3.1: value, unit, condition and concept). Linear in the length of the text.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from qbench.quantities.concepts import find_concept, spans_of, words_of
from qbench.quantities.lexicon import (
    BOUNDS_AFTER,
    BOUNDS_BEFORE,
    CHANGE_VERBS,
    DATE_ONLY_BOUNDS,
    FRACTION_MARKS,
    FUNCTION_WORDS,
    ONES,
    SCALES,
    TENS,
    VERBS,
)
from qbench.quantities.notquantity import excluded_until, is_year
from qbench.quantities.numbers import Number, read_number
from qbench.quantities.tokens import Token, glued, tokenize
from qbench.quantities.types import Bound, Quantity
from qbench.quantities.units import Unit, Units, fold, singular

NUMBER_WORDS = frozenset(ONES) | frozenset(TENS) | {"a", "an", "half"}
_HAS_NUMBER = re.compile(
    r"\d|[½⅓⅔¼¾⅕⅖⅗⅘⅙⅛⅜⅝⅞]|\b(?:"
    + "|".join(sorted((set(ONES) | set(TENS) | set(SCALES) | {"half", "third"}), key=len))
    + r")",
    re.IGNORECASE,
)
LONGEST_UNIT = 7
PER_WORDS = frozenset({"per", "a", "an", "each", "every"})
PER_ADJECTIVES = frozenset(["diluted", "basic", "common", "ordinary", "class", "average", "weighted"])
A_DENOMINATORS = frozenset(
    (
        "share barrel ounce pound ton tonne gallon bushel head person unit second minute hour day week month "
        "year night piece litre kilo kilogram mile"
    ).split()
)
RISKY_SYMBOLS = frozenset(
    ("t A C F K J N T p d b in bar cal ct pc ha mi mp min ms PS kn kt ly bp MP cf Cal l kb Kb Mb Gb L dl gr").split()
)
"""Symbols that also are words or letters: taken only glued to the number, or where nothing speaks against them."""
NEVER_SPACED = frozenset({"p", "d", "b", "T", "F", "C", "t", "bp", "pc", "ly", "in", "J"})


@dataclass(frozen=True, slots=True)
class Amount:
    """A number with its unit, at tokens first..last-1; `bare` marks one whose unit may come from a neighbour."""

    number: Number
    unit: Unit
    first: int
    last: int
    unit_span: tuple[int, int] | None
    low: float
    high: float
    is_range: bool = False

    @property
    def bare(self) -> bool:
        """Whether it has no unit of its own."""
        return not self.unit.name


class RulesExtractor:
    """Rules over tokens; see the module. Holds no state between calls.

    Args:
        units: the known units.
        years: report calendar years too.
    """

    name = "rules"

    def __init__(self, units: Units, *, years: bool = False) -> None:
        self.units = units
        self.years = years
        self._first_words = frozenset(
            tokens[0].low if tokens[0].kind == "word" else tokens[0].text
            for surface in units.surfaces()
            if (tokens := tokenize(surface))
        )

    def extract(self, text: str) -> list[Quantity]:
        """The mentions in `text`, in order; spans index into `text`."""
        if not _HAS_NUMBER.search(text):
            return []
        tokens = tokenize(text)
        return self.describe(tokens, _join_ranges(tokens, self._amounts(tokens, text)))

    def describe(self, tokens: Sequence[Token], amounts: Sequence[Amount]) -> list[Quantity]:
        """Read bound and concept of each amount from the words around it."""
        bounds = [_bound(tokens, amount) for amount in amounts]
        taken = [False] * len(tokens)
        for _, first, last in bounds:
            taken[first:last] = [True] * (last - first)
        return [self._quantity(tokens, amount, bound, taken) for amount, bound in zip(amounts, bounds, strict=True)]

    def _amounts(self, tokens: Sequence[Token], text: str) -> list[Amount]:
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
        unit, last, span = self._unit_after(tokens, text, number)
        if currency is not None:
            start, end = tokens[currency[1]].start, tokens[number.first - 1].end
            if unit is None or unit.family != "currency":
                unit, last, span = currency[0], number.last, (start, end)
        if unit is None and _runs_on(tokens, number):
            return None, number.last + 1
        if unit is None and _asks_age(tokens, number.first):
            unit = self.units.get("year of age")
        year = unit is None and is_year(tokens, number) and not self._starts_range(tokens, text, number)
        if unit is None and not (year and _previous_word(tokens, number.first) in ("the", "fiscal", "its", "our")):
            unit, last, span = self._noun_unit(tokens, number)
        if unit is None and year:
            return self._year(tokens, number), number.last
        if unit is None and number.written and number.value == 1:
            return None, number.last
        if unit is None and number.written and number.last - number.first == 1 and tokens[number.first].low == "half":
            return None, number.last
        if unit is not None:
            unit, last, span = self._compound(tokens, text, unit, last, span)
        first = number.first if currency is None else currency[1]
        value = _signed(tokens, first, number.value)
        if value < 0 < number.value:
            first -= 1
        return Amount(number, unit or self.units.get(""), first, last, span, value, value), last

    def _starts_range(self, tokens: Sequence[Token], text: str, number: Number) -> bool:
        """Whether the number opens a range that has a unit: the 2000 of "2000 to 3000 employees" is no year."""
        k = number.last
        if k + 1 >= len(tokens) or tokens[k].low not in ("to", "and", "-", "–") or tokens[k + 1].kind != "number":
            return False
        other = read_number(tokens, k + 1)
        if other is None:
            return False
        return self._unit_after(tokens, text, other)[0] is not None or self._noun_unit(tokens, other)[0] is not None

    def _year(self, tokens: Sequence[Token], number: Number) -> Amount | None:
        if not self.years:
            return None
        unit = self.units.get("calendar year")
        return Amount(number, unit, number.first, number.last, None, number.value, number.value)

    def _currency(self, tokens: Sequence[Token], text: str, i: int) -> tuple[Unit, int] | None:
        """A currency sign or code before token i, and the token at which it starts."""
        for k in (5, 4, 3, 2, 1):  # "U.S.$" is five tokens
            if i - k < 0 or tokens[i].start - tokens[i - 1].end > 1:
                continue
            unit = self.units.preceding(text[tokens[i - k].start : tokens[i - 1].end])
            if unit is not None and not (i - k > 0 and _part_of_word(tokens, i - k)):
                return unit, i - k
        return None

    def _unit_after(
        self, tokens: Sequence[Token], text: str, number: Number
    ) -> tuple[Unit | None, int, tuple[int, int] | None]:
        j = number.last
        if j < len(tokens) and tokens[j].text in "-‑" and glued(tokens[j - 1], tokens[j]):
            if j + 1 < len(tokens) and glued(tokens[j], tokens[j + 1]) and tokens[j + 1].kind != "number":
                j += 1
        if (found := self._match(tokens, text, j, number)) is not None:
            unit, last = found
            return unit, last, (tokens[j].start, tokens[last - 1].end)
        if (
            j < len(tokens)
            and tokens[j].text == '"'
            and glued(tokens[j - 1], tokens[j])
            and _no_quotation(text, tokens[j].start)
        ):
            return self.units.get("inch"), j + 1, (tokens[j].start, tokens[j].end)
        return None, number.last, None

    def _match(self, tokens: Sequence[Token], text: str, j: int, number: Number | None) -> tuple[Unit, int] | None:
        """The longest unit that starts at token j."""
        if j >= len(tokens) or (tokens[j].low not in self._first_words and tokens[j].text not in self._first_words):
            return None
        for k in range(min(LONGEST_UNIT, len(tokens) - j), 0, -1):
            last = j + k
            if last < len(tokens) and glued(tokens[last - 1], tokens[last]) and tokens[last].kind in ("word", "number"):
                if tokens[last - 1].kind == "word" or tokens[last].kind == "word":
                    continue
            surface = text[tokens[j].start : tokens[last - 1].end]
            if len(surface) > 40 or "\n" in surface:
                continue
            unit = self.units.symbol(surface)
            if unit is not None and number is not None and not self._symbol_fits(tokens, j, last, surface):
                unit = None
            if unit is None and k <= 5:
                unit = self.units.named(fold(surface))
                if unit is not None and unit.family == "time" and surface[0].isupper() and not surface.isupper():
                    unit = None  # "19.5 mln Year Shr": the heading of the next column
            if unit is not None:
                return unit, last
        return None

    def _symbol_fits(self, tokens: Sequence[Token], j: int, last: int, surface: str) -> bool:
        if glued(tokens[j - 1], tokens[j]):
            return surface != "A" or not _section_name(tokens, j)
        if surface in NEVER_SPACED:
            return False
        if surface not in RISKY_SYMBOLS:
            return True
        following = tokens[last] if last < len(tokens) else None
        return following is None or (
            not (following.kind == "word" and following.text[:1].isupper()) and following.text != "."
        )

    def _compound(
        self, tokens: Sequence[Token], text: str, unit: Unit, last: int, span: tuple[int, int] | None
    ) -> tuple[Unit, int, tuple[int, int] | None]:
        """Denominators after a unit: "cents per diluted share", "mg/kg/day", "dlrs a barrel", "hours a week"."""
        for _ in range(3):
            below = self._denominator(tokens, text, last, unit)
            if below is None:
                break
            name, end = below
            span = (span[0] if span and span[1] <= tokens[end - 1].end else tokens[last].start, tokens[end - 1].end)
            if span[0] > tokens[last].start:
                span = (tokens[last].start, tokens[end - 1].end)
            unit, last = self.units.get(f"{unit.name} per {name}"), end
        return unit, last, span

    def _denominator(self, tokens: Sequence[Token], text: str, j: int, unit: Unit) -> tuple[str, int] | None:
        if j + 1 >= len(tokens):
            return None
        sign = tokens[j].low
        slash = sign == "/" and glued(tokens[j], tokens[j + 1])
        if not slash and sign not in PER_WORDS:
            return None
        k = j + 1
        while k < len(tokens) - 1 and tokens[k].low in PER_ADJECTIVES:
            k += 1
        found = self._match(tokens, text, k, None)
        name, end = (found[0].name, found[1]) if found else (singular(tokens[k].low), k + 1)
        if found is None and (tokens[k].kind != "word" or tokens[k].low in FUNCTION_WORDS | VERBS):
            return None
        if sign in ("a", "an", "each", "every") and name not in A_DENOMINATORS:
            return None
        # Only a bare noun may follow "/" where both sides are words ("men/women" is no rate).
        if slash and found is None and unit.family == "count":
            return None
        return name, end

    def _noun_unit(self, tokens: Sequence[Token], number: Number) -> tuple[Unit | None, int, tuple[int, int] | None]:
        """A counted noun after a bare number: "1,200 employees", "two full-time jobs"."""
        j = number.last
        if j < len(tokens) and tokens[j].text == "+" and glued(tokens[j - 1], tokens[j]):
            j += 1
        elif j < len(tokens) and glued(tokens[j - 1], tokens[j]) and tokens[j].kind == "word":
            return None, number.last, None
        words, k = 0, j
        while k < len(tokens) and words < 3:
            token = tokens[k]
            if token.text == "-" and words and k + 1 < len(tokens) and glued(token, tokens[k + 1]):
                k += 1
                continue
            if token.kind != "word" or not token.text.islower() or token.low in FUNCTION_WORDS:
                break
            if _is_plural(token.low):
                return self.units.get(singular(token.low)), k + 1, (token.start, token.end)
            if token.low in VERBS:
                break
            words, k = words + (tokens[k - 1].text != "-"), k + 1
        return None, number.last, None

    def _quantity(
        self, tokens: Sequence[Token], amount: Amount, bound: tuple[Bound, int, int], taken: Sequence[bool]
    ) -> Quantity:
        kind, first, last = bound
        unit = amount.unit
        counts = unit.family in ("currency", "ratio", "count", "", "ratio difference") or unit.family.startswith(
            "currency"
        )
        concept = find_concept(tokens, first, last, taken, counts=counts)
        bound_tokens = [*range(first, amount.first), *range(amount.last, last)]
        number = amount.number
        return Quantity(
            value=amount.low,
            high=amount.high,
            bound=kind,
            unit=unit.name,
            family=unit.family,
            base_unit=unit.base_unit,
            base_value=self.units.to_base(amount.low, unit.name),
            base_high=self.units.to_base(amount.high, unit.name),
            concept=words_of(tokens, concept),
            digits=number.digits,
            value_span=_value_span(tokens, amount),
            unit_span=amount.unit_span,
            bound_span=(tokens[bound_tokens[0]].start, tokens[bound_tokens[-1]].end) if bound_tokens else None,
            concept_spans=spans_of(tokens, concept),
        )


def _previous_word(tokens: Sequence[Token], first: int) -> str:
    return tokens[first - 1].low if first else ""


def _section_name(tokens: Sequence[Token], j: int) -> bool:
    """Whether "409A" names a section: a capitalised word stands beside it."""
    beside = [tokens[k] for k in (j - 2, j + 1) if 0 <= k < len(tokens)]
    return any(t.kind == "word" and t.text[:1].isupper() for t in beside)


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


def _bounds_next(tokens: Sequence[Token], last: int, k: int) -> bool:
    """Whether a phrase bounds the number after it instead: "1.4 kg and above 250 GB"."""
    return last + k < len(tokens) and (tokens[last + k].kind == "number" or tokens[last + k].text in "$€£¥")


def _no_quotation(text: str, at: int) -> bool:
    """Whether a double quote at `at` closes no quotation (looked for nearby, so that cost stays linear)."""
    return text.count('"', max(0, at - 300), at) % 2 == 0


def _part_of_word(tokens: Sequence[Token], k: int) -> bool:
    """Whether token k continues a word: the "$" of "US$" is no dollar sign of its own, the "M" of "FARM 5" no code."""
    return glued(tokens[k - 1], tokens[k]) and tokens[k - 1].kind == "word" and tokens[k].kind == "word"


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


def _value_span(tokens: Sequence[Token], amount: Amount) -> tuple[int, int]:
    """The characters of the number, its sign included where it is next to it."""
    first = amount.number.first
    signed = not amount.is_range and amount.low < 0 and first > amount.first and tokens[first - 1].text in "-−–"
    return tokens[first - signed].start, tokens[amount.number.last - 1].end


def _is_plural(word: str) -> bool:
    if word in ("people", "men", "women", "children"):
        return True
    return len(word) > 3 and word.endswith("s") and not word.endswith(("ss", "us", "is", "as")) and word not in VERBS


def _join_ranges(tokens: Sequence[Token], amounts: list[Amount]) -> list[Amount]:
    """ "5-8 kg", "between $10 and $15 billion", "from 3 to 4 per cent": two amounts become one."""
    joined: list[Amount] = []
    for amount in amounts:
        if joined and (both := _range(tokens, joined[-1], amount)) is not None:
            joined[-1] = both
        elif joined and _is_score(tokens, joined[-1], amount):
            joined.pop()
        elif joined and (shared := _shared(tokens, joined[-1], amount)) is not None:
            joined[-1:] = [shared, amount]
        elif joined and _is_tolerance(tokens, joined[-1], amount):
            joined[-1] = replace(
                joined[-1], last=amount.last, unit=joined[-1].unit if not joined[-1].bare else amount.unit
            )
        else:
            joined.append(amount)
    return joined


def _range(tokens: Sequence[Token], a: Amount, b: Amount) -> Amount | None:
    between = "".join(t.low for t in tokens[a.last : b.first])
    if a.is_range or between not in ("-", "–", "—", "to", "and", "-to-", "through", "till") or b.last - a.first > 24:
        return None
    start = a.first
    while start and tokens[start - 1].low in ("the", "years", "year", "ages", "of"):
        start -= 1
    lead = tokens[start - 1].low if start else ""
    if between == "and" and lead != "between":
        return None
    if between in ("to", "through", "till"):
        around = {t.low for t in tokens[max(0, a.first - 6) : a.first]}
        if around & CHANGE_VERBS and not {"between", "ranging", "range", "ranged"} & around:
            return None
    if not a.bare and not b.bare and a.unit.base_unit != b.unit.base_unit:
        return None
    low, high = a.low, b.low
    if b.number.scaled and not a.number.scaled and a.number.mantissa < b.number.mantissa:
        low *= b.number.value / b.number.mantissa
    # The minus sign of "-5 to -8" is part of a number, the hyphen of "5-8" is not: `_signed` saw to that.
    if between in ("-", "–", "—", "-to-"):
        high = abs(high)
    unit = b.unit if a.bare else a.unit
    if not a.bare and not b.bare and a.unit.name != b.unit.name:
        return None
    if low > high or low == high:
        return None
    first = start - 1 if lead in ("between", "from") else a.first
    # The unit of "$5 to $8" stands before both numbers: the first sign lies outside the span of the range's value.
    precedes = a.unit_span is not None and a.unit_span[0] < tokens[a.number.first].start
    span = a.unit_span if precedes else b.unit_span or a.unit_span
    number = replace(a.number, last=b.number.last, digits=max(a.number.digits, b.number.digits))
    return Amount(number, unit, first, b.last, span, low, high, is_range=True)


def _is_score(tokens: Sequence[Token], a: Amount, b: Amount) -> bool:
    """ "3-2": two small whole numbers, the larger first, with nothing but a hyphen between and no unit."""
    if b.first - a.last != 1 or tokens[a.last].text not in ("-", "–") or not (a.bare and b.bare):
        return False
    return b.low <= a.low < 200 and a.low.is_integer() and b.low.is_integer() and glued(tokens[a.last], tokens[b.first])


def _shared(tokens: Sequence[Token], a: Amount, b: Amount) -> Amount | None:
    """The first of two amounts that share the second's unit: "rose from 5 to 8 mln dlrs", "eight or nine euros"."""
    between = "".join(t.low for t in tokens[a.last : b.first])
    if between not in ("to", "or", "and") or not a.bare or b.bare or b.unit.family in ("date", "count"):
        return None
    if between != "to" and not abs(b.low) / 10 <= abs(a.low) <= abs(b.low) * 10:
        return None  # "2,227,000 or four cts a share": two quantities, not two guesses at one
    scale = b.number.value / b.number.mantissa if b.number.scaled and not a.number.scaled and b.number.mantissa else 1.0
    return replace(a, unit=b.unit, low=a.low * scale, high=a.high * scale, unit_span=b.unit_span)


def _is_tolerance(tokens: Sequence[Token], a: Amount, b: Amount) -> bool:
    return "".join(t.text for t in tokens[a.last : b.first]) in ("±", "+/-", "+-", "+/−")


def _bound(tokens: Sequence[Token], amount: Amount) -> tuple[Bound, int, int]:
    """How the words around an amount bound it; and the token range with those words."""
    if amount.is_range:
        return "between", amount.first, amount.last
    is_date = amount.unit.family == "date"
    end = first = amount.first
    while end and tokens[end - 1].low in ("a", "the", "year", "just", "only", "is", "an") and is_date:
        end -= 1
    for k in (4, 3, 2, 1):
        if end - k < 0:
            continue
        phrase = tuple(t.low for t in tokens[end - k : end])
        kind = BOUNDS_BEFORE.get(phrase)
        if kind is not None and (is_date or phrase not in DATE_ONLY_BOUNDS):
            return kind, end - k, amount.last  # type: ignore[return-value]
    plus = amount.number.last
    if plus < len(tokens) and tokens[plus].text == "+" and glued(tokens[plus - 1], tokens[plus]):
        return ">=", first, max(plus + 1, amount.last)
    for k in (2, 1):
        phrase = tuple(t.low for t in tokens[amount.last : amount.last + k])
        kind = BOUNDS_AFTER.get(phrase)
        if kind is not None and len(phrase) == k and not _bounds_next(tokens, amount.last, k):
            return kind, first, amount.last + k  # type: ignore[return-value]
    return "=", first, amount.last
