"""Print the tables of benchmarks/README.md from results/*.json.

python benchmarks/tables.py
"""

from __future__ import annotations

import json
from pathlib import Path

RESULTS = Path(__file__).parent / "results"
CORPORA = ("sec_filings", "reuters21578", "rct_abstracts", "numconq-imdb", "numconq-league", "numconq-olympic")
BOUNDS = ("<", "<=", ">", ">=")


def quality() -> None:
    """One row per system and setting: nDCG@10, and its mean over the queries with a bound, for each set."""
    boards = {name: json.loads((RESULTS / f"{name}.json").read_text()) for name in CORPORA}
    labels = ["BM25", "BM25_filter [given]", "BM25_filter [parsed]", "QBM25 [given]", "QBM25 [parsed]"]
    labels.append("QBM25(alpha=3) [parsed]")
    print("| | " + " | ".join(CORPORA) + " |")
    print("|---|" + "---:|" * len(CORPORA))
    for label in labels:
        print(f"| {label} | " + " | ".join(_mean(board, label) for board in boards.values()) + " |")
    for label in labels:
        print(f"| {label}, bounds only | " + " | ".join(_bounds(board, label) for board in boards.values()) + " |")


def _mean(board: dict, label: str) -> str:
    found = [row["measures"]["nDCG@10"] for row in board["rows"] if row["label"] == label]
    return f"{found[0]['mean']:.3f} ({found[0]['ci_low']:.3f}-{found[0]['ci_high']:.3f})" if found else "-"


def _bounds(board: dict, label: str) -> str:
    found = [
        (row["mean"], row["queries"])
        for row in board["buckets"]
        if row["dimension"] == "comparator"
        and row["bucket"] in BOUNDS
        and row["label"] == label
        and row["measure"] == "nDCG@10"
    ]
    total = sum(n for _, n in found)
    return f"{sum(mean * n for mean, n in found) / total:.3f}" if total else "-"


if __name__ == "__main__":
    quality()
