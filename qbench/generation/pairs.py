"""The (concept, unit) pairs that can be asked about, and their distributions of values (*Numbers Matter* B.1, B.3)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import NamedTuple

import numpy as np
import polars as pl
from numpy.typing import NDArray

from qbench.errors import InputError
from qbench.generation.mentions import Mentions, folded
from qbench.generation.options import GenerationOptions
from qbench.generation.surfaces import clean
from qbench.quantities.concept_match import ALTERNATIVE, Concept, concept_alternatives, concept_words
from qbench.quantities.english.lexicon import FUNCTION_WORDS, WEAK_WORDS
from qbench.quantities.types import Change
from qbench.randomness import shuffled

MAX_WORDS, MAX_LETTERS = 6, 60
"""A longer concept is a clause that the extractor swallowed, and nothing that anybody searches for."""

MIN_SENTENCES = 3
"""Fewer sentences with all pairs leave nothing to choose a value from."""

MAX_PAIRS = 8
"""A sentence with more pairs is a flattened table, whose numbers belong to its rows."""


class Pair(NamedTuple):
    """What queries ask about.

    Attributes:
        concept: its words, as the corpus says them most often.
        unit: canonical unit of the values.
        change: "up" or "down" for sizes of changes, "" for levels.
    """

    concept: Concept
    unit: str
    change: Change = ""


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


def observed(mentions: Mentions, concepts: tuple[Concept, ...], unit: str, change: Change = "") -> NDArray[np.int64]:
    """Rows of the mentions of some concepts in one unit that say a single value (no range, no bound)."""
    codes = {code for concept in concepts for code in mentions.same(concept).tolist()}
    rows = mentions.rows_of_concepts(np.array(sorted(codes), dtype=np.int64))
    rows = rows[(mentions.unit[rows] == mentions.unit_code.get(unit, -1)) & (mentions.change[rows] == change)]
    comparators = mentions.comparator[rows]
    single: NDArray[np.int64] = rows[(comparators == "=") | (comparators == "~")]
    return single


def pair_table(mentions: Mentions) -> pl.DataFrame:
    """All pairs: concept, unit, change, `sentences` and `values` (how many different ones), ordered.

    Concepts that differ in case and number only are one, under the name with most mentions.
    """
    named = [next(iter(concept_alternatives(concept))) for concept in mentions.concepts]
    rows = pl.DataFrame(
        {
            "doc": mentions.doc,
            "value": mentions.value,
            "name": pl.Series([" ".join(words) for words in named], dtype=pl.String).gather(mentions.concept),
            "key": pl.Series(
                [" ".join(concept_words(words, mentions.language)) for words in named], dtype=pl.String
            ).gather(mentions.concept),
            "unit": mentions.table["unit"],
            "change": mentions.table["change"],
        }
    ).filter(pl.col("key") != "")
    names = rows.group_by("key", "name").len().sort("len", "name", descending=[True, False]).unique("key", keep="first")
    return (
        rows.group_by("key", "unit", "change")
        .agg(sentences=pl.col("doc").n_unique(), values=pl.col("value").n_unique())
        .join(names.select("key", concept="name"), on="key")
        .select("concept", "unit", "change", "sentences", "values")
        .sort("concept", "unit", "change")
    )


def usable_pairs(mentions: Mentions, options: GenerationOptions) -> list[Pair]:
    """The pairs that get queries, ordered.

    Args:
        mentions: of the index.
        options: thresholds, and how many pairs at most.

    Raises:
        InputError: no pair is usable.
    """
    pairs = pair_table(mentions)
    frequent = pairs.filter(pl.col("sentences") >= options.min_sentences)
    varied = frequent.filter(pl.col("values") >= 2)
    named = [
        Pair(tuple(concept.split()), unit, change)
        for concept, unit, change in varied.select("concept", "unit", "change").iter_rows()
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
    for number, (concept, unit, change) in enumerate(pairs):
        for doc in mentions.docs_of(observed(mentions, (concept,), unit, change)).tolist():
            spoken.setdefault(doc, []).append(number)
    counts: Counter[tuple[int, ...]] = Counter()
    for numbers in spoken.values():
        if 2 <= len(numbers) <= MAX_PAIRS:
            counts.update(combinations(numbers, 2))
            counts.update(combinations(numbers, 3))
    words = [folded(pair.concept, mentions.language) for pair in pairs]
    return [
        tuple(pairs[n] for n in numbers)
        for numbers, count in sorted(counts.items())
        if count >= MIN_SENTENCES
        and all(not (words[a] <= words[b] or words[b] <= words[a]) for a, b in combinations(numbers, 2))
    ]
