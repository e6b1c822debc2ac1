"""Documents with the same text share one place in an index, so that their scores are equal to the last bit."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from qbench.retrieval.rankers import Candidates

if TYPE_CHECKING:
    from qbench.quantities.types import Quantity
    from qbench.retrieval.mentions import DocumentMentions


@dataclass(frozen=True)
class SharedTexts:
    """Which documents have which text: see `distinct`.

    Attributes:
        starts: shape (distinct texts + 1,); the documents of text t are docs[starts[t]:starts[t + 1]].
        docs: shape (documents,), positions, ascending within a text; texts in the order of their first document.
    """

    starts: NDArray[np.int64]
    docs: NDArray[np.int64]

    @cached_property
    def of(self) -> NDArray[np.int64]:
        """The text of each document, shape (documents,)."""
        texts = np.empty(self.docs.size, dtype=np.int64)
        texts[self.docs] = np.repeat(np.arange(self.starts.size - 1), np.diff(self.starts))
        return texts

    def first(self, text: int) -> int:
        """The first document with a text."""
        return int(self.docs[self.starts[text]])

    def scores(
        self,
        docs: NDArray[np.integer[Any]],
        of_texts: Callable[[NDArray[np.integer[Any]]], NDArray[np.float64]],
    ) -> NDArray[np.float64]:
        """The scores of documents, computed once for each of their texts.

        Args:
            docs: shape (n,), positions of documents, in any order.
            of_texts: the scores of some texts, ascending, in their order.
        """
        texts, which = np.unique(self.of[docs], return_inverse=True)
        scores: NDArray[np.float64] = of_texts(texts)[which]
        return scores

    def count(self, texts: NDArray[np.bool_]) -> int:
        """The number of documents that have one of some texts; shape (distinct texts,)."""
        return int(np.diff(self.starts)[texts].sum())

    def spread(self, texts: NDArray[np.integer[Any]], scores: NDArray[np.float64], depth: int) -> Candidates:
        """The best `depth` documents from the best `depth` texts; of equal scores the lower positions.

        Args:
            texts: shape (n,), in any order.
            scores: shape (n,), theirs.
            depth: number of documents; fewer if the texts have fewer.
        """
        lists = [self.docs[self.starts[text] : self.starts[text + 1]] for text in texts]
        docs = np.concatenate([np.empty(0, dtype=np.int64), *lists])
        all_scores = np.repeat(scores, [some.size for some in lists])
        best = np.lexsort((docs, -all_scores))[:depth]
        ascending = best[np.argsort(docs[best])]
        return Candidates(docs[ascending], all_scores[ascending])


def distinct(passages: pl.Series) -> tuple[pl.Series, SharedTexts]:
    """The distinct texts in the order of their first document, and the documents of each."""
    groups = (
        pl.DataFrame({"text": passages})
        .with_row_index("doc")
        .group_by("text", maintain_order=True)
        .agg(pl.col("doc").cast(pl.Int64))
    )
    sizes = groups["doc"].list.len().to_numpy()
    docs = groups["doc"].explode().to_numpy() if len(passages) else np.empty(0)
    starts = np.append(0, np.cumsum(sizes)).astype(np.int64)
    return groups["text"], SharedTexts(starts, docs.astype(np.int64))


def mentions_by_text(mentions: DocumentMentions, passages: pl.Series) -> Callable[[str], list[Quantity]]:
    """From a passage to its mentions: those of the first document that has this text, as its vectors are.

    Args:
        mentions: of each document.
        passages: shape (documents,), their texts.
    """
    texts, shared = distinct(passages)
    first = {text: shared.first(place) for place, text in enumerate(texts)}
    return lambda text: mentions.of(first[text])
