"""Traces of page layout in sentences: headings that a conversion to text glued to the word behind them."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import pairwise

from qbench.quantities.english.lexicon import FUNCTION_WORDS
from qbench.quantities.english.tokens import Token

MARK = "|"
"""What stands for a heading's end; parsers take it for the end of a sentence."""
_GLUED = re.compile(r"\b[A-Z]?[a-z]{3,}(?=[A-Z][a-z])")
_WORD = re.compile(r"[A-Z][a-z]+")
_NOUNS = re.compile(r".*(?:[^isu]s|ions?|ments?|ances?|ences?|enses?|ity|ness|[Ii]ncome|[Rr]evenue)$")
"""Ends of the nouns that headings end with, and few of the names with a capital inside ("PayPal", "LexisNexis")."""


def apart(text: str) -> str:
    """A text of the same length in which a mark stands for the last word of each heading that was glued to the next.

    >>> apart("Operating ActivitiesNet cash of PayPal"), apart("AssetsAs of May")
    ('Operating         | Net cash of PayPal', '    | As of May')
    """
    return _GLUED.sub(_blank, text)


def _blank(match: re.Match[str]) -> str:
    after = _WORD.match(match.string, match.end())
    glued = _NOUNS.match(match[0]) or (after is not None and after[0].lower() in FUNCTION_WORDS)
    return f"{MARK} ".rjust(len(match[0])) if glued else match[0]


def pages(tokens: Sequence[Token]) -> list[range]:
    """The stretches of tokens between marks: what stands beyond one is a heading, or under another one."""
    starts = [0, *(k + 1 for k, token in enumerate(tokens) if token.text == MARK)]
    return [range(a, b - 1) for a, b in pairwise([*starts, len(tokens) + 1])]
