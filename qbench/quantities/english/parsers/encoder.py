"""The lower layers of a BERT encoder (Devlin et al. 2019), in numpy: a vector for each word of some sentences.

A word is cut into word pieces (Wu et al. 2016); its first piece speaks for it. How the word was written (capitals,
digits) comes in beside the pieces, which are all in small letters.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping, Sequence
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from qbench.quantities.english.parsers.dense import Array, dense, gelu, kernel, normalised, single

START, END, UNKNOWN = "[CLS]", "[SEP]", "[UNK]"
PIECES_PER_WORD = 8
SHAPES = ("small", "Capital", "CAPITALS", "digits", "mark")
MARK = SHAPES.index("mark")
_CHUNKS = re.compile(r"[^\W_]+|[^\w\s]|_")
ROWS = 512
"""Vectors that go through the feed-forward net at a time: few enough to stay in a processor's cache."""
HIGHEST = np.float32(60)
"""Scores of attention beyond this count as this, so that their powers stay finite."""


def shape(word: str) -> int:
    """How a word is written, an index into `SHAPES`.

    >>> [SHAPES[shape(word)] for word in ("price", "Turin", "A", "GDP", "iPad", "A4", "%")]
    ['small', 'Capital', 'Capital', 'CAPITALS', 'CAPITALS', 'digits', 'mark']
    """
    if any(c.isdigit() for c in word):
        return 3
    if not any(c.isalpha() for c in word):
        return 4
    if word.islower():
        return 0
    return 1 if word[0].isupper() and (len(word) == 1 or not word.isupper()) else 2


class WordPieces:
    """Cuts words into the pieces of a vocabulary.

    Args:
        vocabulary: pieces in the order of their numbers; "##" marks those that go on a word.
    """

    def __init__(self, vocabulary: Sequence[str]) -> None:
        self._numbers = {piece: i for i, piece in enumerate(vocabulary)}
        self.start, self.end, self._unknown = (self._numbers[piece] for piece in (START, END, UNKNOWN))
        self.of = lru_cache(maxsize=50_000)(self._of)

    def _of(self, word: str) -> tuple[tuple[int, ...], int]:
        """The numbers of the first pieces of a word, one at least; and its shape."""
        plain = "".join(c for c in unicodedata.normalize("NFD", word.lower()) if unicodedata.category(c) != "Mn")
        pieces: list[int] = []
        for chunk in _CHUNKS.findall(plain[:100]):
            pieces += self._cut(chunk)
        return tuple(pieces[:PIECES_PER_WORD]) or (self._unknown,), shape(word)

    def _cut(self, chunk: str) -> list[int]:
        """The longest piece first, again and again; one unknown piece where that fails."""
        pieces, start = [], 0
        while start < len(chunk):
            for end in range(len(chunk), start, -1):
                number = self._numbers.get(("##" if start else "") + chunk[start:end])
                if number is not None:
                    pieces.append(number)
                    start = end
                    break
            else:
                return [self._unknown]
        return pieces


class Encoder:
    """Word vectors in context.

    Args:
        weights: by name, as `scripts/train_parser.py` writes them.
        pieces: of the vocabulary that the weights belong to.
    """

    def __init__(self, weights: Mapping[str, NDArray[np.generic]], pieces: WordPieces) -> None:
        self._pieces = pieces
        self._table, self._scale = weights["piece"], weights["piece.scale"]
        self._positions, self._shapes = single(weights["position"]), single(weights["shape"])
        self._norm = single(weights["norm"])
        heads = int(weights["heads"])
        count = 1 + max(int(name.split(".")[1]) for name in weights if name.startswith("layer."))
        self._layers = [Layer(weights, f"layer.{i}.", heads) for i in range(count)]
        self.longest = len(self._positions) - 2

    def vectors(self, sentences: Sequence[Sequence[str]]) -> tuple[Array, NDArray[np.int64]]:
        """A vector for each word, in order, of shape (words, width); and where each sentence ends among them.

        Words beyond `longest` pieces of a sentence get none.
        """
        rows = [self._row(sentence) for sentence in sentences]
        numbers = np.concatenate([row[0] for row in rows])
        h = self._table[numbers].astype(np.float32) * self._scale[numbers].astype(np.float32)[:, None]
        h += self._shapes[np.concatenate([row[1] for row in rows])]
        h += np.concatenate([self._positions[: len(row[0])] for row in rows])
        h = normalised(h, self._norm)
        ends = np.cumsum([len(row[0]) for row in rows])
        for layer in self._layers[:-1]:
            h = layer(h, ends)
        spoken = [end - len(row[0]) + row[2] for end, row in zip(ends, rows, strict=True)]
        # Nothing reads the other pieces after the last layer.
        return self._layers[-1](h, ends, np.concatenate(spoken)), np.cumsum([len(s) for s in spoken])

    def _row(self, sentence: Sequence[str]) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
        """Numbers and shapes of the pieces of a sentence, and where the first of each word stands."""
        numbers, shapes, first = [self._pieces.start], [MARK], []
        for word in sentence:
            own, written = self._pieces.of(word)
            if len(numbers) + len(own) > self.longest + 1:
                break
            first.append(len(numbers))
            numbers += own
            shapes += [written] * len(own)
        numbers.append(self._pieces.end)
        shapes.append(MARK)
        return np.array(numbers), np.array(shapes), np.array(first, dtype=np.int64)


class Layer:
    """Self-attention and a feed-forward net, each with a residual and a norm after it.

    Called with vectors of shape (rows, width), where each sequence ends among them, and, if only some rows are needed,
    their indexes.

    Args:
        weights: in bytes (see `packed`), with their biases and norms.
        name: what the names of its weights start with.
        heads: of attention.
    """

    def __init__(self, weights: Mapping[str, NDArray[np.generic]], name: str, heads: int) -> None:
        self._heads = heads
        self._norms = single(weights[name + "norms"])
        # What scales the scores of attention is put into the queries beforehand.
        width = self._norms.shape[1]
        queries = np.ones(3 * width, dtype=np.float32)
        queries[:width] = (width // heads) ** -0.5
        self._mix = dense(weights, name + "mix", queries)
        self._out, self._up, self._down = (dense(weights, name + part) for part in PARTS[1:])

    def __call__(self, h: Array, ends: NDArray[np.int64], wanted: NDArray[np.int64] | None = None) -> Array:
        """The rows after the layer, all or the wanted ones; `h` itself may be changed."""
        mixed = self._attended(h, ends)
        if wanted is not None:
            h, mixed = h[wanted], mixed[wanted]
        normalised(self._out(mixed, onto=h), self._norms[:2])
        for start in range(0, len(h), ROWS):
            rows = h[start : start + ROWS]
            self._down(gelu(self._up(rows)), onto=rows)
        return normalised(h, self._norms[2:])

    def _attended(self, h: Array, ends: NDArray[np.int64]) -> Array:
        out = np.empty_like(h)
        attended(self._mix(h), ends, self._heads, out)
        return out


def attended(mixed: Array, ends: NDArray[np.int64], heads: int, out: Array) -> None:
    """What each row of a sequence reads from the rows of it, by all heads.

    Args:
        mixed: shape (rows, 3 * width): queries, keys and values.
        ends: where each sequence ends among the rows.
        heads: how many.
        out: shape (rows, width), written.
    """
    own = out.shape[1] // heads
    if kernel() is not None:
        from qbench.quantities.english.parsers import attention_kernel

        if own % attention_kernel.COLUMNS == 0:
            longest = int(np.diff(ends, prepend=0).max(initial=0))
            room = np.empty(attention_kernel.room_for(longest, own), dtype=np.float32)
            attention_kernel.attended(mixed, ends, heads, float(HIGHEST), room, out)
            return
    parts = mixed.reshape(len(mixed), 3, heads, own)
    for start, end in zip([0, *ends], ends, strict=False):
        query, key, value = parts[start:end].transpose(1, 2, 0, 3)
        scores = query @ key.transpose(0, 2, 1)
        np.exp(np.minimum(scores, HIGHEST, out=scores), out=scores)
        # Divided by their sum only after they are used: that is fewer numbers.
        read = scores @ value
        read /= scores.sum(axis=2, keepdims=True)
        out[start:end] = read.transpose(1, 0, 2).reshape(end - start, -1)


PARTS = ("mix", "out", "up", "down")
"""Query, key and value in one; what mixes the heads; the two halves of the feed-forward net."""
