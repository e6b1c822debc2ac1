"""Checks of a benchmark: duplicates, leaks between splits, dangling ids, labels that do not hold."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

import polars as pl

from qbench.artefacts import changed_files
from qbench.benchmark.benchmark import Benchmark, unanswered
from qbench.benchmark.check_labels import label_rules
from qbench.benchmark.check_leaks import leak_rules
from qbench.benchmark.disk import KIND
from qbench.benchmark.findings import Finding, Severity, report
from qbench.benchmark.parquet import KEYS, empty
from qbench.benchmark.types import SPLITS, Query
from qbench.progress import Progress, silent
from qbench.quantities.concept_match import concept_alternatives
from qbench.store import read_manifest


def check(benchmark: Benchmark, *, progress: Progress = silent) -> list[Finding]:
    """Apply every rule.

    Rules about labels compare the judgments and samples with the benchmark's quantities, so they need both quantities
    and queries with conditions; where there are none they are reported as skipped. The labels of an imported benchmark
    were made by its authors: there a label that does not follow from the quantities is a warning.

    Args:
        benchmark: what to check.
        progress: called after each rule.

    Returns:
        the findings, rule by rule; without any "error" the benchmark is sound.
    """
    rules: list[Callable[[Benchmark], Iterable[Finding]]] = [
        _repeated_ids,
        _repeated_texts,
        _empty_texts,
        _infinite_values,
        _dangling_ids,
        _broken_triples,
        _unanswerable,
        _shared_queries,
        _shared_conditions,
        leak_rules,
        label_rules,
    ]
    findings: list[Finding] = []
    for done, rule in enumerate(rules):
        progress(done, len(rules))
        findings += rule(benchmark)
    progress(len(rules), len(rules))
    return findings


def check_files(folder: Path) -> list[Finding]:
    """Compare a benchmark's files with its manifest; its card may be edited, its tables may not.

    Raises:
        InputError: the folder is not a finished benchmark.
    """
    manifest = read_manifest(folder, KIND)
    changed = list(changed_files(folder, manifest))
    message = "{n} files are not as the manifest says"
    return list(report("changed-files", "error", "manifest.json", message, changed))


def _same_text(column: str) -> pl.Expr:
    """A text with normalised case and white space."""
    return pl.col(column).str.to_lowercase().str.replace_all(r"\s+", " ").str.strip_chars()


def _repeated_ids(benchmark: Benchmark) -> Iterator[Finding]:
    for table, key in KEYS.items():
        keys = _frame(benchmark, table).select(key)
        repeated = keys.filter(keys.is_duplicated()).unique(maintain_order=True).rows()
        message = f"{{n}} values of {' and '.join(key)} name several rows"
        yield from report("duplicate-ids", "error", table, message, repeated)


def _repeated_texts(benchmark: Benchmark) -> Iterator[Finding]:
    documents = benchmark.corpus.filter(pl.col("text").str.strip_chars() != "")
    message = "{n} texts stand in the corpus more than once, but for case and white space"
    same = _groups(documents, [_same_text("title").alias("_title"), _same_text("text").alias("_text")], "doc_id")
    yield from report("duplicate-documents", "warning", "corpus", message, same)
    same = _groups(_frame(benchmark, "queries"), ["split", _same_text("text").alias("_text")], "query_id")
    message = "{n} query texts stand in one split more than once"
    yield from report("duplicate-queries", "warning", "queries", message, same)


def _frame(benchmark: Benchmark, table: str) -> pl.DataFrame:
    """A table by name; of the queries only ids, texts and splits, since their conditions are dear to lay out."""
    if table != "queries":
        frame = benchmark.table(table)
        return empty(table) if frame is None else frame
    rows = [(query.query_id, query.text, query.split) for query in benchmark.queries]
    schema = {"query_id": pl.String, "text": pl.String, "split": pl.String}
    return pl.DataFrame(rows, schema=schema, orient="row")


def _groups(frame: pl.DataFrame, keys: list[pl.Expr | str], name: str) -> list[tuple[str, ...]]:
    """The names of the rows that agree in all keys, a tuple a group, groups of one left out."""
    groups = frame.group_by(keys, maintain_order=True).agg(pl.col(name)).filter(pl.col(name).list.len() > 1)
    return [tuple(names) for names in groups[name].to_list()]


def _empty_texts(benchmark: Benchmark) -> Iterator[Finding]:
    tables: list[tuple[str, str, Severity]] = [
        ("corpus", "doc_id", "warning"),
        ("queries", "query_id", "error"),
        ("samples", "sample_id", "error"),
    ]
    for table, name, severity in tables:
        blank = _frame(benchmark, table).filter(pl.col("text").str.strip_chars() == "")[name]
        yield from report("empty-texts", severity, table, "{n} rows have no text", blank)


def _infinite_values(benchmark: Benchmark) -> Iterator[Finding]:
    for table, name in (("quantities", "doc_id"), ("samples", "sample_id")):
        frame = _frame(benchmark, table)
        numbers = [column for column, dtype in frame.schema.items() if dtype == pl.Float64]
        bad = frame.filter(~pl.all_horizontal(pl.col(numbers).is_finite()))[name]
        yield from report("not-finite", "error", table, "{n} rows hold a value that is not a finite number", bad)


def _dangling_ids(benchmark: Benchmark) -> Iterator[Finding]:
    ids = {
        "query_id": pl.Series([query.query_id for query in benchmark.queries], dtype=pl.String),
        "doc_id": benchmark.corpus["doc_id"],
        "positive_id": benchmark.samples["sample_id"],
        "negative_id": benchmark.samples["sample_id"],
    }
    for table in ("qrels", "quantities", "samples", "triples"):
        frame = _frame(benchmark, table)
        for column in frame.columns:
            if column in ids:
                dangling = frame.filter(~pl.col(column).is_in(ids[column].to_list()))[column]
                yield from report(
                    "dangling-ids", "error", table, f"{{n}} rows have a {column} that does not exist", dangling
                )


def _broken_triples(benchmark: Benchmark) -> Iterator[Finding]:
    samples = benchmark.samples.select("sample_id", "query_id", "label").unique("sample_id", keep="first")
    for column, label, name in (("positive_id", 1, "positive"), ("negative_id", 0, "negative")):
        pairs = benchmark.triples.join(samples, left_on=column, right_on="sample_id", how="inner", suffix="_of_sample")
        wrong = pairs.filter((pl.col("label") != label) | (pl.col("query_id") != pl.col("query_id_of_sample")))
        message = f"{{n}} triples name a {name} sample that is none, or of another query"
        yield from report("broken-triples", "error", "triples", message, wrong.select("query_id", column).rows())


def _unanswerable(benchmark: Benchmark) -> Iterator[Finding]:
    message = "{n} queries have no relevant document"
    yield from report("queries-without-positives", "error", "queries", message, unanswered(benchmark))
    tested = {query.query_id for query in benchmark.queries_of("test")}
    used = benchmark.samples.filter(pl.col("query_id").is_in(list(tested)))["sample_id"]
    yield from report("test-samples", "error", "samples", "{n} training samples belong to test queries", used)


def _shared_queries(benchmark: Benchmark) -> Iterator[Finding]:
    """Query texts that two splits have in common."""
    texts = _frame(benchmark, "queries").with_columns(_text=_same_text("text"))
    for first, second in _pairs_of_parts():
        a, b = (texts.filter(pl.col("split") == split).select("query_id", "_text") for split in (first, second))
        same = a.join(b, on="_text", suffix="_other").select("query_id", "query_id_other").rows()
        message = f"{{n}} pairs of queries have the same text in {first} and {second}"
        yield from report("leak-query-text", "error", "queries", message, same)


def _shared_conditions(benchmark: Benchmark) -> Iterator[Finding]:
    """Queries with equal concepts, comparators, values and units in two splits, whatever their words."""
    by_split: dict[str, dict[object, str]] = {split: {} for split in SPLITS}
    for query in benchmark.queries:
        if query.conditions:
            by_split[query.split].setdefault(_what_it_asks(query), query.query_id)
    for first, second in _pairs_of_parts():
        same = [(by_split[first][key], name) for key, name in by_split[second].items() if key in by_split[first]]
        message = f"{{n}} pairs of queries ask for the same in {first} and {second}"
        yield from report("leak-conditions", "error", "queries", message, same)


def _what_it_asks(query: Query) -> object:
    # To nine digits: the same amount in another unit ("2 lb", "907.18474 g") is no longer the same float.
    return frozenset(
        (
            frozenset(concept_alternatives(c.concept)),
            c.comparator,
            c.base_unit,
            c.change,
            f"{c.base_value:.9g}",
            f"{c.base_high:.9g}",
        )
        for c in query.conditions
    )


def _pairs_of_parts() -> list[tuple[str, str]]:
    return [("train", "test"), ("train", "dev"), ("dev", "test")]
