"""The training triples of a benchmark: read, selected, drawn again for each epoch.

A triple is (query, a text that satisfies it, a text that does not), made as in *Numbers Matter*, section 3.3.3. A
benchmark without triples (an imported one) gives them from its judgments: a relevant document, and one that BM25 ranks
high and nobody judged relevant.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import polars as pl
from numpy.typing import NDArray

from qbench.benchmark.types import Query
from qbench.errors import InputError, OptionError
from qbench.quantities.codes import CHANGE_SIGNS, COMPARATOR_CODES
from qbench.quantities.concept_match import concept_alternatives, folded
from qbench.quantities.languages import ENGLISH
from qbench.quantities.types import Quantity
from qbench.quantities.written import ConditionSpans, condition_spans
from qbench.randomness import generator
from qbench.retrieval.analysis import token_ids, token_lists
from qbench.retrieval.passages import passages
from qbench.scoring import bm25
from qbench.scoring.ranking import top_k
from qbench.training.kinds import METHODS
from qbench.training.mentions import Changed, Mentions

if TYPE_CHECKING:
    from qbench.benchmark.benchmark import Benchmark

Drawn = tuple[int, int, list[int]]
"""A query, its positive, its negatives: positions in a `Triples`."""

HARD = 16
"""Number of documents per query that BM25 ranks high and nobody judged relevant, where a benchmark has no triples."""


class Values(NamedTuple):
    """The m quantities in one base unit, each array of shape (m,).

    Attributes:
        texts: positions of the texts that state them.
        low, high, comparators, changes: as `verdicts` takes them.
    """

    texts: NDArray[np.int64]
    low: NDArray[np.float64]
    high: NDArray[np.float64]
    comparators: NDArray[np.int8]
    changes: NDArray[np.int8]


@dataclass(frozen=True)
class Triples:
    """Queries, texts, and the pairs to learn.

    Attributes:
        queries: of the training split.
        texts: samples, or documents.
        sources: shape (texts,): the position in `documents` of the document that each text is, or was made from.
        query, positive: shape (pairs,), positions in `queries` and `texts`; ordered by query, then text.
        starts, negatives: the negatives of pair i are negatives[starts[i]:starts[i + 1]], in `texts`; at least one.
        perhaps: positions of the documents that are judged relevant to each query, or undecided.
        words: the folded words of each text, and those of the concepts in its document.
        concepts: the folded words of every alternative of the concept, for each condition of each query.
        text_mentions: the quantities of each text.
        counts: numbers of queries, positives and texts, and of what was left out.
    """

    queries: Sequence[Query]
    texts: Sequence[str]
    sources: NDArray[np.int64]
    query: NDArray[np.int64]
    positive: NDArray[np.int64]
    starts: NDArray[np.int64]
    negatives: NDArray[np.int64]
    perhaps: Sequence[Collection[int]]
    words: Sequence[frozenset[str]]
    concepts: Sequence[Sequence[Sequence[frozenset[str]]]]
    text_mentions: Mentions
    counts: dict[str, int] = field(default_factory=dict)

    def __len__(self) -> int:
        return len(self.query)

    def draw(self, seed: int, epoch: str, negatives: int, most: int = 0) -> list[Drawn]:
        """The pairs of an epoch in random order, each with some of its negatives: (query, positive, negatives).

        Args:
            seed, epoch: what the draw depends on.
            negatives: largest number of negatives of a pair.
            most: largest number of pairs, every query's first before any second; 0 for all.
        """
        random = generator(seed, "triples", epoch)
        order = random.permutation(len(self))
        if most and most < len(order):
            order = random.permutation(self._in_turn(order)[:most])
        drawn = []
        for pair in order.tolist():
            of_pair = self.negatives[self.starts[pair] : self.starts[pair + 1]]
            some = random.permutation(len(of_pair))[:negatives]
            drawn.append((int(self.query[pair]), int(self.positive[pair]), of_pair[some].tolist()))
        return drawn

    def _in_turn(self, order: NDArray[np.int64]) -> NDArray[np.int64]:
        """Pairs in another order: every query's first before any second."""
        seen: dict[int, int] = {}
        turns = []
        for query in self.query[order].tolist():
            turns.append(seen.get(query, 0))
            seen[query] = turns[-1] + 1
        return order[np.argsort(turns, kind="stable")]

    def limited(self, seed: int, most: int) -> Triples:
        """With at most so many pairs, every query's first before any second; more contain fewer.

        Args:
            seed: of their choice.
            most: number of pairs; 0 for all.
        """
        if not most or most >= len(self):
            return self
        order = generator(seed, "limited triples").permutation(len(self))
        rows = np.sort(self._in_turn(order)[:most])
        kept = [self.negatives[self.starts[row] : self.starts[row + 1]] for row in rows]
        return replace(
            self,
            query=self.query[rows],
            positive=self.positive[rows],
            starts=np.append(0, np.cumsum([len(of_pair) for of_pair in kept])),
            negatives=np.concatenate(kept),
            counts={**self.counts, "queries": len(set(self.query[rows].tolist())), "positives": most},
        )

    def mentions(self, text: int) -> tuple[Quantity, ...]:
        """The quantities of a text, with their spans in it; () where nobody extracted them."""
        return self.text_mentions.of(text)

    @cached_property
    def stated(self) -> dict[str, Values]:
        """The quantities of all texts, by base unit."""
        rows: dict[str, list[tuple[int, float, float, int, int]]] = {}
        for text in range(len(self.texts)):
            for one in self.mentions(text):
                bound, moved = COMPARATOR_CODES[one.comparator], CHANGE_SIGNS[one.change]
                values = (text, one.base_value, one.base_high, bound, moved)
                rows.setdefault(one.base_unit, []).append(values)
        types = (np.int64, np.float64, np.float64, np.int8, np.int8)
        return {
            unit: Values(
                *(np.array(column, dtype) for column, dtype in zip(zip(*some, strict=True), types, strict=True))
            )
            for unit, some in rows.items()
        }

    def condition_spans(self, query: int) -> tuple[ConditionSpans, ...]:
        """Where a query's text has its conditions, one for each."""
        return condition_spans(self.queries[query].text, self.queries[query].conditions)

    @property
    def units(self) -> list[str]:
        """Canonical names of the units of queries' conditions and texts' quantities, "" for none; in order."""
        asked = {condition.unit for query in self.queries for condition in query.conditions}
        return sorted(asked | self.text_mentions.units)

    def may_satisfy(self, query: int, text: int) -> bool:
        """Whether a text of another query could satisfy this one, and is therefore no negative.

        It could if its document is relevant or undecided, or if it has all words of the query's concepts, whatever its
        values: no text that satisfies the query is taken for a negative, at the price of some that do not.
        """
        if self.sources[text] in self.perhaps[query]:
            return True
        words, concepts = self.words[text], self.concepts[query]
        return bool(concepts) and all(any(words >= other for other in alternatives) for alternatives in concepts)


def read_triples(
    benchmark: Benchmark,
    *,
    methods: Collection[str] = METHODS,
    kinds: Collection[str] = (),
    every_split: bool = False,
    lowest_grade: int = 1,
) -> Triples:
    """The triples of a benchmark's training split.

    Args:
        benchmark: with triples, or with judged queries to make them from.
        methods: samples of these kinds only.
        kinds: queries of these kinds only; () for all.
        every_split: where the benchmark has no training split, take all of its queries: for a benchmark that is only
            trained on.
        lowest_grade: of a judged document that is a positive, where there are no triples.

    Raises:
        InputError: nothing is left to learn from.
        OptionError: there is no such method.
    """
    unknown = set(methods) - set(METHODS)
    if unknown:
        raise OptionError(
            "no such method of making samples", value=sorted(unknown)[0], remedy=f"Use {', '.join(METHODS)}"
        )
    queries = [query for query in benchmark.queries_of("train") if not kinds or query.kind in kinds]
    if not benchmark.queries_of("train") and every_split:
        queries = list(benchmark.queries)
    if benchmark.triples.height:
        return _of_samples(benchmark, queries, methods)
    return _of_judgments(benchmark, queries, lowest_grade)


def _of_samples(benchmark: Benchmark, queries: list[Query], methods: Collection[str]) -> Triples:
    ids = _numbered(queries)
    samples = benchmark.samples.filter(pl.col("method").is_in(list(methods))).sort("sample_id")
    samples = samples.join(ids, on="query_id", how="semi")
    # The same text made for two queries is one text.
    own = samples.select("doc_id", "text", "value", "unit", "value_start", "value_end")
    distinct = own.unique(["doc_id", "text"], keep="first", maintain_order=True).with_row_index("sample")
    numbers = samples.join(distinct, on=["doc_id", "text"]).select("sample_id", "sample")
    rows = (
        benchmark.triples.join(ids, on="query_id")
        .join(numbers.rename({"sample_id": "positive_id", "sample": "positive"}), on="positive_id")
        .join(numbers.rename({"sample_id": "negative_id", "sample": "negative"}), on="negative_id")
        .select(pl.col("query", "positive", "negative").cast(pl.Int64))
        .unique()
        .sort("query", "positive", "negative")
    )
    read = benchmark.triples.join(ids, on="query_id", how="semi").height
    counts = {"triples": rows.height, "triples of other methods": read - rows.height}
    changed = [
        Changed(value, unit, (start, end))
        for value, unit, start, end in distinct.select("value", "unit", "value_start", "value_end").iter_rows()
    ]
    return _triples(benchmark, queries, distinct["text"], distinct["doc_id"], rows, counts, changed)


def _of_judgments(benchmark: Benchmark, queries: list[Query], lowest: int) -> Triples:
    """Relevant documents against those that BM25 ranks high; what is undecided or below is neither."""
    ids = _numbered(queries)
    corpus = passages(benchmark.corpus).rename({"passage": "text"}).sort("doc_id").with_row_index("text_id")
    judged = benchmark.qrels.join(ids, on="query_id").join(corpus.select("doc_id", "text_id"), on="doc_id")
    positives: dict[int, set[int]] = {}
    rated: dict[int, set[int]] = {}
    for query, text, grade in judged.filter(pl.col("grade") != 0).select("query", "text_id", "grade").iter_rows():
        rated.setdefault(query, set()).add(text)
        if grade >= lowest:
            positives.setdefault(query, set()).add(text)
    # Deep enough to lose the relevant ones.
    hard = lexical_best(corpus["text"], [queries[i].text for i in sorted(positives)], 4 * HARD, benchmark.language)
    triples: list[tuple[int, int, int]] = []
    for query, ranked in zip(sorted(positives), hard, strict=True):
        negatives = [text for text in ranked if text not in rated[query]][:HARD]
        triples += [(query, positive, negative) for positive in sorted(positives[query]) for negative in negatives]
    rows = pl.DataFrame(triples, schema=["query", "positive", "negative"], orient="row")
    counts = {"triples from judgments": rows.height, "queries without a judgment": len(queries) - len(positives)}
    return _triples(benchmark, queries, corpus["text"], corpus["doc_id"], rows, counts)


def _numbered(queries: Sequence[Query]) -> pl.DataFrame:
    ids = pl.DataFrame({"query_id": [query.query_id for query in queries]}, schema={"query_id": pl.String})
    return ids.with_row_index("query")


def lexical_best(texts: pl.Series, queries: Sequence[str], depth: int, language: str = ENGLISH) -> list[list[int]]:
    """Positions of the `depth` texts that BM25 ranks highest for each query, best first; fewer where fewer match."""
    vocabulary, ids, lengths = token_ids(texts, language)
    numbers = {token: number for number, token in enumerate(vocabulary)}
    postings = bm25.build(ids, lengths, len(vocabulary))
    results = []
    for tokens in token_lists(queries, language):
        scores = bm25.score(postings, [numbers[token] for token in tokens if token in numbers])
        best = top_k(scores, depth)
        results.append(best[scores[best] > 0].tolist())
    return results


def _triples(
    benchmark: Benchmark,
    queries: list[Query],
    texts: pl.Series,
    doc_ids: pl.Series,
    rows: pl.DataFrame,
    counts: dict[str, int],
    changed: Sequence[Changed] = (),
) -> Triples:
    if not rows.height:
        raise InputError(
            "nothing to learn from: no query of the training split has a positive and a negative text",
            value=benchmark.name,
            remedy="Generate a benchmark with `qbench gen-queries`, or allow more methods and kinds",
        )
    pairs = rows.group_by("query", "positive", maintain_order=True).agg("negative")
    documents = {doc: number for number, doc in enumerate(sorted(set(doc_ids.to_list())))}
    numbers = {query.query_id: number for number, query in enumerate(queries)}
    perhaps: list[set[int]] = [set() for _ in queries]
    for query_id, doc_id in benchmark.qrels.filter(pl.col("grade") != 0).select("query_id", "doc_id").iter_rows():
        if query_id in numbers and doc_id in documents:
            perhaps[numbers[query_id]].add(documents[doc_id])
    return Triples(
        queries=queries,
        texts=texts.to_list(),
        sources=np.array([documents[doc] for doc in doc_ids], dtype=np.int64),
        query=pairs["query"].to_numpy(),
        positive=pairs["positive"].to_numpy(),
        starts=np.append(0, pairs["negative"].list.len().to_numpy().cumsum()).astype(np.int64),
        negatives=pairs["negative"].explode().to_numpy(),
        perhaps=perhaps,
        words=_words(benchmark, texts, doc_ids),
        concepts=[
            [[folded(words, benchmark.language) for words in concept_alternatives(c.concept)] for c in query.conditions]
            for query in queries
        ],
        text_mentions=Mentions(benchmark, texts.to_list(), doc_ids.to_list(), changed),
        counts={
            "queries": pairs["query"].n_unique(),
            "positives": pairs.height,
            "texts": len(texts),
            **counts,
        },
    )


def _words(benchmark: Benchmark, texts: pl.Series, doc_ids: pl.Series) -> list[frozenset[str]]:
    """The folded words of each text, and those of the concepts that its document speaks of ("weighs": weight)."""
    own = _folded(token_lists(texts.to_list(), benchmark.language), benchmark.language)
    if benchmark.quantities is None:
        return own
    mentions = benchmark.quantities.select("doc_id", "concept").filter(pl.col("doc_id").is_in(doc_ids.implode()))
    words = mentions.select("doc_id", pl.col("concept").str.split(" ")).explode("concept")
    concepts = words.unique().group_by("doc_id").agg("concept")
    spoken = dict(zip(concepts["doc_id"], _folded(concepts["concept"].to_list(), benchmark.language), strict=True))
    none: frozenset[str] = frozenset()
    return [words | spoken.get(doc, none) for words, doc in zip(own, doc_ids, strict=True)]


def _folded(lists: Sequence[Sequence[str]], language: str) -> list[frozenset[str]]:
    """The folded words of each text; each different word is folded once."""
    by_token: dict[str, frozenset[str]] = {}
    for tokens in lists:
        for token in tokens:
            if token not in by_token:
                by_token[token] = folded([token], language)
    return [frozenset().union(*(by_token[token] for token in set(tokens))) for tokens in lists]
