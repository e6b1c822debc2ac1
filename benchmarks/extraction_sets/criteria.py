"""Clinical-trial criteria with logical forms (LCT): the operator of each value, read as document and as query."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from types import ModuleType

from .common import Case, Figure, Item, Share, System, both, match, predicted, read_number, same_operator, same_value

TITLE = "LCT criteria (operators of trial criteria)"
OPERATORS = {"GTEQ": ">=", "GT": ">", "LT": "<", "LTEQ": "<=", "BETWEEN": "between", "EQ": "="}
ABOUT = """\
Every op(...) of a criterion's logical form with the val(...) that follow it; the same one twice counts once. `found`
is the share of gold values that are found (a range as one range), `operator` the share of these whose operator is
right: as documents `comparator` of a mention, as queries that of a condition. The gold gives no positions and no
other numbers, so there is no precision; units are not compared. Forms of which two values follow one bound, roman
numerals and operators without a value are left out, and so are BETWEEN with one value. The gold is of one annotator
and not free of slips (a GT where the text says "at least")."""
FILE = "extraction/lct_criteria_train.json"
_TOKEN = re.compile(r"\bop\((\w+)\)|\bval\('([^']*)'\)")


def measure(data: Path, system: System, scorer: ModuleType) -> list[Figure]:
    cases = [c for c in read(data) if c.gold]
    texts = [c.text for c in cases]
    figures: list[Figure] = []
    mentions = [[predicted(q) for q in row] for row in system.extract(texts)]
    figures += _figures("document", cases, mentions)
    parsed = [[Item(((c.value, c.high),), c.unit, c.comparator) for c in q.conditions] for q in system.parse(texts)]
    figures += _figures("query", cases, parsed)
    return figures


def _figures(how: str, cases: Sequence[Case], found: Sequence[Sequence[Item]]) -> list[Figure]:
    gold: Counter[str] = Counter()
    seen: Counter[str] = Counter()
    right: Counter[str] = Counter()
    for case, row in zip(cases, found, strict=True):
        partners = match(case.gold, row, [both(same_value, same_operator), same_value])
        for item, p in zip(case.gold, partners, strict=True):
            gold[item.operator] += 1
            if p is not None:
                seen[item.operator] += 1
                right[item.operator] += row[p].operator == item.operator
    figures: list[Figure] = [
        Share(f"{how}: found", gold.total(), seen.total()),
        Share(f"{how}: operator", seen.total(), right.total()),
    ]
    for operator in OPERATORS.values():
        if gold[operator]:
            figures.append(Share(f"{how}: found, gold {operator}", gold[operator], seen[operator]))
            figures.append(Share(f"{how}: operator, gold {operator}", seen[operator], right[operator]))
    return figures


def read(data: Path) -> Iterator[Case]:
    for row in json.loads((data / FILE).read_text(encoding="utf-8")):
        yield Case(row["intent"], list(dict.fromkeys(conditions(row["snippet"]))))


def conditions(form: str) -> Iterator[Item]:
    """Operators and values of a logical form.

    >>> [(i.operator, i.readings) for i in conditions("age().num_filter(eq().op(BETWEEN).val('18').val('65'))")]
    [('between', ((18.0, 65.0),))]
    """
    groups: list[tuple[str, list[float | None]]] = []
    for operator, value in _TOKEN.findall(form):
        if operator:
            groups.append((operator, []))
        elif groups:
            groups[-1][1].append(read_number(value.replace(" ", "")))
    for operator, values in groups:
        known = {v for v in values if v is not None}
        wanted = 2 if operator == "BETWEEN" else 1
        if operator in OPERATORS and None not in values and len(known) == wanted:
            yield Item(((min(known), max(known)),), None, OPERATORS[operator])
