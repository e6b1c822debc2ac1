"""The concepts of mentions: the rules' first, then the binder's, which knows the rules' when it decides."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from qbench.quantities.english.binder.features import Pivot, pivots
from qbench.quantities.english.binder.model import Binder, load_binder
from qbench.quantities.english.concepts import NONE, Concept, MentionTokens, find_concepts
from qbench.quantities.english.parse import Parse
from qbench.quantities.english.parsers.encoder import Array
from qbench.quantities.english.tokens import Token

BINDER = "binder"
"""The rule's name of concepts that the binder changed."""


SMALL_WORDS = frozenset("the a an of and or for in on at to by with per as than 's ’s its their our his her".split())
"""Words that join those of a concept and are none."""


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
    readable = [n for n, sentence in enumerate(sentences) if sentence.parse.vectors and sentence.mentions]
    if not readable:
        return concepts
    binder = load_binder()
    places = [(n, m) for n in readable for m in range(len(sentences[n].mentions))]
    views = {n: pivots(sentences[n].mentions, concepts[n], sentences[n].parse, binder.labels) for n in readable}
    requests = [(views[n][m], sentences[n].parse.vectors) for n, m in places]
    for (n, m), scores in zip(places, binder.probabilities(requests), strict=True):
        words = chosen(views[n][m], scores, sentences[n], binder)
        before = concepts[n][m]
        if words != {*before.words, *before.subject}:
            concepts[n][m] = arranged(words, views[n][m], scores, sentences[n].parse)
    return concepts


def chosen(view: Pivot, scores: Array, sentence: Sentence, binder: Binder) -> set[int]:
    """The tokens that name a concept: those likely enough, without marks, small words and the mention's own."""
    likely = (scores.max(axis=1) > binder.threshold) & (view.words[:, 1] != 1)
    tokens = sentence.tokens
    taken = {view.start + int(k) for k in likely.nonzero()[0]}
    return {k for k in taken if tokens[k].kind != "mark" and tokens[k].low not in SMALL_WORDS}


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
