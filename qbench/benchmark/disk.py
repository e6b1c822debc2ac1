"""A benchmark: in memory, and as a folder of Parquet tables with a card and a manifest."""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass
from pathlib import Path

import polars as pl

from qbench.artefacts import CARD, open_artefact, reading
from qbench.benchmark.audits import read_audit
from qbench.benchmark.benchmark import Benchmark, benchmark_key, unanswered
from qbench.benchmark.card import card, summary
from qbench.benchmark.importers.beir import read_beir
from qbench.benchmark.parquet import OPTIONAL, SCHEMAS, conform, read_table, write_table
from qbench.benchmark.types import KINDS, SPLITS, Query
from qbench.errors import InputError, OptionError
from qbench.store import MANIFEST, drafting, finished

KIND = "benchmark"


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
    manifest = open_artefact(path, KIND, [f"{table}.parquet" for table in SCHEMAS if table not in OPTIONAL])

    def read(table: str, where: pl.Expr | None = None) -> pl.DataFrame:
        with reading(path, manifest, f"{table}.parquet") as file:
            return read_table(file, table, where)

    def later(table: str) -> Callable[[], pl.DataFrame]:
        return lambda: read(table)

    return Benchmark(
        name=path.resolve().name,
        corpus=read("corpus"),
        queries=_queries(read("queries"), path / "queries.parquet"),
        qrels=_StoredJudgments(read),
        quantities=later("quantities") if "quantities.parquet" in manifest.files else None,
        samples=later("samples"),
        triples=later("triples"),
        facts=later("facts") if "facts.parquet" in manifest.files else None,
        params={**manifest.params, "counts": manifest.counts.get("made", {})},
        digest=manifest.digest,
        audit=read_audit(path),
    )


@dataclass(frozen=True)
class _StoredJudgments:
    """The judgments of a benchmark on disk.

    Attributes:
        read: reads a table, or the rows of it that an expression says.
    """

    read: Callable[[str, pl.Expr | None], pl.DataFrame]

    def __call__(self) -> pl.DataFrame:
        """All of them."""
        return self.read("qrels", None)

    def of(self, query_ids: Collection[str]) -> pl.DataFrame:
        """Those of some queries, in the order of the table."""
        return self.read("qrels", pl.col("query_id").is_in(list(query_ids)))


def _queries(table: pl.DataFrame, path: Path) -> list[Query]:
    queries = []
    for number, row in enumerate(table.iter_rows(named=True), start=1):
        try:
            query = Query.from_row(row)
        except (OptionError, TypeError, AttributeError) as fault:
            raise InputError(f"not a query: {fault}", file=path, line=number, value=row["query_id"]) from None
        for column, value, allowed in (("split", query.split, SPLITS), ("kind", query.kind, KINDS)):
            if value not in allowed:
                raise InputError(
                    f"unknown {column}", file=path, line=number, value=value, remedy=f"Known: {', '.join(allowed)}"
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
    folder = Path(folder)
    key = benchmark_key(benchmark)
    if finished(folder, KIND, key):
        return open_benchmark(folder)
    names = [name for name in SCHEMAS if name != "qrels" or benchmark.numbers is None]
    tables = {name: conform(frame, name) for name in names if (frame := benchmark.table(name)) is not None}
    _refuse_dangling(benchmark)
    _refuse_unanswerable(benchmark)
    params = {name: value for name, value in benchmark.params.items() if name != "counts"}
    with drafting(folder, KIND, key, params, overwrite=overwrite) as draft:
        if draft is None:
            return open_benchmark(folder)
        for name, frame in tables.items():
            write_table(frame, name, draft.folder)
        if benchmark.numbers is not None:
            benchmark.numbers.write(draft.folder / "qrels.parquet")
        draft.counts = {"content": summary(benchmark), "made": benchmark.params.get("counts", {})}
        (draft.folder / CARD).write_text(card(benchmark, folder.name, key), encoding="utf-8", newline="\n")
    return open_benchmark(folder)


def _refuse_dangling(benchmark: Benchmark) -> None:
    queries = pl.Series([query.query_id for query in benchmark.queries], dtype=pl.String)
    for column, ids in (("query_id", queries), ("doc_id", benchmark.corpus["doc_id"])):
        named = benchmark.qrels[column].unique() if benchmark.numbers is None else benchmark.numbers.named(column)
        unknown = named.filter(~named.is_in(ids.implode()))
        if unknown.len():
            row = benchmark.qrels[column].is_in(unknown.implode()).arg_max() or 0
            name = benchmark.qrels[column][row]
            raise InputError(f"the {column} of a judgment does not exist", file="qrels", line=row + 1, value=name)


def _refuse_unanswerable(benchmark: Benchmark) -> None:
    missing = unanswered(benchmark)
    if missing:
        raise InputError(
            f"{len(missing)} queries have no relevant document",
            value=missing[0],
            remedy="Leave them out of the benchmark: no system can answer them",
        )
