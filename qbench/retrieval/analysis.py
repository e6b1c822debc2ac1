"""Text -> tokens, for everything that matches words: the tokens of the texts' language, and the same as numbers."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import polars as pl
from numpy.typing import NDArray

from qbench.quantities.languages import ENGLISH, language_package

CHUNK = 50_000
"""Texts tokenised at a time; the tokens of one chunk are in memory as strings, those of all others as numbers."""


def tokenized(texts: pl.Series, language: str = ENGLISH) -> pl.Series:
    """The tokens of each text: a series of lists of strings, as long as `texts`.

    Raises:
        UnknownNameError: no package knows the language.
    """
    return language_package(language).tokenized(texts)


def tokens(text: str, language: str = ENGLISH) -> list[str]:
    """The tokens of one text.

    >>> tokens("Revenue rose 3.5% to $10,000m in Q4")
    ['revenue', 'rose', '3.5', '%', 'to', '$', '10,000', 'm', 'in', 'q4']
    """
    return token_lists([text], language)[0]


def token_lists(texts: Sequence[str], language: str = ENGLISH) -> list[list[str]]:
    """The tokens of each text. One call for many texts is far quicker than many calls."""
    lists: list[list[str]] = tokenized(pl.Series(texts, dtype=pl.String), language).to_list()
    return lists


def token_ids(texts: pl.Series, language: str = ENGLISH) -> tuple[list[str], NDArray[np.int32], NDArray[np.int64]]:
    """The tokens of a corpus as numbers, counted up in the order in which they first occur.

    Args:
        texts: n strings.
        language: code of their language.

    Returns:
        the vocabulary (id -> token), the ids of all texts one after the other (int32), and the number of
        tokens of each text, shape (n,).
    """
    vocabulary: dict[str, int] = {}
    ids, lengths = [np.empty(0, np.int32)], [np.empty(0, np.int64)]
    for start in range(0, len(texts), CHUNK):
        lists = tokenized(texts.slice(start, CHUNK), language)
        lengths.append(lists.list.len().to_numpy().astype(np.int64))
        local, here = _numbered(lists)
        for token in here:
            vocabulary.setdefault(token, len(vocabulary))
        ids.append(np.array([vocabulary[token] for token in here], dtype=np.int32)[local])
    return list(vocabulary), np.concatenate(ids), np.concatenate(lengths)


def _numbered(lists: pl.Series) -> tuple[NDArray[np.uint32], list[str]]:
    """The tokens of some lists as positions in the list of distinct ones, which is in order of first occurrence."""
    return first_seen(lists.filter(lists.list.len() > 0).explode())


def first_seen(names: pl.Series) -> tuple[NDArray[np.uint32], list[str]]:
    """Strings as positions in the list of distinct ones, shape (n,), and that list, in order of first occurrence."""
    distinct = names.unique(maintain_order=True)
    return names.cast(pl.Enum(distinct)).to_physical().to_numpy().astype(np.uint32), distinct.to_list()
