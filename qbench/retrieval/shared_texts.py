"""Documents with the same text share one place in an index, so that their scores are equal to the last bit."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from qbench.retrieval.rankers import Candidates

if TYPE_CHECKING:
    import polars as pl
    from numpy.typing import NDArray


@dataclass(frozen=True)
class SharedTexts:
    """Which documents have which text, as `distinct` finds it.

    Attributes:
        starts: shape (distinct texts + 1,); the documents of text t are docs[starts[t]:starts[t + 1]].
        docs: shape (documents,), positions, ascending within a text; texts in the order of their first document.
    """

    starts: NDArray[np.int64]
    docs: NDArray[np.int64]

    @cached_property
    def of(self) -> NDArray[np.int64]:
        """The text of each document, shape (documents,)."""
        found = np.empty(self.docs.size, dtype=np.int64)
        found[self.docs] = np.repeat(np.arange(self.starts.size - 1), np.diff(self.starts))
        return found

    def spread(self, texts: NDArray[np.integer[Any]], scores: NDArray[np.float64], depth: int) -> Candidates:
        """The best `depth` documents from the best `depth` texts; of equal scores the lower positions.

        Args:
            texts: shape (n,), in any order.
            scores: shape (n,), theirs.
            depth: how many documents; fewer if the texts have fewer.
        """
        lists = [self.docs[self.starts[text] : self.starts[text + 1]] for text in texts]
        docs = np.concatenate([np.empty(0, dtype=np.int64), *lists])
        all_scores = np.repeat(scores, [part.size for part in lists])
        best = np.lexsort((docs, -all_scores))[:depth]
        ascending = best[np.argsort(docs[best])]
        return Candidates(docs[ascending], all_scores[ascending])


def first_ids(
    starts: NDArray[np.int64], docs: NDArray[np.int64], ids: pl.Series | None
) -> Callable[[int], object] | None:
    """For errors: from a text's place to the id of the first document that has it.

    Args:
        starts, docs: from `distinct`.
        ids: the documents' ids; None where they have none.
    """
    return None if ids is None else lambda text: ids[int(docs[starts[text]])]


def distinct(passages: pl.Series) -> tuple[pl.Series, NDArray[np.int64], NDArray[np.int64]]:
    """The distinct texts in the order of their first document, and the documents of each.

    Returns:
        u texts; `starts`, shape (u + 1,); `docs`, shape (passages,): as in `SharedTexts`.
    """
    import polars as pl

    groups = (
        pl.DataFrame({"text": passages})
        .with_row_index("doc")
        .group_by("text", maintain_order=True)
        .agg(pl.col("doc").cast(pl.Int64))
    )
    sizes = groups["doc"].list.len().to_numpy()
    docs = groups["doc"].explode().to_numpy() if len(passages) else np.empty(0)
    return groups["text"], np.append(0, np.cumsum(sizes)).astype(np.int64), docs.astype(np.int64)
