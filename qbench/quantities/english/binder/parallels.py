"""Figures that stand in parallel: "30% in men and 20% in women", "imports from China were $5bn, those from India $3bn".

Each has a phrase of its own in the same place, which says of which it is; all that is said before the first is said of
each. A model that looks at one figure at a time may give it the phrase of another, or leave its own out.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from qbench.quantities.english.binder.features import Sentence
from qbench.quantities.english.concepts import Concept
from qbench.quantities.english.lexicon import MONTHS
from qbench.quantities.english.noun_phrases import NOUN_TAGS, TIMES
from qbench.quantities.english.tokens import HYPHENS, glued

PARALLEL = "in parallel"
"""The rule's name."""
LONGEST = 6
"""Tokens of a phrase at most."""
MOST = 12
"""Tokens before the first figure among which its phrase is looked for, at most."""

_PREPOSITIONS = frozenset("in for with of on among from by after under at to".split())
_PARTICLES = frozenset("to at by from".split())
"""What may stand between a verb and its figure: "copper rose to $9,000, zinc to $2,500"."""
_LINKS = frozenset(", ; and but while whereas or versus vs against".split())
_TWO_WORDS = frozenset({("compared", "with"), ("compared", "to")})
_POINTERS = frozenset("those that".split())
"""Pronouns that stand for the noun before: "those from India"."""
_FINITE = frozenset({"VBD", "VBZ", "VBP"})
_IN_PHRASE = frozenset({*NOUN_TAGS, "JJ", "JJR", "JJS", "AFX", "HYPH", "DT", "PRP$", "POS"})
_CONTENT = frozenset({*NOUN_TAGS, "JJ", "JJS", "AFX"})
_OPENERS = frozenset({"DT", "PRP$"})
_EMPTY = MONTHS | TIMES


class _Item(NamedTuple):
    """A mention and the tokens of its phrase."""

    mention: int
    phrase: tuple[int, ...]


def with_parallels(sentence: Sentence, concepts: Sequence[Concept]) -> list[Concept]:
    """The concepts of a text's mentions, those in parallel each with its own phrase and without those of others."""
    found = list(concepts)
    for items in _after(sentence):
        _deal_out(sentence, items, found, [found[item.mention] for item in items])
    for items in _before(sentence):
        _deal_out(sentence, items, found, [found[items[0].mention]] * len(items))
    return [_of_own_count(sentence, n, concept) for n, concept in enumerate(found)]


def _of_own_count(sentence: Sentence, n: int, concept: Concept) -> Concept:
    """A concept without what the numbers beside count: "4 bedrooms, 2 bathrooms" are no bathrooms of bedrooms."""
    mentions = sentence.mentions
    if not _counts(sentence, n):
        return concept
    beside = (m for m in (n - 1, n + 1) if 0 <= m < len(mentions) and _counts(sentence, m))
    listed = (m for m in beside if _is_link(sentence, mentions[min(m, n)].last, mentions[max(m, n)].first))
    others = {k for m in listed for k in range(mentions[m].first, mentions[m].last)}
    if others.isdisjoint({*concept.words, *concept.subject}):
        return concept
    words, subject = (tuple(k for k in each if k not in others) for each in (concept.words, concept.subject))
    return Concept(words or subject, PARALLEL, subject if words else ())


def _counts(sentence: Sentence, n: int) -> bool:
    """Whether mention n counts things that it names itself."""
    mention = sentence.mentions[n]
    return mention.family == "count" and sentence.parse.tags[mention.last - 1] in NOUN_TAGS


def _deal_out(sentence: Sentence, items: Sequence[_Item], found: list[Concept], shared: Sequence[Concept]) -> None:
    """Give each item its own phrase, if any has one, and take the others' from it.

    Args:
        sentence: the text.
        items: two or more.
        found: the concepts of the text, which are changed.
        shared: of each item, the concept that its phrase belongs to.
    """
    phrases = [{*_content(sentence, item.phrase)} for item in items]
    every = set[int]().union(*phrases)
    used = any(every & {*found[item.mention].words, *found[item.mention].subject} for item in items)
    for item, own, concept in zip(items, phrases, shared, strict=True):
        words = {k for k in concept.words if k not in every}
        subject = tuple(k for k in concept.subject if k not in every)
        words |= own if used else set()
        if words or subject:
            changed = Concept(tuple(sorted(words)) or subject, PARALLEL, subject if words else ())
            old = found[item.mention]
            if {*changed.words, *changed.subject} != {*old.words, *old.subject}:
                found[item.mention] = changed


def _content(sentence: Sentence, phrase: Sequence[int]) -> Iterator[int]:
    tokens, tags = sentence.tokens, sentence.parse.tags
    for k in phrase:
        named = tags[k] in _CONTENT and tokens[k].kind == "word" and not {tokens[k].text, tokens[k].low} & _EMPTY
        if named or (tokens[k].text in HYPHENS and k + 1 in phrase and glued(tokens[k], tokens[k + 1])):
            yield k


def _alike(sentence: Sentence, m: int, n: int) -> bool:
    """Whether mentions m and n are of one kind and one sentence."""
    a, b = sentence.mentions[m], sentence.mentions[n]
    stretches = sentence.parse.stretches
    alike = a.family == b.family or a.family.startswith(f"{b.family} per ")  # "$9 a tonne, zinc to $2"
    return alike and a.time == b.time and stretches[a.number] == stretches[b.number]


def _after(sentence: Sentence) -> Iterator[list[_Item]]:
    """Lists such as "30% in men, 20% in women"."""
    items: list[_Item] = []
    for n, mention in enumerate(sentence.mentions):
        phrase = _phrase_from(sentence, mention.last)
        if not (phrase and items and _carries_on(sentence, items[-1], n)):
            if len(items) > 1:
                yield items
            items = []
        if phrase:
            items.append(_Item(n, phrase))
    if len(items) > 1:
        yield items


def _carries_on(sentence: Sentence, before: _Item, n: int) -> bool:
    """Whether mention n and the phrase after it stand as the item before them does: the preposition is the same."""
    tokens, mentions = sentence.tokens, sentence.mentions
    if before.mention != n - 1 or not _alike(sentence, n - 1, n):
        return False
    same = tokens[mentions[n].last].low == tokens[mentions[n - 1].last].low
    return same and _is_link(sentence, before.phrase[-1] + 1, mentions[n].first)


def _phrase_from(sentence: Sentence, k: int) -> tuple[int, ...]:
    """The noun phrase after the preposition at token k; () for none."""
    tokens = sentence.tokens
    if k >= len(tokens) or tokens[k].low not in _PREPOSITIONS:
        return ()
    end = k + 1
    while end < len(tokens) and end - k <= LONGEST and _in_phrase(sentence, end):
        if end > k + 1 and sentence.parse.tags[end] in _OPENERS:
            break  # "for adults the dose is"
        end += 1
    head = sentence.parse.heads[k]
    if k < head < end:
        end = head + 1  # "in the north wheat yields"
    return tuple(range(k + 1, end)) if end > k + 1 and sentence.parse.tags[end - 1] in NOUN_TAGS else ()


def _in_phrase(sentence: Sentence, k: int) -> bool:
    return sentence.parse.tags[k] in _IN_PHRASE and sentence.tokens[k].kind != "number"


def _is_link(sentence: Sentence, first: int, last: int) -> bool:
    """Whether tokens first..last-1 join two figures, and nothing else."""
    words = tuple(token.low for token in sentence.tokens[first:last] if token.text not in ",")
    return last > first and (words in _TWO_WORDS or all(word in _LINKS for word in words))


def _before(sentence: Sentence) -> Iterator[list[_Item]]:
    """Lists such as "the price in Rome was $5, and in Oslo $7", "copper rose to $9, zinc to $2"."""
    items: list[_Item] = []
    shape: tuple[str, str] | None = None
    for n in range(1, len(sentence.mentions)):
        own = _phrase_before(sentence, n)
        if own is None or not items or own[0] != shape or not _alike(sentence, n - 1, n):
            if len(items) > 1:
                yield items
            items = []
        if own is not None and not items:
            shape = own[0]
            items = list(_opened(sentence, n, *shape))
        if own is not None and items:
            items.append(_Item(n, own[1]))
    if len(items) > 1:
        yield items


def _opened(sentence: Sentence, n: int, preposition: str, particle: str) -> Iterator[_Item]:
    """The mention that mention n stands in parallel to, with its phrase: the one before, or that before its level.

    "Exports rose 5% to $3 billion and imports 7%": the 7% are as the 5% are.
    """
    for m in (n - 1, n - 2):
        if m >= 0 and _alike(sentence, m, n):
            if phrase := _counterpart(sentence, m, preposition, particle):
                yield _Item(m, phrase)
            return


def _phrase_before(sentence: Sentence, n: int) -> tuple[tuple[str, str], tuple[int, ...]] | None:
    """The preposition and the particle around the phrase between mentions n-1 and n, and that; None for none.

    Both are "" where there are none.
    """
    tokens = sentence.tokens
    start, end = sentence.mentions[n - 1].last, sentence.mentions[n].first
    particle = tokens[end - 1].low if end - 1 > start and tokens[end - 1].low in _PARTICLES else ""
    end -= bool(particle)
    k = end
    while k > start and end - k < LONGEST and _in_phrase(sentence, k - 1) and tokens[k - 1].low not in _POINTERS:
        k -= 1
    if k == end or sentence.parse.tags[end - 1] not in NOUN_TAGS:
        return None
    phrase = tuple(range(k, end))
    preposition = tokens[k - 1].low if k - 1 > start and tokens[k - 1].low in _PREPOSITIONS else ""
    k -= bool(preposition)
    k -= bool(preposition) and k - 1 > start and tokens[k - 1].low in _POINTERS
    return ((preposition, particle), phrase) if _is_link(sentence, start, k) else None


def _counterpart(sentence: Sentence, n: int, preposition: str, particle: str) -> tuple[int, ...]:
    """The phrase of mention n in the same place; () for none."""
    tokens, tags, mentions = sentence.tokens, sentence.parse.tags, sentence.mentions
    end = mentions[n].first
    if particle:
        end -= 1
        if end < 1 or tokens[end].low != particle:
            return ()
    start = max(sentence.parse.ranges[sentence.parse.stretches[mentions[n].number]][0], end - MOST)
    start = max(start, mentions[n - 1].last if n else 0)
    if preposition:
        places = [k for k in range(start, end) if tokens[k].low == preposition]
        return _phrase_from(sentence, places[-1]) if places else ()
    verb = end - 1
    if verb < start or tags[verb] not in _FINITE:
        return ()
    k = verb
    while k > start and verb - k < LONGEST and _in_phrase(sentence, k - 1):
        k -= 1
    return tuple(range(k, verb)) if k < verb and tags[verb - 1] in NOUN_TAGS else ()
