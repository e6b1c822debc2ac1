"""The binder's network: a small transformer over the words around a mention, on the word vectors of the parser.

The parser's encoder reads each sentence once; here each of its vectors, projected, meets what is known of its word as
seen from one mention (`features`), and two layers of attention say for each word how likely it is to name what the
mention measures, or to be the number whose unit the mention shares; and of the mention, whether it is a change, and
whether it is a quantity.
`scripts/train_binder.py` trains it; `data/binder` holds its weights, their licence and their scores.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from zipfile import BadZipFile

import numpy as np
from numpy.typing import NDArray
from threadpoolctl import ThreadpoolController

from qbench.errors import OptionError
from qbench.quantities.english.binder.features import MENTION_COLUMNS, WORD_COLUMNS, Labels, Pivot, Sentence
from qbench.quantities.english.parsers.dense import Array, fine, normalised, single
from qbench.quantities.english.parsers.encoder import Layer

FOLDER = Path(__file__).parent.parent / "data" / "binder"
WEIGHTS = "weights.npz"
WORDS = 6_000
"""Words that are read at a time, for bounded memory."""

OUTPUTS = ("concept", "core", "unit", "up", "down", "none")
"""Probabilities for each token: that it is a word of the concept; that it is one of the few by which people would look
for it; that it is the number of a mention that states the unit of this one, a bare number; and, at the mention's own
number, that this is a rise, a fall, or no quantity at all."""

Request = tuple[Pivot, Sentence]
"""A mention as the binder sees it, and the text that it stands in."""


class Binder:
    """The weights of a folder.

    Args:
        folder: holds `weights.npz`.

    Attributes:
        labels: numbers of the strings in its features.
        threshold: probability from which a word is taken to be of the concept.

    Raises:
        OptionError: these are no such weights.
    """

    def __init__(self, folder: Path = FOLDER) -> None:
        try:
            with (folder / WEIGHTS).open("rb") as file, np.load(file, allow_pickle=False) as arrays:
                self._load({name: arrays[name] for name in arrays.files})
        except (OSError, ValueError, KeyError, EOFError, BadZipFile) as fault:
            raise OptionError(
                f"no weights of a binder ({fault})",
                value=str(folder),
                remedy="Train them again with scripts/train_binder.py, or install qbench again",
            ) from fault

    def _load(self, weights: Mapping[str, NDArray[np.generic]]) -> None:
        self._blas = ThreadpoolController()
        self.labels = Labels.of(*([str(name) for name in weights[f"labels.{field}"]] for field in Labels._fields))
        self.threshold = float(weights["threshold"])
        self._width = weights["projection"].shape[1]
        self._projection = fine(single(weights["projection"]))
        self._pivot = fine(single(weights["pivot"]), single(weights["bias"]))
        self._words = [single(weights[f"word.{name}"]) for name in WORD_COLUMNS]
        self._mentions = [single(weights[f"mention.{name}"]) for name in MENTION_COLUMNS]
        self._norm = single(weights["norm"])
        heads, count = int(weights["heads"]), int(weights["layers"])
        self._layers = [Layer(weights, f"layer.{i}.", heads) for i in range(count)]
        self._out = fine(single(weights["out"]), single(weights["out.bias"]))

    def project(self, vectors: Array) -> Array:
        """What the binder keeps of the parser's word vectors, of shape (words, width)."""
        return self._projection(vectors)[:, : self._width]

    def probabilities(self, requests: Sequence[Request]) -> list[Array]:
        """For each mention, an array of shape (tokens of its window, `OUTPUTS`).

        Only texts of which the parser gave vectors can be read.
        """
        # The matrices are so small that threads wait for each other longer than they work; processes share work better.
        with self._blas.limit(limits=1, user_api="blas"):
            return [each for group in _groups(requests) for each in self._read(group)]

    def _read(self, requests: Sequence[Request]) -> list[Array]:
        lengths = [len(pivot.words) for pivot, _ in requests]
        windows = [_vectors(text)[p.start : p.start + len(p.words)] for p, text in requests]
        h = np.concatenate(windows).astype(np.float32)
        columns = np.concatenate([pivot.words for pivot, _ in requests])
        for column, table in zip(columns.T, self._words, strict=True):
            h += table[column]
        h += np.repeat(self._of_mentions(requests), lengths, axis=0)
        h = normalised(h, self._norm)
        ends = np.cumsum(lengths)
        for layer in self._layers:
            h = layer(h, ends)
        scores = self._out(h)[:, : len(OUTPUTS)]
        return np.split(1 / (1 + np.exp(-np.clip(scores, -30, 30))), ends[:-1])

    def _of_mentions(self, requests: Sequence[Request]) -> Array:
        ends = np.array([_vectors(text)[[pivot.number, pivot.anchor]] for pivot, text in requests], dtype=np.float32)
        h = self._pivot(ends.reshape(len(requests), -1))[:, : self._width]
        columns = np.array([pivot.mention for pivot, _ in requests])
        for column, table in zip(columns.T, self._mentions, strict=True):
            h += table[column]
        return h


@lru_cache(maxsize=1)
def load_binder() -> Binder:
    """The binder that comes with qbench."""
    return Binder()


def _vectors(text: Sentence) -> NDArray[np.float16]:
    if text.parse.vectors is None:
        raise ValueError("a text without the parser's vectors")
    return text.parse.vectors


def _groups(requests: Sequence[Request]) -> list[Sequence[Request]]:
    """Runs of requests that together hold `WORDS` words or little more."""
    groups: list[list[Request]] = []
    words = WORDS
    for request in requests:
        if words >= WORDS:
            groups.append([])
            words = 0
        groups[-1].append(request)
        words += len(request[0].words)
    return list(groups)
