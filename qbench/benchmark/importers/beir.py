"""A BEIR folder: corpus.jsonl, queries.jsonl, qrels/*.tsv (the first two plain or .gz)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import polars as pl

from qbench.benchmark.benchmark import Benchmark
from qbench.benchmark.reading import OnError, Problems, as_id, json_lines
from qbench.benchmark.trec import qrels_rows
from qbench.benchmark.types import KINDS, SPLITS, Query, Split, corpus_schema, qrels_schema
from qbench.errors import InputError, OptionError
from qbench.keys import key
from qbench.quantities.conditions import refuse_impossible
from qbench.quantities.languages import ENGLISH, SAMPLE, SAMPLE_CHARACTERS, language_of
from qbench.quantities.types import Condition
from qbench.quantities.units import load_units
from qbench.store import file_digest

OURS = "qbench"
"""The key of a query's or document's metadata under which our exporter keeps what BEIR has no place for."""

_SPLIT_NAMES: dict[str, Split] = {"train": "train", "dev": "dev", "valid": "dev", "validation": "dev", "test": "test"}


def read_beir(folder: str | Path, *, qrels: str | None = None, on_error: OnError = "fail") -> Benchmark:
    """Read a BEIR folder as a benchmark, without quantities.

    The judgments in qrels/train.tsv, dev.tsv and test.tsv become the three splits. Where none of these exists, one
    other file becomes the test split; among several, `qrels` has to choose. A file queries.NAME.jsonl is read instead
    of queries.jsonl for the judgments of that name. Queries without a relevant document in their split are left out and
    counted in `params["counts"]`. The script of the first documents decides their language.

    Args:
        folder: the folder.
        qrels: the judgments to use, by file name without ending.
        on_error: stop at a bad row, or leave it out and count it.

    Raises:
        InputError: a file is missing, or (with on_error "fail") a row is malformed, repeats an id or points nowhere.
        OptionError: `qrels` names no file, or is needed to choose.
    """
    folder = Path(folder)
    problems = Problems(on_error)
    chosen = _choose(folder, qrels)
    corpus_file = _either(folder, "corpus.jsonl")
    query_files = {stem: _query_file(folder, stem) for stem in chosen}
    corpus = _read_corpus(corpus_file, problems)
    texts = {file: _read_queries(file, problems) for file in dict.fromkeys(query_files.values())}
    documents = set(corpus["doc_id"])
    queries: dict[str, Query] = {}
    judgments: list[tuple[str, str, int]] = []
    judged: set[str] = set()
    for stem, split in chosen.items():
        file = folder / "qrels" / f"{stem}.tsv"
        rows = list(_judgments(file, texts[query_files[stem]], documents, problems))
        answered = {query_id for query_id, _, grade in rows if grade > 0}
        _take_queries(queries, texts[query_files[stem]], answered, split, file)
        judged |= {query_id for query_id, _, _ in rows}
        judgments += [row for row in rows if row[0] in answered]
    problems.left_out("queries without a relevant document", len(judged - queries.keys()))
    problems.left_out(
        "queries without judgments", len({query_id for ids in texts.values() for query_id in ids} - judged)
    )
    if not queries:
        raise InputError("no query has a relevant document", file=folder / "qrels")
    sources = [corpus_file, *texts, *(folder / "qrels" / f"{stem}.tsv" for stem in chosen)]
    return _benchmark(folder, corpus, list(queries.values()), judgments, chosen, sources, problems)


def _benchmark(
    folder: Path,
    corpus: pl.DataFrame,
    queries: list[Query],
    judgments: list[tuple[str, str, int]],
    chosen: dict[str, Split],
    sources: Sequence[Path],
    problems: Problems,
) -> Benchmark:
    recipe = {
        "importer": "beir",
        "qrels": chosen,
        "files": {str(file.relative_to(folder)): file_digest(file) for file in sources},
        "on_error": problems.on_error,
    }
    language = language_of(corpus["text"].head(SAMPLE).str.slice(0, SAMPLE_CHARACTERS))
    spoken = {} if language == ENGLISH else {"language": language}
    return Benchmark(
        name=folder.resolve().name,
        corpus=corpus,
        queries=queries,
        qrels=pl.DataFrame(judgments, schema=qrels_schema(), orient="row"),
        params={**recipe, **spoken, "quantities": None, "counts": problems.summary(), "notes": problems.examples},
        digest=key("import", **recipe),
    )


def _choose(folder: Path, qrels: str | None) -> dict[str, Split]:
    """Stem of each judgment file to read -> the part that it becomes."""
    stems = sorted(path.stem for path in (folder / "qrels").glob("*.tsv")) if folder.is_dir() else []
    if not folder.exists():
        raise InputError("no such folder", file=folder)
    if not stems:
        raise InputError("no judgments: a BEIR folder keeps them in qrels/*.tsv", file=folder)
    if qrels is not None:
        if qrels not in stems:
            raise OptionError("no such judgments", file=folder, value=qrels, remedy=f"There are {', '.join(stems)}")
        return {qrels: _SPLIT_NAMES.get(qrels, "test")}
    standard = {stem: _SPLIT_NAMES[stem] for stem in stems if stem in _SPLIT_NAMES}
    if len(set(standard.values())) < len(standard):
        raise OptionError("two files of judgments name the same part", file=folder, value=sorted(standard))
    if standard:
        return dict(sorted(standard.items(), key=lambda item: SPLITS.index(item[1])))
    if len(stems) > 1:
        raise OptionError(
            "the folder has several sets of judgments, and none is called train, dev or test",
            file=folder,
            remedy=f"Choose one of {', '.join(stems)} (--qrels on the command line)",
        )
    return {stems[0]: "test"}


def _either(folder: Path, name: str) -> Path:
    """The plain file of that name if it is there, else the compressed one, else the plain one for the error."""
    packed = folder / f"{name}.gz"
    return packed if packed.is_file() and not (folder / name).is_file() else folder / name


def _query_file(folder: Path, stem: str) -> Path:
    own = _either(folder, f"queries.{stem}.jsonl")
    return own if own.is_file() else _either(folder, "queries.jsonl")


def _read_corpus(path: Path, problems: Problems) -> pl.DataFrame:
    columns: dict[str, list[str]] = {name: [] for name in corpus_schema()}
    seen: set[str] = set()
    for number, row in json_lines(path, problems):
        doc_id = as_id(row.get("_id"))
        text, title = row.get("text"), row.get("title") or ""
        if doc_id is None or not isinstance(text, str) or not isinstance(title, str):
            error = InputError("a document needs _id and text (title is optional)", file=path, line=number, value=row)
            problems.bad("documents without id or text", error)
            continue
        if doc_id in seen:
            error = InputError("this document id was used before", file=path, line=number, value=doc_id)
            problems.bad("repeated document ids", error)
            continue
        seen.add(doc_id)
        source = _own(row).get("source_id", doc_id)
        for name, value in zip(columns, (doc_id, text, title, str(source)), strict=True):
            columns[name].append(value)
    return pl.DataFrame(columns, schema=corpus_schema())


def _read_queries(path: Path, problems: Problems) -> dict[str, Query]:
    queries: dict[str, Query] = {}
    for number, row in json_lines(path, problems):
        query_id = as_id(row.get("_id"))
        text = row.get("text")
        if query_id is None or not isinstance(text, str) or not text.strip():
            error = InputError("a query needs _id and text", file=path, line=number, value=row)
            problems.bad("queries without id or text", error)
        elif query_id in queries:
            error = InputError("this query id was used before", file=path, line=number, value=query_id)
            problems.bad("repeated query ids", error)
        else:
            try:
                queries[query_id] = _query(query_id, text, _own(row))
            except (TypeError, ValueError, OptionError) as fault:
                error = InputError(f"not a condition of ours: {fault}", file=path, line=number, value=_own(row))
                problems.bad("queries with a malformed condition", error)
    return queries


def _query(query_id: str, text: str, own: dict[str, Any]) -> Query:
    kind = own.get("kind", "given")
    if kind not in KINDS:
        raise OptionError("unknown kind", value=kind)
    conditions = tuple(Condition.from_dict(condition) for condition in own.get("conditions") or ())
    for condition in conditions:
        refuse_impossible(condition, load_units())
    return Query(
        query_id=query_id,
        text=text,
        terms=str(own.get("terms", "")),
        conditions=conditions,
        kind=kind,
        template=str(own.get("template", "")),
        seed=_seed(own.get("seed", 0)),
        topic=_topic(own.get("topic")),
    )


def _topic(value: object) -> str:
    """A topic of ours; "" where none is named."""
    if value is not None and not isinstance(value, str):
        raise OptionError("a topic is a text", value=value)
    return value or ""


def _seed(value: object) -> int:
    """A seed of ours; the table of queries has 64 bits for it."""
    if not isinstance(value, int) or isinstance(value, bool) or not 0 <= value < 2**63:
        raise OptionError("a seed is a whole number of 63 bits", value=value)
    return value


def _own(row: dict[str, Any]) -> dict[str, Any]:
    metadata = row.get("metadata")
    own = metadata.get(OURS) if isinstance(metadata, dict) else None
    return own if isinstance(own, dict) else {}


def _judgments(
    path: Path, queries: dict[str, Query], documents: set[str], problems: Problems
) -> Iterator[tuple[str, str, int]]:
    for number, query_id, doc_id, grade in qrels_rows(path, problems):
        for what, name, existing in (("query", query_id, queries), ("document", doc_id, documents)):
            if name not in existing:
                error = InputError(
                    f"this judgment points to a {what} that does not exist",
                    file=path,
                    line=number,
                    value=name,
                    remedy="`qbench benchmark import beir --on-error skip` leaves such rows out and counts them",
                )
                problems.bad(f"judgments of a missing {what}", error)
                break
        else:
            yield query_id, doc_id, grade


def _take_queries(
    taken: dict[str, Query], texts: dict[str, Query], answered: set[str], split: Split, file: Path
) -> None:
    """Add the answered queries of one split, in the order of their file."""
    from dataclasses import replace

    for query_id, query in texts.items():
        if query_id not in answered:
            continue
        if query_id in taken:
            raise InputError(
                f"this query has judgments in the {taken[query_id].split} split as well",
                file=file,
                value=query_id,
                remedy="Choose one set of judgments (--qrels on the command line)",
            )
        taken[query_id] = replace(query, split=split)
