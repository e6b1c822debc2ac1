"""Do tests keep their level, and intervals their coverage, if queries of one topic are answered well or badly together?

    python benchmarks/topic_tests.py [--experiments 1000] [--json FILE]

Two systems of equal quality are simulated again and again. The difference of their scores on query q of topic t is

    d_q = sqrt(rho) u_t + sqrt(1 - rho) e_q

with u_t and e_q independent, of mean 0 and variance 1, so that rho is the correlation of two queries of a topic. Topics
have different numbers of queries, as those of generated benchmarks: geometric ones, of the mean that a row says; in a
row with one query in each there are no topics to speak of. In the rows "skewed" u_t and e_q are exponential less their
mean: then the differences of equal systems have no symmetric distribution, which every test by signs takes for granted.

For each setting it prints the share of experiments with p <= 0.05 (should be 5 %), by topic and by query; the share of
95 % intervals of the mean difference that hold 0 (should be 95 %), by topic, as plain percentile intervals by topic
(whose ends are not moved outwards), and by query; and the share of experiments with p <= 0.05 by topic where one system
is better by half a standard deviation of u_t. With 1,000 experiments a share of 5 % has a standard error of 0.7 %.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np

from qbench.evaluation.significance import LEVEL, bootstrap_means, cluster_sums, interval_ends, sign_flip_test

RESAMPLES = 999


@dataclass(frozen=True)
class Setting:
    """What is simulated: number of topics, mean number of queries in one, their correlation, shape of the effects."""

    topics: int
    queries: float
    rho: float
    skewed: bool = False

    def __str__(self) -> str:
        return f"{self.topics} | {self.queries:g} | {self.rho:g}{' skewed' if self.skewed else ''}"


SETTINGS = (
    Setting(10, 8, 0.3),
    Setting(20, 8, 0.1),
    Setting(20, 8, 0.3),
    Setting(20, 8, 0.6),
    Setting(50, 8, 0.3),
    Setting(50, 30, 0.3),
    Setting(100, 8, 0.3),
    Setting(50, 1, 0.3),
    Setting(20, 8, 0.3, skewed=True),
    Setting(50, 8, 0.3, skewed=True),
)


def simulated(setting: Setting, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Differences of two equal systems, shape (1, queries), and the numbers of their topics, shape (queries,)."""
    sizes = np.ones(setting.topics, dtype=np.int64)
    if setting.queries > 1:
        sizes += rng.geometric(1 / setting.queries, setting.topics) - 1
    clusters = np.repeat(np.arange(setting.topics), sizes)

    def noise(n: int) -> np.ndarray:
        return rng.exponential(1, n) - 1 if setting.skewed else rng.normal(0, 1, n)

    topics, queries = noise(setting.topics), noise(clusters.size)
    differences = np.sqrt(setting.rho) * topics[clusters] + np.sqrt(1 - setting.rho) * queries
    return differences[None, :], clusters


def holds_zero(draws: np.ndarray, ends: tuple[float, float]) -> bool:
    low, high = np.quantile(draws, ends)
    return bool(low <= 0 <= high)


def experiments(setting: Setting, count: int, seed: int = 1) -> Iterator[dict[str, bool]]:
    """Yields for each experiment which tests reject and which intervals hold the truth."""
    rng = np.random.default_rng(seed)
    for _ in range(count):
        differences, clusters = simulated(setting, rng)
        better = differences + 0.5 * np.sqrt(setting.rho)
        queries = np.arange(clusters.size)
        p = {
            name: float(sign_flip_test(sums, RESAMPLES, rng)[0])
            for name, sums in (
                ("topic", cluster_sums(differences, clusters)),
                ("query", differences),
                ("power", cluster_sums(better, clusters)),
            )
        }
        by_topic = bootstrap_means(differences, RESAMPLES, rng, clusters)[0]
        by_query = bootstrap_means(differences, RESAMPLES, rng)[0]
        yield {
            **{f"p {name}": value <= LEVEL for name, value in p.items()},
            "interval topic": holds_zero(by_topic, interval_ends(setting.topics)),
            "interval plain": holds_zero(by_topic, (LEVEL / 2, 1 - LEVEL / 2)),
            "interval query": holds_zero(by_query, interval_ends(queries.size)),
        }


def shares(setting: Setting, count: int) -> dict[str, float]:
    found = list(experiments(setting, count))
    return {name: sum(one[name] for one in found) / count for name in found[0]}


COLUMNS = {
    "p topic": "p <= 0.05 by topic",
    "p query": "by query",
    "interval topic": "interval holds 0, by topic",
    "interval plain": "plain percentile, by topic",
    "interval query": "by query",
    "p power": "p <= 0.05 by topic, not equal",
}


def markdown(results: list[tuple[Setting, dict[str, float]]], count: int) -> str:
    head = ["topics", "queries in one", "correlation", *COLUMNS.values()]
    lines = [f"{count:,} experiments each, {RESAMPLES} resamples.", ""]
    lines += [f"| {' | '.join(head)} |", f"|{' ---: |' * len(head)}"]
    for setting, found in results:
        lines.append(f"| {setting} | {' | '.join(f'{100 * found[name]:.1f} %' for name in COLUMNS)} |")
    return "\n".join(lines) + "\n"


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--experiments", type=int, default=1_000)
    options.add_argument("--json", type=Path, help="also write the figures here")
    chosen = options.parse_args()
    results = [(setting, shares(setting, chosen.experiments)) for setting in SETTINGS]
    print(markdown(results, chosen.experiments))
    if chosen.json:
        rows = [{**asdict(setting), **found} for setting, found in results]
        chosen.json.write_text(json.dumps({"experiments": chosen.experiments, "rows": rows}, indent=2) + "\n")


if __name__ == "__main__":
    main()
