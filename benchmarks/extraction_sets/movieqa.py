"""MovieQA's annotated queries: value, unit and operator of the conditions that parse_query reads."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

from .common import Figure, Item, Share, System, both, hits, same_operator, same_value, scores, units_match

TITLE = "MovieQA (queries)"
OPERATORS = {
    "greaterthan": ">", "lessthan": "<", "atleast": ">=", "atmost": "<=", "exact": "=", "around": "=", "in": "=",
}  # fmt: skip
UNITS = {"year": "calendar year"}
HOURS = {"hour": 1.0, "minute": 60.0}
ABOUT = """\
Conditions of `parse_query`, calendar years on. Two numbers of a `between` are one gold item; `around` and `in` ask
for equality, as parsed queries do. Left out, with conditions on them: release dates that are a day, a month or a
decade, and running times that do not say what the text does (a broken number of hours beside a whole one in words).
A unit that the text does not write ("a budget of 3 M") may be missing. The gold calls "no more than" sometimes
lessthan and sometimes atmost: `operator, strictness aside` takes < for <= and > for >=. Units: the score script's
`canon`; `year` is a calendar year."""
FILE = "retrieval/movieqa/full_annot_queries.json"
_WRITTEN = re.compile(r"\$|dollar|\bh(?:ou)?rs?\b|\bmin|point|star|countr|compan|\b(?:19|20)\d\d\b", re.IGNORECASE)


@dataclass(frozen=True)
class Query:
    """A query, its gold conditions, and the surfaces that are left out."""

    text: str
    gold: tuple[Item, ...]
    ignored: tuple[str, ...]


def measure(data: Path, system: System, scorer: ModuleType) -> list[Figure]:
    queries = [read(row) for row in json.loads((data / FILE).read_text(encoding="utf-8"))]
    found = []
    for query, parsed in zip(queries, system.parse([q.text for q in queries], years=True), strict=True):
        items = [(Item(((c.value, c.high),), c.unit, c.comparator), c.value_text) for c in parsed.conditions]
        found.append(
            [
                item
                for item, surface in items
                if any(same_value(g, item) for g in query.gold) or not any(surface in other for other in query.ignored)
            ]
        )

    def unit(gold: Item, guess: Item) -> bool:
        optional = (gold.unit or "").endswith("?")
        name = (gold.unit or "").rstrip("?")
        return (optional and not guess.unit) or units_match(scorer, UNITS.get(name, name), guess.unit or "")

    def loose(gold: Item, guess: Item) -> bool:
        return gold.operator.rstrip("=") == guess.operator.rstrip("=") or gold.operator == guess.operator

    criteria = {
        "value": same_value,
        "value+unit": both(same_value, unit),
        "value+operator": both(same_value, same_operator),
        "value+operator, strictness aside": both(same_value, loose),
        "value+unit+operator": both(same_value, unit, same_operator),
    }
    figures: list[Figure] = [*scores(queries, found, criteria)]  # type: ignore[arg-type]
    whole = sum(
        hits(q.gold, row, both(same_value, unit, loose)) == len(q.gold) == len(row)
        for q, row in zip(queries, found, strict=True)
    )
    figures.append(Share("queries read without a fault, strictness aside", len(queries), whole))
    figures.append(Share("gold conditions left out", *_left_out(queries)))
    return figures


def _left_out(queries: list[Query]) -> tuple[int, int]:
    ignored = sum(len(q.ignored) for q in queries)
    return ignored + sum(len(q.gold) for q in queries), ignored


def read(row: dict[str, Any]) -> Query:
    gold: list[Item] = []
    ignored: list[str] = []
    numbers = list(row["nums"])
    while numbers:
        group = [numbers.pop(0)]
        if group[0]["operation"] == "between" and numbers and numbers[0]["operation"] == "between":
            group.append(numbers.pop(0))
        surfaces = [row["q"][n["startposition"] : n["endposition"]] for n in group]
        item = _item(group, surfaces, row["q"])
        if item is None:
            ignored += surfaces
        else:
            gold.append(item)
    return Query(row["q"], tuple(gold), tuple(ignored))


def _item(group: list[dict[str, Any]], surfaces: list[str], text: str) -> Item | None:
    if any(n["unit"] in ("day", "month", "decade") for n in group) or (
        len(group) == 1 and group[0]["operation"] == "between"
    ):
        return None
    values = [_value(n, surface) for n, surface in zip(group, surfaces, strict=True)]
    if None in values:
        return None
    known = [v for v in values if v is not None]
    unit = group[0]["unit"]
    if len(group) == 2:
        if group[1]["unit"] != unit:
            known[1] *= HOURS[unit] / HOURS[group[1]["unit"]]
        operator = "between"
    else:
        operator = OPERATORS[group[0]["operation"]]
    last = group[-1]["endposition"]
    written = any(_WRITTEN.search(s) for s in (*surfaces, text[last : last + 10]))
    return Item(((min(known), max(known)),), unit if written else f"{unit}?", operator)


def _value(number: dict[str, Any], surface: str) -> float | None:
    """The gold value; None where it contradicts its own surface."""
    value = float(number["quantity"])
    if number["unit"] == "hour" and not any(c.isdigit() for c in surface) and value != int(value):
        return None
    return value
