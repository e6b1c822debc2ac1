"""A corpus as it is searched and learnt from."""

from __future__ import annotations

import polars as pl

_WITH_TITLE = (pl.col("source_id") == pl.col("doc_id")) & (pl.col("title") != "")
"""A whole document is searched with its title. A sentence's title is its document's, and no part of it."""


def passages(corpus: pl.DataFrame) -> pl.DataFrame:
    """The corpus as first stages see it: doc_id and passage, by falling doc_id, so that positions settle ties."""
    passage = pl.when(_WITH_TITLE).then(pl.col("title") + "\n" + pl.col("text")).otherwise("text")
    return corpus.select("doc_id", passage=passage).sort("doc_id", descending=True)


def placed(corpus: pl.DataFrame) -> pl.DataFrame:
    """`passages`, with the document that each is of (source_id), and its place in the corpus' own order."""
    places = corpus.select("doc_id", "source_id").with_row_index("place")
    return passages(corpus).with_columns(places.sort("doc_id", descending=True).drop("doc_id"))


def text_offsets(corpus: pl.DataFrame) -> pl.Series:
    """The character at which each document's text starts in its passage, in the order of `passages`."""
    offset = pl.when(_WITH_TITLE).then(pl.col("title").str.len_chars().cast(pl.Int64) + 1).otherwise(0)
    return corpus.select("doc_id", offset=offset).sort("doc_id", descending=True)["offset"]
