"""Compounds of units: "cents per diluted share", "mg/kg/day", "g C kg-1", "4 km squared", "800 IU daily"."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from qbench.quantities.english.inflection import plural, singular
from qbench.quantities.english.lexicon import FUNCTION_WORDS, VERBS
from qbench.quantities.english.numbers import MINUSES
from qbench.quantities.english.tokens import HYPHENS, Token, glued
from qbench.quantities.units import HUNDREDS, NO_UNIT, PER, Unit, Units

UnitMatch = tuple[Unit, int, tuple[int, int]]
"""A unit, the token after it, and its characters."""

PER_WORDS = frozenset({"per", "a", "an", "each", "every"})
PER_ADJECTIVES = frozenset(["diluted", "basic", "common", "ordinary", "class", "average", "weighted", "fully"])
A_DENOMINATORS = frozenset(
    (
        "share barrel ounce pound-mass ton tonne gallon bushel head person unit second minute hour day week month "
        "year quarter night piece litre kilogram gram mile kilometre metre yard gallon game match head pop plate "
        "bottle can pack dozen acre hectare pair"
    ).split()
) | {"troy ounce"}
_NO_NOUNS = FUNCTION_WORDS | VERBS
"""Words that are no substance and nothing counted."""
NOT_A_RATE = frozenset("ago earlier later before after old prior previously".split())
"""Words that make a point in time of "a year", so that "from $6.8 billion a year earlier" is no rate."""
NATIONAL = {
    "us": "dollar", "u.s.": "dollar", "usd": "dollar", "canadian": "canadian dollar", "cdn": "canadian dollar",
    "cad": "canadian dollar", "australian": "australian dollar", "aud": "australian dollar",
    "singapore": "singapore dollar", "sgd": "singapore dollar", "hkd": "hong kong dollar", "nzd": "new zealand dollar",
}  # fmt: skip
"""What may follow an amount of dollars and says whose they are: "$75 U.S. per barrel"."""


def closed_period(tokens: Sequence[Token], k: int) -> str | None:
    """The period of the rate "300 a day" at token k, where nothing goes on from it: "a day early" is no rate."""
    if k + 1 >= len(tokens) or tokens[k].low not in ("a", "an") or tokens[k + 1].low not in _PERIODS:
        return None
    return tokens[k + 1].low if _closes(tokens, k + 2) else None


class CompoundReader:
    """Reads what follows a unit and makes a compound of it.

    Args:
        units: the known units.
        match: finds the unit of a denominator at a token of a text.
    """

    def __init__(self, units: Units, match: Callable[[Sequence[Token], str, int], UnitMatch | None]) -> None:
        self.units = units
        self._match = match

    def read(
        self, tokens: Sequence[Token], text: str, unit: Unit, last: int, span: tuple[int, int] | None
    ) -> tuple[Unit, int, tuple[int, int] | None]:
        """Denominators after a unit: "cents per diluted share", "mg/kg/day", "dlrs a barrel", "hours a week"."""
        if unit.name == "dollar" and (country := _country(tokens, last)) is not None:
            unit, last = self.units.get(country[0]), country[1]
        if span is not None and (raised := self._raised(tokens, unit, last))[1] > last:
            unit, last, span = raised[0], raised[1], (span[0], tokens[raised[1] - 1].end)
        for _ in range(0 if unit.family == "age" else 3):
            below = self._denominator(tokens, text, last, unit) or self._of_a_substance(tokens, text, last, unit)
            if below is None:
                break
            name, end = below
            span = (span[0] if span and span[1] <= tokens[end - 1].end else tokens[last].start, tokens[end - 1].end)
            if span[0] > tokens[last].start:
                span = (tokens[last].start, tokens[end - 1].end)
            unit, last = self.units.get(f"{unit.name} per {name}"), end
        if unit.name in _DOSES and (regimen := _pointed(tokens, last))[0].lower() in _REGIMENS:
            last = regimen[1]
        if unit.name and (often := _how_often(tokens, last, unit)) is not None:
            unit, last = self.units.get(f"{unit.name} per {often[0]}"), often[1]
        return unit, last, span

    def _of_a_substance(self, tokens: Sequence[Token], text: str, j: int, unit: Unit) -> tuple[str, int] | None:
        """The denominator behind what is measured: "g C kg-1", "mg N/L", "grams of fibre/day", "kg CO2 per km"."""
        if unit.family not in _SUBSTANCES or j >= len(tokens):
            return None
        k = j + (tokens[j].low == "of")
        stop = min(len(tokens) - 1, k + _WORDS_OF_SUBSTANCE)
        while k < stop and tokens[k].kind == "word" and tokens[k].low not in _NO_NOUNS:
            k += 1
            if tokens[k].kind == "number" and glued(tokens[k - 1], tokens[k]):
                k += 1  # "CO2"
            if k >= len(tokens):
                return None
            if (inverse := self._inverse(tokens, k)) is not None and _is_formula(tokens[k - 1]):
                return inverse
            slash = tokens[k].text == "/" and glued(tokens[k - 1], tokens[k])
            if slash or (tokens[k].low == "per" and _is_formula(tokens[k - 1])):
                return self._denominator(tokens, text, k, unit) if self._is_unit(tokens, text, k + 1) else None
        return None

    def in_a_period(self, tokens: Sequence[Token], text: str, unit: Unit, last: int) -> Unit:
        """The unit of "420,000 tonnes of pulp a year", "2 mg calcitriol per day": the substance is no part of it.

        Args:
            tokens, text: the text.
            unit: of the amount.
            last: the token after it.
        """
        if unit.family not in _SUBSTANCES or last >= len(tokens):
            return unit
        of = tokens[last].low == "of"
        if not of and unit.name not in _DOSES:
            return unit  # "a 3.5 tonne hire per day"
        k = start = last + of
        stop = min(len(tokens) - 1, k + _WORDS_OF_SUBSTANCE)
        while k < stop and tokens[k].kind == "word" and tokens[k].low not in _NO_NOUNS:
            k += 1
        named = k > start and tokens[k].low in PER_WORDS and not any(t.low in _TIMES for t in tokens[start:k])
        below = self._denominator(tokens, text, k, unit) if named else None
        if below is None or below[0] not in _PERIODS or (tokens[k].low != "per" and not _closes(tokens, below[1])):
            return unit
        return self.units.get(f"{unit.name} per {below[0]}")

    def _is_unit(self, tokens: Sequence[Token], text: str, k: int) -> bool:
        return k < len(tokens) and (self._match(tokens, text, k) is not None or tokens[k].text in _SHORT)

    def _denominator(self, tokens: Sequence[Token], text: str, j: int, unit: Unit) -> tuple[str, int] | None:
        hyphened = j + 2 < len(tokens) and tokens[j].text in HYPHENS and glued(tokens[j], tokens[j + 1])
        if hyphened:  # "barrel-a-day"
            j += 1
        if (letters := _letters(tokens, j, unit)) is not None:
            return letters
        if j + 1 >= len(tokens):
            return None
        if (inverse := self._inverse(tokens, j)) is not None:
            return inverse
        sign = tokens[j].low
        slash = sign == "/" and glued(tokens[j], tokens[j + 1])
        if not slash and sign not in PER_WORDS:
            return None
        k = j + 1
        if hyphened and tokens[k].text in HYPHENS and k + 1 < len(tokens):
            k += 1
        while k < len(tokens) - 1 and tokens[k].low in PER_ADJECTIVES:
            k += 1
        if (short := _abbreviated(tokens, k, slash=slash) or self._so_many(tokens, text, k, unit)) is not None:
            return short
        match = self._match(tokens, text, k)
        money = match is not None and match[0].family == "currency"
        if match is not None and money and match[1] < len(tokens) and tokens[match[1]].kind == "number":
            return None  # "£50/$65"
        if match is not None and (slash or match[0].family != "currency" or sign == "per"):
            name, end = match[0].name, match[1]
        elif tokens[k].kind != "word" or tokens[k].low in _NO_NOUNS:
            return None
        else:
            match, (name, end) = None, _joined_noun(tokens, k) if sign == "per" else (singular(tokens[k].low), k + 1)
        if sign in ("a", "an", "each", "every") and not _is_rate(tokens, name, end, j):
            return None
        # Only a bare noun may follow "/" where both sides are words ("men/women" is no rate).
        if slash and match is None and unit.family == "count":
            return None
        return name, end

    def so_many(self, tokens: Sequence[Token], text: str, j: int) -> tuple[Unit, int] | None:
        """What a number that ends before token j is by, if that is more than one: "76 per 100 person-years"."""
        if j + 1 >= len(tokens) or tokens[j].low != "per":
            return None
        below = self._so_many(tokens, text, j + 1, NO_UNIT)
        return None if below is None else (self.units.get(PER + below[0]), below[1])

    def _so_many(self, tokens: Sequence[Token], text: str, k: int, unit: Unit) -> tuple[str, int] | None:
        """A denominator of more than one at token k, below `unit`: the "100 millilitres" of "32 mg per 100 ml"."""
        figures = tokens[k].text.replace(",", "")
        counts = figures.isdecimal() and 1 < float(figures) < 1e10
        if k + 1 >= len(tokens) or tokens[k - 1].low not in ("per", "/") or not (counts or tokens[k].low in HUNDREDS):
            return None
        count = figures if counts else tokens[k].low
        match = None if tokens[k + 1].low in FUNCTION_WORDS else self._match(tokens, text, k + 1)
        portion = count == "100" and match is not None and match[0].name in ("gram", "millilitre")
        if portion and tokens[k - 1].low == "per" and unit.family in ("mass", "energy"):
            return None  # "3 g of fat per 100 g" is told in grams
        if tokens[k - 1].low != "per" and not portion:  # no rates: "78 Gy/39 fractions", "12 V/2 A", "120 lb/54 kg"
            if match is None or match[0].family != "volume" or unit.family == "volume" or unit.name not in _DOSES:
                return None
        if match is not None and match[0].family not in ("currency", "ratio", "count"):
            return f"{count} {plural(match[0].name)}", match[1]
        return None if (end := _plural(tokens, k + 1)) is None else (_words(tokens, k, end, count), end)

    def _inverse(self, tokens: Sequence[Token], j: int) -> tuple[str, int] | None:
        """A unit to a negative power, "kg m-3", "mg kg−1 day−1", "km s −1", "g·l−1", as a denominator."""
        if tokens[j].text in "·⋅." and j + 3 < len(tokens):
            j += 1  # a product's point; "g. The -1" has no unit after it
        if j + 2 >= len(tokens) or tokens[j].kind != "word" or tokens[j + 1].text not in (*MINUSES, "⁻"):
            return None
        power = _POWERS.get(tokens[j + 2].text)
        if power is None or tokens[j + 1].start - tokens[j].end > 1 or not glued(tokens[j + 1], tokens[j + 2]):
            return None
        below = self.units.symbol(tokens[j].text) or self.units.named(tokens[j].low)
        if below is None and not power and (tokens[j].text in _SHORT or tokens[j].text == "a"):
            below = self.units.get(_SHORT.get(tokens[j].text, "year"))  # "kg ha-1 d-1", "mm a-1"
        name = power + below.name if below is not None else ""
        return (name, j + 3) if name in self.units else None

    def _raised(self, tokens: Sequence[Token], unit: Unit, last: int) -> tuple[Unit, int]:
        """An area or a volume whose exponent stands after a space or as a word: "12 cm 2 of leaf", "4 km squared"."""
        if last < len(tokens) and unit.family == "length" and tokens[last].low in _RAISED:
            name = f"{_RAISED[tokens[last].low]} {unit.name}"
            return (self.units.get(name), last + 1) if name in self.units else (unit, last)
        if last >= len(tokens) or tokens[last].text not in ("2", "3") or unit.family != "length":
            return unit, last
        if unit.name == "foot":
            return unit, last  # "6 ft 2 in"
        name = _POWERS[tokens[last].text] + unit.name
        after = tokens[last + 1] if last + 1 < len(tokens) else None
        counts = after is not None and (after.kind == "number" or after.text in "-–×x%°+±")
        if after is not None and after.kind == "word":
            # "12 cm 2 samples", "6 ft 2in"
            counts = after.low not in _NO_NOUNS or glued(tokens[last], after)
        near = tokens[last].start - tokens[last - 1].end == 1 and len(tokens[last - 1].text) <= 2
        return (self.units.get(name), last + 1) if near and not counts and name in self.units else (unit, last)


_POWERS = {"1": "", "2": "square ", "3": "cubic ", "¹": "", "²": "square ", "³": "cubic "}


_RAISED = {"squared": "square", "cubed": "cubic"}
_SUBSTANCES = frozenset({"mass", "amount of substance", "volume", "biological activity"})
_WORDS_OF_SUBSTANCE = 3
_DOSES = frozenset({"gram", "milligram", "microgram", "millilitre", "international unit"})
"""Units of doses, whose substance may follow without "of"."""
_PERIODS = frozenset("minute hour day week month quarter year".split())
_AFTER_PERIODS = frozenset(
    ". , ; : ) and but in from to by for at is are was were during since until last this next over through on".split()
)
"""What may follow the period of a rate; not as in "a day early", "an hour apart"."""
_SHORT = {"d": "day", "wk": "week", "w": "week", "y": "year", "yr": "year", "mo": "month", "h": "hour", "annum": "year"}
"""Denominators in short: "250 kcal/d", "5 days/wk", "per annum"."""
_OFTEN = {
    "daily": "day", "nightly": "night", "weekly": "week", "monthly": "month", "yearly": "year", "annually": "year",
    "hourly": "hour", "quarterly": "quarter",
}  # fmt: skip
_LETTERS = {"pcm": "month", "pw": "week", "pa": "year", "ph": "hour"}
_DOSE_LETTERS = {"od": "day", "qd": "day"}
_REGIMENS = frozenset("bd bid tid tds qid qds".split())
"""How many times a day a dose is taken, which is said of the dose and is no rate: "10 mg b.i.d."."""


_TIMES = frozenset("once twice thrice times".split())
"""Words before "daily" with which a dose is taken so many times a day: "500 mg twice daily" is no dose per day."""


_FOR_HOW_LONG = frozenset("throughout until consistently orally thereafter alone plus versus vs".split())
"""Words that may follow "20 mg daily" and are named by no such adverb."""


def _plural(tokens: Sequence[Token], k: int) -> int | None:
    """The token after the plural that begins at token k, "live births", "person-years"; None if there is none."""
    for end in range(k + 1, min(len(tokens), k + _WORDS_OF_PLURAL) + 1):
        word = tokens[end - 1]
        if word.text in HYPHENS and end - 1 > k and glued(tokens[end - 2], word):
            continue
        if word.kind != "word" or word.low in FUNCTION_WORDS or word.low in _NO_NOUNS:
            return None
        one = singular(word.low)
        if word.low == "people" or (one != word.low and plural(one) == word.low):
            return end
    return None


_WORDS_OF_PLURAL = 3


def _words(tokens: Sequence[Token], k: int, end: int, count: str) -> str:
    """A number and the words behind it, "1000 live births"."""
    spaced = (" " * (not glued(a, b)) + b.low for a, b in zip(tokens[k:], tokens[k + 1 : end], strict=False))
    return count + "".join(spaced)


def _joined_noun(tokens: Sequence[Token], k: int) -> tuple[str, int]:
    """The noun at token k, with what a hyphen makes it describe ("weather-related delay"), and the next token."""
    j = k + 1
    while j + 1 < len(tokens) and tokens[j].text in HYPHENS and glued(tokens[j - 1], tokens[j]):
        j += 2
    end = j
    while end < len(tokens) and end - j < _WORDS_OF_SUBSTANCE and _may_name(tokens[end]):
        end += 1
    if [t.low for t in tokens[end - 1 : end + 2]] in (["life", "-", "year"], ["life", "-", "years"]):
        end += 2  # "quality-adjusted life-years"
    if end == j and j == k + 3 and _may_name(tokens[k + 2]) and tokens[k + 2].low not in _SIZES:
        return f"{tokens[k].low}-{singular(tokens[k + 2].low)}", j  # "per bed-night"
    if end == j or j == k + 1:
        return singular(tokens[k].low), k + 1
    words = [tokens[k].low]
    for n in range(k + 1, end):
        joined = glued(tokens[n - 1], tokens[n])
        words.append(tokens[n].low if joined else f" {tokens[n].low}")
    return singular("".join(words).replace("life-year", "life year")), end


_SIZES = frozenset("long wide high deep old free only end plus equivalent day week month year hour".split())
"""What a hyphen joins to a noun without making a noun of both."""


def _may_name(token: Token) -> bool:
    return token.kind == "word" and token.low not in _NO_NOUNS and not token.low.endswith("ed")


def _abbreviated(tokens: Sequence[Token], k: int, *, slash: bool) -> tuple[str, int] | None:
    """A denominator in short at token k, and the token after it: the "d" of "kcal/d", the "annum" of "per annum"."""
    token = tokens[k]
    if token.text not in _SHORT or (len(token.text) == 1 and not slash):
        return None
    return _SHORT[token.text], k + 1


def _letters(tokens: Sequence[Token], j: int, unit: Unit) -> tuple[str, int] | None:
    """ "£900 pcm", "5% p.a.", "20 mg o.d.": a rate in letters, and the token after them."""
    known = _LETTERS if unit.family in ("currency", "ratio") else _DOSE_LETTERS if unit.family in _SUBSTANCES else {}
    letters, end = _pointed(tokens, j) if known else ("", j)
    return (known[letters], end) if letters in known else None


def _pointed(tokens: Sequence[Token], j: int) -> tuple[str, int]:
    """The letters at token j, "pa" of "pa" and "p.a.", and the token after them; the last point may end a sentence."""
    k = j
    while (
        k + 2 < len(tokens)
        and len(tokens[k].text) == 1
        and tokens[k + 1].text == "."
        and glued(tokens[k], tokens[k + 1])
    ):
        if not glued(tokens[k + 1], tokens[k + 2]) or len(tokens[k + 2].text) != 1:
            break
        k += 2
    letters = "".join(token.text for token in tokens[j : k + 1 : 2])
    return letters, k + 1 + (k > j and k + 2 < len(tokens) and tokens[k + 1].text == ".")


def _how_often(tokens: Sequence[Token], j: int, unit: Unit) -> tuple[str, int] | None:
    """ "20 mg daily", "$5 million annually", "800 IU vitamin D daily": the period, and the token after the adverb."""
    if " per " in unit.name or unit.family == "date":
        return None
    k, stop = j, min(len(tokens), j + (_WORDS_OF_SUBSTANCE if unit.family in _SUBSTANCES else 1))
    while k < stop and tokens[k].kind == "word" and tokens[k].low not in _OFTEN:
        if tokens[k].low in _NO_NOUNS | _TIMES:
            return None
        k += 1
    if k >= stop or tokens[k].low not in _OFTEN:
        return None
    after = tokens[k + 1] if k + 1 < len(tokens) else None
    ends = after is None or after.kind != "word" or after.low in _NO_NOUNS | _FOR_HOW_LONG
    return (_OFTEN[tokens[k].low], k + 1) if ends and tokens[k].text.islower() else None


def _closes(tokens: Sequence[Token], k: int) -> bool:
    return k >= len(tokens) or tokens[k].low in _AFTER_PERIODS


def _is_formula(token: Token) -> bool:
    """Whether a token is a chemical symbol or formula ("C", "CaCO"), or the figure that ends one ("2")."""
    return token.text[:1].isupper() or token.kind == "number"


def _is_rate(tokens: Sequence[Token], name: str, end: int, j: int) -> bool:
    """Whether "a NAME" after a quantity is a rate: "$3,500 a month", and not "$6.8 billion a year earlier"."""
    if name not in A_DENOMINATORS:
        return False
    if tokens[j].text == "A" and not tokens[j - 1].text.isupper():
        return False  # "2,800,000 Class A common shares"
    return end >= len(tokens) or tokens[end].low not in NOT_A_RATE


def _country(tokens: Sequence[Token], k: int) -> tuple[str, int] | None:
    """Whose dollars, said after the number, and the token after that."""
    if k >= len(tokens) or tokens[k].kind != "word":
        return None
    if tokens[k].text == "U" and k + 3 < len(tokens) and [t.text for t in tokens[k + 1 : k + 4]] == [".", "S", "."]:
        return "dollar", k + 4
    name = NATIONAL.get(tokens[k].low) if tokens[k].text[:1].isupper() else None
    if name is None:
        return None
    following = tokens[k + 1] if k + 1 < len(tokens) else None
    if following is not None and following.kind == "word" and following.low not in FUNCTION_WORDS:
        return None  # "$75 Canadian bonds"
    return name, k + 1
