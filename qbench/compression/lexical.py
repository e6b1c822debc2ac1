"""Codes of what a text's words do not tell of its vector.

    b(d) = A f(d) + a                       what the words tell: a linear map, fitted by least squares
    stored: the OPQ code of d - b(d);       decoded: b(d) + what the code stands for

f(d) is made of the vectors that the encoder has for words (`qbench.models.word_features`). The words stand in the
text, and in the index of the first stage that found it: they take no byte of this one, and codes have less to tell.
It is what contextual quantisation does for the vectors of tokens (Yang, Qiao and Yang 2022), for one vector of a text.
Source: *WolfPQ* 8.3 asks for a quantiser that is given what BM25 knows of a text.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from qbench.compression.codec import WORDS, Arrays
from qbench.compression.product import OPQ
from qbench.errors import OptionError
from qbench.scoring import product

RIDGE = 1e-4
"""Added to the diagonal of f(d)'s products, in units of its mean, so that few texts do not fit A exactly."""


@dataclass(frozen=True, kw_only=True)
class LexPQ(OPQ):
    """OPQ of what is left of vectors when what their texts' words tell is taken away."""

    needs_words: ClassVar[bool] = True

    def fit(self, sample: NDArray[np.float32]) -> Self:
        """Refused: it is learnt with words alone.

        Raises:
            OptionError: always.
        """
        raise _without_words()

    def fit_words(self, sample: NDArray[np.float32], words: NDArray[np.float32]) -> Self:
        """Learn `told`, shape (F + 1, H), the last row a, and of what is left `rotation` and `codebook` as OPQ does.

        Args:
            sample: shape (n, H).
            words: shape (n, F), f of their texts.

        Raises:
            OptionError: M does not divide the dimension, or K is above the number of vectors.
        """
        product.refuse_broken(sample)
        some = _with_one(words)
        products = some.T @ some
        products[np.diag_indices_from(products)] += RIDGE * max(products.trace() / len(products), 1.0)
        told = np.linalg.solve(products, some.T @ sample.astype(np.float64)).astype(np.float32)
        learnt = super().fit(sample - self._told(words, told)).learnt
        return self.with_learnt(**learnt, told=told)

    def encode(self, vectors: NDArray[np.float32]) -> Arrays:
        """Refused: vectors cannot be encoded without their texts' words.

        Raises:
            OptionError: always.
        """
        raise _without_words()

    def encode_words(self, vectors: NDArray[np.float32], words: NDArray[np.float32]) -> Arrays:
        """`codes`, as PQ's; arguments as of `fit_words`.

        Raises:
            InputError: a vector is not finite, or has another dimension than those that it was learnt from.
        """
        self._refuse_other(vectors)
        return super().encode(vectors - self._told(words, self.learnt["told"]))

    def decode(self, arrays: Arrays) -> NDArray[np.float32]:
        """What the words tell, and what the code stands for, shape (n, H)."""
        return super().decode(arrays) + self._told(arrays[WORDS], self.learnt["told"])

    def tables(self, queries: NDArray[np.float32]) -> Any:
        """OPQ's tables, and q A and q a of each query, shape (q, F + 1)."""
        return super().tables(queries), queries @ self.learnt["told"].T

    def scores(self, tables: Any, arrays: Arrays) -> NDArray[np.floating[Any]]:
        """The dot products, shape (q, n): those of codes by look-up tables, and those of words."""
        codes, words = tables
        scores: NDArray[np.floating[Any]] = words[:, :-1] @ arrays[WORDS].T + words[:, -1:]
        scores += super().scores(codes, arrays)
        return scores

    @staticmethod
    def _told(words: NDArray[np.float32], told: NDArray[np.float32]) -> NDArray[np.float32]:
        vectors: NDArray[np.float32] = words @ told[:-1] + told[-1]
        return vectors


def _with_one(words: NDArray[np.float32]) -> NDArray[np.float64]:
    return np.hstack([words, np.ones((len(words), 1))]).astype(np.float64)


def _without_words() -> OptionError:
    return OptionError("LexPQ takes vectors with the words of their texts", remedy="Use OPQ for vectors alone")
