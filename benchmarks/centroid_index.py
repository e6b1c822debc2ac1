"""What the centroid index of late interaction costs as the number of token vectors grows: time, memory, size.

Made vectors of 32 dimensions and length 1, ten to a document, mapped from disk. Memory is the most that Python and
NumPy had allocated at a time (`tracemalloc`), without pages of the mapped file; a search has 16 query tokens, and ends
with its candidates.

    python benchmarks/centroid_index.py [--sizes 50000 200000 800000] [--folder FOLDER]
"""

from __future__ import annotations

import argparse
import tempfile
import time
import tracemalloc
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from qbench.scoring.centroids import build_centroids, candidates

DIMENSION = 32
TOKENS = 10
BLOCK = 50_000


@dataclass(frozen=True)
class MappedTokens:
    """Token vectors in a mapped file, as the index reads them."""

    vectors: Any
    starts: Any
    dimension: int = DIMENSION

    def rows(self, start: int, end: int) -> Any:
        """Vectors from `start` to `end`, shape (n, dimension)."""
        return np.asarray(self.vectors[start:end])

    def chosen(self, rows: Any) -> Any:
        """Those rows, shape (n, dimension)."""
        return np.asarray(self.vectors[rows])


def made(folder: Path, number: int) -> MappedTokens:
    """Random vectors, written in blocks and mapped."""
    path = folder / f"{number}.npy"
    written = np.lib.format.open_memmap(path, mode="w+", dtype=np.float32, shape=(number, DIMENSION))
    random = np.random.default_rng(13)
    for start in range(0, number, BLOCK):
        block = random.normal(size=(min(BLOCK, number - start), DIMENSION)).astype(np.float32)
        written[start : start + len(block)] = block / np.linalg.norm(block, axis=1, keepdims=True)
    written.flush()
    return MappedTokens(np.load(path, mmap_mode="r"), np.arange(0, number + 1, TOKENS).astype(np.int64))


def measure(tokens: MappedTokens) -> list[str]:
    """One row of the table."""
    tracemalloc.start()
    began = time.process_time()
    index = build_centroids(tokens)
    seconds, build = time.process_time() - began, tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    size = sum(getattr(index, name).nbytes for name in ("centroids", "starts", "members", "lists", "docs"))
    query = tokens.rows(0, 16)
    candidates(index, query, nprobe=4, count=100)  # compiles
    tracemalloc.start()
    candidates(index, query, nprobe=4, count=100)
    search = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    number, disk = len(tokens.vectors), tokens.vectors.nbytes
    return [
        f"{number:,}",
        f"{disk / 1e6:.1f} MB",
        f"{seconds:.1f}",
        f"{build / 1e6:.0f} MB",
        f"{size / 1e6:.1f} MB",
        f"{search / 1e6:.2f} MB",
    ]


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sizes", type=int, nargs="+", default=[50_000, 200_000, 800_000])
    parser.add_argument("--folder", type=Path, help="where the vectors are written; a temporary folder by default")
    options = parser.parse_args()
    print("| token vectors | vectors on disk | processor seconds to build | memory to build | index | of a search |")
    print("|---:|---:|---:|---:|---:|---:|")
    with tempfile.TemporaryDirectory() as temporary:
        folder = options.folder or Path(temporary)
        build_centroids(made(folder, 2_000))  # compiles
        for number in options.sizes:
            print("| " + " | ".join(measure(made(folder, number))) + " |", flush=True)


if __name__ == "__main__":
    main()
