"""Texts a second of the exact BM25 self-join, beside bm25s called in a loop, in one run.

Makes description-like texts (about 12 words each, drawn by Zipf's law from a vocabulary that grows with the corpus; a
tenth repeats another text) and searches the k nearest others of each. Every figure is that of a fresh process with a
memory of its own: seconds from the texts to the finished arrays on disk, and the largest resident size. Compiled code
was kept by an earlier run, as it is for any user after the first.

bm25s gets the same tokens and k + 1 results (its own text among them), in three ways: a `retrieve` a text (numpy), and
all texts in one `retrieve` with two threads (numpy, numba; after one call to compile). It is timed on a sample of the
texts, and its seconds for all of them are multiplied up. Its index is counted whole.

    python benchmarks/self_join.py [--sizes 30000 100000 300000 1000000] [--peers 300000] [--sample 300]
        [--texts FILE.parquet --column description] [--output benchmarks/results/self_join]
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

K, THREADS, LENGTH = 64, 2, 12


def made(size: int) -> pl.Series:
    """Words by Zipf's law; the vocabulary grows with the root of the number of words (Heaps)."""
    rng = np.random.default_rng(7)
    vocabulary = int(60 * np.sqrt(size * LENGTH))
    shares = np.cumsum(1.0 / np.arange(1, vocabulary + 1))
    lengths = np.clip(rng.poisson(LENGTH, size), 2, 40)
    drawn = np.searchsorted(shares, rng.random(int(lengths.sum())) * shares[-1])
    words = pl.Series([f"w{number}" for number in range(vocabulary)])
    rows = pl.DataFrame({"text": np.repeat(np.arange(size), lengths), "word": words.gather(drawn)})
    texts = rows.group_by("text", maintain_order=True).agg(pl.col("word").str.join(" "))["word"]
    copies = rng.integers(0, size, size)
    return texts.gather(np.where(rng.random(size) < 0.1, copies, np.arange(size)))


def texts_of(options: argparse.Namespace) -> pl.Series:
    if options.texts:
        return pl.read_parquet(options.texts, columns=[options.column])[options.column].head(options.size)
    return made(options.size)


def ours(options: argparse.Namespace) -> dict[str, Any]:
    from qbench.mining import join_layout
    from qbench.mining.options import JoinOptions
    from qbench.mining.self_join import self_join
    from qbench.mining.terms import term_matrix

    texts, build, laid_out, worked = texts_of(options), join_layout.build, [], []

    def timed_build(*arguments: Any, **named: Any) -> Any:
        start, busy = time.perf_counter(), time.process_time()
        found = build(*arguments, **named)
        laid_out.append(time.perf_counter() - start)
        worked.append(time.process_time() - busy)
        return found

    join_layout.build = timed_build
    start = time.perf_counter()
    matrix = term_matrix(texts)
    del texts
    queries = None
    if options.sample:
        queries = np.sort(np.random.default_rng(1).choice(len(matrix), options.sample, replace=False))
    tokens = time.perf_counter() - start
    with tempfile.TemporaryDirectory() as folder:
        start, busy = time.perf_counter(), time.process_time()
        chosen = JoinOptions(k=K, drop_terms=options.drop, threads=THREADS)
        self_join(matrix, Path(folder), chosen, queries=queries)
        search, busy = time.perf_counter() - start - laid_out[0], time.process_time() - busy - worked[0]
    asked = options.sample or len(matrix)
    sizes = [len(matrix), int(matrix.df.size)]
    return {"index": tokens + laid_out[0], "search": search, "cpu": busy, "asked": asked, "sizes": sizes}


def theirs(options: argparse.Namespace) -> dict[str, Any]:
    import bm25s

    from qbench.retrieval.analysis import token_lists

    lists = token_lists(texts_of(options).to_list())
    if options.drop:
        counts = pl.Series([token for row in lists for token in set(row)]).value_counts(sort=True)
        frequent = set(counts[:, 0].head(options.drop).to_list())
        lists = [[token for token in row if token not in frequent] for row in lists]
    backend = "numba" if options.way == "numba" else "numpy"
    start = time.perf_counter()
    model = bm25s.BM25(method="atire", idf_method="robertson", backend=backend)
    model.index(lists, show_progress=False)
    index = time.perf_counter() - start
    sample = np.random.default_rng(1).choice(len(lists), options.sample, replace=False)
    queries = [lists[row] for row in sample if lists[row]]
    quiet = {"k": K + 1, "show_progress": False, "n_threads": 0 if options.way == "loop" else THREADS}
    model.retrieve(queries[:4], **quiet)
    start = time.perf_counter()
    if options.way == "loop":
        for query in queries:
            model.retrieve([query], **quiet)
    else:
        model.retrieve(queries, **quiet)
    return {"index": index, "search": time.perf_counter() - start, "asked": len(queries), "sizes": [len(lists), 0]}


def child(options: argparse.Namespace, *arguments: object) -> dict[str, Any]:
    """Run one measurement in a process of its own; its row of the table."""
    command = [sys.executable, __file__, *map(str, arguments)]
    if options.texts:
        command += ["--texts", options.texts, "--column", options.column]
    found: dict[str, Any] = json.loads(subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout)
    texts = found.pop("sizes")
    rate = found["asked"] / found["search"]
    return {
        "texts": texts[0],
        "terms": texts[1],
        **found,
        "per_second": rate,
        "all": found["index"] + texts[0] / rate,
    }


def measure(options: argparse.Namespace) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = []

    def add(system: str, *arguments: object) -> None:
        rows.append({"system": system, **child(options, *arguments)})
        print(row_of(rows[-1]), flush=True)

    print(HEAD, flush=True)
    child(options, "--one", "ours", "--size", 1000, "--drop", 0)
    for drop, words in ((0, "all terms"), (100, "100 terms dropped")):
        for size in options.sizes:
            sample = options.ask if size > options.whole else 0
            add(f"qbench, {words}", "--one", "ours", "--size", size, "--drop", drop, "--sample", sample)
            if size in options.peers:
                for way, name in (("loop", "a call a text"), ("numpy", "one call"), ("numba", "numba, one call")):
                    sample = options.sample * (10 if way == "numba" else 1)
                    arguments = ("--way", way, "--size", size, "--drop", drop, "--sample", sample)
                    add(f"bm25s ({name}), {words}", "--one", "theirs", *arguments)
    return rows


HEAD = (
    "| texts | system | index s | texts/s | texts per CPU second | measured on | all texts | peak GB |\n"
    "|---:|---|---:|---:|---:|---:|---:|---:|"
)


def row_of(row: dict[str, Any]) -> str:
    share = "all" if row["asked"] == row["texts"] else f"{row['asked']:,}"
    busy = f"{row['asked'] / row['cpu']:,.0f}" if "cpu" in row else "-"
    whole = f"{row['all']:,.0f} s" if row["all"] < 600 else f"{row['all'] / 60:,.0f} min"
    return (
        f"| {row['texts']:,} | {row['system']} | {row['index']:.1f} | {row['per_second']:,.0f} | {busy} | {share} "
        f"| {whole} | {row['peak'] / 1e6:.2f} |"
    )


def page(report: dict[str, Any]) -> str:
    rows = report["rows"]
    lines = [
        "# The self-join",
        "",
        f"`{report['command']}`: {report['machine']}. Load of the machine at the start: {report['load']:.1f}; others",
        "worked on it at the same time, and their share changed while this ran: two rows may differ for that reason",
        "alone, and a rate that falls or rises with the size is no law. CPU seconds suffer less",
        "from it than seconds do (they still grow where caches are shared).",
        "",
        f"k = {K}, {THREADS} threads; what was measured is in the head of `benchmarks/self_join.py`.",
        "Where a sample was measured, the time for all texts is extrapolated.",
        "",
        HEAD,
        *map(row_of, rows),
        "",
    ]
    for row in rows:
        if row["system"].startswith("bm25s"):
            words = row["system"].rpartition(", ")[2]
            mine = next(r for r in rows if r["texts"] == row["texts"] and r["system"] == f"qbench, {words}")
            ratio = row["all"] / mine["all"]
            lines.append(f"- {row['texts']:,} texts: {row['system']} takes **{ratio:,.1f}** times as long as qbench.")
    return "\n".join(lines) + "\n"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sizes", type=int, nargs="+", default=[30_000, 100_000, 300_000, 1_000_000])
    parser.add_argument("--peers", type=int, nargs="*", default=[300_000], help="sizes at which bm25s runs too")
    parser.add_argument("--sample", type=int, default=0, help="texts that bm25s is asked (numba: ten times as many)")
    parser.add_argument("--whole", type=int, default=300_000, help="above this size qbench is asked a sample too")
    parser.add_argument("--ask", type=int, default=20_000, help="how many texts that sample has")
    parser.add_argument("--texts", help="a Parquet file to take the texts from")
    parser.add_argument("--column", default="description")
    parser.add_argument("--output", type=Path, help="write OUTPUT.md and OUTPUT.json")
    parser.add_argument("--one", choices=("ours", "theirs"), help=argparse.SUPPRESS)
    parser.add_argument("--size", type=int, help=argparse.SUPPRESS)
    parser.add_argument("--drop", type=int, default=0, help=argparse.SUPPRESS)
    parser.add_argument("--way", choices=("loop", "numpy", "numba"), help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.one:
        found = (ours if options.one == "ours" else theirs)(options)
        peak = next(line for line in Path("/proc/self/status").read_text().splitlines() if line.startswith("VmHWM"))
        print(json.dumps({**found, "peak": int(peak.split()[1])}))
        return
    options.sample = options.sample or 300
    load = os.getloadavg()[0]
    rows = measure(options)
    machine = f"{os.cpu_count()} cores ({platform.machine()}), Python {platform.python_version()}"
    command = " ".join(["python", "benchmarks/self_join.py", *sys.argv[1:]])
    report = {"command": command, "machine": machine, "load": load, "rows": rows}
    if options.output:
        options.output.with_suffix(".json").write_text(json.dumps(report, indent=2) + "\n", encoding="utf-8")
        options.output.with_suffix(".md").write_text(page(report), encoding="utf-8")


if __name__ == "__main__":
    main()
