"""Annotated sentences for tests: what a thing has and weighs."""

from __future__ import annotations

import json
from pathlib import Path

from qbench.training.annotations import AnnotatedText, Annotation

PLACES = ("north", "south", "old", "new", "upper")
THINGS = ("harbour", "dock", "yard", "pier")
TEXTS = [
    f"The {place} {thing} has {n + 20} boats and weighs {n + 40} tonnes."
    for n, (place, thing) in enumerate((place, thing) for place in PLACES for thing in THINGS)
]
WORDS = ("the", "has", "boats", "and", "weighs", "tonnes", *PLACES, *THINGS)


def rows() -> list[dict[str, object]]:
    """The sentences as JSON lines hold them."""
    found: list[dict[str, object]] = []
    for n, text in enumerate(TEXTS):
        words = text.split()
        quantities = []
        for number, unit in ((words[4], words[5]), (words[8], words[9].strip("."))):
            start = text.index(f" {number} ") + 1
            quantities.append(
                {
                    "span": [start, start + len(f"{number} {unit}")],
                    "concept": [words[1], words[2]],
                    "core": words[2],
                    "unit": unit.removesuffix("s"),
                    "change": None,
                }
            )
        found.append({"id": f"s{n}", "text": text, "quantities": quantities})
    return found


def write_annotations(path: Path) -> Path:
    """A file of them."""
    path.write_text("".join(json.dumps(row) + "\n" for row in rows()), encoding="utf-8")
    return path


def annotated(text: str, *quantities: tuple[str, list[str], str | None, str]) -> AnnotatedText:
    """A sentence with quantities: surface, concept, change and unit of each."""
    made = []
    for surface, concept, change, unit in quantities:
        start = text.index(surface)
        made.append(Annotation((start, start + len(surface)), tuple(concept), " ".join(concept), unit, change or ""))
    return AnnotatedText(text, tuple(made), text)
