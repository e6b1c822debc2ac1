"""Write the NumConQ sets with their queries split in two: a half to choose with, and a half to test on.

    python benchmarks/numconq_parts.py DATA OUT [--dev 0]

DATA holds retrieval/numconq-*. OUT gets a benchmark of each: the queries with an even digest of their ids are its split
dev (at most `--dev` of them, in an order that has nothing to do with them; 0 for all), the odd ones its split test. So
`qbench tune OUT/numconq-imdb SYSTEM --on dev` never sees what `qbench leaderboard OUT/numconq-imdb` reports.
"""

from __future__ import annotations

import argparse
import zlib
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import Literal

import polars as pl

from qbench.benchmark.disk import open_benchmark, write_benchmark
from qbench.benchmark.types import Query

NAMES = ("numconq-imdb", "numconq-league", "numconq-olympic")


def part_of(query: Query) -> Literal["dev", "test"]:
    """The half that a query of NumConQ is in."""
    return "test" if zlib.crc32(query.query_id.encode()) % 2 else "dev"


def shuffled(queries: Iterable[Query], part: str) -> list[Query]:
    """Queries in an order that has nothing to do with them."""
    return sorted(queries, key=lambda query: zlib.crc32(f"{query.query_id} of {part}".encode()))


def main() -> None:
    """Write all three."""
    reader = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    reader.add_argument("data", type=Path)
    reader.add_argument("out", type=Path)
    reader.add_argument("--dev", type=int, default=0)
    args = reader.parse_args()
    for name in NAMES:
        whole = open_benchmark(args.data / "retrieval" / name)
        parted = [replace(query, split=part_of(query)) for query in whole.queries]
        dev = shuffled((query for query in parted if query.split == "dev"), "dev")[: args.dev or None]
        queries = [*dev, *(query for query in parted if query.split == "test")]
        kept = [query.query_id for query in queries]
        qrels = whole.qrels.filter(pl.col("query_id").is_in(kept))
        write_benchmark(replace(whole, queries=queries, qrels=qrels), args.out / name)
        print(f"{name}: {len(dev)} dev, {len(queries) - len(dev)} test")


if __name__ == "__main__":
    main()
