"""What a parser takes and gives."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, Protocol

Cut = Sequence[tuple[str, int]]
"""Words, and the character at which each begins."""


class Reading(NamedTuple):
    """What a parser says of a sentence, an entry for each word.

    Attributes:
        tags: Penn Treebank tags.
        heads: index of the governing word; a word's own index for a root. Following heads always ends at a root.
        relations: Universal Dependencies relations; "root" for a root.
    """

    tags: Sequence[str]
    heads: Sequence[int]
    relations: Sequence[str]


class WordParser(Protocol):
    """Cuts texts into words, and parses sentences that are so cut."""

    def cut(self, text: str) -> Cut:
        """The words of a text, and where each begins."""
        ...

    def read(self, sentences: Sequence[Sequence[str]]) -> Sequence[Reading]:
        """The parse of each sentence; none is empty."""
        ...
