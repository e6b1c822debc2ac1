"""Do labels hold? Judgments and samples against the quantities, by the rule that they should have been made by."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping

import polars as pl

from qbench.benchmark.benchmark import Benchmark
from qbench.benchmark.check_samples import sample_rules
from qbench.benchmark.findings import EXAMPLES, Finding, Severity, report
from qbench.benchmark.matching import UNDECIDED_GRADE, Matcher
from qbench.benchmark.relax import is_relaxed, strict_benchmark
from qbench.benchmark.types import UNDECIDED


def label_rules(benchmark: Benchmark) -> Iterator[Finding]:
    """The rules that compare labels with quantities; reported as skipped where there is nothing to compare."""
    if benchmark.quantities is None or not any(query.conditions for query in benchmark.queries):
        lacking = "no quantities" if benchmark.quantities is None else "no queries with conditions"
        yield Finding("labels", "skipped", "qrels", f"labels were not checked: the benchmark has {lacking}")
        return
    matcher = Matcher.of(benchmark)
    if is_relaxed(benchmark):
        benchmark = strict_benchmark(benchmark)  # what is near follows by rule from the strict labels
    if not matcher.knows_concepts:
        message = "concepts were not compared: the quantities have none"
        yield Finding("label-concepts", "skipped", "qrels", message)
    judgments = _Judgments(benchmark, compare_grades=matcher.knows_concepts)
    sampled = _by_query(benchmark.samples.select("query_id", "doc_id"))
    grades: dict[str, dict[str, int]] = {}
    for query in benchmark.queries:
        if query.conditions:
            samples = sampled.get(query.query_id, {})
            # A judged set that others made is not complete, so only its own documents matter: far fewer than all.
            wanted = {*judgments.of(query.query_id), *samples} if judgments.imported else None
            right = matcher.grades(query.conditions, wanted)
            judgments.compare(query.query_id, right)
            # Only what the samples need is kept: a common concept has thousands of answers, for thousands of queries.
            grades[query.query_id] = {doc_id: right[doc_id] for doc_id in samples if doc_id in right}
    yield from judgments.findings()
    yield from sample_rules(benchmark, matcher, grades)


def _by_query(rows: pl.DataFrame) -> dict[str, dict[str, int]]:
    """Query id -> document id -> third column (0 if there is none)."""
    found_: dict[str, dict[str, int]] = {}
    for query_id, doc_id, *rest in rows.iter_rows():
        found_.setdefault(query_id, {})[doc_id] = rest[0] if rest else 0
    return found_


class _Judgments:
    """The judgments of a benchmark, and how often they are not what the quantities say."""

    def __init__(self, benchmark: Benchmark, *, compare_grades: bool) -> None:
        self.imported = "importer" in benchmark.params or benchmark.manual
        # A table of facts decides there, whatever the texts state: only what a label says of its text can be compared.
        self.factual = benchmark.factual
        self._judged = _by_query(benchmark.qrels)
        self._compare_grades = compare_grades and not self.imported
        self._counts: Counter[str] = Counter()
        self._examples: dict[str, list[tuple[str, str]]] = {}

    def of(self, query_id: str) -> Mapping[str, int]:
        """Document -> grade."""
        return self._judged.get(query_id, {})

    def compare(self, query_id: str, right: Mapping[str, int]) -> None:
        """Check one query; `right` is what `Matcher.grades` gives for it."""
        judged = self.of(query_id)
        if self.factual:
            judged = {doc_id: grade for doc_id, grade in judged.items() if grade > 1}
        for doc_id, grade in judged.items():
            fault = _fault(grade, right.get(doc_id), compare_grades=self._compare_grades)
            if fault:
                self._add(fault, (query_id, doc_id))
        if judged and not self.imported and not self.factual:
            for doc_id, grade in right.items():
                if grade > 0 and doc_id not in judged:
                    self._add("missing", (query_id, doc_id))

    def findings(self) -> Iterator[Finding]:
        """What was found in all queries."""
        level: Severity = "warning" if self.imported else "error"
        rules: list[tuple[str, Severity, str]] = [
            ("positive", level, "{n} documents judged relevant do not meet the query's conditions"),
            ("grade", level, "{n} judgments have a higher grade than the concepts give"),
            ("negative", level, "{n} documents judged not relevant meet the query's conditions"),
            ("undecided", level, "{n} documents judged not relevant may meet the query's conditions"),
            ("missing", "warning", "{n} documents meet a query's conditions and are not judged"),
        ]
        for name, severity, message in rules:
            examples = self._examples.get(name, [])
            yield from report(f"label-{name}", severity, "qrels", message, examples, self._counts[name])

    def _add(self, fault: str, case: tuple[str, str]) -> None:
        self._counts[fault] += 1
        examples = self._examples.setdefault(fault, [])
        if len(examples) < EXAMPLES:
            examples.append(case)


def _fault(grade: int, right: int | None, *, compare_grades: bool) -> str:
    """What is wrong with one judgment, "" if nothing; `right` is the grade by the quantities, None for no match."""
    if grade == UNDECIDED:
        return ""
    if grade <= 0:
        return "" if right is None else "undecided" if right == UNDECIDED_GRADE else "negative"
    if right is None or right == UNDECIDED_GRADE:
        return "positive"
    # A lower one is right, too: the mention that would give the higher grade may be one that is not surely bound.
    return "grade" if compare_grades and grade > right else ""
