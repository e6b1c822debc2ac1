"""Is a word of the corpus' language? English words, and all that the corpus says."""

from __future__ import annotations

from collections.abc import Callable

import polars as pl

from qbench.index.disk import Index
from qbench.quantities.english.inflection import singular
from qbench.quantities.english.parsers.embedded import FOLDER, VOCABULARY


def known_words(index: Index) -> Callable[[str], bool]:
    """Tells whether a word of three letters or more is one that the corpus has, or a common English one.

    Common is what the vocabulary of the parser that comes with qbench holds whole.
    """
    pieces = (FOLDER / VOCABULARY).read_text(encoding="utf-8").split("\n")
    frame = index.sentences().select(pl.col("text").str.to_lowercase().str.extract_all(r"\p{L}{3,}").alias("word"))
    words = frame.explode("word").unique().collect(engine="streaming")  # a large corpus has more words than memory
    vocabulary = {*pieces, *words["word"].drop_nulls().to_list()}
    return lambda word: word in vocabulary or singular(word) in vocabulary
