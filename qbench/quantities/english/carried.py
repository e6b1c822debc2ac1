"""Sentences about what the sentence before them is about: a light tent, and then "Weighs 900 g. It costs 80 euros.".

A product text names a thing once, and then says what it weighs. Such a sentence opens with a verb of measure that
has no subject, or with a pronoun before one; what it measures is the subject of the sentence before.
"""

from __future__ import annotations

from collections.abc import Sequence

from qbench.quantities.english.concepts import SUBJECTS, Concept, MentionTokens
from qbench.quantities.english.noun_phrases import NounPhrases
from qbench.quantities.english.parse import Parse, carries_on, leans
from qbench.quantities.english.sentences import MEASURES
from qbench.quantities.english.tokens import HYPHENS, Token

CARRIED = "the sentence before"
"""The rule's name."""
LONGEST = 6
"""Words of a heading that is a name as a whole."""
VERBS = frozenset({"VBZ", "VBP", "VBD", "MD"})
"""Tags of what makes a clause of words."""
FINITE = frozenset({"VBZ", "VBP", "VBD", "PRP", "DT"})
"""Tags of verbs and pronouns, which name nothing."""


def carried(
    tokens: Sequence[Token], mentions: Sequence[MentionTokens], parse: Parse, concepts: Sequence[Concept]
) -> list[Concept]:
    """The concepts of a text's mentions: the subject of the sentence before where the own one has no noun for them.

    Args:
        tokens: of the text.
        mentions: in it.
        parse: of the tokens.
        concepts: of the mentions, one each.
    """
    found = [_without_verbs(tokens, parse, concept) for concept in concepts]
    openers = {number for number, (first, _) in parse.ranges.items() if carries_on(tokens, first)}
    if not openers:
        return found
    phrases = NounPhrases(tokens, [(mention.first, mention.last) for mention in mentions], parse)
    subjects: dict[int, tuple[int, ...]] = {}
    for number, (first, last) in sorted(parse.ranges.items()):
        before = subjects.get(number - 1, ())
        subjects[number] = before if number in openers else _subject(tokens, first, last, phrases, parse) or before
    return [
        Concept(subjects[number], CARRIED)
        if (number := parse.stretches[mention.number]) in openers and subjects[number] and not _named(concept, parse)
        else concept
        for mention, concept in zip(mentions, found, strict=True)
    ]


def _without_verbs(tokens: Sequence[Token], parse: Parse, concept: Concept) -> Concept:
    """A concept without verbs of measure: they say how much there is of something, and name nothing."""
    kept = tuple(k for k in concept.words if not (tokens[k].low in MEASURES and parse.tags[k] in FINITE))
    return concept if len(kept) == len(concept.words) else Concept(kept, concept.how, concept.subject)


def _subject(tokens: Sequence[Token], first: int, last: int, phrases: NounPhrases, parse: Parse) -> tuple[int, ...]:
    """The words of a sentence's subject, tokens first..last-1; where it has no verb, of the phrase that it is.

    None where it starts with a pronoun, or as a list of figures ("15.6-inch screen, 8 GB memory").
    """
    if leans(tokens, first):
        return ()
    if not any(parse.tags[k] in VERBS for k in range(first, last)):
        words = _heading(tokens, first, last, parse)
        if 0 < len(words) <= LONGEST:
            return words
    for root in (k for k in range(first, last) if parse.heads[k] == k and parse.tags[k]):
        subjects = [child for child in parse.children[root] if parse.relations[child] in SUBJECTS]
        for head in [*subjects, root]:
            if phrases.names(head):
                return tuple(phrases.phrase(head))
    return ()


def _heading(tokens: Sequence[Token], first: int, last: int, parse: Parse) -> tuple[int, ...]:
    """The words of a heading, as far as its first mark: of "Malmo reading lamp (steel)" the first three."""
    marks = (k for k in range(first, last) if not tokens[k].text[0].isalnum() and tokens[k].text not in HYPHENS)
    return tuple(k for k in range(first, next(marks, last)) if parse.tags[k] != "DT")


def _named(concept: Concept, parse: Parse) -> bool:
    """Whether a concept has a word that names something."""
    return any(parse.tags[k] not in FINITE for k in (*concept.words, *concept.subject))
