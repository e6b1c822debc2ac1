"""A codec for tests: the sign of each number's difference from the mean, and one scale for each vector."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

import numpy as np
from numpy.typing import NDArray

from qbench.compression.codec import Arrays, Codec
from qbench.options import option


@dataclass(frozen=True)
class Sign(Codec):
    """A bit for each number, and a scale for each vector: its mean distance from the mean vector."""

    boost: float = option(1.0, help="what every scale is multiplied by", low=0)

    def fit(self, sample: NDArray[np.float32]) -> Self:
        """Learn the mean vector."""
        return self.with_learnt(mean=sample.sum(axis=0) / max(len(sample), 1))

    def encode(self, vectors: NDArray[np.float32]) -> Arrays:
        """`codes`, shape (n, d / 8), and `scales`, shape (n,)."""
        off = vectors - self.learnt["mean"]
        return {"codes": np.packbits(off > 0, axis=1), "scales": self.boost * np.abs(off).mean(axis=1)}

    def decode(self, arrays: Arrays) -> NDArray[np.float32]:
        """The mean, and from it a step of the vector's scale in each direction."""
        mean = self.learnt["mean"]
        signs = 2.0 * np.unpackbits(arrays["codes"], axis=1, count=mean.size) - 1
        return (mean + signs * arrays["scales"][:, None]).astype(np.float32)
