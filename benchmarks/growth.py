"""How each step grows with the number of sentences: processor time, memory and bytes, from `qbench synth` to rankings.

    python benchmarks/growth.py FOLDER --sizes 2000 10000 40000 [--given] [--workers N] [--max-pairs N] [--json FILE]

Method. A table of made-up laptops (a fixed number of columns, rows as many as sentences are wanted) is turned into a
corpus by `qbench synth`, and every step is one `qbench` command in a process of its own, with one thread a library
and one worker, or as many as --workers says where a step takes workers. Seconds are those of the processor (user and
system, with worker processes), which other work on the machine changes little; memory is the largest resident size of
one process; bytes are those of the step's output. The slope of a step is the exponent b of seconds = a * sentences **
b between two sizes: 1 is linear. A folder keeps what is made, so that a repeated run makes only what is missing, and
prints the figures of a former one from FOLDER/growth.json. A step that was cut off goes on where `qbench` does, and
what it had used is added. With --given the index takes the quantities that `qbench
synth` states, and the board those of the benchmark, so that larger sizes are cheap; what reads sentences is then left
out.
"""

from __future__ import annotations

import argparse
import csv
import json
import math
import os
import random
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

SYSTEMS = ("BM25", "BM25_filter", "QBM25", "BindBM25")
THREADS = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "NUMBA_NUM_THREADS", "POLARS_MAX_THREADS"), "1")
MAKERS = [a + b for a in "Ba Ce Di Fo Gu Ha Ki Lo Mu Ne Po Ra Si To Vu".split() for b in "lan mer tis ron dal".split()]
PURPOSES = "gaming office travel studio school design field server".split()


@dataclass(frozen=True)
class Step:
    """One step at one size.

    Attributes:
        step: the verb, or a system.
        sentences: of the corpus.
        seconds: of the processor; of a system, the milliseconds of a query stand in `ms`.
        mb: largest resident size, in MB.
        bytes: of what it wrote.
        ms: of a query, the median.
        wall: seconds by the clock; 0 where not measured.
        workers: of the command.
        max_pairs: of gen-queries, None for all.
    """

    step: str
    sentences: int
    seconds: float
    mb: float
    bytes: int
    ms: float = 0.0
    wall: float = 0.0
    workers: int = 1
    max_pairs: int | None = None


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--sizes", type=int, nargs="+", default=[10_000, 40_000, 160_000])
    parser.add_argument("--given", action="store_true", help="take stated quantities, and extract none")
    parser.add_argument("--workers", type=int, default=1, help="of steps that take them")
    parser.add_argument("--without", nargs="+", default=[], help="steps that are left out: gen-queries leaderboard")
    parser.add_argument("--max-pairs", type=int, help="pairs of a concept and a unit that queries ask about, at most")
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    options.folder.mkdir(parents=True, exist_ok=True)
    kept = options.folder / "growth.json"
    steps = [Step(**row) for row in json.loads(kept.read_text())] if kept.exists() else []
    for size in options.sizes:
        done = {*options.without, *(step.step for step in steps if step.sentences == size)}
        for step in run(options.folder / str(size), size, done, options.given, options.workers, options.max_pairs):
            steps.append(step)
            write(kept, json.dumps([asdict(each) for each in steps], indent=1))
            so_far(options.folder / str(size), step.step).unlink(missing_ok=True)
            print(step, flush=True)
    if options.json:
        options.json.write_text(json.dumps([asdict(each) for each in steps], indent=1) + "\n")
    print(table(steps))


def run(folder: Path, size: int, done: set[str], given: bool, workers: int, max_pairs: int | None) -> Iterator[Step]:
    """The steps at one size that are not done yet."""
    folder.mkdir(exist_ok=True)
    facts = folder / "laptops.csv"
    if not facts.exists():
        write_facts(facts, size // 2)
    place = {
        name: folder / name for name in ("corpus", "index", "benchmark", "descriptions", "pairs", "tables", "board")
    }
    those = ["--workers", workers]
    commands: dict[str, list[Any]] = {
        "synth": ["synth", facts, "-o", place["corpus"], "--sentences-per-row", "2"],
        "build-index": ["build-index", place["corpus"], "-o", place["index"], *those],
        "gen-queries": ["gen-queries", place["index"], "-o", place["benchmark"], "--seed", "1", *those],
        "describe": ["describe", place["index"], "-o", place["descriptions"], *those],
        "mine-paraphrases": ["mine-paraphrases", place["descriptions"], "-o", place["pairs"]],
        "serve-index": ["serve-index", place["index"], "-o", place["tables"]],
    }
    if max_pairs is not None:
        commands["gen-queries"] += ["--max-pairs", max_pairs]
    if given:
        commands["build-index"] += ["--extractor", "given"]
        del commands["describe"], commands["mine-paraphrases"]
    for step, words in commands.items():
        if step not in done:
            seconds, mb, wall = measured(words, used=so_far(folder, step))
            written = size_of(Path(words[words.index("-o") + 1]))
            most = max_pairs if step == "gen-queries" else None
            yield Step(step, size, seconds, mb, written, wall=wall, workers=workers, max_pairs=most)
    if "leaderboard" not in done:
        systems = [word for system in SYSTEMS for word in ("--systems", system)]
        words = ["leaderboard", place["benchmark"], "-o", place["board"], "--conditions", "given", *those, *systems]
        words += ["--document-quantities", "stored"] if given else []
        seconds, mb, wall = measured(words, used=so_far(folder, "leaderboard"))
        yield Step("leaderboard", size, seconds, mb, size_of(place["board"] / "indexes"), wall=wall, workers=workers)
        for row in json.loads((place["board"] / "leaderboard.json").read_text())["rows"]:
            cost = row["cost"]
            yield Step(row["system"], size, cost["index_seconds"], 0.0, cost["index_bytes"], cost["ms_median"])


def write_facts(path: Path, rows: int) -> None:
    """A table of made-up laptops; names are few enough that their words recur as those of real texts do."""
    draw = random.Random(13)
    with path.open("w", newline="") as stream:
        writer = csv.writer(stream)
        writer.writerow(["name", "weight (kg)", "price (USD)", "screen (inch)", "memory (GB)", "battery life (h)"])
        for number in range(rows):
            name = f"{draw.choice(MAKERS)} {draw.choice(PURPOSES)} laptop {number}"
            weight, price = round(draw.uniform(0.8, 4.5), 2), round(draw.lognormvariate(7, 0.5))
            writer.writerow(
                [name, weight, price, round(draw.uniform(11, 18), 1), 2 ** draw.randint(2, 7), draw.randint(3, 24)]
            )


def so_far(folder: Path, step: str) -> Path:
    """Where the figures of a step stand that is not done: there until those of the whole step are written."""
    return folder / f"{step}.so-far.json"


def measured(words: list[Any], memory: str = "VmHWM:", used: Path | None = None) -> tuple[float, float, float]:
    """Processor seconds of a command, its largest process in MB, and seconds by the clock.

    Memory is looked at twenty times a second: VmHWM tells the most so far, another line what there is just then.
    What runs that were cut off have used stands in `used`, written every ten seconds, and is added: what they used
    after it was last written is not told. A command that fails leaves what it used, since the next run resumes it.
    """
    began = time.perf_counter()
    spent = [0.0, 0.0, 0.0] if used is None or not used.exists() else json.loads(used.read_text())
    with tempfile.TemporaryFile() as said:
        process = subprocess.Popen(
            [sys.executable, "-m", "qbench", *map(str, words)],
            stdout=said, stderr=subprocess.STDOUT, env={**os.environ, **THREADS, "QBENCH_LOG": "off"},
        )  # fmt: skip
        before, largest, noted = resource.getrusage(resource.RUSAGE_CHILDREN), spent[1], began
        while process.poll() is None:
            largest = max(largest, peak(process.pid, memory))
            if used and (now := time.perf_counter()) - noted > 10:
                write(used, json.dumps([spent[0] + processor_seconds(process.pid), largest, spent[2] + now - began]))
                noted = now
            time.sleep(0.05)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        busy = (after.ru_utime - before.ru_utime) + (after.ru_stime - before.ru_stime)
        told = spent[0] + busy, largest, spent[2] + time.perf_counter() - began
        if process.returncode:
            said.seek(0)
            if used:
                write(used, json.dumps(told))
            raise SystemExit(f"{words[0]}: {said.read().decode()}")
    return told


def write(path: Path, text: str) -> None:
    """Write a file so that a kill leaves the old one or the new one."""
    made = path.with_suffix(".new")
    made.write_text(text)
    made.replace(path)


def processor_seconds(pid: int) -> float:
    """Of a process and its children, with those that have ended."""
    ticks = 0
    for each in (str(pid), *children(pid)):
        with suppress(OSError, IndexError):
            times = Path(f"/proc/{each}/stat").read_text().rpartition(")")[2].split()[11:15]
            ticks += sum(map(int, times))
    return ticks / os.sysconf("SC_CLK_TCK")


def children(pid: int) -> list[str]:
    """Processes that a process began, whichever of its threads did."""
    found = []
    for those in Path(f"/proc/{pid}/task").glob("*/children"):
        with suppress(OSError):
            found += those.read_text().split()
    return found


def peak(pid: int, memory: str) -> float:
    """The memory of a process or one of its children, the largest, whichever thread began them, in MB.

    Args:
        pid: the process.
        memory: the line of its status that says it: VmHWM, the largest resident size so far, or another.
    """
    sizes = [0.0]
    for each in (str(pid), *children(pid)):
        with suppress(OSError, IndexError):
            text = Path(f"/proc/{each}/status").read_text()
            sizes.append(int(text.partition(memory)[2].split()[0]) / 1000)
    return max(sizes)


def size_of(folder: Path) -> int:
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())


def table(steps: list[Step]) -> str:
    """A row for each step, with its figures at each size and its slope between the last two."""
    sizes = sorted({step.sentences for step in steps})
    by = {(step.step, step.sentences): step for step in steps}
    lines = [
        "| step | sentences | workers | seconds | clock | sentences/s | MB | bytes/sentence | ms a query | slope |",
        "|---|" + "---:|" * 9,
    ]
    for name in dict.fromkeys(step.step for step in steps):
        before: Step | None = None
        for size in sizes:
            if (one := by.get((name, size))) is None:
                continue
            slope = ""
            if before is not None and min(before.seconds, one.seconds) > 0:
                slope = f"{math.log(one.seconds / before.seconds) / math.log(size / before.sentences):.2f}"
            rate = f"{size / one.seconds:,.0f}" if one.seconds else ""
            wall = f"{one.wall:.1f}" if one.wall else ""
            cells = [
                name,
                f"{size:,}",
                str(one.workers),
                f"{one.seconds:.1f}",
                wall,
                rate,
                f"{one.mb:,.0f}",
                f"{one.bytes / size:,.0f}",
            ]
            lines.append(f"| {' | '.join([*cells, f'{one.ms:.2f}' if one.ms else '', slope])} |")
            before = one
    return "\n".join(lines)


if __name__ == "__main__":
    main()
