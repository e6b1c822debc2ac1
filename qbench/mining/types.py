"""Descriptions, the protocol of their parsers, and the schemas of descriptions and pairs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, Protocol

import polars as pl

from qbench.quantities.types import Quantity, Span

Schema = dict[str, pl.DataType | type[pl.DataType]]

DESCRIPTIONS_KIND, PAIRS_KIND = "descriptions", "pairs"
"""Kinds of artefacts, as in `qbench.store.Manifest`."""
DESCRIPTIONS, PAIRS = "descriptions.parquet", "pairs.parquet"
"""Their tables. A folder of pairs holds the descriptions of the pairs too."""

Label = Literal["paraphrase", "confusing", "duplicate"]
"""Labels of pairs: the same value; another value; the same value and the same words, described by or around it."""


@dataclass(frozen=True, slots=True)
class Description:
    """The words that say which quantity a mention is (*Quantity Retrieval*, definition 1).

    Attributes:
        segments: half-open character spans in the sentence, in order, apart from each other and from the number. They
            may lie in the mention's unit, where that says what is measured: the "employees" of "500 employees", the
            "per share" of "$1.23 per share". MeasEval too has what is counted for a measured entity and no unit.
        factual: False where the mention states no fact ("a fine of up to $200,000 may be imposed"); it has no segments.
    """

    segments: tuple[Span, ...] = ()
    factual: bool = True

    def words(self, sentence: str) -> str:
        """The description as one text: its segments, joined by single spaces.

        >>> Description(((3, 7), (8, 15))).words("In 2021 revenue was 5 mn, 3% up")
        '2021 revenue'
        """
        return " ".join(" ".join(sentence[start:end].split()) for start, end in self.segments)


class DescriptionParser(Protocol):
    """Writes the description of each mention of a sentence. Deterministic, without state between calls."""

    name: str

    def key(self) -> dict[str, object]:
        """Everything that can change the descriptions, for keys."""
        ...

    def parse_many(self, sentences: Sequence[tuple[str, Sequence[Quantity]]]) -> list[list[Description]]:
        """The description of each mention of each sentence.

        Args:
            sentences: each with its mentions, whose `value_span` and `unit_span` index into it.

        Returns:
            for each sentence one description per mention, in the order given.
        """
        ...


def description_schema() -> Schema:
    """The quantity description corpus C_q: one row per factual mention with a description, in the order of the corpus.

    `description_id` is "DOC_ID#N", N the mention's position in its sentence; `doc_id` names the sentence, `source_id`
    its document. `segments` and the spans index into `sentence`; in an imported table without sentences they are empty
    and -1, and `sentence` is "". The other columns are those of `qbench.quantities.types.Quantity`.
    """
    return {
        "description_id": pl.String,
        "description": pl.String,
        "doc_id": pl.String,
        "source_id": pl.String,
        "sentence": pl.String,
        "segments": pl.List(pl.List(pl.Int32)),
        "value": pl.Float64,
        "high": pl.Float64,
        "comparator": pl.String,
        "change": pl.String,
        "unit": pl.String,
        "family": pl.String,
        "base_unit": pl.String,
        "base_value": pl.Float64,
        "base_high": pl.Float64,
        "digits": pl.Int16,
        "value_start": pl.Int32,
        "value_end": pl.Int32,
        "unit_start": pl.Int32,
        "unit_end": pl.Int32,
    }


def pair_schema() -> Schema:
    """Pairs (*Quantity Retrieval*, algorithm 1), ordered by query, then rank.

    `query_id` and `doc_id` are description ids: of the query and of one of its results. `label`
    is a `Label`; `rank` (from 1) and `score` are BM25's; `digits` the significant digits on which both values agree (0
    for confusing pairs); `shared` the number of different terms in both; `p_paper` the paper's estimate of P(F|D,Q),
    and `p_fact` ours (see `qbench.mining.probability`), both null for confusing pairs. `split` is that of the query:
    "train" or "test".
    """
    return {
        "query_id": pl.String,
        "doc_id": pl.String,
        "label": pl.String,
        "rank": pl.Int32,
        "score": pl.Float32,
        "digits": pl.Int16,
        "shared": pl.Int16,
        "p_paper": pl.Float64,
        "p_fact": pl.Float64,
        "split": pl.String,
    }
