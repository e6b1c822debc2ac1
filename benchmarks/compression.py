"""Codebooks for benchmarks/compression.md, one after the other: what they learn from is read once for all of them.

    python benchmarks/compression.py BENCH BOOKS --encoder "SBERT(model=MODEL)" --work FOLDER [--M 96 24 8] [--K 256]
        [--variants WolfPQ JPQ ...] [--seeds 13] [--set lip=0.5 ...] [--as NAME] [--queries 4000] [--jobs FILE]

Each is what `qbench train codebook` writes, in BOOKS/VARIANT-M, BOOKS/VARIANT-M-K for other K than 256, with the seed
behind it for others than 13, and --as for options that --set changes. Those that are there are kept. With --queries
they learn from so many of the training queries, which is to be part of --as. Each line of --jobs has options that come
after the others, such as `--variants JPQ --set query_lr=0.0`: one process then reads for all lines.
"""

from __future__ import annotations

import argparse
import json
import shlex
import sys
import time
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

from qbench.benchmark.benchmark import Benchmark, benchmark_key
from qbench.benchmark.disk import open_benchmark
from qbench.training.codebook import train_codebook
from qbench.training.codebook_data import CodebookData, Pairs, read_codebook_data
from qbench.training.codebook_recipe import CodebookRecipe

VARIANTS = ("WolfPQPre", "WolfPQ", "WolfPQI", "DPQ", "RepCONC", "JPQ")
READ = ("negatives", "pairs", "pool", "lowest_grade", "dev_queries", "seed")
"""Options that decide what is read."""
UNUSABLE = 10
"""One in so many training queries may have no pair: so many more are read than are wanted."""


class Reader:
    """Reads what a codebook learns from, and remembers it. JPQ trains the encoder in place, and gets one of its own."""

    def __init__(self, benchmark: Benchmark, queries: int | None = None) -> None:
        self.known: dict[tuple[Any, ...], CodebookData] = {}
        self.benchmark, self.queries = benchmark, queries
        if queries is not None:
            train = benchmark.queries_of("train")[: queries + queries // UNUSABLE]
            others = [query for query in benchmark.queries if query.split != "train"]
            self.benchmark = replace(benchmark, queries=[*others, *train])

    def __call__(self, _: Any, stage: Any, work: Path, recipe: CodebookRecipe, progress: Any) -> CodebookData:
        """As `read_codebook_data`."""
        if recipe.variant == "JPQ" and recipe.query_lr:
            return self._read(stage, work, recipe, progress)
        key = (str(stage), *(getattr(recipe, name) for name in READ))
        if key not in self.known:
            self.known[key] = self._read(stage, work, recipe, progress)
        return self.known[key]

    def _read(self, stage: Any, work: Path, recipe: CodebookRecipe, progress: Any) -> CodebookData:
        data = read_codebook_data(self.benchmark, stage, work, recipe, progress)
        pairs = {field.name: getattr(data.pairs, field.name)[: self.queries] for field in fields(data.pairs)}
        return replace(data, pairs=Pairs(**pairs))


def main() -> None:
    """Train, and print a line for each codebook."""
    reader = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    reader.add_argument("bench", type=Path)
    reader.add_argument("books", type=Path)
    reader.add_argument("--encoder", required=True)
    reader.add_argument("--work", type=Path, required=True)
    reader.add_argument("--M", type=int, nargs="+", default=[96, 24, 8])
    reader.add_argument("--K", type=int, nargs="+", default=[256])
    reader.add_argument("--variants", nargs="+", default=VARIANTS)
    reader.add_argument("--seeds", type=int, nargs="+", default=[13])
    reader.add_argument("--set", nargs="*", action="extend", default=[], metavar="NAME=VALUE")
    reader.add_argument("--as", dest="label", default="")
    reader.add_argument("--queries", type=int)
    reader.add_argument("--jobs", type=Path)
    options = reader.parse_args()
    lines = options.jobs.read_text(encoding="utf-8").splitlines() if options.jobs else [""]
    whole = open_benchmark(options.bench)
    read = Reader(whole, options.queries)
    # Of fewer queries, a codebook has another key, and its documents the same vectors.
    fewer = f"{benchmark_key(whole)}, {options.queries} queries"
    benchmark = replace(whole, digest=fewer) if options.queries else whole
    for line in lines:
        train(benchmark, read, reader.parse_args([*sys.argv[1:], *shlex.split(line)]))


def train(benchmark: Benchmark, read: Reader, options: argparse.Namespace) -> None:
    """The codebooks that a line of options names."""
    changes = {name: json.loads(value) for name, _, value in (pair.partition("=") for pair in options.set)}
    wanted = [
        (seed, M, K, variant)
        for seed in options.seeds
        for M in options.M
        for K in options.K
        for variant in options.variants
    ]
    for seed, M, K, variant in wanted:
        recipe = replace(CodebookRecipe(), variant=variant, M=M, K=K, seed=seed, **changes)
        parts = [variant, str(M), *([str(K)] if K != 256 else []), *([options.label] if options.label else [])]
        name = "-".join([*parts, *([f"seed{seed}"] if seed != CodebookRecipe().seed else [])])
        start, used = time.perf_counter(), time.process_time()
        manifest = train_codebook(
            benchmark, options.books / name, options.encoder, recipe, work=options.work, read=read
        )
        seconds = f"{time.perf_counter() - start:.0f} s ({time.process_time() - used:.0f} of a core)"
        shown = {
            key: manifest.counts.get(key)
            for key in ("best_epoch", "epochs", "distortion_pq", "distortion", "dev_untrained", "dev")
        }
        print(name, seconds, json.dumps(shown), flush=True)


if __name__ == "__main__":
    main()
