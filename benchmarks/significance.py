"""Seconds for the randomisation test, against a loop that re-scores each resample.

    python benchmarks/significance.py [--queries 500] [--json FILE]

What is timed is `qbench.evaluation.significance.summarise`: 20 systems x 4 measures (190 pairs, 760 tests), 10,000
resamples each, with the bootstrap intervals that come with them. Three yardsticks do the test alone:

- plain loop: one pair and one measure at a time; each resample draws its signs, swaps the two systems' scores where the
  sign says so, and takes the two means again, in plain Python;
- numpy loop: the same, a resample being one line of numpy;
- numpy matrix: per pair, all signs of a block of resamples as a float matrix, times the differences of all measures.

The loops would take hours. They are timed on a few tests and resamples, and their seconds are multiplied up; the
table says by how much. Each figure is the median of its repetitions, in one process.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import random
import statistics
import time
from collections.abc import Callable
from itertools import combinations
from pathlib import Path

import numpy as np

from qbench.evaluation.significance import Scores, SignificanceTests, sign_flip_test, summarise

SYSTEMS, MEASURES, RESAMPLES = 20, 4, 10_000


def made_up_scores(queries: int) -> Scores:
    rng = np.random.default_rng(7)
    difficulty = rng.random((1, 1, queries))
    noise = rng.normal(0, 0.15, (SYSTEMS, MEASURES, queries))
    values = np.clip(difficulty + noise + np.linspace(0, 0.1, SYSTEMS)[:, None, None], 0, 1)
    labels = tuple(f"system {i:02d}" for i in range(SYSTEMS))
    query_ids = tuple(f"{i:06d}" for i in range(queries))
    return Scores(labels, tuple(f"measure {i}" for i in range(MEASURES)), query_ids, values)


def plain_loop(a: list[float], b: list[float], resamples: int) -> float:
    draw = random.Random(0)
    seen = abs(sum(a) / len(a) - sum(b) / len(b))
    extreme = 0
    for _ in range(resamples):
        one, other = [], []
        for x, y in zip(a, b, strict=True):
            if draw.random() < 0.5:
                x, y = y, x
            one.append(x)
            other.append(y)
        extreme += abs(sum(one) / len(one) - sum(other) / len(other)) >= seen - 1e-12
    return (extreme + 1) / (resamples + 1)


def numpy_loop(a: np.ndarray, b: np.ndarray, resamples: int) -> float:
    rng = np.random.default_rng(0)
    seen = abs(a.mean() - b.mean())
    extreme = 0
    for _ in range(resamples):
        swap = rng.random(a.size) < 0.5
        extreme += abs(np.where(swap, b, a).mean() - np.where(swap, a, b).mean()) >= seen - 1e-12
    return (extreme + 1) / (resamples + 1)


def numpy_matrix(differences: np.ndarray, resamples: int, block: int = 250) -> np.ndarray:
    rng = np.random.default_rng(0)
    queries = differences.shape[1]
    seen = np.abs(differences.sum(axis=1))
    extreme = np.zeros(len(differences), dtype=int)
    for first in range(0, resamples, block):
        count = min(block, resamples - first)
        signs = rng.integers(0, 2, (count, queries), dtype=np.int8) * 2.0 - 1.0
        extreme += (np.abs(signs @ differences.T) >= seen - 1e-12 * queries).sum(axis=0)
    return (extreme + 1) / (resamples + 1)


def seconds(work: Callable[[], object], repeat: int) -> float:
    taken = []
    for _ in range(repeat):
        start = time.perf_counter()
        work()
        taken.append(time.perf_counter() - start)
    return statistics.median(taken)


def compare(queries: int, repeat: int) -> list[dict[str, object]]:
    scores = made_up_scores(queries)
    values = scores.values
    pairs = list(combinations(range(SYSTEMS), 2))
    tests = len(pairs) * MEASURES
    a, b = values[0, 0], values[1, 0]
    few, some = 50, 1_000
    plain = seconds(lambda: plain_loop(a.tolist(), b.tolist(), few), repeat)
    loop = seconds(lambda: numpy_loop(a, b, some), repeat)
    matrix = seconds(lambda: [numpy_matrix(values[i] - values[j], RESAMPLES) for i, j in pairs[:10]], repeat)
    look_ups = seconds(
        lambda: [sign_flip_test(values[i] - values[j], RESAMPLES, np.random.default_rng(0)) for i, j in pairs], repeat
    )
    whole = seconds(lambda: summarise(scores, SignificanceTests(resamples=RESAMPLES)), repeat)
    times = RESAMPLES * tests
    rows = [
        ("qbench, with intervals and Holm", whole, "all of it"),
        ("qbench, the test alone", look_ups, "all of it"),
        ("numpy matrix", matrix * len(pairs) / 10, f"10 of {len(pairs)} pairs, times {len(pairs) / 10:g}"),
        ("numpy loop", loop * times / some, f"{some} resamples of one test, times {times // some:,}"),
        ("plain loop", plain * times / few, f"{few} resamples of one test, times {times // few:,}"),
    ]
    return [{"what": what, "seconds": taken, "measured": how, "times": taken / look_ups} for what, taken, how in rows]


def growth(queries: int, repeat: int) -> list[dict[str, float]]:
    found = []
    for factor in (1, 4, 16):
        scores = made_up_scores(queries * factor)
        found.append({"queries": queries * factor, "seconds": seconds(lambda s=scores: summarise(s), repeat)})
    return found


def markdown(report: dict) -> str:
    lines = [
        f"{SYSTEMS} systems x {MEASURES} measures ({SYSTEMS * (SYSTEMS - 1) // 2} pairs), {RESAMPLES:,} resamples, "
        f"{report['queries']} queries; {report['machine']}.",
        "",
        "| | seconds | to qbench's test | measured on |",
        "| --- | ---: | ---: | --- |",
        *(
            f"| {row['what']} | {row['seconds']:,.2f} | {row['times']:,.1f} | {row['measured']} |"
            for row in report["comparison"]
        ),
        "",
        "| queries | seconds (with intervals and Holm) |",
        "| ---: | ---: |",
        *(f"| {row['queries']:,} | {row['seconds']:.2f} |" for row in report["growth"]),
    ]
    return "\n".join(lines) + "\n"


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--queries", type=int, default=500)
    options.add_argument("--repeat", type=int, default=3, help="repetitions of each timing")
    options.add_argument("--json", type=Path, help="also write the figures here")
    chosen = options.parse_args()
    report = {
        "machine": f"{platform.machine()}, {os.cpu_count()} cores, Python {platform.python_version()}, "
        f"numpy {np.__version__}",
        "queries": chosen.queries,
        "comparison": compare(chosen.queries, chosen.repeat),
        "growth": growth(chosen.queries, 1),
    }
    print(markdown(report))
    if chosen.json:
        chosen.json.write_text(json.dumps(report, indent=2) + "\n")


if __name__ == "__main__":
    main()
