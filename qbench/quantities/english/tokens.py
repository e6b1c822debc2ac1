"""Tokens with offsets: numbers, words, and single marks. One regular expression, linear in the text."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple

from qbench.quantities.english.lexicon import ABBREVIATIONS, FRACTION_MARKS

HYPHENS = frozenset({"-"})
"""Texts of tokens that are hyphens; those of typesetting are written so, too."""


_TYPESET = {"\u2010": "-", "\u2011": "-", "\u2012": "–"}

LONGEST_BRACKETS = 9
"""Tokens of figures in brackets that may stand between a number and its noun, at most."""


LINE_ENDS = ("Weeks", "Months")
"""Words that end where another begins with a capital: "24 WeeksNet revenue" has lost the end of a line."""


class Token(NamedTuple):
    """A piece of text: `kind` is "number", "word" or "mark"; `text[start:end]` is what stands there.

    Typesetting's hyphens and its dash for figures are written as the usual ones: `text` of "‑" is "-", of "‒" is "–".
    """

    text: str
    start: int
    end: int
    kind: str
    low: str


_LETTERS = rf"[^\W\d_{''.join(FRACTION_MARKS)}]"
_OPENERS = "We|The|This|These|There|Our|Certain|During|While|Although"
_AFTER_SOME = "In|On|At|As|For|If|Net|Total|Cash|Revenues?"
"""Words that open a sentence after a heading of which only some words can be the last: "LinkedIn" is one word."""
_LAST = (
    rf"(?:[A-Z][a-z]{{3,30}}|[A-Z]{{4,30}})(?=(?:{_OPENERS})(?!{_LETTERS}))"  # "OverviewWe", "OPERATIONSThe"
    rf"|[A-Z][a-z]{{4,30}}(?:s|ing|ion|ment|ity|ance|ence)(?=(?:{_AFTER_SOME})(?!{_LETTERS}))"  # "ActivitiesNet"
    rf"|(?:{'|'.join(LINE_ENDS)})(?=[A-Z][a-z])"
)
"""The last word of a line or a heading whose end is lost."""
# The repeats that a later mismatch can undo are bounded, so that no text makes the expression back up over and over.
_TOKEN = re.compile(
    # Most tokens are words: they are tried first.
    rf"(?P<word>{_LAST}|{_LETTERS}+(?:[\u0300-\u036f]+{_LETTERS}*)*(?:['’](?:s|t|re|ve|ll|d|m)\b)?)"
    r"|(?P<number>\d{1,3}(?:,\d{3})+(?!\d)(?:\.\d+)?"  # 1,200.5
    r"|\d{1,3}(?:[\u00a0\u2009\u202f]\d{3})+(?!\d)(?:\.\d+)?"  # 1 200 000, with spaces that do not break
    r"|[1-9]\d{0,2}(?: \d{3}){0,3} 000(?![\d.,]?\d)"  # 50 000, with plain spaces: only before a group of noughts
    r"|\d{1,2}(?:,\d{2}){1,5},\d{3}(?![\d,])(?:\.\d+)?"  # 1,00,000
    r"|\d{1,3}(?:\.\d{3}){1,5},\d{1,2}(?![\d,])"  # 1.200,50
    r"|\d{1,3}\.\d{3}\.\d{3}(?![.,]?\d)"  # 1.200.000
    r"|\d{1,6}·(?!10[-\u2212^\u2070-\u207b\u00b2\u00b3\u00b9])\d{1,6}(?!·?\d)"  # 50·3, but 5·10^6 is a product
    r"|\d+(?:\.\d+)?|(?<![\w.])\.\d+)"
    r"|(?P<mark>\S)"
)


def tokenize(text: str) -> list[Token]:
    """Cut a text into tokens.

    >>> [t.text for t in tokenize("$3.5mn, 1,200 km/h")]
    ['$', '3.5', 'mn', ',', '1,200', 'km', '/', 'h']
    """
    tokens, make = [], tuple.__new__  # without the named tuple's own constructor, which takes as long as the search
    for match in _TOKEN.finditer(text):
        piece, kind = match[0], match.lastgroup
        start, end = match.span()
        if kind == "word":
            tokens.append(make(Token, (piece, start, end, kind, piece.lower())))
        else:
            piece = _TYPESET.get(piece, piece)
            tokens.append(make(Token, (piece, start, end, kind, piece)))
    return tokens


def glued(left: Token, right: Token) -> bool:
    """Whether nothing stands between two tokens."""
    return left.end == right.start


def ends_line(tokens: Sequence[Token], k: int) -> bool:
    """Whether token k is the last word of a line whose end is lost.

    >>> tokens = tokenize("OverviewWe sell lamps in 24 WeeksNet revenue")
    >>> [tokens[k].text for k in range(len(tokens)) if ends_line(tokens, k)]
    ['Overview', 'Weeks']
    """
    if k + 1 >= len(tokens) or not glued(tokens[k], tokens[k + 1]):
        return False
    return tokens[k].kind == tokens[k + 1].kind == "word" and tokens[k + 1].text[0].isupper()


def abbreviates(tokens: Sequence[Token], k: int) -> bool:
    """Whether token k is the full stop of an abbreviation, such as "Inc." or the last of "U.S.".

    >>> tokens = tokenize("Acme Inc. of the U.S. grew.")
    >>> [k for k in range(len(tokens)) if abbreviates(tokens, k)]
    [2, 8]
    """
    if not k or tokens[k].text != "." or not glued(tokens[k - 1], tokens[k]):
        return False
    if tokens[k - 1].low in ABBREVIATIONS:
        return True
    initials = tokens[max(0, k - 3) : k]
    lengths = [len(token.text) for token in initials]
    return lengths == [1, 1, 1] and initials[1].text == "." and all(glued(a, b) for a, b in pairwise(initials))


def past_brackets(tokens: Sequence[Token], j: int) -> int | None:
    """The token after the figures in brackets at token j, "12 (27 %) patients"; None if there are none."""
    if j >= len(tokens) or tokens[j].text not in "([" or glued(tokens[j - 1], tokens[j]):
        return None
    k, figures = j + 1, False
    while k < min(len(tokens), j + LONGEST_BRACKETS) and tokens[k].text not in ")]":
        figures = figures or tokens[k].kind == "number"
        if tokens[k].kind == "mark" and tokens[k].text not in "%:=±-–−.,+$€£":
            return None
        k += 1
    closes = k + 1 < len(tokens) and tokens[k].text in ")]" and not glued(tokens[k], tokens[k + 1])
    return k + 1 if closes and figures else None


def spans_of(tokens: Sequence[Token], indexes: Sequence[int]) -> tuple[tuple[int, int], ...]:
    """Character spans of runs of neighbouring tokens."""
    spans: list[tuple[int, int]] = []
    for previous, k in zip([-2, *indexes], indexes, strict=False):
        if k == previous + 1:
            spans[-1] = (spans[-1][0], tokens[k].end)
        else:
            spans.append((tokens[k].start, tokens[k].end))
    return tuple(spans)


def words_of(tokens: Sequence[Token], indexes: Sequence[int]) -> tuple[str, ...]:
    """The words of some tokens, lower-case; pieces that stand glued in the text ("R&D", "full-time") are one word."""
    words: list[str] = []
    for previous, k in zip([-2, *indexes], indexes, strict=False):
        piece = tokens[k].text.lower().removesuffix("'s").removesuffix("’s")
        if k == previous + 1 and glued(tokens[previous], tokens[k]):
            words[-1] += piece
        else:
            words.append(piece)
    return tuple(word for word in words if word)
