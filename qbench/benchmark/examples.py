"""A query's documents for people to look at: what answers it, what does not, and where the values stand."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import polars as pl

from qbench.benchmark.benchmark import Benchmark
from qbench.benchmark.types import Query
from qbench.quantities.concept_match import concept_grade, stated_concepts
from qbench.quantities.conditions import MET, frame_verdicts
from qbench.quantities.types import Span


@dataclass(frozen=True, slots=True)
class Example:
    """A document or a sample of one query.

    Attributes:
        name: its id.
        text: as it is, not escaped.
        label: "grade 2", "grade 0", "negative sample (value)".
        spans: what to point at: values and units that meet the conditions, or the sample's value.
    """

    name: str
    text: str
    label: str
    spans: tuple[Span, ...] = ()


def examples(benchmark: Benchmark, query: Query, n: int) -> tuple[list[Example], list[Example]]:
    """At most n positives (highest grade first) and n negatives (judged ones before samples) of a query."""
    judged = benchmark.qrels.filter(pl.col("query_id") == query.query_id).sort(
        "grade", descending=True, maintain_order=True
    )
    texts = dict(
        benchmark.corpus.filter(pl.col("doc_id").is_in(judged["doc_id"].to_list())).select("doc_id", "text").iter_rows()
    )
    good, bad = (judged.filter(pl.col("grade") > 0), judged.filter(pl.col("grade") == 0))
    positives, negatives = (
        [
            Example(doc_id, texts.get(doc_id, ""), f"grade {grade}", _spans(benchmark, query, doc_id))
            for doc_id, grade in part.head(n).select("doc_id", "grade").iter_rows()
        ]
        for part in (good, bad)
    )
    samples = benchmark.samples.filter(pl.col("query_id") == query.query_id)
    positives += [_sample(row) for row in samples.filter(pl.col("label") == 1).iter_rows(named=True)]
    negatives += [_sample(row) for row in samples.filter(pl.col("label") == 0).iter_rows(named=True)]
    return positives[:n], negatives[:n]


def _sample(row: dict[str, Any]) -> Example:
    sign = "positive" if row["label"] == 1 else "negative"
    span = (row["value_start"], row["value_end"])
    return Example(row["sample_id"], row["text"], f"{sign} sample ({row['method']})", (span,))


def _spans(benchmark: Benchmark, query: Query, doc_id: str) -> tuple[Span, ...]:
    """Values and units of the document's mentions that meet one of the query's conditions."""
    if benchmark.quantities is None:
        return ()
    mentions = benchmark.quantities.filter(pl.col("doc_id") == doc_id)
    mentions = mentions.with_columns(stated=stated_concepts(mentions, benchmark.language, given=benchmark.given))
    spans: set[Span] = set()
    for condition in query.conditions:
        codes = frame_verdicts(mentions, condition)
        for row, code in zip(mentions.iter_rows(named=True), codes.tolist(), strict=True):
            stated = tuple(row["stated"].split())
            if code == MET and (not stated or concept_grade(condition.concept, stated, benchmark.language) > 0):
                spans.add((row["value_start"], row["value_end"]))
                spans.add((row["unit_start"], row["unit_end"]))
    return tuple(sorted(span for span in spans if span[0] >= 0))
