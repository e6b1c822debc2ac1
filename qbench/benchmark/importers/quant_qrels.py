"""The judgments of FinQuant and MedQuant: one file of all, and files that say of which kind a query is."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from qbench.benchmark.importers.literals import number_of
from qbench.benchmark.reading import Problems
from qbench.benchmark.types import Kind, Query
from qbench.errors import InputError
from qbench.quantities.types import Comparator

ALL = ("qrel_compelete", "qrel_complete")
"""The judgments of all queries; the first is how its authors spell it."""

KINDS: Mapping[str, Kind] = {
    "qrel_in_training": "seen",
    "qrel_not_training": "unseen",
    "qrel_expanded": "expansion",
    "qrel_wo_surface": "wo_surface",
}
"""Judgments of the queries of one kind."""

COMPARATORS: Mapping[str, Comparator] = {"qrels_equal": "=", "qrels_greater": ">", "qrels_less": "<"}
"""Judgments of the queries with one comparator."""

Judgments = dict[str, dict[str, int]]


def read_judgments(path: Path, queries: Mapping[str, Query], documents: set[str], problems: Problems) -> Judgments:
    """The judgments of all queries: query id -> document id -> grade.

    Raises:
        InputError: the file is missing or broken, or (see `Problems`) a judgment is malformed, is repeated or points
            nowhere.
    """
    judged: Judgments = {}
    for query_id, pairs in _objects(path, problems):
        if query_id not in queries:
            error = InputError("these judgments are of a query that does not exist", file=path, value=query_id)
            problems.bad("judgments of a missing query", error)
            continue
        if query_id in judged:
            error = InputError("the query stands in the file twice", file=path, value=query_id)
            problems.bad("queries judged twice", error)
            continue
        judged[query_id] = {}
        for doc_id, grade in pairs:
            reason = _fault(doc_id, grade, documents, judged[query_id])
            if reason:
                error = InputError(f"{reason} (query {query_id})", file=path, value={doc_id: grade})
                problems.bad(reason, error)
            else:
                judged[query_id][doc_id] = int(grade)
    return judged


def _fault(doc_id: str, grade: Any, documents: set[str], judged: Mapping[str, int]) -> str:
    if doc_id not in documents:
        return "judgments of a missing document"
    if doc_id in judged:
        return "documents judged twice"
    number = None if isinstance(grade, str) else number_of(grade)
    return (
        "" if number is not None and number.is_integer() and abs(number) < 2**15 else "grades that are no whole number"
    )


def _objects(path: Path, problems: Problems) -> Iterator[tuple[str, list[tuple[str, Any]]]]:
    """The entries of {query: {document: grade}}, in order, repeated keys and all."""
    try:
        text = path.read_bytes().decode("utf-8-sig")
    except UnicodeDecodeError as fault:
        raise InputError(f"not valid UTF-8 at byte {fault.start}", file=path) from None
    if not text.strip():
        raise InputError("the file is empty", file=path)
    try:
        entries = json.loads(text, object_pairs_hook=list)
    except json.JSONDecodeError as fault:
        raise InputError(f"not valid JSON: {fault.msg}", file=path, line=fault.lineno) from None
    except (ValueError, RecursionError) as fault:
        raise InputError(f"not valid JSON: {fault}", file=path) from None
    if not text.lstrip().startswith("{"):
        raise InputError("not a JSON object of queries", file=path)
    for query_id, pairs in entries:
        if isinstance(pairs, list) and all(isinstance(pair, tuple) for pair in pairs):
            yield query_id, pairs
        else:
            message = "the judgments of a query should be an object of documents and grades"
            problems.bad("malformed judgments", InputError(message, file=path, value={query_id: pairs}))


def read_kinds(
    files: Mapping[str, Path], queries: Mapping[str, Query], judged: Judgments, problems: Problems
) -> dict[str, Kind]:
    """The kind of each query that a file of judgments in `KINDS` names; what disagrees is remarked on."""
    kinds: dict[str, Kind] = {}
    for name, kind in KINDS.items():
        for query_id, pairs in _named(files, name, queries, problems):
            if query_id in kinds:
                problems.note(
                    "queries of two kinds", f"{files[name].name}: query {query_id} is {kinds[query_id]} already"
                )
                continue
            kinds[query_id] = kind
            if judged.get(query_id) != dict(pairs):
                message = f"{files[name].name}: the judgments of query {query_id} differ from the complete ones"
                problems.note("queries whose judgments differ from the complete ones", message)
    return kinds


def compare_comparators(files: Mapping[str, Path], queries: Mapping[str, Query], problems: Problems) -> None:
    """Remark on each query whose condition in queries.tsv is not that of the file in `COMPARATORS` that names it."""
    for name, comparator in COMPARATORS.items():
        for query_id, _ in _named(files, name, queries, problems):
            written = queries[query_id].conditions[0].comparator
            if written != comparator:
                message = (
                    f"{files[name].name}: query {query_id} is listed under {comparator}, and its condition is {written}"
                )
                problems.note("queries whose condition differs between files", message)


def _named(
    files: Mapping[str, Path], name: str, queries: Mapping[str, Query], problems: Problems
) -> Iterator[tuple[str, list[tuple[str, Any]]]]:
    """The entries of one of the files, if it is there, without those of missing queries."""
    if name not in files:
        problems.note(f"no file {name}")
        return
    for query_id, pairs in _objects(files[name], problems):
        if query_id in queries:
            yield query_id, pairs
        else:
            error = InputError("these judgments are of a query that does not exist", file=files[name], value=query_id)
            problems.bad("judgments of a missing query", error)
