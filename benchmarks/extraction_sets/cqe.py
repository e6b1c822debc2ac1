"""NewsQuant's first half, and the small sets of ages and temperatures in its form, by the score script itself."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from types import ModuleType
from typing import Any

from qbench.quantities.types import Quantity, change_symbol

from .common import Figure, Score, Share, System

TITLE = "NewsQuant (a), ages, temperatures"
ABOUT = """\
The score script's own counting, units by its `canon` rule: no mapping of ours. `paper` counts as the CQE evaluation
does and stands beside published rows; `strict` matches one to one. quantulum3 gets the mean of a gold range and of
its own, as in the paper; its units are renamed to ours where a name, symbol or surface agrees, and its changes and
concepts are ours, found around its numbers. The published figures are on the whole set, of which this is the half
whose texts have an even SHA-1; its own `even` and `odd` go by the next bit, and rules were developed on `even`.
`age` and `temperature` annotate value and unit alone, and not every quantity of a sentence."""
CRITERIA = ("value", "value+unit", "value+change", "value+concept_partial", "value+concept_complete")
OF_SMALL = CRITERIA[:2]
FILE = "extraction/newsquant_a.json"
PARTS = ("all", "even", "odd")


def measure(data: Path, system: System, scorer: ModuleType) -> list[Figure]:
    figures: list[Figure] = []
    gold = read(data)
    found = predictions(gold, system)
    for protocol in ("paper", "strict"):
        for half in PARTS:
            figures += _figures(gold, found, f"{protocol}, {half}", CRITERIA, scorer, system, protocol, half)
    for name in ("age", "temperature"):
        gold = json.loads((data / f"extraction/{name}.json").read_text(encoding="utf-8"))
        found = predictions(gold, system)
        figures += _figures(gold, found, f"{name}, strict", OF_SMALL, scorer, system, "strict", "all")
        figures.append(_recalled(gold, found, name, scorer))
    return figures


def read(data: Path) -> list[dict[str, Any]]:
    return json.loads((data / FILE).read_text(encoding="utf-8"))


def in_part(text: str, part: str) -> bool:
    """Whether a sentence is in a part of the set: "all", "even" or "odd".

    The set is already the half of the whole whose SHA-1 is even, so the next bit of it decides.
    """
    return part == "all" or (int(hashlib.sha1(text.encode()).hexdigest(), 16) >> 1) % 2 == (part == "odd")


def predictions(gold: list[dict[str, Any]], system: System) -> list[list[dict[str, Any]]]:
    found = system.extract([" ".join(sentence["text"].split()) for sentence in gold])
    return [[prediction(q, average=system.is_quantulum) for q in row] for row in found]


def prediction(quantity: Quantity, average: bool = False) -> dict[str, Any]:
    """What `qbench extract --format jsonl` writes of a mention, as far as the score script reads it."""
    value: float | list[float] = quantity.value
    if quantity.value != quantity.high:
        ends = [quantity.value, quantity.high]
        value = sum(ends) / 2 if average else ends
    return {
        "value": value,
        "unit": quantity.unit,
        "change": change_symbol(quantity),
        "concept": [*quantity.concept, *quantity.subject],
    }


def _figures(
    gold: list[dict[str, Any]],
    found: list[list[dict[str, Any]]],
    label: str,
    criteria: tuple[str, ...],
    scorer: ModuleType,
    system: System,
    protocol: str,
    half: str,
) -> list[Figure]:
    pairs = [(g, f) for g, f in zip(gold, found, strict=True) if in_part(g["text"], half)]
    texts, rows = [g for g, _ in pairs], [f for _, f in pairs]
    _, counts = scorer.score(texts, rows, protocol, "canon", system.is_quantulum)
    correct = counts["correct"]
    return [Score(f"{label}: {name}", counts["gold"], counts["predicted"], correct[name]) for name in criteria]


def _recalled(gold: list[dict[str, Any]], found: list[list[dict[str, Any]]], name: str, scorer: ModuleType) -> Share:
    """Texts of which every gold quantity is found with its unit: invented ones play no part."""
    right = 0
    for sentence, row in zip(gold, found, strict=True):
        wanted = len(sentence["quantities"])
        _, counts = scorer.score([sentence], [row], "strict", "canon")
        right += counts["correct"]["value+unit"] == wanted
    return Share(f"{name}: texts whose gold is all found", len(gold), right)
