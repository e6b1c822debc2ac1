"""The benchmark of a leaderboard: one benchmark, or a test set whose two views are searched with the same queries.

On a test set a row's name says which corpus its system searches, and then the system: `C_s-BM25` searches sentences,
`C_q-BM25` descriptions (*Quantity Retrieval*, 5.2). `parse_view_system(str(named)) == named`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TypeVar

import polars as pl

from qbench.benchmark.benchmark import Benchmark
from qbench.benchmark.disk import open_benchmark
from qbench.errors import OptionError, QbenchError, UnknownNameError
from qbench.evaluation.buckets import magnitude
from qbench.evaluation.measures import DEFAULT_MEASURES
from qbench.mining.test_set import VIEWS, QuantityTestSet, is_test_set, open_test_set
from qbench.retrieval.grammar import parse_system
from qbench.retrieval.systems import System, shown_systems
from qbench.retrieval.types import ConditionSource, RunResult, row_label

DEFAULT_SYSTEMS: tuple[str, ...] = ("BM25", "BM25_filter", "QBM25", "BindBM25")

JUDGED = "Judged@10"
"""Share of judged documents in the top 10; shown where the relevance of unjudged documents is unknown."""

TEST_SET_SYSTEMS: tuple[str, ...] = ("C_s-BM25", "C_q-BM25")
TEST_SET_MEASURES: tuple[str, ...] = ("Exist@1", "Exist@10", "AP_found@10", "nDCG@10")
"""The measures of *Quantity Retrieval*, table 2; AP_found@10 is its column MAP@10."""


@dataclass(frozen=True)
class ViewSystem:
    """A system, and the view of a test set that it searches.

    Attributes:
        view: "C_s" or "C_q".
        system: the system.
    """

    view: str
    system: System

    def __str__(self) -> str:
        return f"{self.view}-{self.system}"


def parse_view_system(text: str) -> ViewSystem:
    """Parse a system's name with its view.

    Raises:
        UnknownNameError: the name does not start with a view, or the system is not known.
        OptionError: as in `parse_system`.

    >>> str(parse_view_system(" C_q-BM25( k1 = 2.0)"))
    'C_q-BM25(k1=2)'
    """
    view, hyphen, rest = text.strip().partition("-")
    if not hyphen or view not in VIEWS:
        raise UnknownNameError(
            "the name does not say which corpus of the test set to search",
            value=text,
            remedy="Write C_s-BM25 to search the sentences, or C_q-BM25 to search the descriptions",
        )
    return ViewSystem(view, parse_system(rest))


_LABELLED = re.compile(r"""\s*([^\s=()"'+,][^=()"+,]*?)\s*=\s*(\S.*)""", re.DOTALL)


def labelled(text: str) -> tuple[str | None, str]:
    """The label that is written before a system, if there is one, and the system.

    >>> labelled("MiniLM = SBERT(model=m)"), labelled("SBERT(model=m)")
    (('MiniLM', 'SBERT(model=m)'), (None, 'SBERT(model=m)'))
    """
    match = _LABELLED.fullmatch(text)
    return (match[1], match[2]) if match else (None, text)


def with_models(text: str, models: Mapping[str, str]) -> str:
    """A system's name, with a label and a view or without, in which every neural model says `model=...`.

    >>> with_models("C_q-SBERT-PQ", {"SBERT": "my-model"}), with_models("Mine=SBERT", {"SBERT": "my-model"})
    ('C_q-SBERT(model=my-model)-PQ', 'Mine=SBERT(model=my-model)')
    """
    label, named = labelled(text)
    view, hyphen, rest = named.strip().partition("-")
    if hyphen and view in VIEWS:
        whole = f"{view}-{parse_system(rest, models=models)}"
    else:
        whole = str(parse_system(named, models=models))
    return whole if label is None else f"{label}={whole}"


def shown_name(text: str) -> str:
    """A system as it is recorded: with its label, and paths by their last part; what is no system as it is."""
    label, named = labelled(text)
    view, hyphen, rest = named.strip().partition("-")
    of_view = bool(hyphen) and view in VIEWS
    try:
        whole = parse_system(rest if of_view else named).shown()
    except QbenchError:
        return text
    return f"{f'{label}=' if label else ''}{f'{view}-' if of_view else ''}{whole}"


_Named = TypeVar("_Named", System, ViewSystem)


@dataclass(frozen=True)
class Group:
    """The systems that run on one benchmark.

    Attributes:
        benchmark: the benchmark that they search.
        systems: the systems, without duplicates.
        prefix: prefix of the names of their rows: "C_q-", or "" for a single benchmark.
        evidence: returns columns doc_id, evidence, which link documents of different groups with the same content;
            None if each document is its own evidence.
        labels: system in the grammar -> its label, of those that have one.
    """

    benchmark: Benchmark
    systems: list[System]
    prefix: str = ""
    evidence: Callable[[], pl.DataFrame] | None = None
    labels: Mapping[str, str] = field(default_factory=dict)

    def shown(self, system: System | str) -> str:
        """A system's name in the grammar, with the view before it, and without the paths of this machine."""
        return self.prefix + (parse_system(system) if isinstance(system, str) else system).shown()

    def named(self, system: System | str) -> str:
        """Name of a system on the leaderboard: its label, or its name in the grammar."""
        return self.labels.get(str(system)) or self.prefix + self._names[str(system)]

    @cached_property
    def _names(self) -> dict[str, str]:
        """The names of the systems without a label."""
        return shown_systems(system for system in self.systems if str(system) not in self.labels)

    def label(self, system: System | str, conditions: ConditionSource) -> str:
        """Name of the system's row."""
        return row_label(self.named(system), conditions)


@dataclass(frozen=True)
class Contest:
    """The benchmarks and systems of one leaderboard.

    Attributes:
        name, digest: of the benchmark or the test set.
        sizes: kind of item -> number of items.
        groups: one for each benchmark; all have the same queries.
        measures: default measures.
        buckets: returns the buckets of the queries (query_id, dimension, bucket); None to derive them from the queries'
            conditions.
        judged_fully: whether documents without a judgment are known not to be relevant.
    """

    name: str
    digest: str
    sizes: Mapping[str, int]
    groups: list[Group]
    measures: Sequence[str] = DEFAULT_MEASURES
    buckets: Callable[[], pl.DataFrame] | None = None
    judged_fully: bool = True


def line_up(
    benchmark: str | Path | Benchmark | QuantityTestSet,
    systems: Sequence[str | System] | None,
    qrels: str | None,
    labels: Mapping[str, str] | None = None,
) -> Contest:
    """Assign systems to benchmarks.

    Args:
        benchmark: a folder (a benchmark of ours, a BEIR folder, a test set), or one of them in memory.
        systems: names, with a view in front on a test set, and before that a label or none (`labelled`); by default
            BM25 and its kin.
        qrels: which judgments of a BEIR folder with several.
        labels: system in the grammar, with its view -> label, besides those that are written with systems.

    Raises:
        UnknownNameError: a system is not known, or does not say which view of a test set it searches.
        OptionError: no system, one for a view that is not there, or two of one label.
        InputError: the folder cannot be read.
    """
    if isinstance(benchmark, QuantityTestSet) or (isinstance(benchmark, str | Path) and is_test_set(benchmark)):
        if qrels is not None:
            raise OptionError("only a BEIR folder has judgments to choose from", value=qrels)
        test_set = benchmark if isinstance(benchmark, QuantityTestSet) else open_test_set(benchmark)
        return _of_test_set(test_set, systems, labels or {})
    for name in systems or ():
        if labelled(str(name))[1].strip().partition("-")[0] in VIEWS:
            raise OptionError(
                "the name is that of a test set's corpus, but the folder holds a benchmark",
                value=str(name),
                remedy="Remove the prefix, or name a folder that `qbench test-set make` wrote",
            )
    parsed, written = _parsed(DEFAULT_SYSTEMS if systems is None else systems, parse_system)
    content = _open(benchmark, qrels)
    group = Group(content, list(parsed.values()), labels={**(labels or {}), **written})
    judged_fully = _judged_fully(content)
    return Contest(
        content.name,
        content.digest,
        {"documents": content.corpus.height},
        [group],
        DEFAULT_MEASURES if judged_fully else (*DEFAULT_MEASURES, JUDGED),
        judged_fully=judged_fully,
    )


def _judged_fully(benchmark: Benchmark) -> bool:
    """Whether documents without a judgment are known not to be relevant.

    The labels of a generated benchmark follow from all quantities of its corpus. Imported judgments that are all of
    relevant documents do not say which other documents were judged.
    """
    imported = "importer" in benchmark.params
    return not (benchmark.manual or (imported and bool((benchmark.qrels["grade"] <= 0).any())))


def _parsed(
    systems: Sequence[str | System], parse: Callable[[str], _Named]
) -> tuple[dict[str, _Named], dict[str, str]]:
    """Systems and labels, by the systems' names in the grammar; each system once.

    Raises:
        OptionError: no system, or a label is given twice.
    """
    parsed: dict[str, _Named] = {}
    labels: dict[str, str] = {}
    for each in systems:
        label, text = labelled(each) if isinstance(each, str) else (None, str(each))
        system = parse(text)
        parsed[str(system)] = system
        if label is None:
            continue
        if label in labels.values() and labels.get(str(system)) != label:
            raise OptionError("two systems of one label", value=label, remedy="Give each its own")
        labels[str(system)] = label
    if not parsed:
        raise OptionError("no system named", remedy=f"For example: {', '.join(DEFAULT_SYSTEMS)}")
    return parsed, labels


def _open(benchmark: str | Path | Benchmark, qrels: str | None) -> Benchmark:
    if isinstance(benchmark, str | Path):
        return open_benchmark(Path(benchmark), qrels=qrels)
    if qrels is not None:
        raise OptionError("qrels can be chosen only for a folder", value=qrels)
    return benchmark


def _of_test_set(
    test_set: QuantityTestSet, systems: Sequence[str | System] | None, labels: Mapping[str, str]
) -> Contest:
    if systems is None:
        systems = [name for name in TEST_SET_SYSTEMS if parse_view_system(name).view in test_set.views]
    view_systems, written = _parsed(systems, parse_view_system)
    named_all = {**labels, **written}
    missing = next((named for named in view_systems.values() if named.view not in test_set.views), None)
    if missing is not None:
        raise OptionError(f"this test set has no {VIEWS[missing.view]}", file=test_set.folder, value=str(missing))

    def evidence(view: str) -> pl.DataFrame:
        records = test_set.records()
        name = "description_id" if view == "C_q" else "doc_id"
        return records.select(doc_id=name, evidence="doc_id").unique(maintain_order=True)

    groups = [
        Group(
            view,
            [named.system for named in view_systems.values() if named.view == name],
            f"{name}-",
            lambda name=name: evidence(name),  # type: ignore[misc]
            {str(n.system): named_all[key] for key, n in view_systems.items() if n.view == name and key in named_all},
        )
        for name, view in test_set.views.items()
    ]
    return Contest(
        test_set.name,
        test_set.digest,
        {VIEWS[name]: view.corpus.height for name, view in test_set.views.items()},
        groups,
        (*TEST_SET_MEASURES, JUDGED) if test_set.manual else TEST_SET_MEASURES,
        lambda: _value_buckets(test_set.queries()),
        judged_fully=not test_set.manual,
    )


def _value_buckets(queries: pl.DataFrame) -> pl.DataFrame:
    """Buckets by unit family and magnitude of the value that answers a query."""
    rows = []
    for query_id, family, value in queries.select("description_id", "family", "value").iter_rows():
        rows += [(query_id, "family", family or "no unit"), (query_id, "magnitude", magnitude(value))]
    return pl.DataFrame(rows, schema=["query_id", "dimension", "bucket"], orient="row")


def pooled_qrels(
    runs: Sequence[tuple[Group, Sequence[RunResult]]], depth: int
) -> tuple[list[pl.DataFrame], list[pl.DataFrame]]:
    """Pool judgments over systems, as in *Quantity Retrieval*, 5.3.

    Remove relevant documents outside the top `depth` of every run of their view, unless a relevant document with the
    same evidence was retrieved in another view: a retrieved sentence keeps its descriptions. A query thus has relevant
    documents in all views or in none.

    Args:
        runs: the groups with their runs.
        depth: number of top documents of each run.

    Returns:
        the pooled qrels of each group, and the rows removed from them.
    """
    maps = [
        group.evidence() if group.evidence else group.benchmark.corpus.select("doc_id", evidence="doc_id")
        for group, _ in runs
    ]
    tops = [
        pl.concat([result.run.filter(pl.col("rank") <= depth).select("query_id", "doc_id") for result in results])
        .unique()
        .join(group.benchmark.qrels.filter(pl.col("grade") > 0), on=["query_id", "doc_id"], how="semi")
        .join(evidence, on="doc_id")
        for (group, results), evidence in zip(runs, maps, strict=True)
    ]
    retained: list[pl.DataFrame] = []
    removed: list[pl.DataFrame] = []
    for number, ((group, _), evidence) in enumerate(zip(runs, maps, strict=True)):
        elsewhere = [top.select("query_id", "evidence") for other, top in enumerate(tops) if other != number]
        brought = pl.concat(elsewhere).unique() if elsewhere else tops[number].clear().select("query_id", "evidence")
        pool = pl.concat(
            [
                tops[number].select("query_id", "doc_id"),
                brought.join(evidence, on="evidence").select("query_id", "doc_id"),
            ]
        ).unique()
        marked = group.benchmark.qrels.join(
            pool.with_columns(pooled=pl.lit(value=True)), on=["query_id", "doc_id"], how="left", maintain_order="left"
        )
        stays = pl.col("pooled").is_not_null() | (pl.col("grade") <= 0)
        retained.append(marked.filter(stays).drop("pooled"))
        removed.append(marked.filter(~stays).drop("pooled"))
    return retained, removed
