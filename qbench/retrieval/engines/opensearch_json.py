"""What is sent to OpenSearch or Elasticsearch: two indices, their documents, and the query that ranks.

A document is a sentence. `words` is its text as tokens, searched and scored as Lucene does. For scores that are those
of `qbench.scoring.bm25` to the last bit, `terms` finds the documents that hold a term, and a script adds what each is
worth from `postings` and `tokens`, in doubles: Lucene itself keeps lengths in one byte and adds in single precision.
Quantities are nested documents with typed fields, so that a range, a unit and a concept are asked of the same mention.
A second index holds the terms: which number a token has, and its idf.
"""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import polars as pl

from qbench.errors import InputError
from qbench.quantities.concept_match import folded
from qbench.quantities.types import Condition
from qbench.retrieval.analysis import tokenized
from qbench.retrieval.engines.tables import ServedTables
from qbench.retrieval.engines.windows import Window, windows

COUNT_BITS = 31
"""Bits of a posting that hold the count; those above hold the term."""
LARGEST = 1.7976931348623157e308
"""Stands for infinity, which a field of numbers does not take."""
LONGEST = 8191
"""Characters of a keyword that are searched: Lucene takes no more than 32,766 bytes."""

ROWS = 2_000
"""Documents sent together, at most."""
BYTES = 8_000_000
"""Bytes sent together, unless one document alone has more."""

SCRIPT = f"""\
double k1 = params.k1;
double b = params.b;
double length = doc['tokens'].value;
double norm = k1 * (1 - b + b * length / params.mean_tokens);
double score = 0;
int size = doc['postings'].size();
for (int place = 0; place < params.terms.size(); place++) {{
  long asked = params.terms.get(place);
  double idf = params.idf.get(place);
  int low = 0;
  int high = size - 1;
  while (low <= high) {{
    int middle = (low + high) >> 1;
    long posting = doc['postings'].get(middle);
    long term = posting >> {COUNT_BITS};
    if (term < asked) {{
      low = middle + 1;
    }} else if (term > asked) {{
      high = middle - 1;
    }} else {{
      double count = posting & {2**COUNT_BITS - 1}L;
      score += idf * (count * (k1 + 1) / (count + norm));
      break;
    }}
  }}
}}
return score;"""
"""BM25 in Painless: each term of the query is looked up among the document's, which are sorted."""

_KEYWORD = {"type": "keyword", "ignore_above": LONGEST}
_DOUBLE = {"type": "double"}
_MENTION = {
    "value": _DOUBLE,
    "value_high": _DOUBLE,
    "unit": _KEYWORD,
    "comparator": _KEYWORD,
    "change": _KEYWORD,
    "base_unit": _KEYWORD,
    "low": _DOUBLE,
    "high": _DOUBLE,
    "low_open": {"type": "boolean"},
    "high_open": {"type": "boolean"},
    "concept": _KEYWORD,
}

SEARCHED = {"index": {"refresh_interval": None}}
"""The settings of an index that is whole; while it is written, nothing is made ready to be searched."""

NESTED = 10_000
"""Mentions of a document that a server takes unless it is told to take more."""


def documents_index(settings: Mapping[str, Any], most_mentions: int, meta: Mapping[str, Any]) -> dict[str, Any]:
    """The body that creates the index of documents.

    Args:
        settings: the row of `ServedTables.settings`.
        most_mentions: of one document.
        meta: kept in the mapping; says what the index holds.
    """
    similarity = {"type": "BM25", "k1": settings["k1"], "b": settings["b"]}
    properties = {
        "doc": {"type": "integer"},
        "doc_id": _KEYWORD,
        "passage": {"type": "text", "index": False},
        "tokens": {"type": "integer", "index": False},
        "words": {"type": "text", "analyzer": "whitespace", "similarity": "qbench"},
        "terms": {"type": "keyword", "doc_values": False},
        "postings": {"type": "long", "index": False},
        "mentions": {"type": "nested", "dynamic": "strict", "properties": _MENTION},
    }
    return {
        "settings": {
            "index": {
                "refresh_interval": "-1",
                "similarity": {"qbench": similarity},
                "mapping": {"nested_objects": {"limit": max(NESTED, most_mentions)}},
            }
        },
        "mappings": {"dynamic": "strict", "_meta": dict(meta), "properties": properties},
    }


def terms_index(meta: Mapping[str, Any]) -> dict[str, Any]:
    """The body that creates the index of terms."""
    properties = {
        "term": {"type": "integer"},
        "token": {"type": "keyword", "index": False, "doc_values": False},
        "documents": {"type": "integer", "index": False},
        "idf": {"type": "double", "index": False},
    }
    return {
        "settings": {"index": {"refresh_interval": "-1"}},
        "mappings": {"dynamic": "strict", "_meta": dict(meta), "properties": properties},
    }


def token_id(token: str) -> str:
    """The id of a token's document; a token itself may be longer than an id may be."""
    return hashlib.sha256(token.encode()).hexdigest()


def term_lines(tables: ServedTables, start: int = 0) -> Iterator[bytes]:
    """The terms from a number on, each as two lines: the action and the document."""
    for term, token, documents, idf in tables.terms.slice(start).iter_rows():
        row = {"term": term, "token": token, "documents": documents, "idf": idf}
        yield action(token_id(token), row)


def document_lines(tables: ServedTables, start: int = 0) -> Iterator[bytes]:
    """The documents from a position on, each as two lines: the action and the document."""
    postings = tables.postings.select("doc", code=pl.col("term").cast(pl.Int64) * 2**COUNT_BITS + pl.col("count"))
    postings = postings.sort("doc", "code")
    edges = np.arange(tables.documents.height + 1)
    held = np.searchsorted(postings["doc"].to_numpy(), edges)
    said = np.searchsorted(tables.mentions["doc"].to_numpy(), edges)
    language = str(tables.settings["language"][0])
    for first in range(start, tables.documents.height, ROWS):
        documents = tables.documents.slice(first, ROWS)
        words = tokenized(documents["passage"], language).to_list()
        for row, tokens in zip(documents.iter_rows(named=True), words, strict=True):
            doc = row["doc"]
            codes = postings["code"][int(held[doc]) : int(held[doc + 1])].to_list()
            mentions = tables.mentions[int(said[doc]) : int(said[doc + 1])].drop("doc").iter_rows(named=True)
            body = {
                **row,
                "words": " ".join(tokens),
                "terms": [str(code >> COUNT_BITS) for code in codes],
                "postings": codes,
                "mentions": [_mention(each) for each in mentions],
            }
            yield action(str(doc), body)


def _mention(row: dict[str, Any]) -> dict[str, Any]:
    return {name: finite(value) if isinstance(value, float) else value for name, value in row.items()}


def finite(value: float) -> float:
    """A number as a field of doubles takes it: infinity as the largest, and one zero, since Lucene knows two.

    Raises:
        InputError: not a number.
    """
    if math.isnan(value):
        raise InputError("a mention's value is not a number")
    return min(max(value, -LARGEST), LARGEST) + 0.0


def action(name: str, body: Mapping[str, Any]) -> bytes:
    """The two lines that index a document: again, if it is there."""
    lines = ({"index": {"_id": name}}, body)
    return b"".join(json.dumps(line, ensure_ascii=False, allow_nan=False).encode() + b"\n" for line in lines)


def batches(actions: Iterator[bytes]) -> Iterator[list[bytes]]:
    """Actions in groups that are sent together."""
    batch: list[bytes] = []
    size = 0
    for each in actions:
        if batch and (len(batch) == ROWS or size + len(each) > BYTES):
            yield batch
            batch, size = [], 0
        batch.append(each)
        size += len(each)
    if batch:
        yield batch


def exact_search(
    terms: Sequence[tuple[int, float]], settings: Mapping[str, Any], filters: Sequence[Mapping[str, Any]], depth: int
) -> dict[str, Any]:
    """The search whose order and scores are those of `qbench.scoring.bm25`; of equal scores the lower position first.

    Args:
        terms: number and idf of the query's tokens, in its order; those that no document holds are left out.
        settings: the row of `ServedTables.settings`.
        filters: of the conditions.
        depth: number of documents.
    """
    params = {
        "terms": [number for number, _ in terms],
        "idf": [idf for _, idf in terms],
        **{name: float(settings[name]) for name in ("k1", "b", "mean_tokens")},
    }
    script = {"lang": "painless", "source": SCRIPT, "params": params}
    order = {"type": "number", "order": "desc", "script": script}
    query = {"bool": {"filter": [holding(terms), *filters]}}
    return {**_RESULT, "size": depth, "query": query, "sort": [{"_script": order}, {"doc": "asc"}]}


def lucene_search(tokens: Sequence[str], filters: Sequence[Mapping[str, Any]], depth: int) -> dict[str, Any]:
    """The search by Lucene's own BM25 of `words`, each occurrence of a token counted.

    Args:
        tokens: of the query.
        filters: of the conditions.
        depth: number of documents.
    """
    counts = {token: float(list(tokens).count(token)) for token in tokens}
    clauses = [{"term": {"words": {"value": token, "boost": count}}} for token, count in counts.items()]
    query = {"bool": {"should": clauses, "minimum_should_match": 1, "filter": list(filters)}}
    return {**_RESULT, "size": depth, "query": query, "sort": [{"_score": "desc"}, {"doc": "asc"}]}


_RESULT = {"_source": False, "track_total_hits": False}


def holding(terms: Sequence[tuple[int, float]], every: bool = False) -> dict[str, Any]:
    """The query for documents that hold any of some terms, or every one."""
    names = [str(number) for number in dict.fromkeys(number for number, _ in terms)]
    if every:
        return {"bool": {"filter": [{"term": {"terms": {"value": name}}} for name in names]}}
    return {"terms": {"terms": names}}


def condition_filters(conditions: Sequence[Condition], concepts: str, language: str) -> list[dict[str, Any]]:
    """A query for each condition: the documents in which a mention meets it.

    Args:
        conditions: of the query.
        concepts: "shared" if the concept of a mention must share a word with its condition's; else "ignored".
        language: code of the texts' language.
    """
    found = []
    for condition in conditions:
        words = sorted(folded(condition.concept, language)) if concepts == "shared" else []
        asked: list[dict[str, Any]] = [{"term": {"mentions.base_unit": {"value": condition.base_unit}}}]
        asked += [_any([_window(window) for window in windows(condition)])]
        asked += [{"terms": {"mentions.concept": words}}] if words else []
        found.append({"nested": {"path": "mentions", "query": {"bool": {"filter": asked}}}})
    return found


def _window(window: Window) -> dict[str, Any]:
    """The mentions whose possible values lie in a window; an end without a limit is not asked about."""
    ends = [
        ("low", "gte", window.low_from, window.low_above),
        ("high", "lte", window.high_to, window.high_below),
    ]
    asked: list[dict[str, Any]] = []
    for end, sign, possible, closed in ends:
        if math.isfinite(possible):
            asked.append(_range(end, sign, possible))
        if math.isfinite(closed):
            asked.append(_any([{"term": {f"mentions.{end}_open": {"value": True}}}, _range(end, sign, closed)]))
    return {"bool": {"filter": asked}}


def _range(end: str, sign: str, limit: float) -> dict[str, Any]:
    return {"range": {f"mentions.{end}": {sign: limit + 0.0}}}


def _any(queries: list[dict[str, Any]]) -> dict[str, Any]:
    return queries[0] if len(queries) == 1 else {"bool": {"should": queries, "minimum_should_match": 1}}
