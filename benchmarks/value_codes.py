"""How often codes of quantities say what the comparison says: pairs of a condition and a mention, on a benchmark.

    python benchmarks/value_codes.py BENCHMARK [BENCHMARK ...] [--mentions 4000]

Conditions are those of the test queries, mentions are drawn from the documents', and a pair counts where both have the
same unit. "met, over 0.75": the share of pairs that satisfy whose product is over 0.75; "others over 0.25": of those
that do not; both are means over conditions. "Units with shared levels" have more values in the corpus than levels.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np

from qbench.benchmark.benchmark import Benchmark
from qbench.benchmark.disk import open_benchmark
from qbench.quantities.codes import comparator_codes
from qbench.quantities.conditions import MET, verdicts
from qbench.quantities.types import from_row
from qbench.quantities.units import load_units
from qbench.randomness import generator
from qbench.retrieval.coded import value_code
from qbench.scoring.value_code import unit_name


def measured(benchmark: Benchmark, most: int) -> dict[str, float]:
    """The figures of one benchmark.

    Args:
        benchmark: with the quantities of its documents.
        most: mentions that are drawn.
    """
    if benchmark.quantities is None:
        raise SystemExit(f"{benchmark.name} has no table of quantities")
    table = benchmark.quantities
    code = value_code(table, load_units())
    order = generator(13, "mentions of value codes").permutation(table.height)[:most]
    mentions = [from_row(row) for row in table[np.sort(order)].iter_rows(named=True)]
    codes = [code.mention(one) for one in mentions]
    starts = np.append(0, np.cumsum([len(some) for some in codes]))[:-1]
    stacked = np.concatenate(codes)
    columns = {name: np.array([getattr(one, name) for one in mentions]) for name in ("base_value", "base_high")}
    comparators = comparator_codes(one.comparator for one in mentions)
    names = np.array([unit_name(one.base_unit, one.change) for one in mentions], dtype=object)
    known, taken = [], []
    for condition in (one for query in benchmark.queries_of("test") for one in query.conditions):
        rows = np.flatnonzero(names == unit_name(condition.base_unit, condition.change))
        low, high = (column[rows] for column in columns.values())
        met = verdicts(low, high, comparators[rows], condition) == MET
        products = np.maximum.reduceat(stacked @ code.condition(condition), starts)[rows]
        known += [float((products[met] > 0.75).mean())] if met.any() else []
        taken += [float((products[~met] > 0.25).mean())] if (~met).any() else []
    shared = [unit for unit, grid in code.grids.items() if (grid.first < grid.last).any()]
    return {
        "conditions": len(known),
        "mentions": len(mentions),
        "codes a mention": float(np.mean([len(some) for some in codes])),
        "units": len(code.grids),
        "units with shared levels": len(shared),
        "met, over 0.75": float(np.mean(known)),
        "others over 0.25": float(np.mean(taken)),
    }


def main() -> None:
    """Print a table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("benchmarks", nargs="+", type=Path)
    parser.add_argument("--mentions", type=int, default=4000, help="mentions that are drawn")
    given = parser.parse_args()
    for path in given.benchmarks:
        figures = measured(open_benchmark(path), given.mentions)
        print(f"{path.name}: " + ", ".join(f"{name} {value:.4g}" for name, value in figures.items()))


if __name__ == "__main__":
    main()
