"""Texts that were decoded wrongly: their UTF-8 taken for Latin-1 or Windows-1252, so that "32 °F" is "32 Â°F".

Crawled texts are full of it. They are read as they were meant, and spans point into the text as it is.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

from qbench.quantities.types import Quantity, Span

_WINDOWS = "€‚ƒ„…†‡ˆ‰Š‹ŒŽ‘’“”•–—˜™š›œžŸ"
"""What Windows-1252 has in place of control characters of Latin-1."""
# Letters before marks that no text has otherwise. Only the three pieces of punctuation may be of Windows-1252: "MANHÃ”"
# is a word and a quotation mark.
_BROKEN = re.compile(f"[ÂÃÎÏ][\x80-\xbf]|â[\x80\x82\x84\x86\x88€‚„†ˆ][\x80-\xbf{_WINDOWS}]")


class Decoded(NamedTuple):
    """A text as it was meant.

    Attributes:
        text: of it.
        places: of each of its characters, and of its end, the place in the text as it is; None where that is the same.
    """

    text: str
    places: Sequence[int] | None

    def span(self, span: Span) -> Span:
        """The same stretch of the text as it is."""
        return span if self.places is None else (self.places[span[0]], self.places[span[1]])

    def placed(self, quantity: Quantity) -> Quantity:
        """A mention with its spans in the text as it is."""
        if self.places is None:
            return quantity
        unit, comparator = quantity.unit_span, quantity.comparator_span
        return replace(
            quantity,
            value_span=self.span(quantity.value_span),
            unit_span=None if unit is None else self.span(unit),
            comparator_span=None if comparator is None else self.span(comparator),
            concept_spans=tuple(self.span(each) for each in quantity.concept_spans),
        )


def as_meant(text: str) -> str:
    """A text with what a wrong decoding broke put right; the very text where there is nothing.

    >>> as_meant("a 5Â½ inch pipe at 32 Â°F, itâ€™s cold")
    'a 5½ inch pipe at 32 °F, it’s cold'
    """
    return _BROKEN.sub(_meant, text)


def decoded(text: str) -> Decoded:
    """The same, with the places of its characters.

    >>> decoded("32 Â°")
    Decoded(text='32 °', places=[0, 1, 2, 3, 5])
    >>> decoded("château")
    Decoded(text='château', places=None)
    """
    meant = as_meant(text)
    if meant == text:
        return Decoded(text, None)
    places: list[int] = []
    end = 0
    for match in _BROKEN.finditer(text):
        if _meant(match) != match[0]:
            places += range(end, match.start() + 1)
            end = match.end()
    return Decoded(meant, [*places, *range(end, len(text) + 1)])


def _meant(broken: re.Match[str]) -> str:
    """The character whose UTF-8 some characters are; these if they are that of none."""
    data = b"".join(c.encode("latin-1" if c < "\u0100" else "cp1252") for c in broken[0])
    try:
        return data.decode()
    except UnicodeDecodeError:
        return broken[0]
