"""Text -> the terms of lexical search, and the parts of names that are compared.

Chinese has no spaces, so that words have to be guessed or done without. Pairs of neighbouring characters find what
words find, and need no dictionary (`benchmarks/chinese_search.py` measures both); single characters beside them find
words of one character, and what two writers pair differently.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from itertools import pairwise

import polars as pl

from qbench.quantities.chinese.characters import folded

_PIECE = re.compile(r"\d+(?:[.,]\d+)*|[a-z][a-z0-9_]*|[\u3400-\u9fff\uf900-\ufaff]+|[%‰$¥€£]")


def pieces(text: str) -> list[str]:
    """Numbers as they are written, Latin words, signs of units, and runs of Han characters, all of them folded.

    >>> pieces("ＡＢＣ净利润３.5亿元")
    ['abc', '净利润', '3.5', '亿元']
    """
    return _PIECE.findall(folded(text))


def tokens(text: str) -> list[str]:
    """The pieces of a text, runs of Han characters as their pairs of neighbours: the parts of a name.

    >>> tokens("净利润3.5亿元")
    ['净利', '利润', '3.5', '亿元']
    """
    return list(_flat(pair_up(piece) for piece in pieces(text)))


def search_terms(text: str) -> list[str]:
    """The pieces of a text, runs of Han characters as characters and pairs.

    >>> search_terms("净利润3.5亿")
    ['净', '利', '润', '净利', '利润', '3.5', '亿']
    """
    return list(_flat((*piece, *pair_up(piece)) if _is_run(piece) else (piece,) for piece in pieces(text)))


def tokenized(texts: pl.Series) -> pl.Series:
    """The search terms of each text: a series of lists of strings, null where the text is."""
    lists = [None if text is None else search_terms(text) for text in texts]
    return pl.Series(texts.name, lists, dtype=pl.List(pl.String))


def pair_up(piece: str) -> tuple[str, ...]:
    """The pairs of neighbouring characters of a run of Han characters; any other piece as it is."""
    return tuple(map("".join, pairwise(piece))) if _is_run(piece) else (piece,)


def _is_run(piece: str) -> bool:
    return len(piece) > 1 and piece[0] >= "\u3400"


def _flat(groups: Iterable[Iterable[str]]) -> Iterator[str]:
    for group in groups:
        yield from group
