"""How far scores fall within a ranking: what share of the best one the 100th document still has.

    python benchmarks/score_falls.py OUT/studies finance

reads the runs that a study left in its folder, of the benchmark of that name, and prints the median over queries for
each system. Equation 7 divides scores by the best one and adds at most 1: where they hardly fall, quantities outweigh
them.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

import polars as pl

from qbench.benchmark.disk import benchmark_key, open_benchmark
from qbench.store import read_json

RANK = 100


def fall(run: pl.DataFrame) -> float | None:
    """The median over queries of the score at `RANK` divided by the best; None where no query has so many."""
    scores = run.group_by("query_id").agg(
        best=pl.col("score").max(), last=pl.col("score").filter(pl.col("rank") == RANK).first()
    )
    share = scores.filter(pl.col("last").is_not_null() & (pl.col("best") > 0)).select(pl.col("last") / pl.col("best"))
    return float(share.to_series().median()) if share.height else None  # type: ignore[arg-type]


def main() -> None:
    """Print a line for each run."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("studies", type=Path, help="the folder given to --suite as -o")
    parser.add_argument("bench", help="the benchmark's folder name, beside the studies")
    options = parser.parse_args()
    key = benchmark_key(open_benchmark(options.studies.parent / options.bench))
    found = {}
    for manifest in sorted((options.studies / "work" / "runs").glob("*/manifest.json")):
        params = read_json(manifest)["params"]
        if params["benchmark"] == key:
            name = params["system"].replace(str(options.studies), "")
            found[name] = fall(pl.read_parquet(manifest.with_name("run.parquet")))
    for name, share in sorted(found.items()):
        sys.stdout.write(f"{name}: {'-' if share is None else f'{share:.2f}'}\n")


if __name__ == "__main__":
    main()
