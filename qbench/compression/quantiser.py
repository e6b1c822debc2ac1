"""What a training of a codebook leaves: codewords and how they are selected, as arrays and as files."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from pathlib import Path
from tokenize import TokenError
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from qbench.errors import InputError, shorten
from qbench.scoring.product import decoded, encoded, packed
from qbench.scoring.semantic import Network, semantic_codes
from qbench.store import read_json, write_json

KIND = "codebook"
"""Of the artefact that `qbench train codebook` writes."""

ABOUT = "codebook.json"
"""Its file with `variant`, `vectors` (what makes the encoder's vectors) and how codewords are selected: `gamma` and
`mdf` for a semantic selection, `keys` where these are no codewords, `rotation` where vectors are rotated."""

CODEBOOK = "codebook.npy"
"""Its file with the codewords, shape (M, K, H / M)."""

KEYS = "keys.npy"
"""Its file with what vectors are compared with, where that is not the codewords; of the same shape."""

ROTATION = "rotation.npy"
"""Its file with OPQ's rotation, shape (H, H), where training started from an OPQ."""

QUERY_ENCODER = "query-encoder"
"""Its folder with the model that encodes queries, where one was trained with the codewords (JPQ)."""

WEIGHTS = ("w1", "b1", "w2", "b2")
"""Its files `NAME.npy` of the network of a semantic selection."""

_REMEDY = "Make the codebook again with `qbench train codebook`"


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
        rotation: shape (H, H), what vectors are multiplied by before they are cut; None where they are cut as they are.
    """

    codebook: NDArray[np.float32]
    keys: NDArray[np.float32] | None = None
    semantic: Semantic | None = None
    rotation: NDArray[np.float32] | None = None

    def codes(self, vectors: NDArray[np.float32]) -> NDArray[np.uint16]:
        """The codeword of each part of vectors of shape (n, H), shape (n, M)."""
        return self.selected(vectors if self.rotation is None else vectors @ self.rotation)

    def selected(self, vectors: NDArray[np.float32]) -> NDArray[np.uint16]:
        """As `codes`, of vectors that are rotated already."""
        if self.semantic is None:
            return encoded(vectors, self.codebook if self.keys is None else self.keys)
        how = self.semantic
        return semantic_codes(vectors, self.codebook, how.network, how.gamma, how.mdf)

    def quantised(self, vectors: NDArray[np.float32]) -> NDArray[np.float32]:
        """What the codewords of vectors of shape (n, H) stand for, of the same shape."""
        found = decoded(packed(self.codes(vectors), self.codebook.shape[1]), self.codebook)
        return found if self.rotation is None else found @ self.rotation.T

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
        if self.rotation is not None:
            np.save(folder / ROTATION, self.rotation, allow_pickle=False)
            about["rotation"] = True
        if self.semantic is not None:
            for name in WEIGHTS:
                np.save(folder / f"{name}.npy", getattr(self.semantic.network, name), allow_pickle=False)
            about |= {"gamma": self.semantic.gamma, "mdf": self.semantic.mdf}
        write_json(folder / ABOUT, about)

    @classmethod
    def open(cls, folder: Path) -> Self:
        """What `save` wrote into a folder.

        Raises:
            InputError: a file is damaged, or they do not belong together.
        """
        about, codebook = read_about(folder), read_codebook(folder)
        keys = read_array(folder, KEYS) if about.get("keys") else None
        if keys is not None and keys.shape != codebook.shape:
            raise InputError("the keys are not of the codewords' shape", file=folder, value=keys.shape, remedy=_REMEDY)
        semantic = None
        if "gamma" in about:
            layers = Network(*(read_array(folder, f"{name}.npy") for name in WEIGHTS))
            _refuse_unfit(layers, codebook, folder)
            semantic = Semantic(layers, *(_number(about, name, folder) for name in ("gamma", "mdf")))
        return cls(codebook, keys, semantic, read_rotation(folder))


def read_about(folder: Path) -> dict[str, Any]:
    """What `ABOUT` says of a codebook.

    Raises:
        InputError: it does not say what every codebook's does.
    """
    about = read_json(folder / ABOUT)
    if not isinstance(about, dict) or not isinstance(about.get("variant"), str) or "vectors" not in about:
        raise InputError("not what describes a codebook", file=folder / ABOUT, remedy=_REMEDY)
    return about


def read_codebook(folder: Path) -> NDArray[np.float32]:
    """The codewords of an artefact, shape (M, K, H / M).

    Raises:
        InputError: they are damaged, or of another shape.
    """
    codebook = read_array(folder, CODEBOOK)
    if codebook.ndim != 3 or not codebook.size or codebook.shape[1] > 2**16:
        raise InputError("not codewords: another shape", file=folder / CODEBOOK, value=codebook.shape, remedy=_REMEDY)
    return codebook


def read_rotation(folder: Path) -> NDArray[np.float32] | None:
    """OPQ's rotation of an artefact, shape (H, H); None for codewords that started from a PQ.

    Raises:
        InputError: it is damaged, or does not belong to the codewords.
    """
    if not read_about(folder).get("rotation"):
        return None
    rotation, (m, _, part) = read_array(folder, ROTATION), read_codebook(folder).shape
    if rotation.shape != (m * part, m * part):
        message = "the rotation is not of the codewords' dimension"
        raise InputError(message, file=folder, value=rotation.shape, remedy=_REMEDY)
    return rotation


def _refuse_unfit(layers: Network, codebook: NDArray[np.float32], folder: Path) -> None:
    """Refuse layers of other shapes than those that choose among these codewords."""
    m, k, part = codebook.shape
    hidden = len(layers.w1) if layers.w1.ndim else 0
    wanted = [(hidden, m * part), (hidden,), (m * k, hidden), (m * k,)]
    for name, shape in zip(WEIGHTS, wanted, strict=True):
        found = getattr(layers, name).shape
        if found != shape:
            message = f"layer {name} does not belong to the codewords: its shape has to be {shape}"
            raise InputError(message, file=folder, value=found, remedy=_REMEDY)


def _number(about: dict[str, Any], name: str, folder: Path) -> float:
    value = about.get(name)
    if isinstance(value, bool) or not isinstance(value, int | float) or not -1e30 < value < 1e30:
        raise InputError(f"{name} is not a number", file=folder / ABOUT, value=value, remedy=_REMEDY)
    return float(value)


def read_array(folder: Path, name: str) -> NDArray[np.float32]:
    """An array of an artefact.

    Raises:
        InputError: the file is damaged, or holds something else than finite numbers of 32 bits.
    """
    file = folder / name
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")  # a header that only an old numpy would have written is damaged
            array: NDArray[np.float32] = np.load(file, allow_pickle=False)
    except (
        ValueError,
        TypeError,
        SyntaxError,
        TokenError,
        EOFError,
        MemoryError,
        OverflowError,
        OSError,
        UserWarning,
    ) as fault:
        raise InputError(f"not a readable array: {shorten(fault)}", file=file, remedy=_REMEDY) from None
    if not isinstance(array, np.ndarray) or array.dtype != np.float32 or not np.isfinite(array).all():
        raise InputError("not an array of finite numbers of 32 bits", file=file, remedy=_REMEDY)
    return array
