"""Texts -> their terms, as a sparse matrix of counts.

BM25 (`qbench.mining.self_join`) and the estimates of probabilities need N, V, df, and the terms of a text.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import polars as pl
from numpy.typing import NDArray

from qbench.quantities.languages import ENGLISH
from qbench.retrieval.analysis import token_ids

CHUNK = 100_000
"""Number of texts whose tokens are sorted at a time."""


@dataclass(frozen=True)
class TermMatrix:
    """The terms of N texts with V different terms.

    Attributes:
        starts: shape (N + 1,), int64: the row of text i is starts[i] to starts[i + 1] of the next two.
        terms: int32, ids ascending within a row; numbered by first occurrence in the texts.
        counts: int32, occurrences of the term in the text.
        lengths: shape (N,), int64, tokens of each text.
        df: shape (V,), int64, number of texts with each term.
    """

    starts: NDArray[np.int64]
    terms: NDArray[np.int32]
    counts: NDArray[np.int32]
    lengths: NDArray[np.int64]
    df: NDArray[np.int64]

    def __len__(self) -> int:
        return self.lengths.size


def term_matrix(texts: pl.Series, language: str = ENGLISH) -> TermMatrix:
    """Tokens of `qbench.retrieval.analysis`, counted per text.

    Args:
        texts: N strings; a null or a text without tokens has an empty row.
        language: code of their language.

    >>> import polars as pl
    >>> matrix = term_matrix(pl.Series(["net profit net", "", "profit"]))
    >>> matrix.starts.tolist(), matrix.terms.tolist(), matrix.counts.tolist(), matrix.df.tolist()
    ([0, 2, 2, 3], [0, 1, 1], [2, 1, 1], [1, 2])
    """
    vocabulary, ids, lengths = token_ids(texts.fill_null(""), language)
    ends = np.concatenate(([0], np.cumsum(lengths)))
    terms, counts, sizes = [np.empty(0, np.int32)], [np.empty(0, np.int32)], [np.zeros(1, np.int64)]
    for start in range(0, lengths.size, CHUNK):
        chunk = lengths[start : start + CHUNK]
        # One number per (text, term) pair, so that sorting them sorts within texts.
        pairs = np.repeat(np.arange(chunk.size), chunk) * max(len(vocabulary), 1)
        pairs += ids[ends[start] : ends[start + chunk.size]]
        pairs.sort()
        first = np.flatnonzero(np.concatenate(([True], pairs[1:] != pairs[:-1]))[: pairs.size])
        text, term = np.divmod(pairs[first], max(len(vocabulary), 1))
        terms.append(term.astype(np.int32))
        counts.append(np.diff(np.append(first, pairs.size)).astype(np.int32))
        sizes.append(np.bincount(text, minlength=chunk.size))
    all_terms = np.concatenate(terms)
    df = np.bincount(all_terms, minlength=len(vocabulary)).astype(np.int64)
    return TermMatrix(np.cumsum(np.concatenate(sizes)), all_terms, np.concatenate(counts), lengths, df)
