"""A benchmark in memory: corpus, queries, judgments, quantities and training samples."""

from __future__ import annotations

import hashlib
import io
from collections.abc import Callable, Collection
from dataclasses import dataclass, field
from typing import Any, Generic, Protocol, TypeVar, get_args, overload, runtime_checkable

import polars as pl

from qbench.benchmark.audits import Audit
from qbench.benchmark.judgments import Judgments
from qbench.benchmark.parquet import SCHEMAS, empty
from qbench.benchmark.summary import condition_text, sample_queries
from qbench.benchmark.types import FACTS, Query, Split, query_schema
from qbench.pages import html_table
from qbench.quantities.languages import ENGLISH
from qbench.store import digest

T = TypeVar("T")


@runtime_checkable
class Judged(Protocol):
    """What loads judgments (`qrels_schema`), all or those of some queries; a benchmark's `qrels` may be given so."""

    def __call__(self) -> pl.DataFrame:
        """All of them."""

    def of(self, query_ids: Collection[str]) -> pl.DataFrame:
        """Those of some queries, in the order of the table."""


SHOWN = 5
"""Queries that a notebook shows."""


class _Table(Generic[T]):
    """A field that holds a table, or a function that loads it when it is first asked for.

    Training samples may be many times larger than what retrieval needs, and most readers never look at them. A table
    without a fallback has to be given.
    """

    def __init__(self, table: str, fallback: Callable[[str], T] | None = None) -> None:
        self.slot = f"_{table}"
        self.table = table
        self.fallback = fallback

    @overload
    def __get__(self, owner: None, kind: type) -> None: ...

    @overload
    def __get__(self, owner: object, kind: type) -> T: ...

    def __get__(self, owner: object | None, kind: type) -> T | None:
        if owner is None:
            if self.fallback is None:
                raise AttributeError(self.table)  # dataclasses: no default
            return None  # what dataclasses take for the default
        value = owner.__dict__[self.slot]
        if callable(value):
            value = owner.__dict__[self.slot] = value()
        table: T = value
        return table

    def __set__(self, owner: object, value: T | Callable[[], T] | None) -> None:
        owner.__dict__[self.slot] = self.fallback(self.table) if value is None and self.fallback else value


def _none(table: str) -> pl.DataFrame | None:
    return None


@dataclass(frozen=True, eq=False, repr=False)
class Benchmark:
    """A corpus, queries with their conditions as data, graded judgments, and training samples.

    Attributes:
        name: for people: the name of its folder.
        corpus: `corpus_schema`, one row per retrieval unit.
        queries: all splits; `queries_of` picks one.
        qrels: `qrels_schema`. They may be given as `Judgments`; `judgments` then reads them without making the table.
        quantities: `quantity_schema`, the corpus' quantities; None where nobody extracted them yet.
        samples, triples: `sample_schema`, `triple_schema`; empty where there is nothing to train on.
        facts: `known_schema`, what a table says of the documents; None where no table decides.
        params: what made it; "quantities" says whether they are "gold" (given with the data), "extracted" (by us, as
            "extractor" says) or None; "judgments" is "manual" where people judged, "facts" where a table of facts
            decides; "counts" what was left out and why.
        digest: names everything that can change its content; "" for a benchmark made by hand, whose content is
            digested when it is written.
        audit: what people who read its labels found (`qbench.benchmark.audits`); None if nobody did. It belongs to the
            digest that it names: a benchmark that is made from an audited one is not audited.

    Judgments, quantities, facts, samples and triples may be given as functions that load them.
    """

    name: str
    corpus: pl.DataFrame
    queries: list[Query]
    qrels: _Table[pl.DataFrame] = _Table("qrels")
    quantities: _Table[pl.DataFrame | None] = _Table("quantities", _none)
    samples: _Table[pl.DataFrame] = _Table("samples", empty)
    triples: _Table[pl.DataFrame] = _Table("triples", empty)
    facts: _Table[pl.DataFrame | None] = _Table("facts", _none)
    params: dict[str, Any] = field(default_factory=dict)
    digest: str = ""
    audit: Audit | None = None

    @property
    def manual(self) -> bool:
        """Whether people judged it; then what has no judgment is unknown, and not known to be irrelevant."""
        return bool(self.params.get("judgments") == "manual")

    @property
    def factual(self) -> bool:
        """Whether its judgments follow from a table of facts about the documents, stated there or not."""
        return bool(self.params.get("judgments") == FACTS)

    @property
    def given(self) -> bool:
        """Whether its quantities came with the corpus, and nobody had to read them in the texts."""
        return bool(self.params.get("quantities") == "gold")

    @property
    def language(self) -> str:
        """Code of the texts' language: that of the params, else of the extractor, else English."""
        extractor = self.params.get("extractor") or {}
        return str(self.params.get("language") or extractor.get("language") or ENGLISH)

    def queries_of(self, split: Split) -> list[Query]:
        """The queries of a split, in order."""
        return [query for query in self.queries if query.split == split]

    def judged(self, split: Split) -> pl.DataFrame:
        """The judgments of a split's queries (`qrels_schema`).

        Of a benchmark on disk whose `qrels` nobody has asked for yet, these alone are read, at each call.
        """
        names, held = [query.query_id for query in self.queries_of(split)], self.__dict__["_qrels"]
        if isinstance(held, Judged):
            return held.of(names)
        return self.qrels.filter(pl.col("query_id").is_in(names))

    @property
    def numbers(self) -> Judgments | None:
        """Its judgments as numbers; None where they are a table, as they are as soon as `qrels` is asked for."""
        held = self.__dict__["_qrels"]
        return held if isinstance(held, Judgments) else None

    @property
    def judgments(self) -> pl.LazyFrame:
        """`qrels` for what reads them once: numbers stay numbers, and become ids block by block."""
        return self.qrels.lazy() if self.numbers is None else self.numbers.scan()

    def query_table(self) -> pl.DataFrame:
        """The queries as a table (`query_schema`)."""
        return pl.DataFrame([query.to_row() for query in self.queries], schema=query_schema())

    def table(self, name: str) -> pl.DataFrame | None:
        """A table by name, a key of `SCHEMAS`; None where the benchmark has none of it."""
        table: pl.DataFrame | None = self.query_table() if name == "queries" else getattr(self, name)
        return table

    def read(self, name: str) -> pl.DataFrame | None:
        """One of qrels, quantities, facts, samples and triples; what has to be loaded for it is not kept."""
        held = self.__dict__[f"_{name}"]
        table: pl.DataFrame | None = held() if callable(held) else held
        return table

    def has(self, name: str) -> bool:
        """Whether there is one of qrels, quantities, facts, samples and triples, or what loads it; loads nothing."""
        return self.__dict__[f"_{name}"] is not None

    def holds(self, name: str) -> bool:
        """Whether a table by name, a key of `SCHEMAS`, has rows."""
        if name == "qrels":
            return self.judgments.head(1).collect().height > 0
        frame = self.table(name)
        return frame is not None and frame.height > 0

    def _repr_html_(self) -> str:
        answers = dict(self.qrels.filter(pl.col("grade") > 0).group_by("query_id").len().iter_rows())
        rows = [
            (query.text, condition_text(query), query.split, f"{answers.get(query.query_id, 0):,}")
            for query in sample_queries(self.queries, SHOWN)
        ]
        sizes = [f"{len(self.queries_of(split)):,} {split}" for split in get_args(Split) if self.queries_of(split)]
        caption = (
            f"{self.name}: {self.corpus.height:,} documents, {len(self.queries):,} queries ({', '.join(sizes)}), "
            f"{self.qrels.height:,} judgments; some of the queries"
        )
        return html_table(("query", "condition", "split", "relevant"), rows, caption=caption, numbers=(3,))

    def __repr__(self) -> str:
        return f"Benchmark({self.name!r}, {self.corpus.height} documents, {len(self.queries)} queries)"


def benchmark_key(benchmark: Benchmark) -> str:
    """What names a benchmark in keys: the digest of the step that made it, else that of its tables."""
    return benchmark.digest or content_digest(benchmark)


def content_digest(benchmark: Benchmark) -> str:
    """The digest of a benchmark's tables, for one that no recorded step has made."""
    sums: dict[str, Any] = {}
    for table in SCHEMAS:
        frame = benchmark.table(table)
        if frame is not None:
            stream = io.BytesIO()
            frame.rechunk().write_parquet(stream, compression="uncompressed", statistics=False)
            sums[table] = hashlib.sha256(stream.getbuffer()).hexdigest()
    return digest({"tables": sums})


def unanswered(benchmark: Benchmark) -> list[str]:
    """Ids of the queries without a relevant document; a training query may have a positive sample instead."""
    relevant = benchmark.judgments.filter(pl.col("grade") > 0).select(pl.col("query_id").unique())
    answered = set(relevant.collect(engine="streaming")["query_id"])
    trained = set(benchmark.samples.filter(pl.col("label") == 1)["query_id"].unique())
    return [
        query.query_id
        for query in benchmark.queries
        if query.query_id not in answered and not (query.split == "train" and query.query_id in trained)
    ]
