"""The tokens of lexical search."""

from __future__ import annotations

import re
from itertools import pairwise
from typing import TYPE_CHECKING

import polars as pl

from qbench.quantities.chinese.characters import folded

if TYPE_CHECKING:
    from collections.abc import Iterator


_TOKEN = re.compile(r"\d+(?:[.,]\d+)*|[a-z][a-z0-9_]*|[\u3400-\u9fff\uf900-\ufaff]+|[%‰$¥€£]")


def tokens(text: str) -> list[str]:
    """Numbers as they are written, Latin words, signs of units, and each pair of neighbouring Han characters.

    >>> tokens("净利润3.5亿元")
    ['净利', '利润', '3.5', '亿元']
    """
    return list(_tokens(folded(text)))


def _tokens(text: str) -> Iterator[str]:
    for match in _TOKEN.finditer(text):
        word = match[0]
        if word[0] < "\u3400" or len(word) == 1:
            yield word
        else:
            yield from map("".join, pairwise(word))


def tokenized(texts: pl.Series) -> pl.Series:
    """The tokens of each text: a series of lists of strings."""
    return pl.Series(texts.name, [tokens(text) for text in texts], dtype=pl.List(pl.String))
