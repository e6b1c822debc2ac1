"""Recognizers-Text specifications, English: numbers, percentages, number ranges, numbers with units."""

from __future__ import annotations

import json
import re
from pathlib import Path
from types import ModuleType
from typing import Any

from .common import (
    Case,
    Figure,
    Item,
    System,
    both,
    family,
    predicted,
    relevant,
    same_operator,
    same_unit,
    same_value,
    scores,
    share,
)

TITLE = "Recognizers-Text specifications (English)"
UNITS = {
    "C": "celsius", "F": "fahrenheit", "Degree": "degree", "Pound": "pound", "Meter per millisecond":
    "metre per millisecond", "Centimeter per millisecond": "centimetre per millisecond",
    "Kilometer per millisecond": "kilometre per millisecond", "Ton": "ton", "Turn": "turn",
}  # fmt: skip
AGES = {"Year": "year of age", "Month": "month of age", "Week": "week of age", "Day": "day of age"}
ABOUT = """\
`Number` asks for every number (also those of an IP address, of dates, of "one" as a pronoun), so that it bounds what
an extractor of quantities can reach; half of its texts are bare expressions. `Percent` and `NumberWithUnit` annotate
one kind: a prediction counts against precision if its unit is of that family (age; currency; ratio; temperature; for
dimensions any measured family but time, temperature and currency) or if it overlaps a gold span. `NumberRange`
counts predictions with a bound, or on a gold span; its operator is read off the brackets, and an interval that the
text gives as two bounds ("more than 2 and less than 9") is one gold item, which reading as two mentions misses.
Units without a number ("dollars") are left out, and specifications that the reference implementation does not
support. Units: the score script's `canon` after the table in `recognizers.py` (C, F, and ages)."""
FOLDER = "extraction/recognizers_text/Specs"
SETS = {
    "Number": "Number/English/NumberModel.json",
    "Percent": "Number/English/PercentModel.json",
    "NumberRange": "Number/English/NumberRangeModel.json",
    "Age": "NumberWithUnit/English/AgeModel.json",
    "Currency": "NumberWithUnit/English/CurrencyModel.json",
    "Dimension": "NumberWithUnit/English/DimensionModel.json",
    "Temperature": "NumberWithUnit/English/TemperatureModel.json",
}
_RANGE = re.compile(r"([\[(])([^,]*),([^\])]*)([\])])")
NOT_DIMENSIONS = ("", "count", "time", "temperature", "currency", "ratio", "age", "date", "ratio difference")


def measure(data: Path, system: System, scorer: ModuleType) -> list[Figure]:
    figures: list[Figure] = []
    for name, path in SETS.items():
        specs = json.loads((data / FOLDER / path).read_text(encoding="utf-8-sig"))
        cases = [case(spec, name) for spec in specs if "dotnet" not in spec.get("NotSupported", "").lower()]
        mentions = system.extract([c.text for c in cases])
        found = [
            relevant(c, [predicted(q) for q in row], lambda item, name=name: _is_of(item, name))
            for c, row in zip(cases, mentions, strict=True)
        ]
        criteria = {f"{name}: value": same_value}
        if name == "NumberRange":
            criteria[f"{name}: value+operator"] = both(same_value, same_operator)
        elif name not in ("Number", "Percent"):
            criteria[f"{name}: value+unit"] = both(same_value, same_unit(scorer, AGES if name == "Age" else UNITS))
        figures += scores(cases, found, criteria)
        if name == "NumberRange":
            figures.append(share(f"{name}: operator, of values found", cases, found, same_operator, "operator"))
    return figures


def case(spec: dict[str, Any], name: str) -> Case:
    gold, ignored = [], []
    for result in spec.get("Results", ()):
        span = (result["Start"], result["End"] + 1)
        value = (result.get("Resolution") or {}).get("value")
        item = None if value is None else _item(value, result["Resolution"].get("unit"), span)
        if item is None:
            ignored.append(span)
        else:
            gold.append(item)
    return Case(spec["Input"], gold, ignored)


def _item(value: str, unit: str | None, span: tuple[int, int]) -> Item | None:
    """A specification's value: a number, a percentage or an interval.

    >>> _item("[7,)", None, (0, 5)).operator, _item("(2,9]", None, (0, 5)).readings
    ('>=', ((2.0, 9.0),))
    """
    if found := _RANGE.fullmatch(value):
        low, high = found[2], found[3]
        if low and high:
            ends = (float(low), float(high))
            return Item((ends,), unit, "=" if low == high else "between", span)
        operator = (">=" if found[1] == "[" else ">") if low else ("<=" if found[4] == "]" else "<")
        number = float(low or high)
        return Item(((number, number),), unit, operator, span)
    try:
        number = float(value.rstrip("%"))
    except ValueError:
        return None
    return Item(((number, number),), unit, "=", span)


def _is_of(item: Item, name: str) -> bool:
    """Whether a prediction is of the kind that a file annotates."""
    kind = family(item.unit or "")
    if name == "Number":
        return True
    if name == "NumberRange":
        return item.operator not in ("=", "~")
    if name == "Dimension":
        return kind not in NOT_DIMENSIONS and not kind.startswith("currency")
    wanted = {"Percent": "ratio", "Age": "age", "Currency": "currency", "Temperature": "temperature"}[name]
    return kind == wanted
