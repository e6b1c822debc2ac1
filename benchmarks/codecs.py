"""Product quantisation: scoring by look-up tables, encoding, training, opening, and memory, beside faiss.

Method. Vectors are made: a mixture of directions of unequal width, normalised, as those of encoders are. The two sides
run in turns in one process with one thread each, on the same vectors with the same codebook, and the best of several
turns counts. Reranking is 1,000 candidates of one query: tables, gathering of codes, sums. Theirs is
`IndexPQ.search` over an index of just these candidates, which has nothing to gather. Encoding is `encode` of codecs, at
one, four and sixteen times the vectors; theirs is `ProductQuantizer.compute_codes`. Peak memory is what Python and
numpy hold (`tracemalloc`) while vectors on disk are learnt from and compressed block by block. Opening is mapping the
codes, reading the codebook, and ten scores.

    python benchmarks/codecs.py [--vectors 20000] [--dimension 384] [--turns 5] [--json FILE]
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import time
import tracemalloc
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from qbench.compression.product import OPQ, PQ
from qbench.compression.quantiser import Quantiser
from qbench.compression.trained import Trained
from qbench.scoring.nearest import ROWS
from qbench.scoring.product import code_bits, looked_up, lookup_tables

CANDIDATES = 1000
SIZES = ((16, 256), (48, 256), (96, 256), (48, 512), (48, 4096))
"""M and K."""


def made(count: int, dimension: int, seed: int = 0) -> np.ndarray:
    """Vectors of length 1."""
    widths = np.linspace(1, 0.1, dimension, dtype=np.float32)
    mixing = np.linalg.qr(np.random.default_rng(7).standard_normal((dimension, dimension)))[0].astype(np.float32)
    vectors = (np.random.default_rng(seed).standard_normal((count, dimension), dtype=np.float32) * widths) @ mixing
    return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)


def best(turns: int, *functions: Callable[[], object]) -> list[float]:
    """The shortest time of each, in seconds, over turns in which all run once."""
    times = [[0.0] * len(functions) for _ in range(turns)]
    for function in functions:
        function()
    for turn in times:
        for number, function in enumerate(functions):
            start = time.perf_counter()
            function()
            turn[number] = time.perf_counter() - start
    return [min(turn[number] for turn in times) for number in range(len(functions))]


def theirs(faiss: Any, codebook: np.ndarray) -> Any:
    """The product quantiser of faiss with a codebook of ours, whose K is a power of 2."""
    M, K, width = codebook.shape
    quantiser = faiss.ProductQuantizer(M * width, M, code_bits(K))
    faiss.copy_array_to_vector(np.ascontiguousarray(codebook).ravel(), quantiser.centroids)
    return quantiser


def reranking(vectors: np.ndarray, turns: int) -> list[dict[str, Any]]:
    """Microseconds for 1,000 candidates of a query, and nanoseconds for each vector's sum alone."""
    faiss = _faiss()
    queries, rows = made(1, vectors.shape[1], 1), np.random.default_rng(2).permutation(len(vectors))[:CANDIDATES]
    results = []
    for M, K in SIZES:
        codebook = _codebook(vectors, M, K)
        codec = PQ(M=M, K=K).with_learnt(codebook=codebook)
        codes = codec.encode(vectors)["codes"]
        tables, some = lookup_tables(queries, codec._columns()), codes[rows]
        functions: list[Callable[[], object]] = [
            lambda codec=codec, codes=codes: codec.scores(codec.tables(queries), {"codes": codes[rows]}),
            lambda tables=tables, some=some: looked_up(tables, some),
        ]
        if faiss:
            index = faiss.IndexPQ(vectors.shape[1], M, code_bits(K), faiss.METRIC_INNER_PRODUCT)
            index.pq, index.is_trained = theirs(faiss, codebook), True
            index.add(vectors[rows])
            functions.append(lambda index=index: index.search(queries, 10))
        seconds = best(max(turns * 10, 20), *functions)
        row = {"M": M, "K": K, "rerank_us": seconds[0] * 1e6, "ns_per_vector": seconds[1] / CANDIDATES * 1e9}
        if faiss:
            row |= {"faiss_us": seconds[2] * 1e6, "ratio": seconds[0] / seconds[2]}
        results.append({name: round(value, 2) for name, value in row.items()})
    return results


def encoding(count: int, dimension: int, turns: int) -> list[dict[str, Any]]:
    """Seconds for a million vectors, by multiples of `count`; a trained codebook's as a share of PQ's."""
    faiss, results = _faiss(), []
    sample, M, K = made(max(count // 4, 1024), dimension), 48, 256
    codebook = _codebook(sample, M, K)
    rotation = np.linalg.qr(np.random.default_rng(0).standard_normal((dimension, dimension)))[0].astype(np.float32)
    plain, turned = (
        PQ(M=M, K=K).with_learnt(codebook=codebook),
        OPQ(M=M).with_learnt(codebook=codebook, rotation=rotation),
    )
    with tempfile.TemporaryDirectory() as folder:
        Quantiser(codebook).save(Path(folder), variant="WolfPQ", vectors={})
        trained = Trained(codebook=Path(folder)).with_learnt(codebook=codebook)
        for times in (1, 4, 16):
            vectors = made(times * count // 4, dimension, times)
            functions: list[Callable[[], object]] = [
                lambda codec=codec, vectors=vectors: codec.encode(vectors) for codec in (plain, trained, turned)
            ]
            if faiss:
                quantiser = theirs(faiss, codebook)
                functions.append(lambda quantiser=quantiser, vectors=vectors: quantiser.compute_codes(vectors))
            seconds = [each / len(vectors) * 1e6 for each in best(min(turns, 3), *functions)]
            row = {"vectors": len(vectors), "PQ": seconds[0], "WolfPQ": seconds[1], "OPQ": seconds[2]}
            row |= {"faiss": seconds[3]} if faiss else {}
            results.append({name: round(value, 2) for name, value in row.items()})
    return results


def training(count: int, dimension: int) -> dict[str, Any]:
    """Seconds to learn a codebook of (96, 256), by us and by faiss, and the distortion of both."""
    vectors, faiss = made(count, dimension), _faiss()
    start = time.perf_counter()
    codec = PQ(M=96, K=256).fit(vectors)
    row = {"vectors": count, "seconds": time.perf_counter() - start}
    row["distortion"] = float(((codec.decode(codec.encode(vectors)) - vectors) ** 2).sum(axis=1).mean())
    if faiss:
        quantiser = faiss.ProductQuantizer(dimension, 96, 8)
        start = time.perf_counter()
        quantiser.train(vectors)
        row["faiss_seconds"] = time.perf_counter() - start
        decoded = quantiser.decode(quantiser.compute_codes(vectors))
        row["faiss_distortion"] = float(((decoded - vectors) ** 2).sum(axis=1).mean())
    return {name: round(value, 4) for name, value in row.items()}


def compressing(count: int, dimension: int) -> list[dict[str, Any]]:
    """Peak memory of compressing one, four and sixteen times the vectors from disk, and milliseconds to open codes."""
    results = []
    for times in (1, 4, 16):
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder)
            np.save(path / "vectors.npy", made(times * count // 4, dimension))
            answer = subprocess.run([sys.executable, __file__, "--compress", folder], capture_output=True, check=True)
            results.append({"vectors": times * count // 4, **json.loads(answer.stdout)})
    return results


def compress(folder: Path) -> dict[str, Any]:
    """In a process of its own: learn from a sample, write the codes block by block, open them again."""
    from qbench.retrieval.rows import write_rows
    from qbench.retrieval.stored import mapped
    from qbench.retrieval.vectors import SAMPLE

    codec = PQ(M=48, iterations=3)
    query = made(1, mapped(folder, "vectors").shape[1])
    small = codec.fit(made(512, query.shape[1]))  # load what is compiled
    codes = small.encode(query)["codes"]
    codes.setflags(write=False)  # as those that are mapped
    small.scores(small.tables(query), {"codes": codes})
    vectors = mapped(folder, "vectors")
    tracemalloc.start()
    some = np.linspace(0, len(vectors) - 1, min(len(vectors), SAMPLE)).astype(np.intp)
    fitted = codec.fit(vectors[some])
    fitted.save(folder)
    write_rows(folder, len(vectors), lambda first, last: fitted.encode(vectors[first:last]), block=ROWS)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    start = time.perf_counter()
    opened, codes = codec.opened(folder), mapped(folder, "codes")
    opened.scores(opened.tables(query), {"codes": codes[:10]})
    seconds = time.perf_counter() - start
    found = {"vectors_mb": vectors.nbytes / 1e6, "peak_mb": peak / 1e6, "open_ms": seconds * 1e3}
    return {name: round(value, 2) for name, value in found.items()}


def _codebook(vectors: np.ndarray, M: int, K: int) -> np.ndarray:
    """Codewords for measuring speed: vectors themselves."""
    rows = np.random.default_rng(3).choice(len(vectors), K, replace=len(vectors) < K)
    return np.ascontiguousarray(vectors[rows].reshape(K, M, -1).transpose(1, 0, 2))


def _faiss() -> Any:
    try:
        import faiss
    except ImportError:
        return None
    faiss.omp_set_num_threads(1)
    return faiss


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--vectors", type=int, default=20_000)
    parser.add_argument("--dimension", type=int, default=384)
    parser.add_argument("--turns", type=int, default=5)
    parser.add_argument("--json", type=Path)
    parser.add_argument("--compress", type=Path, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.compress:
        print(json.dumps(compress(options.compress)))
        return
    found = {
        "reranking": reranking(made(options.vectors, options.dimension), options.turns),
        "encoding": encoding(options.vectors, options.dimension, options.turns),
        "training": training(options.vectors, options.dimension),
        "compressing": compressing(options.vectors, options.dimension),
    }
    for title, rows in found.items():
        print(title)
        for row in rows if isinstance(rows, list) else [rows]:
            print("  " + "  ".join(f"{name} {value}" for name, value in row.items()))
    if options.json:
        options.json.write_text(json.dumps(found, indent=2) + "\n")


if __name__ == "__main__":
    main()
