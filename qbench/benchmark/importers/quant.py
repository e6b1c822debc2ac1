"""FinQuant and MedQuant as their authors laid them out (*Numbers Matter*, C.1 and C.2).

collection.csv holds the sentences with their quantities as Python lists, queries.tsv the queries with their
condition; both are numbered by row, from 0. JSON files of judgments, {query: {document: grade}}, say which queries are
of which kind.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import polars as pl

from qbench.benchmark.benchmark import Benchmark
from qbench.benchmark.importers.literals import big_cells, number_of, parse_list, table_rows
from qbench.benchmark.reading import OnError, Problems
from qbench.benchmark.types import Kind, Query, corpus_schema, qrels_schema
from qbench.errors import InputError, OptionError
from qbench.keys import key
from qbench.progress import Progress, silent
from qbench.quantities.concept_match import concept_words
from qbench.quantities.types import Comparator, Condition, Quantity, Span, quantity_schema, to_row
from qbench.quantities.units import Unit, Units, load_units
from qbench.store import file_digest, parse_json, read_text

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

COLLECTION = "collection.csv"
QUERIES = "queries.tsv"
EVERY = 10_000
"""Rows between two reports of progress."""


def read_quant(
    folder: str | Path, *, given: bool = True, on_error: OnError = "fail", progress: Progress = silent
) -> Benchmark:
    """Read a FinQuant or MedQuant folder as a benchmark; all its queries are test queries.

    A query's kind is that of the file of judgments that names it, "given" if none does. Files of kinds and comparators
    may be absent. What disagrees between files (a comparator, a query of two kinds, a judgment that is missing from
    the complete ones) is counted, and queries.tsv and the complete judgments win.

    Args:
        folder: where collection.csv lies, or a folder with one such folder in it.
        given: take the values and units that collection.csv gives; they come without concepts. Otherwise the benchmark
            has no quantities yet.
        on_error: stop at a bad row, or leave it out and count it.
        progress: called while the collection is read.

    Raises:
        InputError: a file is missing, empty or broken, or (with on_error "fail") a row is malformed, a judgment points
            nowhere, or a query has no relevant document.
        OptionError: the folder holds several collections.
    """
    folder = Path(folder)
    problems = Problems(on_error)
    units = load_units()
    files = _find(folder)
    with big_cells():
        corpus, quantities = _read_collection(files[COLLECTION], given, units, problems, progress)
        queries = _read_queries(files[QUERIES], units, problems)
    judged = read_judgments(files[ALL[0]], queries, set(corpus["doc_id"]), problems)
    kinds = read_kinds(files, queries, judged, problems)
    compare_comparators(files, queries, problems)
    answered = list(_answered(queries, judged, kinds, files[ALL[0]], problems))
    if not answered:
        raise InputError("no query has a relevant document", file=files[ALL[0]])
    rows = [(q.query_id, doc_id, grade) for q in answered for doc_id, grade in judged[q.query_id].items()]
    return _benchmark(folder, files, corpus, quantities, answered, rows, problems)


def _benchmark(
    folder: Path,
    files: Mapping[str, Path],
    corpus: pl.DataFrame,
    quantities: pl.DataFrame | None,
    queries: list[Query],
    rows: list[tuple[str, str, int]],
    problems: Problems,
) -> Benchmark:
    recipe = {
        "importer": "quant",
        "files": {name: file_digest(path) for name, path in sorted(files.items())},
        "on_error": problems.on_error,
        "quantities": None if quantities is None else "given",
    }
    return Benchmark(
        name=folder.resolve().name,
        corpus=corpus,
        queries=queries,
        qrels=pl.DataFrame(rows, schema=qrels_schema(), orient="row"),
        quantities=quantities,
        params={**recipe, "counts": problems.summary(), "notes": problems.examples},
        digest=key("import", **recipe),
    )


def _find(folder: Path) -> dict[str, Path]:
    """The files by name: the two tables, the complete judgments (under `ALL[0]`), and those of kinds that are there."""
    if not folder.is_dir():
        raise InputError("no such folder", file=folder)
    here = folder / COLLECTION
    collections = [here] if here.is_file() else sorted(folder.rglob(COLLECTION))
    if not collections:
        raise InputError(f"no {COLLECTION} in this folder or below it", file=folder)
    if len(collections) > 1:
        choices = ", ".join(str(path.parent.relative_to(folder)) for path in collections)
        raise OptionError("the folder holds several collections", file=folder, remedy=f"Choose one of {choices}")
    files = {
        COLLECTION: collections[0],
        QUERIES: _locate(collections[0].parent, (QUERIES,)) or collections[0].parent / QUERIES,
    }
    complete = _locate(collections[0].parent, ALL)
    if complete is None:
        raise InputError(f"no judgments: {ALL[0]}.json is missing", file=collections[0].parent)
    files[ALL[0]] = complete
    for name in (*KINDS, *COMPARATORS):
        path = _locate(collections[0].parent, (name,))
        if path is not None:
            files[name] = path
    return files


def _locate(folder: Path, names: tuple[str, ...]) -> Path | None:
    """The first file of one of these names, with or without .json, in the folder or below it."""
    wanted = [name + ending for name in names for ending in ("", ".json")]
    for name in wanted:
        if (folder / name).is_file():
            return folder / name
    below = [path for name in wanted for path in sorted(folder.rglob(name)) if path.is_file()]
    return below[0] if below else None


def _read_collection(
    path: Path, given: bool, units: Units, problems: Problems, progress: Progress
) -> tuple[pl.DataFrame, pl.DataFrame | None]:
    texts: list[tuple[str, str, str, str]] = []
    mentions: list[dict[str, Any]] = []
    needed = ("sentence", "values", "units") if given else ("sentence",)
    for number, line, cells in table_rows(path, ",", needed, problems):
        doc_id = str(number)
        if number % EVERY == 0:
            progress(number, None, "sentences")
        if given:
            try:
                quantities = list(_quantities(cells, units, path, line, problems))
            except InputError as error:
                problems.bad("sentences with unusable quantities", error)
                continue
            mentions += [to_row(doc_id, quantity) for quantity in quantities]
        texts.append((doc_id, cells["sentence"], "", doc_id))
    corpus = pl.DataFrame(texts, schema=corpus_schema(), orient="row")
    return corpus, pl.DataFrame(mentions, schema=quantity_schema()) if given else None


def _quantities(
    cells: Mapping[str, str], units: Units, path: Path, line: int, problems: Problems
) -> Iterator[Quantity]:
    values = parse_list(cells["values"], "values", path, line)
    names = parse_list(cells["units"], "units", path, line)
    if len(values) != len(names):
        message = f"{len(values)} values and {len(names)} units"
        raise InputError(message, file=path, line=line, value=cells["values"])
    text = cells["sentence"]
    value_spans = _spans(cells.get("value_char_indices"), text, len(values), path, line)
    unit_spans = _spans(cells.get("unit_char_indices"), text, len(values), path, line)
    for value, name, value_span, unit_span in zip(values, names, value_spans, unit_spans, strict=True):
        ends = [number_of(end) for end in (value if isinstance(value, (list, tuple)) else (value,))]
        if not 1 <= len(ends) <= 2 or None in ends or not isinstance(name, str):
            message = "a value is a finite number (or a pair of them), a unit a text"
            raise InputError(message, file=path, line=line, value=(value, name))
        low, high = sorted(end for end in (ends[0], ends[-1]) if end is not None)
        unit = _unit(name, units, problems)
        base_low, base_high = units.to_base(low, unit.name), units.to_base(high, unit.name)
        if not abs(base_low) + abs(base_high) < float("inf"):
            raise InputError("the value is too large for its unit", file=path, line=line, value=(value, name))
        if value_span is None:
            problems.note("quantities without a usable place in the text")
        written = text[slice(*value_span)] if value_span else ""
        yield Quantity(
            value=low,
            high=high,
            comparator="=" if low == high else "between",
            unit=unit.name,
            family=unit.family,
            base_unit=unit.base_unit,
            base_value=base_low,
            base_high=base_high,
            digits=len("".join(c for c in written if c.isdigit()).lstrip("0")),
            value_span=value_span or (-1, -1),
            unit_span=unit_span,
        )


def _unit(name: str, units: Units, problems: Problems) -> Unit:
    """The unit that a name in the data stands for; an unlisted name becomes a counted noun."""
    name = " ".join(name.split())
    if name in ("", "-"):
        return units.get("")
    listed = units.lookup(name)
    if listed is None:
        problems.note("units taken for counted nouns")
    return listed or units.get(name)


def _spans(cell: str | None, text: str, n: int, path: Path, line: int) -> list[Span | None]:
    """Return n character spans in the text, None for each that is absent or cannot be right.

    Each entry is a pair, or a list of pairs that belong together.
    """
    if cell is None or not cell.strip():
        return [None] * n
    entries = parse_list(cell, "character indices", path, line)
    return [_span(entry, text) for entry in entries] if len(entries) == n else [None] * n


def _span(entry: object, text: str) -> Span | None:
    pairs: Any = entry if isinstance(entry, (list, tuple)) and not _is_pair(entry) else [entry]
    if not pairs or not all(_is_pair(pair) for pair in pairs):
        return None
    start, end = min(pair[0] for pair in pairs), max(pair[1] for pair in pairs)
    if not 0 <= start < end <= len(text) or not text[start:end].strip():
        return None
    # Indices into another version of the sentence give themselves away by cutting a number in two.
    cut = any(0 < at < len(text) and text[at - 1].isdigit() and text[at].isdigit() for at in (start, end))
    return None if cut else (start, end)


def _is_pair(value: object) -> bool:
    return (
        isinstance(value, (list, tuple))
        and len(value) == 2
        and all(isinstance(end, int) and not isinstance(end, bool) for end in value)
    )


def _read_queries(path: Path, units: Units, problems: Problems) -> dict[str, Query]:
    queries: dict[str, Query] = {}
    for number, line, cells in table_rows(
        path, "\t", ("query_text", "keywords", "unit", "value", "condition"), problems
    ):
        value, comparator = number_of(cells["value"]), cells["condition"].strip()
        if value is None or comparator not in COMPARATORS.values() or not cells["query_text"].strip():
            message = "a query needs a text, a finite value and a condition of = < >"
            shown = (cells["query_text"], cells["value"], cells["condition"])
            problems.bad("malformed queries", InputError(message, file=path, line=line, value=shown))
            continue
        unit = _unit(cells["unit"], units, problems)
        base = units.to_base(value, unit.name)
        try:
            words = _keywords(cells["keywords"], path, line)
        except InputError as error:
            problems.bad("malformed queries", error)
            continue
        condition = Condition(
            comparator=next(c for c in COMPARATORS.values() if c == comparator),
            value=value,
            high=value,
            unit=unit.name,
            base_unit=unit.base_unit,
            base_value=base,
            base_high=base,
            concept=tuple(word for word in (word.lower() for word in words) if word != "|"),
        )
        query_id = str(number)
        terms = " ".join(words)
        topic = " ".join(concept_words(condition.concept))
        queries[query_id] = Query(query_id, cells["query_text"], terms=terms, conditions=(condition,), topic=topic)
    return queries


def _keywords(cell: str, path: Path, line: int) -> list[str]:
    """The words of a query's keywords, written plainly or as a Python list of phrases."""
    if cell.lstrip().startswith("["):
        cell = " ".join(str(phrase) for phrase in parse_list(cell, "keywords", path, line))
    return cell.split()


def _answered(
    queries: Mapping[str, Query], judged: Judgments, kinds: Mapping[str, Kind], file: Path, problems: Problems
) -> Iterator[Query]:
    """The queries with a relevant document, each with its kind; the others are counted."""
    for query_id, query in queries.items():
        if query_id not in judged:
            problems.left_out("queries without judgments")
        elif max(judged[query_id].values(), default=0) <= 0:
            error = InputError("this query has no relevant document", file=file, value=query_id)
            problems.bad("queries without a relevant document", error)
        else:
            yield replace(query, kind=kinds.get(query_id, "given"))


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
    text = read_text(path, "judgments")
    if not text.strip():
        raise InputError("the file is empty", file=path)
    entries = parse_json(text, path, pairs=list)
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
