"""Vectors as codes of a product quantiser: PQ, OPQ, and K-means, which is PQ with one part."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from qbench.compression.codec import Arrays, Codec
from qbench.errors import InputError
from qbench.options import option
from qbench.scoring import product
from qbench.scoring.rotation import learnt_rotation

FEW = 16
"""Queries up to which codes are scored by look-up tables. For more, decoding a block once for all of them is quicker,
and takes less memory than their tables."""

_K_HELP = "Number of codewords of each part; a code takes log2(K) bits, rounded up"


class ProductCodec(Codec):
    """What all codecs with a product quantiser's files share: `codes`, packed, and a codebook.

    A subclass learns a codebook, shape (M, K, H / M), and it may be a rotation, shape (H, H), that vectors are
    multiplied by before they are cut. Queries are multiplied by it as well, which changes no dot product.
    """

    def encode(self, vectors: NDArray[np.float32]) -> Arrays:
        """`codes`, shape (n, M * log2(K) / 8), rounded up.

        Raises:
            InputError: a vector is not finite, or has another dimension than those that the codebook was learnt from.
        """
        codebook = self.learnt["codebook"]
        self._refuse_other(vectors)
        product.refuse_broken(vectors)
        return {"codes": product.packed(self.selected(self._rotated(vectors)), codebook.shape[1])}

    def selected(self, vectors: NDArray[np.float32]) -> NDArray[np.uint16]:
        """The codeword of each part of vectors that are rotated already, shape (n, M): the nearest one (eq. 5.7)."""
        return product.encoded(vectors, self.learnt["codebook"])

    def decode(self, arrays: Arrays) -> NDArray[np.float32]:
        """The codewords, one after the other, rotated back; shape (n, H)."""
        vectors = product.decoded(arrays["codes"], self.learnt["codebook"])
        rotation = self.learnt.get("rotation")
        return vectors if rotation is None else vectors @ rotation.T

    def tables(self, queries: NDArray[np.float32]) -> NDArray[np.float32]:
        """For a few queries their look-up tables, shape (q, M, codes); for many, the rotated queries, shape (q, H)."""
        self._refuse_other(queries)
        rotated = self._rotated(queries)
        return rotated if len(queries) > FEW else product.lookup_tables(rotated, self._columns())

    def scores(self, tables: NDArray[np.float32], arrays: Arrays) -> NDArray[np.floating[Any]]:
        """The dot products, shape (q, n): by look-up tables, or for many queries with codewords (eq. 3.9)."""
        if tables.ndim == 3:
            return product.looked_up(tables, arrays["codes"])
        products: NDArray[np.float32] = tables @ product.decoded(arrays["codes"], self.learnt["codebook"]).T
        return products

    def with_learnt(self, **arrays: NDArray[Any]) -> Self:
        """A copy of the codec that has learnt these arrays."""
        other = super().with_learnt(**arrays)
        object.__setattr__(other, "_kept", {})
        return other

    def _columns(self) -> NDArray[np.float32]:
        kept: dict[str, NDArray[np.float32]] = self.__dict__["_kept"]
        if "columns" not in kept:
            kept["columns"] = product.codewords_as_columns(self.learnt["codebook"])
        return kept["columns"]

    def _rotated(self, vectors: NDArray[np.float32]) -> NDArray[np.float32]:
        rotation = self.learnt.get("rotation")
        return vectors if rotation is None else vectors @ rotation

    def _refuse_other(self, vectors: NDArray[np.float32]) -> None:
        codebook = self.learnt["codebook"]
        width = codebook.shape[0] * codebook.shape[2]
        if vectors.shape[1] != width:
            raise InputError(
                f"the codebook was learnt from vectors of {width} numbers, and these have others",
                value=vectors.shape[1],
                remedy="Use the codebook with the encoder that it was learnt for",
            )


def _iterations() -> Any:
    return option(product.ITERATIONS, help="Iterations of k-means, at most", low=1)


def _seed() -> Any:
    return option(0, help="Seed of k-means", low=0)


@dataclass(frozen=True, kw_only=True)
class PQ(ProductCodec):
    """Product quantisation (*WolfPQ* 5.1): k-means in each part of the vectors."""

    M: int = option(96, help="Number of parts of a vector; divides its dimension", low=1)
    K: int = option(256, help=_K_HELP, low=2, high=2**16)
    iterations: int = _iterations()
    seed: int = _seed()

    def fit(self, sample: NDArray[np.float32]) -> Self:
        """Learn `codebook`, shape (M, K, H / M).

        Raises:
            OptionError: M does not divide the dimension, or K is above the number of vectors.
        """
        how = {"seed": self.seed, "iterations": self.iterations}
        return self.with_learnt(codebook=product.product_codebook(sample, self.M, self.K, **how))

    def refuse_dimension(self, dimension: int) -> None:
        """Refuse a dimension that M does not divide.

        Raises:
            OptionError: as said.
        """
        product.refuse_uneven(dimension, self.M)


@dataclass(frozen=True, kw_only=True)
class OPQ(PQ):
    """Optimised product quantisation (Ge et al. 2013): PQ of rotated vectors, with the rotation that suits it best."""

    rotations: int = option(10, help="How often the rotation is improved", low=1)

    def fit(self, sample: NDArray[np.float32]) -> Self:
        """Learn `rotation`, shape (H, H), and `codebook`, shape (M, K, H / M).

        Raises:
            InputError: a vector is not finite.
            OptionError: M does not divide the dimension, or K is above the number of vectors.
        """
        product.refuse_broken(sample)
        rotation = learnt_rotation(sample, self.M, self.K, rounds=self.rotations, seed=self.seed)
        how = {"seed": self.seed, "iterations": self.iterations}
        codebook = product.product_codebook(sample @ rotation, self.M, self.K, **how)
        return self.with_learnt(codebook=codebook, rotation=rotation)


@dataclass(frozen=True, kw_only=True)
class KMeans(ProductCodec):
    """Each vector as the nearest of K centroids (*WolfPQ* 2.3.2): a codebook of one part."""

    K: int = option(256, help=_K_HELP.replace("each part", "whole vectors"), low=2, high=2**16)
    iterations: int = _iterations()
    seed: int = _seed()

    def fit(self, sample: NDArray[np.float32]) -> Self:
        """Learn `codebook`, shape (1, K, H).

        Raises:
            OptionError: K is above the number of vectors.
        """
        how = {"seed": self.seed, "iterations": self.iterations}
        return self.with_learnt(codebook=product.product_codebook(sample, 1, self.K, **how))
