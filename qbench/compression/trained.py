"""Codebooks that were trained for ranking, under the names of their variants. They store and score as a PQ does."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from qbench.artefacts import open_artefact
from qbench.compression.product import ProductCodec
from qbench.compression.quantiser import (
    ABOUT,
    CODEBOOK,
    KIND,
    QUERY_ENCODER,
    Quantiser,
    read_about,
    read_codebook,
    read_rotation,
)
from qbench.errors import InputError, OptionError
from qbench.options import option
from qbench.store import Manifest


@dataclass(frozen=True, kw_only=True)
class Trained(ProductCodec):
    """A codebook from `qbench train codebook` (*WolfPQ* 5.3); its name in a system is the variant that was trained.

    The (rotated) codewords are what is stored (figure 5.2), so that an index has a PQ's files, size and scoring, or an
    OPQ's where training started from one. Keys, and the network of a semantic selection, are read where vectors are
    encoded, and are no part of the index.
    """

    codebook: Path = option(help="Folder that `qbench train codebook` wrote")
    M: int = option(0, help="Number of parts that the codebook must have; 0: any", low=0)
    K: int = option(0, help="Number of codewords that the codebook must have; 0: any", low=0, high=2**16)

    def fit(self, sample: NDArray[np.float32]) -> Self:
        """Take `codebook`, shape (M, K, H / M), and where it started from an OPQ `rotation`, from the folder.

        Raises:
            InputError: it is no whole codebook, or one for vectors of another dimension.
            OptionError: it has another M or K.
        """
        self._opened()
        learnt, rotation = {"codebook": read_codebook(self.codebook)}, read_rotation(self.codebook)
        fitted = self.with_learnt(**learnt, **({} if rotation is None else {"rotation": rotation}))
        for name, wanted, found in zip("MK", (self.M, self.K), fitted.learnt["codebook"].shape[:2], strict=True):
            if wanted not in (0, found):
                remedy = f"Write {name}={found}, or train one with {name}={wanted}"
                raise OptionError(f"the codebook in {self.codebook} has another {name}", value=found, remedy=remedy)
        fitted._refuse_other(sample)
        return fitted

    def selected(self, vectors: NDArray[np.float32]) -> NDArray[np.uint16]:
        """The codeword of each part, as the training selected it."""
        return self._quantiser.selected(vectors)

    def query_model(self) -> Path | None:
        """The encoder of queries that was trained with the codewords."""
        folder = self.codebook / QUERY_ENCODER
        return folder if folder.is_dir() else None

    def refuse_unfit(self, name: str, vectors: Mapping[str, Any]) -> None:
        """Refuse a codebook of another variant than the system says, or of another encoder.

        Raises:
            InputError: as said.
        """
        self._opened()
        about = read_about(self.codebook)
        if about["variant"] != name:
            remedy = f"Write -{about['variant']}(codebook=...)"
            raise InputError(f"this codebook is no {name}", file=self.codebook, value=about["variant"], remedy=remedy)
        if about["vectors"] != encoder_of(vectors):
            remedy = "Use the model and the options that it was trained with, or train one for this model"
            raise InputError("this codebook was trained for another encoder", file=self.codebook, remedy=remedy)

    def key(self) -> dict[str, Any]:
        """The codebook by the key of its training, and what it must have."""
        return {"codebook": self._opened().digest, "M": self.M, "K": self.K}

    @cached_property
    def _quantiser(self) -> Quantiser:
        """What selects codewords, read once for all blocks of vectors."""
        return Quantiser.open(self.codebook)

    def _opened(self) -> Manifest:
        return open_artefact(self.codebook, KIND, [ABOUT, CODEBOOK])


def encoder_of(vectors: Mapping[str, Any]) -> dict[str, Any]:
    """What makes vectors, from the parameters of stored ones: without the corpus, and how their numbers are stored."""
    return {name: value for name, value in vectors.items() if name not in ("corpus", "dtype")}
