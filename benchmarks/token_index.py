"""What the indexes that find candidates of late interaction cost as token vectors grow: recall, time, bytes, memory.

Our centroids beside faiss with product-quantised copies (`engine=faiss, copy=pq`). Made vectors of 32 dimensions and
length 1, ten to a document, mapped from disk: words by Zipf's law from a vocabulary that grows with the corpus, each
occurrence a little apart by its document and by chance. A query has 16 tokens: of two neighbouring documents, moved
once more. Recall is the share of the 100 documents with the highest MaxSim that are among 1,000 candidates. An index is
built in a fresh process: memory is the most that it had for itself (`RssAnon`) above its start, without pages of mapped
files; the index of faiss is in memory while it is built, and mapped while it is searched.

    python benchmarks/token_index.py [--sizes 50000 200000 800000] [--folder FOLDER]
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

DIMENSION, TOKENS, BLOCK = 32, 10, 50_000
QUERIES, BEST, CANDIDATES = 64, 100, 1_000
CASES = {"centroids": (1, 4, 16), "faiss": (1, 4, 16, 64)}


def made(path: Path, number: int) -> None:
    """Write token vectors, in blocks."""
    written = np.lib.format.open_memmap(path, mode="w+", dtype=np.float32, shape=(number, DIMENSION))
    random = np.random.default_rng(13)
    words = random.normal(size=(int(20 * number**0.5), DIMENSION)).astype(np.float32)
    shares = np.cumsum(1.0 / np.arange(1, len(words) + 1))
    for start in range(0, number, BLOCK):
        size = min(BLOCK, number - start)
        drawn = words[np.searchsorted(shares, random.random(size) * shares[-1])]
        about = np.repeat(random.normal(size=(-(-size // TOKENS), DIMENSION)), TOKENS, axis=0)[:size]
        written[start : start + size] = unit(drawn + 0.5 * about + 0.3 * random.normal(size=(size, DIMENSION)))
    written.flush()


def unit(vectors: Any) -> Any:
    """Vectors of length 1."""
    return (vectors / np.linalg.norm(vectors, axis=1, keepdims=True)).astype(np.float32)


def opened(path: Path, each: int = TOKENS) -> Any:
    """The vectors as qbench searches them, so many of each text."""
    from qbench.compression.plain import DTYPES
    from qbench.retrieval.shared_texts import SharedTexts
    from qbench.retrieval.vectors import StoredVectors

    vectors, none = np.load(path, mmap_mode="r"), np.empty(0, np.int64)
    starts = np.arange(0, len(vectors) + 1, each).astype(np.int64)
    shared = SharedTexts(none, none)
    return StoredVectors(DTYPES["float32"], {"vectors": np.asarray(vectors)}, shared, vectors.shape[1], starts)


def queries(tokens: Any) -> list[Any]:
    """Of the tokens of two neighbouring documents the first 16, moved."""
    random, found = np.random.default_rng(14), []
    for first in np.linspace(0, len(tokens) - 2 * TOKENS, QUERIES).astype(int):
        found.append(unit(tokens.rows(int(first), int(first) + 16) + 0.1 * random.normal(size=(16, DIMENSION))))
    return found


def peak_of(work: Callable[[], Any]) -> tuple[Any, float, int]:
    """What a function returns, its processor seconds, and the most memory beyond that at its start, in bytes."""

    def held() -> int:
        status = Path("/proc/self/status").read_text(encoding="ascii")
        return 1024 * int(next(line for line in status.splitlines() if line.startswith("RssAnon")).split()[1])

    seen, over = [held()], threading.Event()

    def watch() -> None:
        while not over.wait(0.005):
            seen.append(held())

    watcher = threading.Thread(target=watch)
    watcher.start()
    began = time.process_time()
    result = work()
    seconds = time.process_time() - began
    over.set()
    watcher.join()
    return result, seconds, max(*seen, held()) - seen[0]


def measure(path: Path, engine: str, root: Path) -> Iterator[dict[str, Any]]:
    """The rows of one index: built, then all queries up to their candidates."""
    from qbench.retrieval.faiss_index import build_faiss, open_faiss
    from qbench.retrieval.late_interaction import build_centroid_index, open_centroid_index
    from qbench.scoring.centroids import candidates
    from qbench.scoring.maxsim import search

    tokens = opened(path)
    asked = queries(tokens)
    best = [docs for docs, _ in search(tokens, asked, BEST)]
    if engine == "faiss":
        built, seconds, build = peak_of(lambda: build_faiss(tokens, "made", root, copy="pq"))
    else:
        built, seconds, build = peak_of(lambda: build_centroid_index(tokens, "made", root))
    for nprobe in CASES[engine]:
        if engine == "faiss":
            find = partial(open_faiss(built.folder, nprobe, "pq").texts, count=CANDIDATES)
        else:
            find = partial(candidates, open_centroid_index(built.folder), nprobe=nprobe, count=CANDIDATES)
        find(asked[0])  # compiles
        found, busy, memory = peak_of(lambda find=find: [find(query) for query in asked])
        recall = float(np.mean([np.isin(docs, some).mean() for docs, some in zip(best, found, strict=True)]))
        row = {"vectors": len(tokens), "engine": engine, "nprobe": nprobe, "recall": recall, "bytes": built.size}
        yield {**row, "build": seconds, "build memory": build, "search": busy / QUERIES, "search memory": memory}


HEAD = (
    "| token vectors | engine | nprobe | recall@100 | processor ms a query | processor seconds to build "
    "| bytes a vector | memory to build | memory of a search |\n|---:|---|---:|---:|---:|---:|---:|---:|---:|"
)


def shown(row: dict[str, Any]) -> str:
    """A row of the table."""
    return (
        f"| {row['vectors']:,} | {row['engine']} | {row['nprobe']} | {row['recall']:.3f} | {1000 * row['search']:.1f} "
        f"| {row['build']:.1f} | {row['bytes'] / row['vectors']:.1f} | {row['build memory'] / 1e6:.0f} MB "
        f"| {row['search memory'] / 1e6:.1f} MB |"
    )


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sizes", type=int, nargs="+", default=[50_000, 200_000, 800_000])
    parser.add_argument("--folder", type=Path, help="where the vectors are written; a temporary folder by default")
    parser.add_argument("--one", nargs=2, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.one:
        path, engine = options.one
        with tempfile.TemporaryDirectory() as root:
            print(json.dumps(list(measure(Path(path), engine, Path(root)))))
        return
    print(HEAD)
    with tempfile.TemporaryDirectory() as temporary:
        for size in options.sizes:
            path = (options.folder or Path(temporary)) / f"{size}.npy"
            made(path, size)
            for engine in CASES:
                command = [sys.executable, __file__, "--one", str(path), engine]
                for row in json.loads(subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout):
                    print(shown(row), flush=True)
            path.unlink()


if __name__ == "__main__":
    main()
