"""What generation asks of the languages of texts: how queries, numbers and units are written, and what is asked.

A further language is a module that satisfies `GenerationPackage` and a row of `LANGUAGES`; its texts are read by the
package of `qbench.quantities.languages`. A language without a row is written as English.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence, Set
from importlib import import_module
from typing import TYPE_CHECKING, Protocol, cast

from qbench.lazy import object_at
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

    ANSWERS: str
    """Module that says what a chat model may write: one that satisfies `AnswerRules`."""

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


class AnswerRules(Protocol):
    """What a chat model may write in a language, as another name of a concept or as a query."""

    MOST_OF_NAME: int
    """The most words of a name."""

    MOST_OF_QUERY: int
    """The most words of a query."""

    SCRIPTS: Set[str]
    """The scripts of its letters, as their names in Unicode begin."""

    WORD: str
    """A pattern of the words (small letters) of which the corpus tells whether they are known."""

    def vocabulary(self) -> Collection[str]:
        """Words that are known whatever the corpus says."""
        ...

    def words(self, text: str) -> Sequence[str]:
        """What the length of a text is counted in."""
        ...

    def content_words(self, text: str) -> frozenset[str]:
        """The words that carry meaning, in the form in which they are compared."""
        ...

    def of_task(self, text: str) -> bool:
        """Whether a text speaks of the task, as a model does that explains itself or refuses."""
        ...

    def only_of_naming(self, name: str) -> bool:
        """Whether a name says what was asked for ("a general term"), and nothing of its concept."""
        ...

    def sane(self, concept: str) -> bool:
        """Whether a concept can be searched for."""
        ...

    def of_language(self, text: str, is_word: Callable[[str], bool]) -> bool:
        """Whether a text is of the language: enough of its words are known."""
        ...

    def turned(self, text: str, own: str, comparators: Collection[str]) -> bool:
        """Whether words of a text that a query (`own`) lacks negate, blur or multiply its conditions."""
        ...

    def unit_name(self, unit: str) -> str:
        """A unit as the model is told it."""
        ...


def answer_rules(code: str) -> AnswerRules:
    """What a chat model may write in a language."""
    return cast("AnswerRules", import_module(generation_package(code).ANSWERS))


def doubts_of(code: str) -> Callable[[pl.DataFrame, Sequence[str]], list[str]]:
    """The function that says why each mention of texts of a language is not sure; "" for those that are."""
    return cast("Callable[[pl.DataFrame, Sequence[str]], list[str]]", object_at(generation_package(code).DOUBTS))


def generation_package(code: str) -> GenerationPackage:
    """What generation asks of a language."""
    return cast("GenerationPackage", language_module(code if code in LANGUAGES else ENGLISH, LANGUAGES))
