"""Does a mention's concept answer a query's concept? The rule that generation labels by and checks test again.

A query may stand for several concepts ("social media channel" for "youtube channel" or "facebook page"): its concept
then holds the alternatives one after the other, separated by the word "|".
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Literal

from qbench.quantities.languages import ENGLISH, language_package
from qbench.quantities.types import Span

if TYPE_CHECKING:
    import polars as pl

Concept = tuple[str, ...]

ALTERNATIVE = "|"
"""The word between two alternatives of a query's concept."""

BREAK = "/"
"""The word in a stated concept where the text has other words between: "provision / credit losses" is a provision for
credit losses, and no loss."""

Grade = Literal[-1, 0, 1, 2]

WHOLES = frozenset(
    "sale revenue turnover profit loss income earning debt reserve asset liability deposit expense expenditure cost "
    "spending deficit surplus surpluse export import shipment production output capital equity backlog proceed gain "
    "indebtedness borrowing benefit tax".split()
)
"""Words, folded, for sums of many things: what stands before them most often names a part, "copper sales"."""

WHOLE_WORDS = frozenset(
    "total overall combined consolidated aggregate whole entire group company net annual yearly quarterly monthly full "
    "year half quarter month week first second third fourth 1st 2nd 3rd 4th qtr fiscal calendar january february march "
    "april may june july august september october november december jan feb mar apr jun jul aug sep sept oct nov dec "
    "end ended record actual reported recorded recognized recognised provisional preliminary final previous prior last "
    "latest same ago our its their the an fy world worldwide global".split()
)
"""Words before them that name no part: periods, "total", "reported"."""

UNCLEAR: Grade = -1
"""Of concepts that share words and are neither the same nor one more specific than the other."""


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


_MARKS = frozenset((ALTERNATIVE, BREAK))


def is_whole(words: Concept) -> bool:
    """Whether the words of a concept, as `concept_words` gives them, end with one for a sum of many things.

    >>> is_whole(concept_words(("net", "sales"))), is_whole(("sale", "price"))
    (True, False)
    """
    return words[-1:] != () and words[-1] in WHOLES


@lru_cache(maxsize=200_000)
def concept_words(concept: Concept, language: str = ENGLISH) -> Concept:
    """The words of a concept as they are compared: without case and number, in order.

    Parts of compounds stand apart ("follow-up"), prefixes do not ("pre-tax", "pretax"), and a word that is said twice
    running counts once. Chinese, which is written without spaces, has pairs of characters for parts.

    Raises:
        UnknownNameError: no package knows the language.

    >>> concept_words(("Follow-up", "visits"))
    ('follow', 'up', 'visit')
    >>> concept_words(("pre-tax", "follow-ups"))
    ('pretax', 'follow', 'up')
    >>> concept_words(("净利润",), "zh")
    ('净利', '利润')
    """
    package = language_package(language)
    fold = package.fold
    words = [fold(part) for word in concept if word not in _MARKS for part in package.parts(fold(word))]
    return tuple(word for at, word in enumerate(words) if at == 0 or word != words[at - 1])


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
    return frozenset(concept_words(tuple(concept), language))


def join_alternatives(concepts: tuple[Concept, ...]) -> Concept:
    """One query concept that stands for all of `concepts`: the inverse of `concept_alternatives`.

    >>> join_alternatives((("net", "income"), ("profit",)))
    ('net', 'income', '|', 'profit')
    """
    words: list[str] = []
    for concept in concepts:
        words += [ALTERNATIVE, *concept] if words else [*concept]
    return tuple(words)


def stated_concept(
    concept: Concept, unit: str, family: str, language: str = ENGLISH, spans: Sequence[Sequence[int]] = ()
) -> Concept:
    """What a mention is compared by: its concept and, where it counts something, the noun that it counts.

    "334 participants" is about participants, though the noun stands as the unit; "a staff of 40 employees" is about
    staff, and about staff employees.

    Args:
        concept: its words.
        unit, family: of the mention.
        language: code of their language.
        spans: where the stretches of the concept stand in the text, as `Quantity.concept_spans`.

    Returns:
        words, `BREAK` between two stretches; two ways to say it are alternatives, as in a query's concept.

    >>> stated_concept((), "participant", "count"), stated_concept(("staff",), "employee", "count")
    (('participant',), ('staff', '|', 'staff', 'employee'))
    """
    if len(spans) > 1 and (stretches := [words for words, _ in concept_stretches(concept, spans)]):
        concept = (*stretches[0], *(word for words in stretches[1:] for word in (BREAK, *words)))
    if family != "count":
        return concept
    noun = tuple(unit.lower().split())
    if not concept:
        return noun
    known = {*concept_words(noun, language)} <= {*concept_words(concept, language)}
    return concept if known else join_alternatives((concept, (*(w for w in concept if w != BREAK), *noun)))


def concept_stretches(
    concept: Concept, spans: Iterable[Sequence[int]], text: str | None = None
) -> list[tuple[Concept, Span]]:
    """The stretches of a concept and where each stands; the spans of a subject beside it are left out.

    Args:
        concept: its words.
        spans: `Quantity.concept_spans`, of concept and subject.
        text: what the spans point into; without it a span is known by its length alone.

    Returns:
        the stretches, in order; [] where the spans are not those of the words.
    """
    found: list[tuple[Concept, Span]] = []
    taken = 0
    for first, last in spans:
        for end in range(taken + 1, len(concept) + 1):
            words = " ".join(concept[taken:end])
            if len(words) == last - first and (text is None or text[first:last].lower() == words):
                found.append((concept[taken:end], (first, last)))
                taken = end
                break
    return found if taken == len(concept) else []


BLOCK = 100_000
"""Mentions whose concepts are objects of Python at a time."""


def stated_concepts(quantities: pl.DataFrame, language: str = ENGLISH, *, given: bool = False) -> pl.Series:
    """`stated_concept` of each row of a quantity table, words joined by spaces.

    Args:
        quantities: `quantity_schema`.
        language: code of their language.
        given: concepts came with the corpus, and are names whatever stands between their words.

    Raises:
        UnknownNameError: no package knows the language.
    """
    import polars as pl

    found = [pl.Series("stated", dtype=pl.String)]
    for block in quantities.select("concept", "unit", "family", "concept_spans").iter_slices(BLOCK):
        stated = (
            stated_concept(tuple(text.split()), unit, family, language, () if given else spans)
            for text, unit, family, spans in block.iter_rows()
        )
        found.append(pl.Series("stated", [" ".join(words) for words in stated], dtype=pl.String))
    return pl.concat(found)


def concept_grade(query_concept: Concept, mention_concept: Concept, language: str = ENGLISH) -> Grade:
    """How well a mention's concept answers a query's: the grade of a document that meets the condition by it.

    Words are compared without case and number. Their order counts, and so does their closeness: a more specific
    concept says the query's words one after the other and last ("labour contract" is a contract; a "contract
    target", a "contract under review" and a "bid / contract" may be anything, "deferred income" is another thing).
    Where these end with a word for a sum of many things, the words before may name no part of it: "annual net income"
    is a net income, "copper sales" may be only some of the sales.

    Args:
        query_concept: the condition's concept, alternatives and all; a condition without one takes every mention.
        mention_concept: the words of one mention, as `stated_concept` gives them.
        language: code of their language.

    Returns:
        2 for the very concept, 1 for a more specific one, `UNCLEAR` where the mention has no concept or shares words
        with an alternative without being either, 0 otherwise.

    Raises:
        UnknownNameError: no package knows the language.

    >>> concept_grade(("income",), ("net", "incomes")), concept_grade(("income",), ("income", "tax"))
    (1, -1)
    """
    if not query_concept:
        return 2
    said = [concept_words(alternative, language) for alternative in concept_alternatives(mention_concept)]
    asked = [concept_words(alternative, language) for alternative in concept_alternatives(query_concept)]
    if any(words in asked or () in asked for words in said):
        return 2
    whole = [own for own, words in zip(said, concept_alternatives(mention_concept), strict=True) if BREAK not in words]
    more = [(own[: -len(words)], words) for words in asked for own in whole if own[-len(words) :] == words]
    if any(_may_precede(before, words, language) for before, words in more):
        return 1
    return UNCLEAR if () in said or any(not {*words}.isdisjoint(own) for words in asked for own in said) else 0


def _may_precede(more: Concept, words: Concept, language: str) -> bool:
    """Whether some words before a concept make it a more specific one, and neither another thing nor a part of it."""
    if is_whole(words) and not all(word in WHOLE_WORDS or word.isdigit() for word in more):
        return False
    return not language_package(language).denies(more)
