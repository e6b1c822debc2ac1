"""A typed question for a quantity -> the words that descriptions are searched for, and what it says of the value.

"net profit above $1 million" searches for "net profit" and wants more than a million; "above" and "million" are no
words of a description. A number without a bound may be part of a name ("yield of 10-year notes", "Kestrel 9"): its
words are searched for where descriptions have them, and where it has no unit.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import polars as pl

from qbench.mining.languages import MiningPackage, mining_package
from qbench.quantities.extractors import Extractor, ExtractorOptions, get_extractor
from qbench.quantities.types import Condition


@dataclass(frozen=True, slots=True)
class Question:
    """What is asked.

    Attributes:
        words: to be searched for.
        conditions: on the quantity that answers.
    """

    words: str
    conditions: tuple[Condition, ...] = ()


def read_questions(texts: Sequence[str], descriptions: pl.Series, language: str) -> list[Question]:
    """Read questions in the language of the descriptions.

    Conditions in another family of units than that of which a question asks for a quantity ("price of more than 5 kg of
    rice") are none on the answer; their words are left out all the same.

    Raises:
        UnknownNameError: no package knows the language.
    """
    extractor, package = get_extractor(ExtractorOptions(language=language)), mining_package(language)
    return [_read(text, descriptions, extractor, package) for text in texts]


def _read(text: str, descriptions: pl.Series, extractor: Extractor, package: MiningPackage) -> Question:
    parsed = extractor.parse_query(text)
    names = [_as_name(each, descriptions) if each.comparator == "=" else None for each in parsed.conditions]
    conditions = [each for each, name in zip(parsed.conditions, names, strict=True) if name is None]
    words = " ".join((parsed.terms, *filter(None, names))) if conditions else text
    words = package.asked_words(words) or words.strip() or text
    asked = package.asked_family(words)
    about = (each for each in conditions if asked is None or extractor.units.get(each.unit).family == asked[0])
    return Question(words, tuple(about))


def _as_name(condition: Condition, descriptions: pl.Series) -> str | None:
    """A number as a part of a name: without a unit as it is, else as descriptions write it; None where none does."""
    value, unit = condition.value_text.strip(), condition.unit_text.strip()
    if not unit:
        return value
    written = (f"{value}{sign}{unit}" for sign in ("", " ", "-"))
    return next((words for words in written if descriptions.str.contains(words, literal=True).any()), None)
