"""What dense search costs where vectors do not fit in memory: exact, and IVF-PQ (`engine=faiss, copy=pq`) beside it.

Made vectors of 384 numbers and length 1, in single precision, mapped from disk: a topic by Zipf's law, of which there
are `--topics` times the root of the number of vectors, what a text says of it in 48 directions that all topics share,
and noise. With 4, the default, there are as many topics as faiss makes lists, which is kind to them. A query is a text,
moved. Both ways find the best 100, by the functions that a board calls: exact search for all 64 queries in one pass
over the vectors, the index for one query after the other, 400 vectors proposed for each, whose exact products decide,
after one that is not counted. Recall is the share of the 100 nearest by exact search among the 400. Both use as many
threads as OMP_NUM_THREADS says.

The index is built in a fresh process and searched in another. Memory is the most that a process had for itself
(`RssAnon`) beyond what it had before that work, without pages of mapped files; how little the whole can do with, those
pages included, shows a control group around it. Vectors are written to --folder (a temporary folder by default), which
has to be on a disk:

    OMP_NUM_THREADS=1 python benchmarks/dense_index.py [--sizes 250000 1000000 4000000] [--topics 4] [--folder FOLDER]
    sudo systemd-run --scope -p MemoryMax=4G python benchmarks/dense_index.py --sizes 10000000 --folder FOLDER
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from token_index import opened, peak_of, unit

DIMENSION, SHARED, BLOCK = 384, 48, 50_000
QUERIES, DEPTH = 64, 100
NPROBES = (8, 32, 128)


def made(path: Path, number: int, per_root: float) -> None:
    """Write vectors, in blocks."""
    written = np.lib.format.open_memmap(path, mode="w+", dtype=np.float32, shape=(number, DIMENSION))
    random = np.random.default_rng(13)
    topics = unit(random.normal(size=(int(per_root * number**0.5), DIMENSION)))
    shares = np.cumsum(1.0 / np.arange(1, len(topics) + 1))
    directions = random.normal(size=(SHARED, DIMENSION)).astype(np.float32) / DIMENSION**0.5
    for start in range(0, number, BLOCK):
        size = min(BLOCK, number - start)
        said = random.standard_normal((size, SHARED), np.float32) @ directions / SHARED**0.5
        noise = random.standard_normal((size, DIMENSION), np.float32) / DIMENSION**0.5
        drawn = topics[np.searchsorted(shares, random.random(size) * shares[-1])]
        written[start : start + size] = unit(drawn + 0.8 * said + 0.3 * noise)
    written.flush()


def queries(vectors: Any) -> Any:
    """Texts spread over the corpus, moved."""
    moved = np.random.default_rng(14).normal(size=(QUERIES, DIMENSION)) / DIMENSION**0.5
    return unit(vectors.chosen(vectors.spread_rows(QUERIES)) + 0.3 * moved)


def build(path: Path, root: Path) -> dict[str, Any]:
    """What making the index costs."""
    from qbench.retrieval.faiss_index import build_faiss

    began = time.perf_counter()
    built, busy, memory = peak_of(lambda: build_faiss(opened(path, 1), path.stem, root, copy="pq"))
    minutes = (time.perf_counter() - began) / 60
    return {"folder": str(built.folder), "bytes": built.size, "seconds": busy, "minutes": minutes, "memory": memory}


def search(path: Path, folder: Path) -> list[dict[str, Any]]:
    """All queries by exact search, asked together, and by the index, one by one."""
    from qbench.retrieval.faiss_index import open_faiss

    vectors = opened(path, 1)
    asked = queries(vectors)
    (best, _), row = timed(lambda: vectors.nearest(asked, DEPTH))
    rows = [{**row, "how": "exact, all together", "recall": 1.0}]
    for nprobe in NPROBES:
        index = open_faiss(folder, nprobe, "pq")

        def one_by_one(some: Any, index: Any = index) -> list[Any]:
            found = []
            for query in some:
                (proposed,) = index.propose(query[None], DEPTH)
                vectors.products(proposed, query)
                found.append(proposed)
            return found

        one_by_one(asked[:1])  # counts the longest list
        found, row = timed(lambda of=one_by_one: of(asked))
        recall = float(np.mean([np.isin(docs, some).mean() for docs, some in zip(best, found, strict=True)]))
        rows.append({**row, "how": f"IVF-PQ, nprobe={nprobe}", "recall": recall})
    return rows


def timed(work: Callable[[], Any]) -> tuple[Any, dict[str, Any]]:
    """What a function returns, and its costs for a query."""
    began = time.perf_counter()
    result, busy, memory = peak_of(work)
    wall = time.perf_counter() - began
    return result, {"ms": 1000 * wall / QUERIES, "processor ms": 1000 * busy / QUERIES, "memory": memory}


def fresh(*arguments: str) -> Any:
    """What a part of this script prints in a process of its own."""
    command = [sys.executable, __file__, "--one", *arguments]
    return json.loads(subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout)


HEAD = "| vectors | | recall@100 | ms a query | processor ms | memory of the search |\n|---:|---|---:|---:|---:|---:|"


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sizes", type=int, nargs="+", default=[250_000, 1_000_000, 4_000_000])
    parser.add_argument("--topics", type=float, default=4, help="for each root of the number of vectors; 4 by default")
    parser.add_argument("--folder", type=Path, help="where the vectors are written; a temporary folder by default")
    parser.add_argument("--one", nargs=3, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.one:
        what, path, folder = options.one
        print(json.dumps((build if what == "build" else search)(Path(path), Path(folder))))
        return
    print(HEAD)
    if options.folder:
        options.folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=options.folder) as folder:
        for size in options.sizes:
            path = Path(folder, f"{size}.npy")
            made(path, size, options.topics)
            built = fresh("build", str(path), folder)
            for row in fresh("search", str(path), built["folder"]):
                print(
                    f"| {size:,} | {row['how']} | {row['recall']:.3f} | {row['ms']:.1f} | {row['processor ms']:.1f} "
                    f"| {row['memory'] / 1e6:.1f} MB |"
                )
            print(
                f"| {size:,} | the index: {built['seconds']:,.0f} processor seconds, {built['minutes']:.1f} minutes, "
                f"{built['bytes'] / size:.0f} bytes a vector, {built['memory'] / 1e6:,.0f} MB | | | | |",
                flush=True,
            )
            path.unlink()


if __name__ == "__main__":
    main()
