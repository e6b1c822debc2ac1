"""Vectors of mentions, for the part of Bind that an encoder gives: what each number is of, and the text around it."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from qbench.compression.plain import DTYPES
from qbench.keys import revision
from qbench.models.folders import model_digest, model_folder
from qbench.models.single_vector import Encoder, load_encoder
from qbench.ranges import range_rows
from qbench.retrieval.dense import build_dense
from qbench.retrieval.mentions import DocumentMentions
from qbench.retrieval.rankers import RankerContext
from qbench.retrieval.vectors import StoredVectors, open_built

AROUND = 160
"""Characters on either side of a mention that its text has."""
_NUMBER = re.compile(r"\d+(?:[.,]\d+)*")
_WORD_BEFORE, _WORD_AFTER = re.compile(r"^\S*\s"), re.compile(r"\s\S*$")


@dataclass(frozen=True)
class MentionVectors:
    """One vector for each distinct text of a mention.

    Attributes:
        encoder: makes the queries' vectors.
        vectors: of the mentions' texts; document m of them is mention m.
    """

    encoder: Encoder
    vectors: StoredVectors

    def asked(self, texts: list[str]) -> NDArray[np.float32]:
        """The vectors of queries' words, shape (queries, dimension)."""
        return self.encoder.encode(texts, "query")

    def cosines(
        self, starts: NDArray[np.int64], docs: NDArray[np.integer[Any]], vector: NDArray[np.float32]
    ) -> NDArray[np.float64]:
        """The cosines of a query and the mentions of some documents.

        Args:
            starts: shape (documents + 1,): the mentions of document d are starts[d] to starts[d + 1].
            docs: shape (n,).
            vector: of the query.

        Returns:
            shape (their mentions,), in the order of `docs`.
        """
        mentions = range_rows(starts[docs], starts[docs + 1] - starts[docs])
        return self.vectors.shared.scores(mentions, lambda texts: self.vectors.products(texts, vector))


def mention_texts(passages: pl.Series, mentions: DocumentMentions) -> list[str]:
    """What is encoded of each mention: its concept and unit, and the text around it with its numbers masked."""
    table, made = mentions.table, []
    docs = np.repeat(np.arange(mentions.starts.size - 1), np.diff(mentions.starts))
    columns = (table["concept"], table["unit"], table["value_start"] + table["offset"])
    for doc, concept, unit, at in zip(docs.tolist(), *columns, strict=True):
        text = passages[doc]
        around = text[max(at - AROUND, 0) : at + AROUND]
        around = _WORD_BEFORE.sub("", around) if at > AROUND else around
        around = _WORD_AFTER.sub("", around) if at + AROUND < len(text) else around
        made.append(f"{concept} {unit}: {_NUMBER.sub('#', around)}".strip())
    return made


def open_mention_vectors(
    model: str, key: dict[str, Any], context: RankerContext, mentions: DocumentMentions
) -> tuple[MentionVectors, float, int]:
    """The vectors of a corpus's mentions, encoded if they are not there yet; an interrupted call resumes.

    Args:
        model: folder of an encoder, or its name on the hub.
        key: everything that names the corpus and its mentions.
        context: the corpus, and the folder of indexes.
        mentions: those of the corpus.

    Returns:
        the vectors, the seconds to make them, and their bytes on disk.

    Raises:
        InputError: the model is missing, not whole, or of another kind.
        MissingPackageError: sentence-transformers is not installed.
    """
    encoder = load_encoder(model, similarity="cosine")
    texts = mention_texts(context.corpus["passage"], mentions)
    ids = [f"mention {number}" for number in range(len(texts))]
    table = pl.DataFrame({"doc_id": ids, "passage": texts}, {"doc_id": pl.String, "passage": pl.String})
    how = {**key, "texts": revision("mention texts"), "model": model_digest(model_folder(model))}
    built = build_dense(encoder, how, "float16", replace(context, corpus=table))
    return MentionVectors(encoder, open_built(built.folder, DTYPES["float16"])), built.seconds, built.size
