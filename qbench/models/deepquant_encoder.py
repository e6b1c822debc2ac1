"""A trained DeepQuant as search needs it: what is computed once for a document, and what for a query.

This module imports torch: import it inside functions.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from qbench.models.deepquant import Contextual, DeepQuant, load_deepquant
from qbench.models.finite import check_finite
from qbench.models.limits import with_smaller_batches
from qbench.models.multi_vector import WORDS
from qbench.models.number_layers import HIDDEN, projected
from qbench.models.numbers import Number
from qbench.models.single_vector import BATCH, Role

Floats = NDArray[np.float32]


@dataclass(frozen=True)
class DocumentVectors:
    """Documents, all that their scores need.

    Attributes:
        lengths: shape (documents,), number of word vectors of each.
        vectors: shape (their sum, dimension), of length 1, document by document.
        counts: shape (documents,), number of numbers of each.
        towers: shape (their sum, 3, HIDDEN), N_op,d of each number.
        units: shape (their sum, units), u of each number.
    """

    lengths: NDArray[np.int64]
    vectors: Floats
    counts: NDArray[np.int64]
    towers: Floats
    units: Floats


@dataclass(frozen=True)
class QueryVectors:
    """A query.

    Attributes:
        vectors: shape (tokens, dimension), of its words.
        operators: shape (m, 3), Pr(op) of each of its numbers (eq. 1).
        towers: shape (m, 3, HIDDEN), N_op,q of each.
        units: shape (m, units), u of each.
        alpha: weight of the words (eq. 12); 1 without numbers.
    """

    vectors: Floats
    operators: Floats
    towers: Floats
    units: Floats
    alpha: float


@dataclass(frozen=True)
class DeepQuantEncoder:
    """Makes both sides.

    Attributes:
        model: in evaluation mode.
        batch: texts that go through it together.
        half: whether the matrix products of its encoder are computed in bfloat16 for documents; all that follows is in
            single precision, and so are queries.
    """

    model: DeepQuant
    batch: int = BATCH
    half: bool = False

    @property
    def dimension(self) -> int:
        """Numbers in a token's vector."""
        return self.model.dimension

    def cut(self, texts: Sequence[str]) -> NDArray[np.bool_]:
        """Which documents have more tokens than are read, shape (texts,)."""
        return self.model.cut(texts)

    def documents(self, texts: Sequence[str], numbers: Sequence[Sequence[Number]]) -> DocumentVectors:
        """The arrays of some documents.

        Args:
            texts: n of them.
            numbers: of each text.

        Raises:
            NotFiniteError: a vector is not finite.
            OptionError: a single text does not fit into the GPU's memory.
        """
        made = self._texts(texts, numbers, "document")
        vectors = [one["words"] for one in made]
        counts = np.array([len(one["units"]) for one in made], np.int64)
        lengths = np.array([len(rows) for rows in vectors], np.int64)
        # Shapes of nothing, so that a corpus without documents or numbers has arrays, too.
        none = np.empty((0, self.dimension)), np.empty((0, 3, HIDDEN)), np.empty((0, len(self.model.units)))
        return DocumentVectors(
            lengths,
            np.concatenate([none[0], *vectors], dtype=np.float32),
            counts,
            np.concatenate([none[1], *(one["towers"] for one in made)], dtype=np.float32),
            np.concatenate([none[2], *(one["units"] for one in made)], dtype=np.float32),
        )

    def token_ids(
        self, texts: Sequence[str], numbers: Sequence[Sequence[Number]]
    ) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """The words of documents that `documents` gives vectors for, without running the model.

        Returns:
            number of vectors of each text, shape (texts,), and the words' numbers in the vocabulary, in order.
        """
        kept: list[NDArray[np.int64]] = []
        for first in range(0, len(texts), self.batch):
            last = first + self.batch
            kept += self.model.word_ids(texts[first:last], numbers[first:last])
        lengths = np.array([len(ids) for ids in kept], np.int64)
        return lengths, np.concatenate([*kept, np.empty(0, np.int64)])

    def words(self, text: str, numbers: Sequence[Number], role: Role = "document") -> list[str]:
        """The tokens of a text that have vectors, markers included, in the words of the vocabulary."""
        (ids,) = self.model.word_ids([text], [numbers], role)
        return list(self.model.tokenizer.convert_ids_to_tokens(ids.tolist()))

    @torch.no_grad()
    def alone(self) -> Floats:
        """The vector of each word of the vocabulary in a document of this word alone, shape (words, dimension)."""
        parts = torch.split(torch.arange(len(self.model.tokenizer)), WORDS)
        return np.concatenate([self.model.alone(words).cpu().numpy() for words in parts], dtype=np.float32)

    def queries(self, texts: Sequence[str], numbers: Sequence[Sequence[Number]]) -> list[QueryVectors]:
        """The arrays of each query; arguments and errors as in `documents`."""
        return [
            QueryVectors(one["words"], one["operators"], one["towers"], one["units"], float(one["alpha"]))
            for one in self._texts(texts, numbers, "query")
        ]

    def _texts(
        self, texts: Sequence[str], numbers: Sequence[Sequence[Number]], role: Role
    ) -> list[dict[str, NDArray[Any]]]:
        order = sorted(range(len(texts)), key=lambda place: -len(texts[place]))
        made: list[dict[str, NDArray[Any]]] = [{} for _ in texts]

        def run(size: int) -> None:
            for start in range(0, len(order), size):
                rows = order[start : start + size]
                found = self._batch([texts[row] for row in rows], [numbers[row] for row in rows], role)
                for row, one in zip(rows, found, strict=True):
                    made[row] = one

        with_smaller_batches(run, self.batch)
        check_finite([all(np.isfinite(array).all() for array in one.values()) for one in made], texts)
        return made

    @torch.no_grad()
    def _batch(
        self, texts: Sequence[str], numbers: Sequence[Sequence[Number]], role: Role
    ) -> list[dict[str, NDArray[Any]]]:
        model = self.model
        with torch.autocast(model.device.type, dtype=torch.bfloat16, enabled=self.half and role == "document"):
            seen = model.contextual(texts, numbers, role)
        stated, words = seen.numbers, projected(seen.vectors, model.projection)
        counts = (seen.places >= 0).sum(dim=1).tolist()
        sides: dict[str, Tensor] = {"units": model.heads.units(stated)}
        if role == "query":
            sides |= {"towers": model.towers.query(stated), "operators": model.operators(stated)}
        else:
            sides["towers"] = model.towers.document(stated)
        parts = {name: [part.cpu().numpy() for part in torch.split(side, counts)] for name, side in sides.items()}
        alphas = model.alphas(seen).cpu().numpy()
        return [
            {
                "words": self._words(words, seen, place),
                **({"alpha": alphas[place]} if role == "query" else {}),
                **{name: rows[place] for name, rows in parts.items()},
            }
            for place in range(len(texts))
        ]

    @staticmethod
    def _words(words: Tensor, seen: Contextual, place: int) -> Floats:
        rows: Floats = words[place][seen.words[place]].cpu().numpy()
        return rows


def load_deepquant_encoder(model: str, max_length: int = 0, *, half: bool = False) -> DeepQuantEncoder:
    """A trained DeepQuant, ready to encode: arguments and errors of `load_deepquant`, `half` as in the encoder."""
    return DeepQuantEncoder(load_deepquant(model, max_length), half=half)
