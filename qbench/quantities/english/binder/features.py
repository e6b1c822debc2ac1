"""What the binder sees of a mention and the words around it: whole numbers that index tables of embeddings.

The mention is a pivot: everything is said of a word as seen from it (how far, on which path through the tree, in which
phrase of the rules), as the pivot in *Quantity Retrieval* section 3.1 lets a tagger know which quantity is meant.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from qbench.quantities.english.concepts import Concept, MentionTokens
from qbench.quantities.english.parse import Parse
from qbench.quantities.english.tokens import Token

WINDOW = 90
"""Tokens on either side of a mention that may name its concept; none beyond the parsed stretch of text."""
STEPS = (0, 1, 2, 3, 4, 5, 6, 8, 10, 13, 16, 20, 25, 32, 40, 60)
"""Lower ends of the ranges of distances in tokens that are told apart."""
_RANGES = np.searchsorted(STEPS, np.arange(WINDOW + 1), side="right") - 1
UP, DOWN = 6, 6
"""Steps in the tree, up from the mention and down to a word, that are told apart."""
FURTHEST = 14
"""Steps that are followed."""
CROWD = 3
"""Mentions between a word and the mention that are told apart."""
WORD_COLUMNS = {
    "distance": 2 * len(STEPS) + 1,
    "mention": 4,
    "rule": 3,
    "other rule": 2,
    "tag": 50,
    "relation": 60,
    "path": (UP + 1) * (DOWN + 1) + 2,
    "crowd": CROWD + 1,
}
"""What is known of a word, and how many values each can take."""
MENTION_COLUMNS = {"family": 30, "rule": 30, "relation": 60, "relation above": 60, "change": 3}
"""What is known of the mention."""
CHANGES = ("", "up", "down")


class Sentence(NamedTuple):
    """A text with its mentions, in order, and its parse."""

    tokens: Sequence[Token]
    mentions: Sequence[MentionTokens]
    parse: Parse


class Labels(NamedTuple):
    """Numbers of the strings that occur in features, from 1; 0 stands for any other."""

    tags: Mapping[str, int]
    relations: Mapping[str, int]
    families: Mapping[str, int]
    rules: Mapping[str, int]

    @classmethod
    def of(cls, *names: Sequence[str]) -> Labels:
        """From lists of strings, one for each field."""
        return cls(*({name: n for n, name in enumerate(each, start=1)} for each in names))


@dataclass(frozen=True, slots=True)
class Pivot:
    """A mention as the binder sees it.

    Attributes:
        start: index of the first token of its window.
        words: features of each token of the window, of shape (tokens, `WORD_COLUMNS`).
        mention: features of the mention, of shape (`MENTION_COLUMNS`,).
        number: index of the token of its number.
        anchor: index of its token that hangs on a word outside it.
    """

    start: int
    words: NDArray[np.int64]
    mention: NDArray[np.int64]
    number: int
    anchor: int


def family(name: str) -> str:
    """The kind of a unit that the binder tells apart: its family, one for all currencies."""
    return "currency" if name.startswith("currency") else name


def pivots(mentions: Sequence[MentionTokens], concepts: Sequence[Concept], parse: Parse, labels: Labels) -> list[Pivot]:
    """The features of each mention of a text.

    Args:
        mentions: of the text, in order.
        concepts: of the mentions, by rules.
        parse: of the tokens of the text.
        labels: of the binder that reads the features.
    """
    return _Text(mentions, concepts, parse, labels).pivots()


class _Text:
    def __init__(
        self, mentions: Sequence[MentionTokens], concepts: Sequence[Concept], parse: Parse, labels: Labels
    ) -> None:
        self._mentions, self._concepts, self._parse, self._labels = mentions, concepts, parse, labels
        n = len(parse.tags)
        self._tags = np.array([labels.tags.get(tag, 0) for tag in parse.tags])
        self._relations = np.array([labels.relations.get(relation, 0) for relation in parse.relations])
        self._orders: dict[int, list[int]] = {}
        starting = [0] * (n + 1)
        for mention in mentions:
            starting[mention.first + 1] += 1
        self._begun = np.array(list(accumulate(starting)))
        """For each token, the mentions that begin before it."""
        self._owned = np.zeros(n, dtype=np.int64)
        for concept in concepts:
            self._owned[list({*concept.words, *concept.subject})] += 1

    def pivots(self) -> list[Pivot]:
        return [self._pivot(n) for n in range(len(self._mentions))]

    def _pivot(self, n: int) -> Pivot:
        mention, concept, parse = self._mentions[n], self._concepts[n], self._parse
        first, last = self._window(mention)
        at = anchor(mention, parse)
        k = np.arange(first, last)
        words = np.zeros((last - first, len(WORD_COLUMNS)), dtype=np.int64)
        before, after = np.maximum(mention.first - k, 0), np.maximum(k - mention.last + 1, 0)
        words[:, 0] = len(STEPS) - _RANGES[before] + _RANGES[after]
        for i in self._near(n, first, last):
            other = self._mentions[i]
            words[max(other.first - first, 0) : other.last - first, 1] = 1 if i == n else (2 if i < n else 3)
        for value, indexes in ((1, concept.words), (2, concept.subject)):
            words[[i - first for i in indexes if first <= i < last], 2] = value
        words[:, 3] = self._owned[first:last] > (words[:, 2] > 0)
        words[:, 4], words[:, 5] = self._tags[first:last], self._relations[first:last]
        words[:, 6] = self._paths(at, first, last)
        begun = self._begun
        left, right = begun[mention.first] - begun[k], begun[k] - begun[mention.last]
        words[:, 7] = np.clip(np.where(k < mention.first, left, right), 0, CROWD)
        labels, heads = self._labels, parse.heads
        whole = (
            labels.families.get(family(mention.family), 0),
            labels.rules.get(concept.how, 0),
            self._relations[at],
            self._relations[heads[at]],
            CHANGES.index(mention.change),
        )
        return Pivot(first, words, np.array(whole), mention.number, at)

    def _near(self, n: int, first: int, last: int) -> range:
        """The mentions that share tokens first..last-1 with mention n."""
        start, end = n, n + 1
        while start > 0 and self._mentions[start - 1].last > first:
            start -= 1
        while end < len(self._mentions) and self._mentions[end].first < last:
            end += 1
        return range(start, end)

    def _window(self, mention: MentionTokens) -> tuple[int, int]:
        """The tokens around a mention that were parsed with it."""
        first, last = self._stretch(mention.first)[0], self._stretch(mention.last - 1)[1]
        return max(first, mention.first - WINDOW), min(last, mention.last + WINDOW)

    def _stretch(self, k: int) -> tuple[int, int]:
        return self._parse.ranges.get(self._parse.stretches[k], (k, k + 1))

    def _paths(self, at: int, first: int, last: int) -> list[int]:
        """For each token, the steps up from the anchor and down to it, as one number; 0 where no path is known."""
        heads = self._parse.heads
        ups: dict[int, int] = {}
        k = at
        for up in range(FURTHEST):
            if k in ups:
                break
            ups[k] = up
            k = heads[k]
        paths = {}
        for k in self._order(at):
            if k in ups:
                paths[k] = 1 + (ups[k] if ups[k] < UP else UP) * (DOWN + 1)
            else:
                above = paths[heads[k]] if heads[k] != k else 0
                # The steps down are counted up to DOWN, where they stay.
                paths[k] = above + (above > 0 and (above - 1) % (DOWN + 1) < DOWN)
        return [paths.get(k, 0) for k in range(first, last)]

    def _order(self, at: int) -> list[int]:
        """The tokens of the stretch of a token, each after its head."""
        number = self._parse.stretches[at]
        if number not in self._orders:
            waiting = [k for k in range(*self._stretch(at)) if self._parse.heads[k] == k]
            for k in waiting:  # it grows meanwhile
                waiting += self._parse.children[k]
            self._orders[number] = waiting
        return self._orders[number]


def anchor(mention: MentionTokens, parse: Parse) -> int:
    """The last token of a mention whose head lies outside it."""
    inside = range(mention.first, mention.last)
    outward = [k for k in inside if parse.heads[k] not in inside or parse.heads[k] == k]
    return (outward or [mention.first])[-1]
