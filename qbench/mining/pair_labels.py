"""Which pairs of a self-join are paraphrases, and which are confusing (*Quantity Retrieval*, algorithm 1)."""

from __future__ import annotations

from dataclasses import dataclass
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
    def of(cls, table: pl.DataFrame, test: NDArray[np.bool_], language: str = ENGLISH) -> Records:
        """The records of a table of `description_schema`.

        Args:
            table: of n rows.
            test: shape (n,).
            language: code of the texts' language.
        """
        package = mining_package(language)
        return cls(
            Values.of(table),
            _numbered(table["doc_id"]),
            _numbered(table["source_id"]),
            _numbered(tokenized(table["description"], language).list.join(" ")),
            _numbered(_contexts(table, package)),
            term_matrix(_content(table["description"], language)),
            package.periods(table["description"]),
            test,
        )

    def shared(self, a: NDArray[np.integer], b: NDArray[np.integer]) -> NDArray[np.int64]:
        """The number of words of `content` that the descriptions of each pair share; shape (n,)."""
        content = self.content
        size = max(content.df.size, 1)
        lengths = np.diff(content.starts)
        held = np.repeat(np.arange(len(content)), lengths) * size + content.terms  # ascending
        asked = lengths[a]
        entries = range_rows(content.starts[a], asked)
        wanted = np.repeat(np.asarray(b, np.int64), asked) * size + content.terms[entries]
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


def _contexts(table: pl.DataFrame, package: MiningPackage) -> pl.Series:
    """The words right before and behind each number, numbers left out; those of too few words are all different."""
    contexts = []
    columns = table.select("sentence", "value_start", "value_end", "unit_start", "unit_end")
    for row, (sentence, start, end, unit_start, unit_end) in enumerate(columns.iter_rows()):
        first, last = (start, end) if unit_start < 0 else (min(start, unit_start), max(end, unit_end))
        around = sentence[max(0, first - _REACH) : max(first, 0)], sentence[max(last, 0) : max(last, 0) + _REACH]
        words, after = (package.context_words(text) for text in around)
        words, after = words[-package.CONTEXT :], after[: package.CONTEXT]
        known = len(words) + len(after) > package.CONTEXT
        contexts.append(" ".join((*words, "#", *after)) if known else f"#{row}")
    return pl.Series(contexts, dtype=pl.String)


def _content(texts: pl.Series, language: str) -> pl.Series:
    """The words of each text that may name what is measured, without case and number."""
    words, says = tokenized(texts, language), mining_package(language).says
    known = words.explode().unique().drop_nulls().to_list()
    folded = {word: " ".join(concept_words((word,), language)) if says(word) else "" for word in known}
    return words.list.eval(pl.element().replace_strict(folded, default="", return_dtype=pl.String)).list.join(" ")


def _numbered(column: pl.Series) -> NDArray[np.int64]:
    return column.rank("dense").to_numpy().astype(np.int64)
