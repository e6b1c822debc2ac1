"""What mentions measure: the rules' answer first, then the binder's, which knows the rules' when it decides."""

from __future__ import annotations

from collections.abc import Iterator, Sequence, Set
from dataclasses import dataclass, replace
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from qbench.quantities.english.binder.asides import corrected, with_what_is_left_out
from qbench.quantities.english.binder.features import Labels, Pivot, Sentence, pivots
from qbench.quantities.english.binder.model import OUTPUTS, Request, load_binder
from qbench.quantities.english.binder.sure import (
    ITEM,
    LISTED,
    SURE,
    compared_with,
    dealt_out,
    item_of_list,
    with_shared,
)
from qbench.quantities.english.concepts import NONE, Concept, MentionTokens, find_concepts
from qbench.quantities.english.intervals import in_interval
from qbench.quantities.english.noun_phrases import JOINTS
from qbench.quantities.english.parse import Parse
from qbench.quantities.english.parsers.dense import Array
from qbench.quantities.english.tokens import HYPHENS, Token, abbreviates, glued
from qbench.quantities.types import Change

NAMING = frozenset({"count", "time", "age"})
"""Families of units whose words may name what another number measures: "48 or 24 weeks", "two of the groups"."""
BINDER = "binder"
"""The rule's name of concepts that the binder changed."""


SMALL_WORDS = frozenset(
    "the a an of and or for in on at to by with per as than 's ’s its their our his her you he she we they "
    "i'll you'll we'll they'll i've you've we've they've".split()
)
"""Words that join those of a concept, or stand for them, and are none."""
TYING_WORDS = frozenset("associated included including ended corresponding averaging certain such".split())
"""Words that tie a phrase to a concept or point to it; in lower case, unlike that of "Associated Press"."""
EVEN = 0.5
"""Probability from which a number has another's unit."""
CORE = 0.12
"""Probability of being the core from which a word is of the concept: a concept without its core says nothing, and one
with a word too many still says what is measured."""
DOUBTED = 0.05
"""The same where the binder's words are not those of the rules."""
APART = 0.9
"""Probability from which a word that hangs together neither with the surest one nor with one that may be the core is of
the concept."""
CERTAIN = 0.8
"""Probability from which a number is no quantity, since one that is lost is worse than one too many; and from which the
binder knows better than the rules whether it is a change."""


@dataclass(frozen=True, slots=True)
class Binding:
    """What belongs to a mention.

    Attributes:
        concept: the words that name what it measures.
        change: "up" or "down" where it is the size of a rise or fall, else "".
        unit_of: index of the mention whose unit a bare number shares ("435 homes, and 187 in May"); None for its own.
        quantity: whether it is one, and no code, label or scrap of a page.
    """

    concept: Concept
    change: Change
    unit_of: int | None = None
    quantity: bool = True


class Inside(NamedTuple):
    """Tokens of the mentions of a text.

    Attributes:
        tokens: all of them.
        measures: the numbers, and the units of measures, which name nothing.
        aged: those right before an age.
    """

    tokens: frozenset[int]
    measures: frozenset[int]
    aged: frozenset[int]

    @classmethod
    def of(cls, mentions: Sequence[MentionTokens]) -> Inside:
        """Of mentions of one text."""
        inside = frozenset(k for mention in mentions for k in range(mention.first, mention.last))
        measured = (mention for mention in mentions if NAMING.isdisjoint(mention.family.split()) and mention.family)
        measures = {k for mention in measured for k in range(mention.first, mention.last)}
        aged = frozenset(mention.first - 1 for mention in mentions if mention.family == "age")
        return cls(inside, frozenset(measures | {mention.number for mention in mentions}), aged)


class WordBinder(Protocol):
    """A model that says which words belong to a mention.

    Attributes:
        labels: numbers of the strings in the features that it reads.
        threshold: probability from which a word is taken to be of the concept.
    """

    labels: Labels
    threshold: float

    def probabilities(self, requests: Sequence[Request]) -> list[Array]:
        """For each mention, an array of shape (tokens of its window, `OUTPUTS`)."""
        ...


def bind(sentences: Sequence[Sentence], binder: WordBinder | None = None) -> list[list[Binding]]:
    """What belongs to each mention of each text.

    Args:
        sentences: the texts.
        binder: decides; without it the one that comes with qbench does, or, where the parser gave no vectors that it
            can read, the rules alone.
    """
    bindings = [by_rules(sentence) for sentence in sentences]
    read = [n for n, sentence in enumerate(sentences) if binder is not None or sentence.parse.vectors is not None]
    if not read:
        return bindings
    binder = binder or load_binder()
    places: list[tuple[int, int, Inside, frozenset[int]]] = []
    requests: list[Request] = []
    for n in read:
        sentence = sentences[n]
        concepts = [b.concept for b in bindings[n]]
        views = pivots(sentence.mentions, concepts, sentence.parse, binder.labels)
        inside = Inside.of(sentence.mentions)
        dealt = dealt_out(concepts)
        places += [(n, m, inside, dealt) for m in range(len(views))]
        requests += [(view, sentence) for view in views]
    for (n, m, inside, dealt), (view, _), scores in zip(places, requests, binder.probabilities(requests), strict=True):
        bound = _bound(m, view, scores, sentences[n], bindings[n][m].concept, inside, dealt, binder.threshold)
        if m and in_interval(sentences[n].tokens, sentences[n].mentions[m].number):
            bound = replace(bound, change=_of_interval(sentences[n].mentions, m, bindings[n][m - 1].change))
        if not (bound.concept.words or bound.concept.subject):
            other = compared_with(sentences[n].tokens, sentences[n].mentions, m)
            if other is not None:
                bound = replace(bound, concept=bindings[n][other].concept)
        bindings[n][m] = bound
    return bindings


def _of_interval(mentions: Sequence[MentionTokens], m: int, before: Change) -> Change:
    """The change of a confidence interval: that of its estimate, as far as the rules see them as one."""
    own = mentions[m].change
    return before if own == mentions[m - 1].change else own


def by_rules(sentence: Sentence) -> list[Binding]:
    """What belongs to each mention of a text by the rules alone."""
    concepts = find_concepts(*sentence)
    return [Binding(c, mention.change) for c, mention in zip(concepts, sentence.mentions, strict=True)]


def _bound(
    m: int,
    view: Pivot,
    scores: Array,
    sentence: Sentence,
    concept: Concept,
    inside: Inside,
    dealt: Set[int],
    threshold: float,
) -> Binding:
    likely = chosen(view, sentence, named(scores, threshold), inside)
    up, down, none = scores[view.number - view.start, OUTPUTS.index("up") :]
    quantity = bool(none < CERTAIN)
    # Of what it takes for no quantity it does not know the concept; others may know that it is one.
    if item := item_of_list(sentence.tokens, sentence.mentions[m], sentence.parse):
        concept = Concept(item, ITEM)
    elif quantity and concept.how not in SURE and likely != {*concept.words, *concept.subject}:
        period = not likely and sentence.mentions[m].time  # "in the nine months ended May 31": a time of none
        words = set() if period else chosen(view, sentence, _doubted(view, scores, threshold, inside), inside)
        if sentence.mentions[m].family != "age":  # "eighty infants aged four weeks"
            words = {k for k in words if not (k in inside.aged and sentence.tokens[k].low == "aged")}
        words = _without_strays(words, view, scores, sentence)
        if concept.how == LISTED:
            concept = with_shared(concept, words, dealt, sentence.tokens)
        else:
            concept = arranged(words, view, scores, sentence)
    found = {*concept.words, *concept.subject}
    right = corrected(sentence.tokens, sentence.mentions, m, sentence.parse, found, inside.tokens)
    if right != found:
        concept = _with_words(concept, right)
    words = with_what_is_left_out(sentence.tokens, {*concept.words}, inside.tokens)
    subject = with_what_is_left_out(sentence.tokens, {*concept.subject}, inside.tokens) - words
    if words != {*concept.words} or subject != {*concept.subject}:
        concept = Concept(tuple(sorted(words)), concept.how, tuple(sorted(subject)))
    change = _change(sentence.mentions[m].change, float(up), float(down))
    return Binding(concept, change, _unit_of(m, view, scores, sentence.mentions), quantity)


def _with_words(concept: Concept, words: Set[int]) -> Concept:
    """A concept of other words; what it did not have is of its subject."""
    own = tuple(k for k in concept.words if k in words)
    rest = tuple(sorted(words - set(own)))
    return Concept(own, concept.how, rest) if own else Concept(rest, concept.how)


def _change(by_rules: Change, up: float, down: float) -> Change:
    """What the rules say, unless something else is certain."""
    likely: dict[Change, float] = {"": 1 - max(up, down), "up": up, "down": down}
    best = max(likely, key=likely.__getitem__)
    return best if likely[best] > CERTAIN else by_rules


def _unit_of(m: int, view: Pivot, scores: Array, mentions: Sequence[MentionTokens]) -> int | None:
    """The mention that states the unit of mention m, if that is bare."""
    if mentions[m].family:
        return None
    end = view.start + len(scores)
    first = next((i for i in range(m, -1, -1) if mentions[i].number < view.start), -1) + 1
    last = next((i for i in range(m, len(mentions)) if mentions[i].number >= end), len(mentions))
    others = [i for i in range(first, last) if mentions[i].family]
    likely = {i: float(scores[mentions[i].number - view.start, OUTPUTS.index("unit")]) for i in others}
    best = max(likely, key=likely.__getitem__, default=None)
    return best if best is not None and likely[best] > EVEN else None


def named(scores: Array, threshold: float, core: float = CORE) -> NDArray[np.bool_]:
    """Which tokens are words of the concept, shape (tokens,); `scores` is of shape (tokens, 2 or more)."""
    words: NDArray[np.bool_] = (scores[:, 0] > threshold) | (scores[:, 1] > core)
    return words


def _doubted(view: Pivot, scores: Array, threshold: float, inside: Inside) -> NDArray[np.bool_]:
    """Which tokens are words of a concept that the rules read otherwise; what another number counts is none easily."""
    others = np.array([view.start + k in inside.tokens for k in range(len(scores))], dtype=bool)
    likely: NDArray[np.bool_] = np.where(others, named(scores, threshold), named(scores, threshold, DOUBTED))
    return likely


def chosen(view: Pivot, sentence: Sentence, likely: NDArray[np.bool_], inside: Inside) -> set[int]:
    """The tokens that name a concept: those likely enough, without small words, numbers of mentions, and its own.

    Args:
        view: the mention as the binder sees it.
        sentence: the text.
        likely: which tokens of the window are likely enough, shape (tokens,).
        inside: the tokens of the text's mentions.
    """
    tokens = sentence.tokens
    taken = [view.start + int(k) for k in (likely & (view.words[:, 1] != 1)).nonzero()[0]]
    taken = [k for k in taken if k not in inside.measures and not _clocked(tokens, k)]
    taken = [k for k in taken if tokens[k].kind != "mark" and tokens[k].text not in TYING_WORDS]
    words = {k for k in taken if tokens[k].low not in SMALL_WORDS}
    window = range(view.start, view.start + len(likely))
    words |= _rest(words, window, tokens, inside.tokens)
    return words | {k for word in words for k in _joints(word, words, tokens) if k in window}


def _clocked(tokens: Sequence[Token], k: int) -> bool:
    """Whether token k is a number of "2:41:17"."""
    marks = [j for j in (k - 1, k + 1) if 0 < j < len(tokens) - 1 and tokens[j].text == ":"]
    return tokens[k].kind == "number" and any(
        tokens[j - 1].kind == tokens[j + 1].kind == "number" and _glued(j - 1, j, tokens) for j in marks
    )


def _without_strays(words: set[int], view: Pivot, scores: Array, sentence: Sentence) -> set[int]:
    """The words without groups that stand apart, of which none is likely enough by itself or as the core."""
    if not words:
        return words
    surest = _surest(words, view, scores)
    kept: set[int] = set()
    for group in _groups(words, sentence):
        of_group = scores[[word - view.start for word in group]]
        if surest in group or (of_group[:, 0] > APART).any() or (of_group[:, 1] > DOUBTED).any():
            kept |= group
    return kept


def _surest(words: set[int], view: Pivot, scores: Array) -> int:
    return max(sorted(words), key=lambda k: float(scores[k - view.start, 1]))


def _rest(words: Set[int], window: range, tokens: Sequence[Token], inside: Set[int]) -> set[int]:
    """The other pieces of words of which some are chosen: "HbA1c", "IL-6", "ST-segment", "AT&T"."""
    found: set[int] = set()
    for word in words:
        for step in (1, -1):
            k = word
            while (beside := _piece_beside(k, step, window, tokens)) is not None and beside not in inside:
                found.add(beside)
                k = beside
    return found


def _piece_beside(k: int, step: int, window: range, tokens: Sequence[Token]) -> int | None:
    """The next piece of the same word: glued to it, or by a hyphen or an ampersand."""
    near, far = k + step, k + 2 * step
    if near not in window or not _glued(k, near, tokens):
        return None
    if tokens[near].kind != "mark":
        return near
    joined = (tokens[near].text in HYPHENS or tokens[near].text == "&") and far in window and _glued(near, far, tokens)
    return far if joined and tokens[far].kind != "mark" else None


def _glued(a: int, b: int, tokens: Sequence[Token]) -> bool:
    return glued(tokens[min(a, b)], tokens[max(a, b)])


def _joints(k: int, words: Set[int], tokens: Sequence[Token]) -> Iterator[int]:
    """The marks that join a word to the next one of the concept ("R&D"), and the stop of an abbreviation."""
    joint = k + 1
    if k + 2 in words and tokens[joint].text in JOINTS and glued(tokens[k], tokens[joint]):
        lost_space = tokens[joint].text == "." and len(tokens[k].text) > 1 and tokens[k + 2].text[0].isupper()
        if glued(tokens[joint], tokens[k + 2]) and not lost_space:  # "and securities.Net gains"
            yield joint
    elif joint < len(tokens) and abbreviates(tokens, joint):
        yield joint


def arranged(words: set[int], view: Pivot, scores: Array, sentence: Sentence) -> Concept:
    """A concept of these words: those that hang together with the surest of them, and the rest as its subject."""
    if not words:
        return NONE
    surest = _surest(words, view, scores)
    own = next(group for group in _groups(words, sentence) if surest in group)
    return Concept(tuple(sorted(own)), BINDER, tuple(sorted(words - own)))


def _groups(words: set[int], sentence: Sentence) -> list[set[int]]:
    """The words that hang together; pieces of one word do, whatever the parser hangs them on: "QoR-40"."""
    groups: dict[int, set[int]] = {}
    for k in sorted(words):
        group = groups.setdefault(_top(k, words, sentence.parse), set())
        group.add(k)
        before = next((other for other in groups.values() if k - 1 in other), group)
        if before is not group and glued(sentence.tokens[k - 1], sentence.tokens[k]):
            before |= group
            groups = {top: before if other is group else other for top, other in groups.items()}
    return list({id(group): group for group in groups.values()}.values())


def _top(k: int, words: set[int], parse: Parse) -> int:
    """The topmost of the words that a word hangs on, itself at least."""
    top = k
    while (head := parse.heads[k]) != k:
        k = head
        if k not in words:
            break
        top = k
    return top
