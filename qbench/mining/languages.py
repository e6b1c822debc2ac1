"""What mining asks of the languages of texts: which words describe, name something, and say when.

A further language is a package beside `english`, whose module `language` satisfies `MiningPackage`, and a row of
`LANGUAGES`; its texts are read by the package of `qbench.quantities.languages`.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Protocol, cast

from qbench.quantities.languages import CHINESE, ENGLISH, language_module

if TYPE_CHECKING:
    import polars as pl

    from qbench.mining.periods import Periods
    from qbench.mining.types import DescriptionParser
    from qbench.quantities.types import Quantity

LANGUAGES: dict[str, str] = {
    ENGLISH: "qbench.mining.english.language",
    CHINESE: "qbench.mining.chinese.language",
}
"""Module of each language's package, by the language's code."""

ONLY_TIME = "only a time"
NOTHING = "nothing measured"
NAME = "only a name"
LABEL = "a label"
GLUED = "glued text"
CAPITALS = "text in capitals"
MOMENT = "a time of nothing that lasts"
ROW = "a row of a table"
POPULATION = "a share of a population alone"
REASONS = (GLUED, CAPITALS, LABEL, ROW, ONLY_TIME, NOTHING, NAME, MOMENT, POPULATION)
"""Reasons why words are no description; the first that applies counts."""


class MiningPackage(Protocol):
    """What mining asks of a language."""

    CONTEXT: int
    """Number of words before and behind a number that tell a repeated text."""

    def rules_parser(self, spacy_model: str) -> DescriptionParser:
        """The description parser "rules"."""
        ...

    def lack(self, words: str, sentence: str, mention: Quantity, segments: Iterable[tuple[int, int]] = ()) -> str:
        """The reason in `REASONS` why words do not say what a quantity is; "" where they do.

        Args:
            words: of the description.
            sentence: which holds the mention.
            mention: the quantity.
            segments: of the description in the sentence.
        """
        ...

    def says(self, word: str) -> bool:
        """Whether a token of lexical search may name what is measured."""
        ...

    def words(self, texts: pl.Series) -> pl.Series:
        """The words of queries and descriptions that are not grammar alone, as a series of lists."""
        ...

    def context_words(self, text: str) -> list[str]:
        """The words of a piece of text beside a number, in order, without numbers."""
        ...

    def periods(self, texts: pl.Series) -> Periods:
        """The times that descriptions name."""
        ...

    def asked_words(self, text: str) -> str:
        """A question without the words that ask, and those that name nobody: what descriptions are searched for."""
        ...

    def asked_family(self, text: str) -> tuple[str, str] | None:
        """The family of units that a description asks for, and the words that are left; None where no word says so."""
        ...


def mining_package(code: str) -> MiningPackage:
    """The package of a language.

    Raises:
        UnknownNameError: no package knows the language.
    """
    return cast("MiningPackage", language_module(code, LANGUAGES))
