"""Why Bind ranks a document where it does: the parts of its score, and what each mention of a quantity adds to them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from qbench.benchmark.benchmark import Benchmark, benchmark_key
from qbench.benchmark.types import Query
from qbench.errors import OptionError
from qbench.progress import Progress, silent
from qbench.quantities.extractors import ExtractorOptions
from qbench.quantities.languages import language_package
from qbench.quantities.types import Condition, Quantity
from qbench.retrieval.analysis import token_lists
from qbench.retrieval.bench import Bench
from qbench.retrieval.finishing import binding_parts, ranked, with_binding, with_satisfying
from qbench.retrieval.jobs import ExecuteOptions, Job
from qbench.retrieval.pipeline import Pipeline
from qbench.retrieval.rankers import Candidates
from qbench.retrieval.systems import System
from qbench.retrieval.types import ConditionSource
from qbench.scoring.binding import Asked, Target, parts
from qbench.scoring.records import Texts, records_of


@dataclass(frozen=True)
class MentionScore:
    """What one mention is worth for one condition.

    Attributes:
        mention: the mention; its spans count from the start of the document.
        value: value(m, c) of `qbench.scoring.binding`; 0 where they are not comparable.
        satisfies: whether it satisfies the condition.
    """

    mention: Quantity
    value: float
    satisfies: bool


@dataclass(frozen=True)
class DocumentScore:
    """A document and its score.

    Attributes:
        doc_id, text: the document.
        score: the sum of the parts, each with its weight.
        parts: part -> its value, that of the model first, as "own".
        mentions: for each condition, the comparable mentions, the best first.
    """

    doc_id: str
    text: str
    score: float
    parts: dict[str, float]
    mentions: list[list[MentionScore]]


@dataclass(frozen=True)
class Explanation:
    """How a system ranks documents for a query.

    Attributes:
        words: search word -> its share in the words of the query.
        conditions: those of the query, each with its words and their shares.
        weights: part -> its weight.
        documents: the best first.
    """

    words: dict[str, float]
    conditions: list[tuple[Condition, dict[str, float]]]
    weights: dict[str, float]
    documents: list[DocumentScore]


def explain(
    benchmark: Benchmark,
    system: System,
    query: str,
    folder: Path,
    *,
    top: int = 3,
    docs: Sequence[str] = (),
    source: ConditionSource = "parsed",
) -> Explanation:
    """How a first stage or reranker with Bind ranks the best documents for a query, or given ones.

    Args:
        benchmark: the documents.
        system: its last stage is with Bind, and without fusion; the parts are that stage's.
        query: the id of one of the benchmark's queries, or a text.
        folder: where indexes are kept, as `execute` keeps them.
        top: number of documents.
        docs: ids of documents to explain instead; they are among those that the last stage scores.
        source: where the query's conditions come from; a text has none as data.

    Raises:
        OptionError: the last stage of the system is not with Bind, or has a fusion; no conditions are given with the
            query, a document is unknown, or none of the documents is scored.
    """
    stage = system.stages[-1]
    if not stage.binds or stage.fusion:
        remedy = "Try BindBM25, or BM25 + BindSBERT(model=...)"
        message = "only a last stage with Bind, without fusion, can be explained"
        raise OptionError(message, value=str(system), remedy=remedy)
    bench = bench_of(benchmark, folder)
    wanted = positions_of(bench, docs)
    asked_query = query_of(benchmark, query, source)
    (asked,) = bench.asked([asked_query], source, stage.encoder)
    index, weights = bench.binding(stage.encoder).index, stage.quantity_options()
    hits = scored(bench, system, asked_query, source)
    if stage.finds_terms and not system.rerankers:
        hits = with_satisfying(hits, index, asked)
    pooled = None if wanted.size or system.rerankers else top
    best = shown(with_binding(hits, index, asked, weights, pooled), top, wanted)
    if not best.docs.size:
        raise OptionError("the system scores none of these documents", value=list(docs) or query)
    own = dict(zip(hits.docs.tolist(), binding_parts(hits, index, asked), strict=True))
    words = _words(asked_query.text, index.terms, benchmark.language)
    content = asked_query if source == "given" else bench.parsed(asked_query)[0]
    return Explanation(
        _shares(asked, asked.words, words),
        [
            (condition, _shares(asked, row, words))
            for condition, row in zip(content.conditions, asked.bindings, strict=True)
        ],
        weights.weights(),
        [
            DocumentScore(
                bench.corpus["doc_id"][int(doc)],
                bench.corpus["passage"][int(doc)],
                float(score),
                own[int(doc)],
                _mentions(bench, asked, int(doc)),
            )
            for doc, score in zip(best.docs, best.scores, strict=True)
        ],
    )


def bench_of(
    benchmark: Benchmark, folder: Path, extractor: ExtractorOptions | None = None, progress: Progress = silent
) -> Bench:
    """The benchmark opened with the options that `execute` takes where none are given."""
    options = ExecuteOptions(extractor=extractor)
    return Bench(
        benchmark, benchmark_key(benchmark), folder / "indexes", options.document_quantities,
        options.extractor_of(benchmark), None, progress, options.access.recording_in(folder),
    )  # fmt: skip


def query_of(benchmark: Benchmark, query: str, source: ConditionSource) -> Query:
    """The query of an id, or one made of a text."""
    found = next((known for known in benchmark.queries if known.query_id == query), Query("typed", query))
    if source == "given" and not found.conditions:
        raise OptionError("no conditions are given with this query", value=query, remedy="Use the conditions parsed")
    return found


def positions_of(bench: Bench, docs: Sequence[str]) -> NDArray[np.intp]:
    """The positions of some documents, ascending.

    Raises:
        OptionError: one of them is unknown.
    """
    if unknown := set(docs) - set(bench.corpus["doc_id"]):
        raise OptionError("the benchmark has no such document", value=sorted(unknown))
    return np.flatnonzero(bench.corpus["doc_id"].is_in(list(docs)).to_numpy())


def shown(hits: Candidates, top: int, wanted: NDArray[np.intp]) -> Candidates:
    """The best documents, or those at the wanted positions that were found, if there are any wanted."""
    if not wanted.size:
        return ranked(hits, top)
    kept = np.isin(hits.docs, wanted)
    return ranked(Candidates(hits.docs[kept], hits.scores[kept]), wanted.size)


def scored(bench: Bench, system: System, query: Query, source: ConditionSource) -> Candidates:
    """What the last stage of a system scores, with the scores of its model."""
    stage = system.stages[-1]
    if not system.rerankers:
        ranker = bench.first_stage(stage, 1000).ranker
        (search,) = ranker.prepared([bench.search(stage, query, source)])
        return ranker.search(search)
    before = System(system.stages[:-1])
    first = bench.first_stage(before.first, max(1000, *(one.k for one in system.rerankers)))
    bench.build(system)
    job = Job(before, source, "", Path(), {"depth": stage.k})
    (ranking,) = Pipeline(bench, first.ranker, [job], [query]).run(job).rankings
    ranker = bench.reranker(stage).ranker
    (own,) = ranker.rerank(ranker.encoded([bench.search(stage, query, source)]), [ranking])
    kept = np.flatnonzero(~np.isnan(own))
    kept = kept[np.argsort(ranking.docs[kept])]
    return Candidates(ranking.docs[kept], own[kept])


def _words(text: str, terms: Mapping[str, int], language: str) -> dict[int, str]:
    """Term -> the word of the query that stands for it; the term itself, where it is a part of a compound."""
    stem = language_package(language).stem
    known = {number: term for term, number in terms.items()}
    (tokens,) = token_lists([text], language)
    return known | {terms[stem(token)]: token for token in reversed(tokens) if stem(token) in terms}


def _shares(asked: Asked, shares: NDArray[np.float64], words: Mapping[int, str]) -> dict[str, float]:
    """Search word -> its share, where it has one."""
    return {words[int(term)]: float(share) for term, share in zip(asked.terms, shares, strict=True) if share}


def _mentions(bench: Bench, asked: Asked, doc: int) -> list[list[MentionScore]]:
    """The comparable mentions of a document for each condition, the best first."""
    index = bench.binding_index.index
    # Each mention is scored as if it were a document's only one, and as if every value were asked for.
    mentions, alone = bench.mentions.of(doc), index.mentions.alone(doc)
    rows = np.arange(len(mentions))
    records = records_of(alone, Texts(np.zeros(rows.size + 1, np.int64), np.empty(0, np.int32)))
    made = []
    for target, bindings in zip(asked.targets, asked.bindings, strict=True):
        one = replace(asked, targets=(target,), bindings=bindings[None])
        value = parts(records, replace(one, targets=(_any(target),)), rows)[:, 3]
        met = parts(records, one, rows)[:, 4] > 0
        found = [MentionScore(m, float(v), bool(s)) for m, v, s in zip(mentions, value, met, strict=True) if v]
        made.append(sorted(found, key=lambda each: -each.value))
    return made


def _any(target: Target) -> Target:
    least = -np.inf
    return replace(
        target,
        comparator=">=",
        low=least,
        high=least,
        value=least,
        value_high=least,
        amount_low=least,
        amount_high=least,
    )
