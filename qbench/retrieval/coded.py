"""Coded late interaction: token vectors with reserved dimensions in which MaxSim itself compares quantities.

    document   [v_j ; 0 ; h_j] for each token j, and for each code x of a mention [v_j ; x ; 0] for each token of its
               value, unit and concept
    query      [v_i ; 0 ; c s_i h_i] for each token i, and for each condition [b/n v_i ; a/n w ; 0] for the n words of
               its concept, or all search words

with x and w of `qbench.scoring.value_code`, h the `word_code` of the folded word that a token is of, s what a search
word is worth by the number of texts that have it (`qbench.retrieval.coded_words`; h is left out where c is 0), and
a = `code_weight`, b = `token_weight` and c = `term_weight`: a word of the query finds its best partner among tokens of
mentions that satisfy the condition. Nothing has to be trained for it, and the index is that of every other multi-vector
model: one matrix, MaxSim, candidates from centroids, compression. Documents' quantities are read when it is made.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import Any, NamedTuple

import numpy as np
import polars as pl
from numpy.typing import NDArray

from qbench.compression.codec import Arrays
from qbench.compression.plain import DTYPES
from qbench.models.multi_vector import MultiVector
from qbench.models.numbers import Span, token_owners
from qbench.models.single_vector import Role
from qbench.quantities.mentions import stated
from qbench.quantities.types import Condition, Quantity
from qbench.quantities.units import Units
from qbench.quantities.written import condition_spans
from qbench.retrieval.coded_words import WordCodes
from qbench.retrieval.late_interaction import (
    BLOCK,
    LateInteraction,
    build_token_vectors,
    check_late_interaction,
    of_vectors,
    open_encoder,
    open_late_interaction,
)
from qbench.retrieval.ranker_options import CodedOptions
from qbench.retrieval.rankers import OpenedRanker, RankerContext, Search
from qbench.retrieval.rates import amount_of
from qbench.retrieval.shared_texts import mentions_by_text
from qbench.retrieval.stored import Stored
from qbench.retrieval.systems import Stage
from qbench.retrieval.vectors import LENGTHS, StoredVectors, build_vectors, open_built, other_tokens
from qbench.scoring.value_code import DIMENSION, WORD_SIGNS, Amount, ValueCode, compared_units, ends

_LETTER = r"[^\W\u4e00-\u9fff]"
"""A letter or digit, but no Han character."""


class Weights(NamedTuple):
    """What a word of a query looks for among the tokens of mentions.

    Attributes:
        token: weight of how near they are to it.
        value: what a mention that satisfies the condition adds to a score.
        term: what a word of the query adds that few texts have, in texts that have it.
    """

    token: float
    value: float
    term: float


_NONE = Weights(0.0, 0.0, 0.0)


@dataclass(frozen=True)
class CodedEncoder:
    """A late-interaction model whose document vectors have codes of the mentions that their tokens belong to.

    Attributes:
        encoder: the model.
        code: the grids of the corpus' units.
        mentions: of a document's text.
        words: codes of words, which vectors have, too; None for none.
    """

    encoder: MultiVector
    code: ValueCode
    mentions: Callable[[str], Sequence[Quantity]]
    words: WordCodes | None = None

    @property
    def dimension(self) -> int:
        """Numbers in a vector."""
        return self.encoder.dimension + DIMENSION + (WORD_SIGNS if self.words else 0)

    @property
    def trained(self) -> bool:
        """Whether the model was saved as a late-interaction model."""
        return self.encoder.trained

    def cut(self, texts: Sequence[str]) -> NDArray[np.bool_]:
        """Which documents have more tokens than are read, shape (texts,)."""
        return self.encoder.cut(texts)

    def encode(self, texts: Sequence[str], role: Role = "document") -> tuple[NDArray[np.int64], NDArray[np.float32]]:
        """Number of vectors of each text, and all vectors in order; queries have zeros for codes, see `question`."""
        lengths, vectors = self.encoder.encode(texts, role)
        if role == "document":
            return self.documents(texts, lengths, vectors)
        return lengths, _with_codes(vectors)[:, : self.dimension]

    def documents(
        self, texts: Sequence[str], lengths: NDArray[np.int64], vectors: NDArray[np.float32]
    ) -> tuple[NDArray[np.int64], NDArray[np.float32]]:
        """Documents' vectors with codes, from those of the model.

        Args:
            texts: n of them.
            lengths, vectors: of them, as `MultiVector.encode` gives them.

        Returns:
            number of vectors of each text, shape (n,), and all vectors in order, shape (their sum, dimension).

        Raises:
            InputError: the model reads other tokens than those that the vectors are of.
        """
        rows, read = [], self.encoder.offsets(texts)
        if [len(offsets) for offsets in read] != lengths.tolist():
            raise other_tokens()
        of_texts = np.split(vectors, np.cumsum(lengths)[:-1]) if len(texts) else []
        for text, own, offsets in zip(texts, of_texts, read, strict=True):
            parts = [_with_codes(own, None, self.words.codes(text, offsets) if self.words else None)]
            for mention in self.mentions(text):
                tokens = own[mention_tokens(offsets, mention)]
                parts += [_with_codes(tokens, code) for code in self.code.mention(mention)]
            rows.append(np.concatenate(parts)[:, : self.dimension])
        counts = np.array([len(some) for some in rows], np.int64)
        return counts, np.concatenate(rows) if rows else np.empty((0, self.dimension), np.float32)

    def question(self, search: Search, weights: Weights) -> NDArray[np.float32]:
        """The vectors of a query with its conditions, shape (vectors, dimension).

        Args:
            search: with conditions.
            weights: of what its words look for.
        """
        _, vectors = self.encoder.encode([search.text], "query")
        (offsets,) = self.encoder.offsets([search.text], "query")
        searched = searched_tokens(search.text, offsets, search.conditions, search.terms)
        terms = None
        if self.words:
            worth = self.words.worth(search.text, offsets, searched)
            terms = weights.term * worth[:, None] * self.words.codes(search.text, offsets)
        parts = [_with_codes(vectors, None, terms)]
        meant = search_tokens(search.text, offsets, search.conditions, searched)
        for condition, own in zip(search.conditions, meant, strict=True):
            token, value = np.float32(weights.token / len(own)), np.float32(weights.value / len(own))
            parts.append(_with_codes(token * vectors[own], value * self.code.condition(condition)))
        return np.concatenate(parts)[:, : self.dimension]

    def meanings(self, search: Search, text: str) -> tuple[list[str], list[str]]:
        """What each vector of `question` and of a text's `encode` stands for: a token, or one with a code behind it."""
        asked, held = self.encoder.words(search.text, "query"), self.encoder.words(text)
        (offsets,) = self.encoder.offsets([search.text], "query")
        searched = searched_tokens(search.text, offsets, search.conditions, search.terms)
        meant = search_tokens(search.text, offsets, search.conditions, searched)
        for condition, own in zip(search.conditions, meant, strict=True):
            asked += [f"{asked[place]} ({stated(condition)})" for place in own]
        (offsets,) = self.encoder.offsets([text])
        for mention in self.mentions(text):
            own_tokens = np.flatnonzero(mention_tokens(offsets, mention)).tolist()
            copies = [f"{held[place]} ({stated(mention)})" for place in own_tokens]
            held += copies * len(list(self.code.mention(mention)))
        return asked, held


def mention_tokens(offsets: Sequence[Span], mention: Quantity) -> NDArray[np.bool_]:
    """Which tokens of a document are of a mention's value, unit or concept.

    Args:
        offsets: half-open characters of n tokens.
        mention: with spans in the same text.

    Returns:
        shape (n,).
    """
    return token_owners(offsets, [mention.value_span, mention.unit_span, *mention.concept_spans]) >= 0


def searched_tokens(text: str, offsets: Sequence[Span], conditions: Sequence[Condition], terms: str = "") -> list[int]:
    """Which tokens of a query are of its search words.

    Args:
        text: of the query.
        offsets: half-open characters of its tokens, (0, 0) for markers.
        conditions: the query's, whose values and units are none.
        terms: its search words; "" where unknown, for all words.
    """
    spans = condition_spans(text, conditions)
    numbers: list[Span | None] = [span for found in spans for span in (found.value, found.unit)]
    said = _said(text, offsets, terms.split()) if terms.strip() else [True] * len(offsets)
    return [
        place
        for place, ((start, end), owner) in enumerate(zip(offsets, token_owners(offsets, numbers), strict=True))
        if end > start and owner < 0 and said[place]
    ]


def search_tokens(
    text: str, offsets: Sequence[Span], conditions: Sequence[Condition], searched: list[int]
) -> list[list[int]]:
    """Which tokens of a query say what each condition is about: its concept's, or else all search words.

    Args:
        text: of the query.
        offsets: half-open characters of its tokens.
        conditions: the query's.
        searched: its `searched_tokens`.

    Returns:
        for each condition one token at least; all tokens of its text where none is of a search word.
    """
    text_tokens = [place for place, (start, end) in enumerate(offsets) if end > start] or list(range(len(offsets)))
    named = [_said(text, offsets, condition.concept) for condition in conditions]
    return [[place for place in searched if own[place]] or searched or text_tokens for own in named]


def _said(text: str, offsets: Sequence[Span], words: Sequence[str]) -> list[bool]:
    """Whether each token is of one of some words where it stands by itself; Han characters may touch others."""
    if not words:
        return [False] * len(offsets)
    any_of = "|".join(re.escape(word) for word in sorted(words, key=len, reverse=True))
    found = re.finditer(rf"(?<!{_LETTER})(?:{any_of})(?!{_LETTER})", text, re.IGNORECASE)
    return [owner >= 0 for owner in token_owners(offsets, [match.span() for match in found])]


def _with_codes(
    vectors: NDArray[np.float32],
    value: NDArray[np.float32] | None = None,
    words: NDArray[np.float32] | None = None,
) -> NDArray[np.float32]:
    """Vectors with codes behind them, or zeros; shape (n, dimension + DIMENSION + WORD_SIGNS).

    Args:
        vectors: shape (n, dimension).
        value: shape (DIMENSION,), the same for all.
        words: shape (n, WORD_SIGNS).
    """
    codes = np.zeros((len(vectors), DIMENSION + WORD_SIGNS), np.float32)
    if value is not None:
        codes[:, :DIMENSION] = value
    if words is not None:
        codes[:, DIMENSION:] = words
    return np.concatenate([vectors, codes], axis=1, dtype=np.float32)


@dataclass(frozen=True)
class CodedInteraction(LateInteraction):
    """Late interaction whose queries have codes of their conditions; all else is `LateInteraction`.

    Attributes:
        coded: makes the queries' vectors.
        weights: as in `CodedEncoder.question`.
    """

    coded: CodedEncoder | None = None
    weights: Weights = _NONE

    def encoded(self, searches: Sequence[Search]) -> list[Search]:
        """The searches with their vectors, each of shape (query vectors, dimension)."""
        if self.coded is None:
            return super().encoded(searches)
        return [replace(one, vector=self.coded.question(one, self.weights)) for one in searches]

    def _meanings(self, search: Search, text: str) -> tuple[list[str], list[str]] | None:
        return None if self.coded is None else self.coded.meanings(search, text)


def open_coded(stage: Stage, options: CodedOptions, context: RankerContext) -> OpenedRanker:
    """Coded late interaction ready to answer.

    Raises:
        InputError: the model is missing, not whole or of another kind.
        MissingPackageError: sentence-transformers is not installed.
    """
    mentions = context.quantities()
    plain = open_encoder(options)
    passages = context.corpus["passage"]
    code = value_code(mentions.table, context.units())
    words = WordCodes.of(passages, context.language) if options.term_weight else None
    encoder = CodedEncoder(plain, code, mentions_by_text(mentions, passages), words)
    params = {**of_vectors(options), "quantities": mentions.digest, "words": words is not None}
    check_late_interaction(stage, options, params, encoder.dimension)
    built = build_coded_vectors(encoder, params, options, context)
    opened = open_late_interaction(built, encoder, stage, options, context)
    ranker: Any = opened.ranker
    weights = Weights(options.token_weight, options.code_weight, options.term_weight)
    coded = CodedInteraction(encoder, ranker.tokens, ranker.depth, ranker.probing, encoder, weights)
    return replace(opened, ranker=coded)


def build_coded_vectors(
    encoder: CodedEncoder, params: Mapping[str, Any], options: CodedOptions, context: RankerContext
) -> Stored:
    """The vectors of all distinct passages with codes on disk, made of the model's if they are not there yet.

    The model's are those of `ColBERT` with the same options, which are built first; vectors of bytes are made of those
    in single precision, so that numbers are rounded once.

    Args:
        encoder: of the model and the corpus.
        params: everything that can change the vectors, but for the corpus.
        options: how they are made and stored.
        context: the corpus, and the folder of indexes.

    Returns:
        the folder, with the seconds to build both.
    """
    of_model: CodedOptions = replace(options, dtype="float32") if options.dtype == "int8" else options

    @cache
    def plain() -> Stored:
        return build_token_vectors(encoder.encoder, of_model, context)

    @cache
    def tokens() -> StoredVectors:
        return open_built(plain().folder, DTYPES[of_model.dtype])

    def encode(first: int, texts: list[str]) -> Arrays:
        starts = tokens().starts[first : first + len(texts) + 1]
        vectors = tokens().rows(int(starts[0]), int(starts[-1]))
        counts, coded = encoder.documents(texts, np.diff(starts).astype(np.int64), vectors)
        return {LENGTHS: counts, **DTYPES[options.dtype].encode(coded)}

    return build_vectors("coded token vectors", encoder, encode, params, context, block=BLOCK, needs=plain)


def value_code(table: pl.DataFrame, units: Units) -> ValueCode:
    """The grids of a corpus' units.

    Args:
        table: the quantities of its documents, `quantity_schema`.
        units: those of the extraction.
    """
    amounts = amounts_of_units(table, units)
    return ValueCode.of(*stated_ends(table, amounts), amounts)


def amounts_of_units(table: pl.DataFrame, units: Units) -> dict[str, Amount]:
    """The amounts that the rates among some quantities' units are, by `Quantity.unit`; arguments of `value_code`."""
    found = {name: amount_of(name, units) for name in table["unit"].unique().sort()}
    return {name: amount for name, amount in found.items() if amount}


def stated_ends(table: pl.DataFrame, amounts: Mapping[str, Amount]) -> tuple[list[str], NDArray[np.float64]]:
    """The names of what quantities compare in and the values of their ends in it, both as long as there are names.

    Args:
        table: `quantity_schema`.
        amounts: of its units, `amounts_of_units`.
    """
    rows = table.select("base_unit", "family", "change", "unit").iter_rows()
    compared = [
        (name, row, factor)
        for row, (base_unit, family, change, unit) in enumerate(rows)
        for name, factor in compared_units(base_unit, family, change, amounts.get(unit))
    ]
    places = np.array([row for _, row, _ in compared], np.int64)
    factors = np.array([factor for *_, factor in compared])
    low, high, comparators = (table[name].to_numpy() for name in ("base_value", "base_high", "comparator"))
    both = ends(low[places] * factors, high[places] * factors, comparators[places])
    names = [name for name, *_ in compared]
    return [*names, *names], np.concatenate(both)
