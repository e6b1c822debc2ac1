"""A sheet of mined pairs to read and judge: `python benchmarks/judged_pairs.py PAIRS SHEET.tsv`.

Draws 100 paraphrases by chance (seed 13), none of them the mirror of another, and prints them with their sentences. The
sheet gets their ids, values and estimates, with the columns `same_fact` and `why` to fill in. Given a sheet that is
filled in, it says how many of the pairs are one fact instead: `python benchmarks/judged_pairs.py --count SHEET.tsv`.
"""

from __future__ import annotations

import csv
import sys
from pathlib import Path

from qbench.mining.paraphrases import Pairs
from qbench.mining.report import sample, samples

NUMBER, SEED = 100, 13


def main(arguments: list[str]) -> None:
    if arguments[:1] == ["--count"]:
        return count(Path(arguments[1]))
    import polars as pl

    pairs, sheet = Pairs.open(arguments[0]), Path(arguments[1])
    table = pairs.descriptions()
    found = pairs.table().filter(pl.col("label") == "paraphrase").collect()
    print("\n".join(samples(table, found, NUMBER, SEED)))
    told = table.select("description_id", "value", "unit").collect()
    rows = sample(found, NUMBER, SEED).join(told, left_on="query_id", right_on="description_id")
    kept = rows.select(
        "query_id", "doc_id", "value", "unit", "digits", "rank", "p_fact", same_fact=pl.lit(""), why=pl.lit("")
    )
    kept.write_csv(sheet, separator="\t")


def count(sheet: Path) -> None:
    with sheet.open(encoding="utf-8") as stream:
        verdicts = [row["same_fact"] for row in csv.DictReader(stream, delimiter="\t")]
    print(f"{verdicts.count('yes')} of {len(verdicts)} pairs are one fact")


if __name__ == "__main__":
    main(sys.argv[1:])
