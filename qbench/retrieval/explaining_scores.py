"""Why a model, alone, with Q or with a filter, ranks a document where it does: its terms, and the quantities.

BM25, SPLADE    the sum of what each term adds
ColBERT         the sum of the maximum that each token finds (*Numbers Matter* eq. 6)
CodedColBERT    the same, with codes of values behind some tokens
DeepQuant       the sum over tokens and numbers, each with its share (*DeepQuant* eq. 10)
Q               normalised score + alpha qs (eq. 5, 7), qs being made of the Phi scores of mentions (eq. 3)
filter          the score, where for each condition a mention satisfies it
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from qbench.benchmark.benchmark import Benchmark
from qbench.benchmark.types import Query
from qbench.errors import OptionError
from qbench.quantities.codes import comparator_codes
from qbench.quantities.conditions import MET, verdicts
from qbench.quantities.types import Condition, Quantity
from qbench.retrieval.bench import Bench
from qbench.retrieval.explaining import bench_of, positions_of, query_of, scored, shown
from qbench.retrieval.finishing import Conditions, best_of, filtered, with_quantity_score
from qbench.retrieval.rankers import Candidates, Ranker, Search, TermRanker, TermScore
from qbench.retrieval.rates import comparable
from qbench.retrieval.systems import System
from qbench.retrieval.types import ConditionSource
from qbench.scoring.fusion import normalised
from qbench.scoring.phi import phi


@dataclass(frozen=True)
class ComparedMention:
    """A mention in the base unit of a condition.

    Attributes:
        mention: spans count from the start of the document.
        satisfies: whether it satisfies the condition.
        phi: its Phi score (*Numbers Matter* eq. 4); None without Q.
    """

    mention: Quantity
    satisfies: bool
    phi: float | None


@dataclass(frozen=True)
class ExplainedScore:
    """A document and its score.

    Attributes:
        doc_id, text: the document.
        score: by which it is ranked: with Q the sum of `normalised` and `added`; None where a filter leaves it out.
        own: the model's.
        normalised, added: the model's, normalised, and alpha qs; None without Q, and for a query without conditions.
        terms: what each term adds to `own`, without those that add nothing; () for a model whose score is no such sum.
        mentions: for each condition those in its base unit, what satisfies it first.
    """

    doc_id: str
    text: str
    score: float | None
    own: float
    normalised: float | None
    added: float | None
    terms: Sequence[TermScore]
    mentions: Sequence[Sequence[ComparedMention]]


@dataclass(frozen=True)
class ScoreExplanation:
    """How the last stage of a system ranks documents for a query.

    Attributes:
        searched: the text that its model is given.
        conditions: those that Q or the filter compares; () without.
        documents: the best first, those that a filter leaves out last.
    """

    searched: str
    conditions: Sequence[Condition]
    documents: Sequence[ExplainedScore]


def explain_scores(
    benchmark: Benchmark,
    system: System,
    query: str,
    folder: Path,
    *,
    top: int = 3,
    docs: Sequence[str] = (),
    source: ConditionSource = "parsed",
) -> ScoreExplanation:
    """How the last stage of a system ranks the best documents for a query, or given ones.

    Args:
        benchmark: the documents.
        system: its last stage is without Bind and without fusion.
        query: the id of one of the benchmark's queries, or a text.
        folder: where indexes are kept, as `execute` keeps them.
        top: number of documents.
        docs: ids of documents to explain instead; they are among those that the last stage's model scores.
        source: where the query's conditions come from; a text has none as data.

    Raises:
        OptionError: the last stage has Bind or a fusion, no conditions are given with the query, a document is unknown,
            or none of the documents is scored.
    """
    stage = system.stages[-1]
    if stage.binds or stage.fusion:
        remedy = "Leave out the fusion; explain Bind's parts with qbench.retrieval.explaining"
        raise OptionError("the last stage is with Bind or a fusion", value=str(system), remedy=remedy)
    bench = bench_of(benchmark, folder)
    wanted = positions_of(bench, docs)
    asked = query_of(benchmark, query, source)
    scoring = _scoring(bench, system, asked, source)
    # A document that is asked for is shown with its mentions even where a filter leaves it out.
    best = shown(scoring.own if wanted.size else scoring.final, top, wanted)
    if not best.docs.size:
        raise OptionError("the system scores none of these documents", value=list(docs) or query)
    documents = sorted(
        (scoring.document(int(doc)) for doc in best.docs),
        key=lambda one: np.inf if one.score is None else -one.score,
    )
    return ScoreExplanation(scoring.search.text, scoring.compared.conditions, documents)


@dataclass(frozen=True)
class _Scoring:
    """What the last stage gives for one query.

    Attributes:
        bench: what all stages share.
        ranker: its model.
        search: as `ranker.encoded` makes it.
        compared: the conditions of Q or the filter.
        family: the name of Q's Phi; "" without Q.
        own: scores of the model.
        normalised: the same, normalised; those of `own` without Q or without conditions.
        final: by which documents are ranked.
    """

    bench: Bench
    ranker: Ranker
    search: Search
    compared: Conditions
    family: str
    own: Candidates
    normalised: Candidates
    final: Candidates

    def document(self, doc: int) -> ExplainedScore:
        """One of the documents of `own`."""
        text, final = self.bench.corpus["passage"][doc], self.final
        own, even = (_score(some, doc) for some in (self.own, self.normalised))
        score = _score(final, doc)
        adds = bool(self.family and self.compared.conditions)
        terms = self.ranker.term_scores(self.search, doc, text) if isinstance(self.ranker, TermRanker) else ()
        return ExplainedScore(
            self.bench.corpus["doc_id"][doc],
            text,
            score,
            own or 0.0,
            even if adds else None,
            (score or 0.0) - (even or 0.0) if adds else None,
            [term for term in terms if term.score],
            [
                self._mentions(doc, condition, unit)
                for condition, unit in zip(self.compared.conditions, self.compared.units, strict=True)
            ],
        )

    def _mentions(self, doc: int, condition: Condition, unit: float) -> list[ComparedMention]:
        found = []
        for mention in self.bench.mentions.of(doc):
            one = comparable(mention, condition, self.bench.units)
            if one is None:
                continue
            ends = np.array([one.base_value]), np.array([one.base_high]), comparator_codes([one.comparator])
            score = float(phi(self.family, condition, *ends, unit)[0]) if self.family else None
            found.append(ComparedMention(mention, bool(verdicts(*ends, condition)[0] == MET), score))
        return sorted(found, key=lambda each: (not each.satisfies, -(each.phi or 0.0)))


def _scoring(bench: Bench, system: System, query: Query, source: ConditionSource) -> _Scoring:
    stage, role = system.stages[-1], system.roles[-1][1]
    compared = bench.conditions(query, source) if stage.quantity is not None else Conditions()
    ranker = (bench.reranker(stage) if system.rerankers else bench.first_stage(stage, 1000)).ranker
    (search,) = ranker.encoded([bench.search(stage, query, source)])
    own = scored(bench, system, query, source)
    if stage.takes_best and not system.rerankers:
        own = best_of(own, stage.k)
    given = bench, ranker, search, compared
    if stage.quantity is None or not compared.conditions:
        return _Scoring(*given, "", own, own, own)
    index = bench.quantity_index.index
    if stage.filters:
        return _Scoring(*given, "", own, own, filtered(own, index, compared))
    options = stage.quantity_options()
    final = with_quantity_score(own, ranker, search, index, compared, options, role)
    even = Candidates(own.docs, normalised(own.scores, from_lowest=options.scale == "minmax"))
    return _Scoring(*given, options.phi, own, even, final)


def _score(candidates: Candidates, doc: int) -> float | None:
    at = np.flatnonzero(candidates.docs == doc)
    return float(candidates.scores[at[0]]) if at.size else None
