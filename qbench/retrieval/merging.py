"""Vectors of which several passages of a document share one: a group is to its passages what a text is to documents."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import polars as pl
from numpy.typing import NDArray

from qbench.compression.coalescing import Coalesced
from qbench.compression.codec import Arrays
from qbench.errors import OptionError
from qbench.progress import Progress
from qbench.retrieval.rows import write_rows
from qbench.retrieval.shared_texts import SharedTexts
from qbench.retrieval.stored import mapped
from qbench.scoring.coalescing import coalesced

BLOCK = 1024
"""Documents that are in memory together."""

_SIZES = ".sizes"


def passages_of_documents(corpus: pl.DataFrame, shared: SharedTexts) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The texts of each document, in the order in which they stand there.

    A text that several documents have belongs to the first document that has it.

    Args:
        corpus: columns source_id and place, in the order of positions.
        shared: which positions have which text.

    Returns:
        texts, shape (texts,), one document after the other; starts, shape (documents + 1,).
    """
    first = shared.docs[shared.starts[:-1]]
    some = corpus[first].select("source_id", "place").with_row_index("text")
    # Documents by their first text, so that of equal scores the lower position is likely to be the lower row.
    document = some.select(pl.col("text").min().over("source_id"))["text"]
    ordered = some.with_columns(document=document).sort("document", "place")
    sizes = ordered["document"].rle().struct.field("len").to_numpy()
    return ordered["text"].to_numpy().astype(np.int64), np.append(0, np.cumsum(sizes)).astype(np.int64)


def write_merged(
    folder: Path,
    codec: Coalesced,
    vectors: Callable[[NDArray[np.int64]], NDArray[np.float32]],
    shared: SharedTexts,
    corpus: pl.DataFrame,
    progress: Progress,
) -> tuple[tuple[str, ...], SharedTexts]:
    """Write the means of groups of passages; an interrupted call resumes.

    Args:
        folder: of a draft.
        codec: says which passages form a group.
        vectors: from texts to their vectors.
        shared: which positions have which text.
        corpus: as in `passages_of_documents`.
        progress: gets the number of documents that are complete.

    Returns:
        the names of the arrays, and which positions have which group.

    Raises:
        OptionError: nobody knows which passages are of one document.
    """
    if not {"source_id", "place"} <= set(corpus.columns):
        raise OptionError("it is not known which passages are of one document", remedy="Leave -Coalesced out")
    texts, starts = passages_of_documents(corpus, shared)

    def arrays(first: int, last: int) -> Arrays:
        rows = texts[starts[first] : starts[last]]
        whole = vectors(rows)
        borders = starts[first + 1 : last] - starts[first]
        parts = [coalesced(part, codec.delta) for part in np.split(whole, borders)] if last > first else []
        sizes = np.concatenate([np.empty(0, np.int64), *(part[0] for part in parts)])
        means = np.concatenate([np.empty((0, whole.shape[1]), np.float32), *(part[1] for part in parts)])
        return {**codec.encode(means), _SIZES: sizes}

    names = write_rows(folder, starts.size - 1, arrays, progress, block=BLOCK, what="coalescing")
    sizes = mapped(folder, _SIZES)
    group_of_text = np.empty(texts.size, np.int64)
    group_of_text[texts] = np.repeat(np.arange(sizes.size), sizes)
    of = group_of_text[shared.of]
    groups = SharedTexts(
        np.append(0, np.cumsum(np.bincount(of, minlength=sizes.size))).astype(np.int64), np.argsort(of, kind="stable")
    )
    return tuple(name for name in names if not name.startswith(".")), groups
