"""QuRe: one percentage of each sentence, with its comparator."""

from __future__ import annotations

import json
import re
from collections import Counter
from pathlib import Path
from types import ModuleType
from typing import Any

from .common import Figure, Item, Share, System, family, predicted

TITLE = "QuRe (percentages)"
ABOUT = """\
One percentage of each sentence is annotated (the value as written is taken, to two decimals, since the expression
beside it is sometimes off by a power of ten), so that there is recall but no precision. `found`: a mention of a
ratio has that value, a range as a range. `operator`, of those found: a mention of that value has that operator. The
gold was made to paraphrase percentages: "~" stands on many that are written plainly, which the last line leaves out:
it asks for bounds alone. A value that the gold gives as one end of a range counts for `found` only, and a mention of
that range will do."""
FILE = "extraction/qure/data/QuRe.json"
BOUNDS = ("<", "<=", ">", ">=")
_NUMBER = r"(\d+(?:\.\d+)?)%"


def measure(data: Path, system: System, scorer: ModuleType) -> list[Figure]:
    rows = [json.loads(line) for line in (data / FILE).read_text(encoding="utf-8").splitlines() if line.strip()]
    gold = [(row, item) for row in rows if (item := percentage(row)) is not None]
    gold_counts: Counter[str] = Counter()
    seen: Counter[str] = Counter()
    right: Counter[str] = Counter()
    for (_, item), mentions in zip(gold, system.extract([row["orig_sentence"] for row, _ in gold]), strict=True):
        fitting = [p for p in map(predicted, mentions) if family(p.unit or "") == "ratio" and _same(item, p)]
        gold_counts[item.operator] += 1
        seen[item.operator] += bool(fitting)
        right[item.operator] += any(p.operator == item.operator for p in fitting)
    compared = [operator for operator in gold_counts if operator]
    figures: list[Figure] = [Share("found", gold_counts.total(), seen.total())]
    figures.append(Share("operator", sum(seen[o] for o in compared), sum(right[o] for o in compared)))
    for operator in sorted(compared):
        figures.append(Share(f"operator, gold {operator}", seen[operator], right[operator]))
    figures.append(Share("operator, bounds alone", sum(seen[o] for o in BOUNDS), sum(right[o] for o in BOUNDS)))
    return figures


def _same(gold: Item, found: Item) -> bool:
    """Equality to the two decimals that the gold keeps."""
    pairs = list(zip(gold.readings[0], found.readings[0], strict=True))
    near = [abs(a - b) <= 0.005000001 for a, b in pairs]
    return all(near) or (not gold.operator and any(near))


def percentage(row: dict[str, Any]) -> Item | None:
    """Value and operator of an annotation; operator "" where it is not compared.

    >>> percentage({"percentage": "62.5%", "math_expr": ">0.625"}).operator
    '>'
    >>> percentage({"percentage": "6%-9%", "math_expr": "0.06-0.09"}).readings
    ((6.0, 9.0),)
    """
    found = re.fullmatch(rf"{_NUMBER}(?:-{_NUMBER})?", row["percentage"].replace(" ", ""))
    if found is None:
        return None
    low, high = float(found[1]), float(found[2] or found[1])
    sign = re.match(r"[~<>=]*", row["math_expr"].strip())
    operator = (sign[0] if sign else "") or "="
    if "-" in row["math_expr"]:
        operator = "between" if found[2] else ""
    return Item(((low, high),), "percentage", operator)
