"""Rows of benchmarks/compression.md: compressed rerankers of BM25's best 100, query by query, on dev and test.

    python benchmarks/compression_study.py BENCH ROWS SYSTEM... --encoder "SBERT(model=MODEL)" --work FOLDER
        [--books BOOKS]

A SYSTEM is a compression as it stands in a system's name, PQ(M=8, K=512), or the name of a folder in BOOKS, which
`benchmarks/compression.py` wrote; "none" is the uncompressed encoder. Each gets a file in ROWS with nDCG@10 of every
query for each weight of BM25, for dense retrieval, and what is lost of the differences between uncompressed scores:

    lost = sum (e - mean e)^2 / sum (s - mean s)^2,    e = s - compressed s, over a query's 100 documents

Rows that are there are kept. `benchmarks/compression_tables.py` makes tables of them.
"""

from __future__ import annotations

import argparse
import json
import re
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from qbench.benchmark.benchmark import Benchmark
from qbench.benchmark.disk import open_benchmark
from qbench.benchmark.types import Split
from qbench.compression.quantiser import read_about
from qbench.evaluation.measures import relevant_queries, score_run
from qbench.retrieval.dense import Dense
from qbench.retrieval.explaining import bench_of
from qbench.retrieval.grammar import parse_system
from qbench.retrieval.rankers import Candidates, Search
from qbench.retrieval.types import run_schema
from qbench.scoring.fusion import interpolated
from qbench.scoring.ranking import top_k

POOL, ALPHAS, MEASURE = 100, (0.0, 0.1, 0.3, 0.5), "nDCG@10"
SPLITS: tuple[Split, ...] = ("dev", "test")


class Queries:
    """The judged queries of a split, with what BM25 found and the uncompressed scores of that."""

    def __init__(self, benchmark: Benchmark, split: Split, dense: Dense, lexical: Any) -> None:
        answered = set(relevant_queries(benchmark.qrels))
        queries = [query for query in benchmark.queries_of(split) if query.query_id in answered]
        searches = [Search(query.query_id, query.text, query.conditions) for query in queries]
        found = lexical.best(lexical.prepared([Search(query.query_id, query.text) for query in queries]), POOL)
        self.ids = [query.query_id for query in queries]
        self.qrels = benchmark.qrels.filter(pl.col("query_id").is_in(self.ids))
        self.searches = dense.encoded(searches)
        self.found: list[Candidates] = found
        self.taught = dense.rerank(self.searches, self.found)

    def ndcg(self, ranked: list[list[str]]) -> list[float]:
        """nDCG@10 of each query's documents, best first."""
        rows = [
            (query, doc, rank, -rank)
            for query, docs in zip(self.ids, ranked, strict=True)
            for rank, doc in enumerate(docs, 1)
        ]
        run = pl.DataFrame(rows, schema=run_schema(), orient="row", strict=False)
        found = score_run(run, self.qrels, [MEASURE], self.ids)
        values = dict(found.select("query_id", "value").iter_rows())
        return [round(float(values[query]), 5) for query in self.ids]


class Study:
    """Evaluates compressions of one encoder's vectors on one benchmark."""

    def __init__(self, benchmark: Benchmark, encoder: str, work: Path) -> None:
        self.benchmark, self.encoder = benchmark, encoder
        self.bench = bench_of(benchmark, work)
        self.doc_ids = self.bench.context().corpus["doc_id"]

    @cached_property
    def dense(self) -> Dense:
        """The uncompressed encoder."""
        ranker = self.bench.first_stage(parse_system(self.encoder).first, POOL).ranker
        assert isinstance(ranker, Dense)
        return ranker

    @cached_property
    def queries(self) -> dict[Split, Queries]:
        """Of dev and test."""
        lexical: Any = self.bench.first_stage(parse_system("BM25").first, POOL).ranker
        return {split: Queries(self.benchmark, split, self.dense, lexical) for split in SPLITS}

    def row(self, compression: str) -> dict[str, Any]:
        """All figures of a compression, "" for none."""
        name = f"{self.encoder}-{compression}" if compression else self.encoder
        opened = self.bench.first_stage(parse_system(name).first, POOL)
        ranker: Any = opened.ranker
        row: dict[str, Any] = sizes(ranker)
        for split, queries in self.queries.items():
            own_encoder = ranker.vectors.codec.query_model() is not None
            searches = ranker.encoded(queries.searches) if own_encoder else queries.searches
            scores = ranker.rerank(searches, queries.found)
            row[split] = {
                "lost": round(float(np.mean(list(map(lost, queries.taught, scores)))), 4),
                **{f"alpha {alpha}": self._ndcg(queries, scores, alpha) for alpha in ALPHAS},
            }
            if split == "test":
                best = ranker._retrieved(searches)
                row[split]["dense"] = queries.ndcg([self._first(some.docs, some.scores) for some in best])
        return row

    def _ndcg(self, queries: Queries, scores: list[NDArray[np.float64]], alpha: float) -> list[float]:
        ranked = []
        for some, own in zip(queries.found, scores, strict=True):
            mixed = interpolated(some.scores, own, alpha) if alpha else own
            ranked.append(self._first(some.docs, mixed))
        return queries.ndcg(ranked)

    def _first(self, docs: NDArray[np.intp], scores: NDArray[np.float64]) -> list[str]:
        return [self.doc_ids[int(docs[at])] for at in top_k(scores, 10)]


def lost(taught: NDArray[np.float64], scores: NDArray[np.float64]) -> float:
    """The share of the differences between a query's scores that compression loses; see the module."""
    error = taught - scores
    spread = float(((taught - taught.mean()) ** 2).sum()) if taught.size else 0.0
    return float(((error - error.mean()) ** 2).sum()) / spread if spread else 0.0


def sizes(ranker: Dense) -> dict[str, Any]:
    """Bytes of codes for a vector, and how many times smaller they are; the codebook's beside them."""
    codec, count = ranker.vectors.codec, len(ranker.vectors)
    code = sum(array.nbytes for array in ranker.vectors.arrays.values()) / count
    learnt = sum(array.nbytes for array in codec.learnt.values())
    times = 4 * ranker.vectors.dimension / code
    return {"bytes": round(code, 2), "times": round(times, 1), "codebook_bytes": learnt}


def compression_of(name: str, books: Path) -> str:
    """A codec as a system's name has it, from that or from a codebook's folder."""
    folder = books / name
    if "(" in name or not folder.is_dir():
        return "" if name == "none" else name
    return f'{read_about(folder)["variant"]}(codebook="{folder}")'


def main() -> None:
    """Evaluate, and print a line for each system."""
    reader = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    reader.add_argument("bench", type=Path)
    reader.add_argument("rows", type=Path)
    reader.add_argument("systems", nargs="+")
    reader.add_argument("--encoder", required=True)
    reader.add_argument("--work", type=Path, required=True)
    reader.add_argument("--books", type=Path, default=Path("books"))
    options = reader.parse_args()
    options.rows.mkdir(parents=True, exist_ok=True)
    study = Study(open_benchmark(options.bench), options.encoder, options.work)
    for name in options.systems:
        file = options.rows / (re.sub(r"[^\w.=-]+", "_", name).strip("_") + ".json")
        if not file.is_file():
            row = {"name": name, **study.row(compression_of(name, options.books))}
            row["system"] = name
            draft = file.with_suffix(".part")
            draft.write_text(json.dumps(row) + "\n", encoding="utf-8")
            draft.rename(file)
        row = json.loads(file.read_text(encoding="utf-8"))
        means = {split: {key: round(float(np.mean(value)), 3) for key, value in row[split].items()} for split in SPLITS}
        print(name, row["times"], json.dumps(means), flush=True)


if __name__ == "__main__":
    main()
