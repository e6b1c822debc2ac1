"""A benchmark in the layouts that people's tools read: BEIR, TREC, sentence-transformers, ir_datasets."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import polars as pl

from qbench.benchmark.benchmark import Benchmark
from qbench.benchmark.importers.beir import OURS
from qbench.benchmark.reading import as_id
from qbench.benchmark.trec import BEIR_HEADER, read_run, write_qrels, write_run
from qbench.benchmark.types import SPLITS
from qbench.errors import InputError, OptionError
from qbench.locks import locked
from qbench.store import MANIFEST, atomic_file, read_manifest, write_text


def export_beir(benchmark: Benchmark, folder: str | Path) -> list[Path]:
    """Write corpus.jsonl, queries.jsonl and qrels/SPLIT.tsv.

    What BEIR has no place for (a query's conditions, topic, kind, template and seed, a document's source) goes into the
    `metadata` of its line, under "qbench", and comes back when our importer reads the folder. Quantities, samples and
    triples are not written.

    Args:
        benchmark: what to write.
        folder: where to: a new or empty folder. It appears when it is whole.

    Returns:
        the files written.

    Raises:
        InputError: an id holds a tab, a line end or another control character.
        OptionError: the folder holds files already.
        BusyError: another process is writing there.
    """
    _refuse_ids(benchmark)
    with _whole(Path(folder)) as draft:
        _write_lines(draft / "corpus.jsonl", _documents(benchmark))
        _write_lines(draft / "queries.jsonl", _queries(benchmark))
        for split, rows in _judgments_by_split(benchmark):
            body = "".join(f"{query_id}\t{doc_id}\t{grade}\n" for query_id, doc_id, grade in rows)
            write_text(draft / "qrels" / f"{split}.tsv", "\t".join(BEIR_HEADER) + "\n" + body)
    return _files(Path(folder))


def export_trec(benchmark: Benchmark, folder: str | Path, runs: Mapping[str, pl.DataFrame] | None = None) -> list[Path]:
    """Write topics.SPLIT.tsv (query id, tab, text) and qrels.SPLIT.txt (`query 0 document grade`) for each split.

    Returns and errors are as for `export_beir`; besides, an id may hold no white space, which separates the columns of
    TREC files.

    Args:
        benchmark: what to write.
        folder: where to: a new or empty folder. It appears when it is whole.
        runs: system -> `run_schema`; each becomes a file NAME.run, its other characters than letters, digits and .+-
            written as "_".
    """
    _refuse_ids(benchmark)
    with _whole(Path(folder)) as draft:
        for split, rows in _judgments_by_split(benchmark):
            qrels = pl.DataFrame(rows, schema=benchmark.qrels.schema, orient="row")
            write_qrels(qrels, draft / f"qrels.{split}.txt")
            topics = "".join(
                f"{query.query_id}\t{' '.join(query.text.split())}\n" for query in benchmark.queries_of(split)
            )
            write_text(draft / f"topics.{split}.tsv", topics)
        for name, run in (runs or {}).items():
            path = draft / f"{re.sub('[^A-Za-z0-9.+-]+', '_', name).strip('_')}.run"
            if path.exists():
                raise OptionError("two runs would be written to one file", file=path.name, value=name)
            write_run(run, path, name)
    return _files(Path(folder))


def export_sentence_transformers(benchmark: Benchmark, folder: str | Path) -> list[Path]:
    """Write the training triples as triples.SPLIT.jsonl: one object a line with anchor, positive and negative.

    Returns and errors are as for `export_beir`; besides, a benchmark without triples is refused.

    Args:
        benchmark: what to write.
        folder: where to: a new or empty folder. It appears when it is whole.
    """
    triples = triple_texts(benchmark)
    if not triples.height:
        raise InputError(
            "this benchmark has no triples",
            value=benchmark.name,
            remedy="Those of `qbench gen-queries` have; export the judgments of this one with --format beir",
        )
    with _whole(Path(folder)) as draft:
        for split in SPLITS:
            of_split = triples.filter(pl.col("split") == split).drop("split")
            if of_split.height:
                _write_lines(draft / f"triples.{split}.jsonl", of_split.iter_rows(named=True))
    return _files(Path(folder))


def export_ir_datasets(benchmark: Benchmark, folder: str | Path) -> list[Path]:
    """Write docs.jsonl and, for each split, queries.tsv, qrels and docpairs.tsv: what ir_datasets' formats read.

    Document pairs are the triples whose samples stand in the corpus as they are; changed copies are no documents.

    Returns and errors are as for `export_trec`.

    Args:
        benchmark: what to write.
        folder: where to: a new or empty folder. It appears when it is whole.
    """
    _refuse_ids(benchmark)
    pairs = _document_pairs(benchmark)
    with _whole(Path(folder)) as draft:
        corpus = benchmark.corpus.select("doc_id", "title", "text")
        _write_lines(draft / "docs.jsonl", corpus.iter_rows(named=True))
        for split, rows in _judgments_by_split(benchmark):
            qrels = pl.DataFrame(rows, schema=benchmark.qrels.schema, orient="row")
            write_qrels(qrels, draft / split / "qrels")
            queries = benchmark.queries_of(split)
            write_text(
                draft / split / "queries.tsv", "".join(f"{q.query_id}\t{' '.join(q.text.split())}\n" for q in queries)
            )
            mine = pairs.filter(pl.col("query_id").is_in([query.query_id for query in queries]))
            if mine.height:
                lines = ("\t".join(row) + "\n" for row in mine.iter_rows())
                write_text(draft / split / "docpairs.tsv", "".join(lines))
    return _files(Path(folder))


def _document_pairs(benchmark: Benchmark) -> pl.DataFrame:
    """query_id, positive and negative document, each pair once."""
    documents = benchmark.samples.filter(pl.col("method") == "original").select("sample_id", "doc_id")
    triples = benchmark.triples
    for side in ("positive", "negative"):
        named = documents.rename({"sample_id": f"{side}_id", "doc_id": side})
        triples = triples.join(named, on=f"{side}_id", how="inner", maintain_order="left")
    return triples.select("query_id", "positive", "negative").unique(maintain_order=True)


def triple_texts(benchmark: Benchmark) -> pl.DataFrame:
    """The benchmark's triples as texts: anchor (the query), positive, negative, split."""
    texts = benchmark.samples.select("sample_id", "text")
    queries = benchmark.query_table().select("query_id", "split", anchor="text")
    triples = benchmark.triples.join(queries, on="query_id", how="inner", maintain_order="left")
    for side in ("positive", "negative"):
        named = texts.rename({"sample_id": f"{side}_id", "text": side})
        triples = triples.join(named, on=f"{side}_id", how="inner", maintain_order="left")
    return triples.select(pl.col("anchor"), "positive", "negative", "split")


def stored_runs(folder: str | Path, benchmark: Benchmark) -> dict[str, pl.DataFrame]:
    """The finished runs on a benchmark that a leaderboard keeps in its folder `runs`.

    Returns:
        system, source of its conditions (where it uses any) and part -> `run_schema`.

    Raises:
        InputError: there is none, or one cannot be read.
    """
    runs = find_runs(folder, benchmark)
    if not runs:
        raise InputError("no finished run on this benchmark", file=folder, remedy="Name the leaderboard's runs folder")
    return runs


def find_runs(folder: str | Path, benchmark: Benchmark) -> dict[str, pl.DataFrame]:
    """What `stored_runs` gives; empty where there is none.

    Raises:
        InputError: a run cannot be read.
    """
    runs = {}
    for path in sorted(Path(folder).glob(f"*/{MANIFEST}")):
        params = read_manifest(path.parent, "run").params
        if params.get("benchmark") == benchmark.digest:
            source = params.get("conditions", "none")
            parts = [
                params.get("system", path.parent.name),
                "" if source == "none" else source,
                params.get("split", ""),
            ]
            name = " ".join(filter(None, parts))
            # Models in folders of one name are told apart by the keys of their runs.
            runs[f"{name} {path.parent.name}" if name in runs else name] = read_run(path.parent / "run.parquet")
    return runs


def _documents(benchmark: Benchmark) -> Iterator[dict[str, Any]]:
    for doc_id, text, title, source_id in benchmark.corpus.iter_rows():
        row: dict[str, Any] = {"_id": doc_id, "title": title, "text": text}
        if source_id != doc_id:
            row["metadata"] = {OURS: {"source_id": source_id}}
        yield row


def _queries(benchmark: Benchmark) -> Iterator[dict[str, Any]]:
    for query in benchmark.queries:
        row = query.to_row()
        own = {name: row[name] for name in ("terms", "conditions", "split", "kind", "template", "seed", "topic")}
        yield {"_id": query.query_id, "text": query.text, "metadata": {OURS: own}}


def _judgments_by_split(benchmark: Benchmark) -> Iterator[tuple[Any, list[tuple[str, str, int]]]]:
    """Each split that has judgments, with those of its queries."""
    part_of = {query.query_id: query.split for query in benchmark.queries}
    rows = benchmark.qrels.rows()
    for split in SPLITS:
        mine = [row for row in rows if part_of.get(row[0]) == split]
        if mine:
            yield split, mine


def _write_lines(path: Path, rows: Iterable[dict[str, Any]]) -> None:
    with atomic_file(path) as temporary, temporary.open("w", encoding="utf-8", newline="\n") as stream:
        stream.writelines(json.dumps(row, ensure_ascii=False, allow_nan=False) + "\n" for row in rows)


@contextmanager
def _whole(folder: Path) -> Iterator[Path]:
    """A folder to write into that takes the place of `folder` if the block ends well."""
    folder = folder.absolute()
    if folder.exists() and not folder.is_dir():
        raise OptionError("the output is a file, and a folder is needed", file=folder)
    with locked(folder):
        if folder.is_dir() and any(folder.iterdir()):
            raise OptionError("the output folder holds files already", file=folder, remedy="Choose a new or empty one")
        draft = folder.parent / f".{folder.name}.partial"
        shutil.rmtree(draft, ignore_errors=True)
        draft.mkdir(parents=True)
        yield draft
        if folder.is_dir():
            folder.rmdir()
        draft.rename(folder)


def _files(folder: Path) -> list[Path]:
    return sorted(path for path in folder.rglob("*") if path.is_file())


def _refuse_ids(benchmark: Benchmark) -> None:
    for name in (*benchmark.corpus["doc_id"], *(query.query_id for query in benchmark.queries)):
        if as_id(name) is None:
            raise InputError("this id is empty or holds a control character, and cannot stand in the files", value=name)
