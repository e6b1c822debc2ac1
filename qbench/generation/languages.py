"""What generation asks of the languages of texts: how queries, numbers and units are written, and what is asked.

A further language is a module that satisfies `GenerationPackage` and a row of `LANGUAGES`; its texts are read by the
package of `qbench.quantities.languages`. A language without a row is written as English.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from importlib import import_module
from typing import TYPE_CHECKING, Any, Protocol, cast

from qbench.quantities.languages import CHINESE, ENGLISH, language_module

if TYPE_CHECKING:
    import polars as pl

    from qbench.generation.forms import Style, UnitForm
    from qbench.quantities.units import Unit, Units

LANGUAGES: dict[str, str] = {
    ENGLISH: "qbench.generation.english",
    CHINESE: "qbench.generation.chinese",
}
"""Module of each language, by the language's code."""


class GenerationPackage(Protocol):
    """What generation asks of a language."""

    TEMPLATES: str
    """The file of templates of its queries, a resource of qbench."""

    GATE: str
    """Module and name of the class that decides which pairs of a corpus somebody would ask about."""

    DOUBTS: str
    """Module and name of the function that says why mentions are not sure (`qbench.generation.evidence.doubts`)."""

    usual: Callable[[Style, float], float]
    """How usual a style is for numbers of a size."""

    def value_forms(self, value: float) -> dict[Style, str]:
        """Every exact way to write a number; each reads back to the same value."""
        ...

    def unit_forms(self, unit: Unit, units: Units, value: float) -> tuple[UnitForm, ...]:
        """The ways to write a unit beside a value."""
        ...

    def usual_forms(
        self, said: Mapping[tuple[str, bool], int], unit: Unit, units: Units, value: float
    ) -> list[tuple[UnitForm, int]]:
        """The ways in which a corpus writes a unit beside a value, with how often it does."""
        ...

    def form_beside(self, name: str, unit: Unit, value: float) -> UnitForm | None:
        """The way to write a unit beside a name that says part of it; None where the name says nothing of it."""
        ...

    def is_act(self, name: str) -> bool:
        """Whether a name is something that is done, so that the number says how much of it was."""
        ...

    def stands_alone(self, name: str) -> bool:
        """Whether a name can be asked about by itself, and not only beside another one that says whose it is."""
        ...

    def plain_forms(self, unit: Unit, units: Units, value: float) -> list[UnitForm]:
        """The forms of a unit that everybody knows."""
        ...


def doubts_of(code: str) -> Callable[[pl.DataFrame, Sequence[str]], list[str]]:
    """The function that says why each mention of texts of a language is not sure; "" for those that are."""
    return cast("Callable[[pl.DataFrame, Sequence[str]], list[str]]", object_at(generation_package(code).DOUBTS))


def object_at(path: str) -> Any:
    """What a module has under a name, the two parted by a colon."""
    module, _, name = path.partition(":")
    return getattr(import_module(module), name)


def generation_package(code: str) -> GenerationPackage:
    """What generation asks of a language."""
    return cast("GenerationPackage", language_module(code if code in LANGUAGES else ENGLISH, LANGUAGES))
