"""What each part of Bind is worth, and the choice of its weights: nDCG@10 on development parts, or on test parts.

    python benchmarks/bind.py DATA BOARDS WORK [--part dev|test] [--queries 300] [--choose] [--encoder MODEL]
        [--sets SET ...] [--output results.md]

DATA holds retrieval/numconq-*, whose queries are split by a digest of their ids, the even ones for development. BOARDS
has the benchmarks that real_corpora.sh generates; their development and training queries are for development. WORK
keeps indexes. Conditions are parsed from the queries' texts everywhere.

Every document that BindBM25 looks at is scored in full, once (those that BM25 retrieves, and those with a value that
satisfies); weights are then tried on the stored parts. `--choose`
raises and lowers one weight after the other as long as the mean over the sets grows, from those of the options. With
`--encoder` there is a part for meaning.
"""

from __future__ import annotations

import argparse
import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numconq_parts import part_of, shuffled
from numpy.typing import NDArray

from qbench.benchmark.benchmark import Benchmark, benchmark_key
from qbench.benchmark.disk import open_benchmark
from qbench.benchmark.types import Query
from qbench.llm.client import Access
from qbench.progress import silent
from qbench.retrieval.bench import Bench
from qbench.retrieval.document_quantities import extractor_options
from qbench.retrieval.finishing import with_satisfying
from qbench.retrieval.grammar import parse_system
from qbench.retrieval.ranker_options import BindOptions
from qbench.scoring.binding import MEANING, PARTS, meanings, parts
from qbench.scoring.fusion import normalised

SETS = ("numconq-imdb", "numconq-league", "numconq-olympic", "sec_filings", "reuters21578", "rct_abstracts")
COLUMNS = ("own", *PARTS, MEANING)
GRID = (0.0, 0.1, 0.25, 0.5, 0.75, 1.0, 1.5, 2.0, 3.0, 4.0, 6.0, 8.0)
DEPTH = 10


@dataclass(frozen=True)
class Scored:
    """A query's candidates: their parts, shape (n, 7), their grades, shape (n,), and the highest possible DCG."""

    parts: NDArray[np.float64]
    grades: NDArray[np.float64]
    ideal: float

    def ndcg(self, weights: NDArray[np.float64]) -> float:
        """nDCG@10 of the weighted sum; equal scores in the order of positions."""
        best = np.argsort(-(self.parts @ weights), kind="stable")[:DEPTH]
        return dcg(self.grades[best]) / self.ideal


def dcg(grades: NDArray[np.float64]) -> float:
    """The discounted gain of grades in order."""
    return sum(grade / math.log2(rank + 2) for rank, grade in enumerate(grades.tolist()))


def queries_of(benchmark: Benchmark, part: str, most: int) -> list[Query]:
    """The queries of a part, at most so many, in an order that has nothing to do with them."""
    if benchmark.name.startswith("numconq"):
        queries = [query for query in benchmark.queries_of("test") if part_of(query) == part]
    elif part == "test":
        queries = list(benchmark.queries_of("test"))
    else:
        queries = [*benchmark.queries_of("dev"), *benchmark.queries_of("train")]
    return shuffled(queries, part)[:most]


def scored(benchmark: Benchmark, queries: Sequence[Query], root: Path, encoder: str = "") -> list[Scored]:
    """The candidates of each query."""
    options = extractor_options(benchmark)
    bench = Bench(benchmark, benchmark_key(benchmark), root, "auto", options, 1, silent, Access())
    stage, index = parse_system("BindBM25").first, bench.binding(encoder).index
    ranker = bench.first_stage(stage, 1000).ranker
    positions = {doc: number for number, doc in enumerate(bench.corpus["doc_id"])}
    grades: dict[str, dict[int, int]] = {query.query_id: {} for query in queries}
    for query_id, doc_id, grade in benchmark.qrels.select("query_id", "doc_id", "grade").iter_rows():
        if query_id in grades and doc_id in positions:
            grades[query_id][positions[doc_id]] = grade
    searches = ranker.prepared([bench.search(stage, query, "parsed") for query in queries])
    made = []
    for query, search, asked in zip(queries, searches, bench.asked(queries, "parsed", encoder), strict=True):
        hits, judged = with_satisfying(ranker.search(search), index, asked), grades[query.query_id]
        found = parts(index.records, asked, hits.docs)
        of_hits = np.array([judged.get(int(doc), 0) for doc in hits.docs], dtype=np.float64)
        ideal = dcg(np.array(sorted((g for g in judged.values() if g > 0), reverse=True)[:DEPTH], dtype=np.float64))
        decided = of_hits >= 0
        if ideal:
            near = np.zeros(hits.docs.size)
            if index.vectors is not None and asked.vector is not None:
                cosines = index.vectors.cosines(index.mentions.starts, hits.docs, asked.vector)
                near = meanings(index.records, asked, hits.docs, cosines)
            table = np.column_stack([normalised(hits.scores), found, near])
            made.append(Scored(table[decided], of_hits[decided], ideal))
    return made


def means(sets: dict[str, list[Scored]], weights: NDArray[np.float64]) -> list[float]:
    """nDCG@10 of each set."""
    return [float(np.mean([query.ndcg(weights) for query in queries])) for queries in sets.values()]


def chosen(sets: dict[str, list[Scored]], weights: NDArray[np.float64]) -> NDArray[np.float64]:
    """Weights with a higher mean over the sets, one after the other."""
    best = np.mean(means(sets, weights))
    changed = True
    while changed:
        changed = False
        for column in range(len(COLUMNS)):
            for value in GRID:
                tried = weights.copy()
                tried[column] = value
                mean = np.mean(means(sets, tried))
                if mean > best + 5e-4:
                    best, weights, changed = mean, tried, True
    return weights


def table(sets: dict[str, list[Scored]], weights: NDArray[np.float64], encoder: bool) -> str:
    """The ablation: all parts, each left out, and each alone with the model's own score."""
    rows: list[tuple[str, NDArray[np.float64]]] = [("own alone", np.eye(len(COLUMNS))[0]), ("all parts", weights)]
    for column, name in enumerate(COLUMNS if encoder else COLUMNS[:-1]):
        rows.append((f"without {name}", np.where(np.arange(len(COLUMNS)) == column, 0.0, weights)))
    binding = [COLUMNS.index(name) for name in ("binding", "ratio")]
    rows.append(("without binding and ratio", np.where(np.isin(np.arange(len(COLUMNS)), binding), 0.0, weights)))
    texts = [COLUMNS.index(name) for name in ("words", "pairs")]
    rows.append(("without words and pairs", np.where(np.isin(np.arange(len(COLUMNS)), texts), 0.0, weights)))
    lines = [f"| | {' | '.join(sets)} | mean |", "|---|" + "---:|" * (len(sets) + 1)]
    for name, row in rows:
        figures = means(sets, row)
        lines.append(f"| {name} | {' | '.join(f'{x:.3f}' for x in (*figures, np.mean(figures)))} |")
    return "\n".join(lines)


def main() -> None:
    """Score, choose if asked for, and print the table."""
    reader = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    reader.add_argument("data", type=Path)
    reader.add_argument("boards", type=Path)
    reader.add_argument("work", type=Path)
    reader.add_argument("--part", choices=("dev", "test"), default="dev")
    reader.add_argument("--queries", type=int, default=300)
    reader.add_argument("--choose", action="store_true")
    reader.add_argument("--encoder", default="")
    reader.add_argument("--sets", nargs="+", choices=SETS, default=SETS)
    reader.add_argument("--output", type=Path)
    args = reader.parse_args()
    sets = {}
    for name in args.sets:
        folder = (args.data / "retrieval" if name.startswith("numconq") else args.boards) / name
        benchmark = open_benchmark(folder)
        sets[name] = scored(benchmark, queries_of(benchmark, args.part, args.queries), args.work / name, args.encoder)
        print(f"{name}: {len(sets[name])} queries", flush=True)
    options = BindOptions(encoder=args.encoder or "none").weights()
    if not args.encoder:
        options[MEANING] = 0.0
    weights = np.array([options[name] for name in COLUMNS])
    if args.choose:
        weights = chosen(sets, weights)
        print("chosen: " + ", ".join(f"{name}={value:g}" for name, value in zip(COLUMNS, weights, strict=True)))
    text = table(sets, weights, bool(args.encoder))
    print(text)
    if args.output:
        args.output.write_text(text + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
