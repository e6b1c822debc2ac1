"""Which pairs of a self-join are paraphrases, and which are confusing (*Quantity Retrieval*, algorithm 1)."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import polars as pl
from numpy.typing import NDArray

from qbench.mining.english.content import says
from qbench.mining.same_value import DIFFERENT, SAME, Values, compare
from qbench.mining.terms import TermMatrix, term_matrix
from qbench.quantities.concept_match import concept_words
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
"""Number of characters in which `_AROUND` words are looked for."""
_WORDS = re.compile(r"[^\W\d_]+")


@dataclass(frozen=True)
class Records:
    """What is compared of descriptions, as arrays of shape (n,).

    Attributes:
        values: the quantities.
        sentence, document, words: numbers that are equal where the sentence, the document, the tokens are.
        context: number that is equal where the words right before and behind the number are.
        content: the words that may name what is measured, without case and number.
        years, months: those that a description names, one bit each; 0 for none. A quarter is its three months.
        lengths: the same of its reporting periods: "six months ended", "36 weeks ended".
        test: whether its document belongs to the test split.
    """

    values: Values
    sentence: NDArray[np.int64]
    document: NDArray[np.int64]
    words: NDArray[np.int64]
    context: NDArray[np.int64]
    content: TermMatrix
    years: NDArray[np.uint64]
    months: NDArray[np.uint64]
    lengths: NDArray[np.uint64]
    test: NDArray[np.bool_]

    @classmethod
    def of(cls, table: pl.DataFrame, test: NDArray[np.bool_]) -> Records:
        """The records of a table of `description_schema`.

        Args:
            table: of n rows.
            test: shape (n,).
        """
        return cls(
            Values.of(table),
            _numbered(table["doc_id"]),
            _numbered(table["source_id"]),
            _numbered(tokenized(table["description"]).list.join(" ")),
            _numbered(_contexts(table)),
            term_matrix(_content(table["description"])),
            _years(table["description"]),
            _months(table["description"]),
            _lengths(table["description"]),
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
    period = _apart(records.years, a, b) | _apart(records.months, a, b) | _apart(records.lengths, a, b)
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


def _apart(bits: NDArray[np.uint64], a: NDArray[np.integer], b: NDArray[np.integer]) -> NDArray[np.bool_]:
    """Whether both records name some years (months, lengths), and none in common."""
    apart: NDArray[np.bool_] = (bits[a] != 0) & (bits[b] != 0) & (bits[a] & bits[b] == 0)
    return apart


_AROUND = 4
"""Number of words before and behind a number that tell a repeated text."""


def _contexts(table: pl.DataFrame) -> pl.Series:
    """The words right before and behind each number, numbers left out; those of too few words are all different."""
    contexts = []
    columns = table.select("sentence", "value_start", "value_end", "unit_start", "unit_end")
    for row, (sentence, start, end, unit_start, unit_end) in enumerate(columns.iter_rows()):
        first, last = (start, end) if unit_start < 0 else (min(start, unit_start), max(end, unit_end))
        words = _WORDS.findall(sentence[max(0, first - _REACH) : max(first, 0)].lower())[-_AROUND:]
        after = _WORDS.findall(sentence[max(last, 0) : max(last, 0) + _REACH].lower())[:_AROUND]
        known = len(words) + len(after) > _AROUND
        contexts.append(" ".join((*words, "#", *after)) if known else f"#{row}")
    return pl.Series(contexts, dtype=pl.String)


def _content(texts: pl.Series) -> pl.Series:
    """The words of each text that may name what is measured, without case and number."""
    words = tokenized(texts)
    known = words.explode().unique().drop_nulls().to_list()
    folded = {word: " ".join(concept_words((word,))) if says(word) else "" for word in known}
    return words.list.eval(pl.element().replace_strict(folded, default="", return_dtype=pl.String)).list.join(" ")


def _numbered(column: pl.Series) -> NDArray[np.int64]:
    return column.rank("dense").to_numpy().astype(np.int64)


def _years(texts: pl.Series) -> NDArray[np.uint64]:
    """Years as bits, modulo 64: two years that are confused lie 64 years apart."""
    matches = texts.str.extract_all(r"\b(?:19|20)\d\d\b").to_frame("year").with_row_index("row").explode("year")
    rows = matches.drop_nulls().with_columns(pl.col("year").cast(pl.UInt64) % 64)
    years = np.zeros(len(texts), dtype=np.uint64)
    np.bitwise_or.at(years, rows["row"].to_numpy(), np.uint64(1) << rows["year"].to_numpy())
    return years


_MONTHS = (
    "January|Jan",
    "February|Feb",
    "March|Mar",
    "April|Apr",
    "May",
    "June|Jun",
    "July|Jul",
    "August|Aug",
    "September|Sept|Sep",
    "October|Oct",
    "November|Nov",
    "December|Dec",
)
_QUARTERS = tuple(
    rf"Q{n}|{n}Q(?:\d\d)?|(?i:{name}[ -]quarter)"
    for n, name in enumerate(("first", "second", "third", "fourth"), start=1)
)


def _months(texts: pl.Series) -> NDArray[np.uint64]:
    months = np.zeros(len(texts), dtype=np.uint64)
    for number, name in enumerate(_MONTHS):
        # With a capital: "may" and "march" are verbs.
        months |= texts.str.contains(rf"\b(?:{name})\b").to_numpy().astype(np.uint64) << np.uint64(number)
    for number, pattern in enumerate(_QUARTERS):
        matches = texts.str.contains(rf"\b(?:{pattern})\b").to_numpy()
        months |= np.where(matches, np.uint64(7 << 3 * number), np.uint64(0))
    return months


_SPELLED = {"three": 3, "six": 6, "nine": 9, "twelve": 12}
_LENGTH = r"(?i)\b(three|six|nine|twelve|\d\d?) (months|weeks) ended\b"


def _lengths(texts: pl.Series) -> NDArray[np.uint64]:
    """Lengths of reporting periods as bits, in weeks: a month has four, and a year that ended 48."""
    lengths = np.where(texts.str.contains(r"(?i)\byears? ended\b").to_numpy(), np.uint64(1 << 48), np.uint64(0))
    named = texts.str.contains(_LENGTH).to_numpy()
    for row in np.flatnonzero(named).tolist():
        for number, unit in re.findall(_LENGTH, texts[row]):
            count = _SPELLED.get(number.lower()) or int(number)
            weeks = min(4 * count if unit.lower() == "months" else 12 * (count // 12) or count, 63)
            lengths[row] |= np.uint64(1) << np.uint64(weeks)
    return lengths
