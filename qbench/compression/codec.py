"""What every codec does: learn from a sample, encode vectors, score what it encoded, save what it learnt."""

from __future__ import annotations

import copy
from abc import ABC, abstractmethod
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from qbench.options import declared
from qbench.store import file_digest

Arrays = Mapping[str, NDArray[Any]]
"""Arrays by name."""

WORDS = "words"
"""Name of the array with the words of texts, shape (n, F), that is not stored but made from the texts."""

_FILE = "codec.{}.npy"


class Codec(ABC):
    """A way to store vectors. A subclass is a frozen dataclass of its options, each made with `qbench.options.option`.

    A subclass defines `encode` and `decode`; `fit` where it learns from vectors; `tables` and `scores` where codes can
    be scored without decoding them. Every vector is encoded by itself, so that blocks of any size give the same codes.

    Attributes:
        learnt: the arrays that `fit` learnt, by name; empty before, and for a codec that learns nothing.
        needs_tokens: whether vectors are encoded with the tokens that they stand for.
        needs_words: whether vectors are learnt from, encoded and decoded with the words of their texts: by `fit_words`
            and `encode_words`, and with an array `WORDS` beside the encoded ones.
    """

    learnt: Arrays = MappingProxyType({})
    needs_tokens: ClassVar[bool] = False
    needs_words: ClassVar[bool] = False

    def fit(self, sample: NDArray[np.float32]) -> Self:
        """The codec with what it learns from vectors.

        Args:
            sample: shape (n, d), vectors spread evenly over the corpus, in its order; n may be 0.
        """
        return self

    def fit_words(self, sample: NDArray[np.float32], words: NDArray[np.float32]) -> Self:
        """As `fit`, with the words of the vectors' texts, shape (n, F)."""
        return self.fit(sample)

    @abstractmethod
    def encode(self, vectors: NDArray[np.float32]) -> Arrays:
        """Arrays that stand for vectors.

        Args:
            vectors: shape (n, d), finite; n may be 0.

        Returns:
            arrays of n rows each; names and types are always the same.
        """

    def encode_tokens(self, vectors: NDArray[np.float32], tokens: NDArray[np.integer[Any]]) -> Arrays:
        """As `encode`, of vectors of tokens whose numbers in the vocabulary are known, shape (n,)."""
        return self.encode(vectors)

    def encode_words(self, vectors: NDArray[np.float32], words: NDArray[np.float32]) -> Arrays:
        """As `encode`, with the words of the vectors' texts, shape (n, F)."""
        return self.encode(vectors)

    @abstractmethod
    def decode(self, arrays: Arrays) -> NDArray[np.float32]:
        """The vectors that encoded arrays stand for, shape (n, d), up to what the codec loses.

        Args:
            arrays: some rows of what `encode` returned, n of them.
        """

    def tables(self, queries: NDArray[np.float32]) -> Any:
        """What `scores` takes for queries, computed once for all documents: by default the queries themselves.

        Args:
            queries: shape (q, d); they are not compressed.
        """
        return queries

    def scores(self, tables: Any, arrays: Arrays) -> NDArray[np.floating[Any]]:
        """The dot products of queries with encoded vectors: by default with the decoded ones.

        Args:
            tables: what `tables` returned for q queries.
            arrays: n rows of what `encode` returned.

        Returns:
            shape (q, n); a row is the same however many queries there are, up to rounding.
        """
        products: NDArray[np.floating[Any]] = tables @ self.decode(arrays).T
        return products

    def query_model(self) -> Path | None:
        """The folder of the model that encodes queries in place of the documents' encoder; None: none does."""
        return None

    def refuse_unfit(self, name: str, vectors: Mapping[str, Any]) -> None:  # noqa: B027
        """Refuse vectors that it was not made for; by default it takes any.

        Args:
            name: its name in the system.
            vectors: the parameters of the stored vectors: model, options, corpus.

        Raises:
            InputError: it was made for others.
        """

    def refuse_dimension(self, dimension: int) -> None:
        """Refuse vectors of so many numbers if its options do not suit them; by default, if it cannot learn from them.

        Raises:
            OptionError, InputError: as `fit` for vectors of that dimension, however few.
        """
        none = np.empty((0, dimension), np.float32)
        if self.needs_words:
            self.fit_words(none, np.empty((0, 0), np.float32))
        else:
            self.fit(none)

    def key(self) -> dict[str, Any]:
        """What can change its arrays, for keys of caches: all options; a file by its digest."""
        options: Any = self
        values = {option.name: getattr(self, option.name) for option in declared(type(options))}
        return {name: file_digest(value) if isinstance(value, Path) else value for name, value in values.items()}

    def with_learnt(self, **arrays: NDArray[Any]) -> Self:
        """A copy of the codec that has learnt these arrays."""
        other = copy.copy(self)
        object.__setattr__(other, "learnt", arrays)
        return other

    def save(self, folder: Path) -> None:
        """Write what was learnt into a folder, each array as `codec.NAME.npy`."""
        for name, array in self.learnt.items():
            np.save(folder / _FILE.format(name), array, allow_pickle=False)

    def opened(self, folder: Path) -> Self:
        """The codec with what `save` wrote into a folder."""
        first, last = _FILE.split("{}")
        paths = sorted(folder.glob(_FILE.format("*")))
        return self.with_learnt(
            **{p.name.removeprefix(first).removesuffix(last): np.load(p, allow_pickle=False) for p in paths}
        )
