"""A corpus as it is searched and learnt from."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import polars as pl


def passages(corpus: pl.DataFrame) -> pl.DataFrame:
    """The corpus as first stages see it: doc_id and passage, by falling doc_id, so that positions settle ties.

    A whole document is searched with its title. A sentence's title is its document's, and no part of it.
    """
    import polars as pl

    whole = (pl.col("source_id") == pl.col("doc_id")) & (pl.col("title") != "")
    passage = pl.when(whole).then(pl.col("title") + "\n" + pl.col("text")).otherwise("text")
    return corpus.select("doc_id", passage=passage).sort("doc_id", descending=True)
