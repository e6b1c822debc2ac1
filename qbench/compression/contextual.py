"""Contextual quantisation of token vectors: codes of what the context adds, and the number of the token.

A vector is decoded by `qbench.models.contextual`'s decoder, whose share for a token alone is looked up by its number.
Source: Yang, Qiao and Yang (2022); *WolfPQ* 4.3.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from qbench.compression.codec import Arrays, Codec
from qbench.compression.quantiser import read_array
from qbench.compression.trained import Trained
from qbench.errors import InputError, OptionError
from qbench.scoring.product import decoded, packed

ALONE, WORDS, DECODER = "alone.npy", "words.npy", "decoder.npy"
"""Files of the artefact beside the codebook's: E0 of each word of the vocabulary, shape (V, H), which vectors are
encoded with; what the decoder makes of it, of the same shape; and W_c, shape (H, H)."""


@dataclass(frozen=True, kw_only=True)
class Contextual(Trained):
    """ColBERT-CQ: a codebook from `qbench train codebook --variant CQ`.

    Codes take a PQ's bytes, and a token's number 2 (4 for more than 65,536 words); the decoder and what it makes of the
    words are parts of the index. The decoder is not linear, so that vectors are decoded to be scored.
    """

    needs_tokens: ClassVar[bool] = True

    def fit(self, sample: NDArray[np.float32]) -> Self:
        """Take `codebook`, shape (M, K, H / M), `decoder`, shape (H, H), and `words`, shape (V, H), from the folder.

        Raises:
            InputError: it is no whole codebook, or one for vectors of another dimension.
            OptionError: it has another M or K.
        """
        learnt = super().fit(sample).learnt
        others = {path.removesuffix(".npy"): read_array(self.codebook, path) for path in (DECODER, WORDS)}
        return self.with_learnt(**learnt, **others)

    def encode(self, vectors: NDArray[np.float32]) -> Arrays:
        """Refused: vectors cannot be encoded without their tokens.

        Raises:
            OptionError: always.
        """
        raise OptionError("CQ encodes the vectors of tokens, and these have none", remedy="Use PQ, or a ColBERT")

    def encode_tokens(self, vectors: NDArray[np.float32], tokens: NDArray[np.integer[Any]]) -> Arrays:
        """`codes`, as PQ's, and `tokens`, shape (n,).

        Raises:
            InputError: a vector has another dimension than the codebook was trained for, or a token is not among its
                words.
        """
        self._refuse_other(vectors)
        alone = self._alone
        if tokens.max(initial=0) >= len(alone):
            remedy = "Use the model that it was trained for"
            raise InputError("the codebook has no such word", value=int(tokens.max()), remedy=remedy)
        codes = self._quantiser.codes(vectors - alone[tokens])
        small = np.min_scalar_type(len(alone) - 1)
        return {"codes": packed(codes, self.learnt["codebook"].shape[1]), "tokens": tokens.astype(small)}

    @cached_property
    def _alone(self) -> NDArray[np.float32]:
        """`ALONE`, read once for all blocks of vectors."""
        return read_array(self.codebook, ALONE)

    def decode(self, arrays: Arrays) -> NDArray[np.float32]:
        """The decoder's vectors, shape (n, H)."""
        context = decoded(arrays["codes"], self.learnt["codebook"]) @ self.learnt["decoder"].T
        vectors: NDArray[np.float32] = np.tanh(context + self.learnt["words"][arrays["tokens"]])
        return vectors

    def tables(self, queries: NDArray[np.float32]) -> NDArray[np.float32]:
        """The queries themselves."""
        self._refuse_other(queries)
        return queries

    def scores(self, tables: NDArray[np.float32], arrays: Arrays) -> NDArray[np.floating[Any]]:
        """The dot products with decoded vectors, shape (q, n)."""
        return Codec.scores(self, tables, arrays)


def save_context(
    folder: Path, alone: NDArray[np.float32], words: NDArray[np.float32], decoder: NDArray[np.float32]
) -> None:
    """Write what a codebook of CQ has beside its quantiser, arrays as in `ALONE`, `WORDS` and `DECODER`."""
    for name, array in ((ALONE, alone), (WORDS, words), (DECODER, decoder)):
        np.save(folder / name, np.ascontiguousarray(array), allow_pickle=False)
