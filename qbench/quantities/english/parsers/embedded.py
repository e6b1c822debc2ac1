"""The parser that comes with qbench: a biaffine parser and tagger (Dozat and Manning 2017) on a small encoder.

`scripts/train_parser.py` trains it; `data/parser` holds its weights, their licence and their scores.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from zipfile import BadZipFile

import numpy as np
from numpy.typing import NDArray
from threadpoolctl import ThreadpoolController

from qbench.errors import OptionError
from qbench.quantities.english.parsers.dense import Array
from qbench.quantities.english.parsers.encoder import Encoder, WordPieces
from qbench.quantities.english.parsers.trees import ROOT, best_tree
from qbench.quantities.english.parsers.words import Cut, Reading, cut_words

FOLDER = Path(__file__).parent.parent / "data" / "parser"
WEIGHTS, VOCABULARY = "weights.npz", "vocab.txt"
WORDS = 1_500
"""Words that are read at a time, for bounded memory."""
SLOPE = np.float32(0.1)
"""Of the leaky rectifier below zero."""


class EmbeddedParser:
    """Tags and trees by the weights in a folder.

    Args:
        folder: holds `weights.npz` and `vocab.txt`.
        project: what makes of the word vectors, of shape (words, width), those that its readings keep; None keeps none.

    Raises:
        OptionError: these are no such weights.
    """

    def __init__(self, folder: Path = FOLDER, project: Callable[[Array], Array] | None = None) -> None:
        self._project = project
        try:
            self._load(folder)
        except (OSError, ValueError, KeyError, EOFError, BadZipFile) as fault:
            raise OptionError(
                f"no weights of a parser ({fault})",
                value=str(folder),
                remedy="Train it again with scripts/train_parser.py, or use `embedded`",
            ) from fault

    def _load(self, folder: Path) -> None:
        with (folder / WEIGHTS).open("rb") as file, np.load(file, allow_pickle=False) as arrays:
            weights: Mapping[str, NDArray[np.generic]] = {name: arrays[name] for name in arrays.files}
        self._blas = ThreadpoolController()
        pieces = WordPieces((folder / VOCABULARY).read_text(encoding="utf-8").split("\n"))
        self._encoder = Encoder(weights, pieces)
        self._tags = [str(tag) for tag in weights["tags"]]
        self._relations = [str(relation) for relation in weights["relations"]]
        self._w = {name: weights[name].astype(np.float32) for name in weights if name.partition(".")[0] in _OURS}

    def cut(self, text: str) -> Cut:
        """The words of a text, and where each begins."""
        return cut_words(text)

    def read(self, sentences: Sequence[Sequence[str]]) -> list[Reading]:
        """The parse of each sentence."""
        # The matrices are so small that threads wait for each other longer than they work; processes share work better.
        with self._blas.limit(limits=1, user_api="blas"):
            return [reading for group in _groups(sentences) for reading in self._read(group)]

    def _read(self, sentences: Sequence[Sequence[str]]) -> Iterator[Reading]:
        vectors, ends = self._encoder.vectors(sentences)
        tags = (vectors @ self._w["tag.weight"] + self._w["tag.bias"]).argmax(axis=1)
        heads = self._heads(vectors, ends)
        # Heads count from the start of their sentence, with 0 for the root; here from that of all, the root last.
        starts = np.repeat(ends - np.diff(ends, prepend=0), np.diff(ends, prepend=0))
        relations = self._labels(vectors, np.where(heads == ROOT, len(vectors), heads - 1 + starts))
        readings = (
            self._reading(len(sentence), *parts)
            for sentence, *parts in zip(
                sentences, *(np.split(each, ends[:-1]) for each in (tags, heads, relations)), strict=True
            )
        )
        if self._project is None:
            yield from readings
            return
        projected = np.split(self._project(vectors).astype(np.float16), ends[:-1])
        # Copies, lest a reading that is cached keeps the vectors of all that were read with it.
        yield from (r._replace(vectors=v.copy()) for r, v in zip(readings, projected, strict=True))

    def _heads(self, vectors: Array, ends: NDArray[np.int64]) -> NDArray[np.int64]:
        """The head of each word, 0 for the root and k + 1 for word k of its sentence."""
        above = self._leaky("arc.head", vectors)
        below = _with_one(self._leaky("arc.child", vectors)) @ self._w["arc"]
        heads = []
        for start, end in zip([0, *ends], ends, strict=False):
            scores = below[start:end] @ np.concatenate([self._w["root.arc"], above[start:end]]).T
            heads.append(best_tree(scores))
        return np.concatenate(heads)

    def _labels(self, vectors: Array, heads: NDArray[np.int64]) -> NDArray[np.int64]:
        """The relation of each word to its head, whose index may be that of the root, the one after the last word."""
        above = np.concatenate([self._leaky("label.head", vectors), self._w["root.label"]])
        below = _with_one(self._leaky("label.child", vectors))
        # The sum over i and j of above[head, i] label[i, r, j] below[word, j]; many words share a head.
        own, which = np.unique(heads, return_inverse=True)
        mixed = (_with_one(above[own]) @ self._w["label"]).reshape(len(own), -1, below.shape[1])
        labels = np.empty(len(below), dtype=np.int64)
        words = np.split(which.argsort(kind="stable"), np.bincount(which).cumsum()[:-1])
        for each, scoring in zip(words, mixed, strict=True):
            labels[each] = (below[each] @ scoring.T).argmax(axis=1)
        return labels

    def _reading(
        self, words: int, tags: NDArray[np.int64], heads: NDArray[np.int64], relations: NDArray[np.int64]
    ) -> Reading:
        # Words beyond the encoder's reach stand alone.
        more = words - len(tags)
        own = [k if head == ROOT else head - 1 for k, head in enumerate(heads.tolist())]
        return Reading(
            [self._tags[t] for t in tags.tolist()] + [""] * more,
            own + list(range(len(tags), words)),
            ["root" if own[k] == k else self._relations[r] for k, r in enumerate(relations.tolist())] + [""] * more,
        )

    def _leaky(self, name: str, vectors: Array) -> Array:
        activations: Array = vectors @ self._w[f"{name}.weight"]
        activations += self._w[f"{name}.bias"]
        np.maximum(activations, SLOPE * activations, out=activations)
        return activations


_OURS = frozenset({"tag", "arc", "label", "root"})


def _groups(sentences: Sequence[Sequence[str]]) -> Iterator[list[Sequence[str]]]:
    """Runs of sentences that together hold `WORDS` words at most, or a single one."""
    group: list[Sequence[str]] = []
    words = 0
    for sentence in sentences:
        if group and words + len(sentence) > WORDS:
            yield group
            group, words = [], 0
        group.append(sentence)
        words += len(sentence)
    if group:
        yield group


def _with_one(vectors: Array) -> Array:
    return np.concatenate([vectors, np.ones((len(vectors), 1), dtype=np.float32)], axis=1)
