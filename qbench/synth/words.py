"""A little English: articles and "is" or "are"."""

from __future__ import annotations

import re

_SPOKEN_VOWEL = re.compile(r"8|1[18](?![\d.])|1[18],\d{3}(?!,)|hour|honest|heir|[aeio]|u(?!ni(?!n)|se|su|ti)")
_SPOKEN_Y = re.compile(r"eu|one\b|once\b|ubiq")


def is_plural(noun: str) -> bool:
    """Whether a noun looks like a plural.

    >>> is_plural("sensors"), is_plural("mass"), is_plural("radius")
    (True, False, False)
    """
    return noun.lower().endswith("s") and not noun.lower().endswith(("ss", "us", "is", "as"))


def article(text: str, noun: str) -> str:
    """ "a" or "an" before a text; "" if the noun that it ends in is a plural.

    >>> [article(t, "x") for t in ("ultrabook", "unit", "8.5", "11", "110", "1,200", "LED lamp", "euro")]
    ['an', 'a', 'an', 'an', 'a', 'a', 'an', 'a']
    """
    if is_plural(noun):
        return ""
    first = text.split(" ", 1)[0]
    if first.isupper() and 1 < len(first) <= 4 and first.isalpha():
        return "an" if first[0] in "AEFHILMNORSX" else "a"
    low = text.lower()
    return "an" if _SPOKEN_VOWEL.match(low) and not _SPOKEN_Y.match(low) else "a"


def be(noun: str) -> str:
    """ "is", or "are" after a plural."""
    return "are" if is_plural(noun) else "is"
