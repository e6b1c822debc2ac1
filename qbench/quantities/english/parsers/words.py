"""A parser's contract, and the words of a sentence as treebanks have them.

"don't" and "workers'" are two words, "full-time" three, "U.S." is one.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

Cut = Sequence[tuple[str, int]]
"""Words, and the character at which each begins."""


class Reading(NamedTuple):
    """What a parser says of a sentence, an entry for each word.

    Attributes:
        tags: Penn Treebank tags.
        heads: index of the governing word; a word's own index for a root. Following heads always ends at a root.
        relations: Universal Dependencies relations; "root" for a root.
        vectors: what the binder reads of each word, of shape (words, width); None from a parser that it cannot read.
    """

    tags: Sequence[str]
    heads: Sequence[int]
    relations: Sequence[str]
    vectors: NDArray[np.float16] | None = None


class WordParser(Protocol):
    """Cuts texts into words, and parses sentences that are so cut."""

    def cut(self, text: str) -> Cut:
        """The words of a text, and where each begins."""
        ...

    def read(self, sentences: Sequence[Sequence[str]]) -> Sequence[Reading]:
        """The parse of each sentence; none is empty."""
        ...


_CLITIC = r"['’](?:s|re|ve|ll|d|m)\b"
_WORD = re.compile(
    r"https?://\S+|www\.\S+|[\w.+-]{1,64}@[\w-]{1,64}(?:\.[\w-]{1,64}){1,8}"
    r"|\w+\.(?:com|org|net|gov|edu|io|co\.uk)\b"
    r"|(?:[^\W\d_]\.){2,}"  # U.S., e.g.
    r"|(?:Mr|Mrs|Ms|Dr|Prof|St|Inc|Corp|Co|Ltd|Jr|Sr|Nos?|Vol|vs|etc|approx|cf|ca|al|Jan|Feb|Aug|Sept?|Oct|Nov|Dec)\."
    r"(?=[\s,])"
    r"|(?-i:[A-Z]{1,4}&[A-Z]{1,4}|[A-Z]{1,5}-\d{1,4})\b"  # R&D, F-16
    r"|\.?\d+(?:[.,:]\d+)*(?:st|nd|rd|th)?\b"
    r"|[^\W_]+?(?=n['’]t\b)|n['’]t\b|can(?=not\b)"
    # Scraped text loses its apostrophes.
    r"|(?:do|does|did|is|was|has|have|had|could|would|should)(?=nt\b)|nt\b"
    r"|(?:that|there|what)(?=s\b)|(?:we|you|they|i)(?=ve\b)|(?:you|they)(?=re\b|ll\b)|i(?=m\b)"
    rf"|{_CLITIC}"
    rf"|[^\W_]+(?:(?!{_CLITIC}|['’]t\b)['’][^\W_]+)*"
    r"|(?P<mark>[.*=!?_~#-])(?P=mark)+"
    r"|\S",
    re.IGNORECASE,
)


def cut_words(text: str) -> Cut:
    """The words of a text, and the character at which each begins.

    >>> [word for word, _ in cut_words("The U.S. firm's R&D can't pay O'Neil $5.50, he said...")]
    ['The', 'U.S.', 'firm', "'s", 'R&D', 'ca', "n't", 'pay', "O'Neil", '$', '5.50', ',', 'he', 'said', '...']
    """
    return [(match[0], match.start()) for match in _WORD.finditer(text)]
