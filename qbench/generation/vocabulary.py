"""Is a word of the corpus' language? Its common words, and all that the corpus says."""

from __future__ import annotations

from collections.abc import Callable

import polars as pl

from qbench.generation.languages import answer_rules
from qbench.index.disk import Index
from qbench.quantities.english.inflection import singular


def known_words(index: Index) -> Callable[[str], bool]:
    """Tells whether a word is one that the corpus has, or a common one of its language (`AnswerRules`)."""
    rules = answer_rules(index.extractor_options().language)
    frame = index.sentences().select(pl.col("text").str.to_lowercase().str.extract_all(rules.WORD).alias("word"))
    words = frame.explode("word").unique().collect(engine="streaming")  # a large corpus has more words than memory
    vocabulary = {*rules.vocabulary(), *words["word"].drop_nulls().to_list()}
    return lambda word: word in vocabulary or singular(word) in vocabulary
