"""TREC files: judgments and runs, read and written; runs as Parquet too."""

from __future__ import annotations

import gzip
import io
import re
from collections.abc import Iterator
from pathlib import Path

import polars as pl

from qbench.benchmark.reading import Problems, as_id, lines
from qbench.benchmark.types import qrels_schema, run_schema
from qbench.corpora.streams import reading_parquet
from qbench.errors import InputError
from qbench.sheets import plain_number
from qbench.store import atomic_file

BEIR_HEADER = ("query-id", "corpus-id", "score")


def qrels_rows(path: Path, problems: Problems) -> Iterator[tuple[int, str, str, int]]:
    """Line number, query id, document id and grade of each judgment in a file.

    A line has three fields between tabs (BEIR; its header line is passed over) or four between white space (TREC).
    Rows that are malformed or judge a pair again go to `problems`.
    """
    seen: set[tuple[str, str]] = set()
    for number, line in lines(path, problems):
        fields = line.split("\t")
        if tuple(field.strip().lower() for field in fields) == BEIR_HEADER:
            continue
        if len(fields) != 3:
            fields = line.split()
            fields = [fields[0], fields[2], fields[3]] if len(fields) == 4 else []
        query_id, doc_id = (as_id(field) for field in fields[:2]) if fields else (None, None)
        grade = _grade(fields[2]) if fields else None
        if query_id is None or doc_id is None or grade is None:
            message = "not a judgment: query, document and a whole-number grade between tabs, or the four TREC columns"
            problems.bad("not a judgment", InputError(message, file=path, line=number, value=line))
        elif (query_id, doc_id) in seen:
            value = (query_id, doc_id)
            error = InputError("this pair is judged twice", file=path, line=number, value=value)
            problems.bad("judged twice", error)
        else:
            seen.add((query_id, doc_id))
            yield number, query_id, doc_id, grade


def read_qrels(path: Path, problems: Problems | None = None) -> pl.DataFrame:
    """The judgments of a TREC or BEIR file, plain or .gz (`qrels_schema`), in the order of the file.

    Raises:
        InputError: a line is malformed or judges a pair again.
    """
    rows = [row[1:] for row in qrels_rows(path, problems or Problems())]
    return pl.DataFrame(rows, schema=qrels_schema(), orient="row")


def write_qrels(qrels: pl.DataFrame, path: Path) -> None:
    """Write judgments as a TREC file: `query 0 document grade`.

    Raises:
        InputError: an id holds white space, which separates the columns.
    """
    for column in ("query_id", "doc_id"):
        _refuse_spaces(qrels, column, path)
    columns = (qrels[name] for name in ("query_id", "doc_id", "grade"))
    _write(path, (f"{q} 0 {d} {grade}\n" for q, d, grade in zip(*columns, strict=True)))


def read_run(path: str | Path) -> pl.DataFrame:
    """A ranking that some tool made: a TREC run file (plain or .gz), or a Parquet file with query_id, doc_id, score.

    Ranks are made from the scores, ties by document id descending as trec_eval does; the file's own are ignored.

    Returns:
        `run_schema`, ordered by query id, then rank.

    Raises:
        InputError: a line is malformed, a score is not a finite number, or a document is ranked twice for a query.
    """
    path = Path(path)
    return rank_run(_read_run_table(path) if path.suffix == ".parquet" else _read_run_lines(path))


def rank_run(scores: pl.DataFrame) -> pl.DataFrame:
    """A run from columns query_id, doc_id, score: ranked by score, then document id, both descending."""
    # No -0, which would come after 0.
    scores = scores.with_columns(pl.col("score") + 0.0)
    ordered = scores.sort(["query_id", "score", "doc_id"], descending=[False, True, True])
    rank = pl.int_range(1, pl.len() + 1, dtype=pl.Int32).over("query_id")
    return ordered.with_columns(rank=rank).select(list(run_schema()))


def write_run(run: pl.DataFrame, path: Path, tag: str) -> None:
    """Write a run as a TREC file: `query Q0 document rank score tag`.

    Args:
        run: `run_schema`.
        path: where to; compressed where the name ends in .gz.
        tag: the system's name; its white space becomes "_".

    Raises:
        InputError: an id holds white space, which separates the columns.
    """
    for column in ("query_id", "doc_id"):
        _refuse_spaces(run, column, path)
    label = "_".join(tag.split()) or "qbench"
    columns = (run[name] for name in ("query_id", "doc_id", "rank", "score"))
    _write(path, (f"{q} Q0 {d} {rank} {score!r} {label}\n" for q, d, rank, score in zip(*columns, strict=True)))


def _grade(text: str) -> int | None:
    number = plain_number(text)
    return int(number) if number is not None and number.is_integer() and abs(number) < 2**15 else None


def _read_run_lines(path: Path) -> pl.DataFrame:
    queries, documents, scores = [], [], []
    seen: set[tuple[str, str]] = set()
    for number, line in lines(path, Problems()):
        fields = line.split()
        if len(fields) != 6:
            message = "not a line of a TREC run: query Q0 document rank score tag"
            raise InputError(message, file=path, line=number, value=line)
        score = plain_number(fields[4])
        if score is None:
            raise InputError("the score is not a finite number", file=path, line=number, value=fields[4])
        pair = (fields[0], fields[2])
        if pair in seen:
            raise InputError("this document is ranked twice for the query", file=path, line=number, value=pair)
        seen.add(pair)
        queries.append(fields[0])
        documents.append(fields[2])
        scores.append(score)
    return pl.DataFrame({"query_id": queries, "doc_id": documents, "score": scores})


def _read_run_table(path: Path) -> pl.DataFrame:
    if not path.is_file():
        raise InputError("no such file", file=path)
    needed = {"query_id": pl.String, "doc_id": pl.String, "score": pl.Float64}
    with reading_parquet(path, "not a run with columns query_id, doc_id, score"):
        frame = pl.read_parquet(path, glob=False)
        frame = frame.select(pl.col(name).cast(dtype) for name, dtype in needed.items())
    for name, mask in (
        ("an empty cell", frame.select(pl.any_horizontal(pl.all().is_null())).to_series()),
        ("a score that is not a finite number", ~frame["score"].is_finite().fill_null(value=True)),
        ("a document that is ranked twice for its query", frame.select("query_id", "doc_id").is_duplicated()),
    ):
        if mask.any():
            row = mask.arg_max() or 0
            raise InputError(f"the run holds {name}", file=path, line=row + 1, value=frame.row(row))
    return frame


def _refuse_spaces(frame: pl.DataFrame, column: str, path: Path) -> None:
    for row, name in enumerate(frame[column], start=1):
        if re.search(r"\s", name):
            raise InputError(
                "a TREC file separates its columns by white space, and this id holds some",
                file=path,
                line=row,
                value=name,
                remedy="Export to BEIR instead, or rename the documents",
            )


def _write(path: Path, rows: Iterator[str]) -> None:
    """Text, line by line; a compressed file carries neither its name nor a time, so that equal runs are equal files."""
    with atomic_file(path) as temporary, temporary.open("wb") as raw:
        packed = gzip.GzipFile(filename="", mode="wb", fileobj=raw, mtime=0) if path.suffix == ".gz" else None
        with io.TextIOWrapper(packed or raw, encoding="utf-8", newline="\n") as stream:
            stream.writelines(rows)
