"""What `qbench mine-paraphrases` takes as descriptions grow: processor time and memory of its own.

    python benchmarks/mining.py FOLDER [--sizes 100000 400000 1600000] [--threads 1] [--json FILE]

Descriptions are made up: words as in `benchmarks/self_join.py` (about 12, by Zipf's law, a tenth of the texts repeats
another), each in a short sentence ("w3 w17 of $4587 million") and a document of its own, with one of some 9,000
amounts. Each size is one command in a process of its own. Memory is the most that the process was seen to hold for
itself (RssAnon, twenty times a second), without pages of mapped files: the results of the search are mapped, 640 bytes
a description. FOLDER keeps descriptions and pairs.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path

import numpy as np
import polars as pl
from growth import measured, size_of
from self_join import made

from qbench.index.merge import write_frames
from qbench.mining.describe import Descriptions
from qbench.mining.types import DESCRIPTIONS, DESCRIPTIONS_KIND, description_schema
from qbench.store import drafting

BLOCK = 200_000


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--sizes", type=int, nargs="+", default=[100_000, 400_000, 1_600_000])
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    print("| descriptions | seconds of the processor | by the clock | MB of its own | bytes a description | pairs |")
    print("|---:|" + "---:|" * 5)
    rows = []
    for size in options.sizes:
        source, pairs = options.folder / f"{size}", options.folder / f"{size}-pairs"
        describe(source, size)
        words = ["mine-paraphrases", source, "-o", pairs, "--threads", options.threads, "--overwrite"]
        seconds, mb, wall = measured(words, "RssAnon:")
        kept = sum(json.loads((pairs / "manifest.json").read_text())["counts"]["pairs"].values())
        size_each = size_of(pairs) / size
        rows.append(
            {"descriptions": size, "seconds": seconds, "wall": wall, "mb": mb, "bytes": size_each, "pairs": kept}
        )
        print(
            f"| {size:,} | {seconds:,.0f} | {wall:,.0f} | {mb:,.0f} | {size_each:,.0f} | {kept:,} |",
            flush=True,
        )
    if options.json:
        options.json.write_text(json.dumps(rows, indent=1) + "\n")


def describe(folder: Path, size: int) -> None:
    """The descriptions of that size, made once."""
    with drafting(folder, DESCRIPTIONS_KIND, f"made-{size}", {}, overwrite=True) as draft:
        if draft is None:
            Descriptions.open(folder)
            return
        texts, rng = made(size), np.random.default_rng(5)
        values = np.rint(10 ** rng.uniform(3, 4, size))
        values = np.where(rng.random(size) < 0.1, values[rng.integers(0, size, size)], values)
        frames = (
            frame(texts.slice(start, BLOCK), values[start : start + BLOCK], start) for start in range(0, size, BLOCK)
        )
        draft.counts = {"descriptions": write_frames(frames, draft.folder / DESCRIPTIONS, description_schema())}


def frame(texts: pl.Series, values: np.ndarray, start: int) -> pl.DataFrame:
    """Descriptions with an amount each."""
    written = pl.format("${} million", pl.col("number").cast(pl.Int64))
    amount = pl.col("number") * 1e6
    begin = pl.col("description").str.len_chars() + 4
    rows = pl.DataFrame({"description": texts, "number": values}).with_row_index("row", offset=start)
    name = pl.format("d{}", "row")
    return rows.with_columns(
        description_id=pl.format("d{}::0#0", "row"), doc_id=pl.format("d{}::0", "row"), source_id=name,
        sentence=pl.format("{} of {}", "description", written),
        segments=pl.lit(None, dtype=pl.List(pl.List(pl.Int32))).fill_null(pl.lit([], dtype=pl.List(pl.List(pl.Int32)))),
        value=amount, high=amount, base_value=amount, base_high=amount,
        comparator=pl.lit("="), change=pl.lit(""),
        unit=pl.lit("dollar"), family=pl.lit("currency"), base_unit=pl.lit("dollar"),
        digits=pl.lit(4), value_start=begin + 1, value_end=begin + 13, unit_start=begin, unit_end=begin + 1,
    ).select(pl.col(name).cast(dtype) for name, dtype in description_schema().items())  # fmt: skip


if __name__ == "__main__":
    main()
