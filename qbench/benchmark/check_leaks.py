"""Does training keep to what the kinds of test queries promise? Concepts held out, and concepts that are seen."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator

import polars as pl

from qbench.benchmark.benchmark import Benchmark
from qbench.benchmark.findings import Finding, report
from qbench.benchmark.types import Query
from qbench.quantities.concept_match import concept_alternatives, folded

HELD_OUT_KINDS = ("unseen", "expansion", "wo_surface")
"""Kinds of test queries whose concepts training must not have seen (*Numbers Matter* C.2)."""

Words = frozenset[str]
"""A concept without case, number and order of its words."""

Meant = frozenset[Words]
"""The concepts that a condition stands for, one or several."""


def leak_rules(benchmark: Benchmark) -> Iterator[Finding]:
    """The rules that compare the concepts of training with those of the test queries."""
    trained = _Trained(benchmark)
    hidden, leaks = _held_out(benchmark, trained)
    message = (
        "{n} test queries should ask for a concept that training never shows, and training queries ask for it "
        "or for a more specific one"
    )
    yield from report("leak-concepts", "error", "queries", message, leaks)
    yield from _seen(benchmark, trained)
    yield from _held_out_documents(benchmark, hidden)


class _Holders:
    """Concepts to look for in others: each is kept under one of its words, so that a search costs what it finds."""

    def __init__(self, concepts: Iterable[Words]) -> None:
        self._by_word: dict[str, list[Words]] = {}
        for words in concepts:
            if words:
                self._by_word.setdefault(min(words), []).append(words)

    def held_by(self, words: Words) -> bool:
        """Whether a concept is one of those looked for, or a more specific one."""
        return any(wanted <= words for word in words for wanted in self._by_word.get(word, ()))


class _Trained:
    """The concepts of training queries."""

    def __init__(self, benchmark: Benchmark) -> None:
        self._exact: dict[Words, str] = {}
        self._by_word: dict[str, dict[Meant, str]] = {}
        self._found: dict[Meant, str | None] = {}
        for query in benchmark.queries_of("train"):
            for _, meant in _concepts(query, benchmark.language):
                for words in meant:
                    self._exact.setdefault(words, query.query_id)
                    for word in words:
                        self._by_word.setdefault(word, {}).setdefault(meant, query.query_id)

    def asks(self, meant: Meant) -> str | None:
        """A training query that asks for one of these very concepts; None if there is none."""
        return next((self._exact[words] for words in sorted(meant, key=sorted) if words in self._exact), None)

    def shows(self, meant: Meant) -> str | None:
        """A training query that asks for one of these concepts, or for nothing but more specific ones.

        Where only some of its alternatives are more specific, the others may be what its samples show.
        """
        if meant not in self._found:
            self._found[meant] = self.asks(meant) or self._more_specific(meant)
        return self._found[meant]

    def _more_specific(self, meant: Meant) -> str | None:
        wanted = _Holders(meant)
        for words in sorted(meant, key=sorted):
            for trained, query_id in self._by_word.get(min(words), {}).items():
                if all(wanted.held_by(alternative) for alternative in trained):
                    return query_id
        return None


def _concepts(query: Query, language: str) -> list[tuple[str, Meant]]:
    """The concept of each condition that has one, as it is written and as it is compared."""
    named = [(" ".join(condition.concept), condition.concept) for condition in query.conditions if condition.concept]
    return [
        (written, frozenset(folded(words, language) for words in concept_alternatives(concept) if words))
        for written, concept in named
    ]


def _held_out(benchmark: Benchmark, trained: _Trained) -> tuple[set[Words], list[tuple[str, str, str]]]:
    """What training must not show.

    A query of a held-out kind asks for at least one thing that no training query asks for; with several constraints,
    the others may be known.

    Returns:
        held-out concepts, and (test query, training query, concept) for each test query that asks for nothing new.
    """
    hidden: set[Words] = set()
    leaks: list[tuple[str, str, str]] = []
    for query in benchmark.queries_of("test"):
        wanted = _concepts(query, benchmark.language)
        if query.kind not in HELD_OUT_KINDS or not wanted:
            continue
        in_training = [trained.shows(meant) for _, meant in wanted]
        for (_, meant), by in zip(wanted, in_training, strict=True):
            if by is None:
                hidden |= meant
        if in_training[0] is not None and None not in in_training:
            leaks.append((query.query_id, in_training[0], wanted[0][0]))
    return hidden, leaks


def _seen(benchmark: Benchmark, trained: _Trained) -> Iterator[Finding]:
    """Test queries that should ask for what training asks for; imported and judged ones may train elsewhere."""
    if "importer" in benchmark.params or benchmark.manual:
        return
    lacking = []
    for query in benchmark.queries_of("test"):
        if query.kind == "seen":
            concepts = _concepts(query, benchmark.language)
            lacks = [written for written, meant in concepts if trained.asks(meant) is None]
            if lacks:
                lacking.append((query.query_id, lacks[0]))
    message = "{n} seen test queries ask for a concept that no training query asks for"
    yield from report("kind-seen", "error", "queries", message, lacking)


def _held_out_documents(benchmark: Benchmark, hidden: Collection[Words]) -> Iterator[Finding]:
    """Training samples made from sentences that hold a held-out concept, or that answer a held-out query."""
    trained = [query.query_id for query in benchmark.queries_of("train")]
    samples = benchmark.samples.filter(pl.col("query_id").is_in(trained)).select("sample_id", "doc_id")
    if benchmark.quantities is not None and hidden:
        carriers = _carriers(benchmark.quantities.select("doc_id", "concept"), samples, hidden, benchmark.language)
        seen = samples.join(carriers, on="doc_id", how="semi", maintain_order="left").rows()
        message = "{n} training samples come from a sentence that holds a concept held out for testing"
        yield from report("leak-held-out-sentences", "error", "samples", message, seen)
    query_ids = [query.query_id for query in benchmark.queries_of("test") if query.kind in HELD_OUT_KINDS]
    answers = benchmark.qrels.filter(pl.col("query_id").is_in(query_ids), pl.col("grade") > 0)["doc_id"]
    seen = samples.filter(pl.col("doc_id").is_in(answers.unique().to_list())).rows()
    message = "{n} training samples come from a sentence that answers a test query with a held-out concept"
    yield from report("leak-test-positives", "error", "samples", message, seen)


def _carriers(mentions: pl.DataFrame, samples: pl.DataFrame, hidden: Collection[Words], language: str) -> pl.DataFrame:
    """The mentions in samples' sentences whose concept is a held-out one or more specific; each concept tried once."""
    used = mentions.join(samples, on="doc_id", how="semi")
    wanted = _Holders(hidden)
    held = [concept for concept in used["concept"].unique() if wanted.held_by(folded(concept.split(), language))]
    return used.join(pl.DataFrame({"concept": held}, schema={"concept": pl.String}), on="concept", how="semi")
