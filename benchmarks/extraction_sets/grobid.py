"""grobid-quantities' annotated scientific text (TEI): values, intervals, tolerances, lists; units."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import ModuleType
from xml.etree import ElementTree as ET

from .common import (
    Case,
    Ends,
    Figure,
    Item,
    Share,
    System,
    both,
    read_number,
    relevant,
    same_science_unit,
    same_value,
    science_unit,
    scores,
    share,
)

TITLE = "grobid-quantities (scientific papers, patents)"
ABOUT = """\
Paragraphs of the TEI files, cut into sentences as build-index does. A gold item is a value; an interval with two
ends; an interval with one end, of which the number is compared; base and range ("16.8 ± 1.2"), which may be read as
the base or as an interval; each number of a list. Left out: dates and clock times, units without a number, numbers
that the gold gives in words without a value ("several"), paragraphs in German or French (three patents are
trilingual), and predictions that touch nothing else. Powers of ten that lost their superscript ("10 −4") are in the
gold as such. The gold asks for some numbers that are no quantities to us (names of compounds, "one" as a pronoun),
and misses some. Units are compared where both the value is found and the gold has a unit: symbols with prefixes,
products, quotients and exponents are spelled out by `science_unit` in `common.py`, then compared by the score
script's `canon`."""
FOLDER = "extraction/grobid_quantities/quantities"
ENGLISH = frozenset("the of and in is are was were to with by for that".split())
FOREIGN = frozenset("der die das und von mit des bei wird le la les et de du dans une est".split())


def measure(data: Path, system: System, scorer: ModuleType) -> list[Figure]:
    cases = list(read(data))
    found = [relevant(c, row) for c, row in zip(cases, system.extract_paragraphs([c.text for c in cases]), strict=True)]
    criteria = {"value": same_value}
    figures: list[Figure] = [*scores(cases, found, criteria)]
    for what, wanted in (("single", False), ("interval or tolerance", True)):
        some = [Case(c.text, [g for g in c.gold if _spread(g) == wanted]) for c in cases]
        figures.append(_recall(f"value found: {what}", some, found))

    figures.append(
        share(
            "unit, of values found where the gold has one",
            cases,
            found,
            both(same_value, same_science_unit(scorer)),
            "unit",
        )
    )
    return figures


def _spread(item: Item) -> bool:
    return any(low != high for low, high in item.readings)


def _recall(what: str, cases: Sequence[Case], found: Sequence[Sequence[Item]]) -> Figure:
    score = scores(cases, found, {what: same_value})[0]
    return Share(what, score.gold, score.correct)


def read(data: Path) -> Iterator[Case]:
    for path in sorted((data / FOLDER).rglob("*.xml")):
        for element in ET.parse(path).iter():
            if _tag(element) in ("p", "head", "item", "cell"):
                case = paragraph(element)
                if case.text.strip() and _is_english(case.text):
                    yield case


@dataclass
class _Reader:
    """Text and gold of one paragraph, white space folded as it is read."""

    text: str = ""
    gold: list[Item] = field(default_factory=list)
    ignored: list[tuple[int, int]] = field(default_factory=list)

    def add(self, raw: str | None) -> None:
        raw = re.sub(r"\s+", " ", raw or "")
        self.text += raw.lstrip() if not self.text or self.text.endswith(" ") else raw

    def walk(self, element: ET.Element) -> None:
        """Add an element's content; the measures in it become gold."""
        start = len(self.text)
        parts: list[_Part] = []
        self._inside(element, parts)
        if _tag(element) == "measure" and parts:
            self._measure(element.get("type") or "", parts, (start, len(self.text)))

    def _inside(self, element: ET.Element, parts: list[_Part]) -> None:
        if isinstance(element.tag, str):
            self.add(element.text)
        for child in element:
            start = len(self.text)
            tag = _tag(child)
            if tag == "measure" and child.get("type") in ("value", "interval", "list") and _tag(element) != "measure":
                self.walk(child)
            else:
                self._inside(child, parts)
            if tag in ("num", "date", "time") or (tag == "measure" and child.get("unit")):
                parts.append(_Part(tag, child, self.text[start : len(self.text)], (start, len(self.text))))
            self.add(child.tail)

    def _measure(self, kind: str, parts: list[_Part], span: tuple[int, int]) -> None:
        numbers = [part for part in parts if part.tag == "num"]
        units = [part.element.get("unit") for part in parts if part.tag == "measure"]
        values = [part.value() for part in numbers]
        if not numbers or None in values or any(part.tag in ("date", "time") for part in parts):
            self.ignored.append(span)
            return
        unit = science_unit(units[0]) if units and units[0] else None
        read = [value for value in values if value is not None]
        if kind == "interval" or (kind == "value" and len(read) == 2):
            self.gold.append(Item(_readings(numbers, read), unit, "=", span))
        else:
            for part, value in zip(numbers, read, strict=True):
                self.gold.append(Item(((value, value),), unit, "=", part.span))


@dataclass(frozen=True)
class _Part:
    tag: str
    element: ET.Element
    text: str
    span: tuple[int, int]

    def value(self) -> float | None:
        """The number as written; where it cannot be read, the attribute that normalises it."""
        for given in (self.text, self.element.get("atLeast"), self.element.get("atMost")):
            value = read_number(given) if given else None
            if value is not None:
                return value
        return None


def _readings(numbers: Sequence[_Part], values: Sequence[float]) -> tuple[Ends, ...]:
    kinds = [part.element.get("type") for part in numbers]
    if kinds[:2] == ["base", "range"]:
        base, spread = values[:2]
        return (base, base), (base - spread, base + spread)
    return ((min(values), max(values)),)


def paragraph(element: ET.Element) -> Case:
    """Text, gold and what is left out of one element.

    >>> it = ET.fromstring('<p>At <measure type="interval"><num type="base">5</num> ± <num type="range">1</num> '
    ...                    '<measure type="LENGTH" unit="mm">mm</measure></measure> wide</p>')
    >>> paragraph(it).text, paragraph(it).gold[0].readings, paragraph(it).gold[0].unit
    ('At 5 ± 1 mm wide', ((5.0, 5.0), (4.0, 6.0)), 'millimetre')
    """
    reader = _Reader()
    reader.walk(element)
    return Case(reader.text, reader.gold, reader.ignored)


def _tag(element: ET.Element) -> str:
    return element.tag.rpartition("}")[2] if isinstance(element.tag, str) else ""


def _is_english(text: str) -> bool:
    words = text.lower().split()
    return sum(word in ENGLISH for word in words) >= sum(word in FOREIGN for word in words)
