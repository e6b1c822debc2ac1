"""An index as tables that any database can hold: documents, terms, postings, and mentions with typed columns."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from qbench.keys import revision
from qbench.quantities.concept_match import folded, stated_concept
from qbench.quantities.languages import ENGLISH
from qbench.quantities.units import Units
from qbench.retrieval.analysis import token_ids
from qbench.retrieval.quantity_index import amounts_of_rates
from qbench.scoring import bm25


@dataclass(frozen=True)
class Weights:
    """The parameters of BM25, as `qbench.retrieval.ranker_options.LexicalOptions` has them."""

    k1: float = 1.5
    b: float = 0.75
    epsilon: float = 0.25


@dataclass(frozen=True)
class ServedTables:
    """What an engine stores.

    Attributes:
        documents: doc (position, in falling order of doc_id), doc_id, passage, tokens (their number).
        terms: term (number), token, documents (that hold it), idf (of `qbench.scoring.bm25.idf`).
        postings: term, doc, count (of the term in it), tokens (of the document, so that a score needs no join); sorted
            by term and doc.
        mentions: doc, the stated value, value_high, unit, comparator and change; base_unit, and in it the interval of
            possible values, low to high, infinite where a bounded mention ("more than 5") is; low_open and high_open
            where an end is itself impossible; concept, the folded words of what the number is about.
        settings: one row: documents, mean_tokens, language, and the parameters of BM25.
    """

    documents: pl.DataFrame
    terms: pl.DataFrame
    postings: pl.DataFrame
    mentions: pl.DataFrame
    settings: pl.DataFrame

    def frames(self) -> dict[str, pl.DataFrame]:
        """The tables by name."""
        names = ("documents", "terms", "postings", "mentions", "settings")
        return {name: getattr(self, name) for name in names}


_ABOUT = ["concept", "subject", "unit", "family"]
MENTIONED = ("doc_id", "value", "high", "comparator", "change", "base_unit", "base_value", "base_high", *_ABOUT)
"""The columns of `quantity_schema` that tables are made of."""


def served_tables(
    corpus: pl.DataFrame,
    quantities: pl.DataFrame,
    units: Units,
    *,
    weights: Weights = Weights(),
    language: str = ENGLISH,
) -> ServedTables:
    """The tables of a corpus.

    Args:
        corpus: columns doc_id and passage, by falling doc_id (`qbench.retrieval.passages.passages`).
        quantities: `quantity_schema`, or the columns `MENTIONED`; mentions of documents that are not in the corpus are
            left out.
        units: those of the extraction.
        weights: the parameters of BM25.
        language: code of the texts' language.
    """
    mentions = _mentions(quantities.select(MENTIONED), corpus["doc_id"], units, language)
    del quantities  # the table of mentions is all that is kept of them
    vocabulary, ids, lengths = token_ids(corpus["passage"], language)
    starts, docs, counts = bm25.counted(ids, lengths, len(vocabulary))
    del ids  # the postings say the same
    frequencies = np.diff(starts)
    terms = _terms(vocabulary, frequencies, corpus.height, weights)
    numbers = pl.Series(range(corpus.height), dtype=pl.Int32)
    documents = corpus.select("doc_id", "passage").with_columns(doc=numbers, tokens=pl.Series(lengths, dtype=pl.Int32))
    postings = pl.DataFrame(
        {
            "term": np.repeat(np.arange(len(vocabulary), dtype=np.int32), frequencies),
            "doc": docs,
            "count": counts,
            "tokens": lengths[docs].astype(np.int32),
        }
    )
    return ServedTables(
        documents.select("doc", "doc_id", "passage", "tokens"),
        terms,
        postings,
        mentions,
        pl.DataFrame([_settings(lengths, weights, language)]),
    )


def terms_and_settings(
    passages: pl.Series, *, weights: Weights = Weights(), language: str = ENGLISH
) -> tuple[pl.DataFrame, dict[str, Any]]:
    """The terms of a corpus and the row of its settings, as `served_tables` has them: what a query needs.

    Args:
        passages: by falling doc_id.
        weights: the parameters of BM25.
        language: code of the texts' language.
    """
    vocabulary, ids, lengths = token_ids(passages, language)
    starts, _, _ = bm25.counted(ids, lengths, len(vocabulary))
    terms = _terms(vocabulary, np.diff(starts), len(passages), weights)
    return terms, _settings(lengths, weights, language)


def _terms(vocabulary: list[str], frequencies: NDArray[np.int64], size: int, weights: Weights) -> pl.DataFrame:
    return pl.DataFrame(
        {
            "term": pl.Series(range(len(vocabulary)), dtype=pl.Int32),
            "token": pl.Series(vocabulary, dtype=pl.String),
            "documents": pl.Series(frequencies, dtype=pl.Int32),
            "idf": bm25.idf(frequencies, size, weights.epsilon),
        }
    )


def _settings(lengths: NDArray[np.int64], weights: Weights, language: str) -> dict[str, Any]:
    return {
        "version": revision("served tables"),
        "documents": lengths.size,
        "mean_tokens": bm25.mean_length(lengths),
        "language": language,
        **asdict(weights),
    }


def _mentions(quantities: pl.DataFrame, doc_ids: pl.Series, units: Units, language: str) -> pl.DataFrame:
    """The mentions, and the amounts that rates of them are (`qbench.retrieval.quantity_index`), by document."""
    quantities = pl.concat([quantities, amounts_of_rates(quantities, units)])
    positions = pl.DataFrame({"doc_id": doc_ids, "doc": pl.int_range(len(doc_ids), dtype=pl.Int32, eager=True)})
    # The ids alone are joined: a join of the whole table is a copy of it.
    doc = quantities.select("doc_id").join(positions, on="doc_id", how="left", maintain_order="left")["doc"]
    bounded = pl.col("comparator")
    found = (
        quantities.with_columns(doc)
        .filter(pl.col("doc").is_not_null())
        .select(
            "doc",
            "value",
            "comparator",
            "change",
            "base_unit",
            *_ABOUT,
            value_high="high",
            low=pl.when(bounded.is_in(["<", "<="])).then(-float("inf")).otherwise("base_value"),
            high=pl.when(bounded.is_in([">", ">="])).then(float("inf")).otherwise("base_high"),
            low_open=bounded == ">",
            high_open=bounded == "<",
        )
    )
    distinct = found.select(_ABOUT).unique()
    lexemes = [
        sorted(folded((*stated_concept(tuple(concept.split()), unit, family, language), *subject.split()), language))
        for concept, subject, unit, family in distinct.select("concept", "subject", "unit", "family").iter_rows()
    ]
    about = distinct.with_columns(lexemes=pl.Series(lexemes, dtype=pl.List(pl.String)))
    words = found.select(_ABOUT).join(about, on=_ABOUT, how="left", maintain_order="left")["lexemes"]
    return (
        found.drop("subject", "family")
        .with_columns(concept=words)
        .sort("doc", "base_unit", "low", "high", "unit", maintain_order=True)
    )
