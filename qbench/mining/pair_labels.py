"""Which pairs of a self-join are paraphrases, and which are confusing (*Quantity Retrieval*, algorithm 1)."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

import numpy as np
import polars as pl
from numpy.typing import NDArray

from qbench.mining.languages import MiningPackage, mining_package
from qbench.mining.periods import Periods
from qbench.mining.same_value import DIFFERENT, SAME, Values, compare
from qbench.mining.terms import TermMatrix, term_matrix
from qbench.quantities.concept_match import concept_words
from qbench.quantities.languages import ENGLISH
from qbench.ranges import range_rows
from qbench.retrieval.analysis import tokenized

if TYPE_CHECKING:
    from qbench.mining.options import MiningOptions

PARAPHRASE, CONFUSING, DUPLICATE, DROPPED = range(4)
REASONS = (
    "same sentence",
    "same document",
    "other split",
    "undecided value",
    "other period",
    "same words, other value",
)
"""Reasons for dropping a candidate; the first that applies counts."""
ROWS = 100_000
"""Descriptions that are read at a time."""
AROUND = ("sentence", "value_start", "value_end", "unit_start", "unit_end")
"""The columns that say what stands around a number."""
_REACH = 80
"""Number of characters in which the words of a context are looked for."""


@dataclass(frozen=True)
class Records:
    """What is compared of descriptions, as arrays of shape (n,).

    Attributes:
        values: the quantities.
        sentence, document, words: numbers that are equal where the sentence, the document, the tokens are.
        context: number that is equal where the words right before and behind the number are.
        content: the words that may name what is measured, without case and number.
        periods: the times that it names.
        test: whether its document belongs to the test split.
    """

    values: Values
    sentence: NDArray[np.int64]
    document: NDArray[np.int64]
    words: NDArray[np.int64]
    context: NDArray[np.int64]
    content: TermMatrix
    periods: Periods
    test: NDArray[np.bool_]

    @classmethod
    def of(cls, table: pl.LazyFrame, values: Values, test: NDArray[np.bool_], language: str = ENGLISH) -> Records:
        """The records of a table of `description_schema`, of which one column of texts is in memory at a time.

        Args:
            table: of n rows.
            values: of its quantities.
            test: shape (n,).
            language: code of the texts' language.
        """
        package, words = mining_package(language), _ContentWords(language)
        described = partial(_by_blocks, table, ["description"])
        periods = [package.periods(rows["description"]) for _, rows in _blocks(table, ["description"])]
        return cls(
            values,
            _numbered(table.select("doc_id").collect().to_series()),
            _numbered(table.select("source_id").collect().to_series()),
            _numbered(described(lambda _, rows: tokenized(rows["description"], language).list.join(" "))),
            _numbered(_by_blocks(table, AROUND, partial(_contexts, package))),
            term_matrix(described(lambda _, rows: words.of(rows["description"]))),
            Periods.together(periods),
            test,
        )

    def shared(self, a: NDArray[np.integer], b: NDArray[np.integer]) -> NDArray[np.int64]:
        """The number of words of `content` that the descriptions of each pair share; shape (n,)."""
        content, starts = self.content, self.content.starts
        size = max(content.df.size, 1)
        docs, position = np.unique(b, return_inverse=True)
        lengths = starts[docs + 1] - starts[docs]  # of these alone: a table may have millions
        held = np.repeat(np.arange(docs.size), lengths) * size
        held += content.terms[range_rows(starts[docs], lengths)]  # ascending
        asked = starts[a + 1] - starts[a]
        wanted = np.repeat(position, asked) * size + content.terms[range_rows(starts[a], asked)]
        at = np.minimum(np.searchsorted(held, wanted), max(held.size - 1, 0))
        found = held[at] == wanted if held.size else np.zeros(wanted.size, dtype=bool)
        pair = np.repeat(np.arange(asked.size), asked)
        return np.bincount(pair, weights=found, minlength=asked.size).astype(np.int64)


def label(
    records: Records, a: NDArray[np.integer], b: NDArray[np.integer], options: MiningOptions
) -> tuple[NDArray[np.int8], NDArray[np.int64], dict[str, int]]:
    """The labels of candidates.

    Args:
        records: of all descriptions.
        a, b: shape (n,), positions of the description that was searched with, and of one of its hits.
        options: of the mining.

    Returns:
        PARAPHRASE, CONFUSING, DUPLICATE or DROPPED, shape (n,); the digits on which the values agree, shape (n,); and
        the number of dropped candidates, by reason.
    """
    agreement, digits = compare(records.values, a, b, least=options.min_digits, rounded=options.min_rounded_digits)
    same, other = agreement == SAME, agreement == DIFFERENT
    words = records.words[a] == records.words[b]
    repeated = words | (records.context[a] == records.context[b])
    period = records.periods.apart(a, b)
    reasons = (
        (records.sentence[a] == records.sentence[b]) & (not options.same_sentence),
        (records.document[a] == records.document[b]) & (not options.same_document),
        ~records.test[a] & records.test[b],
        ~same & ~other,
        same & period,
        other & words,
    )
    labels = np.where(same, np.where(repeated, DUPLICATE, PARAPHRASE), CONFUSING).astype(np.int8)
    dropped: dict[str, int] = {}
    open_ = np.ones(a.size, dtype=bool)
    for reason, applies in zip(REASONS, reasons, strict=True):
        dropped[reason] = int((open_ & applies).sum())
        open_ &= ~applies
    return np.where(open_, labels, np.int8(DROPPED)), digits, dropped


def _blocks(table: pl.LazyFrame, columns: Sequence[str]) -> Iterator[tuple[int, pl.DataFrame]]:
    """Some columns a block of rows at a time, each with the position of its first row."""
    height = int(table.select(pl.len()).collect().item())
    for start in range(0, height, ROWS):
        yield start, table.select(columns).slice(start, ROWS).collect()


def _by_blocks(
    table: pl.LazyFrame, columns: Sequence[str], text: Callable[[int, pl.DataFrame], pl.Series]
) -> pl.Series:
    """What `text` makes of each block of rows, in one."""
    empty = pl.Series([], dtype=pl.String)
    return pl.concat([empty, *(text(start, rows).rename("") for start, rows in _blocks(table, columns))])


def _contexts(package: MiningPackage, start: int, rows: pl.DataFrame) -> pl.Series:
    """The words right before and behind each number, numbers left out; those of too few words are all different."""
    contexts = []
    for row, (sentence, *spans) in enumerate(rows.iter_rows(), start=start):
        first, last, unit_start, unit_end = spans
        if unit_start >= 0:
            first, last = min(first, unit_start), max(last, unit_end)
        around = sentence[max(0, first - _REACH) : max(first, 0)], sentence[max(last, 0) : max(last, 0) + _REACH]
        words, after = (package.context_words(text) for text in around)
        words, after = words[-package.CONTEXT :], after[: package.CONTEXT]
        known = len(words) + len(after) > package.CONTEXT
        contexts.append(" ".join((*words, "#", *after)) if known else f"#{row}")
    return pl.Series(contexts, dtype=pl.String)


class _ContentWords:
    """The words of texts that may name what is measured, without case and number."""

    def __init__(self, language: str) -> None:
        self._language, self._says = language, mining_package(language).says
        self._folded: dict[str, str] = {}

    def of(self, texts: pl.Series) -> pl.Series:
        """Those of each text, in one."""
        words = tokenized(texts, self._language)
        here = words.explode().unique().drop_nulls().to_list()
        for word in here:
            if word not in self._folded:
                self._folded[word] = " ".join(concept_words((word,), self._language)) if self._says(word) else ""
        folded = {word: self._folded[word] for word in here}
        return words.list.eval(pl.element().replace_strict(folded, default="", return_dtype=pl.String)).list.join(" ")


def _numbered(column: pl.Series) -> NDArray[np.int64]:
    return column.rank("dense").to_numpy().astype(np.int64)
