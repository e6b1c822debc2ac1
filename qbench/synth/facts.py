"""A row of a table -> a thing: its name, its kind, and the quantities that its cells state."""

from __future__ import annotations

import math
import re
import unicodedata
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from decimal import Decimal
from functools import lru_cache
from typing import Any

from qbench.quantities.english.inflection import plural
from qbench.quantities.english.numbers import read_number
from qbench.quantities.english.tokens import tokenize
from qbench.quantities.languages import CHINESE, Extractor, language_package
from qbench.quantities.types import Span
from qbench.quantities.units import Units
from qbench.synth.mapping import Attribute, TableMapping, concept_words

EMPTY = frozenset(("", "null", "none", "nan", "n/a", "na", "nil", "-", "--", "–", "—", "?", "unknown"))
"""Cells that say nothing, in lower case."""

MAX_NAME = 80
MAX_KIND = 40
MAX_CELL = 200
"""Characters of a name, a kind, a cell with a quantity. Longer names are cut, longer cells hold no quantity."""

_REMEMBERED = 50_000

SMALLEST, LARGEST = 1e-6, 1e15
"""Absolute values outside cannot be written the way people write numbers."""


@dataclass(frozen=True, slots=True)
class Fact:
    """A quantity that the table states: `value` `unit`, of attribute number `attribute` of the mapping."""

    attribute: int
    value: float
    unit: str


@dataclass(frozen=True, slots=True)
class Thing:
    """What one row is about.

    Attributes:
        row: its number, from 1.
        name: one line, without control characters.
        kind, kind_words: what it is ("gaming laptop"), as written and as concept words; "" and () where unknown.
        qualifier, qualifier_words: what narrows the kind down ("Acme").
        broader: a broader kind ("laptop"); "" where none is known.
        kind_at, qualifier_at: their spans in the name, None where the name does not hold them.
        facts: the quantities, in the order of the mapping.
    """

    row: int
    name: str
    kind: str
    kind_words: tuple[str, ...]
    qualifier: str
    qualifier_words: tuple[str, ...]
    broader: str
    kind_at: Span | None
    qualifier_at: Span | None
    facts: tuple[Fact, ...]

    @property
    def key(self) -> str:
        """Everything but the row number: equal things get equal sentences."""
        facts = ";".join(f"{f.attribute}={f.value!r}{f.unit}" for f in self.facts)
        return "\x1f".join((self.name, self.kind, self.qualifier, facts))


@dataclass
class Cells:
    """What became of one column's cells.

    Attributes:
        used: those that hold a quantity, and were read.
        empty: NULL, NaN, blank and their kin.
        unreadable: the others, by cell, the first few.
    """

    used: int = 0
    empty: int = 0
    unreadable: int = 0
    examples: list[str] = field(default_factory=list)

    def to_dict(self) -> dict[str, Any]:
        """For the manifest."""
        return {"used": self.used, "empty": self.empty, "unreadable": self.unreadable, "examples": self.examples}


class ThingReader:
    """Turns rows into things by a mapping, and counts what could not be used.

    Attributes:
        cells: attribute number -> what became of its cells.
        skipped: reason -> rows that gave no thing.
    """

    def __init__(self, mapping: TableMapping, units: Units) -> None:
        self._mapping = mapping
        self._units = units
        self._patterns = [re.compile(a.pattern) if a.pattern else None for a in mapping.attributes]
        self._categories = {cell.casefold(): called for cell, called in mapping.categories.items()}
        self._words = {form: word for word in reversed(mapping.words) for form in _forms(word)}
        self._words_pattern = _last_of(self._words)
        self._read: dict[tuple[int, str], tuple[float, str] | None] = {}
        self.cells = [Cells() for _ in mapping.attributes]
        self.skipped: Counter[str] = Counter()

    def read(self, row: int, cells: dict[str, Any]) -> Thing | None:
        """The thing of one row; None, and a count in `skipped`, if it states no quantity or has no name."""
        facts = tuple(f for i in range(len(self.cells)) if (f := self._fact(i, cells)) is not None)
        if not facts:
            self.skipped["no quantity"] += 1
            return None
        name = self._name(row, cells)
        if not name:
            self.skipped["no name"] += 1
            return None
        kind = self._kind(cells)
        words = concept_words(kind)
        qualifier = clean(cells.get(self._mapping.qualifier), MAX_KIND) if self._mapping.qualifier else ""
        qualifying = concept_words(qualifier)
        if set(qualifying) <= set(words):
            qualifier, qualifying = "", ()
        return Thing(
            row=row,
            name=name,
            kind=kind,
            kind_words=words,
            qualifier=qualifier,
            qualifier_words=qualifying,
            broader=self._broader(kind, cells),
            kind_at=_within(kind, name),
            qualifier_at=_within(qualifier, name),
            facts=facts,
        )

    def _name(self, row: int, cells: dict[str, Any]) -> str:
        if not self._mapping.name:
            return f"item {row}"
        return clean(" ".join(clean(cells.get(column)) for column in self._mapping.name))

    def _kind(self, cells: dict[str, Any]) -> str:
        mapping = self._mapping
        cell = clean(cells.get(mapping.category), MAX_CELL) if mapping.category else ""
        if self._words_pattern is not None:
            named = self._words_pattern.search(_head(cell))
            cell = self._words[named[1]] if named else ""
        called = self._categories.get(cell.casefold())
        if called:
            return called[0]
        kind = lower_noun(cell) if mapping.category else mapping.noun
        if kind.endswith("ing") and mapping.noun and not mapping.words and not kind.endswith(mapping.noun):
            kind = f"{kind} {mapping.noun}"  # "gaming" narrows a laptop down, and is none
        return kind if len(kind) <= MAX_KIND and concept_words(kind) else ""

    def _broader(self, kind: str, cells: dict[str, Any]) -> str:
        mapping = self._mapping
        broader = lower_noun(clean(cells.get(mapping.broader), MAX_KIND)) if mapping.broader else mapping.noun
        return broader if kind and concept_words(broader) else ""

    def _fact(self, index: int, cells: dict[str, Any]) -> Fact | None:
        attribute, count = self._mapping.attributes[index], self.cells[index]
        cell = cells.get(attribute.column)
        if cell is None or (isinstance(cell, str) and cell.strip().lower() in EMPTY):
            count.empty += 1
            return None
        if isinstance(cell, float):
            if math.isnan(cell):
                count.empty += 1
                return None
            read = _in_range(cell, attribute.unit)
        else:
            read = self._cell(index, cell)
        if read is None:
            count.unreadable += 1
            text = clean(cell, 40)
            if len(count.examples) < 3 and text not in count.examples:
                count.examples.append(text)
            return None
        count.used += 1
        value, unit = read
        return Fact(index, round(value, attribute.decimals) if attribute.decimals is not None else value, unit)

    def _cell(self, index: int, cell: object) -> tuple[float, str] | None:
        attribute, pattern = self._mapping.attributes[index], self._patterns[index]
        if not isinstance(cell, str) or len(cell) > MAX_CELL:
            return read_cell(cell, attribute, self._units, pattern)
        # Cells of a table repeat ("8GB"), and reading one takes longer than remembering it.
        key = (index, cell)
        if key not in self._read:
            if len(self._read) >= _REMEMBERED:
                self._read.clear()
            self._read[key] = read_cell(cell, attribute, self._units, pattern)
        return self._read[key]


def read_cell(
    cell: object, attribute: Attribute, units: Units, pattern: re.Pattern[str] | None = None
) -> tuple[float, str] | None:
    """The value and unit of one cell; None if it holds no quantity, or more than one.

    A unit in the cell wins over the attribute's if the two compare; if they do not, the cell is not understood.

    >>> from qbench.quantities.units import load_units
    >>> read_cell("128GB SSD", Attribute("Memory", "memory"), load_units())
    (128.0, 'gigabyte')
    >>> read_cell("3.5亿元", Attribute("收入", "收入"), load_units())
    (350000000.0, 'yuan')
    """
    if isinstance(cell, bool):
        return None
    if isinstance(cell, int | Decimal):
        return _in_range(float(cell) if -LARGEST < cell < LARGEST else math.inf, attribute.unit)
    if isinstance(cell, float):
        return _in_range(cell, attribute.unit)
    if not isinstance(cell, str) or len(cell) > MAX_CELL:
        return None
    text = clean(cell, MAX_CELL)
    if pattern is not None:
        match = pattern.search(text)
        if match is None:
            return None
        text = (match[1] if pattern.groups else match[0]) or ""
    if _PLAIN.fullmatch(text):
        return _in_range(float(text), attribute.unit)
    read = _read_text(_decimal_point(text), attribute.unit, units)
    return read if read is not None or text.isascii() else _read_chinese(text, attribute.unit, units)


_PLAIN = re.compile(r"-?[0-9]{1,18}(?:\.[0-9]{1,18})?")
_COMMA = re.compile(r"(?<!\d)(\d+|\d{1,3}(?:\.\d{3})+),(\d{1,2}|\d{4,})(?![\d,.])")
_SIGNS = {"-": -1.0, "−": -1.0, "–": -1.0, "+": 1.0}


def _decimal_point(text: str) -> str:
    """ "1.234,5" as "1234.5": a comma before one, two or four and more digits marks decimals."""
    return _COMMA.sub(lambda m: f"{m[1].replace('.', '')}.{m[2]}", text)


def _read_text(text: str, expected: str, units: Units) -> tuple[float, str] | None:
    tokens = tokenize(text)
    first = next((i for i, token in enumerate(tokens) if token.kind == "number"), None)
    if first is None:
        return None
    before, sign = text[: tokens[first].start].strip(), 1.0
    if before[-1:] in _SIGNS:
        sign, before = _SIGNS[before[-1]], before[:-1].strip()
    front = units.preceding(before) if before else None
    number = read_number(tokens, first, money=front is not None)
    if number is None or (before and front is None):
        return None
    rest = text[tokens[number.last - 1].end :]
    if any(c.isdigit() for c in rest.replace("²", "").replace("³", "")):
        return None
    unit = front or _unit_of(rest, units)
    if unit is None:
        loose = not rest.strip() or rest[0].isspace() or rest[0] in "(,;/"
        return _in_range(sign * number.value, expected) if loose else None
    if expected and units.get(expected).base_unit != unit.name and unit.base_unit != units.get(expected).base_unit:
        return None
    return _in_range(sign * number.value, unit.name)


def _read_chinese(text: str, expected: str, units: Units) -> tuple[float, str] | None:
    """A cell such as 190克 or 3.5亿元: one amount, exactly."""
    mentions = _chinese_reader(units).extract(text)
    if len(mentions) != 1 or mentions[0].comparator != "=":
        return None
    (mention,) = mentions
    start, end = mention.value_span
    if any(map(str.isdigit, text[:start] + text[end:])):
        return None
    if expected and mention.unit and units.get(expected).base_unit != mention.base_unit:
        return None
    return _in_range(mention.value, mention.unit or expected)


@lru_cache(maxsize=2)
def _chinese_reader(units: Units) -> Extractor:
    return language_package(CHINESE).extractor("rules", units, years=False, p_values=False, spacy_model="", model=None)


def _unit_of(rest: str, units: Units) -> Any:
    """The unit named by what follows a number, or by the longest start of it."""
    words = rest.split()
    for size in range(min(4, len(words)), 0, -1):
        surface = " ".join(words[:size]).rstrip(",;")
        if (unit := units.lookup(surface)) is not None:
            return unit
    return None


def _in_range(value: float, unit: str) -> tuple[float, str] | None:
    if not math.isfinite(value) or abs(value) >= LARGEST or 0 < abs(value) < SMALLEST:
        return None
    return value + 0.0, unit


def clean(cell: object, limit: int = MAX_NAME) -> str:
    r"""A cell as one line: control characters and runs of white space are one space; cut at a word within `limit`.

    >>> clean("Omega\n <script>\x00 7 ")
    'Omega <script> 7'
    """
    if cell is None:
        return ""
    text = str(cell)[: 4 * limit]
    if not text.isascii() or not text.isprintable():
        text = "".join(_visible(c) for c in text)
    text = " ".join(text.split())
    if text.lower() in EMPTY:
        return ""
    if len(text) <= limit:
        return text
    return text[: limit + 1].rpartition(" ")[0] or text[:limit]


_JOINERS = "\u200c\u200d"
"""Invisible, and part of the spelling in several scripts."""


def _visible(char: str) -> str:
    kind = unicodedata.category(char)
    if kind == "Cf":
        return char if char in _JOINERS else ""
    return " " if kind in ("Cc", "Cs", "Co", "Cn", "Zl", "Zp") else char


def lower_noun(text: str) -> str:
    """A cell as a common noun: capitals go, except in abbreviations.

    >>> lower_noun("Gaming Laptop"), lower_noun("LED TV")
    ('gaming laptop', 'LED TV')
    """
    return " ".join(word if word.isupper() and 1 < len(word) <= 4 else word.lower() for word in text.split())


def _forms(word: str) -> tuple[str, ...]:
    """A word, and what its plural may look like."""
    low = word.lower()
    return low, plural(low), f"{low}es"


_NAME_ENDS = re.compile(r"[,;:(\[]|\s[-–—]\s|\b(?:in|with|for|of|on|from|without)\b")
_ANDS = ("&", "and", "+", "n")


def _head(name: str) -> str:
    """What the end of a name says it is: up to a comma, a bracket or a preposition, in lower case.

    A name that ends in a bare word after "and" is two things, and says nothing.

    >>> _head("Eggplant in Olive Oil"), _head("Bread, Whole Wheat"), _head("Macaroni & Cheese")
    ('eggplant', 'bread', '')
    >>> _head("Salt and Vinegar Potato Chips")
    'salt and vinegar potato chips'
    """
    words = _NAME_ENDS.split(name.lower(), maxsplit=1)[0].split()
    return "" if len(words) > 1 and words[-2] in _ANDS else " ".join(words)


def _last_of(words: Iterable[str]) -> re.Pattern[str] | None:
    """What finds the longest of some words at the end of a text."""
    longest_first = sorted(words, key=len, reverse=True)
    return re.compile(r"(?<!\w)(" + "|".join(map(re.escape, longest_first)) + r")$") if longest_first else None


def _within(part: str, name: str) -> Span | None:
    if not part:
        return None
    match = re.search(rf"(?<!\w){re.escape(part)}(?!\w)", name, re.IGNORECASE)
    return None if match is None else match.span()
