"""The (concept, unit) pairs that can be asked about, and their distributions of values (*Numbers Matter* B.1, B.3)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
import polars as pl
from numpy.typing import NDArray

from qbench.errors import InputError
from qbench.generation.mentions import Mentions, folded
from qbench.generation.options import GenerationOptions
from qbench.generation.surfaces import clean
from qbench.quantities.concept_match import ALTERNATIVE, Concept
from qbench.quantities.english.lexicon import FUNCTION_WORDS, WEAK_WORDS
from qbench.randomness import shuffled

MAX_WORDS, MAX_LETTERS = 6, 60
"""A longer concept is a clause that the extractor swallowed, and nothing that anybody searches for."""


Pair = tuple[Concept, str]

MIN_SENTENCES = 3
"""Fewer sentences with all pairs leave nothing to choose a value from."""

MAX_PAIRS = 8
"""A sentence with more pairs is a flattened table, whose numbers belong to its rows."""


@dataclass(frozen=True)
class Distribution:
    """Observed values, with repetition.

    Attributes:
        values: shape (k,), distinct values, ascending.
        counts: shape (k,), how often each was observed.
    """

    values: NDArray[np.float64]
    counts: NDArray[np.int64]

    @property
    def mean(self) -> float:
        """The mean with repetition."""
        return float(np.average(self.values, weights=self.counts))

    @property
    def total(self) -> int:
        """The number of observations."""
        return int(self.counts.sum())


def distribution(values: NDArray[np.float64]) -> Distribution:
    """The distribution of n observed values; what arithmetic left in the last bits does not make two values."""
    distinct, counts = np.unique(np.array([clean(value) for value in values.tolist()]), return_counts=True)
    return Distribution(distinct, counts)


def observed(mentions: Mentions, concepts: tuple[Concept, ...], unit: str) -> NDArray[np.int64]:
    """Rows of the mentions of some concepts in one unit that say a single value (no range, no bound)."""
    codes = [mentions.concept_code[c] for c in concepts if c in mentions.concept_code]
    rows = mentions.rows_of_concepts(np.array(codes, dtype=np.int64))
    rows = rows[mentions.unit[rows] == mentions.unit_code.get(unit, -1)]
    comparators = mentions.comparator[rows]
    single: NDArray[np.int64] = rows[(comparators == "=") | (comparators == "~")]
    return single


def usable_pairs(pairs: pl.DataFrame, options: GenerationOptions) -> list[tuple[Concept, str]]:
    """The pairs of the concept/unit index that get queries, ordered.

    Args:
        pairs: concept, unit, sentences, values.
        options: thresholds, and how many pairs at most.

    Raises:
        InputError: no pair is usable.
    """
    frequent = pairs.filter(pl.col("sentences") >= options.min_sentences)
    varied = frequent.filter(pl.col("values").list.n_unique() >= 2)
    named = [
        (tuple(concept.split()), unit)
        for concept, unit in varied.select("concept", "unit").iter_rows()
        if sane(concept)
    ]
    if not named:
        most = max(pairs["sentences"].to_list(), default=0)
        raise InputError(
            f"no usable (concept, unit) pair: of {pairs.height} pairs, {frequent.height} have at least "
            f"{options.min_sentences} sentences, {varied.height} of these 2 or more distinct values, and none of those "
            "a concept that can be searched for",
            remedy=f"The most frequent pair has {most} sentences: give a larger corpus, or a lower --min-sentences",
        )
    named.sort()
    if options.max_pairs is not None and len(named) > options.max_pairs:
        named = sorted(shuffled(named, options.seed, "pairs", str)[: options.max_pairs])
    return named


def sane(concept: str) -> bool:
    """Whether a concept can be searched for: short, and with a real word in it.

    >>> sane("net income"), sane("the other"), sane("2019"), sane("")
    (True, False, False, False)
    """
    words = concept.split()
    if not words or len(words) > MAX_WORDS or len(concept) > MAX_LETTERS or ALTERNATIVE in words:
        return False
    return any(len(word) > 2 and word.isalpha() and word not in FUNCTION_WORDS | WEAK_WORDS for word in words)


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
