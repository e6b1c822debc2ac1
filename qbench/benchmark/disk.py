"""A benchmark: in memory, and as a folder of Parquet tables with a card and a manifest."""

from __future__ import annotations

import hashlib
import io
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Generic, TypeVar, overload

import polars as pl

from qbench.benchmark.tables import SCHEMAS, conform, empty, read_table, write_table
from qbench.benchmark.types import KINDS, SPLITS, Query, Split, query_schema
from qbench.errors import InputError, OptionError
from qbench.quantities.languages import ENGLISH
from qbench.store import MANIFEST, digest, drafting, finished, read_manifest

KIND = "benchmark"
CARD = "README.md"


T = TypeVar("T")


class _Table(Generic[T]):
    """A field that holds a table, or a function that loads it when it is first asked for.

    Training samples may be many times larger than what retrieval needs, and most readers never look at them.
    """

    def __init__(self, table: str, fallback: Callable[[str], T]) -> None:
        self.slot = f"_{table}"
        self.table = table
        self.fallback = fallback

    @overload
    def __get__(self, owner: None, kind: type) -> None: ...

    @overload
    def __get__(self, owner: object, kind: type) -> T: ...

    def __get__(self, owner: object | None, kind: type) -> T | None:
        if owner is None:
            return None  # what dataclasses take for the default
        value = owner.__dict__[self.slot]
        if callable(value):
            value = owner.__dict__[self.slot] = value()
        table: T = value
        return table

    def __set__(self, owner: object, value: T | Callable[[], T] | None) -> None:
        owner.__dict__[self.slot] = self.fallback(self.table) if value is None else value


def _none(table: str) -> pl.DataFrame | None:
    return None


@dataclass(frozen=True, eq=False, repr=False)
class Benchmark:
    """A corpus, queries with their conditions as data, graded judgments, and training samples.

    Attributes:
        name: for people: the name of its folder.
        corpus: `corpus_schema`, one row per retrieval unit.
        queries: all splits; `queries_of` picks one.
        qrels: `qrels_schema`.
        quantities: `quantity_schema`, the corpus' quantities; None where nobody extracted them yet.
        samples, triples: `sample_schema`, `triple_schema`; empty where there is nothing to train on.
        params: what made it; "quantities" says whether they are "gold" (given with the data), "extracted" (by us, as
            "extractor" says) or None; "judgments" is "manual" where people judged; "counts" what was left out and why.
        digest: names everything that can change its content; "" for a benchmark made by hand, whose content is
            digested when it is written.

    The last three tables may be given as functions that load them.
    """

    name: str
    corpus: pl.DataFrame
    queries: list[Query]
    qrels: pl.DataFrame
    quantities: _Table[pl.DataFrame | None] = _Table("quantities", _none)
    samples: _Table[pl.DataFrame] = _Table("samples", empty)
    triples: _Table[pl.DataFrame] = _Table("triples", empty)
    params: dict[str, Any] = field(default_factory=dict)
    digest: str = ""

    @property
    def manual(self) -> bool:
        """Whether people judged it; then what has no judgment is unknown, and not known to be irrelevant."""
        return bool(self.params.get("judgments") == "manual")

    @property
    def language(self) -> str:
        """Code of the texts' language: that of the params, else of the extractor, else English."""
        extractor = self.params.get("extractor") or {}
        return str(self.params.get("language") or extractor.get("language") or ENGLISH)

    def queries_of(self, split: Split) -> list[Query]:
        """The queries of a split, in order."""
        return [query for query in self.queries if query.split == split]

    def query_table(self) -> pl.DataFrame:
        """The queries as a table (`query_schema`)."""
        return pl.DataFrame([query.to_row() for query in self.queries], schema=query_schema())

    def table(self, name: str) -> pl.DataFrame | None:
        """A table by name, a key of `SCHEMAS`; None where the benchmark has no quantities."""
        table: pl.DataFrame | None = self.query_table() if name == "queries" else getattr(self, name)
        return table

    def __repr__(self) -> str:
        return f"Benchmark({self.name!r}, {self.corpus.height} documents, {len(self.queries)} queries)"


def open_benchmark(path: str | Path, *, qrels: str | None = None) -> Benchmark:
    """Open a benchmark folder: one that qbench made, or a BEIR folder as it is.

    Args:
        path: the folder.
        qrels: for a BEIR folder, the judgments to use, by file name without ending ("dl19" for qrels/dl19.tsv).

    Raises:
        InputError: the folder is neither, or a file in it cannot be read.
        OptionError: a BEIR folder leaves a choice between judgments that `qrels` has to make.
    """
    path = Path(path)
    if (path / MANIFEST).is_file() or not _is_beir(path):
        if qrels is not None:
            raise OptionError("only a BEIR folder has judgments to choose from", file=path, value=qrels)
        return _open_own(path)
    from qbench.benchmark.importers.beir import read_beir

    return read_beir(path, qrels=qrels)


def _is_beir(path: Path) -> bool:
    return any((path / name).is_file() for name in ("corpus.jsonl", "corpus.jsonl.gz"))


def _open_own(path: Path) -> Benchmark:
    if path.is_dir() and not (path / MANIFEST).is_file():
        raise InputError(
            "neither a benchmark that qbench made (manifest.json) nor a BEIR folder (corpus.jsonl, qrels/)",
            file=path,
            remedy="Make one with `qbench gen-queries`, or import it with `qbench benchmark import`",
        )
    manifest = read_manifest(path, KIND)
    for name, seen in manifest.files.items():
        file = path / name
        if name != CARD and file.is_file() and file.stat().st_size != seen["bytes"]:
            raise InputError("the file has changed since the benchmark was made", file=file, remedy="Make it again")

    def later(table: str) -> Callable[[], pl.DataFrame]:
        return lambda: read_table(path / f"{table}.parquet", table)

    return Benchmark(
        name=path.resolve().name,
        corpus=read_table(path / "corpus.parquet", "corpus"),
        queries=_read_queries(path / "queries.parquet"),
        qrels=read_table(path / "qrels.parquet", "qrels"),
        quantities=later("quantities") if (path / "quantities.parquet").is_file() else None,
        samples=later("samples"),
        triples=later("triples"),
        params={**manifest.params, "counts": manifest.counts.get("made", {})},
        digest=manifest.digest,
    )


def _read_queries(path: Path) -> list[Query]:
    queries = []
    for number, row in enumerate(read_table(path, "queries").iter_rows(named=True), start=1):
        try:
            query = Query.from_row(row)
        except (OptionError, TypeError, AttributeError) as fault:
            raise InputError(f"not a query: {fault}", file=path, line=number, value=row["query_id"]) from None
        for column, value, known in (("split", query.split, SPLITS), ("kind", query.kind, KINDS)):
            if value not in known:
                raise InputError(
                    f"unknown {column}", file=path, line=number, value=value, remedy=f"Known: {', '.join(known)}"
                )
        queries.append(query)
    return queries


def write_benchmark(benchmark: Benchmark, folder: str | Path, *, overwrite: bool = False) -> Benchmark:
    """Write a benchmark with its card and manifest, and open what was written.

    Args:
        benchmark: what to write; `digest` is its key: a finished benchmark of the same digest is left as it is.
        folder: where to.
        overwrite: replace a benchmark that was made from something else.

    Raises:
        InputError: a table does not keep its schema, an id is used twice, a judgment points nowhere, or a query has
            no relevant document.
        OptionError: the folder holds something else.
        BusyError: another process is writing there.
    """
    from qbench.benchmark.card import card, summary

    folder = Path(folder)
    key = benchmark_key(benchmark)
    if finished(folder, KIND, key):
        return open_benchmark(folder)
    tables = {name: conform(frame, name) for name in SCHEMAS if (frame := benchmark.table(name)) is not None}
    _refuse_dangling(benchmark)
    _refuse_unanswerable(benchmark)
    params = {name: value for name, value in benchmark.params.items() if name != "counts"}
    with drafting(folder, KIND, key, params, overwrite=overwrite) as draft:
        for name, frame in tables.items():
            write_table(frame, name, draft.folder)
        draft.counts = {"content": summary(benchmark), "made": benchmark.params.get("counts", {})}
        (draft.folder / CARD).write_text(card(benchmark, folder.name, key), encoding="utf-8", newline="\n")
    return open_benchmark(folder)


def benchmark_key(benchmark: Benchmark) -> str:
    """What names a benchmark in keys: the digest of the step that made it, else that of its tables."""
    return benchmark.digest or content_digest(benchmark)


def content_digest(benchmark: Benchmark) -> str:
    """The digest of a benchmark's tables, for one that no recorded step has made."""
    sums: dict[str, Any] = {}
    for table in SCHEMAS:
        frame = benchmark.table(table)
        if frame is not None:
            stream = io.BytesIO()
            frame.rechunk().write_parquet(stream, compression="uncompressed", statistics=False)
            sums[table] = hashlib.sha256(stream.getbuffer()).hexdigest()
    return digest({"tables": sums})


def _refuse_dangling(benchmark: Benchmark) -> None:
    queries = {query.query_id for query in benchmark.queries}
    for column, known in (("query_id", queries), ("doc_id", set(benchmark.corpus["doc_id"]))):
        for row, name in enumerate(benchmark.qrels[column], start=1):
            if name not in known:
                raise InputError(f"the {column} of a judgment does not exist", file="qrels", line=row, value=name)


def unanswered(benchmark: Benchmark) -> list[str]:
    """Ids of the queries without a relevant document; a training query may have a positive sample instead."""
    answered = set(benchmark.qrels.filter(pl.col("grade") > 0)["query_id"])
    trained = set(benchmark.samples.filter(pl.col("label") == 1)["query_id"])
    return [
        query.query_id
        for query in benchmark.queries
        if query.query_id not in answered and not (query.split == "train" and query.query_id in trained)
    ]


def _refuse_unanswerable(benchmark: Benchmark) -> None:
    missing = unanswered(benchmark)
    if missing:
        raise InputError(
            f"{len(missing)} queries have no relevant document",
            value=missing[0],
            remedy="Leave them out of the benchmark: no system can answer them",
        )
