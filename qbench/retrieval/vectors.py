"""Vectors of a corpus on disk: encoded once, compressed, opened, and read in blocks.

Single, sparse and token vectors are built by the same code: an encoder's arrays are written block by block, and
documents with the same text share theirs. A codec says how numbers are stored. A compression, `SBERT-NAME(...)`
in a system's name, is made from the stored vectors of its model, which all compressions of a model share.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Protocol, cast

import numpy as np
from numpy.typing import NDArray

from qbench.compression.coalescing import Coalesced
from qbench.compression.codec import WORDS, Arrays, Codec
from qbench.compression.plain import DTYPES
from qbench.errors import InputError, OptionError
from qbench.models.finite import naming
from qbench.models.word_features import Features
from qbench.retrieval import encoding_task
from qbench.retrieval.merging import write_merged
from qbench.retrieval.ranker_options import Products
from qbench.retrieval.rankers import RankerContext
from qbench.retrieval.rows import write_rows
from qbench.retrieval.shared_texts import SharedTexts, distinct
from qbench.retrieval.stored import AROUND, Stored, mapped, read_alone, save_arrays, stored
from qbench.retrieval.systems import Stage
from qbench.scoring.nearest import ROWS, highest
from qbench.scoring.quantised import Precision
from qbench.store import read_json, read_manifest, write_json
from qbench.work.journal import Journal
from qbench.work.shards import FOLDER, make_shards
from qbench.work.tasks import Chunk, Engine, Shard, Task

NOTES = "notes.json"

FITS = 1 << 30
"""Bytes of vectors that memory is taken to hold, on a machine of a few gigabytes: there, what lies around a row is soon
wanted by another query, and reading it at once is quicker."""

SHORT = 1 << 14
"""Bytes of rows one after the other that are read page by page: of more, reading ahead is quicker."""

LENGTHS = ".lengths"
"""Name of an array with the number of rows that each text has in the other arrays."""

SAMPLE = 2**16
"""Vectors that a codec learns from, spread evenly over the corpus: 200 MB with 768 numbers each."""

_SHARED = ("text_starts", "text_docs")
_STARTS = "vector_starts"


TokenIds = Callable[[Sequence[str]], tuple[NDArray[np.int64], NDArray[np.int64]]]
"""From texts to the number of vectors of each, and the tokens that they stand for, as numbers in the vocabulary."""


WordsOf = Callable[[NDArray[np.integer[Any]]], NDArray[np.float32]]
"""From rows of vectors, one for each text, to the words of the texts, shape (rows, F)."""


class TextEncoder(Protocol):
    """What all kinds of encoders have in common."""

    @property
    def dimension(self) -> int:
        """Numbers in a vector."""
        ...

    def cut(self, texts: Sequence[str]) -> NDArray[np.bool_]:
        """Which texts are longer than the encoder reads, shape (texts,)."""
        ...


def build_vectors(
    step: str,
    encoder: TextEncoder,
    encode: Callable[[int, list[str]], Arrays],
    params: Mapping[str, Any],
    context: RankerContext,
    *,
    block: int,
    finish: Callable[[Path], Mapping[str, Any]] | None = None,
    task: Task | None = None,
    beside: Callable[[Sequence[str]], Sequence[Any]] | None = None,
    needs: Callable[[], Stored] | None = None,
) -> Stored:
    """The vectors of the distinct passages on disk, encoded if they are not there yet; an interrupted call resumes.

    Args:
        step: of `qbench.keys`.
        encoder: says which texts are cut.
        encode: from the position of a block's first text, and its texts, to arrays by name, with a row for each text,
            or as many as the array `LENGTHS` says. Arrays whose name has a leading dot are scratch files, there until
            `finish` is over.
        params: everything that can change the arrays, but for the corpus.
        context: the corpus, and the folder of indexes.
        block: number of texts that are encoded before they are on disk.
        finish: writes what is derived from the arrays into the folder, and returns notes on it.
        task: does the same as `encode` and `encoder` (`qbench.retrieval.encoding_task`): where the context has an
            engine, that runs it.
        beside: what the task reads besides each of some texts, as JSON can hold it.
        needs: as in `stored`.

    Raises:
        InputError: a vector is not finite; names its document.
    """

    def make(folder: Path) -> None:
        texts, shared = distinct(context.corpus["passage"])
        ids = context.corpus["doc_id"]

        def arrays(first: int, last: int) -> Arrays:
            some = texts[first:last].to_list()
            with naming(some, first, lambda text: ids[shared.first(text)]):
                return {**encode(first, some), encoding_task.CUT: encoder.cut(some)}

        give: Callable[[int, int], Arrays] = arrays
        if task is not None and context.engine is not None and len(texts):

            def part(first: int) -> Chunk:
                some = texts[first : first + block].to_list()
                of_texts = [ids[shared.first(text)] for text in range(first, first + len(some))]
                return encoding_task.block(first, some, of_texts, beside(some) if beside else None)

            blocks = map(part, range(0, len(texts), block))
            give = _from_shards(task, blocks, len(texts), folder / FOLDER, context, block)
        names = write_rows(folder, len(texts), give, context.progress, block=block)
        save_arrays(folder, dict(zip(_SHARED, (shared.starts, shared.docs), strict=True)))
        if LENGTHS in names:
            save_arrays(folder, {_STARTS: np.append(0, np.cumsum(mapped(folder, LENGTHS))).astype(np.int64)})
        notes = {
            "dimension": encoder.dimension,
            "arrays": [name for name in names if not name.startswith(".")],
            "documents_cut": shared.count(mapped(folder, ".cut")),
        }
        write_json(folder / NOTES, {**notes, **(finish(folder) if finish else {})})

    return stored(context.root, step, {**params, "corpus": context.corpus_key}, make, needs=needs)


def products_entry(precision: Products) -> dict[str, str]:
    """The entry of the precision of a model's matrix products in `params`.

    None for single precision, so that indexes of before it could be chosen keep their keys.
    """
    return {} if precision == "float32" else {"precision": precision}


def _from_shards(
    task: Task, blocks: Iterable[Chunk], count: int, folder: Path, context: RankerContext, block: int
) -> Callable[[int, int], Arrays]:
    """What gives the arrays of a block, which an engine has made; the shards go with the draft."""
    done = 0

    def report(chunk: Chunk, _: Shard | None) -> None:
        nonlocal done
        done += chunk.items
        context.progress(done, count, "encoding")

    names = make_shards(
        task, blocks, folder, last=encoding_task.LAST, engine=cast("Engine", context.engine), report=report
    )
    return lambda first, _: encoding_task.read(folder, names[first // block])


def open_shared(folder: Path) -> SharedTexts:
    """Which documents have which text, mapped into memory."""
    if not (folder / f"{_SHARED[0]}.npy").is_file():
        return _one_each(int(read_notes(folder)["texts"]))
    return SharedTexts(*(mapped(folder, name) for name in _SHARED))


def _one_each(texts: int) -> SharedTexts:
    return SharedTexts(np.arange(texts + 1), np.arange(texts))


def _save_small(folder: Path, shared: SharedTexts) -> None:
    """Write which documents have which text in as few bytes as that takes; nothing where no text is shared.

    Beside codes of 16 bytes for a vector, two numbers of 8 bytes would double an index.
    """
    if shared.starts.size - 1 < shared.docs.size:
        small = np.min_scalar_type(shared.docs.size)
        arrays = (shared.starts.astype(small), shared.docs.astype(small))
        save_arrays(folder, dict(zip(_SHARED, arrays, strict=True)))


def read_notes(folder: Path) -> dict[str, Any]:
    """The notes on stored vectors: `documents_cut`, and what `finish` adds."""
    notes: dict[str, Any] = read_json(folder / NOTES)
    return notes


@dataclass(frozen=True)
class StoredVectors:
    """Vectors of the distinct texts of a corpus, one or several for each.

    Attributes:
        codec: how they are stored, with what it learnt.
        arrays: encoded by the codec, with a row per vector; may be mapped from disk.
        shared: which documents have which text; texts are in the order of their first document.
        dimension: numbers in a vector.
        starts: shape (texts + 1,): the vectors of text t are rows starts[t] to starts[t + 1].
        about: everything that could change them, the parameters of their folder.
        words: from rows to the words of their texts, for a codec that needs them; they are made anew, and not stored.
    """

    codec: Codec
    arrays: Arrays
    shared: SharedTexts
    dimension: int
    starts: NDArray[np.int64]
    about: Mapping[str, Any] = field(default_factory=dict)
    words: WordsOf | None = None

    def __len__(self) -> int:
        """Number of vectors."""
        return len(next(iter(self.arrays.values())))

    def cost(self, count: int) -> dict[str, int | float]:
        """Bytes of the arrays, of what the codec learnt, and how many times smaller both are than single precision.

        Args:
            count: number of vectors that were compressed.
        """
        arrays = sum(array.nbytes for array in self.arrays.values())
        learnt = sum(array.nbytes for array in self.codec.learnt.values())
        whole = 4 * count * self.dimension
        ratio = round(whole / (arrays + learnt), 2) if arrays + learnt else 1.0
        return {"codes_bytes": arrays, "codebook_bytes": learnt, "compression": ratio}

    def spread_rows(self, count: int) -> NDArray[np.intp]:
        """At most `count` rows, spread evenly, ascending."""
        return np.linspace(0, len(self) - 1, min(len(self), count)).astype(np.intp)

    def select(self, rows: slice | NDArray[np.integer[Any]]) -> Arrays:
        """Some rows of every array, with the words of their texts where the codec needs them.

        Args:
            rows: a range, or positions, shape (r,).
        """
        with read_alone(self.arrays.values()) if self._apart(rows) else nullcontext():
            some = {name: array[rows] for name, array in self.arrays.items()}
        if self.words is None:
            return some
        numbers = np.arange(*rows.indices(len(self))) if isinstance(rows, slice) else rows
        return {**some, WORDS: self.words(numbers)}

    def _apart(self, rows: slice | NDArray[np.integer[Any]]) -> bool:
        """Whether little of what lies around some rows would be wanted, of arrays that memory may not hold."""
        size = sum(array.nbytes for array in self.arrays.values())
        if size <= FITS or isinstance(rows, slice) or not rows.size:
            return False
        runs = 1 + np.count_nonzero(np.diff(rows) != 1)
        return bool(runs * AROUND < size and rows.size / runs * size / len(self) <= SHORT)

    def rows(self, first: int, last: int) -> NDArray[np.float32]:
        """The vectors first to last, decoded, shape (last - first, dimension)."""
        return self.codec.decode(self.select(slice(first, last)))

    def chosen(self, rows: NDArray[np.integer[Any]]) -> NDArray[np.float32]:
        """The vectors of these rows, decoded, shape (rows, dimension)."""
        return self.codec.decode(self.select(rows))

    def products(self, rows: NDArray[np.integer[Any]], query: NDArray[np.float32]) -> NDArray[np.float64]:
        """The scores of some vectors for one query.

        Args:
            rows: shape (r,).
            query: shape (dimension,).

        Returns:
            shape (r,), in the order of `rows`.
        """
        scores: NDArray[np.floating[Any]] = self.codec.scores(self.codec.tables(query[None]), self.select(rows))[0]
        return scores.astype(np.float64, copy=False)

    def nearest(self, queries: NDArray[np.float32], k: int) -> tuple[NDArray[np.intp], NDArray[np.float64]]:
        """The k vectors that score highest for each query, as in `qbench.scoring.nearest.nearest`; read in blocks."""

        def scored(some: NDArray[np.float32]) -> Callable[[slice], NDArray[np.floating[Any]]]:
            tables = self.codec.tables(some)
            return lambda rows: self.codec.scores(tables, self.select(rows))

        return highest(scored, len(self), queries, k)


def refuse_unfit(
    stage: Stage,
    params: Mapping[str, Any],
    dimension: int,
    token_ids: TokenIds | None = None,
    features: Features | None = None,
) -> None:
    """Refuse a compression that cannot take a model's vectors, before hours of encoding documents rather than after.

    Args:
        stage: of a system.
        params: what makes the vectors, as for `build_vectors`.
        dimension: numbers in a vector.
        token_ids, features: as for `open_vectors`.

    Raises:
        InputError: it was made for other vectors, or is no whole codebook.
        OptionError: its options do not suit the dimension, or it needs what the model has not.
    """
    if stage.compression is None:
        return
    codec: Codec = stage.compression_options()
    if codec.needs_tokens and token_ids is None:
        message = f"the vectors of {stage.model.name} do not stand for one word each, as this compression needs"
        raise OptionError(message, value=str(stage.compression), remedy="Use PQ, or a ColBERT")
    if codec.needs_words and features is None:
        message = f"{stage.model.name} has no vectors of words for one vector of a text, as this compression needs"
        raise OptionError(message, value=str(stage.compression), remedy="Use OPQ, or an SBERT with word embeddings")
    codec.refuse_unfit(stage.compression.name, params)
    codec.refuse_dimension(dimension)


def open_vectors(
    built: Stored,
    dtype: Precision,
    stage: Stage,
    context: RankerContext,
    token_ids: TokenIds | None = None,
    features: Features | None = None,
) -> tuple[StoredVectors, Stored]:
    """The vectors that a stage searches, mapped into memory: as they were built, or compressed.

    Args:
        built: by `build_vectors`, with the codec of `dtype`, after `refuse_unfit`.
        dtype: how numbers are stored.
        stage: of a system; its compressed vectors are made from those in `built` if they are not there yet.
        context: the folder of indexes.
        token_ids: of the texts' vectors, for codecs that need them; None where vectors do not stand for tokens.
        features: of the words of texts that have one vector each, for codecs that need them; None where the encoder has
            no vectors of words.

    Returns:
        the vectors, and the folder that holds them, with the seconds to build both.
    """
    vectors = open_built(built.folder, DTYPES[dtype])
    if stage.compression is None:
        return vectors, built
    codec: Codec = stage.compression_options()
    if isinstance(codec, Coalesced) and len(vectors) != len(vectors.shared.starts) - 1:
        message = f"{stage.model.name} has several vectors for each passage, which cannot be coalesced"
        raise OptionError(message, value=str(stage.compression), remedy="Use a model with one vector for each")
    if codec.needs_words and features is not None:
        vectors = replace(vectors, words=_words_of(vectors.shared, features, context))
    tokens_of = token_ids if codec.needs_tokens else None
    smaller = _compressed(vectors, built, codec, stage.compression.name, context, tokens_of)
    opened = replace(open_built(smaller.folder, codec.opened(smaller.folder)), words=vectors.words)
    return opened, replace(smaller, seconds=built.seconds + smaller.seconds)


def _words_of(shared: SharedTexts, features: Features, context: RankerContext) -> WordsOf:
    def words(rows: NDArray[np.integer[Any]]) -> NDArray[np.float32]:
        return features(context.corpus["passage"].gather(shared.docs[shared.starts[rows]]).to_list())

    return words


def open_built(folder: Path, codec: Codec) -> StoredVectors:
    """Stored vectors as they are, mapped into memory.

    Args:
        folder: of `build_vectors`.
        codec: how they were stored, with what it learnt.
    """
    notes, shared = read_notes(folder), open_shared(folder)
    arrays = {name: mapped(folder, name) for name in notes["arrays"]}
    one_each = np.arange(shared.starts.size)
    starts = mapped(folder, _STARTS) if (folder / f"{_STARTS}.npy").is_file() else one_each
    about = read_manifest(folder).params
    return StoredVectors(codec, arrays, shared, int(notes["dimension"]), starts, about)


def tokens_of_corpus(vectors: StoredVectors, token_ids: TokenIds, context: RankerContext) -> NDArray[np.int64]:
    """The number in the vocabulary of the token that each vector stands for, shape (vectors,).

    Raises:
        InputError: the model's tokens are not those whose vectors are stored.
    """
    texts, _ = distinct(context.corpus["passage"])
    lengths, tokens = token_ids(texts.to_list())
    if not np.array_equal(lengths, np.diff(vectors.starts)):
        raise other_tokens()
    return tokens


def other_tokens() -> InputError:
    """The error of stored vectors whose number is not that of the tokens that their model reads."""
    remedy = "Build the index again with this version of its model"
    return InputError("the model reads other tokens than those whose vectors are stored", remedy=remedy)


def _compressed(
    vectors: StoredVectors,
    built: Stored,
    codec: Codec,
    name: str,
    context: RankerContext,
    token_ids: TokenIds | None = None,
) -> Stored:
    def make(folder: Path) -> None:
        journal = Journal(folder / ".codec.json")
        if journal.read() is None:
            rows = vectors.spread_rows(SAMPLE)
            sample = vectors.chosen(rows)
            (codec.fit_words(sample, vectors.words(rows)) if vectors.words else codec.fit(sample)).save(folder)
            journal.write(learnt=True)
        fitted = codec.opened(folder)
        tokens = None if token_ids is None else tokens_of_corpus(vectors, token_ids, context)

        def arrays(first: int, last: int) -> Arrays:
            some = vectors.rows(first, last)
            if vectors.words:
                return fitted.encode_words(some, vectors.words(np.arange(first, last)))
            return fitted.encode(some) if tokens is None else fitted.encode_tokens(some, tokens[first:last])

        shared = vectors.shared
        if isinstance(codec, Coalesced):
            names, shared = write_merged(folder, codec, vectors.chosen, shared, context.corpus, context.progress)
        else:
            names = write_rows(folder, len(vectors), arrays, context.progress, block=ROWS, what="compressing")
        _save_small(folder, shared)
        if (built.folder / f"{_STARTS}.npy").is_file():
            shutil.copyfile(built.folder / f"{_STARTS}.npy", folder / f"{_STARTS}.npy")
        counts = {"texts": shared.starts.size - 1, "vectors": len(vectors)}
        write_json(folder / NOTES, {**read_notes(built.folder), "arrays": list(names), **counts})

    params = {"vectors": built.folder.name, "codec": name, "options": codec.key()}
    return stored(context.root, "compressed vectors", params, make)
