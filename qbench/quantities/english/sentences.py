"""Text -> spans of sentences: which full stops are words of their own, and which of these end a sentence.

A sentence that says what the thing of the one before it measures ("Weighs 2 kg.") stays with that one: alone it is
about nothing, and nobody who searches for the thing could find it.

The candidates (full stops and their kin, line ends, bullets) are found by one regular expression, and rules look at the
words around each. Cost is linear in the text; there is no limit to its length.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from heapq import merge
from itertools import pairwise

from qbench.quantities.english.full_stops import full_stop_is_token
from qbench.quantities.english.written import NUMERALS

LONGEST = 2_000
"""Longest sentence in characters; longer ones are cut at white space (tables flattened into text have no full stop)."""

_WORD = 64
"""How much of a word without spaces is looked at; words are shorter, and anything else has no abbreviation in it."""

# It starts with a set of characters, so that `re` skips to the next of them; what it is comes after.
_CANDIDATE = re.compile(
    r"""[.!?…\n•●▪■◦‣。！？](?:"""
    r"""(?P<stop>(?<=[.!?…])(?<![.!?…]{2})[.!?…]*+)(?P<closing>["'”’»)\]]*+)(?=\s|\Z|["'“‘«(\[]?[A-Z])"""
    r"|(?P<line>(?<=\n)\s*+)"
    r"|(?P<bullet>(?<=[•●▪■◦‣]))"
    r"|(?P<wide>(?<=[。！？])[」』”’）]*+))"
)
_HEADING = re.compile(r"(?:We|The|Our|This|These|There|During|Although|However|If)\s")
_BLANK_LINE = re.compile(r"\n[^\S\n]*\n")
_SPACE = re.compile(r"\s")
_NEXT = re.compile(r"[\s\"'“”‘’«»(\[]*+(?P<word>\S{0,24})")
_MARGIN = re.compile(r"[\s•●▪■◦‣]*")
_NUMERAL = re.compile(r"(?:\d{1,3}|[IVXLC]{1,5}|[A-Za-z])(?:\.\d{1,3})*")

MEASURES = frozenset("weighs weighed costs measures measured lasts lasted retails retailed".split())
"""Verbs whose object is an amount of what their subject has."""
PRONOUNS = frozenset("it this".split())
"""Subjects of such verbs that stand for what was named before."""

_BEFORE_AMOUNT = (
    "for|only|just|about|around|approximately|roughly|nearly|almost|over|under|up|to|more|less|than|between|from"
)
_CARRIES_ON = re.compile(
    rf"""(?:(?:{"|".join(sorted(PRONOUNS))})\s+)?(?:{"|".join(sorted(MEASURES))})\s+
    (?:(?:(?<=weighs\s)|(?<=weighed\s))in\s+at\s+|(?:(?<=retails\s)|(?<=retailed\s))at\s+)?
    (?:(?:{_BEFORE_AMOUNT})\s+){{0,4}}(?:(?:usd|eur|gbp|us)\s*)?[^\w\s]?\s?
    (?:\d|(?:{"|".join(sorted(NUMERALS))})\b)""",
    re.IGNORECASE | re.VERBOSE,
)
_LEANS = re.compile(rf"(?:{'|'.join(PRONOUNS)})\b|\d", re.IGNORECASE)
"""How a sentence starts that may not name its thing: with a pronoun, or as a list ("14-inch screen, 8 GB")."""

TITLES = frozenset("mr mrs ms dr prof gen rep sen gov st sr messrs col capt lt sgt rev hon pres mt ft".split())
"""Abbreviations that stand before a name: their full stop never ends a sentence."""

BEFORE_NUMBER = frozenset("no nos nr fig figs sec sect art eq ref refs vol vols ch pp p approx ca cf pt ed".split())
"""Abbreviations whose full stop does not end a sentence where a number follows."""

HEADINGS = frozenset("item items section note part article chapter table figure schedule exhibit appendix step".split())
"""Words after which a number with a full stop is a heading's number."""

STARTERS = frozenset(
    "the a an this these those that it its he she they we i you our their his her in on at for from to as by with "
    "after before during since while when where if because although however but and or so yet then also there here "
    "both each all some most many no not such under over through until upon according despite moreover "
    "furthermore additionally meanwhile what which who how".split()
)
"""Words that, with a capital letter, start a sentence even after an abbreviation that may also stand inside one."""


class EnglishSplitter:
    """Cuts texts into sentences. Deterministic, free of state."""

    def spans(self, text: str) -> list[tuple[int, int]]:
        """Half-open character spans of the sentences of `text`, in order, without overlap.

        No span starts or ends with white space or a bullet, is longer than `LONGEST`, or is without a letter or
        digit. One has several sentences where the later say what the thing of the first measures. Nothing but white
        space, bullets and sentences without a letter or digit is left out.
        """
        spans: list[tuple[int, int]] = []
        start = 0
        for end in merge(self._ends(text), _glued_headings(text)):
            spans += _trimmed(text, start, end)
            start = end
        spans += _trimmed(text, start, len(text))
        return _joined(text, spans)

    def _ends(self, text: str) -> Iterator[int]:
        start = 0
        wrapped = _WrappedLines(text)
        for match in _CANDIDATE.finditer(text):
            kind = match.lastgroup
            if kind == "line":
                blank = "\n" in match.group("line")
                ends = blank or not (wrapped.inside(match.start()) or _starts_low(_next_word(text, match.end())))
            else:
                ends = kind in ("bullet", "wide") or self._stop_ends(text, match, start)
            if ends:
                start = match.start() if kind == "bullet" else match.end()
                yield start

    def _stop_ends(self, text: str, match: re.Match[str], start: int) -> bool:
        stop, end = match.span()
        if end == len(text):
            return True
        following = _next_word(text, end)
        if not following or _starts_low(following):
            return False
        glued = not text[end].isspace()
        marks = text[stop : match.end("stop")]
        if marks != ".":
            return not glued or len(marks) == 1
        word = _SPACE.split(text[max(start, stop - _WORD) : stop])[-1]
        if glued and not _glued_stop_ends(word, match.group("closing"), following):
            return False
        return self._full_stop_ends(text, word, stop, start, following)

    def _full_stop_ends(self, text: str, word: str, stop: int, start: int, following: str) -> bool:
        before = text[max(start, stop - len(word) - 24) : stop - len(word)].split()
        bare = word.lstrip("\"'“‘«([").lower()
        if bare in TITLES or (bare in BEFORE_NUMBER and following[0].isdigit()):
            return False
        if _NUMERAL.fullmatch(word) and (not before or before[-1].lower().endswith(tuple(HEADINGS))):
            return False  # the number of a heading or of an item of a list
        if bare in BEFORE_NUMBER or not full_stop_is_token(word):
            return following.strip(",.;:").lower() in STARTERS and following[0].isupper()
        return True


def _glued_headings(text: str) -> Iterator[int]:
    """Ends of headings to which the next sentence is glued ("Results of OperationsWe sell")."""
    for match in _HEADING.finditer(text):
        position = match.start()
        if position >= 3 and text[position - 1].islower() and text[position - 3 : position].isalpha():
            yield position


def _glued_stop_ends(word: str, closing: str, following: str) -> bool:
    """Whether a full stop with no space after it can end a sentence (flattened headings: "period.Operating Risks")."""
    if not word or "@" in word or "/" in word or word.lower().startswith("www"):
        return False
    last = word[-1]
    if closing or last in ')%]"”’':
        return True
    if last.isdigit():
        return len(following) > 2 and following[1:3].islower()
    return last.islower() and len(word) > 1 and word[-2].isalpha()


def carries_on(text: str, start: int = 0) -> bool:
    """Whether the sentence at `start` says what the thing of the one before it measures: "It costs 20 euros."."""
    return _CARRIES_ON.match(text, start) is not None


def _joined(text: str, spans: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """The spans, those that carry on joined to what says of which thing, as far as `LONGEST` allows."""
    joined: list[tuple[int, int]] = []
    for start, end in spans:
        joined.append((start, end))
        leans = carries_on(text, start)
        while leans and len(joined) > 1 and end - joined[-2][0] <= LONGEST:
            joined[-2:] = [(joined[-2][0], end)]
            leans = _LEANS.match(text, joined[-1][0]) is not None
    return joined


def _next_word(text: str, end: int) -> str:
    match = _NEXT.match(text, end)
    return match.group("word") if match else ""


def _starts_low(word: str) -> bool:
    """Whether a word cannot start a sentence: "and", but not "iPhone"."""
    return word[:1].islower() and not any(char.isupper() for char in word)


def _trimmed(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    """The span without its margins, cut where it is too long; nothing where it has no letter or digit."""
    while True:
        margin = _MARGIN.match(text, start, end)
        start = margin.end() if margin else start
        cut = end if end - start <= LONGEST else _cut(text, start)
        stop = cut
        while stop > start and text[stop - 1].isspace():
            stop -= 1
        if any(char.isalnum() for char in text[start:stop]):
            yield start, stop
        if cut >= end:
            return
        start = cut


def _cut(text: str, start: int) -> int:
    """Where to cut a long sentence: after the last mark or white space of its second half, else anywhere."""
    piece = text[start : start + LONGEST]
    for pattern in ("; ", ", ", " ", "\n", "\t"):
        index = piece.rfind(pattern, LONGEST // 2)
        if index >= 0:
            return start + index + len(pattern)
    return start + LONGEST


class _WrappedLines:
    """Which line ends only wrap a paragraph at a margin, as in e-mail and old text files.

    A paragraph is wrapped if it has three lines or more, and at the end of each line but the last the next word would
    not have fitted into the longest line.
    """

    def __init__(self, text: str) -> None:
        self._spans: list[tuple[int, int]] = []
        if text.count("\n") >= 2:
            start = 0
            for blank in _BLANK_LINE.finditer(text):
                self._add(text, start, blank.start())
                start = blank.end()
            self._add(text, start, len(text))
        self._next = 0

    def inside(self, position: int) -> bool:
        """Whether the line end at `position` only wraps a paragraph; call with increasing positions."""
        while self._next < len(self._spans) and self._spans[self._next][1] <= position:
            self._next += 1
        return self._next < len(self._spans) and self._spans[self._next][0] <= position

    def _add(self, text: str, start: int, end: int) -> None:
        lines = text[start:end].strip("\n").split("\n")
        if len(lines) < 3:
            return
        width = max(map(len, lines))
        if 40 <= width <= 120 and all(
            len(line) + 1 + len(after.split(None, 1)[0] if after.strip() else "") > width
            for line, after in pairwise(lines)
        ):
            self._spans.append((start, end))
