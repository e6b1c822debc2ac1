"""Sentences per second of the extractors, and the cost of texts that grow.

Speed: the same sentences (every k-th of the corpus's) for every extractor, in one process on one core, in turns of 100
sentences, so that all meet the same machine; quantulum3 is called alone (`parser.parse`, `USE_CLF = False`). Growth:
each text in a fresh process, one call; the process's peak resident size (VmHWM). Seconds are processor time, so that
other work on the machine plays a small part.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
import warnings
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from qbench.corpora import ReadOptions, open_source
from qbench.corpora.source import read_documents
from qbench.corpora.types import Problems

from .common import System, splitter

TURN = 100
CORPUS = "corpora/sec_filings.jsonl.gz"
UNIT = 8_000
"""Characters of the smallest text."""

LONG = {"a line without a full stop": 128}
"""Texts that also grow to that many times the smallest: 1 MB."""

GROWING: dict[str, str] = {
    "a line without a full stop": "the firm paid 25 million dollars for 3 plants and about 12% of a rival while ",
    "numbers in a row": "17 ",
    "numbers and commas": "1,1,",
    "numbers and hyphens": "5-5-",
    "numbers and slashes": "7/7/",
    "number words": "twenty-one hundred and ",
    "bound words": "no more than up to at least 5 ",
    "between ... and": "between 5 and ",
    "brackets": "(5 (",
    "currency signs": "$$5€",
    "units": "5 m/s per kg per hour per ",
    "powers": "10^5^",
    "plus-minus": "5 ± 5 ± ",
    "one word": "a1",
    "digits": "9",
    "points": "1.",
    "letters": "five",
    "spaces": "5" + " " * 31,
}
"""A pattern that is repeated up to the text's length."""


def sentences(data: Path, count: int) -> list[str]:
    """Every k-th sentence of the filings."""
    found = [
        document.text[a:b]
        for document in read_documents(open_source(str(data / CORPUS)), ReadOptions(), Problems())
        for a, b in splitter().spans(document.text)
    ]
    return found[:: max(1, len(found) // count)][:count]


def compare(texts: Sequence[str], systems: Sequence[System]) -> dict[str, Any]:
    """Seconds that each extractor needs for all texts."""
    works = {s.label: quantulum3_alone() if s.is_quantulum else s.engine().extract_many for s in systems}
    for work in works.values():
        work(["5 kg of sugar for $3"])
    seconds = dict.fromkeys(works, 0.0)
    for start in range(0, len(texts), TURN):
        turn = texts[start : start + TURN]
        for label, work in works.items():
            began = time.process_time()
            work(turn)
            seconds[label] += time.process_time() - began
    return {"sentences": len(texts), "characters": sum(map(len, texts)), "seconds": seconds}


def quantulum3_alone() -> Callable[[Sequence[str]], object]:
    with warnings.catch_warnings():
        # It advises to install a classifier that is switched off below.
        warnings.simplefilter("ignore")
        import quantulum3.classifier
        from quantulum3 import parser

    quantulum3.classifier.USE_CLF = False

    def work(texts: Sequence[str]) -> None:
        for text in texts:
            try:
                parser.parse(text)
            except Exception:  # quantulum3 raises many kinds
                continue

    return work


def grow(script: Path, label: str, spacy_model: str, times: Sequence[int], limit: float) -> list[dict[str, Any]]:
    """Seconds and peak memory for each growing text and size."""
    rows = []
    for name in GROWING:
        for factor in (*times, LONG[name]) if name in LONG else times:
            command = [sys.executable, str(script), "one", label, name, str(factor), "--spacy-model", spacy_model]
            try:
                done = subprocess.run(command, capture_output=True, check=True, timeout=limit)
                row = json.loads(done.stdout)
            except subprocess.TimeoutExpired:
                row = {"seconds": None, "fault": f"over {limit:.0f} s"}
            except subprocess.CalledProcessError as fault:
                row = {"seconds": None, "fault": fault.stderr.decode().strip().rpartition("\n")[2].partition(":")[0]}
            rows.append({"extractor": label, "text": name, "times": factor, **row})
            print(f"{label:12} {name:28} {factor:3}x  {rows[-1]}", file=sys.stderr)
    return rows


def one(system: System, name: str, factor: int) -> dict[str, Any]:
    """One growing text in this process."""
    pattern = GROWING[name]
    text = pattern * (UNIT * factor // len(pattern))
    engine = system.engine()
    engine.extract("5 kg of sugar for $3")
    before = peak_mb()
    began = time.process_time()
    found = engine.extract(text)
    seconds = time.process_time() - began
    return {
        "characters": len(text),
        "found": len(found),
        "seconds": round(seconds, 3),
        "peak_mb": round(peak_mb()),
        "start_mb": round(before),
    }


def peak_mb() -> float:
    status = Path("/proc/self/status").read_text()
    return next(int(line.split()[1]) for line in status.splitlines() if line.startswith("VmHWM")) / 1024


def pin() -> None:
    """Keep this process on one core."""
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
