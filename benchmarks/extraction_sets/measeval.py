"""MeasEval (SemEval-2021 task 8), train and trial: spans, values and units of quantities in scientific paragraphs."""

from __future__ import annotations

import csv
import json
import re
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

from .common import (
    Case,
    Figure,
    Item,
    Share,
    Span,
    System,
    both,
    hits,
    overlap,
    read_number,
    relevant,
    same_science_unit,
    same_value,
    science_unit,
    scores,
    share,
)

TITLE = "MeasEval (scientific paragraphs)"
ABOUT = """\
Paragraphs cut into sentences as build-index does. The gold has spans and a unit's surface but no values: they are
read off the span's text by `values_of` (one number; two numbers of a range, with the number alone for a bound; base
and tolerance; each number of a list with a span of its own). Left out: years, dates, clock times, coordinates,
ratios ("1:10") and what `values_of` cannot read, with the predictions on them. `span` matches one to one by overlap.
The gold marks what is measured and leaves other numbers alone, so that precision has a ceiling below 100. Units:
`science_unit` in `common.py`, then the score script's `canon`; compared where the value is found and the gold has a
unit."""
FOLDER = "extraction/measeval"
PARTS = (("train/tsv", "train/text"), ("trial/tsv", "trial/txt"))
_WORD = (
    "one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen "
    "eighteen nineteen twenty thirty forty fifty sixty seventy eighty ninety hundred thousand million billion half"
).replace(" ", "|")
_NUMBER = re.compile(
    r"(?<![A-Za-z\d.])(?<![A-Za-z][-\u2212])[-\u2212]?\d[\d,]*(?:\.\d+)?"
    r"(?:/\d+| ?[×x] ?10 ?[-\u2212]? ?\d+| ?(?:hundred|thousand|million|billion)\b)?|"
    rf"\b(?:{_WORD})(?:[- ](?:{_WORD}))*\b",
    re.IGNORECASE,
)
_TO = re.compile(r"[-\u2013\u2014]|\bto\b")
_DATE = re.compile(
    r"\b(?:1[5-9]|20)\d\d\b(?!\.\d)|\b(?:january|february|march|april|may|june|july|august|september|october|november|"
    r"december|jan|feb|mar|apr|jun|jul|aug|sept?|oct|nov|dec)\b|\d:\d|\d ?[\u00b0\u2032'\u2019] ?\d|\bUT\b",
    re.IGNORECASE,
)


def measure(data: Path, system: System, scorer: ModuleType) -> list[Figure]:
    cases = list(read(data))
    found = [relevant(c, row) for c, row in zip(cases, system.extract_paragraphs([c.text for c in cases]), strict=True)]

    def spans(gold: Item, guess: Item) -> bool:
        return overlap(gold.span, guess.span)

    figures: list[Figure] = [*scores(cases, found, {"span": spans, "value": both(same_value, spans)})]
    for what, wanted in (("single", False), ("range or tolerance", True)):
        some = [Case(c.text, [g for g in c.gold if (len({*g.readings[-1]}) > 1) == wanted]) for c in cases]
        right = sum(hits(c.gold, row, same_value) for c, row in zip(some, found, strict=True))
        figures.append(Share(f"value found: {what}", sum(len(c.gold) for c in some), right))
    test = both(same_value, same_science_unit(scorer))
    figures.append(share("unit, of values found where the gold has one", cases, found, test, "unit"))
    left_out = sum(len(c.ignored) for c in cases)
    figures.append(Share("gold annotations left out", left_out + sum(len(c.gold) for c in cases), left_out))
    return figures


def read(data: Path) -> Iterator[Case]:
    for rows, texts in PARTS:
        for path in sorted((data / FOLDER / rows).glob("*.tsv")):
            text = (data / FOLDER / texts / f"{path.stem}.txt").read_text(encoding="utf-8")
            gold: list[Item] = []
            ignored: list[Span] = []
            with path.open(encoding="utf-8", newline="") as lines:
                for row in csv.DictReader(lines, delimiter="\t", quoting=csv.QUOTE_NONE):
                    if row["annotType"] == "Quantity":
                        span = (int(row["startOffset"]), int(row["endOffset"]))
                        items = _items(text[slice(*span)], json.loads(row["other"] or "{}"), span)
                        gold += items
                        ignored += [] if items else [span]
            yield Case(text, gold, ignored)


def _items(text: str, other: dict[str, object], span: Span) -> list[Item]:
    """The gold items of one annotation; none where it is left out."""
    unit = other.get("unit")
    surface = unit if isinstance(unit, str) else ""
    if surface in ("", "UT") and _DATE.search(text):
        return []
    numbers = values_of(text)
    name = science_unit(surface) if surface else None
    mods = " ".join(str(m) for m in other.get("mods", ()))  # type: ignore[attr-defined]
    if not numbers or ":" in text:
        return []
    first = numbers[0][0]
    if len(numbers) == 1:
        return [Item(((first, first),), name, "=", span)]
    second = numbers[1][0]
    if "Tolerance" in mods or "SD" in mods or "±" in text:
        return [Item(((first, first), (first - second, first + second)), name, "=", span)]
    between = text[numbers[0][2] : numbers[1][1]]
    if len(numbers) == 2 and ("IsRange" in mods or _TO.search(between)):
        return [Item(((min(first, second), max(first, second)),), name, "=", span)]
    return [Item(((value, value),), name, "=", (span[0] + start, span[0] + end)) for value, start, end in numbers]


def values_of(text: str) -> list[tuple[float, int, int]]:
    """The numbers written in a short text: value, start, end.

    >>> values_of("from 50 to about 80 %")
    [(50.0, 5, 7), (80.0, 17, 19)]
    >>> values_of("1,500 and 2.5 million"), values_of("six to eight"), values_of("3–4")
    ([(1500.0, 0, 5), (2500000.0, 10, 21)], [(6.0, 0, 3), (8.0, 7, 12)], [(3.0, 0, 1), (4.0, 2, 3)])
    """
    found = []
    for match in _NUMBER.finditer(text):
        written, start = match[0].rstrip(","), match.start()
        if written[0] in "-\u2212" and start and text[start - 1] in "0123456789%":
            written, start = written[1:], start + 1
        value = read_number(written)
        if value is not None:
            found.append((value, start, start + len(written)))
    return found
