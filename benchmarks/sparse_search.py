"""Milliseconds per query of learned sparse search, beside scipy's sparse product, and what the index costs, in one run.

Method. Documents and queries are drawn: about 120 terms a document and 30 a query out of 30,522, by a flattened Zipf
law, with gamma-distributed weights (--model and --texts take encoded texts instead). Both search the same inverted
lists with the same queries and give the scores of all documents. Ours is `qbench.scoring.postings.score`, a query at a
time; scipy's is `queries (csr) @ lists (csr)`, all queries in one product, and `queries (csr) @ documents.T (csc)`,
which converts the documents in every call. Times are CPU seconds of the thread, the best of --turns, taken in turns, so
that other work on the machine counts little. The index is built by `invert`, the drawing of the weights not counted;
its peak memory is that of a process of its own, one for each size. With --model, ours is also compared with
`SparseEncoder.encode_document` on the first 128 texts, in batches of 32, its default.

    python benchmarks/sparse_search.py [--documents 20000] [--scales 1 4 16] [--queries 64] [--json FILE]
    python benchmarks/sparse_search.py --model FOLDER --texts corpus.jsonl.gz [--limit 2000]
"""

from __future__ import annotations

import argparse
import gzip
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from qbench.randomness import generator
from qbench.retrieval.rankers import RankerContext
from qbench.retrieval.run_files import peak_bytes
from qbench.retrieval.sparse import build_sparse, open_postings
from qbench.retrieval.stored import Stored
from qbench.scoring.postings import Postings, score

VOCABULARY, DOCUMENT, QUERY = 30_522, 120, 30


def drawn(rows: int, terms: int, item: str) -> Any:
    """Sparse vectors, shape (rows, VOCABULARY)."""
    from scipy.sparse import csr_array

    rng = generator(0, "sparse_search", item)
    shares = 1 / (np.arange(VOCABULARY) + 30)
    chosen = np.searchsorted(np.cumsum(shares / shares.sum()), rng.random((rows, terms)))
    keys = np.unique(np.minimum(chosen, VOCABULARY - 1) + np.arange(rows)[:, None] * VOCABULARY)
    weights = rng.gamma(2, 0.4, keys.size).astype(np.float32)
    return csr_array((weights, np.divmod(keys, VOCABULARY)), shape=(rows, VOCABULARY))


class Drawn:
    """An encoder that draws, and counts the CPU seconds that this takes."""

    dimension, note, spent = VOCABULARY, "", 0.0

    def terms(self) -> list[str]:
        """None has a name."""
        return [""] * VOCABULARY

    def encode(self, texts: Sequence[str], role: str = "document") -> Any:
        """Vectors that depend on the first text alone."""
        start = time.thread_time()
        found = drawn(len(texts), DOCUMENT, texts[0])
        self.spent += time.thread_time() - start
        return found

    def cut(self, texts: Sequence[str]) -> Any:
        """None is."""
        return np.zeros(len(texts), bool)


def build(documents: int, folder: Path) -> dict[str, Any]:
    texts, drawing = [str(number) for number in range(documents)], Drawn()
    start = time.thread_time()
    built = indexed(folder, texts, drawing)
    spent = time.thread_time() - start - drawing.spent
    postings = open_postings(built.folder).docs.size
    return {"index": str(built.folder), "postings": postings, "build_s": spent, "index_mb": built.size / 1e6}


def indexed(folder: Path, texts: list[str], encoder: Any) -> Stored:
    corpus = pl.DataFrame({"doc_id": texts, "passage": texts})
    return build_sparse(encoder, {}, RankerContext(corpus, "texts", folder))


def build_apart(documents: int, folder: Path) -> dict[str, Any]:
    """`build` in a process of its own, which tells its peak memory."""
    folder.mkdir()
    command = [sys.executable, __file__, "--build", str(folder), "--documents", str(documents)]
    found: dict[str, Any] = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
    return found


def best(runs: Sequence[Callable[[], Any]], turns: int) -> list[float]:
    """The least CPU seconds of each."""
    spent = np.full((turns, len(runs)), np.inf)
    for turn in range(turns):
        for number, run in enumerate(runs):
            start = time.thread_time()
            run()
            spent[turn, number] = time.thread_time() - start
    return spent.min(axis=0).tolist()


def compare(postings: Postings, queries: Any, turns: int) -> dict[str, Any]:
    from scipy.sparse import csr_array

    shape = (postings.starts.size - 1, postings.size)
    lists = csr_array((np.array(postings.weights), np.array(postings.docs), np.array(postings.starts)), shape=shape)
    documents, count = lists.T.tocsr(), queries.shape[0]
    rows = [
        (queries.indices[a:b], queries.data[a:b])
        for a, b in zip(queries.indptr[:-1].tolist(), queries.indptr[1:].tolist(), strict=True)
    ]
    np.testing.assert_allclose(score(postings, *rows[0]), (queries[[0]] @ lists).toarray()[0], rtol=1e-4)
    ways = (lambda: [score(postings, *row) for row in rows], lambda: queries @ lists, lambda: queries @ documents.T)
    ours, product, converting = (1000 * seconds / count for seconds in best(ways, turns))
    lengths = np.diff(postings.starts)
    return {
        "documents": postings.size,
        "walked": float(lengths[queries.indices].sum() / count),
        "ours_ms": ours,
        "csr_ms": product,
        "csc_ms": converting,
        "csr_to_ours": product / ours,
        "csc_to_ours": converting / ours,
    }


def real(options: argparse.Namespace, folder: Path) -> dict[str, Any]:
    """Encoded texts: all documents, and every 16th text's first eight words as a query."""
    from qbench.models.sparse import load_sparse_encoder

    opened = gzip.open if options.texts.suffix == ".gz" else open
    with opened(options.texts, "rt", encoding="utf-8") as stream:
        texts = [json.loads(line)["text"] for _, line in zip(range(options.limit), stream, strict=False)]
    encoder, some = load_sparse_encoder(str(options.model)), texts[:128]
    model = encoder.model
    encoder.encode(some)
    peak = peak_bytes() / 1e6
    ways = (lambda: encoder.encode(some), lambda: model.encode_document(some, batch_size=32, show_progress_bar=False))
    ours, theirs = best(ways, options.turns)
    start = time.perf_counter()
    postings = open_postings(indexed(folder, texts, encoder).folder)
    seconds = time.perf_counter() - start
    queries = encoder.encode([" ".join(text.split()[:8]) for text in texts[::16]], "query")
    found = compare(postings, queries, options.turns)
    return {
        **found,
        "postings": postings.docs.size,
        "query_terms": queries.nnz / queries.shape[0],
        "texts_s": len(texts) / seconds,
        "theirs_to_ours": theirs / ours,
        "encoding_peak_mb": peak,
    }


def show(row: dict[str, Any]) -> None:
    figures = " | ".join(f"{row[k]:.2f}" for k in ("ours_ms", "csr_ms", "csc_ms", "csr_to_ours", "csc_to_ours"))
    built = " | ".join(f"{row[key]:,.1f}" if key in row else "-" for key in ("build_s", "index_mb", "peak_mb"))
    print(f"| {row['documents']:,} | {row['walked']:,.0f} | {figures} | {built} |", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--documents", type=int, default=20_000)
    parser.add_argument("--scales", type=int, nargs="+", default=[1, 4, 16])
    parser.add_argument("--queries", type=int, default=64)
    parser.add_argument("--turns", type=int, default=3)
    parser.add_argument("--model", type=Path)
    parser.add_argument("--texts", type=Path)
    parser.add_argument("--limit", type=int, default=2000)
    parser.add_argument("--json", type=Path)
    parser.add_argument("--build", type=Path, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.build:
        made = build(options.documents, options.build)
        print(json.dumps({**made, "peak_mb": peak_bytes() / 1e6}))
        return
    print(f"{os.cpu_count()} cores\n")
    print(
        "| documents | postings walked | ours ms | csr ms | csc ms | csr / ours | csc / ours | build s | MB | peak MB |"
    )
    print("|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|")
    rows: list[dict[str, Any]] = []
    with tempfile.TemporaryDirectory(prefix="qbench-bench-") as name:
        if options.model:
            rows.append(real(options, Path(name)))
            show(rows[0])
        else:
            folders = {scale * options.documents: Path(name) / str(scale) for scale in options.scales}
            # All before any is searched: a process starts with the peak of the one that starts it.
            built = {documents: build_apart(documents, folder) for documents, folder in folders.items()}
            queries = drawn(options.queries, QUERY, "queries")
            for index in built.values():
                postings = open_postings(Path(index.pop("index")))
                rows.append({**compare(postings, queries, options.turns), **index})
                show(rows[-1])
    if options.model:
        (row,) = rows
        print(
            f"\n{row['postings'] / row['documents']:.0f} terms a text, {row['query_terms']:.0f} a query; "
            f"{row['texts_s']:.1f} texts/s encoded, {row['theirs_to_ours']:.2f} times sentence-transformers' own; "
            f"peak {row['encoding_peak_mb']:,.0f} MB"
        )
    if options.json:
        options.json.write_text(json.dumps(rows, indent=2) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
