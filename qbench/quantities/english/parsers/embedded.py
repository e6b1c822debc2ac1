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
from qbench.quantities.english.parsers.dense import Array, best_rows, fine, pairwise, single
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
        w = {name: single(weights[name]) for name in weights if name.partition(".")[0] in _OURS}
        matrices = [w[f"{name}.weight"] for name in (*_PARTS, "tag")]
        self._views = fine(np.concatenate(matrices, axis=1), np.concatenate([w[f"{n}.bias"] for n in (*_PARTS, "tag")]))
        self._ends = np.cumsum([matrix.shape[1] for matrix in matrices])
        # The last row of each is for what a word alone says.
        self._arc, self._label = (fine(w[name][:-1], w[name][-1]) for name in ("arc", "label"))
        self._roots = w["root.arc"], w["root.label"]

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
        views = np.split(self._views(vectors), self._ends, axis=1)
        tags = views.pop(len(_PARTS)).argmax(axis=1)
        arc_head, arc_child, label_head, label_child = (np.maximum(view, SLOPE * view) for view in views[: len(_PARTS)])
        heads = self._heads(arc_head, arc_child, ends)
        # Heads count from the start of their sentence, with 0 for the root; here from that of all, the root last.
        starts = np.repeat(ends - np.diff(ends, prepend=0), np.diff(ends, prepend=0))
        relations = self._labels(label_head, label_child, np.where(heads == ROOT, len(vectors), heads - 1 + starts))
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

    def _heads(self, above: Array, below: Array, ends: NDArray[np.int64]) -> NDArray[np.int64]:
        """The head of each word, 0 for the root and k + 1 for word k of its sentence."""
        below = self._arc(below)
        heads = []
        for start, end in zip([0, *ends], ends, strict=False):
            scores = pairwise(below[start:end], np.concatenate([self._roots[0], above[start:end]]))
            heads.append(best_tree(scores))
        return np.concatenate(heads)

    def _labels(self, above: Array, below: Array, heads: NDArray[np.int64]) -> NDArray[np.int64]:
        """The relation of each word to its head, whose index may be that of the root, the one after the last word."""
        # The sum over i and j of above[head, i] label[i, r, j] below[word, j]; many words share a head.
        own, which = np.unique(heads, return_inverse=True)
        mixed = self._label(np.concatenate([above, self._roots[1]])[own])
        return best_rows(mixed, which, below, len(self._relations))

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


_PARTS = ("arc.head", "arc.child", "label.head", "label.child")
"""What a word is as the head and as the child of an arc, and of a labelled one."""
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
