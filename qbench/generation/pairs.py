"""The (concept, unit) pairs that can be asked about, and their distributions of values (*Numbers Matter* B.1, B.3)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations, pairwise
from typing import NamedTuple

import numpy as np
import polars as pl
from numpy.typing import NDArray

from qbench.generation.mentions import Mentions, folded
from qbench.generation.surfaces import clean
from qbench.quantities.codes import CHANGE_SIGNS, comparator_codes
from qbench.quantities.concept_match import (
    ALTERNATIVE,
    BREAK,
    Concept,
    concept_alternatives,
    concept_stretches,
    concept_words,
)
from qbench.quantities.english.inflection import plural
from qbench.quantities.english.lexicon import FUNCTION_WORDS, WEAK_WORDS
from qbench.quantities.types import Change, Span

MAX_WORDS, MAX_LETTERS = 6, 60
"""A longer concept is a clause that the extractor swallowed, and nothing that anybody searches for."""

_JOINTS = frozenset("a an and at before after by for from in of on or per the to under with its their".split())

MIN_SENTENCES = 3
"""Fewer sentences with all pairs leave nothing to choose a value from."""

MAX_PAIRS = 8
"""A sentence with more pairs is a flattened table, whose numbers belong to its rows."""

_SINGLE = comparator_codes(("=", "~"))

BLOCK = 16_384
"""Sentences whose pairs are looked at together."""


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
    """Rows of the sure mentions of some concepts in one unit that say a single value (no range, no bound)."""
    codes = {code for concept in concepts for code in mentions.same(concept).tolist()}
    rows = mentions.rows_of_concepts(np.array(sorted(codes), dtype=np.int64))
    rows = rows[mentions.unit[rows] == mentions.unit_code.get(unit, -1)]
    rows = rows[mentions.change[rows] == CHANGE_SIGNS[change]]
    rows = rows[mentions.sure[rows]]
    comparators = mentions.comparator[rows]
    single: NDArray[np.int64] = rows[np.isin(comparators, _SINGLE)]
    return single


def pair_table(mentions: Mentions) -> pl.DataFrame:
    """All pairs: concept, unit, change, `sentences` and `values` (how many different ones), ordered.

    Only sure mentions count. Concepts that differ in case and number only are one, under the name with most mentions.
    """
    named = [
        tuple(word for word in next(iter(concept_alternatives(concept))) if word != BREAK)
        for concept in mentions.concepts
    ]
    rows = pl.DataFrame(
        {
            "doc": mentions.doc,
            "sure": mentions.sure,
            "value": mentions.value,
            "name": pl.Series([" ".join(words) for words in named], dtype=pl.String).gather(mentions.concept),
            "key": pl.Series(
                [" ".join(concept_words(words, mentions.language)) for words in named], dtype=pl.String
            ).gather(mentions.concept),
            "unit": mentions.table["unit"],
            "change": mentions.table["change"],
        }
    ).filter(pl.col("key") != "")
    rows = rows.filter("sure")
    names = rows.group_by("key", "name").len().sort("len", "name", descending=[True, False]).unique("key", keep="first")
    return (
        rows.group_by("key", "unit", "change")
        .agg(sentences=pl.col("doc").n_unique(), values=pl.col("value").n_unique())
        .join(names.select("key", concept="name"), on="key")
        .select("concept", "unit", "change", "sentences", "values")
        .sort("concept", "unit", "change")
    )


def phrase(mentions: Mentions, pair: Pair) -> str | None:
    """The words in which the corpus says a pair's concept most often, as a query can say them.

    "provision for credit losses" for the concept "provision credit losses"; counted nouns in the plural. None where the
    corpus never says the words side by side.
    """
    language = mentions.language
    noun = concept_words(tuple(pair.unit.split()), language)
    if mentions.family_of(pair.unit) == "count" and noun == concept_words(pair.concept, language):
        return plural(pair.unit)
    if mentions.given:
        return " ".join(pair.concept)
    counts: Counter[str] = Counter()
    for row in observed(mentions, (pair.concept,), pair.unit, pair.change).tolist():
        words, spans = mentions.table["concept"][row].split(), mentions.table["concept_spans"][row].to_list()
        text = mentions.texts[int(mentions.doc[row])]
        stretches = [span for _, span in concept_stretches(tuple(words), spans, text)]
        counts[_between(text, stretches) if spans else " ".join(pair.concept)] += 1
    counts.pop("", None)
    return min(counts, key=lambda text: (-counts[text], text)) if counts else None


def _between(text: str, spans: Sequence[Span]) -> str:
    """What a text says from the first to the last of some stretches, in small letters; "" if more is between."""
    if not spans:
        return ""
    first, last = min(span[0] for span in spans), max(span[1] for span in spans)
    gaps = [text[a[1] : b[0]] for a, b in pairwise(sorted(spans))]
    said = " ".join(text[first:last].split())
    if len(said) > MAX_LETTERS or not all(set(gap.lower().split()) <= _JOINTS for gap in gaps):
        return ""
    return said if said.isupper() else said.lower()


def sane(concept: str) -> bool:
    """Whether a concept can be searched for: short, and with a real word in it.

    >>> sane("net income"), sane("the other"), sane("2019"), sane("")
    (True, False, False, False)
    """
    words = concept.split()
    if not words or len(words) > MAX_WORDS or len(concept) > MAX_LETTERS or ALTERNATIVE in words:
        return False
    empty = FUNCTION_WORDS | WEAK_WORDS
    return any(len(word) > 2 and word.replace("-", "").isalpha() and word not in empty for word in words)


def joint_pairs(pairs: Sequence[Pair], mentions: Mentions) -> list[tuple[Pair, ...]]:
    """All twos and threes of pairs that occur together in enough sentences, ordered.

    The concepts of a combination differ, and none holds all words of another: two constraints on one mention would be
    a range. In a corpus that came with its quantities and names the things that they are of, only sentences that state
    all of them of one thing count: nobody looks for the price of a notebook with that of an ultrabook.
    """
    counts: Counter[tuple[int, ...]] = Counter()
    of_one_thing: Counter[tuple[int, ...]] = Counter()
    for together in _stated_together(pairs, mentions):
        for numbers in (*combinations(together, 2), *combinations(together, 3)):
            counts[numbers] += 1
            if set.intersection(*(together[number] for number in numbers)):
                of_one_thing[numbers] += 1
    if of_one_thing:
        counts = of_one_thing
    words = [folded(pair.concept, mentions.language) for pair in pairs]
    return [
        tuple(pairs[n] for n in numbers)
        for numbers, count in sorted(counts.items())
        if count >= MIN_SENTENCES
        and all(not (words[a] <= words[b] or words[b] <= words[a]) for a, b in combinations(numbers, 2))
    ]


def _stated_together(pairs: Sequence[Pair], mentions: Mentions) -> Iterator[dict[int, set[Span]]]:
    """For each sentence that states several pairs, and no table, their numbers and the stretches that name them.

    Of a block of sentences at a time: sets of all would take ten times the memory of their mentions.
    """
    of_pairs = [observed(mentions, (concept,), unit, change) for concept, unit, change in pairs]
    numbers = np.repeat(np.arange(len(pairs)), np.array([rows.size for rows in of_pairs], dtype=np.int64))
    rows = np.concatenate([np.empty(0, dtype=np.int64), *of_pairs])
    order = np.argsort(mentions.doc[rows], kind="stable")
    numbers, rows = numbers[order], rows[order]
    docs = mentions.doc[rows]
    starts = np.flatnonzero(np.diff(docs, prepend=-1))
    for begin, end in pairwise([*starts[::BLOCK].tolist(), docs.size]):
        spoken: dict[int, dict[int, set[Span]]] = {}
        stretches = _stretches(mentions, rows[begin:end])
        for doc, number, spans in zip(docs[begin:end].tolist(), numbers[begin:end].tolist(), stretches, strict=True):
            spoken.setdefault(doc, {}).setdefault(number, set()).update(spans)
        yield from (stated for stated in spoken.values() if 2 <= len(stated) <= MAX_PAIRS)


def _stretches(mentions: Mentions, rows: NDArray[np.int64]) -> list[list[Span]]:
    """Where the words stand that name what some mentions are of, and their things; nothing where a parser read them."""
    if not mentions.given:
        return [[] for _ in rows]
    return [
        [(first, last) for first, last in spans] for spans in mentions.table["concept_spans"].gather(rows).to_list()
    ]
