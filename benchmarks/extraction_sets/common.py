"""What the sets share: systems, items, one-to-one matching, reading of gold numbers and units.

Protocol of the sets that have none of their own. Gold items and predictions of a text are matched one to one; a
criterion's hits are the size of a maximum matching of the pairs that meet it. Two values are equal within 1e-5 of the
larger one; a range equals a range if both ends do, never a number. A gold item may have two readings ("16.8 ± 1.2" is
16.8, or 15.6 to 18). Where a set annotates one kind of quantity only, a prediction counts against precision if it is of
that kind or overlaps a gold span. Gold that no extractor is asked for (dates, clock times, what cannot be read) is left
out, and predictions that touch nothing else with it.
"""

from __future__ import annotations

import math
import re
import unicodedata
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from types import ModuleType
from typing import Any

from qbench.quantities.english.queries import parse_query
from qbench.quantities.english.sentences import EnglishSplitter
from qbench.quantities.extractors import Extractor, ExtractorOptions, get_extractor
from qbench.quantities.types import ParsedQuery, Quantity, Span
from qbench.quantities.units import load_units

Ends = tuple[float, float]
Same = Callable[["Item", "Item"], bool]


@dataclass(frozen=True)
class Item:
    """A gold quantity or a prediction.

    Attributes:
        readings: its value as (low, high); a gold item may have more than one reading.
        unit: name; None where the gold does not say.
        operator: "=", "~", "<", "<=", ">", ">=" or "between".
        span: of all of it in the text; None where unknown.
    """

    readings: tuple[Ends, ...]
    unit: str | None = None
    operator: str = "="
    span: Span | None = None


@dataclass(frozen=True)
class Case:
    """One text with its gold, and the spans whose quantities are left out."""

    text: str
    gold: Sequence[Item]
    ignored: Sequence[Span] = ()


@dataclass(frozen=True)
class Score:
    """Precision, recall and F1 in per cent."""

    what: str
    gold: int
    predicted: int
    correct: int

    def figures(self) -> dict[str, Any]:
        """For the page and the record."""
        p = 100 * self.correct / self.predicted if self.predicted else 0.0
        r = 100 * self.correct / self.gold if self.gold else 0.0
        f1 = 2 * p * r / (p + r) if p + r else 0.0
        counts = {"gold": self.gold, "predicted": self.predicted, "correct": self.correct}
        return {"what": self.what, **counts, "P": round(p, 1), "R": round(r, 1), "F1": round(f1, 1)}


@dataclass(frozen=True)
class Share:
    """How many of some gold items are right, in per cent."""

    what: str
    of: int
    right: int

    def figures(self) -> dict[str, Any]:
        """For the page and the record."""
        percent = round(100 * self.right / self.of, 1) if self.of else 0.0
        return {"what": self.what, "of": self.of, "right": self.right, "per cent": percent}


Figure = Score | Share


@dataclass
class System:
    """An extractor under test.

    Attributes:
        label: how the page names it: "rules", "rules:none" (a spaCy model after the colon), "quantulum3".
        spacy_model: for labels that name none.
        failed: texts on which quantulum3 raised an exception; they count as without a mention.
    """

    label: str
    spacy_model: str
    failed: int = 0
    _engines: dict[bool, Extractor] = field(default_factory=dict)

    @property
    def name(self) -> str:
        """The extractor's own name."""
        return self.label.partition(":")[0]

    @property
    def is_quantulum(self) -> bool:
        """Whether its numbers and units are quantulum3's."""
        return self.name == "quantulum3"

    def engine(self, years: bool = False) -> Extractor:
        """The extractor, built once."""
        if years not in self._engines:
            model = self.label.partition(":")[2] or self.spacy_model
            self._engines[years] = get_extractor(ExtractorOptions(self.name, years=years, spacy_model=model))
        return self._engines[years]

    def extract(self, texts: Sequence[str]) -> list[list[Quantity]]:
        """The mentions of each text."""
        if not self.is_quantulum:
            return self.engine().extract_many(texts)
        return [self._guarded(lambda text=text: self.engine().extract(text), []) for text in texts]

    def parse(self, queries: Sequence[str], years: bool = False) -> list[ParsedQuery]:
        """The conditions of each query."""
        engine = self.engine(years)
        if not self.is_quantulum:
            return [parse_query(query, engine) for query in queries]
        nothing = ParsedQuery("", ())
        return [self._guarded(lambda query=query: parse_query(query, engine), nothing) for query in queries]

    def extract_paragraphs(self, texts: Sequence[str]) -> list[list[Item]]:
        """The mentions of long texts, read sentence by sentence as build-index does."""
        pieces = [(n, a, b) for n, text in enumerate(texts) for a, b in splitter().spans(text)]
        found: list[list[Item]] = [[] for _ in texts]
        for (n, start, _), mentions in zip(pieces, self.extract([texts[n][a:b] for n, a, b in pieces]), strict=True):
            found[n] += [predicted(q, start) for q in mentions]
        return found

    def _guarded(self, work: Callable[[], Any], otherwise: Any) -> Any:
        try:
            return work()
        except Exception:  # quantulum3 raises many kinds
            self.failed += 1
            return otherwise


@lru_cache(maxsize=1)
def splitter() -> EnglishSplitter:
    return EnglishSplitter()


def predicted(quantity: Quantity, shift: int = 0) -> Item:
    """A mention as an item; its span covers value, unit and the words that bound it."""
    spans = [s for s in (quantity.value_span, quantity.unit_span, quantity.comparator_span) if s is not None]
    span = (min(a for a, _ in spans) + shift, max(b for _, b in spans) + shift)
    return Item(((quantity.value, quantity.high),), quantity.unit, quantity.comparator, span)


def family(unit: str) -> str:
    """What the named unit measures, by the library's units."""
    return load_units().get(unit).family


def same_value(gold: Item, found: Item) -> bool:
    low, high = found.readings[0]
    return any(near(a, low) and near(b, high) for a, b in gold.readings)


def near(a: float, b: float) -> bool:
    return math.isclose(a, b, rel_tol=1e-5)


def same_operator(gold: Item, found: Item) -> bool:
    return gold.operator == found.operator


def overlap(a: Span | None, b: Span | None) -> bool:
    return a is not None and b is not None and a[0] < b[1] and b[0] < a[1]


def both(*tests: Same) -> Same:
    return lambda gold, found: all(test(gold, found) for test in tests)


def same_unit(scorer: ModuleType, names: dict[str, str] | None = None) -> Same:
    """Equality of units as the score script's `canon` says, after a set's own table of names."""

    def test(gold: Item, found: Item) -> bool:
        unit = gold.unit or ""
        return units_match(scorer, (names or {}).get(unit, unit), found.unit or "")

    return test


def units_match(scorer: ModuleType, gold: str, found: str) -> bool:
    return _match(scorer, gold, found)


@lru_cache(maxsize=1 << 16)
def _match(scorer: ModuleType, gold: str, found: str) -> bool:
    return bool(scorer.units_match(gold, found, "canon"))


def match(gold: Sequence[Item], found: Sequence[Item], tests: Iterable[Same]) -> list[int | None]:
    """For each gold item the index of its prediction, one to one.

    The tests go from strict to loose. Items are matched by the first, then the matching is made larger by paths over
    pairs that meet the next, and so on, so that its size is the maximum for the last test and pairs that meet the
    stricter ones stay together where they can.
    """
    taken: list[int | None] = [None] * len(found)

    def place(g: int, edges: list[list[int]], seen: set[int]) -> bool:
        for p in edges[g]:
            if p not in seen:
                seen.add(p)
                holder = taken[p]
                if holder is None or place(holder, edges, seen):
                    taken[p] = g
                    return True
        return False

    edges: list[list[int]] = [[] for _ in gold]
    for test in tests:
        for g, item in enumerate(gold):
            edges[g] += [p for p, other in enumerate(found) if p not in edges[g] and test(item, other)]
        for g in range(len(gold)):
            if g not in taken:
                place(g, edges, set())
    partner: list[int | None] = [None] * len(gold)
    for p, g in enumerate(taken):
        if g is not None:
            partner[g] = p
    return partner


def hits(gold: Sequence[Item], found: Sequence[Item], test: Same) -> int:
    return sum(p is not None for p in match(gold, found, [test]))


def relevant(case: Case, found: Sequence[Item], kind: Callable[[Item], bool] | None = None) -> list[Item]:
    """The predictions that count: of the annotated kind or on a gold span, and not on what is left out."""
    kept = []
    for item in found:
        if not any(overlap(item.span, gold.span) for gold in case.gold):
            if any(overlap(item.span, span) for span in case.ignored) or (kind is not None and not kind(item)):
                continue
        kept.append(item)
    return kept


def scores(cases: Sequence[Case], found: Sequence[Sequence[Item]], criteria: dict[str, Same]) -> list[Score]:
    """Precision, recall and F1 of each criterion over all texts."""
    n_gold, n_found = sum(len(case.gold) for case in cases), sum(map(len, found))
    return [
        Score(what, n_gold, n_found, sum(hits(case.gold, row, test) for case, row in zip(cases, found, strict=True)))
        for what, test in criteria.items()
    ]


def share(what: str, cases: Sequence[Case], found: Sequence[Sequence[Item]], test: Same, wanted: str) -> Share:
    """How many of the gold items whose value was found also meet `test`; only items with a `wanted` attribute."""
    of = right = 0
    for case, row in zip(cases, found, strict=True):
        partners = match(case.gold, row, [both(same_value, test), same_value])
        for item, p in zip(case.gold, partners, strict=True):
            if p is not None and getattr(item, wanted) is not None:
                of += 1
                right += test(item, row[p])
    return Share(what, of, right)


def same_science_unit(scorer: ModuleType) -> Same:
    """Equality of units where the gold's are names by `science_unit`; "40 years old" may be years or years of age."""

    def test(gold: Item, found: Item) -> bool:
        unit = found.unit or ""
        return units_match(scorer, gold.unit or "", unit) or (
            unit.endswith(" of age") and units_match(scorer, gold.unit or "", unit.removesuffix(" of age"))
        )

    return test


# Gold numbers ---------------------------------------------------------------------------------------------------------

_SMALL = (
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen "
    "eighteen nineteen"
).split()
_TENS = "twenty thirty forty fifty sixty seventy eighty ninety".split()
_WORDS: dict[str, float] = {
    **{word: k for k, word in enumerate(_SMALL)},
    **{word: 10 * k for k, word in enumerate(_TENS, start=2)},
    "half": 0.5, "third": 1 / 3, "quarter": 0.25, "single": 1,
}  # fmt: skip
_SCALES = {"hundred": 1e2, "thousand": 1e3, "million": 1e6, "billion": 1e9, "trillion": 1e12}
_DIGITS = r"[-+]? ?\d[\d,]*(?:\.\d+)?|[-+]?\.\d+"
_GROUPED = re.compile(r"[-+]? ?[1-9]\d{0,2}(?:,\d{3})+(?:\.\d+)?")
_POWER = re.compile(rf"(?:({_DIGITS}) ?[x×*·] ?)?10 ?\^? ?([-+] ?\d+|\d)", re.IGNORECASE)


def read_number(text: str) -> float | None:
    """The value of a number as gold annotations write it; None where it is none, or an indefinite one.

    >>> read_number("1,000"), read_number("\u22125.03"), read_number("2.1×10 \u22125"), read_number("3/10")
    (1000.0, -5.03, 2.1e-05, 0.3)
    >>> read_number("0,5"), read_number("12,500"), read_number("1,2,3")
    (0.5, 12500.0, None)
    >>> read_number("4 billion"), read_number("twenty-eight"), read_number("twofold"), read_number("several")
    (4000000000.0, 28.0, 2.0, None)
    """
    text = unicodedata.normalize("NFKC", text).replace("\u2212", "-").replace("\u2013", "-").strip().lower()
    text = re.sub(r"[- ]?fold$", "", text)
    if re.fullmatch(_DIGITS, text):
        return _by_digits(text)
    if power := _POWER.fullmatch(text):
        number = _by_digits(power[1] or "1")
        return None if number is None else float(f"{number!r}e{power[2].replace(' ', '')}")
    if fraction := re.fullmatch(r"(\d+) ?[/⁄] ?(\d+)", text):
        return float(fraction[1]) / float(fraction[2]) if float(fraction[2]) else None
    return _by_words(re.split(r"[\s-]+", text))


def _by_digits(text: str) -> float | None:
    """Digits with commas between groups of three, or with a decimal comma as some authors write it."""
    plain = text.replace(",", "") if _GROUPED.fullmatch(text) else text.replace(",", ".")
    try:
        return float(plain.replace(" ", ""))
    except ValueError:
        return None


def _by_words(words: Sequence[str]) -> float | None:
    total, part = 0.0, None
    for word in words:
        value = _WORDS.get(word)
        if value is None and re.fullmatch(_DIGITS, word):
            value = _by_digits(word)
        if value is not None:
            part = value * part if part is not None and 0 < value < 1 else (part or 0.0) + value
        elif word in _SCALES:
            part = (1.0 if part is None else part) * _SCALES[word]
            if word != "hundred":
                total, part = total + part, 0.0
        elif word not in ("and", "a", "an"):
            return None
    return None if part is None else total + part


# Units of scientific text ---------------------------------------------------------------------------------------------

_PREFIXES = {"": "", "f": "femto", "p": "pico", "n": "nano", "μ": "micro", "u": "micro", "m": "milli", "c": "centi",
             "d": "deci", "h": "hecto", "k": "kilo", "M": "mega", "G": "giga", "T": "tera"}  # fmt: skip
_SYMBOLS = {"m": "metre", "g": "gram", "s": "second", "l": "litre", "L": "litre", "A": "ampere", "K": "kelvin",
            "Hz": "hertz", "Pa": "pascal", "W": "watt", "V": "volt", "J": "joule", "eV": "electronvolt", "T": "tesla",
            "G": "gauss", "mol": "mole", "M": "mole per litre", "bar": "bar", "N": "newton", "F": "farad",
            "C": "coulomb", "cal": "calorie", "Oe": "oersted", "Bq": "becquerel", "Gy": "gray",
            "R": "rayleigh"}  # fmt: skip
_WHOLE = {
    "%": "percentage", "‰": "permille", "°": "degree", "°C": "celsius", "ºC": "celsius", "• C": "celsius",
    "° C": "celsius", "°F": "fahrenheit", "wt%": "weight percent", "wt.%": "weight percent", "wt. %": "weight percent",
    "w/w%": "weight percent", "vol%": "volume percent", "AU": "astronomical unit", "au": "astronomical unit",
    "d": "day", "h": "hour", "hr": "hour", "min": "minute", "yr": "year", "yrs": "year", "day": "day", "kt": "knot",
    "ppm": "part per million", "ppb": "part per billion", "ppt": "part per trillion", "rpm": "revolution per minute",
    "Å": "angstrom", "ly": "light year", "ohm": "ohm", "Ω": "ohm", "t": "tonne", "atm": "atmosphere", "°N": "degree",
    "°S": "degree", "×": "count", "Ma": "million year", "ka": "thousand year", "Gyr": "billion year", "ha": "hectare",
    "as": "arcsecond", "am": "arcminute", "mas": "milliarcsecond", "Mbps": "megabit per second", "Da": "dalton",
    "MVA": "megavolt ampere", "arcsec": "arcsecond", "′′": "arcsecond",
}  # fmt: skip
_FACTOR = re.compile(r"(\D+?)\^?(-?[1-9])?")


def science_unit(surface: str) -> str:
    """The name of a unit as scientific text writes it: symbols with prefixes, products, quotients, exponents.

    >>> science_unit("m s\u22121"), science_unit("kg/mm^2"), science_unit("μg/ml"), science_unit("mM")
    ('metre per second', 'kilogram per square millimetre', 'microgram per millilitre', 'millimole per litre')
    >>> science_unit("wt.%"), science_unit("participants"), science_unit("h^-1"), science_unit("K")
    ('weight percent', 'participants', 'reciprocal hour', 'kelvin')
    """
    text = unicodedata.normalize("NFC", surface).replace("\u2212", "-").replace("µ", "μ").replace("- ", "-").strip()
    if text in _WHOLE:
        return _WHOLE[text]
    top, *bottoms = text.split("/")
    over: list[str] = []
    under: list[str] = []
    for part, below in ((top, False), *((b, True) for b in bottoms)):
        for factor in re.split(r"[\s.·]+", part):
            if not factor:
                continue
            found = _FACTOR.fullmatch(factor)
            if found is None:
                return text
            power = int(found[2] or 1)
            name = _power(_symbol(found[1]), abs(power))
            (under if below or power < 0 else over).append(name)
    if not over:
        return " per ".join(f"reciprocal {name}" for name in under)
    return " per ".join([" ".join(over), *under])


def _symbol(text: str) -> str:
    if text in _WHOLE:
        return _WHOLE[text]
    for prefix, name in _PREFIXES.items():
        if text.startswith(prefix) and text[len(prefix) :] in _SYMBOLS:
            return name + _SYMBOLS[text[len(prefix) :]]
    return text


def _power(name: str, power: int) -> str:
    return {2: "square ", 3: "cubic "}.get(power, "") + name
