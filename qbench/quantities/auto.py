"""Texts whose language is not said: each is read by the language whose script it is written in."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TypeVar

from qbench.quantities.languages import AUTO, Extractor, SentenceSplitter, language_of, language_package
from qbench.quantities.types import ParsedQuery, Quantity
from qbench.quantities.units import Units

Read = TypeVar("Read")


class AutoExtractor:
    """Extractors of several languages as one.

    Args:
        name: what all of them are called.
        units: what all of them know.
        ready: extractors by the codes of their languages.
        opened: makes the one of another code; called when a text of the language is met.
    """

    def __init__(
        self, name: str, units: Units, ready: Mapping[str, Extractor], opened: Callable[[str], Extractor]
    ) -> None:
        self.name, self.units = name, units
        self._open = opened
        self._opened = dict(ready)

    def of(self, text: str) -> Extractor:
        """The extractor that reads a text."""
        return self._of_language(language_of([text], self.name))

    def extract(self, text: str) -> list[Quantity]:
        """The mentions in `text`, ordered by value span; spans index into `text` as given."""
        return self.of(text).extract(text)

    def extract_query(self, text: str) -> list[Quantity]:
        """The mentions of a typed query, in order."""
        return self.of(text).extract_query(text)

    def parse_query(self, text: str) -> ParsedQuery:
        """The search words of a typed query, and what it asks of quantities."""
        return self.of(text).parse_query(text)

    def explain_many(self, texts: Iterable[str]) -> list[list[tuple[Quantity, tuple[str, ...]]]]:
        """As `extract_many`, each mention with the names of the rules that made it."""
        return self._each(texts, lambda extractor, some: extractor.explain_many(some))

    def extract_many(self, texts: Iterable[str]) -> list[list[Quantity]]:
        """The mentions of each text, as `extract` finds them."""
        return self._each(texts, lambda extractor, some: extractor.extract_many(some))

    def _each(self, texts: Iterable[str], read: Callable[[Extractor, list[str]], Sequence[Read]]) -> list[Read]:
        every = list(texts)
        by_language: dict[str, list[int]] = {}
        for at, text in enumerate(every):
            by_language.setdefault(language_of([text], self.name), []).append(at)
        found: dict[int, Read] = {}
        for code, places in by_language.items():
            found.update(zip(places, read(self._of_language(code), [every[at] for at in places]), strict=True))
        return [found[at] for at in range(len(every))]

    def _of_language(self, code: str) -> Extractor:
        if code not in self._opened:
            self._opened[code] = self._open(code)
        return self._opened[code]


class AutoSplitter:
    """Cuts each text into sentences as the language of its script does."""

    def spans(self, text: str) -> list[tuple[int, int]]:
        """Half-open character spans of the sentences of `text`, in order, without overlap."""
        return language_package(language_of([text])).sentence_splitter().spans(text)


def sentence_splitter(code: str) -> SentenceSplitter:
    """The splitter of texts of a language.

    Raises:
        UnknownNameError: no package knows the language.
    """
    return AutoSplitter() if code == AUTO else language_package(code).sentence_splitter()
