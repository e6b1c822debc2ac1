"""Does a mention's concept answer a query's concept? The rule that generation labels by and checks test again.

A query may stand for several concepts ("social media channel" for "youtube channel" or "facebook page"): its concept
then holds the alternatives one after the other, separated by the word "|".
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal

from qbench.quantities.languages import ENGLISH, language_package

Concept = tuple[str, ...]

ALTERNATIVE = "|"
"""The word between two alternatives of a query's concept."""

Grade = Literal[0, 1, 2]


def concept_alternatives(concept: Concept) -> tuple[Concept, ...]:
    """The concepts that a query's concept stands for, in order, each once; `((),)` where it names none.

    >>> concept_alternatives(("net", "income", "|", "profit"))
    (('net', 'income'), ('profit',))
    """
    alternatives: dict[Concept, None] = {}
    words: list[str] = []
    for word in (*concept, ALTERNATIVE):
        if word != ALTERNATIVE:
            words.append(word)
        elif words:
            alternatives[tuple(words)] = None
            words = []
    return tuple(alternatives) or ((),)


def folded(concept: Iterable[str], language: str = ENGLISH) -> frozenset[str]:
    """The words of a concept without case, number and order: what makes two concepts the same for splitting.

    Args:
        concept: its words.
        language: code of their language.

    Raises:
        UnknownNameError: no package knows the language.

    >>> folded(("Net", "Incomes")) == folded(("income", "net"))
    True
    """
    return frozenset(map(language_package(language).fold, concept))


def join_alternatives(concepts: tuple[Concept, ...]) -> Concept:
    """One query concept that stands for all of `concepts`: the inverse of `concept_alternatives`.

    >>> join_alternatives((("net", "income"), ("profit",)))
    ('net', 'income', '|', 'profit')
    """
    words: list[str] = []
    for concept in concepts:
        words += [ALTERNATIVE, *concept] if words else [*concept]
    return tuple(words)


def concept_grade(query_concept: Concept, mention_concept: Concept) -> Grade:
    """How well a mention's concept answers a query's: the grade of a document that meets the condition by it.

    Args:
        query_concept: the condition's concept, alternatives and all; a condition without one takes every mention.
        mention_concept: the words of one mention.

    Returns:
        2 for the very concept (the same words in the same order), 1 for a more specific one (it holds all words of an
        alternative), 0 otherwise.

    >>> concept_grade(("income",), ("net", "income"))
    1
    """
    alternatives = concept_alternatives(query_concept)
    if () in alternatives or mention_concept in alternatives:
        return 2
    words = set(mention_concept)
    return 1 if any(words.issuperset(alternative) for alternative in alternatives) else 0
