"""Sentences whose unit's surface ("C", "$", "b") needs context."""

from __future__ import annotations

import json
import re
from collections import Counter
from pathlib import Path
from types import ModuleType

from .common import Figure, Share, System, units_match

TITLE = "Unit disambiguation"
UNITS = {
    "pound": "pound sterling", "percent": "percentage", "pence": "penny", "diopter (lens)": "diopter",
    "armenian dram": "armenian dram", "point": "point", "pound-mass": "pound mass",
}  # fmt: skip
PREFIXES = ("kilo", "mega", "giga", "tera", "deci", "centi", "milli", "micro", "nano", "pico", "femto", "atto")
ABOUT = """\
A sentence is right if one of its mentions has the gold unit, or the gold unit with an SI prefix or as the first part
of a rate (the gold says "bel" for decibels, "byte" for megabytes). The gold names no position: the surface of a row
is found by code, as the first symbol from a list of ambiguous ones that touches a number; else the first known word
(pounds, drams, ...); sentences without a number are shown apart. The sentences were generated and many are odd ("p"
for miles, knots that are tied), so that 100 is out of reach. Units: the score script's `canon` after the table
`UNITS`."""
FILE = "extraction/unit_disambiguation_train.json"
MARKS = "\u00a5 \u2032 \u2033 ' \" \u2019 \u201d".split()
SYMBOLS = [*"C F K B b a p P R r c pc kt kn kts dr dpt dB bit k M m G T s h".split(), *MARKS]
WORDS = "pound dram point pint knot acre penny pence cent minute year second yen yuan barn parsec".split()
_AFTER = re.compile(r"\d[\d,.]*\s?([A-Za-z]{1,3}|[\u00a5\u2032\u2033'\"\u2019\u201d])(?![A-Za-z])")
_NUMBER = re.compile(
    r"\d|\b(?:one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|twenty|thirty|forty|fifty|hundred|thousand|million)\b",
    re.IGNORECASE,
)


def measure(data: Path, system: System, scorer: ModuleType) -> list[Figure]:
    rows = json.loads((data / FILE).read_text(encoding="utf-8"))
    of: Counter[str] = Counter()
    right: Counter[str] = Counter()
    for row, mentions in zip(rows, system.extract([row["text"] for row in rows]), strict=True):
        surface = surface_of(row["text"])
        of[surface] += 1
        right[surface] += any(_same(row["unit"], q.unit, scorer) for q in mentions)
    numbered = of.total() - of["no number"]
    figures: list[Figure] = [
        Share("all", of.total(), right.total()),
        Share("sentences with a number", numbered, right.total() - right["no number"]),
    ]
    rare = [surface for surface, count in of.items() if count < 10]
    figures += [Share(f"surface {s}", n, right[s]) for s, n in of.most_common() if s not in rare]
    figures.append(Share("rarer surfaces", sum(of[s] for s in rare), sum(right[s] for s in rare)))
    return figures


def _same(gold: str, unit: str, scorer: ModuleType) -> bool:
    name = UNITS.get(gold, gold)
    unit = unit.partition(" per ")[0]
    bare = next((unit.removeprefix(p) for p in PREFIXES if unit.startswith(p)), unit)
    return units_match(scorer, name, unit) or (bare != unit and units_match(scorer, name, bare))


def surface_of(text: str) -> str:
    """The ambiguous surface of a sentence, for the table.

    >>> surface_of("Heat it to 95 C."), surface_of("It weighs two pounds"), surface_of("A knot")
    ('C', 'pound', 'no number')
    """
    if not _NUMBER.search(text):
        return "no number"
    for match in _AFTER.finditer(text):
        if match[1] in SYMBOLS:
            return {"\u2019": "'", "\u2032": "'", "\u2033": '"', "\u201d": '"'}.get(match[1], match[1])
    if "\u00a5" in text:
        return "\u00a5"
    low = text.lower()
    return next((word for word in WORDS if re.search(rf"\b{word}s?\b", low)), "other")
