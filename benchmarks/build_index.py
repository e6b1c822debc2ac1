"""Speed and memory of `qbench build-index`.

Method. Every build is one `qbench build-index` command in a fresh process, timed by the wall clock from start to end,
so that start-up (imports, word lists) counts. Sentences per second are the index's sentences by that time. quantulum3
is called alone (`parser.parse`, `USE_CLF = False`), one sentence after the other in one process, on every k-th sentence
of the same index; our extractor runs on the same sentences in the same process, in turns of 100 sentences, so that both
meet the same machine. Memory is the sum of the peak resident sizes (VmHWM) of the main process and of its workers, read
from /proc ten times a second; the corpus is repeated 1, 4 and 16 times under new ids.

    python benchmarks/build_index.py speed CORPUS [--documents N] [--workers 1 2] [--sentences 2000]
    python benchmarks/build_index.py memory CORPUS [--documents N] [--sizes 1 4 16] [--workers 2]

Each prints a Markdown table; --json FILE also writes the figures.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from itertools import islice
from pathlib import Path
from typing import Any

from qbench.corpora import Document, ReadOptions, open_source
from qbench.corpora.source import read_documents
from qbench.corpora.types import Problems
from qbench.index import Index
from qbench.quantities.extractors import ExtractorOptions, get_extractor
from qbench.work.pool import default_workers

TURN = 100


@dataclass(frozen=True)
class Build:
    """One build: how large, how long, how much memory (MB)."""

    workers: int
    copies: int
    documents: int
    sentences: int
    quantities: int
    seconds: float
    sentences_per_second: float
    main_mb: float
    workers_mb: float


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=("speed", "memory"))
    parser.add_argument("corpus")
    parser.add_argument("--documents", type=int, help="only the first N documents")
    parser.add_argument("--workers", type=int, nargs="+", help="speed: 1 2 by default; memory: 2")
    parser.add_argument("--sentences", type=int, default=2000, help="speed: how many sentences quantulum3 gets")
    parser.add_argument(
        "--sizes", type=int, nargs="+", default=[1, 4, 16], help="memory: how often the corpus is repeated"
    )
    parser.add_argument("--json", type=Path, help="also write the figures here")
    options = parser.parse_args()
    command = " ".join(["python", *map(_plain, sys.argv)])
    print(f"`{command}`, {default_workers()} cores, Python {sys.version.split()[0]}\n")
    with tempfile.TemporaryDirectory(prefix="qbench-bench-") as folder:
        figures = (speed if options.what == "speed" else memory)(options, Path(folder))
    if options.json:
        options.json.write_text(json.dumps(figures, indent=2) + "\n", encoding="utf-8")


def speed(options: argparse.Namespace, folder: Path) -> dict[str, Any]:
    corpus = repeated(options.corpus, folder / "corpus.jsonl", options.documents, 1)
    builds = []
    for workers in options.workers or [1, 2]:
        builds.append(build(corpus, folder / f"index-{workers}", workers, 1))
    show_builds(builds)
    alone = compare(Index.open(folder / f"index-{builds[0].workers}"), options.sentences)
    print(f"\n| on the same {alone['sentences']:,} sentences, one process | seconds | sentences/s |\n|---|---:|---:|")
    for name in ("quantulum3", "rules"):
        print(f"| {name} | {alone[name]:.2f} | {alone['sentences'] / alone[name]:,.0f} |")
    return {"builds": [asdict(b) for b in builds], "alone": alone}


def memory(options: argparse.Namespace, folder: Path) -> dict[str, Any]:
    builds = []
    for copies in options.sizes:
        corpus = repeated(options.corpus, folder / "corpus.jsonl", options.documents, copies)
        for workers in options.workers or [2]:
            builds.append(build(corpus, folder / f"index-{copies}-{workers}", workers, copies))
    show_builds(builds)
    return {"builds": [asdict(b) for b in builds]}


def show_builds(builds: Iterable[Build]) -> None:
    print(
        "| corpus | workers | documents | sentences | quantities | seconds | sentences/s | main MB | all workers MB |"
    )
    print("|---|---:|---:|---:|---:|---:|---:|---:|---:|")
    for b in builds:
        print(
            f"| {b.copies}x | {b.workers} | {b.documents:,} | {b.sentences:,} | {b.quantities:,} | {b.seconds:.1f} "
            f"| {b.sentences_per_second:,.0f} | {b.main_mb:,.0f} | {b.workers_mb:,.0f} |"
        )


def repeated(source: str, target: Path, limit: int | None, copies: int) -> Path:
    """The corpus as JSON lines, `copies` times under new ids."""
    with target.open("w", encoding="utf-8") as lines:
        for copy in range(copies):
            found = read_documents(open_source(source), ReadOptions(), Problems())
            documents: Iterable[Document] = found if limit is None else islice(found, limit)
            for d in documents:
                row = {"doc_id": f"{d.doc_id}-{copy}", "title": d.title, "text": d.text}
                lines.write(json.dumps(row, ensure_ascii=False) + "\n")
    return target


def build(corpus: Path, output: Path, workers: int, copies: int) -> Build:
    command = [sys.executable, "-m", "qbench", "build-index", str(corpus), "-o", str(output), "--workers", str(workers)]
    began = time.perf_counter()
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, env={**os.environ, "PYTHONPATH": _root()})
    peaks: dict[int, int] = {}
    while process.poll() is None:
        for pid in (process.pid, *children(process.pid)):
            peaks[pid] = max(peaks.get(pid, 0), peak_kb(pid))
        time.sleep(0.1)
    seconds = time.perf_counter() - began
    if process.returncode:
        sys.exit(f"the build failed with exit code {process.returncode}")
    counts = Index.open(output).summary()
    main_kb = peaks.pop(process.pid, 0)
    return Build(
        workers,
        copies,
        counts["documents"],
        counts["sentences"],
        counts["quantities"],
        seconds,
        counts["sentences"] / seconds,
        main_kb / 1024,
        sum(peaks.values()) / 1024,
    )


def children(pid: int) -> list[int]:
    found: list[int] = []
    for listed in Path(f"/proc/{pid}/task").glob("*/children"):
        try:
            found += [int(child) for child in listed.read_text().split()]
        except OSError:
            continue
    return found


def peak_kb(pid: int) -> int:
    try:
        status = Path(f"/proc/{pid}/status").read_text()
    except OSError:
        return 0
    return next((int(line.split()[1]) for line in status.splitlines() if line.startswith("VmHWM")), 0)


def compare(index: Index, count: int) -> dict[str, Any]:
    """Seconds that quantulum3 and our extractor need for the same sentences."""
    import quantulum3.classifier
    from quantulum3 import parser

    quantulum3.classifier.USE_CLF = False
    extractor = get_extractor(ExtractorOptions())
    texts = index.sentences().select("text").collect()["text"].to_list()
    texts = texts[:: max(1, len(texts) // count)][:count]
    parser.parse("5 kg")
    extractor.extract("5 kg")
    seconds = {"quantulum3": 0.0, "rules": 0.0}
    failed = 0
    for start in range(0, len(texts), TURN):
        turn = texts[start : start + TURN]
        began = time.perf_counter()
        for text in turn:
            try:
                parser.parse(text)
            except Exception:
                failed += 1
        middle = time.perf_counter()
        for text in turn:
            extractor.extract(text)
        seconds["quantulum3"] += middle - began
        seconds["rules"] += time.perf_counter() - middle
    return {"sentences": len(texts), "quantulum3_failed": failed, **seconds}


def _root() -> str:
    return str(Path(__file__).resolve().parent.parent)


def _plain(word: str) -> str:
    """A word of the command line without the folders of this machine."""
    return Path(word).name if os.sep in word else word


if __name__ == "__main__":
    main()
