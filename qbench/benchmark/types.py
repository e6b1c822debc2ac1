"""What a query is, and the schemas of a benchmark's tables."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, get_args

from qbench.quantities.types import Condition

if TYPE_CHECKING:
    import polars as pl

Split = Literal["train", "dev", "test"]
Kind = Literal["seen", "unseen", "expansion", "wo_surface", "given"]
"""*Numbers Matter* C.2; "given" marks the queries of imported benchmarks that do not say."""

SPLITS: tuple[Split, ...] = get_args(Split)
KINDS: tuple[Kind, ...] = get_args(Kind)


UNDECIDED = -1
"""The grade of a document that cannot be decided: neither relevant nor a negative. Measures pass over it."""


FACTS = "facts"
"""Of a benchmark's params, what "judgments" says where a table of facts decides (`qbench ground`)."""


@dataclass(frozen=True, slots=True)
class Query:
    """One query: its text, and its condition as data.

    Attributes:
        query_id: unique in the benchmark.
        text: what a user would type.
        terms: the search words T_x alone, without number, unit and comparator.
        conditions: what the quantities must satisfy, all of them; () where unknown (an imported query).
        split: train, dev or test.
        kind: how its concept relates to training (seen, unseen, expansion, wo_surface, given).
        template: the template that made it; "" where none did.
        seed: of the generator that chose its value and surface forms; 0 where none did.
        topic: the name of the concept group that it asks about. Queries of one topic are answered well or badly
            together, so that tests and intervals go by topic. "" where nobody said: then it is a topic of its own.
    """

    query_id: str
    text: str
    terms: str = ""
    conditions: tuple[Condition, ...] = ()
    split: Split = "test"
    kind: Kind = "given"
    template: str = ""
    seed: int = 0
    topic: str = ""

    def to_row(self) -> dict[str, Any]:
        """One row of the table of queries."""
        return {
            "query_id": self.query_id,
            "text": self.text,
            "terms": self.terms,
            "conditions": [c.to_dict() for c in self.conditions],
            "split": self.split,
            "kind": self.kind,
            "template": self.template,
            "seed": self.seed,
            "topic": self.topic,
        }

    @classmethod
    def from_row(cls, row: dict[str, Any]) -> Query:
        """The inverse of `to_row`."""
        return cls(**{**row, "conditions": tuple(Condition.from_dict(c) for c in row["conditions"] or ())})


Schema = dict[str, "pl.DataType | type[pl.DataType]"]


def corpus_schema() -> Schema:
    """One row per retrieval unit (a sentence, or an imported document)."""
    import polars as pl

    return {"doc_id": pl.String, "text": pl.String, "title": pl.String, "source_id": pl.String}


def query_schema() -> Schema:
    """One row per query; `conditions` holds `Condition.to_dict` structs."""
    import polars as pl

    condition = pl.Struct(
        {
            "comparator": pl.String,
            "value": pl.Float64,
            "high": pl.Float64,
            "unit": pl.String,
            "base_unit": pl.String,
            "base_value": pl.Float64,
            "base_high": pl.Float64,
            "concept": pl.String,
            "value_text": pl.String,
            "unit_text": pl.String,
            "change": pl.String,
        }
    )
    return {
        "query_id": pl.String,
        "text": pl.String,
        "terms": pl.String,
        "conditions": pl.List(condition),
        "split": pl.String,
        "kind": pl.String,
        "template": pl.String,
        "seed": pl.Int64,
        "topic": pl.String,
    }


def qrels_schema() -> Schema:
    """Graded judgments: 0 judged not relevant, 1 relevant (a more specific concept), 2 relevant (the very concept).

    `UNDECIDED` is neither: nobody could tell by the quantities, and measures leave the document out.

    A relaxed benchmark has twice these grades, and 1 for what is near.
    """
    import polars as pl

    return {"query_id": pl.String, "doc_id": pl.String, "grade": pl.Int16}


def known_schema() -> Schema:
    """What a table of facts says of the documents (`qbench ground`): the truth that judgments follow from.

    One row per document (`source_id` of the corpus) and fact. `name` is the attribute, `value`, `unit`, `base_unit` and
    `base_value` the table's cell; `status` says what the text makes of it (`qbench.index.facts.STATUSES`). What is no
    quantity (kind, maker) stands in `text`, with the value 0; `text` is "" for quantities.
    """
    import polars as pl

    return {
        "source_id": pl.String,
        "name": pl.String,
        "value": pl.Float64,
        "unit": pl.String,
        "base_unit": pl.String,
        "base_value": pl.Float64,
        "status": pl.String,
        "text": pl.String,
    }


def sample_schema() -> Schema:
    """Training samples: sentences of the corpus, or made from one by permutation.

    `method` is original, unit or value; `label` 1 for positive, 0 for negative; `value`, `unit` are those of the
    sample's quantity after permutation; `value_start`, `value_end` its span in `text`.
    """
    import polars as pl

    return {
        "sample_id": pl.String,
        "query_id": pl.String,
        "doc_id": pl.String,
        "text": pl.String,
        "label": pl.Int8,
        "method": pl.String,
        "value": pl.Float64,
        "unit": pl.String,
        "value_start": pl.Int32,
        "value_end": pl.Int32,
    }


def triple_schema() -> Schema:
    """(query, positive sample, negative sample)."""
    import polars as pl

    return {"query_id": pl.String, "positive_id": pl.String, "negative_id": pl.String}


def run_schema() -> Schema:
    """A system's ranking: `rank` counts from 1 within a query; rows ordered by query, then rank."""
    import polars as pl

    return {"query_id": pl.String, "doc_id": pl.String, "rank": pl.Int32, "score": pl.Float64}
