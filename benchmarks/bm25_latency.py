"""Milliseconds per query of BM25, BM25_filter and QBM25, beside rank-bm25, bm25s and tantivy, in one run.

Makes sentences of 22 tokens (words drawn by Zipf's law, one or two of them with a quantity) and queries of seven, asks
every system the same queries, and prints a table and JSON. Ours run through `execute`, so the figures are those that a
leaderboard reports: tokenising, scoring, quantity score, the best 1000; for [parsed] the parsing of the query as well.
BM25 ranks a batch of queries on all cores; "BM25 alone" is its index asked for one query at a time, in one thread.
rank-bm25, bm25s and tantivy are called as their own documentation does, with the same tokens, for the best 1000; those
that are not installed are left out. What bm25s compiles in each process is in its column for the index. Every system
answers all queries once before it is timed: the first batch would pay for opening files and loading compiled loops.
"CPU ms" is processor time of a query on all threads together, conditions given, parsing left out: the least of
`ROUNDS` rounds over all queries, in which our systems take turns, so that others on the machine matter little. Peak
memory is of a process that opens benchmark and indexes and answers the queries; Python and its packages are in it.

    python benchmarks/bm25_latency.py [--sizes 18750 75000 300000] [--queries 200] [--ours] [--output results.json]

With --lists only the scoring is timed, of one query over made lists, which are quick to make for any size: five words
that half, a sixth (twice), a fiftieth and a thousandth of the documents hold, in one thread, the least of ten times.
The best 1,000 are wanted, or a thousandth of the documents where that is less; other options but --sizes say nothing:

    python benchmarks/bm25_latency.py --lists --sizes 640000 2500000 10000000
"""

from __future__ import annotations

import argparse
import json
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from qbench.benchmark.benchmark import Benchmark, benchmark_key
from qbench.benchmark.disk import open_benchmark, write_benchmark
from qbench.benchmark.types import Query, corpus_schema, qrels_schema
from qbench.progress import silent
from qbench.quantities.types import Comparator, Condition, Quantity, quantity_schema, to_row
from qbench.quantities.units import load_units
from qbench.randomness import generator
from qbench.retrieval.analysis import token_lists
from qbench.retrieval.bench import Bench
from qbench.retrieval.execute import execute
from qbench.retrieval.first_stage import FirstStage, Input
from qbench.retrieval.grammar import parse_system
from qbench.retrieval.jobs import ExecuteOptions
from qbench.retrieval.lexical import open_bm25
from qbench.retrieval.systems import Stage, System
from qbench.scoring.bm25 import Postings, best, score
from qbench.scoring.postings import SHARE
from qbench.scoring.ranking import best_above

SYSTEMS = ("BM25", "BM25_filter", "QBM25", "QBM25(terms=all)", "BindBM25")
WORDS, LENGTH, DEPTH = 100_000, 22, 1000
UNITS = ("kilogram", "dollar", "kilometer", "percent", "hour")
PHRASES: dict[Comparator, str] = {"=": "exactly", ">": "above", "<": "below"}
REFERENCE_QUERIES = 20
ROUNDS = 7
HOLD = (1 / 2, 1 / 6, 1 / 6, 1 / 50, 1 / 1000)
FIGURES = ("index_s", "median_ms", "p95_ms", "median_to_bm25", "cpu_ms", "cpu_to_bm25")


def words() -> np.ndarray:
    """Pronounceable words, the frequent ones short."""
    syllables = [a + b for a in "bdfgklmnprstvz" for b in "aeiou"]
    made = []
    for number in range(WORDS):
        word, rest = "", number
        while not word or rest:
            rest, digit = divmod(rest, len(syllables))
            word += syllables[digit]
        made.append(word + "n")
    return np.array(made, dtype=object)


def zipf() -> np.ndarray:
    shares = 1.0 / np.arange(1, WORDS + 1)
    return shares / shares.sum()


def make(size: int, queries: int) -> Benchmark:
    """A benchmark of `size` sentences; its quantities are known because they were written into it."""
    rng = generator(0, "bm25_latency", str(size))
    vocabulary, shares, units = words(), zipf(), load_units()
    drawn = vocabulary[rng.choice(WORDS, size=(size, LENGTH), p=shares)]
    values = np.round(rng.lognormal(4, 1.5, size=(size, 2)), 1)
    kinds = rng.integers(0, len(UNITS), size=(size, 2))
    second = rng.random(size) < 0.5
    texts, mentions = [], []
    for row in range(size):
        tokens = list(drawn[row])
        for place in range(1 + second[row]):
            value, name = float(values[row, place]), UNITS[kinds[row, place]]
            tokens[4 + 8 * place : 6 + 8 * place] = [f"{value:g}", name]
            unit, base = units.get(name), units.to_base(value, name)
            mention = Quantity(value, value, "=", name, unit.family, unit.base_unit, base, base)
            mentions.append(to_row(f"d{row}", mention))
        texts.append(" ".join(tokens))
    ids = [f"d{row}" for row in range(size)]
    corpus = pl.DataFrame({"doc_id": ids, "text": texts, "title": "", "source_id": "made"}, schema=corpus_schema())
    return Benchmark(
        name=f"made-{size}",
        corpus=corpus,
        queries=make_queries(rng, drawn, queries),
        # A benchmark that is written has an answer for each query; none is scored here.
        qrels=pl.DataFrame([(f"q{n}", "d0", 1) for n in range(queries)], qrels_schema(), orient="row"),
        quantities=pl.DataFrame(mentions, schema=quantity_schema()),
        params={"quantities": "extracted"},
    )


def make_queries(rng: np.random.Generator, drawn: np.ndarray, count: int) -> list[Query]:
    """Four words of one sentence, then a condition in three."""
    units, made = load_units(), []
    for number in range(count):
        terms = " ".join(drawn[rng.integers(len(drawn)), 14:18])
        comparator, phrase = list(PHRASES.items())[number % 3]
        value, name = float(np.round(rng.lognormal(4, 1), 1)), UNITS[number % len(UNITS)]
        base = units.to_base(value, name)
        condition = Condition(comparator, value, value, name, units.get(name).base_unit, base, base)
        made.append(Query(f"q{number}", f"{terms} {phrase} {value:g} {name}", terms, (condition,)))
    return made


def ours(benchmark: Benchmark) -> list[dict[str, Any]]:
    systems = [parse_system(name) for name in SYSTEMS]
    with tempfile.TemporaryDirectory() as folder:
        execute(benchmark, systems, Path(folder), ExecuteOptions(depth=DEPTH - 1))  # at its own depth nothing is there
        results = execute(benchmark, systems, Path(folder), ExecuteOptions(depth=DEPTH))
        spent = processor(benchmark, systems, Path(folder))
        (index,) = {path.parent for path in Path(folder).rglob("vocabulary.parquet")}
        alone = asked_alone(benchmark, index)
        write_benchmark(benchmark, Path(folder) / "benchmark")
        peaks = {name: peak(Path(folder), name) for name in SYSTEMS}
    rows = [
        {
            "system": result.label,
            "index_s": result.cost.index_seconds,
            "median_ms": result.cost.ms_median,
            "p95_ms": result.cost.ms_p95,
            "queries": len(benchmark.queries),
            "peak_mb": peaks[result.system],
            **({} if result.conditions == "parsed" else {"cpu_ms": spent[result.system]}),
        }
        for result in results
    ]
    return [rows[0], alone, *rows[1:]]


def processor(benchmark: Benchmark, systems: list[System], folder: Path) -> dict[str, float]:
    """Milliseconds of processor time for a query, by system."""
    options = ExecuteOptions()
    extractor = options.extractor_of(benchmark)
    key = benchmark_key(benchmark)
    bench = Bench(benchmark, key, folder / "indexes", "auto", extractor, 1, silent, options.access)
    jobs = {str(system): asker(bench, system.first) for system in systems}
    least = dict.fromkeys(jobs, float("inf"))
    for _ in range(ROUNDS):
        for name, ask in jobs.items():
            start = time.process_time()
            ask()
            least[name] = min(least[name], 1000 * (time.process_time() - start) / len(benchmark.queries))
    return least


def asker(bench: Bench, stage: Stage) -> Callable[[], object]:
    """What answers all queries with a first stage."""
    queries = bench.benchmark.queries
    ranker: Any = bench.first_stage(stage.bare, DEPTH).ranker
    if stage.quantity is None:
        return lambda: ranker.best(ranker.prepared([bench.search(stage, one, "none") for one in queries]), DEPTH)
    index = None if stage.binds else bench.quantity_index.index
    first = FirstStage(stage, ranker, index, bench.binding_index.index if stage.binds else None, DEPTH)

    def ask() -> object:
        searches = ranker.prepared([bench.search(stage, one, "given") for one in queries])
        asked = bench.asked(queries, "given") if stage.binds else [None] * len(queries)
        conditions = [bench.conditions(one, "given") for one in queries]
        inputs = [Input(*one) for one in zip(searches, conditions, asked, strict=True)]
        together = first.from_sums(inputs)
        return [first.from_list(ranker.search(one.search), one) for one in inputs] if together is None else together

    return ask


def peak(folder: Path, system: str) -> float:
    """The most memory, in MB, of a process that answers the queries with indexes that are there."""
    command = [sys.executable, __file__, "--peak", str(folder), system]
    return float(subprocess.run(command, check=True, capture_output=True, text=True).stdout)


def print_peak(folder: Path, system: str) -> None:
    options = ExecuteOptions(depth=DEPTH - 2)  # another depth: these runs are not there yet
    execute(open_benchmark(folder / "benchmark"), [parse_system(system)], folder, options)
    # What `getrusage` says can be the memory of the process that started this one.
    print(int(re.findall(r"VmHWM:\s+(\d+)", Path("/proc/self/status").read_text())[0]) / 1024)


def asked_alone(benchmark: Benchmark, index: Path) -> dict[str, Any]:
    """Our index, one query after the other."""

    def opened() -> Callable[[list[str]], object]:
        ranker = open_bm25(index)
        numbers = ranker.vocabulary
        return lambda query: best(ranker.postings, [numbers[token] for token in query if token in numbers], DEPTH)

    return timed("BM25 alone", opened, token_lists([query.text for query in benchmark.queries]))


def timed(name: str, build: Callable[[], Callable[[list[str]], object]], queries: list[list[str]]) -> dict[str, Any]:
    start = time.perf_counter()
    ask = build()
    index = time.perf_counter() - start
    for query in queries if len(queries) > REFERENCE_QUERIES else ():
        ask(query)
    spent, least = [], float("inf")
    for _ in range(ROUNDS if len(queries) > REFERENCE_QUERIES else 1):
        before = time.process_time()
        for query in queries:
            start = time.perf_counter()
            ask(query)
            spent.append(1000 * (time.perf_counter() - start))
        least = min(least, 1000 * (time.process_time() - before) / len(queries))
    figures = {"median_ms": float(np.median(spent)), "p95_ms": float(np.percentile(spent, 95)), "cpu_ms": least}
    return {"system": name, "index_s": index, **figures, "queries": len(queries)}


def theirs(benchmark: Benchmark) -> list[dict[str, Any]]:
    documents = token_lists(benchmark.corpus["text"].to_list())
    queries = token_lists([query.text for query in benchmark.queries])

    def rank_bm25() -> Callable[[list[str]], object]:
        from rank_bm25 import BM25Okapi

        model = BM25Okapi(documents)
        return lambda query: np.argsort(model.get_scores(query))[::-1][:DEPTH]

    def bm25s_of(backend: str) -> Callable[[], Callable[[list[str]], object]]:
        def build() -> Callable[[list[str]], object]:
            import bm25s

            model = bm25s.BM25(method="atire", idf_method="robertson", backend=backend)
            model.index(documents, show_progress=False)

            def ask(query: list[str]) -> object:
                return model.retrieve([query], k=DEPTH, show_progress=False, n_threads=1, backend_selection=backend)

            ask(queries[0])
            return ask

        return build

    def tantivy() -> Callable[[list[str]], object]:
        from tantivy import Document, Index, Occur, Query, SchemaBuilder

        schema = SchemaBuilder().add_text_field("text", tokenizer_name="whitespace").build()
        index = Index(schema)
        writer = index.writer(heap_size=500_000_000, num_threads=1)
        for document in documents:
            writer.add_document(Document(text=" ".join(document)))
        writer.commit()
        writer.wait_merging_threads()
        index.reload()
        searcher = index.searcher()

        def ask(query: list[str]) -> object:
            terms = [(Occur.Should, Query.term_query(schema, "text", token)) for token in query]
            return searcher.search(Query.boolean_query(terms), DEPTH, count=False)

        return ask

    rows = [timed("rank-bm25", rank_bm25, queries[:REFERENCE_QUERIES])]
    others = {"bm25s (numpy)": bm25s_of("numpy"), "bm25s (numba)": bm25s_of("numba"), "tantivy": tantivy}
    for name, build in others.items():
        try:
            rows.append(timed(name, build, queries))
        except ImportError:
            print(f"{name} is not installed: left out")
    return rows


def lists_row(size: int) -> str:
    """A row of the table: milliseconds for the best of one query, by blocks of documents, and from the sums of all."""
    rng = np.random.default_rng(1)
    lists = [np.flatnonzero(rng.random(size, np.float32) < share).astype(np.int32) for share in HOLD]
    docs = np.concatenate(lists)
    postings = Postings(np.cumsum([0, *map(len, lists)]), docs, rng.random(docs.size), size)
    terms, depth = range(len(lists)), min(DEPTH, size // SHARE)

    def of_all() -> None:
        best_above(score(postings, terms), depth)

    def least(work: Callable[[], object]) -> float:
        work()  # loads what is compiled
        took = []
        for _ in range(10):
            start = time.perf_counter()
            work()
            took.append(1000 * (time.perf_counter() - start))
        return min(took)

    own, whole = least(lambda: best(postings, terms, depth)), least(of_all)
    return f"| {size:,} | {own:.2f} | {whole:.2f} | {whole / own:.2f} |"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sizes", type=int, nargs="+", default=[18_750, 75_000, 300_000])
    parser.add_argument("--queries", type=int, default=200)
    parser.add_argument("--ours", action="store_true", help="leave the other packages out")
    parser.add_argument("--lists", action="store_true", help="time the scoring alone, over made lists")
    parser.add_argument("--output", type=Path)
    parser.add_argument("--peak", nargs=2, metavar=("FOLDER", "SYSTEM"), help="of one process: used inside")
    options = parser.parse_args()
    if options.peak:
        print_peak(Path(options.peak[0]), options.peak[1])
        return
    if options.lists:
        print("| documents | by blocks, ms | all sums first, ms | ratio |\n|---:|---:|---:|---:|")
        for size in options.sizes:
            print(lists_row(size), flush=True)
        return
    results: list[dict[str, Any]] = []
    print(
        "| sentences | system | index s | median ms | p95 ms | median / BM25 "
        "| CPU ms | CPU / BM25 | queries | peak MB |\n"
        "|---|---|---|---|---|---|---|---|---|---|"
    )
    for size in options.sizes:
        benchmark = make(size, options.queries)
        rows = [*ours(benchmark), *([] if options.ours else theirs(benchmark))]
        for row in rows:
            row["median_to_bm25"] = row["median_ms"] / rows[0]["median_ms"]
            if "cpu_ms" in row:
                row["cpu_to_bm25"] = row["cpu_ms"] / rows[0]["cpu_ms"]
            results.append({"sentences": size, **row})
            memory = f"{row['peak_mb']:,.0f}" if "peak_mb" in row else "-"
            figures = " | ".join(f"{row[key]:.2f}" if key in row else "-" for key in FIGURES)
            print(f"| {size:,} | {row['system']} | {figures} | {row['queries']} | {memory} |", flush=True)
    text = json.dumps(results, indent=2)
    print(text) if options.output is None else options.output.write_text(text + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
