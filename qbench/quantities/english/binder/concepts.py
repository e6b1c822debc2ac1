"""The concepts of mentions: the rules' first, then the binder's, which knows the rules' when it decides."""

from __future__ import annotations

from collections.abc import Iterator, Sequence, Set
from typing import NamedTuple

from qbench.quantities.english.binder.features import Pivot, pivots
from qbench.quantities.english.binder.model import Binder, load_binder
from qbench.quantities.english.concepts import NONE, Concept, MentionTokens, find_concepts
from qbench.quantities.english.noun_phrases import JOINTS
from qbench.quantities.english.parse import Parse
from qbench.quantities.english.parsers.encoder import Array
from qbench.quantities.english.tokens import Token, abbreviates, glued

BINDER = "binder"
"""The rule's name of concepts that the binder changed."""


SMALL_WORDS = frozenset("the a an of and or for in on at to by with per as than 's ’s its their our his her".split())
"""Words that join those of a concept and are none."""
SURE = frozenset({"respectively"})
"""Rules that the binder does not overrule: a list is dealt out by its order."""


class Sentence(NamedTuple):
    """A text with its mentions, in order, and its parse."""

    tokens: Sequence[Token]
    mentions: Sequence[MentionTokens]
    parse: Parse


def bind(sentences: Sequence[Sentence]) -> list[list[Concept]]:
    """The concept of each mention of each text.

    By the rules alone where the parser gave no vectors that the binder can read.
    """
    concepts = [find_concepts(*sentence) for sentence in sentences]
    if all(sentence.parse.vectors is None for sentence in sentences):
        return concepts
    binder = load_binder()
    places, requests = [], []
    for n, sentence in enumerate(sentences):
        if (vectors := sentence.parse.vectors) is None:
            continue
        views = pivots(sentence.mentions, concepts[n], sentence.parse, binder.labels)
        places += [(n, m) for m in range(len(views))]
        requests += [(view, vectors) for view in views]
    for (n, m), (view, _), scores in zip(places, requests, binder.probabilities(requests), strict=True):
        before = concepts[n][m]
        words = chosen(view, scores, sentences[n], binder)
        if before.how not in SURE and words != {*before.words, *before.subject}:
            concepts[n][m] = arranged(words, view, scores, sentences[n].parse)
    return concepts


def chosen(view: Pivot, scores: Array, sentence: Sentence, binder: Binder) -> set[int]:
    """The tokens that name a concept: those likely enough, without small words, numbers of mentions, and its own."""
    likely = (scores.max(axis=1) > binder.threshold) & (view.words[:, 1] != 1)
    tokens = sentence.tokens
    taken = [view.start + int(k) for k in likely.nonzero()[0]]
    numbers = {mention.number for mention in sentence.mentions}
    words = {k for k in taken if tokens[k].kind != "mark" and tokens[k].low not in SMALL_WORDS and k not in numbers}
    return words | {k for word in words for k in _joints(word, words, tokens)}


def _joints(k: int, words: Set[int], tokens: Sequence[Token]) -> Iterator[int]:
    """The marks that join a word to the next one of the concept ("R&D"), and the stop of an abbreviation."""
    joint = k + 1
    if k + 2 in words and tokens[joint].text in JOINTS and glued(tokens[k], tokens[joint]):
        if glued(tokens[joint], tokens[k + 2]):
            yield joint
    elif joint < len(tokens) and abbreviates(tokens, joint):
        yield joint


def arranged(words: set[int], view: Pivot, scores: Array, parse: Parse) -> Concept:
    """A concept of these words: those that hang together with the surest of them, and the rest as its subject."""
    if not words:
        return NONE
    surest = max(sorted(words), key=lambda k: float(scores[k - view.start, 1]))
    groups = {k: _top(k, words, parse) for k in words}
    own = tuple(k for k in sorted(words) if groups[k] == groups[surest])
    return Concept(own, BINDER, tuple(k for k in sorted(words) if groups[k] != groups[surest]))


def _top(k: int, words: set[int], parse: Parse) -> int:
    """The topmost of the words that a word hangs on, itself at least."""
    top = k
    while (head := parse.heads[k]) != k:
        k = head
        if k not in words:
            break
        top = k
    return top
