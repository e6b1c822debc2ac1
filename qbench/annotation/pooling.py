"""The documents to judge for a query: pooled from runs and the index (*Numbers Matter*, C.1, candidate lists)."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import polars as pl

from qbench.annotation.form import Item
from qbench.benchmark.benchmark import Benchmark
from qbench.benchmark.export import find_runs
from qbench.benchmark.matching import Matcher
from qbench.benchmark.trec import read_run
from qbench.benchmark.types import Query, Split
from qbench.errors import InputError, OptionError
from qbench.progress import Progress, silent
from qbench.quantities.concept_match import concept_alternatives, join_alternatives
from qbench.quantities.extractors import get_extractor
from qbench.quantities.types import Condition
from qbench.randomness import generator
from qbench.retrieval.document_quantities import extractor_options

LOOK_UP = "look-up"
"""The source of a candidate from the index; other sources are names of runs."""

Synonyms = Callable[[str], tuple[str, ...]]


def choose(benchmark: Benchmark, split: Split, number: int | None, named: Sequence[str], seed: int) -> list[Query]:
    """Choose the queries to judge, in random order; comparators take turns, so that each has its share.

    Args:
        benchmark: of the queries.
        split: of the queries; not looked at where queries are named.
        number: maximum number of queries; None for all.
        named: ids of queries to judge instead.
        seed: of the choice and the order.

    Raises:
        OptionError: a named query does not exist or is named twice, or the split has none.
    """
    by_id = {query.query_id: query for query in benchmark.queries}
    for i, name in enumerate(named):
        if name not in by_id:
            raise OptionError("no such query", value=name, remedy="`qbench benchmark show` lists some")
        if name in named[:i]:
            raise OptionError("this query is named twice", value=name)
    pool = [by_id[name] for name in named] if named else benchmark.queries_of(split)
    if not pool:
        raise OptionError(f"{benchmark.name} has no queries in this split", value=split)
    order = generator(seed, "annotated queries").permutation(len(pool)).tolist()
    turns: dict[str, list[Query]] = {}
    for i in order:
        turns.setdefault(_kind(pool[i]), []).append(pool[i])
    longest = max(map(len, turns.values()))
    dealt = [group[i] for i in range(longest) for _, group in sorted(turns.items()) if i < len(group)][:number]
    # In turns they would give away what comes next.
    return [dealt[i] for i in generator(seed, "order of queries").permutation(len(dealt)).tolist()]


def with_conditions(benchmark: Benchmark, queries: Sequence[Query]) -> list[Query]:
    """The queries; those without conditions get the ones that are parsed from their text."""
    if all(query.conditions for query in queries):
        return list(queries)
    extractor = get_extractor(extractor_options(benchmark))
    return [
        query if query.conditions else replace(query, conditions=extractor.parse_query(query.text).conditions)
        for query in queries
    ]


def look_up(
    benchmark: Benchmark,
    wanted: Mapping[str, Sequence[Condition]],
    synonyms: Synonyms,
    most: int,
    seed: int,
    progress: Progress = silent,
) -> tuple[dict[str, list[str]], int]:
    """Look up each query's documents in the index: those that meet, or may meet, its conditions.

    Args:
        benchmark: with quantities.
        wanted: query id -> conditions.
        synonyms: other names of a concept, which count as the concept.
        most: maximum number of documents per query; the seed chooses among more.
        seed: of that choice.
        progress: receives the number of finished queries.

    Returns:
        query id -> document ids, sorted; and the number of documents left out, over all queries.
    """
    if benchmark.quantities is None:
        return {query_id: [] for query_id in wanted}, 0
    matcher = Matcher.of(benchmark)
    candidates, dropped = {}, 0
    for number, (query_id, conditions) in enumerate(wanted.items(), start=1):
        named = tuple(
            replace(condition, concept=_with_synonyms(condition.concept, synonyms)) for condition in conditions
        )
        docs = sorted(matcher.grades(named)) if named else []
        if len(docs) > most:
            dropped += len(docs) - most
            picked = generator(seed, "looked-up documents", query_id).permutation(len(docs))[:most]
            docs = sorted(docs[i] for i in picked.tolist())
        candidates[query_id] = docs
        progress(number, len(wanted), "queries")
    return candidates, dropped


def pooled(runs: Mapping[str, pl.DataFrame], benchmark: Benchmark, depth: int) -> dict[str, dict[str, list[str]]]:
    """Query id -> document id -> names of the runs with the document among their first `depth`.

    Raises:
        InputError: a run names a document that the corpus does not have.
    """
    corpus = benchmark.corpus.select("doc_id")
    pool: dict[str, dict[str, list[str]]] = {}
    for name, run in runs.items():
        top = run.filter(pl.col("rank") <= depth).select("query_id", "doc_id")
        unknown = top.join(corpus, on="doc_id", how="anti")
        if unknown.height:
            remedy = "Is it a run on another benchmark?"
            message = f"the run {name} has a document that is not in the corpus"
            raise InputError(message, value=unknown["doc_id"][0], remedy=remedy)
        for query_id, doc_id in top.sort("query_id", "doc_id").iter_rows():
            pool.setdefault(query_id, {}).setdefault(doc_id, []).append(name)
    return pool


def load_runs(paths: Sequence[Path], benchmark: Benchmark) -> dict[str, pl.DataFrame]:
    """Runs by name, from run files and from the folders of leaderboards.

    Raises:
        InputError: a path is neither, a folder has no finished run on this benchmark, or a run cannot be read.
        OptionError: two runs have one name.
    """
    runs: dict[str, pl.DataFrame] = {}
    for path in paths:
        if path.is_dir():
            loaded = find_runs(path / "runs", benchmark) or find_runs(path, benchmark)
            if not loaded:
                remedy = "Make one with `qbench leaderboard BENCH -o FOLDER`, and name that folder, or name a run file"
                raise InputError("no finished run on this benchmark", file=path, remedy=remedy)
        else:
            loaded = {path.name.removesuffix(".gz").rpartition(".")[0] or path.name: read_run(path)}
        for name, run in loaded.items():
            if name in runs or name == LOOK_UP:
                raise OptionError("two sources of one name", file=path, value=name, remedy="Rename a run file")
            runs[name] = run
    return runs


def gather(
    queries: Sequence[Query],
    looked_up: Mapping[str, Sequence[str]],
    pool: Mapping[str, Mapping[str, Sequence[str]]],
    *,
    annotators: int,
    shared: int,
    seed: int,
) -> list[Item]:
    """The items in the order of the sheets: queries in the given order, the candidates of each in random order.

    With several annotators the first `shared` queries go to all of them, and the others to one each, in turn. A query
    without candidates has no items.
    """
    items = []
    position = 0
    for query in queries:
        sources = {doc: [LOOK_UP] for doc in looked_up.get(query.query_id, ())}
        for doc, names in pool.get(query.query_id, {}).items():
            sources.setdefault(doc, []).extend(names)
        if not sources:
            continue
        sheet = 0 if annotators == 1 or position < shared else 1 + (position - shared) % annotators
        position += 1
        docs = sorted(sources)
        for i in generator(seed, "order of candidates", query.query_id).permutation(len(docs)).tolist():
            items.append(Item(query.query_id, docs[i], tuple(sources[docs[i]]), sheet))
    return items


def _kind(query: Query) -> str:
    return " ".join(condition.comparator for condition in query.conditions)


def _with_synonyms(concept: tuple[str, ...], synonyms: Synonyms) -> tuple[str, ...]:
    """The concept and its synonyms as alternatives; a condition on any concept stays as it is."""
    alternatives = concept_alternatives(concept)
    if alternatives == ((),):
        return concept
    named = dict.fromkeys(alternatives)
    for alternative in alternatives:
        named |= dict.fromkeys(tuple(other.split()) for other in synonyms(" ".join(alternative)))
    return join_alternatives(tuple(named))
