"""What Bind reads of each document, in one piece of memory: its words, and its mentions of quantities with theirs.

A query reads of a thousand documents that lie anywhere, and each piece that has to be fetched from memory by itself
takes longer than what is computed from it.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Final

import numpy as np
from numpy.typing import NDArray

PLACES: Final = ("concept", "unit", "subject", "near")
"""Where a word of a mention stands."""

CODES: Final = ("base", "kind", "comparator", "change", "amount")

NUMBERS: Final = ("low", "high", "value", "value_high", "factor")

OTHER, COUNTED, BARE, AGE, YEAR = range(5)
"""Kinds of units: what tiers are told by."""


@dataclass(frozen=True)
class Mentions:
    """The mentions of quantities in n documents, in the documents' order.

    Attributes:
        starts: shape (n + 1,), int64: the mentions of document d are starts[d] to starts[d + 1].
        codes: shape (m, 5), int32, columns as in `CODES`: the number of the base unit; its kind, `OTHER` to `YEAR`; the
            position of the comparator in `qbench.quantities.types.MENTION_COMPARATORS`; 1 for a rise, -1 for a fall, 0
            for a level; of a rate of money or counted things per time the base unit of the amount, else -1.
        numbers: shape (m, 5), float64, columns as in `NUMBERS`: both ends in the base unit, both as stated, and what
            turns a rate's base values into the amount's.
        word_starts: shape (m + 1,), int64: the words of mention i are word_starts[i] to word_starts[i + 1].
        words: shape (w,), int32: four times a term, plus the position of its place in `PLACES`.
    """

    # What belongs to one mention lies together, since few mentions of many are looked at.
    starts: NDArray[np.int64]
    codes: NDArray[np.int32]
    numbers: NDArray[np.float64]
    word_starts: NDArray[np.int64]
    words: NDArray[np.int32]

    def code(self, name: str) -> NDArray[np.int32]:
        """A column of `codes`, shape (m,)."""
        return self.codes[:, CODES.index(name)]

    def number(self, name: str) -> NDArray[np.float64]:
        """A column of `numbers`, shape (m,)."""
        return self.numbers[:, NUMBERS.index(name)]

    def alone(self, doc: int) -> Mentions:
        """The mentions of a document, each as if it were another document's only one."""
        first, last = self.starts[doc : doc + 2]
        starts = self.word_starts[first : last + 1]
        words = self.words[starts[0] : starts[-1]]
        rows = slice(first, last)
        return Mentions(np.arange(last - first + 1), self.codes[rows], self.numbers[rows], starts - starts[0], words)


@dataclass(frozen=True)
class Texts:
    """The words of n documents, in order, as terms.

    Attributes:
        starts: shape (n + 1,), int64: the tokens of document d are starts[d] to starts[d + 1].
        terms: shape (tokens,), int32.
    """

    starts: NDArray[np.int64]
    terms: NDArray[np.int32]


LEAD: Final = 2
"""Cells at the start of a record: how many mentions, and how many tokens."""

AT_CODES: Final = 2 * len(NUMBERS)
"""Where the codes begin in the head of a mention, behind its numbers, which take two cells each."""

AT_WORDS: Final = AT_CODES + len(CODES)
"""Where it has the number of its words."""

HEAD: Final = AT_WORDS + 1
"""Cells of a mention's head."""


@dataclass(frozen=True)
class Records:
    """The words and mentions of n documents, each document's together.

    A record is a row of cells of four bytes: how many mentions and tokens there are; the head of each mention, with its
    `NUMBERS` (float64, two cells each), its `CODES`, and how many words it has; the terms of the tokens; the words of
    the mentions, as of `Mentions`; and a cell more where that is needed for an even number.

    Attributes:
        starts: shape (n + 1,), int64: the record of document d is pairs[starts[d]] to pairs[starts[d + 1]].
        pairs: shape (p,), int64: the cells of all records, by two.
    """

    starts: NDArray[np.int64]
    pairs: NDArray[np.int64]

    @cached_property
    def cells(self) -> NDArray[np.int32]:
        """Shape (2 * p,)."""
        return self.pairs.view(np.int32)

    @cached_property
    def doubles(self) -> NDArray[np.float64]:
        """Shape (p,): the numbers of mentions, where there are such."""
        return self.pairs.view(np.float64)


BLOCK: Final = 50_000
"""Documents whose records are filled at a time."""


def records_of(mentions: Mentions, texts: Texts) -> Records:
    """The records of some documents.

    Args:
        mentions, texts: of n documents.
    """
    counts, tokens = np.diff(mentions.starts), np.diff(texts.starts)
    words = np.diff(mentions.word_starts[mentions.starts])
    sizes = (LEAD + HEAD * counts + tokens + words + 1) // 2
    starts = np.append(0, np.cumsum(sizes)).astype(np.int64)
    made = Records(starts, np.zeros(int(starts[-1]), np.int64))
    for first in range(0, counts.size, BLOCK):
        _fill(made, mentions, texts, slice(first, first + BLOCK))
    return made


def _fill(made: Records, mentions: Mentions, texts: Texts, docs: slice) -> None:
    """Fill the records of some documents in a row."""
    of_docs = slice(docs.start, docs.stop + 1)
    bounds, token_bounds = mentions.starts[of_docs], texts.starts[of_docs]
    counts, tokens = np.diff(bounds), np.diff(token_bounds)
    rows = slice(int(bounds[0]), int(bounds[-1]))
    word_bounds = mentions.word_starts[rows.start : rows.stop + 1]
    words = np.diff(mentions.word_starts[bounds])
    first = 2 * made.starts[of_docs][:-1]
    made.cells[first], made.cells[first + 1] = counts, tokens
    heads = np.repeat(first + LEAD, counts) + HEAD * _positions(counts)
    for n in range(len(NUMBERS)):
        made.doubles[heads // 2 + n] = mentions.numbers[rows, n]
    for n in range(len(CODES)):
        made.cells[heads + AT_CODES + n] = mentions.codes[rows, n]
    made.cells[heads + AT_WORDS] = np.diff(word_bounds)
    behind = first + LEAD + HEAD * counts
    made.cells[np.repeat(behind, tokens) + _positions(tokens)] = texts.terms[token_bounds[0] : token_bounds[-1]]
    made.cells[np.repeat(behind + tokens, words) + _positions(words)] = mentions.words[word_bounds[0] : word_bounds[-1]]


def _positions(counts: NDArray[np.int64]) -> NDArray[np.int64]:
    """0, 1, ... for each count in turn."""
    return np.arange(counts.sum()) - np.repeat(np.cumsum(counts) - counts, counts)
