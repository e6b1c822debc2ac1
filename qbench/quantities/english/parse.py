"""Part of speech, head and relation of each token of the sentences in which quantities stand."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import groupby, islice, pairwise
from operator import itemgetter

import numpy as np
from numpy.typing import NDArray

from qbench.quantities.english.parsers.words import Reading, WordParser
from qbench.quantities.english.sentences import MEASURES, PRONOUNS, STARTERS
from qbench.quantities.english.tokens import Token, ends_line, glued

LONGEST = 160
"""Tokens to a stretch at most: longer ones (tables, lists without a full stop) are cut, for bounded memory."""
BATCH = 128
CACHED_READINGS = 4_096
"""Readings cached per parser: many sentences differ in their numbers alone, and a parser reads stand-ins for those."""
_SURROGATES = re.compile("[\ud800-\udfff]")
ENDS = frozenset(".!?;\n•|")


@dataclass(frozen=True)
class Parse:
    """What a parser says of tokens, one entry for each of our tokens.

    Attributes:
        tags: Penn Treebank tags ("NNS", "VBD"); "" where the parser did not look.
        heads: index of the governing token; a token's own index for a root and where the parser did not look. Following
            heads always ends at such a token.
        relations: Universal Dependencies relations ("nsubj", "obl"); "part" for a further piece of a parser's word.
        vectors: of the tokens, of shape (tokens, width), zero for those that were not read; None from a parser that
            gives none.
        stretches: for each token that was read, the number of the stretch of text that it was read in; -1 for others.
    """

    tags: Sequence[str]
    heads: Sequence[int]
    relations: Sequence[str]
    vectors: NDArray[np.float16] | None = None
    stretches: Sequence[int] = ()

    @cached_property
    def children(self) -> list[list[int]]:
        """For each token, the tokens that it governs, in order."""
        below: list[list[int]] = [[] for _ in self.tags]
        for k, head in enumerate(self.heads):
            if head != k:
                below[head].append(k)
        return below

    @cached_property
    def ranges(self) -> dict[int, tuple[int, int]]:
        """The first token of each stretch that was read, and the one after its last, by its number."""
        ranges = {}
        for number, group in groupby(enumerate(self.stretches), key=itemgetter(1)):
            if number >= 0:
                first = next(group)[0]
                ranges[number] = first, first + 1 + sum(1 for _ in group)
        return ranges


@dataclass(frozen=True, slots=True)
class StandIn:
    """What the parser reads in place of a mention, tokens first..last-1: plain words, or none to leave it out.

    Treebanks hold few amounts, and a parser stumbles over "HK $3.7bn (US $473m)"; over "$ 5" it does not.
    """

    first: int
    last: int
    words: tuple[str, ...]


class Parser:
    """Parses the stretches of texts in which quantities stand.

    Args:
        reader: cuts and parses sentences.
    """

    def __init__(self, reader: WordParser) -> None:
        self._reader = reader
        self._cache: dict[tuple[str, ...], Reading] = {}

    def parse_many(self, texts: Sequence[tuple[str, Sequence[Token], Sequence[StandIn]]]) -> list[Parse]:
        """The parse of each text.

        Args:
            texts: for each text the text itself, its tokens, and what stands in for its mentions, in order; only
                sentences with a mention are parsed.
        """
        results = [_Columns(len(tokens)) for _, tokens, _ in texts]
        # Lazily, so that a text of any length takes the memory of a batch of its sentences.
        pieces = (
            (stretch, result) for result, text in zip(results, texts, strict=True) for stretch in self._stretches(*text)
        )
        while batch := list(islice(pieces, BATCH)):
            readings = self._read([tuple(stretch.words) for stretch, _ in batch])
            for (stretch, result), reading in zip(batch, readings, strict=True):
                stretch.write(reading, result)
        return [Parse(c.tags, c.heads, c.relations, c.vectors, c.stretches) for c in results]

    def _read(self, sentences: Sequence[tuple[str, ...]]) -> list[Reading]:
        """The reading of each sentence; equal ones are read once."""
        readings = {words: self._cache[words] for words in sentences if words in self._cache}
        unread = [words for words in dict.fromkeys(sentences) if words not in readings]
        new = dict(zip(unread, self._reader.read(unread), strict=True)) if unread else {}
        if len(self._cache) + len(new) > CACHED_READINGS:
            self._cache = {}
        self._cache |= new
        readings |= new
        return [readings[words] for words in sentences]

    def sentences(self, text: str, tokens: Sequence[Token], mentions: Sequence[StandIn]) -> Iterator[list[str]]:
        """The words of each sentence of a text that `parse_many` would have parsed."""
        return (stretch.words for stretch in self._stretches(text, tokens, mentions))

    def _stretches(self, text: str, tokens: Sequence[Token], mentions: Sequence[StandIn]) -> Iterator[_Stretch]:
        for first, last, inside in _stretches(tokens, mentions):
            yield _Stretch(self._reader, text, tokens, first, last, inside)


class _Stretch:
    """A sentence on its way through the parser: the words that it reads, and which token each of them speaks for."""

    def __init__(
        self,
        reader: WordParser,
        text: str,
        tokens: Sequence[Token],
        first: int,
        last: int,
        mentions: Sequence[StandIn],
    ) -> None:
        self._first, self._last, self._mentions = first, last, mentions
        shift = tokens[first].start
        ends = [tokens[k].end for k in range(first, last)]
        inside = {k: m for m in mentions for k in range(m.first, m.last)}
        self.words: list[str] = []
        self.speaks_for: list[int] = []
        done: set[int] = set()
        for word, start in reader.cut(_SURROGATES.sub("\ufffd", text[shift : tokens[last - 1].end])):
            k = first + min(bisect_right(ends, start + shift), last - first - 1)
            mention = inside.get(k)
            if mention is None:
                self._add(word, k)
            elif mention.first not in done:
                done.add(mention.first)
                for piece in mention.words:
                    self._add(piece, mention.first)
        if not self.words:
            self._add(".", first)

    def _add(self, word: str, token: int) -> None:
        self.words.append(word)
        self.speaks_for.append(token)

    def write(self, reading: Reading, into: _Columns) -> None:
        """Write what the words are onto the tokens; further tokens of a word or a mention are parts of its first."""
        speakers: dict[int, list[int]] = {}
        for w, token in enumerate(self.speaks_for):
            speakers.setdefault(token, []).append(w)
        depths = _depths(reading.heads)
        rows: dict[int, int] = {}
        for token, own in speakers.items():
            # Of several words, the one nearest to the root speaks for all: so no token comes to stand above itself.
            w = min(own, key=depths.__getitem__)
            head = reading.heads[w]
            into.tags[token] = reading.tags[w]
            into.heads[token] = token if head == w else self.speaks_for[head]
            into.relations[token] = reading.relations[w]
            if reading.vectors is not None and w < len(reading.vectors):
                rows[token] = w
        left_out = {k for m in self._mentions if not m.words for k in range(m.first, m.last)}
        if reading.vectors is not None:
            into.keep(reading.vectors, rows)
        number = into.count
        into.count += 1
        into.stretches[self._first : self._last] = [number] * (self._last - self._first)
        leader = self._first
        for k in range(self._first, self._last):
            if k in speakers:
                leader = k
            elif k not in left_out:
                into.tags[k], into.heads[k], into.relations[k] = into.tags[leader], leader, "part"


class _Columns:
    def __init__(self, n: int) -> None:
        self.tags = [""] * n
        self.heads = list(range(n))
        self.relations = [""] * n
        self.vectors: NDArray[np.float16] | None = None
        self.stretches = [-1] * n
        self.count = 0

    def keep(self, vectors: NDArray[np.float16], rows: Mapping[int, int]) -> None:
        """Keep the vectors of some tokens, each given with its row among them."""
        if self.vectors is None:
            self.vectors = np.zeros((len(self.tags), vectors.shape[1]), dtype=np.float16)
        self.vectors[list(rows)] = vectors[list(rows.values())]


def _depths(heads: Sequence[int]) -> list[int]:
    """How many steps lead from each word to a root."""
    depths = [0] * len(heads)
    for start in range(len(heads)):
        path = [start]
        while depths[path[-1]] == 0 and heads[path[-1]] != path[-1]:
            path.append(heads[path[-1]])
        for above, k in pairwise(reversed(path)):
            depths[k] = depths[above] + 1
    return depths


def _stretches(tokens: Sequence[Token], mentions: Sequence[StandIn]) -> Iterator[tuple[int, int, Sequence[StandIn]]]:
    """Token ranges with the mentions in them: sentences where their ends can be seen, else `LONGEST` tokens or so."""
    first, due = 0, 0
    unread: list[tuple[int, int]] = []
    carrying = any(token.low in MEASURES for token in tokens)
    while first < len(tokens) and due < len(mentions):
        last, inside = first + 1, due
        while last < len(tokens):
            while inside < len(mentions) and mentions[inside].last <= last:
                inside += 1
            broken = inside < len(mentions) and mentions[inside].first < last
            if not broken and (last - first >= LONGEST or _ends(tokens, last - 1)):
                break
            last += 1
        while inside < len(mentions) and mentions[inside].last <= last:
            inside += 1
        if inside > due:
            if carrying:
                for before in _leant_on(tokens, first, unread):
                    yield *before, ()
            yield first, last, mentions[due:inside]
            unread = []
        else:
            unread.append((first, last))
        first, due = last, inside


def _leant_on(tokens: Sequence[Token], first: int, unread: Sequence[tuple[int, int]]) -> Sequence[tuple[int, int]]:
    """Of the sentences before token `first`, those back to the one that names the thing that its sentence is about."""
    start = len(unread)
    while start and leans(tokens, first):
        start -= 1
        first = unread[start][0]
    return unread[start:]


def leans(tokens: Sequence[Token], first: int) -> bool:
    """Whether a sentence may not name its thing: it starts with a pronoun or a number, or carries on."""
    return tokens[first].low in PRONOUNS or tokens[first].kind == "number" or carries_on(tokens, first)


def carries_on(tokens: Sequence[Token], first: int) -> bool:
    """Whether a sentence says what the thing of the one before it measures: "Weighs 2 kg.", "It costs 20 euros."."""
    low = tokens[first].low
    follows = tokens[first + 1].low if first + 1 < len(tokens) else ""
    return low in MEASURES or (low in PRONOUNS and follows in MEASURES)


def _ends(tokens: Sequence[Token], k: int) -> bool:
    """Whether a sentence seems to end with token k: a mark, a gap, and no lower-case word after it; or a lost gap."""
    if ends_line(tokens, k):
        return True
    if k + 1 == len(tokens) or tokens[k].text not in ENDS:
        return False
    if glued(tokens[k], tokens[k + 1]):
        return _lost_space(tokens, k)
    if tokens[k + 1].text[:1].islower():
        return False
    if tokens[k + 1].low in STARTERS or carries_on(tokens, k + 1):
        return True
    before = tokens[k - 1].text if k else ""
    if tokens[k].text == "." and before in _NEVER_LAST:
        return False  # "317 ml vs. 615 ml"
    # Other short words before a full stop may be abbreviations, or the number of a heading.
    whole = len(before) > 3 or before.islower() or before == ")" or (len(before) > 1 and before.isdigit())
    return tokens[k].text != "." or whole


_NEVER_LAST = frozenset("vs approx cf ca".split())
"""Abbreviations that no sentence ends with."""
_OF_FILES = frozenset("com net org edu gov io js txt pdf csv doc docx html xml zip exe".split())
"""What a full stop ties to the name of a site or a file."""


def _lost_space(tokens: Sequence[Token], k: int) -> bool:
    """Whether token k is a full stop whose space is lost: "securities.Net gains", but not "U.S" or "readme.Txt"."""
    if tokens[k].text != "." or not k or not glued(tokens[k - 1], tokens[k]):
        return False
    before, after = tokens[k - 1], tokens[k + 1]
    if after.kind == "number" and k + 2 < len(tokens) and glued(after, tokens[k + 2]):
        after = tokens[k + 2]  # the number of a page: "percentage points.38Table of Contents"
    if after.low in _OF_FILES:
        return False
    closes = before.text in ")%" or (before.kind == "word" and before.text.islower() and len(before.text) > 2)
    return closes and after.kind == "word" and after.text[0].isupper() and len(after.text) > 1
