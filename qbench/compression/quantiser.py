"""What a training of a codebook leaves: codewords and how they are selected, as arrays and as files."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from qbench.scoring.product import decoded, encoded, packed
from qbench.scoring.semantic import Network, semantic_codes
from qbench.store import read_json, write_json

KIND = "codebook"
"""Of the artefact that `qbench train codebook` writes."""

ABOUT = "codebook.json"
"""Its file with `variant`, `vectors` (what makes the encoder's vectors) and how codewords are selected: `gamma` and
`mdf` for a semantic selection, `keys` where these are no codewords."""

CODEBOOK = "codebook.npy"
"""Its file with the codewords, shape (M, K, H / M)."""

KEYS = "keys.npy"
"""Its file with what vectors are compared with, where that is not the codewords; of the same shape."""

QUERY_ENCODER = "query-encoder"
"""Its folder with the model that encodes queries, where one was trained with the codewords (JPQ)."""

WEIGHTS = ("w1", "b1", "w2", "b2")
"""Its files `NAME.npy` of the network of a semantic selection."""


@dataclass(frozen=True)
class Semantic:
    """A semantic selection, as in `qbench.scoring.semantic`."""

    network: Network
    gamma: float
    mdf: float


@dataclass(frozen=True)
class Quantiser:
    """Codewords, and which of them a vector gets: by default the nearest of each part.

    Attributes:
        codebook: shape (M, K, H / M).
        keys: of the same shape: a part gets the codeword whose key is nearest (DPQ; JPQ, whose keys are those of the PQ
            that it started from); None where a codeword is its own key.
        semantic: selects in place of the nearest.
    """

    codebook: NDArray[np.float32]
    keys: NDArray[np.float32] | None = None
    semantic: Semantic | None = None

    def codes(self, vectors: NDArray[np.float32]) -> NDArray[np.uint16]:
        """The codeword of each part of vectors of shape (n, H), shape (n, M)."""
        if self.semantic is None:
            return encoded(vectors, self.codebook if self.keys is None else self.keys)
        how = self.semantic
        return semantic_codes(vectors, self.codebook, how.network, how.gamma, how.mdf)

    def quantised(self, vectors: NDArray[np.float32]) -> NDArray[np.float32]:
        """The codewords that vectors of shape (n, H) get, one after the other, of the same shape."""
        return decoded(packed(self.codes(vectors), self.codebook.shape[1]), self.codebook)

    def save(self, folder: Path, **about: Any) -> None:
        """Write it into a folder.

        Args:
            folder: of the artefact.
            about: what else `ABOUT` is to say.
        """
        np.save(folder / CODEBOOK, self.codebook, allow_pickle=False)
        if self.keys is not None:
            np.save(folder / KEYS, self.keys, allow_pickle=False)
            about["keys"] = True
        if self.semantic is not None:
            for name in WEIGHTS:
                np.save(folder / f"{name}.npy", getattr(self.semantic.network, name), allow_pickle=False)
            about |= {"gamma": self.semantic.gamma, "mdf": self.semantic.mdf}
        write_json(folder / ABOUT, about)

    @classmethod
    def open(cls, folder: Path) -> Self:
        """What `save` wrote into a folder."""
        about = read_json(folder / ABOUT)
        semantic = None
        if "gamma" in about:
            layers = Network(*(read_array(folder, f"{name}.npy") for name in WEIGHTS))
            semantic = Semantic(layers, float(about["gamma"]), float(about["mdf"]))
        return cls(read_array(folder, CODEBOOK), read_array(folder, KEYS) if about.get("keys") else None, semantic)


def read_array(folder: Path, name: str) -> NDArray[np.float32]:
    """An array of an artefact."""
    array: NDArray[np.float32] = np.load(folder / name, allow_pickle=False)
    return array
