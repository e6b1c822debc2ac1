"""Pairs that occur together in sentences: what queries with two or three constraints can ask about."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from itertools import combinations

from qbench.generation.mentions import Mentions, folded
from qbench.generation.pairs import observed
from qbench.quantities.concept_match import Concept

Pair = tuple[Concept, str]

MIN_SENTENCES = 3
"""Fewer sentences with all pairs leave nothing to choose a value from."""

MAX_PAIRS = 8
"""A sentence with more pairs is a flattened table, whose numbers belong to its rows."""


def joint_pairs(pairs: Sequence[Pair], mentions: Mentions) -> list[tuple[Pair, ...]]:
    """All twos and threes of pairs that occur together in enough sentences, ordered.

    The concepts of a combination differ, and none holds all words of another: two constraints on one mention would be
    a range.
    """
    spoken: dict[int, list[int]] = {}
    for number, (concept, unit) in enumerate(pairs):
        for doc in mentions.docs_of(observed(mentions, (concept,), unit)).tolist():
            spoken.setdefault(doc, []).append(number)
    counts: Counter[tuple[int, ...]] = Counter()
    for numbers in spoken.values():
        if 2 <= len(numbers) <= MAX_PAIRS:
            counts.update(combinations(numbers, 2))
            counts.update(combinations(numbers, 3))
    words = [folded(concept, mentions.language) for concept, _ in pairs]
    return [
        tuple(pairs[n] for n in numbers)
        for numbers, count in sorted(counts.items())
        if count >= MIN_SENTENCES
        and all(not (words[a] <= words[b] or words[b] <= words[a]) for a, b in combinations(numbers, 2))
    ]
