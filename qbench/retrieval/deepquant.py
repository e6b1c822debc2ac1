"""DeepQuant as a ranker: word vectors and arrays of numbers of all documents, computed once, and a mixed score.

Words lie on disk as ColBERT's do, with every codec; beside them, for each number of a text, the outputs of the three
document networks and the logits of its unit. Numbers come from the documents' quantities, which nothing extracts again.
Source: *DeepQuant* 3.9 and appendix C.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from qbench.compression.codec import Arrays
from qbench.compression.plain import DTYPES
from qbench.models.encoders import require_neural
from qbench.models.folders import model_digest, model_folder
from qbench.models.numbers import Number, number_of, number_row
from qbench.quantities.mentions import quantity_text
from qbench.quantities.written import asked_numbers, stated_numbers
from qbench.retrieval.encoding_task import Loader, encoding
from qbench.retrieval.late_interaction import BLOCK, nearest, token_notes
from qbench.retrieval.ranker_options import DeepQuantOptions
from qbench.retrieval.rankers import Candidates, OpenedRanker, RankerContext, Search, TermScore
from qbench.retrieval.shared_texts import mentions_by_text
from qbench.retrieval.stored import Stored, mapped, save_arrays
from qbench.retrieval.systems import Stage
from qbench.retrieval.vector_ranker import VectorRanker
from qbench.retrieval.vectors import (
    LENGTHS,
    StoredVectors,
    TokenIds,
    build_vectors,
    open_vectors,
    products_entry,
    refuse_unfit,
)
from qbench.scoring.number_relevance import AskedNumbers, StatedNumbers, number_relevance, scored, search
from qbench.scoring.quantised import Precision

if TYPE_CHECKING:
    from qbench.models.deepquant_encoder import DeepQuantEncoder

_STARTS, _TOWERS, _UNITS = "number_starts", "number_towers", "number_units"


@dataclass(frozen=True)
class NumberInteraction(VectorRanker):
    """DeepQuant, ready to answer.

    Attributes:
        encoder: makes the queries' vectors.
        tokens: the word vectors of the distinct texts.
        numbers: the numbers of the distinct texts.
        depth: number of documents that it retrieves.
        token_ids: which words documents' vectors stand for.
        stated: the numbers of a text, of which `numbers` has those among the tokens that are read.
    """

    encoder: DeepQuantEncoder
    tokens: StoredVectors
    numbers: StatedNumbers
    depth: int
    token_ids: TokenIds
    stated: Callable[[str], Sequence[Number]]

    def encoded(self, searches: Sequence[Search]) -> list[Search]:
        """The searches with their `AskedNumbers`; those without conditions have none."""
        numbers = [asked_numbers(search.text, search.conditions) for search in searches]
        made = self.encoder.queries([search.text for search in searches], numbers)
        mean = self.encoder.model.config.text_score == "mean"
        return [
            replace(
                query,
                vector=AskedNumbers(
                    one.vectors, one.operators, one.towers, one.units, one.alpha, len(one.vectors) if mean else 1.0
                ),
            )
            for query, one in zip(searches, made, strict=True)
        ]

    def term_scores(self, search: Search, doc: int, text: str) -> list[TermScore]:
        """What each token of the query adds, and each of its numbers: eq. 10 and 11 taken apart."""
        asked: AskedNumbers = search.vector
        numbers, stated = asked_numbers(search.text, search.conditions), self.stated(text)
        words = self.encoder.words(search.text, numbers, "query"), self.encoder.words(text, stated)
        share = asked.alpha / asked.divisor
        made = [
            TermScore(term.asked, term.found, share * term.score)
            for term in nearest(self.tokens, asked.words, doc, *words)
        ]
        own = self.numbers.chosen(self.tokens.shared.of[[doc]])
        relevance = number_relevance(asked, own).relevance
        # Numbers behind the tokens that are read count on neither side.
        for number, row in zip(numbers, relevance if relevance.size else (), strict=False):
            best = int(row.argmax())
            made.append(TermScore(_written(number), _written(stated[best]), (1 - asked.alpha) * float(row[best])))
        return made

    def _retrieved(self, encoded: Sequence[Search]) -> list[Candidates]:
        best = search(self.tokens, self.numbers, [query.vector for query in encoded], self.depth)
        return [self.tokens.shared.spread(*row, self.depth) for row in best]

    def _scores(self, vector: AskedNumbers, docs: NDArray[np.integer[Any]]) -> NDArray[np.float64]:
        return self.tokens.shared.scores(docs, lambda texts: scored(self.tokens, self.numbers, vector, texts))


def _written(number: Number) -> str:
    return quantity_text(number.value, number.value, number.operator or "=", "", number.unit)


def open_deepquant(stage: Stage, options: DeepQuantOptions, context: RankerContext) -> OpenedRanker:
    """DeepQuant ready to answer; documents are encoded if they are not yet.

    Raises:
        InputError: the model is missing, not whole or of another kind.
        MissingPackageError: torch is not installed.
    """
    require_neural()  # its modules import torch
    how = {"max_length": options.max_length, "half": options.precision == "bfloat16"}
    load = Loader("qbench.models.deepquant_encoder", "load_deepquant_encoder", how)
    encoder: DeepQuantEncoder = load(options.model)
    mentions = context.quantities()
    mentions_of = mentions_by_text(mentions, context.corpus["passage"])
    params = {
        "model": model_digest(model_folder(options.model)),
        "max_length": options.max_length,
        "dtype": options.dtype,
        "quantities": mentions.digest,
        **products_entry(options.precision),
    }

    def stated(text: str) -> list[Number]:
        return stated_numbers(text, mentions_of(text))

    def token_ids(texts: Sequence[str]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        return encoder.token_ids(texts, [stated(text) for text in texts])

    refuse_unfit(stage, params, encoder.dimension, token_ids)
    built = build_number_vectors(encoder, load, options, stated, params, context)
    tokens, held = open_vectors(built, options.dtype, stage, context, token_ids)
    numbers = open_numbers(built.folder)
    if stage.compression is not None:
        beside = sum((built.folder / f"{name}.npy").stat().st_size for name in (_STARTS, _TOWERS, _UNITS))
        held = replace(held, size=held.size + beside)
    meta = {**token_notes(tokens, held, stage, context), "numbers": int(numbers.starts[-1])}
    ranker = NumberInteraction(encoder, tokens, numbers, context.depth, token_ids, stated)
    return OpenedRanker(ranker, held.seconds, held.size, meta)


def build_number_vectors(
    encoder: DeepQuantEncoder,
    load: Loader,
    options: DeepQuantOptions,
    stated: Callable[[str], Sequence[Number]],
    params: Mapping[str, Any],
    context: RankerContext,
) -> Stored:
    """The arrays of all distinct passages on disk, encoded if they are not there yet.

    Args:
        encoder: the model of the options.
        load: opens it.
        options: of the system.
        stated: the numbers of a text.
        params: everything that can change the arrays, but for the corpus.
        context: the corpus, and the folder of indexes.

    Raises:
        InputError: a vector is not finite; names its document.
    """

    def encode(_: int, texts: list[str]) -> Arrays:
        return number_arrays(encoder, texts, [stated(text) for text in texts], options.dtype)

    def rows(texts: Sequence[str]) -> list[list[list[Any]]]:
        return [list(map(number_row, stated(text))) for text in texts]

    return build_vectors(
        "token vectors",
        encoder,
        encode,
        params,
        context,
        block=BLOCK,
        finish=_save_numbers,
        task=encoding(load, options.model, arrays_of_rows, dtype=options.dtype),
        beside=rows,
    )


def arrays_of_rows(
    encoder: DeepQuantEncoder, texts: Sequence[str], rows: Sequence[Sequence[Sequence[Any]]], dtype: Precision
) -> Arrays:
    """`number_arrays` in a worker, which gets the numbers of each text as rows of `number_row`."""
    return number_arrays(encoder, texts, [list(map(number_of, some)) for some in rows], dtype)


def number_arrays(
    encoder: DeepQuantEncoder, texts: Sequence[str], stated: Sequence[Sequence[Number]], dtype: Precision
) -> Arrays:
    """The arrays of some texts as they are stored.

    Args:
        encoder: makes them.
        texts: to be encoded.
        stated: the numbers of each text.
        dtype: how what vectors consist of is stored.

    Raises:
        InputError: a vector is not finite.
    """
    made = encoder.documents(texts, stated)
    # Units stay whole: an exponential is taken of their products.
    small = np.float32 if dtype == "float32" else np.float16
    return {
        LENGTHS: made.lengths,
        **DTYPES[dtype].encode(made.vectors),
        ".counts": made.counts,
        f".{_TOWERS}": _clipped(made.towers, small),
        f".{_UNITS}": made.units,
    }


def open_numbers(folder: Path) -> StatedNumbers:
    """The numbers of the texts whose vectors lie in a folder, mapped into memory."""
    starts, towers, units = (mapped(folder, name) for name in (_STARTS, _TOWERS, _UNITS))
    return StatedNumbers(starts, towers, units)


def _save_numbers(folder: Path) -> dict[str, Any]:
    """Keep the arrays of numbers beside the vectors, which a codec does not touch."""
    counts = mapped(folder, ".counts")
    save_arrays(folder, {_STARTS: np.append(0, np.cumsum(counts)).astype(np.int64)})
    for name in (_TOWERS, _UNITS):
        scratch = folder / f".{name}.npy"
        if scratch.is_file():  # else an interrupted call did it
            scratch.rename(folder / f"{name}.npy")
    return {}


def _clipped(array: NDArray[np.float32], dtype: type[np.floating[Any]]) -> NDArray[Any]:
    """In another precision; what is too large for it becomes the largest that it has."""
    most = float(np.finfo(dtype).max)
    return np.clip(array, -most, most).astype(dtype)
