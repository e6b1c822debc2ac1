"""What is left of a query to search for: its words whole as they are typed, and its phrases in quotation marks."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from qbench.quantities.english.lexicon import SEARCH_NOISE
from qbench.quantities.english.result_names import left_out_of
from qbench.quantities.english.tokens import Token, abbreviates, glued
from qbench.quantities.types import Span

_QUOTED = re.compile(r"""(?<![\w"“])(?:"(?=[^\s"])[^"]*[^\s"]"|“[^“”]+”)(?!\w)""")
_SEPARATORS = frozenset(',;:?!()[]{}<>=|"“”«»…–—*~^\\')
"""Marks that part words even where they are glued to them; others are part of a word: "usb-c", "p/e", "R&D"."""
_TRAILING = frozenset("+#")
"""Marks that may end a word: "c++", "f#"."""
KEPT = frozenset("not no without never excluding except".split())
"""Function words that change what is searched for, where they belong to no condition: "flights not on Monday"."""
_NOISE = (SEARCH_NOISE - KEPT) | frozenset(
    "must pcm am want wanted need needed looking look something anything someone costing priced pricing weighing "
    "weighs ranging equals w/ olds".split()
)


_AFTER_ALL = frozenset("inclusive season weather wheel terrain day".split())
"""Words with which "all" is a kind of thing: "all inclusive holidays"."""
_TO_US = frozenset("ask show give tell let get find help of for about to with than teach send".split())
"""Words with which "us" is no country: "show us flats", but "us states"."""
_PARTICLES = frozenset("out off up".split())
"""Words that go with the one before: "call out", "laid off", "follow up"."""
_OFF = frozenset("grid road season peak plan street white".split())
"""What "off" makes another kind of: "off grid"."""
_ASKING = frozenset("list name show search identify".split())
"""What opens a request, and names a thing elsewhere: "list hotels", "waiting list"."""
_RELATIVE = frozenset("that which who".split())
_LINKING = frozenset("cost costs weigh weighs take takes sell sells run runs last lasts".split())
"""Verbs that only lead from a thing to its number: "phones that cost less than $200"."""


def quoted(text: str) -> list[Span]:
    """The phrases in quotation marks, with the marks, unless all of the text is one: searched as they stand."""
    spans = [match.span() for match in _QUOTED.finditer(text)]
    return [] if spans == [(len(text) - len(text.lstrip()), len(text.rstrip()))] else spans


def in_phrase(position: int, phrases: Sequence[Span]) -> bool:
    """Whether a character is in one of the phrases, which are sorted."""
    k = bisect_right(phrases, position, key=lambda span: span[0]) - 1
    return k >= 0 and position < phrases[k][1]


class SearchWord(NamedTuple):
    """A word of a query, as it is typed, and its characters."""

    text: str
    start: int
    end: int


def search_words(text: str, tokens: Sequence[Token], used: Sequence[Span], phrases: Sequence[Span]) -> list[SearchWord]:
    """The search words of a query, in order, whole words as they are typed.

    Args:
        text: of the query.
        tokens: of the query, at the same offsets.
        used: characters that conditions take, sorted by their starts.
        phrases: of `quoted`; their words are kept whatever they are.
    """
    shouts = text.upper() == text
    found: list[SearchWord] = []
    for run in _runs(tokens, list(_outside(tokens, used))):
        first, last = tokens[run[0]], tokens[run[-1]]
        word = text[first.start : last.end]
        if in_phrase(first.start, phrases) or _is_searched(tokens, run, word, found, shouts=shouts):
            parts = re.finditer(r"\S+", word)  # of "7 in 1", one word with spaces
            found += [SearchWord(p.group(), first.start + p.start(), first.start + p.end()) for p in parts]
    return found


def _is_searched(
    tokens: Sequence[Token], run: Sequence[int], word: str, found: Sequence[SearchWord], *, shouts: bool
) -> bool:
    """Whether a word says what is searched for: it is no function word, or stands where a function word is a name.

    Args:
        tokens: of the query.
        run: the word's tokens.
        word: as it is typed.
        found: the search words before it.
        shouts: whether all of the query is in capitals.
    """
    low = word.lower()
    before = tokens[run[0] - 1] if run[0] else None
    lead = "" if before is None else before.low
    following = tokens[run[-1] + 1].low if run[-1] + 1 < len(tokens) else ""
    if low in _LINKING and lead in _RELATIVE:
        return False
    if low not in _NOISE or (len(word) > 1 and word.isupper() and not shouts):
        return True  # "US" and "WHO" are names where other words are in small letters
    if low == "times" and before is not None and found and found[-1].end == before.end:
        return before.kind == "word"  # "waiting times over 18 weeks"
    if low in _ASKING and found:
        return True  # "waiting list under 12 weeks"
    if low == "off" and following in _OFF:
        return True
    if any(run[0] in left_out_of(tokens, k) for k in range(max(0, run[0] - 4), run[0])):
        return True  # "profit before tax"
    if low in _PARTICLES:
        return bool(found) and before is not None and found[-1].end == before.end
    return (
        (low == "all" and following in _AFTER_ALL)
        or (low == "same" and lead != "the" and following not in ("", "as", *_NOISE))  # "same day delivery"
        or (word == "us" and lead not in _TO_US)
        or (low == "let" and lead == "to")  # "house to let"
        or (low == "due" and following != "to")
    )


def _runs(tokens: Sequence[Token], free: Sequence[int]) -> Iterator[list[int]]:
    """The tokens of each word: glued to each other, without marks that part words or stand at its ends."""
    run: list[int] = []
    for k in (*free, -1):
        joins = k >= 0 and (tokens[k].text not in _SEPARATORS or _is_ratio(tokens, k))
        if run and not (joins and k == run[-1] + 1 and glued(tokens[run[-1]], tokens[k])):
            if (word := _trimmed(tokens, run)) is not None:
                yield word
            run = []
        if joins:
            run.append(k)


def _is_ratio(tokens: Sequence[Token], k: int) -> bool:
    """Whether token k is the colon of "16:9"."""
    if tokens[k].text != ":" or not 0 < k < len(tokens) - 1:
        return False
    sides = tokens[k - 1], tokens[k + 1]
    return all(t.kind == "number" for t in sides) and glued(sides[0], tokens[k]) and glued(tokens[k], sides[1])


def _trimmed(tokens: Sequence[Token], run: list[int]) -> list[int] | None:
    """The run without the marks at its ends; None if nothing is left."""
    while run and tokens[run[0]].kind == "mark":
        run = run[1:]
    while run and tokens[run[-1]].kind == "mark" and not _ends_word(tokens, run):
        run = run[:-1]
    return run or None


def _ends_word(tokens: Sequence[Token], run: list[int]) -> bool:
    return tokens[run[-1]].text in _TRAILING or abbreviates(tokens, run[-1])


def _outside(tokens: Sequence[Token], spans: Sequence[Span]) -> Iterator[int]:
    """The tokens that lie in none of the spans."""
    position, reached = 0, 0
    for k, token in enumerate(tokens):
        while position < len(spans) and spans[position][0] <= token.start:
            reached = max(reached, spans[position][1])
            position += 1
        if token.end > reached:
            yield k
