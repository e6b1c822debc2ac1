"""Do labels hold? Judgments and samples against the quantities, by the rule that they should have been made by."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from qbench.benchmark.check import Finding, Severity, found
from qbench.benchmark.check_samples import sample_rules
from qbench.benchmark.matching import UNDECIDED_GRADE, Matcher

if TYPE_CHECKING:
    from collections.abc import Mapping

    from qbench.benchmark.disk import Benchmark


def label_rules(benchmark: Benchmark) -> Iterator[Finding]:
    """The rules that compare labels with quantities; reported as skipped where there is nothing to compare."""
    if benchmark.quantities is None or not any(query.conditions for query in benchmark.queries):
        lacking = "no quantities" if benchmark.quantities is None else "no queries with conditions"
        yield Finding("labels", "skipped", "qrels", f"labels were not checked: the benchmark has {lacking}")
        return
    matcher = Matcher(benchmark.quantities)
    if not matcher.knows_concepts:
        message = "concepts were not compared: the quantities have none"
        yield Finding("label-concepts", "skipped", "qrels", message)
    grades = {query.query_id: matcher.grades(query.conditions) for query in benchmark.queries if query.conditions}
    yield from _judgments(benchmark, matcher, grades)
    yield from sample_rules(benchmark, matcher, grades)


def _judgments(benchmark: Benchmark, matcher: Matcher, grades: Mapping[str, dict[str, int]]) -> Iterator[Finding]:
    imported = "importer" in benchmark.params
    judged: dict[str, dict[str, int]] = {}
    for query_id, doc_id, grade in benchmark.qrels.iter_rows():
        judged.setdefault(query_id, {})[doc_id] = grade
    cases: dict[str, list[tuple[str, str]]] = {"positive": [], "grade": [], "negative": [], "open": [], "missing": []}
    for query_id, right in grades.items():
        given = judged.get(query_id, {})
        for doc_id, grade in given.items():
            fault = _judgment_fault(grade, right.get(doc_id), compare_grades=matcher.knows_concepts and not imported)
            if fault:
                cases[fault].append((query_id, doc_id))
        if given and not imported:
            cases["missing"] += [
                (query_id, doc_id) for doc_id, grade in right.items() if grade > 0 and doc_id not in given
            ]
    level: Severity = "warning" if imported else "error"
    rules: list[tuple[str, str, Severity, str]] = [
        ("positive", "label-positive", level, "{n} documents judged relevant do not meet the query's conditions"),
        ("grade", "label-grade", level, "{n} judgments have another grade than the concepts give"),
        ("negative", "label-negative", level, "{n} documents judged not relevant meet the query's conditions"),
        ("open", "label-undecided", level, "{n} documents judged not relevant may meet the query's conditions"),
        ("missing", "label-missing", "warning", "{n} documents meet a query's conditions and are not judged"),
    ]
    for name, rule, severity, message in rules:
        yield from found(rule, severity, "qrels", message, cases[name])


def _judgment_fault(grade: int, right: int | None, *, compare_grades: bool) -> str:
    """What is wrong with one judgment, "" if nothing; `right` is the grade by the quantities, None for no match."""
    if grade <= 0:
        return "" if right is None else "open" if right == UNDECIDED_GRADE else "negative"
    if right is None or right == UNDECIDED_GRADE:
        return "positive"
    return "grade" if compare_grades and grade != right else ""
