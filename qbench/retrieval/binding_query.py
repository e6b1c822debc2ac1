"""A query as Bind asks it: weighted terms, and for each condition the words that its value belongs to."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from qbench.quantities.codes import CHANGE_SIGNS
from qbench.quantities.languages import ENGLISH, language_package
from qbench.quantities.types import Condition
from qbench.quantities.units import Units
from qbench.quantities.written import condition_spans
from qbench.retrieval.analysis import token_lists
from qbench.retrieval.binding_index import MOST, BindingIndex, unit_kind
from qbench.retrieval.rates import amount_of
from qbench.scoring.binding import Asked, Target
from qbench.scoring.records import COUNTED

AROUND = 0.3
"""What the search word next to a condition's value counts that is not of its concept."""
FADING = 0.2
"""How fast words count less that are further away: the nth counts AROUND / (1 + FADING * (n - 1))."""
_LETTERS, _COMPOUND = 3, 7
"""Letters that a part of a compound has at least, and the compound itself."""


@dataclass(frozen=True)
class BindingQuery:
    """What Bind asks.

    Attributes:
        text: the query.
        terms: its search words, without values, units and comparators.
        conditions: what it asks of quantities; () where none is known.
    """

    text: str
    terms: str
    conditions: tuple[Condition, ...]


def without_values(text: str, conditions: Sequence[Condition]) -> str:
    """A query without the values of its conditions, which are no words; units, "not" and all others stay.

    The text itself where nothing else would remain.

    >>> from qbench.quantities.types import Condition
    >>> without_values("not 5 kg of 15", [Condition("!=", 5, 5, "kilogram", "kilogram", 5, 5, value_text="5")])
    'not   kg of 15'
    >>> without_values("5 to 9 kg", [Condition("between", 5, 9, "kilogram", "kilogram", 5, 9, value_text="5 to 9")])
    '  kg'
    """
    rest = text
    for start, end in sorted(filter(None, (at.value for at in condition_spans(text, conditions))), reverse=True):
        rest = f"{rest[:start]} {rest[end:]}"
    return rest if rest.strip() else text


def asked_of(queries: Sequence[BindingQuery], index: BindingIndex, units: Units, language: str) -> list[Asked]:
    """Queries as numbers, their words split in one call.

    A word that no document holds weighs nothing among the query's words, since it tells none apart; among a condition's
    it weighs like a rare one, since then no mention is surely what is asked about. An unknown word that is made of two
    known ones stands for both ("metascore"). Of a condition's concept only words count that the query's text has.
    """
    texts = [_texts(query, units, language) for query in queries]
    lists = iter(token_lists([text for some in texts for text in some], language))
    reader = _Words(index, language)
    split = [[next(lists) for _ in some] for some in texts]
    return [_asked(query, some, reader, units) for query, some in zip(queries, split, strict=True)]


def _texts(query: BindingQuery, units: Units, language: str) -> list[str]:
    """What is split into words: the query, its search words, and concept, counted noun and value of each condition."""
    # A query of conditions alone has no search words: its numbers and "under" are none.
    texts = [query.text, query.terms if query.terms.strip() or query.conditions else query.text]
    for condition, at in zip(query.conditions, condition_spans(query.text, query.conditions), strict=True):
        # Units have English names; in another language the noun is what the query says.
        said = condition.unit if language == ENGLISH else condition.unit_text
        noun = said if unit_kind(condition.unit, units) == COUNTED else ""
        texts += [" ".join(condition.concept), noun, query.text[slice(*at.value)] if at.value else ""]
    return texts


def _asked(query: BindingQuery, lists: Sequence[list[str]], reader: _Words, units: Units) -> Asked:
    index = reader.index
    whole, words, *others = ([reader.stem(token) for token in tokens] for tokens in lists)
    concepts = [set(some) & set(whole) for some in others[::3]]
    nouns = others[1::3]
    bindings = []
    for n, at in enumerate(_places(lists[4::3], lists[0])):
        foreign = set().union(*concepts[:n], *concepts[n + 1 :])
        around = [word for word in _by_distance(whole, at) if word in words and word not in foreign]
        bindings.append(reader.binding({*concepts[n], *nouns[n]}, around))
    sequence: list[int | None] = []
    for word in words:
        sequence += reader.numbers(word) or [None]
    known = dict.fromkeys([number for number in sequence if number is not None] + [t for row in bindings for t in row])
    slots = {number: slot for slot, number in enumerate(known)}
    rows = np.zeros((len(bindings), len(slots)))
    for row, weights in zip(rows, bindings, strict=True):
        row[[slots[term] for term in weights]] = list(weights.values())
    return Asked(
        np.array(list(slots), dtype=np.int32),
        _word_weights(sequence, slots, index),
        _pair_weights(sequence, slots, index),
        tuple(_target(condition, index, units) for condition in query.conditions),
        rows,
    )


class _Words:
    """Words as terms of an index."""

    def __init__(self, index: BindingIndex, language: str) -> None:
        # A query's words are asked for several times: of its text, its search words and its concepts.
        self.index, self.stem = index, cache(language_package(language).stem)

    def numbers(self, stem: str) -> list[int]:
        """The term of a stem, the two that it is made of, or none."""
        terms = self.index.terms
        if stem in terms:
            return [terms[stem]]
        if len(stem) >= _COMPOUND:
            for cut in range(_LETTERS, len(stem) - _LETTERS + 1):
                first, second = self.stem(stem[:cut]), stem[cut:]
                if first in terms and second in terms:
                    return [terms[first], terms[second]]
        return []

    def binding(self, own: set[str], around: Sequence[str]) -> dict[int, float]:
        """The weight of each term as a word of one condition; with those of unknown words they sum to 1.

        Args:
            own: the words of its concept and counted noun.
            around: the other search words, the nearest first.
        """
        shares = {word: AROUND / (1 + FADING * n) for n, word in reversed(list(enumerate(around)))}
        shares |= dict.fromkeys(sorted(own), 1.0)
        weights: dict[int, float] = {}
        unknown = 0.0
        for word, share in shares.items():
            numbers = self.numbers(word)
            unknown += 0.0 if numbers else share * MOST
            for number in numbers:
                weights[number] = max(weights.get(number, 0.0), share * float(self.index.mention_idf[number]))
        total = sum(weights.values()) + unknown or 1.0  # a corpus without mentions
        return {number: weight / total for number, weight in weights.items()}


def _places(values: Sequence[list[str]], tokens: Sequence[str]) -> list[tuple[int, int] | None]:
    """Where each value stands among the tokens of the text, as tokens, in order; None where it is not found."""
    places: list[tuple[int, int] | None] = []
    position = 0
    for value in values:
        starts = range(position, len(tokens) - len(value) + 1) if value else ()
        first = next((k for k in starts if list(tokens[k : k + len(value)]) == value), None)
        places.append(None if first is None else (first, first + len(value)))
        position = position if first is None else first + len(value)
    return places


def _by_distance(words: Sequence[str], at: tuple[int, int] | None) -> list[str]:
    """The words around a place, each once, the nearest first, the one before of two; in order without a place."""
    if at is None:
        return list(dict.fromkeys(words))
    first, last = at
    ordered = sorted((first - k if k < first else k - last + 1, k) for k in range(len(words)) if not first <= k < last)
    return list(dict.fromkeys(words[k] for _, k in ordered))


def _word_weights(sequence: Sequence[int | None], slots: Mapping[int, int], index: BindingIndex) -> NDArray[np.float64]:
    """The share of each term in the idf of the query's words."""
    weights = np.zeros(len(slots))
    for number in {number for number in sequence if number is not None}:
        weights[slots[number]] = index.document_idf[number]
    return weights / (weights.sum() or 1.0)


def _pair_weights(sequence: Sequence[int | None], slots: Mapping[int, int], index: BindingIndex) -> NDArray[np.float64]:
    """The share of each pair of neighbouring words in the idf of all; a pair with an unknown word cannot be held."""
    weights = np.zeros((len(slots), len(slots)))
    total = 0.0
    for a, b in dict.fromkeys(pairwise(sequence)):
        weight = sum(float(index.document_idf[number]) for number in (a, b) if number is not None)
        total += weight
        if a is not None and b is not None:
            weights[slots[a], slots[b]] = weight
    return weights / (total or 1.0)


def _target(condition: Condition, index: BindingIndex, units: Units) -> Target:
    rate = amount_of(condition.unit, units)
    base, factor = rate or ("", 1.0)
    return Target(
        base=index.base_units.get(condition.base_unit, -1),
        kind=unit_kind(condition.unit, units),
        comparator=condition.comparator,
        low=condition.base_value,
        high=condition.base_high,
        value=condition.value,
        value_high=condition.high,
        change=CHANGE_SIGNS[condition.change],
        amount=index.base_units.get(base, -1) if rate else -1,
        amount_low=condition.base_value * factor,
        amount_high=condition.base_high * factor,
    )
