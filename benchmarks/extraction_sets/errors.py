"""Errors on NewsQuant by kind, decided by code: what is missed, invented, or wrong in unit, change or concept."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

from . import cqe
from .common import System, family

TITLE = "NewsQuant (a): errors by kind"
ABOUT = """\
Gold and predictions are paired one to one: first those that agree in value, unit and change, then in value and unit,
then in value. What is left over is missed or invented; a missed and an invented one with the same unit in a sentence
are one wrong value. A pair may be wrong in unit, change and concept at once. `number`: how the number stands in the
text. `unit`: what is counted. Concepts: `missing` (gold has words, we none), `invented` (the reverse), `too few` and
`too many` (one side holds the other), `partly`, `disjoint`."""
_INDEFINITE = re.compile(
    r"\b(?:dozens|scores|hundreds|thousands|tens|millions|billions|trillions|couple|several|decades)\b"
)
_SCALES = re.compile(
    r"\d[\d,.]*[\s-]?(?:k|m|mn|mln|bn|b|tn|crores?|lakhs?|hundred|thousand|million|billion|trillion)\b"
)


@dataclass(frozen=True)
class Error:
    """One error: its class ("missed", "wrong unit", ...), kinds, and what stood where."""

    what: str
    kinds: tuple[str, ...]
    text: str
    gold: dict[str, Any] | None
    found: dict[str, Any] | None


def find(data: Path, system: System, scorer: ModuleType, half: str) -> tuple[list[Error], int]:
    """The errors in one half, and the number of its gold quantities."""
    sentences = cqe.read(data)
    predictions = cqe.predictions(sentences, system)
    golds = scorer.load_gold(sentences, average_ranges=system.is_quantulum)
    founds = scorer.load_pred(predictions)
    errors: list[Error] = []
    total = 0
    for sentence, gold, found in zip(sentences, golds, founds, strict=True):
        if cqe.in_part(sentence["text"], half):
            total += len(gold)
            errors += _of_sentence(sentence["text"], gold, found, scorer)
    return errors, total


def _of_sentence(
    text: str, gold: list[dict[str, Any]], found: list[dict[str, Any]], scorer: ModuleType
) -> Iterator[Error]:
    pairs = _pairs(gold, found, scorer)
    missed = [g for k, g in enumerate(gold) if k not in pairs]
    invented = [p for k, p in enumerate(found) if k not in pairs.values()]
    for g in list(missed):
        same = [p for p in invented if g["unit"] not in ("", "-") and scorer.units_match(g["unit"], p["unit"], "canon")]
        if same:
            missed.remove(g)
            invented.remove(same[0])
            yield Error("wrong value", _kinds(text, g), text, g, same[0])
    yield from (Error("missed", _kinds(text, g), text, g, None) for g in missed)
    yield from (Error("invented", _kinds(text, p), text, None, p) for p in invented)
    for k, p in pairs.items():
        yield from _of_pair(text, gold[k], found[p], scorer)


def _of_pair(text: str, gold: dict[str, Any], found: dict[str, Any], scorer: ModuleType) -> Iterator[Error]:
    if not scorer.units_match(gold["unit"], found["unit"], "canon"):
        kinds = (f"unit: {unit_kind(gold['unit'])} read as {_unit_read(gold['unit'], found['unit'])}",)
        yield Error("wrong unit", kinds, text, gold, found)
    if gold["change"] != found["change"]:
        yield Error("wrong change", (f"change: {gold['change']} read as {found['change']}",), text, gold, found)
    kind = concept_kind(gold["concept"], found["concept"])
    if kind != "right":
        yield Error("wrong concept", (f"concept: {kind}",), text, gold, found)


def _pairs(gold: list[dict[str, Any]], found: list[dict[str, Any]], scorer: ModuleType) -> dict[int, int]:
    """Gold index -> prediction index, strict criteria first, larger and larger by augmenting paths."""
    taken: dict[int, int] = {}
    edges: list[list[int]] = [[] for _ in gold]

    def place(g: int, seen: set[int]) -> bool:
        for p in edges[g]:
            if p not in seen:
                seen.add(p)
                if p not in taken or place(taken[p], seen):
                    taken[p] = g
                    return True
        return False

    for level in range(3):
        for g, item in enumerate(gold):
            for p, other in enumerate(found):
                if p not in edges[g] and scorer.values_match(item["value"], other["value"]):
                    unit = scorer.units_match(item["unit"], other["unit"], "canon")
                    agrees = unit + (unit and item["change"] == other["change"])
                    if agrees >= 2 - level:
                        edges[g].append(p)
        for g in range(len(gold)):
            if g not in taken.values():
                place(g, set())
    return {g: p for p, g in taken.items()}


def _kinds(text: str, item: dict[str, Any]) -> tuple[str, ...]:
    return f"number: {number_kind(text, item['value'])}", f"unit: {unit_kind(item['unit'])}"


def number_kind(text: str, value: float | tuple[float, float] | None) -> str:
    """How a number stands in its text.

    >>> number_kind("One man and 12 dogs", 1.0), number_kind("Twelve dogs", 12.0), number_kind("$1,200 paid", 1200.0)
    ('one', 'written', 'digits')
    >>> number_kind("millions of dogs", 1e6), number_kind("in 1999", 1999.0), number_kind("5 to 8", (5.0, 8.0))
    ('indefinite', 'year-like', 'range')
    """
    if value is None:
        return "unreadable"
    if isinstance(value, tuple):
        return "range"
    plain = text.lower().replace(",", "")
    if re.search(rf"(?<![\d.]){re.escape(f'{abs(value):.12g}')}(?!\d)", plain):
        return "year-like" if 1500 <= value <= 2100 and value == int(value) else "digits"
    if value == 1 and re.search(r"\bone\b", plain):
        return "one"
    if 0 < abs(value) < 1:
        return "fraction"
    if value >= 10 and _INDEFINITE.search(plain) and f"{value:.0f}"[0] in "12" and float(f"{value:.0e}") == value:
        return "indefinite"
    if abs(value) >= 100 and _SCALES.search(plain):
        return "digits and magnitude"
    return "written" if value == int(value) and value >= 0 else "other"


def unit_kind(name: str) -> str:
    """What kind of unit a name is.

    >>> unit_kind("dollar"), unit_kind("-"), unit_kind("year of age"), unit_kind("medal")
    ('currency', 'none', 'age', 'noun')
    """
    if name in ("", "-"):
        return "none"
    if " per " in name or "/" in name:
        return "compound"
    if name.startswith("%"):
        return "percent"
    kind = family(name)
    if kind.startswith("currency"):
        return "currency"
    if kind in ("ratio", "ratio difference"):
        return "percent"
    if kind in ("count", ""):
        return "noun"
    return kind if kind in ("age", "time", "date") else "measured"


def _unit_read(gold: str, found: str) -> str:
    kind = unit_kind(found)
    if kind != unit_kind(gold):
        return kind
    ours, theirs = set(found.lower().split()), set(gold.lower().split())
    if ours < theirs:
        return "part of it"
    if theirs < ours:
        return "more than it"
    return "one that shares a word" if ours & theirs else f"another {kind}"


def concept_kind(gold: list[str], found: list[str]) -> str:
    """How a concept differs from the gold's, both as lists of tokens with "-" for none.

    >>> concept_kind(["-"], ["-"]), concept_kind(["net", "sales"], ["sales"]), concept_kind(["-"], ["sales"])
    ('right', 'too few words', 'invented')
    """
    a, b = set(gold), set(found)
    if a & b and len(a & b) == len(gold) == len(found):
        return "right"
    if b == {"-"}:
        return "missing"
    if a == {"-"}:
        return "invented"
    if not a & b:
        return "disjoint"
    if b <= a:
        return "too few words"
    return "too many words" if a <= b else "partly"


def table(data: Path, system: System, scorer: ModuleType) -> dict[str, dict[str, int]]:
    """Counts of every class and kind of error, for the whole set and both halves."""
    rows: dict[str, dict[str, int]] = {"gold quantities": {}}
    for half in cqe.PARTS:
        errors, total = find(data, system, scorer, half)
        rows["gold quantities"][half] = total
        counts: Counter[str] = Counter()
        for error in errors:
            counts[error.what] += 1
            counts.update(f"{error.what}; {kind}" for kind in error.kinds)
        for name, count in counts.items():
            rows.setdefault(name, {})[half] = count
    order = ["gold quantities", "missed", "invented", "wrong value", "wrong unit", "wrong change", "wrong concept"]
    names = sorted(rows, key=lambda n: (order.index(n.partition(";")[0]), ";" in n, -rows[n].get("all", 0), n))
    return {name: {half: rows[name].get(half, 0) for half in cqe.PARTS} for name in names}


def show(errors: list[Error], only: str | None) -> None:
    """Print errors, grouped by class; for the terminal alone."""
    for error in sorted(errors, key=lambda e: (e.what, e.kinds)):
        label = f"{error.what} [{'; '.join(error.kinds)}]"
        if only is None or only in label:
            print(f"{label}\n    {error.text}\n    gold  {_shown(error.gold)}\n    found {_shown(error.found)}\n")


def _shown(item: dict[str, Any] | None) -> str:
    if item is None:
        return "-"
    return f"{item['change']} {item['value']} | {item['unit'] or '-'} | {' '.join(item['concept'])}"
