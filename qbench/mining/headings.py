"""Traces of page layout in sentences: headings that a conversion to text glued to the word behind them."""

from __future__ import annotations

import re
from collections.abc import Sequence

from qbench.quantities.lexicon import FUNCTION_WORDS
from qbench.quantities.tokens import Token

_GLUED = re.compile(r"[A-Z]?[a-z]{3,}(?=[A-Z][a-z])")
_NOUNS = re.compile(r".*(?:[^isu]s|ies|ses|tions?|ments?|ances?|ences?|ity|ness)$")
"""Ends of the nouns that headings end with, and few of the names that have a capital inside ("PayPal", "LexisNexis")."""


def heading(word: str) -> int:
    """How many letters at the start of a word are the end of a heading; 0 where the word is one.

    >>> [heading(word) for word in ("ActivitiesNet", "AssetsAs", "PayPal", "GlaxoSmithKline", "Assets")]
    [10, 6, 0, 0, 0]
    """
    match = _GLUED.match(word)
    if match is None:
        return 0
    ends = _NOUNS.match(match[0]) is not None or word[match.end() :].lower() in FUNCTION_WORDS
    return match.end() if ends else 0


def headings(tokens: Sequence[Token]) -> dict[int, int]:
    """Token -> how many letters of it are the end of a heading, for the tokens that begin with one."""
    # Plain words, which are nearly all, are told by one look in C.
    mixed = (k for k, t in enumerate(tokens) if t.kind == "word" and not t.text.islower() and not t.text.istitle())
    return {k: letters for k in mixed if (letters := heading(tokens[k].text))}
