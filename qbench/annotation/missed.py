"""Documents that a query may have missed: not judged, with a number that meets its condition, and with its words."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import polars as pl

from qbench.annotation.audit_subject import by_query
from qbench.benchmark.benchmark import Benchmark
from qbench.benchmark.matching import Matcher
from qbench.benchmark.types import Query
from qbench.retrieval.analysis import token_ids, token_lists
from qbench.scoring import bm25


def likeliest(benchmark: Benchmark, queries: Sequence[Query], number: int) -> dict[str, list[str]]:
    """The unjudged documents of each query that are most likely to answer it.

    They have a mention that meets each condition by value and unit, whatever the mention is about, and hold words of
    the query; BM25 over these words ranks them. Of documents with one text there is one. Documents that the benchmark
    leaves undecided are not among them.

    Args:
        benchmark: any; without quantities nothing can be found.
        queries: of the benchmark; those without conditions have no candidates.
        number: most documents of a query.

    Returns:
        query -> document ids, likeliest first.
    """
    if benchmark.quantities is None or not queries or not number:
        return {}
    matcher = Matcher.of(benchmark)
    wanted = [query.query_id for query in queries]
    judged = by_query(benchmark.qrels.filter(pl.col("query_id").is_in(wanted)).select("query_id", "doc_id").rows())
    vocabulary, ids, lengths = token_ids(benchmark.corpus["text"], benchmark.language)
    postings = bm25.build(ids, lengths, len(vocabulary))
    codes = {token: code for code, token in enumerate(vocabulary)}
    texts = benchmark.corpus["text"]
    place = {doc_id: row for row, doc_id in enumerate(benchmark.corpus["doc_id"])}
    words = token_lists([query.terms or query.text for query in queries], benchmark.language)
    found = {}
    for query, tokens in zip(queries, words, strict=True):
        candidates = sorted(_open(matcher, query) - set(judged.get(query.query_id, ())))
        scores = bm25.score(postings, [codes[token] for token in tokens if token in codes])
        held = scores[[place[doc_id] for doc_id in candidates]]
        order = [row for row in np.argsort(-held, kind="stable").tolist() if held[row] > 0]
        # A text that several documents have is read once.
        distinct: dict[str, str] = {}
        for row in order:
            if len(distinct) == number:
                break
            doc_id = candidates[row]
            distinct.setdefault(" ".join(texts[place[doc_id]].lower().split()), doc_id)
        found[query.query_id] = list(distinct.values())
    return found


def _open(matcher: Matcher, query: Query) -> set[str]:
    """Documents with a mention of any concept that meets each condition, but for those that the concept decides."""
    if not query.conditions:
        return set()
    meeting = set.intersection(*(set(matcher.met(replace(each, concept=()))) for each in query.conditions))
    return meeting - matcher.grades(query.conditions, meeting).keys()
