"""Does Bind hurt where a query asks for no quantity? nDCG@10 on pooled MS MARCO passages (TREC DL 2019 and 2020).

    python benchmarks/bind_general.py DATA WORK [--systems BM25 BM25_filter QBM25 BindBM25]

DATA holds retrieval/msmarco-dl. WORK keeps indexes and runs. Only queries in whose texts no condition is found are
asked, so that the passages' quantities, which take a quarter of an hour to extract, play no part: the benchmark has
none. Each system's difference from the first one is tested by paired randomisation.
"""

from __future__ import annotations

import argparse
import gzip
import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import polars as pl

from qbench.benchmark.benchmark import Benchmark
from qbench.benchmark.types import Query, corpus_schema, qrels_schema
from qbench.evaluation.measures import parse_measures, score_run
from qbench.quantities.extractors import ExtractorOptions, get_extractor
from qbench.quantities.types import quantity_schema
from qbench.randomness import generator
from qbench.retrieval.execute import execute
from qbench.retrieval.grammar import parse_system
from qbench.retrieval.jobs import ExecuteOptions

YEARS = ("dl19", "dl20")
SIGNS = 20_000


def opened(folder: Path) -> Benchmark:
    """The queries of both years."""
    with gzip.open(folder / "corpus.jsonl.gz", "rt", encoding="utf-8") as lines:
        rows = [json.loads(line) for line in lines]
    corpus = [{"doc_id": row["_id"], "text": row["text"], "title": row["title"], "source_id": "pool"} for row in rows]
    queries = [Query(f"{year}-{query}", text) for year in YEARS for query, text in asked(folder, year)]
    known = {query.query_id for query in queries}
    qrels = [
        (f"{year}-{row[0]}", row[-2], int(row[-1]))
        for year in YEARS
        for row in map(str.split, (folder / "qrels" / f"{year}.tsv").read_text(encoding="utf-8").splitlines())
        if row[-1].isdigit() and f"{year}-{row[0]}" in known
    ]
    made = pl.DataFrame(corpus, corpus_schema()), queries, pl.DataFrame(qrels, qrels_schema(), orient="row")
    return Benchmark("msmarco-dl", *made)


def asked(folder: Path, year: str) -> Iterator[tuple[str, str]]:
    for line in (folder / f"queries.{year}.jsonl").read_text(encoding="utf-8").splitlines():
        row = json.loads(line)
        yield row["_id"], row["text"]


def p_value(differences: np.ndarray) -> float:
    """Of paired randomisation, two-sided."""
    signs = generator(0, "bind_general").choice([-1, 1], size=(SIGNS, differences.size))
    extreme = np.abs((signs * differences).mean(1)) >= abs(differences.mean()) - 1e-12
    return float((1 + extreme.sum()) / (SIGNS + 1))


def main() -> None:
    """Run, and print a table."""
    reader = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    reader.add_argument("data", type=Path)
    reader.add_argument("work", type=Path)
    reader.add_argument("--systems", nargs="+", default=["BM25", "BM25_filter", "QBM25", "BindBM25"])
    args = reader.parse_args()
    benchmark = opened(args.data / "retrieval" / "msmarco-dl")
    extractor = get_extractor(ExtractorOptions())
    plain = [query.query_id for query in benchmark.queries if not extractor.parse_query(query.text).conditions]
    print(f"{len(plain)} of {len(benchmark.queries)} queries ask for no quantity")
    benchmark = replace(
        benchmark,
        queries=[query for query in benchmark.queries if query.query_id in plain],
        qrels=benchmark.qrels.filter(pl.col("query_id").is_in(plain)),
        quantities=pl.DataFrame(schema=quantity_schema()),
        params={"quantities": "extracted"},
    )
    systems = [parse_system(name) for name in args.systems]
    results = execute(benchmark, systems, args.work, ExecuteOptions(settings=("parsed",)))
    (measure,) = parse_measures(["nDCG@10"])
    first = None
    print("| system | dl19 | dl20 | both | better | worse | p |\n|---|---:|---:|---:|---:|---:|---:|")
    for result in results:
        table = score_run(result.run, benchmark.qrels, [measure], plain)
        scores = dict(table.select("query_id", "value").iter_rows())
        means = [np.mean([v for q, v in scores.items() if q.startswith(year)]) for year in (*YEARS, "")]
        first = first or scores
        gaps = np.array([scores[query] - first[query] for query in scores])
        p = f"{p_value(gaps):.4f}" if gaps.any() else "-"
        figures = " | ".join(f"{mean:.3f}" for mean in means)
        print(f"| {result.label} | {figures} | {(gaps > 0).sum()} | {(gaps < 0).sum()} | {p} |", flush=True)


if __name__ == "__main__":
    main()
