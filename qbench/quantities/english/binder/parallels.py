"""Figures that stand in parallel: "30% in men and 20% in women", "imports from China were $5bn, those from India $3bn".

Each has a phrase of its own in the same place, which says of which it is; all that is said before the first is said of
each. A model that looks at one figure at a time may give it the phrase of another, or leave its own out. In a list of
counts, "3 bedrooms, 2 bathrooms and a garden of 500 m2", none has the nouns of another.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence, Set
from typing import NamedTuple

from qbench.quantities.english.binder.features import Sentence
from qbench.quantities.english.concepts import Concept
from qbench.quantities.english.noun_phrases import DATES, NOUN_TAGS, TIMES
from qbench.quantities.english.tokens import HYPHENS, glued

PARALLEL = "in parallel"
"""The rule's name."""
LONGEST = 6
"""Tokens of a phrase at most."""
LONGEST_NOTE = 8
"""Tokens of a note in brackets, with these, at most: "(n = 12; 24%)"."""
LONGEST_VERB = 3
"""Verbs between a figure and its phrase at most: "were found in"."""
MOST = 12
"""Tokens before the first figure among which its phrase is looked for, at most."""

_PREPOSITIONS = frozenset("in for with without of on among from by before after under near at to".split())
_PARTICLES = frozenset("to at by from".split())
"""What may stand between a verb and its figure: "copper rose to $9,000, zinc to $2,500"."""
_LINKS = frozenset(", ; and but while whereas or versus vs against".split())
_TWO_WORDS = frozenset({("compared", "with"), ("compared", "to")})
_POINTERS = frozenset("those that".split())
"""Pronouns that stand for the noun before: "those from India"."""
_FINITE = frozenset({"VBD", "VBZ", "VBP"})
_VERBAL = _FINITE | {"VBN", "VB", "MD"}
_CONTENT = frozenset({*NOUN_TAGS, "JJ", "JJS", "VBN", "VBG", "AFX"})
_IN_PHRASE = _CONTENT | {"JJR", "HYPH", "DT", "PRP$", "POS"}
_COUNTED = frozenset({*NOUN_TAGS, "JJ", "VBN"})
_DETERMINERS = frozenset({"DT", "PRP$"})
_EMPTY = DATES | TIMES | {"noon", "midnight"}


class _Item(NamedTuple):
    """A mention, the tokens of its phrase, and how many mentions stand in brackets right after it: "12 (24%)"."""

    mention: int
    phrase: tuple[int, ...]
    inside: int = 0

    @property
    def mentions(self) -> range:
        """All mentions that have the phrase."""
        return range(self.mention, self.mention + 1 + self.inside)


def with_parallels(sentence: Sentence, concepts: Sequence[Concept]) -> list[Concept]:
    """The concepts of a text's mentions, those in parallel each with its own phrase and without those of others."""
    found = list(concepts)
    for items in _after(sentence):
        _deal_out(sentence, items, found)
    for items in _before(sentence):
        _deal_out(sentence, items, found, said_once=True)
    for counts in _counted(sentence):
        _own_counts(sentence, counts, found)
    return found


def _deal_out(sentence: Sentence, items: Sequence[_Item], found: list[Concept], *, said_once: bool = False) -> None:
    """Give each item its own phrase, if any has one, and take the others' from it.

    Args:
        sentence: the text.
        items: two or more.
        found: the concepts of the text, which are changed.
        said_once: whether the rest of the concept is said with the first item alone.
    """
    phrases = [{*_content(sentence, item.phrase)} for item in items]
    if not all(phrases):
        return  # "5% on strong demand and 3% on Tuesday"
    every = set[int]().union(*phrases)
    mentions = [n for item in items for n in item.mentions]
    used = any(every & {*found[n].words, *found[n].subject} for n in mentions)
    first = found[items[0].mention]
    for item, own in zip(items, phrases, strict=True):
        for n in item.mentions:
            changed = _with_phrase(first if said_once else found[n], every, own if used else set())
            if {*changed.words, *changed.subject} not in (set(), {*found[n].words, *found[n].subject}):
                found[n] = changed


def _with_phrase(concept: Concept, every: Set[int], own: Set[int]) -> Concept:
    """A concept with a phrase of its own instead of any of them."""
    words = {k for k in concept.words if k not in every} | own
    subject = tuple(k for k in concept.subject if k not in every)
    return Concept(tuple(sorted(words)) or subject, PARALLEL, subject if words else ())


def _counted(sentence: Sentence) -> Iterator[range]:
    """Lists of two or more numbers that each count what they name themselves, by their mentions."""
    mentions = sentence.mentions
    start = 0
    for n in range(1, len(mentions) + 1):
        counts = n < len(mentions) and _counts(sentence, n - 1) and _counts(sentence, n)
        if not (counts and _is_link(sentence, mentions[n - 1].last, mentions[n].first)):
            if n - start > 1:
                yield range(start, n)
            start = n


def _counts(sentence: Sentence, n: int) -> bool:
    """Whether mention n counts things that it names itself, if only by an adjective: "6 normal and 6 ill men"."""
    mention = sentence.mentions[n]
    return mention.family == "count" and sentence.parse.tags[mention.last - 1] in _COUNTED


def _own_counts(sentence: Sentence, counts: range, found: list[Concept]) -> None:
    """Take from each number of a list what the others count; one that nothing is left of has what the first has."""
    inside = {k for n in counts for k in range(sentence.mentions[n].first, sentence.mentions[n].last)}
    left = {n: _with_phrase(found[n], inside, set()) for n in counts}
    first = next((concept for concept in left.values() if concept.words), None)
    for n, concept in left.items():
        if not inside.isdisjoint({*found[n].words, *found[n].subject}):
            found[n] = concept if concept.words or first is None else first


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
    alike = alike or (a.family == "age" and b.time)  # "54 years in the first group and 56 years in the second"
    return alike and stretches[a.number] == stretches[b.number]


def _after(sentence: Sentence) -> Iterator[list[_Item]]:
    """Lists such as "30% in men, 20% in women", "12 (24%) in the first group, 15 (30%) in the second"."""
    items: list[_Item] = []
    n = 0
    while n < len(sentence.mentions):
        inside, end = _in_brackets(sentence, n)
        phrase = _phrase_from(sentence, _past_verbs(sentence, end))
        if not (phrase and items and _carries_on(sentence, items[-1], n, phrase)):
            if len(items) > 1:
                yield items
            items = []
        if phrase:
            items.append(_Item(n, phrase, inside))
        n += 1 + inside
    if len(items) > 1:
        yield items


def _in_brackets(sentence: Sentence, n: int) -> tuple[int, int]:
    """How many mentions stand in the brackets right after mention n, and the token after these brackets."""
    tokens, mentions = sentence.tokens, sentence.mentions
    k = mentions[n].last
    if k >= len(tokens) or tokens[k].text != "(":
        return 0, k
    closing = next((j for j in range(k, min(len(tokens), k + LONGEST_NOTE)) if tokens[j].text == ")"), -1)
    inside = 0
    while n + inside + 1 < len(mentions) and mentions[n + inside + 1].last <= closing:
        inside += 1
    return (inside, closing + 1) if inside else (0, k)


def _past_verbs(sentence: Sentence, k: int) -> int:
    """Past the verbs from token k on: "9,000 (69%) were located in the north, 2,000 (15%) in the south"."""
    end = k
    while end < len(sentence.tokens) and end - k < LONGEST_VERB and sentence.parse.tags[end] in _VERBAL:
        end += 1
    return end


def _carries_on(sentence: Sentence, before: _Item, n: int, phrase: Sequence[int]) -> bool:
    """Whether mention n and the phrase after it stand as the item before them does: the preposition is the same."""
    tokens = sentence.tokens
    if before.mentions.stop != n or not _alike(sentence, before.mention, n):
        return False
    same = tokens[phrase[0] - 1].low == tokens[before.phrase[0] - 1].low
    return same and _is_link(sentence, before.phrase[-1] + 1, sentence.mentions[n].first)


def _phrase_from(sentence: Sentence, k: int) -> tuple[int, ...]:
    """The noun phrase after the preposition at token k; () for none."""
    tokens = sentence.tokens
    if k >= len(tokens) or tokens[k].low not in _PREPOSITIONS:
        return ()
    end = k + 1
    while end < len(tokens) and end - k <= LONGEST and _in_phrase(sentence, end):
        if end > k + 1 and sentence.parse.tags[end] in _DETERMINERS:
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

    "Revenue rose 12% to $5 million and profit 8%": the 8% are as the 12% are.
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
    if after := _phrase_from(sentence, start):  # "coal made up 40% of output, gas 30%"
        start = after[-1] + 1
    return ((preposition, particle), phrase) if _is_link(sentence, start, k) else None


def _counterpart(sentence: Sentence, n: int, preposition: str, particle: str) -> tuple[int, ...]:
    """The phrase of mention n in the same place; () for none."""
    tokens, tags, mentions = sentence.tokens, sentence.parse.tags, sentence.mentions
    end = mentions[n].first
    if particle:
        end -= 1
        if end < 1 or tokens[end].low != particle:
            return ()
    opening, _ = sentence.parse.ranges.get(sentence.parse.stretches[mentions[n].number], (0, 0))
    start = max(opening, end - MOST)
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
    # "The price of gold is $5 and the fee $3": whether another price is meant, no form tells
    plain = k == start or tokens[k - 1].text in ",;:"
    return tuple(range(k, verb)) if plain and k < verb and tags[verb - 1] in NOUN_TAGS else ()
