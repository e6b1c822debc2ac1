"""The default extractor of Chinese: numbers, units, comparators and concepts by rules over characters.

Amounts first (a number with its unit), then ranges, the words that bound each, and its concept. Linear in the length of
the text: each rule looks at a bounded number of characters.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from qbench.quantities.chinese.amounts import AmountFinder, amounts
from qbench.quantities.chinese.characters import plain
from qbench.quantities.chinese.concepts import Named, concepts
from qbench.quantities.chinese.modifiers import Modified, modified, shared
from qbench.quantities.chinese.notquantity import Held, held, years
from qbench.quantities.chinese.queries import parse_query
from qbench.quantities.chinese.ranges import Stated, stated
from qbench.quantities.types import ParsedQuery, Quantity, Span
from qbench.quantities.units import Units

_NUMERALS = re.compile(r"[\d零一二两三四五六七八九十百千万亿半番倍]")

Explained = tuple[Quantity, tuple[str, ...]]


class ChineseExtractor:
    """Rules over characters; see the module. Holds no state between calls.

    Args:
        units: the known units.
        years: report calendar years too.
    """

    name = "rules"

    def __init__(self, units: Units, *, years: bool = False) -> None:
        self.units = units
        self.years = years
        self._finder = AmountFinder(units)

    def extract(self, text: str) -> list[Quantity]:
        """The mentions in `text`, in order; spans index into `text`."""
        return [quantity for quantity, _ in self._explained(text)]

    def extract_many(self, texts: Iterable[str]) -> list[list[Quantity]]:
        """The mentions of each text."""
        return [self.extract(text) for text in texts]

    def explain_many(self, texts: Iterable[str]) -> list[list[Explained]]:
        """The mentions of each text, with the names of the rules that made them."""
        return [self._explained(text) for text in texts]

    def extract_query(self, text: str) -> list[Quantity]:
        """The mentions of a typed query, in order."""
        return self.extract(text)

    def parse_query(self, text: str) -> ParsedQuery:
        """The search words of a typed query, and what it asks of quantities."""
        return parse_query(text, self)

    def read(self, text: str) -> tuple[list[Stated], list[Modified], list[Held]]:
        """The amounts of a text that `plain` has been through, the words around each, and what is no quantity."""
        skipped = held(text)
        spans = iter([(stretch.start, stretch.end) for stretch in skipped])
        said = stated(text, amounts(text, self._finder, spans))
        floors = [0, *(one.end for one in said)]
        read = [modified(text, one, floor) for one, floor in zip(said, floors, strict=False)]
        return said, shared(text, said, read), skipped

    def _explained(self, original: str) -> list[Explained]:
        text = plain(original)
        if _NUMERALS.search(text) is None:
            return []
        said, read, skipped = self.read(text)
        named = concepts(text, said, read, skipped)
        found = [self._mention(original, one, how, name) for one, how, name in zip(said, read, named, strict=True)]
        if self.years:
            found += [self._year(text, span) for span in years(text, skipped)]
            found.sort(key=lambda mention: mention[0].value_span)
        return found

    def _mention(self, text: str, said: Stated, read: Modified, named: Named) -> Explained:
        unit = said.unit
        low, high = sorted((said.value, said.high))
        spans = tuple(sorted(span for span in (named.concept, named.subject) if span is not None))
        comparator = "between" if low < high and read.comparator in ("=", "~") else read.comparator
        quantity = Quantity(
            value=low,
            high=high,
            comparator=comparator,
            unit=unit.name,
            family=unit.family,
            base_unit=unit.base_unit,
            base_value=_base(low, unit.factor, unit.offset),
            base_high=_base(high, unit.factor, unit.offset),
            concept=_words(text, named.concept),
            digits=said.amount.number.digits,
            value_span=said.span,
            unit_span=said.amount.unit_span,
            comparator_span=read.comparator_span,
            concept_spans=spans,
            change=read.change,
            subject=_words(text, named.subject),
        )
        return quantity, (*said.how, *read.how)

    def _year(self, text: str, span: Span) -> Explained:
        year, unit = float(text[slice(*span)]), self.units.get("calendar year")
        parts = (unit.name, unit.family, unit.base_unit)
        return Quantity(year, year, "=", *parts, year, year, digits=4, value_span=span), ("date",)


def _base(value: float, factor: float, offset: float) -> float:
    return value * factor + offset


def _words(text: str, span: Span | None) -> tuple[str, ...]:
    """The words of a stretch: Chinese has no spaces, so it is one, unless the text puts some in."""
    return () if span is None else tuple(text[slice(*span)].lower().split())
