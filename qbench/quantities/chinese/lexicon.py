"""What the text files of the language say: forms of units, phrases of comparators and of movements."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from qbench.quantities.chinese.characters import plain

_DATA = Path(__file__).parent / "data"


@dataclass(frozen=True, slots=True)
class Form:
    """How a unit is written.

    Attributes:
        text: the characters.
        unit: canonical name of the unit, or the counted noun.
        factor: how many of the unit one of this form is (斤 is half a kilogram).
        kind: "unit", "noun", or "classifier", a counting word.
        never, only: characters that may not, or must, follow.
    """

    text: str
    unit: str
    factor: float
    kind: str
    never: str = ""
    only: str = ""

    def fits(self, following: str) -> bool:
        """Whether the form is this unit before a character ("" at the end)."""
        return (not self.only or (following != "" and following in self.only)) and (
            following == "" or following not in self.never
        )


@cache
def unit_forms() -> Mapping[str, Form]:
    """The forms of units and counted nouns, by their characters."""
    forms: dict[str, Form] = {}
    for kind, name, written in _entries("units.txt", " = "):
        for words in written.split(","):
            form = _form(words.strip(), name, kind)
            forms.setdefault(form.text, form)
    return forms


@cache
def longest_form() -> int:
    """Characters of the longest form of a unit."""
    return max(map(len, unit_forms()))


@cache
def written_forms() -> Mapping[str, tuple[str, ...]]:
    """The forms in which each unit is written, the usual one first; only those that are one of the unit."""
    forms: dict[str, list[str]] = {}
    for form in unit_forms().values():
        if form.factor == 1 and not form.only:
            forms.setdefault(form.unit, []).append(form.text)
    return {name: tuple(some) for name, some in forms.items()}


def unit_written(form: str) -> str:
    """The unit that a form is one of, by its canonical name; "" for none.

    >>> unit_written("公斤"), unit_written("斤"), unit_written("好")
    ('kilogram', '', '')
    """
    return next((name for name, forms in written_forms().items() if form in forms), "")


def usual_name(unit: str) -> str:
    """A unit by its usual form, by its canonical name where none is known.

    >>> usual_name("yuan per share"), usual_name("kilogram"), usual_name("furlong"), usual_name("")
    ('元/股', '公斤', 'furlong', '')
    """
    written = written_forms()
    if unit in written:
        return written[unit][0]
    return "/".join(written[part][0] if part in written else part for part in unit.split(" per "))


@cache
def phrases() -> Mapping[str, tuple[str, ...]]:
    """The phrases of each section of phrases.txt, in its order."""
    found: dict[str, list[str]] = {}
    for section, text, _ in _entries("phrases.txt", None):
        found.setdefault(section, []).extend(plain(word.strip()) for word in text.split(",") if word.strip())
    return {section: tuple(dict.fromkeys(words)) for section, words in found.items()}


@cache
def comparators(side: str) -> Mapping[str, str]:
    """The comparator of each phrase that stands "before" or "after" a number."""
    return {
        word: section.split()[0]
        for section, words in phrases().items()
        if section.endswith(f" {side}")
        for word in words
    }


def alternatives(words: Iterator[str] | tuple[str, ...] | Mapping[str, str]) -> str:
    """A pattern of any of some words, longer ones first; spaces within them are optional."""
    ordered = sorted(words, key=lambda word: (-len(word), word))
    return "(?:" + "|".join(re.escape(word).replace("\\ ", " ?") for word in ordered) + ")"


def _form(written: str, unit: str, kind: str) -> Form:
    factor, _, text = written.partition(" ")
    if not text or not re.fullmatch(r"[\d.]+", factor):
        factor, text = "1", written
    text, never = (*text.split("!", 1), "")[:2]
    text, only = (*text.split("+", 1), "")[:2]
    return Form(plain(text), unit, float(factor), kind, plain(never), plain(only))


def _entries(name: str, sign: str | None) -> Iterator[tuple[str, str, str]]:
    """(section, what stands before the sign, what after) of each line of a file."""
    section = ""
    for raw in (_DATA / name).read_text(encoding="utf-8").splitlines():
        line = raw.strip()
        if line.startswith("[") and line.endswith("]"):
            section = line[1:-1]
        elif line and not line.startswith("#"):
            before, _, after = (line, "", "") if sign is None else line.partition(sign)
            yield section, before.strip(), after.strip()


@cache
def words(section: str) -> tuple[str, ...]:
    """The words of a section of words.txt, in its order."""
    found = (
        plain(word.strip())
        for name, text, _ in _entries("words.txt", None)
        if name == section
        for word in text.split(",")
    )
    return tuple(dict.fromkeys(word for word in found if word))
