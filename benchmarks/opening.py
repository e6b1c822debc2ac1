"""Milliseconds to open an artefact: by sizes alone, with every file read, and with remembered digests.

Makes artefacts of three files of random bytes, opens each as often as asked, and prints a table and JSON. Files are in
the page cache, so that the column "read" is the processor's time for SHA-256; a disk that is slower than that sets
the time instead. Then it flips single bits of a file at random and counts how many of them are noticed.

    python benchmarks/opening.py [--sizes 1 64 1024] [--flips 1000] [--output results/opening.json]
"""

from __future__ import annotations

import argparse
import json
import os
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from statistics import median

from qbench import digests
from qbench.artefacts import open_artefact
from qbench.errors import InputError
from qbench.randomness import generator
from qbench.store import drafting, read_manifest

MEBI = 1 << 20


def artefact(folder: Path, size: int) -> Path:
    """An artefact of three files, of `size` MiB in all."""
    draw = generator(13, "opening", str(size))
    with drafting(folder, "index", "key", {}) as draft:
        for share, name in ((0.6, "sentences"), (0.3, "quantities"), (0.1, "pairs")):
            (draft.folder / f"{name}.parquet").write_bytes(draw.bytes(int(size * share * MEBI)))
    return folder


def by_sizes(folder: Path) -> None:
    """What opening did before it compared digests."""
    for name, seen in read_manifest(folder).files.items():
        if (folder / name).stat().st_size != seen["bytes"]:
            raise InputError("not as it was written", file=folder / name)


def milliseconds(work: Callable[[], object], times: int) -> float:
    """The median of a few calls."""
    taken = []
    for _ in range(times):
        start = time.perf_counter()
        work()
        taken.append(1000 * (time.perf_counter() - start))
    return median(taken)


def noticed(folder: Path, flips: int) -> int:
    """How many flips of one bit are noticed; each is undone."""
    draw = generator(13, "flips", str(flips))
    table = folder / "pairs.parquet"
    found = 0
    for _ in range(flips):
        at, bit = int(draw.integers(table.stat().st_size)), 1 << int(draw.integers(8))
        with table.open("r+b") as stream:
            stream.seek(at)
            byte = stream.read(1)[0]
            stream.seek(at)
            stream.write(bytes([byte ^ bit]))
            stream.flush()
            try:
                open_artefact(folder)
            except InputError:
                found += 1
            stream.seek(at)
            stream.write(bytes([byte]))
    return found


def main() -> None:
    """Measure, print, write."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sizes", type=int, nargs="+", default=[1, 64, 1024], help="MiB of the artefacts")
    parser.add_argument("--flips", type=int, default=1000)
    parser.add_argument("--output", type=Path)
    args = parser.parse_args()
    rows = []
    with tempfile.TemporaryDirectory() as scratch:
        os.environ["QBENCH_CACHE"] = f"{scratch}/cache"
        print("| MiB | sizes | read | remembered |\n|---:|---:|---:|---:|")
        for size in args.sizes:
            folder = artefact(Path(scratch) / str(size), size)
            time.sleep(digests.FRESH / 1e9 + 0.1)  # what has just changed is not remembered
            open_artefact(folder)
            row = {
                "mebibytes": size,
                "sizes": milliseconds(lambda folder=folder: by_sizes(folder), 50),
                "read": milliseconds(lambda folder=folder: open_artefact(folder, content=True), 3),
                "remembered": milliseconds(lambda folder=folder: open_artefact(folder), 50),
            }
            rows.append(row)
            print(f"| {size:,} | {row['sizes']:.2f} | {row['read']:,.1f} | {row['remembered']:.2f} |")
        found = noticed(artefact(Path(scratch) / "flipped", 1), args.flips)
    print(f"\n{found:,} of {args.flips:,} flips noticed")
    if args.output:
        args.output.write_text(json.dumps({"rows": rows, "flips": args.flips, "noticed": found}, indent=2) + "\n")


if __name__ == "__main__":
    main()
