"""One explanation for a leaderboard's page: what makes up the score of a query's best document, as bars.

What is drawn is what `qbench explain` prints. Of a board with several systems it is the one whose score says most:
DeepQuant, else one with Bind, else one with quantities.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from qbench.benchmark.benchmark import Benchmark
from qbench.benchmark.summary import sample_queries
from qbench.benchmark.types import Query
from qbench.errors import InputError, MissingPackageError
from qbench.models.numbers import OPERATORS, number_text
from qbench.quantities.mentions import asked, stated
from qbench.retrieval.explaining import explain
from qbench.retrieval.explaining_numbers import NAME, explain_numbers
from qbench.retrieval.explaining_scores import explain_scores
from qbench.retrieval.systems import System
from qbench.retrieval.types import ConditionSource

MOST = 8
"""Bars of a group, at most: the first ones."""

SAMPLES = 5
"""Queries of different kinds, of which the first with a condition is drawn."""


@dataclass(frozen=True)
class Bar:
    """A part of a score.

    Attributes:
        name: what it is.
        value: its length; not negative.
        note: what is said beside its figure.
    """

    name: str
    value: float
    note: str = ""


@dataclass(frozen=True)
class Picture:
    """Why a document is the best one of a query.

    Attributes:
        label: the row of the board.
        query, doc_id, text: the query and the document.
        groups: a heading and its bars, each group with a scale of its own.
    """

    label: str
    query: str
    doc_id: str
    text: str
    groups: tuple[tuple[str, tuple[Bar, ...]], ...]


def explained_row(rows: Iterable[tuple[str, System]]) -> tuple[str, System] | None:
    """The row whose score is drawn; None if no row has more than one part, or only models that are slow to open.

    Args:
        rows: labels and systems.
    """
    kept = [(_telling(system), label, system) for label, system in rows]
    best = max(kept, key=lambda row: row[0], default=None)
    return None if best is None or not best[0] else (best[1], best[2])


def _telling(system: System) -> int:
    stage = system.first
    if system.rerankers or stage.fusion:
        return 0
    if stage.model.name == NAME and stage.quantity is None:
        return 3
    if stage.model.name != "BM25" or stage.encoder:
        return 0
    return 2 if stage.binds else int(stage.quantity is not None)


def picture(
    benchmark: Benchmark,
    row: tuple[str, System],
    queries: Sequence[Query],
    folder: Path,
    source: ConditionSource,
) -> Picture | None:
    """The best document of the first sample query with conditions; None without such a query, or without its model.

    Args:
        benchmark: that was searched.
        row: from `explained_row`.
        queries: of the board.
        folder: where its indexes are.
        source: where the row's runs have conditions from.
    """
    query = next((one for one in sample_queries(queries, SAMPLES) if one.conditions), None)
    if query is None:
        return None
    label, system = row
    drawn = _numbers if system.first.model.name == NAME else _bound if system.first.binds else _scored
    try:
        doc_id, text, groups = drawn(benchmark, system, query.query_id, folder, source)
    except (InputError, MissingPackageError):
        return None  # the run is there all the same: it was made where the model was
    kept = tuple((title, tuple(bars[:MOST])) for title, bars in groups if bars)
    return Picture(label, query.text, doc_id, text, kept)


_Drawn = tuple[str, str, list[tuple[str, list[Bar]]]]


def _numbers(benchmark: Benchmark, system: System, query: str, folder: Path, source: ConditionSource) -> _Drawn:
    found = explain_numbers(benchmark, system, query, folder, top=1, source=source)
    best, alpha = found.documents[0], found.alpha
    both = [
        Bar("numbers", (1 - alpha) * best.numbers, f"{1 - alpha:.2f} x {best.numbers:.3f}"),
        Bar("words", alpha * best.words, f"{alpha:.2f} x {best.words:.3f}"),
    ]
    groups = [(f"{best.score:.3f} in all", both)]
    for (number, operators), answers in zip(found.asked, best.answers, strict=True):
        read = [Bar(f"{op} {number_text(number)}", share) for op, share in zip(OPERATORS, operators, strict=True)]
        worth = [Bar(number_text(one.number), one.relevance, f"unit {one.attention:.2f}") for one in answers]
        groups += [
            ("operator read in the query", read),
            (f"relevance for {number_text(number)}; the first counts", worth),
        ]
    return best.doc_id, best.text, groups


def _bound(benchmark: Benchmark, system: System, query: str, folder: Path, source: ConditionSource) -> _Drawn:
    explained = explain(benchmark, system, query, folder, top=1, source=source)
    best, weights = explained.documents[0], explained.weights
    parts = [Bar(part, weights[part] * value, f"{weights[part]:g} x {value:.2f}") for part, value in best.parts.items()]
    groups = [(f"{best.score:.2f} in all", parts)]
    for (condition, _), mentions in zip(explained.conditions, best.mentions, strict=True):
        bars = [Bar(stated(one.mention), one.value, _verdict(one.satisfies)) for one in mentions]
        groups.append((f"values for {asked(condition)}", bars))
    return best.doc_id, best.text, groups


def _scored(benchmark: Benchmark, system: System, query: str, folder: Path, source: ConditionSource) -> _Drawn:
    explained = explain_scores(benchmark, system, query, folder, top=1, source=source)
    best = explained.documents[0]
    groups = [(f"{best.own:.3f} of words", [Bar(term.asked, term.score) for term in best.terms])]
    if best.normalised is not None and best.added is not None:
        both = [Bar("words, normalised", best.normalised), Bar("quantities", best.added)]
        groups.insert(0, (f"{best.score or 0.0:.3f} in all", both))
    for condition, mentions in zip(explained.conditions, best.mentions, strict=True):
        worth = ((one, float(one.satisfies) if one.phi is None else one.phi) for one in mentions)
        bars = [Bar(stated(one.mention), value, _verdict(one.satisfies)) for one, value in worth]
        groups.append((f"values for {asked(condition)}", bars))
    return best.doc_id, best.text, groups


def _verdict(satisfies: bool) -> str:
    return "satisfies" if satisfies else "does not satisfy"
