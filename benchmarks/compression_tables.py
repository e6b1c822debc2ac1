"""Tables and pictures of benchmarks/compression.md from the rows of benchmarks/compression_study.py.

    python benchmarks/compression_tables.py ROWS --table "LABEL=NAME;NAME" ... [--against LABEL] [--alphas 0.0 0.1]
    python benchmarks/compression_tables.py ROWS --grid PICTURE.svg
    python benchmarks/compression_tables.py ROWS --curves PICTURE.svg NAME...

ROWS is the study's folder, or benchmarks/results/compression_rows.jsonl.

A row of a table is the mean over its names' files (seeds), query by query. In brackets stands the difference from the
row --against, with a star where it is significant: paired randomisation by query, Holm over the table's differences.
Below it, the smallest difference that 97 queries would show: 1.96 standard errors of the largest and smallest kind.
"""

from __future__ import annotations

import argparse
import json
import re
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from qbench.evaluation.significance import LEVEL, RESAMPLES, holm, sign_flip_test
from qbench.randomness import generator

ALPHAS = ("0.0", "0.1", "0.3", "0.5")


def read(rows: Path) -> dict[str, dict[str, Any]]:
    """All rows by name, from the folder of the study or from one file with a row in each line."""
    files = [rows] if rows.is_file() else sorted(rows.glob("*.json"))
    lines = [line for file in files for line in file.read_text(encoding="utf-8").splitlines()]
    return {row["name"]: row for row in map(json.loads, lines)}


def column_of(alpha: str) -> str:
    """The key of a weight's figures."""
    return "dense" if alpha == "dense" else f"alpha {alpha}"


def table(rows: dict[str, dict[str, Any]], wanted: list[str], against: str | None, alphas: list[str]) -> list[str]:
    """The lines of a table."""
    names = {label: members.split(";") for label, _, members in (item.partition("=") for item in wanted)}
    values: dict[tuple[str, str], NDArray[np.float64]] = {
        (label, alpha): np.mean([rows[name]["test"][column_of(alpha)] for name in members], axis=0)
        for label, members in names.items()
        for alpha in alphas
    }
    pairs = [key for key in values if against and key[0] != against]
    differences = {key: values[key] - values[str(against), key[1]] for key in pairs}
    random = generator(13, "compression tables")
    p = holm([float(sign_flip_test(differences[key][None], RESAMPLES, random)[0]) for key in pairs])
    significant = dict(zip(pairs, (p < LEVEL).tolist(), strict=True))
    lines = [
        f"| | seeds | lost, dev | lost, test | {' | '.join(alphas)} |",
        f"|---|---:|---:|---:|{'---:|' * len(alphas)}",
    ]
    for label, members in names.items():
        cells = [str(len(members))]
        for split in ("dev", "test"):
            cells.append(f"{np.mean([rows[name][split]['lost'] for name in members]):.3f}")
        for alpha in alphas:
            cell = f"{values[label, alpha].mean():.3f}"
            if (label, alpha) in differences:
                star = "\\*" if significant[label, alpha] else ""
                cell += f" ({differences[label, alpha].mean():+.3f}{star})"
            cells.append(cell)
        lines.append(f"| {label} | {' | '.join(cells)} |")
    if pairs:
        errors = [float(each.std(ddof=1) / np.sqrt(each.size)) for each in differences.values()]
        ends = f"{1.96 * min(errors):.3f} to {1.96 * max(errors):.3f}"
        lines += ["", f"Smallest difference significant alone: {ends}."]
    return lines


def grid(rows: dict[str, dict[str, Any]], picture: Path) -> list[str]:
    """PQ by M and K: the table, and the picture of quality by size (figures 7.1, 7.2)."""
    found = {}
    for name, row in rows.items():
        if match := re.fullmatch(r"PQ\(M=(\d+), K=(\d+)\)", name):
            found[int(match[1]), int(match[2])] = row
    parts, sizes = sorted({m for m, _ in found}), sorted({k for _, k in found})
    lines = ["| M | " + " | ".join(f"K={K}" for K in sizes) + " |", "|---:|" + "---:|" * len(sizes)]
    for M in parts:
        cells = []
        for K in sizes:
            row = found.get((M, K))
            figures = "" if row is None else f"{row['times']:.0f}x {np.mean(row['test']['alpha 0.0']):.3f}"
            cells.append(figures if row is None else f"{figures} / {np.mean(row['test']['alpha 0.1']):.3f}")
        lines.append(f"| {M} | {' | '.join(cells)} |")
    figure, axes = axes_of("bytes of a vector", "nDCG@10")
    for K in sizes:
        for alpha, style in (("0.0", "-"), ("0.1", "--")):
            own = [found[m, k] for m, k in sorted(found) if k == K]
            points = [(row["bytes"], np.mean(row["test"][f"alpha {alpha}"])) for row in own]
            label = f"K={K}" + (", -I(alpha=0.1)" if alpha != "0.0" else "")
            axes.plot(
                *zip(*points, strict=True), style, marker="o", markersize=3, color=f"C{sizes.index(K)}", label=label
            )
    axes.set_xscale("log", base=2)
    for alpha, style in (("0.0", "-"), ("0.1", "--")):
        axes.axhline(np.mean(rows["none"]["test"][f"alpha {alpha}"]), color="0.6", linewidth=0.8, linestyle=style)
    save(figure, axes, picture)
    return lines


def curves(rows: dict[str, dict[str, Any]], names: list[str], picture: Path) -> list[str]:
    """What interpolation gains by the weight of BM25 (figures 7.4 to 7.6)."""
    figure, axes = axes_of("weight of BM25", "nDCG@10")
    lines = [f"| | {' | '.join(ALPHAS)} |", "|---|" + "---:|" * len(ALPHAS)]
    for item in names:
        name, _, label = item.partition("=") if "(" not in item else (item, "", "")
        means = [float(np.mean(rows[name]["test"][f"alpha {alpha}"])) for alpha in ALPHAS]
        axes.plot([float(alpha) for alpha in ALPHAS], means, marker="o", markersize=3, label=label or name)
        lines.append(f"| {label or name} | {' | '.join(f'{mean:.3f}' for mean in means)} |")
    save(figure, axes, picture)
    return lines


def axes_of(x: str, y: str) -> tuple[Any, Any]:
    """An empty picture."""
    import matplotlib

    matplotlib.use("svg")
    matplotlib.rcParams["svg.hashsalt"] = "qbench"
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(figsize=(6, 3.6), layout="constrained")
    axes.set_xlabel(x)
    axes.set_ylabel(y)
    axes.grid(linewidth=0.3)
    return figure, axes


def save(figure: Any, axes: Any, picture: Path) -> None:
    """Write it, the same bytes each time."""
    axes.legend(fontsize=7, frameon=False)
    figure.savefig(picture, metadata={"Date": None})


def main() -> None:
    """Print."""
    reader = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    reader.add_argument("rows", type=Path)
    reader.add_argument("--table", nargs="+", default=[])
    reader.add_argument("--against")
    reader.add_argument("--alphas", nargs="+", default=["0.0", "0.1", "0.3", "dense"])
    reader.add_argument("--grid", type=Path)
    reader.add_argument("--curves", nargs="+", default=[])
    options = reader.parse_args()
    rows = read(options.rows)
    lines: list[str] = []
    if options.table:
        lines = table(rows, options.table, options.against, options.alphas)
    elif options.grid:
        lines = grid(rows, options.grid)
    elif options.curves:
        lines = curves(rows, options.curves[1:], Path(options.curves[0]))
    print("\n".join(lines))


if __name__ == "__main__":
    main()
