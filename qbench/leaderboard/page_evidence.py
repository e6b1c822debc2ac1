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

from qbench.benchmark.types import Query
from qbench.evaluation.buckets import DIMENSIONS
from qbench.leaderboard.documents import DIMENSION_TITLES, clipped
from qbench.leaderboard.evidence import HEAD, Collection, Evidence
from qbench.leaderboard.standings import Standings
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

MISSED = 5
"""Relevant documents that no system has at its head, shown for each query at most."""

_JOINED = 3
"""A number and its unit are one highlight if no more characters lie between them."""


def query_block(leaderboard: Standings, ids: Sequence[str]) -> tuple[bytes, dict[str, Any]]:
    """Ids, texts, conditions and buckets of some queries as JSON, and what is known of them.

    Args:
        leaderboard: the leaderboard.
        ids: of the queries, in the order of the scores.
    """
    evidence = leaderboard.evidence
    known = {query.query_id: query for query in (evidence.queries if evidence else ())}
    found = [known.get(query_id) for query_id in ids]
    block = {
        "ids": [clipped(query_id, NAME) for query_id in ids],
        "texts": ["" if query is None else clipped(query.text, QUERY) for query in found],
        "conditions": ["" if query is None else clipped(condition_text(query), QUERY) for query in found],
        "buckets": _query_buckets(leaderboard, ids),
    }
    return as_json(block), {"texts": any(query is not None for query in found)}


def _query_buckets(leaderboard: Standings, ids: Sequence[str]) -> list[dict[str, Any]]:
    frame = leaderboard.evidence.buckets if leaderboard.evidence else None
    if frame is None:
        return []
    found = []
    for dimension in DIMENSIONS:
        names = leaderboard.buckets.filter(dimension=dimension)["bucket"].unique(maintain_order=True).to_list()
        if len(names) < 2:
            continue
        place = {name: i for i, name in enumerate(names)}
        of = dict(frame.filter(dimension=dimension).select("query_id", "bucket").iter_rows())
        found.append(
            {
                "dimension": dimension,
                "title": DIMENSION_TITLES[dimension],
                "names": [clipped(name, NAME) for name in names],
                "of": [place.get(of.get(query_id), -1) for query_id in ids],
            }
        )
    return found


def condition_text(query: Query) -> str:
    """The conditions of a query in one line, in their units: "weight < 2 kilogram; price between 5 and 8 dollar"."""
    return "; ".join(_condition(one) for one in query.conditions)


def _condition(one: Condition) -> str:
    asked = f"{one.comparator} {one.value:,.12g}"
    if one.comparator == "between":
        asked = f"between {one.value:,.12g} and {one.high:,.12g}"
    return " ".join(part for part in (" ".join(one.concept), asked, one.unit) if part)


def document_block(
    leaderboard: Standings, ids: Sequence[str], primary: NDArray[np.float64], budget: int
) -> tuple[bytes | None, dict[str, Any]]:
    """What was retrieved for as many queries as fit, as JSON; and what is shown and what is left out.

    Args:
        leaderboard: the leaderboard; without evidence there is nothing to show.
        ids: of the queries, in the order of the scores.
        primary: shape (systems, queries), their scores on the primary measure.
        budget: bytes of the compressed block.
    """
    if leaderboard.evidence is None or not leaderboard.evidence.collections:
        return None, {"documents": None}
    rows = [row.entry.label for row in leaderboard.rows if row.cells]
    found = _fitting(leaderboard.evidence, rows, ids, _priority(ids, primary), budget)
    shown = {
        "queries": len(found.shown),
        "top": found.heads.top,
        "text": TEXT,
        "cut": sum(1 for doc in found.docs if doc[3]),
        "texts": any(one.corpus is not None for one in leaderboard.evidence.collections),
        "quantities": found.heads.quantities_known,
        "missed": MISSED,
    }
    return found.content(), {"documents": shown}


def _fitting(evidence: Evidence, rows: Sequence[str], ids: Sequence[str], order: Sequence[int], budget: int) -> _Block:
    """The documents of as many queries, in their order of importance, as fit into the budget."""
    queries = {query.query_id: query for query in evidence.queries}

    def made(top: int, count: int) -> tuple[_Block, int]:
        chosen = sorted(order[:count])
        block = _Block(_Heads(evidence.collections, rows, top, {ids[i] for i in chosen}))
        for i in chosen:
            block.add(i, ids[i], queries.get(ids[i]))
        return block, len(zlib.compress(block.content(), 6))

    def likely(top: int) -> int:
        # A few queries tell how many fit; more queries share documents, so that each takes less room.
        return len(ids) if len(ids) <= 2 * PROBE else int(1.2 * budget * PROBE / made(top, PROBE)[1])

    top, count = HEAD, likely(HEAD)
    if count < len(ids):
        top, count = SHORT_HEAD, likely(SHORT_HEAD)
    count = min(count, len(ids))
    block, size = made(top, count)
    while count > 1 and size > budget:
        count = max(1, min(count - 1, int(count * 0.97 * budget / size)))
        block, size = made(top, count)
    return block


def _priority(ids: Sequence[str], primary: NDArray[np.float64]) -> list[int]:
    """All queries: by turns the one on which systems differ most, and the next of a fixed shuffle."""
    spread = primary.max(axis=0) - primary.min(axis=0)
    most = iter(np.argsort(-spread, kind="stable").tolist())
    mixed = iter(sorted(range(len(ids)), key=lambda i: digest(ids[i])))
    order: dict[int, None] = {}
    for one, other in zip(most, mixed, strict=True):
        order |= {one: None, other: None}
    return list(order)


class _Heads:
    """The heads of all runs with their judgments and documents, ready to be looked up by query.

    Args:
        collections: what was searched.
        rows: labels of the rows with a run, in the order of the table.
        top: documents of each query and run.
        ids: the queries that count.
    """

    def __init__(self, collections: Sequence[Collection], rows: Sequence[str], top: int, ids: set[str]) -> None:
        self.rows, self.top = len(rows), top
        place = {label: i for i, label in enumerate(rows)}
        wanted = pl.DataFrame({"query_id": sorted(ids)}, schema={"query_id": pl.String})
        self.lists: dict[str, dict[int, list[tuple[int, str]]]] = defaultdict(lambda: defaultdict(list))
        self.grades: dict[str, dict[tuple[int, str], int]] = defaultdict(dict)
        self.texts: list[dict[str, tuple[str, str]]] = []
        self.quantities: list[_Quantities | None] = []
        for number, one in enumerate(collections):
            runs = one.runs.filter(pl.col("rank") <= top).join(wanted, on="query_id", how="semi")
            for label, query_id, doc_id in (
                runs.sort("query_id", "label", "rank").select("label", "query_id", "doc_id").iter_rows()
            ):
                self.lists[query_id][place[label]].append((number, doc_id))
            qrels = one.qrels.join(wanted, on="query_id", how="semi")
            for query_id, doc_id, grade in qrels.select("query_id", "doc_id", "grade").iter_rows():
                self.grades[query_id][number, doc_id] = grade
            docs = pl.concat([runs["doc_id"], qrels.filter(pl.col("grade") > 0)["doc_id"]]).unique().sort()
            self.texts.append(_texts(one.corpus, docs))
            self.quantities.append(_Quantities.of(one, docs))

    @property
    def quantities_known(self) -> bool:
        """Whether any quantity can be highlighted."""
        return any(one is not None for one in self.quantities)


def _texts(corpus: pl.DataFrame | None, docs: pl.Series) -> dict[str, tuple[str, str]]:
    if corpus is None:
        return {}
    there = corpus.join(docs.to_frame("doc_id"), on="doc_id", how="semi").select("doc_id", "text", "title")
    return {doc_id: (text, title) for doc_id, text, title in there.iter_rows()}


@dataclass
class _Quantities:
    """The quantities of some documents: their rows lie together, `rows` says where."""

    rows: dict[str, range]
    low: NDArray[np.float64]
    high: NDArray[np.float64]
    comparator: NDArray[np.object_]
    base_unit: NDArray[np.object_]
    spans: list[tuple[int, int]]

    @classmethod
    def of(cls, collection: Collection, docs: pl.Series) -> _Quantities | None:
        frame = collection.quantities()
        if frame is None:
            return None
        part = frame.join(docs.to_frame("doc_id"), on="doc_id", how="semi").sort("doc_id", "value_start", "value_end")
        starts: dict[str, range] = {}
        for i, doc_id in enumerate(part["doc_id"]):
            starts[doc_id] = range(starts[doc_id].start if doc_id in starts else i, i + 1)
        spans = part.select("value_start", "value_end", "unit_start", "unit_end").iter_rows()
        return cls(
            starts,
            part["base_value"].to_numpy(),
            part["base_high"].to_numpy(),
            part["comparator"].to_numpy().astype(object),
            part["base_unit"].to_numpy().astype(object),
            [_hull(*span) for span in spans],
        )

    def met(self, rows: NDArray[np.int64], conditions: Sequence[Condition]) -> NDArray[np.bool_]:
        """Which of some quantities meet at least one condition, by value and unit.

        Args:
            rows: shape (n,), their numbers.
            conditions: what is asked.

        Returns:
            shape (n,).
        """
        met = np.zeros(rows.size, dtype=bool)
        for one in conditions:
            codes = verdicts(self.low[rows], self.high[rows], self.comparator[rows], one)
            met |= (codes == MET) & (self.base_unit[rows] == one.base_unit)
        return met


def _hull(start: int, end: int, unit_start: int, unit_end: int) -> tuple[int, int]:
    """A number with its unit where the two stand together; the number alone where they do not."""
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
            each row the places of what it retrieved among these, for each document the quantities that meet the
            query's conditions (places among its spans), and how many relevant documents there are.
    """

    heads: _Heads
    docs: list[tuple[str, str, str | None, int, list[int]]] = field(default_factory=list)
    shown: list[tuple[Any, ...]] = field(default_factory=list)
    _place: dict[tuple[int, str], int] = field(default_factory=dict)
    _spans: list[dict[int, int]] = field(default_factory=list)

    def add(self, number: int, query_id: str, query: Query | None) -> None:
        """Take in what was retrieved for a query."""
        heads = self.heads
        lists, grades = heads.lists.get(query_id, {}), heads.grades.get(query_id, {})
        local: dict[tuple[int, str], int] = {}
        places = [[local.setdefault(key, len(local)) for key in lists.get(row, ())] for row in range(heads.rows)]
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
                places,
                self._met(list(local), conditions),
                len(relevant),
            )
        )

    def content(self) -> bytes:
        """The block as JSON."""
        return as_json({"docs": self.docs, "shown": self.shown})

    def _document(self, key: tuple[int, str]) -> int:
        if key in self._place:
            return self._place[key]
        number, doc_id = key
        found = self.heads.texts[number].get(doc_id)
        quantities = self.heads.quantities[number]
        text, title = (None, "") if found is None else found
        spans: list[int] = []
        places: dict[int, int] = {}
        if text is not None and quantities is not None:
            spans, places = _shown_spans([quantities.spans[i] for i in quantities.rows.get(doc_id, ())], text[:TEXT])
        self._spans.append(places)
        cut = max(0, len(text or "") - TEXT)
        head = None if text is None else text[:TEXT]
        self.docs.append((clipped(doc_id, NAME), clipped(title, NAME), head, cut, spans))
        self._place[key] = len(self.docs) - 1
        return self._place[key]

    def _met(self, keys: Sequence[tuple[int, str]], conditions: Sequence[Condition]) -> list[list[int]]:
        """For each document the places of its spans that meet a condition."""
        found: list[list[int]] = [[] for _ in keys]
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
                place = self._spans[self._place[keys[k]]].get(i) if yes else None
                if place is not None and place not in found[k]:
                    found[k].append(place)
        return found


def _shown_spans(spans: Sequence[tuple[int, int]], text: str) -> tuple[list[int], dict[int, int]]:
    """Spans that neither overlap nor leave the text, in UTF-16 units; and for each quantity the span that shows it."""
    flat: list[int] = []
    places: dict[int, int] = {}
    end = -1
    last: tuple[int, int] | None = None
    for i, span in sorted(enumerate(spans), key=lambda one: (one[1], one[0])):
        if last is not None and span[0] < end:
            # Two quantities of one stretch, such as the ends of a range that share a unit.
            places[i] = len(flat) // 2 - 1
        elif 0 <= span[0] < span[1] <= len(text):
            places[i] = len(flat) // 2
            flat += [_utf16(text, span[0]), _utf16(text, span[1])]
            last, end = span, span[1]
    return flat, places


def _utf16(text: str, index: int) -> int:
    return index if text.isascii() else len(text[:index].encode("utf-16-le", "replace")) // 2


def as_json(value: object) -> bytes:
    """A block of JSON."""
    return json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":")).encode("utf-8", "replace")
