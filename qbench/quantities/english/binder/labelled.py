"""Figures with labels in one pair of brackets: "(drug: 7.6%; placebo: 7.8%)" are two of the same thing.

A label may end in a comma, too. The first figure may be understood without its label, the rest hang on nothing that a
parser could follow: each measures what the first one does, for what its own label says.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence, Set
from dataclasses import dataclass

from qbench.quantities.english.binder.features import Sentence
from qbench.quantities.english.binder.statistic_names import ESTIMATES, LETTERS, LOCATIONS, P_VALUES, SPREADS
from qbench.quantities.english.concepts import Concept, MentionTokens
from qbench.quantities.english.lexicon import FUNCTION_WORDS
from qbench.quantities.english.noun_phrases import NOUN_TAGS
from qbench.quantities.english.parse import Parse
from qbench.quantities.english.tokens import HYPHENS, Token, glued

LABELLED = "labelled in brackets"
"""The rule's name."""
LONGEST = 5
"""Tokens of a label at most."""
REACH = 100
"""Tokens between a label and the bracket that holds it at most."""

_VERBS = frozenset({"VBD", "VBZ", "VBP", "MD"})
_NO_LABELS = frozenset(
    {
        *SPREADS,
        *ESTIMATES,
        *LETTERS,
        *P_VALUES,
        *LOCATIONS,
        *"interval deviation error ratio difference df Wald Wilks power F age aged".split(),
    }
)
"""Words of the names of statistics, which differ where labels say of whom or what a figure is."""
_GREEK = re.compile("[\u0370-\u03ff]")
_LINKS = frozenset({("vs",), ("vs", "."), ("versus",)})


@dataclass(frozen=True, slots=True)
class _Item:
    """A mention with its label, and the mention that it is compared with: "total: 2.2 vs 3.3"."""

    mention: int
    label: tuple[int, ...]
    compared: int | None


def with_labels(sentence: Sentence, concepts: Sequence[Concept]) -> list[Concept]:
    """The concepts of a text's mentions, one each: those of labelled ones from the first of their brackets."""
    found, tokens = list(concepts), sentence.tokens
    for items in _lists(*sentence):
        labels = {tokens[k].low for item in items for k in item.label}
        first = found[items[0].mention]
        # a label may be said before, too: "lower with the drug than with placebo (drug: 7.6%; placebo: 7.8%)"
        words = tuple(k for k in first.words if tokens[k].low not in labels)
        subject = tuple(k for k in first.subject if tokens[k].low not in labels)
        if not (words or subject):
            continue
        for item in items:
            concept = Concept(tuple(sorted({*words, *_said(tokens, item.label)})), LABELLED, subject)
            for n in (item.mention, item.compared):
                if n is not None:
                    found[n] = concept
    return found


def _said(tokens: Sequence[Token], label: Sequence[int]) -> Iterator[int]:
    """The words of a label, with what is glued to them: "UNITI-2", but "Group" of "Group 2"."""
    for k in label:
        piece = glued(tokens[k - 1], tokens[k]) and (tokens[k].kind == "number" or tokens[k].text in HYPHENS)
        if piece or (tokens[k].kind == "word" and tokens[k].low not in FUNCTION_WORDS):
            yield k


def _lists(tokens: Sequence[Token], mentions: Sequence[MentionTokens], parse: Parse) -> Iterator[list[_Item]]:
    """Two or more labelled mentions of one kind in the same brackets."""
    items: list[_Item] = []
    opened = -1
    inside = {k for mention in mentions for k in range(mention.first, mention.last)}
    for n, mention in enumerate(mentions):
        label = _label(tokens, mention.first, parse, inside)
        if not label:
            continue
        opening = _opening(tokens, label[0])
        if opening < 0:
            continue
        if opening != opened or mentions[items[0].mention].family != mention.family:
            if len(items) > 1:
                yield items
            items, opened = [], opening
        items.append(_Item(n, label, _compared(tokens, mentions, n)))
    if len(items) > 1:
        yield items


def _label(tokens: Sequence[Token], first: int, parse: Parse, inside: Set[int]) -> tuple[int, ...]:
    """The tokens of "drug" in "; drug: 7.8%" or "; drug, 7.8%", where `first` is that of the figure; () for none.

    Args:
        tokens, parse: of the text.
        first: the figure's first token.
        inside: the tokens of all mentions.
    """
    end = first - 1
    if end < 1 or tokens[end].text not in ":=,":
        return ()
    k = end
    while k and end - k <= LONGEST and tokens[k - 1].text not in "([;," and k - 1 not in inside:
        k -= 1
    if tokens[end].text == "," and not (tokens[k - 1].text in "([;" and _names(tokens, parse, end - 1)):
        return ()  # "(of 20 men, mostly smokers, 4 died"
    k += tokens[k].low == "and"
    label = range(k, end)
    named = 0 < len(label) <= LONGEST and tokens[k].kind == "word"
    if not named or any(parse.tags[j] in _VERBS for j in label):
        return ()
    statistic = any(tokens[j].text in _NO_LABELS or _GREEK.search(tokens[j].text) for j in label)
    return () if statistic else tuple(label)


def _names(tokens: Sequence[Token], parse: Parse, k: int) -> bool:
    """Whether token k is a noun that names something; "for example" does not."""
    return parse.tags[k] in NOUN_TAGS and tokens[k].low not in ("example", "instance")


def _opening(tokens: Sequence[Token], k: int) -> int:
    """The bracket that is open at token k; -1 for none that is near."""
    depth = 0
    for j in range(k - 1, max(-1, k - 1 - REACH), -1):
        if tokens[j].text in ")]":
            depth += 1
        elif tokens[j].text in "([":
            if not depth:
                return j
            depth -= 1
    return -1


def _compared(tokens: Sequence[Token], mentions: Sequence[MentionTokens], n: int) -> int | None:
    """The mention that mention n is compared with, right after it."""
    if n + 1 == len(mentions) or mentions[n + 1].family != mentions[n].family:
        return None
    gap = tuple(token.low for token in tokens[mentions[n].last : mentions[n + 1].first])
    return n + 1 if gap in _LINKS else None
