"""What a leaderboard's page can show of queries and documents, within a size that opens quickly.

Queries are known by text, condition and buckets. Documents are there for as many queries as fit: every other one is
among those on which systems differ most, and the others are a sample, so that what a reader looks up is neither all
spectacular nor all dull.
"""

from __future__ import annotations

import json
import zlib
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from qbench.benchmark.summary import condition_text, sample_queries
from qbench.benchmark.types import Query
from qbench.evaluation.buckets import DIMENSIONS
from qbench.evaluation.significance import topic_numbers
from qbench.leaderboard.documents import DIMENSION_TITLES, clipped
from qbench.leaderboard.evidence import HEAD, Collection, Evidence
from qbench.leaderboard.standings import Standings
from qbench.quantities.codes import comparator_codes
from qbench.quantities.conditions import MET, verdicts
from qbench.quantities.types import Condition
from qbench.store import digest

BUDGET = 3_900_000
"""Bytes that the compressed documents may have; in the page they are a third larger."""

SHORT_HEAD = 5
"""Documents of each system that are shown of a query where the whole heads of all queries do not fit."""

PROBE = 200
"""Queries whose size tells how many fit."""

TEXT, QUERY, NAME = 600, 500, 120
"""Characters of a document, a query and an id that a page shows."""

SAMPLES = 5
"""Queries at the top of the page."""

MISSED = 5
"""Maximum number of relevant documents per query shown although no system retrieved them."""

_JOINED = 3
"""Maximum number of characters between a number and its unit in one highlight."""


def query_block(leaderboard: Standings, ids: Sequence[str]) -> tuple[bytes, dict[str, Any]]:
    """Ids, texts, topics, conditions and buckets of some queries as JSON, and whether their texts are known.

    Args:
        leaderboard: the leaderboard.
        ids: query ids, in the order of the scores.
    """
    evidence = leaderboard.evidence
    by_id = {query.query_id: query for query in (evidence.queries if evidence else ())}
    queries = [by_id.get(query_id) for query_id in ids]
    block = {
        "ids": [clipped(query_id, NAME) for query_id in ids],
        "texts": ["" if query is None else clipped(query.text, QUERY) for query in queries],
        "conditions": ["" if query is None else clipped(condition_text(query), QUERY) for query in queries],
        "topics": _topics(leaderboard, ids),
        "buckets": _query_buckets(leaderboard, ids),
    }
    return as_json(block), {"texts": any(query is not None for query in queries)}


def samples(leaderboard: Standings) -> list[dict[str, Any]]:
    """Some queries with their conditions and numbers of relevant documents; none where their texts are not known."""
    evidence = leaderboard.evidence
    if evidence is None:
        return []
    relevant = [c.qrels.filter(pl.col("grade") > 0)["query_id"] for c in evidence.collections[:1]]
    return [
        {
            "text": clipped(query.text, QUERY),
            "condition": clipped(condition_text(query), QUERY),
            "relevant": int((relevant[0] == query.query_id).sum()) if relevant else None,
        }
        for query in sample_queries(evidence.queries, SAMPLES)
    ]


def _topics(leaderboard: Standings, ids: Sequence[str]) -> list[int]:
    """Numbers of the queries' topics; by query each has its own."""
    topic_of = dict(leaderboard.scores.select("query_id", "topic").unique().iter_rows())
    if leaderboard.about["tests"]["by"] == "query":
        return list(range(len(ids)))
    return [int(number) for number in topic_numbers([topic_of[query_id] for query_id in ids], ids)]


def _query_buckets(leaderboard: Standings, ids: Sequence[str]) -> list[dict[str, Any]]:
    frame = leaderboard.evidence.buckets if leaderboard.evidence else None
    if frame is None:
        return []
    dimensions = []
    for dimension in DIMENSIONS:
        names = leaderboard.buckets.filter(dimension=dimension)["bucket"].unique(maintain_order=True).to_list()
        if len(names) < 2:
            continue
        position = {name: i for i, name in enumerate(names)}
        bucket_of = dict(frame.filter(dimension=dimension).select("query_id", "bucket").iter_rows())
        dimensions.append(
            {
                "dimension": dimension,
                "title": DIMENSION_TITLES[dimension],
                "names": [clipped(name, NAME) for name in names],
                "of": [position.get(bucket_of.get(query_id), -1) for query_id in ids],
            }
        )
    return dimensions


def document_block(
    leaderboard: Standings, ids: Sequence[str], primary: NDArray[np.float64], budget: int
) -> tuple[bytes | None, dict[str, Any]]:
    """Documents retrieved for as many queries as fit, as JSON, with a summary of what is included.

    Args:
        leaderboard: the leaderboard; without evidence the block is None.
        ids: query ids, in the order of the scores.
        primary: shape (systems, queries), their scores on the primary measure.
        budget: size limit of the compressed block, in bytes.
    """
    if leaderboard.evidence is None or not leaderboard.evidence.collections:
        return None, {"documents": None}
    rows = [row.entry.label for row in leaderboard.rows if row.cells]
    block = _fitting(leaderboard.evidence, rows, ids, _priority(ids, primary), budget)
    facts = {
        "queries": len(block.shown),
        "top": block.heads.top,
        "text": TEXT,
        "cut": sum(1 for doc in block.docs if doc[3]),
        "texts": any(collection.corpus is not None for collection in leaderboard.evidence.collections),
        "quantities": block.heads.has_quantities,
        "missed": MISSED,
    }
    return block.content(), {"documents": facts}


def _fitting(evidence: Evidence, rows: Sequence[str], ids: Sequence[str], order: Sequence[int], budget: int) -> _Block:
    """Documents of as many queries as fit into the budget, most important queries first."""
    queries = {query.query_id: query for query in evidence.queries}

    def make(top: int, count: int) -> tuple[_Block, int]:
        chosen = sorted(order[:count])
        block = _Block(_Heads(evidence.collections, rows, top, {ids[i] for i in chosen}))
        for i in chosen:
            block.add(i, ids[i], queries.get(ids[i]))
        return block, len(zlib.compress(block.content(), 6))

    def estimate(top: int) -> int:
        # Extrapolate from a few queries; more queries share documents, so that each needs less space.
        return len(ids) if len(ids) <= 2 * PROBE else int(1.2 * budget * PROBE / make(top, PROBE)[1])

    top, count = HEAD, estimate(HEAD)
    if count < len(ids):
        top, count = SHORT_HEAD, estimate(SHORT_HEAD)
    count = min(count, len(ids))
    block, size = make(top, count)
    while count > 1 and size > budget:
        count = max(1, min(count - 1, int(count * 0.97 * budget / size)))
        block, size = make(top, count)
    return block


def _priority(ids: Sequence[str], primary: NDArray[np.float64]) -> list[int]:
    """All queries: those on which systems differ most alternate with those of a fixed shuffle."""
    spread = primary.max(axis=0) - primary.min(axis=0)
    most = iter(np.argsort(-spread, kind="stable").tolist())
    mixed = iter(sorted(range(len(ids)), key=lambda i: digest(ids[i])))
    order: dict[int, None] = {}
    for differing, shuffled in zip(most, mixed, strict=True):
        order |= {differing: None, shuffled: None}
    return list(order)


class _Heads:
    """Top documents of all runs with their judgments and texts, by query.

    Args:
        collections: the searched collections.
        rows: labels of the rows with a run, in the order of the table.
        top: number of documents per query and run.
        ids: ids of the queries to load.
    """

    def __init__(self, collections: Sequence[Collection], rows: Sequence[str], top: int, ids: set[str]) -> None:
        self.rows, self.top = len(rows), top
        position = {label: i for i, label in enumerate(rows)}
        wanted = pl.DataFrame({"query_id": sorted(ids)}, schema={"query_id": pl.String})
        self.lists: dict[str, dict[int, list[tuple[int, str]]]] = defaultdict(lambda: defaultdict(list))
        self.grades: dict[str, dict[tuple[int, str], int]] = defaultdict(dict)
        self.texts: list[dict[str, tuple[str, str]]] = []
        self.quantities: list[_Quantities | None] = []
        for number, collection in enumerate(collections):
            runs = collection.runs.filter(pl.col("rank") <= top).join(wanted, on="query_id", how="semi")
            for label, query_id, doc_id in (
                runs.sort("query_id", "label", "rank").select("label", "query_id", "doc_id").iter_rows()
            ):
                self.lists[query_id][position[label]].append((number, doc_id))
            qrels = collection.qrels.join(wanted, on="query_id", how="semi")
            for query_id, doc_id, grade in qrels.select("query_id", "doc_id", "grade").iter_rows():
                self.grades[query_id][number, doc_id] = grade
            docs = pl.concat([runs["doc_id"], qrels.filter(pl.col("grade") > 0)["doc_id"]]).unique().sort()
            self.texts.append(_texts(collection.corpus, docs))
            self.quantities.append(_Quantities.of(collection, docs))

    @property
    def has_quantities(self) -> bool:
        """Whether any quantity can be highlighted."""
        return any(quantities is not None for quantities in self.quantities)


def _texts(corpus: pl.DataFrame | None, docs: pl.Series) -> dict[str, tuple[str, str]]:
    if corpus is None:
        return {}
    documents = corpus.join(docs.to_frame("doc_id"), on="doc_id", how="semi").select("doc_id", "text", "title")
    return {doc_id: (text, title) for doc_id, text, title in documents.iter_rows()}


@dataclass
class _Quantities:
    """Quantities of some documents; `rows` gives the range of rows of each document."""

    rows: dict[str, range]
    low: NDArray[np.float64]
    high: NDArray[np.float64]
    comparator: NDArray[np.int8]
    base_unit: NDArray[np.object_]
    spans: list[tuple[int, int]]

    @classmethod
    def of(cls, collection: Collection, docs: pl.Series) -> _Quantities | None:
        frame = collection.quantities()
        if frame is None:
            return None
        rows = frame.join(docs.to_frame("doc_id"), on="doc_id", how="semi").sort("doc_id", "value_start", "value_end")
        row_ranges: dict[str, range] = {}
        for i, doc_id in enumerate(rows["doc_id"]):
            row_ranges[doc_id] = range(row_ranges[doc_id].start if doc_id in row_ranges else i, i + 1)
        spans = rows.select("value_start", "value_end", "unit_start", "unit_end").iter_rows()
        return cls(
            row_ranges,
            rows["base_value"].to_numpy(),
            rows["base_high"].to_numpy(),
            comparator_codes(rows["comparator"]),
            rows["base_unit"].to_numpy().astype(object),
            [_hull(*span) for span in spans],
        )

    def met(self, rows: NDArray[np.int64], conditions: Sequence[Condition]) -> NDArray[np.bool_]:
        """Whether each quantity meets at least one condition by value and unit.

        Args:
            rows: shape (n,), row numbers of the quantities.
            conditions: conditions of the query.

        Returns:
            shape (n,).
        """
        met = np.zeros(rows.size, dtype=bool)
        for condition in conditions:
            codes = verdicts(self.low[rows], self.high[rows], self.comparator[rows], condition)
            met |= (codes == MET) & (self.base_unit[rows] == condition.base_unit)
        return met


def _hull(start: int, end: int, unit_start: int, unit_end: int) -> tuple[int, int]:
    """Span of a number and its unit if they are adjacent, else of the number alone."""
    if unit_start < 0 or unit_start - end > _JOINED or start - unit_end > _JOINED:
        return start, end
    return min(start, unit_start), max(end, unit_end)


@dataclass
class _Block:
    """The documents of some queries, each document once.

    Attributes:
        docs: id, title, text, how many characters of it are left out, and start, end, start, end, ... of its
            quantities in UTF-16 units, as JavaScript counts.
        shown: for each query its number, its documents (numbers in `docs`), their grades (None where not judged), for
            each row the indices of its retrieved documents in this list, for each document the indices of its spans
            that meet the query's conditions, and the number of relevant documents.
    """

    heads: _Heads
    docs: list[tuple[str, str, str | None, int, list[int]]] = field(default_factory=list)
    shown: list[tuple[Any, ...]] = field(default_factory=list)
    _index: dict[tuple[int, str], int] = field(default_factory=dict)
    _spans: list[dict[int, int]] = field(default_factory=list)

    def add(self, number: int, query_id: str, query: Query | None) -> None:
        """Add the documents retrieved for a query."""
        heads = self.heads
        lists, grades = heads.lists.get(query_id, {}), heads.grades.get(query_id, {})
        local: dict[tuple[int, str], int] = {}
        positions = [[local.setdefault(key, len(local)) for key in lists.get(row, ())] for row in range(heads.rows)]
        relevant = [key for key, grade in grades.items() if grade > 0]
        missed = sorted((key for key in relevant if key not in local), key=lambda key: (-grades[key], key))
        for key in missed[:MISSED]:
            local[key] = len(local)
        docs = [self._document(key) for key in local]
        conditions = () if query is None else query.conditions
        self.shown.append(
            (
                number,
                docs,
                [grades.get(key) for key in local],
                positions,
                self._met(list(local), conditions),
                len(relevant),
            )
        )

    def content(self) -> bytes:
        """The block as JSON."""
        return as_json({"docs": self.docs, "shown": self.shown})

    def _document(self, key: tuple[int, str]) -> int:
        if key in self._index:
            return self._index[key]
        number, doc_id = key
        document = self.heads.texts[number].get(doc_id)
        quantities = self.heads.quantities[number]
        text, title = (None, "") if document is None else document
        spans: list[int] = []
        span_of: dict[int, int] = {}
        if text is not None and quantities is not None:
            spans, span_of = _visible_spans([quantities.spans[i] for i in quantities.rows.get(doc_id, ())], text[:TEXT])
        self._spans.append(span_of)
        cut = max(0, len(text or "") - TEXT)
        head = None if text is None else text[:TEXT]
        self.docs.append((clipped(doc_id, NAME), clipped(title, NAME), head, cut, spans))
        self._index[key] = len(self.docs) - 1
        return self._index[key]

    def _met(self, keys: Sequence[tuple[int, str]], conditions: Sequence[Condition]) -> list[list[int]]:
        """For each document the indices of its spans that meet a condition."""
        satisfying: list[list[int]] = [[] for _ in keys]
        for number, quantities in enumerate(self.heads.quantities):
            if quantities is None or not conditions:
                continue
            rows = [
                (k, i, row)
                for k, key in enumerate(keys)
                if key[0] == number
                for i, row in enumerate(quantities.rows.get(key[1], ()))
            ]
            met = quantities.met(np.array([row for _, _, row in rows], dtype=np.int64), conditions)
            for (k, i, _), yes in zip(rows, met, strict=True):
                span = self._spans[self._index[keys[k]]].get(i) if yes else None
                if span is not None and span not in satisfying[k]:
                    satisfying[k].append(span)
        return satisfying


def _visible_spans(spans: Sequence[tuple[int, int]], text: str) -> tuple[list[int], dict[int, int]]:
    """Non-overlapping spans within the text, in UTF-16 units, and the index of the span of each quantity."""
    flat: list[int] = []
    span_of: dict[int, int] = {}
    end = -1
    last: tuple[int, int] | None = None
    for i, span in sorted(enumerate(spans), key=lambda item: (item[1], item[0])):
        if last is not None and span[0] < end:
            # Two quantities share a span, such as the ends of a range that share a unit.
            span_of[i] = len(flat) // 2 - 1
        elif 0 <= span[0] < span[1] <= len(text):
            span_of[i] = len(flat) // 2
            flat += [_utf16(text, span[0]), _utf16(text, span[1])]
            last, end = span, span[1]
    return flat, span_of


def _utf16(text: str, index: int) -> int:
    return index if text.isascii() else len(text[:index].encode("utf-16-le", "replace")) // 2


def as_json(value: object) -> bytes:
    """A block of JSON."""
    return json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":")).encode("utf-8", "replace")
