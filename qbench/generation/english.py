"""English as a language of generation: see `qbench.generation.languages.GenerationPackage`."""

from __future__ import annotations

from qbench.generation.forms import UnitForm
from qbench.generation.surfaces import plain_forms, unit_forms, usual, usual_forms, value_forms
from qbench.quantities.concept_match import concept_words
from qbench.quantities.english.inflection import plural
from qbench.quantities.units import Unit

__all__ = [
    "ANSWERS",
    "DOUBTS",
    "GATE",
    "TEMPLATES",
    "form_beside",
    "is_act",
    "plain_forms",
    "stands_alone",
    "unit_forms",
    "usual",
    "usual_forms",
    "value_forms",
]

TEMPLATES = "templates/queries.toml"

ANSWERS = "qbench.generation.english_answers"

DOUBTS = "qbench.generation.evidence:doubts"

GATE = "qbench.generation.gate:Gate"

AGED = frozenset({"age", "aged"})
"""Words of a concept with which a unit of age need not say that it is one."""


def form_beside(name: str, unit: Unit, value: float) -> UnitForm | None:
    """The time alone beside a name that says that it is an age: "age above 5 years", not "5 years of age"."""
    if unit.family != "age" or AGED.isdisjoint(concept_words(tuple(name.split()))):
        return None
    time = unit.name.split()[0]
    return UnitForm(after=f" {time if abs(value) == 1 else plural(time)}", named=True)


def is_act(name: str) -> bool:
    """Never: what is counted ("more than 300 employees") is told by its unit."""
    return False


def stands_alone(name: str) -> bool:
    """Always: the gate leaves out what says nothing by itself."""
    return True
