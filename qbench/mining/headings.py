"""Traces of page layout in sentences: headings that a conversion to text glued to the word behind them."""

from __future__ import annotations

import re
from collections.abc import Sequence

from qbench.quantities.lexicon import FUNCTION_WORDS
from qbench.quantities.tokens import Token

MARK = "|"
"""What stands for a heading's end; parsers take it for the end of a sentence."""
_GLUED = re.compile(r"\b[A-Z]?[a-z]{3,}(?=[A-Z][a-z])")
_WORD = re.compile(r"[A-Z][a-z]+")
_NOUNS = re.compile(r".*(?:[^isu]s|ions?|ments?|ances?|ences?|ity|ness)$")
"""Ends of the nouns that headings end with, and few of the names that have a capital inside ("PayPal", "LexisNexis")."""


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


def between_marks(tokens: Sequence[Token], k: int) -> range:
    """The tokens around token k up to the next marks: what stands beyond them is a heading, or under another one."""
    marks = [-1, *(m for m, token in enumerate(tokens) if token.text == MARK), len(tokens)]
    return range(max(m for m in marks if m < k) + 1 if k else 0, min(m for m in marks if m >= k))
