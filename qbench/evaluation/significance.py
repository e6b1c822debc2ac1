"""Whether two systems differ, by how much, and how sure that is.

The paired randomisation test (*Numbers Matter*, section 4, after Riezler and Maxwell 2005): if two systems were the
same, each query's difference could as well have the other sign. The p-value of a pair is the share of random sign
vectors whose mean difference is at least as far from zero as the one seen; the seen one counts among them,
p = (b + 1) / (B + 1), so that p is never 0 and the test keeps its level (Phipson and Smyth 2010).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np
import polars as pl
from numpy.typing import NDArray

from qbench.errors import InputError, OptionError
from qbench.progress import Progress, silent
from qbench.randomness import generator

if TYPE_CHECKING:
    Floats = NDArray[np.float64]

RESAMPLES = 10_000
LEVEL = 0.05
"""Differences with an adjusted p below this are called significant; intervals have the matching 95 %."""

_ENDS = (LEVEL / 2, 1 - LEVEL / 2)

_TIE = 1e-10
"""Two sums of differences are equal if they differ by less than this share of the sum of their sizes."""

_CHUNK = 64
"""Bytes of signs per resample that are in memory at once: 512 queries."""

_BLOCK_CELLS = 1 << 20
"""Query draws of the bootstrap that are in memory at once."""


@dataclass(frozen=True)
class Scores:
    """The scores of several systems on the same queries, ready for arithmetic.

    Attributes:
        labels: names of the systems.
        measures: names of the measures.
        query_ids: sorted.
        values: shape (systems, measures, queries).
    """

    labels: tuple[str, ...]
    measures: tuple[str, ...]
    query_ids: tuple[str, ...]
    values: Floats

    @classmethod
    def from_frame(cls, scores: pl.DataFrame) -> Scores:
        """Arrange a frame of scores; labels and measures keep the order of their first appearance.

        Args:
            scores: columns label, query_id, measure, value; one row per system, query and measure.

        Raises:
            InputError: there is no score, or one is missing, given twice, or not finite.
        """
        labels = scores["label"].unique(maintain_order=True).to_list()
        measures = scores["measure"].unique(maintain_order=True).to_list()
        query_ids = scores["query_id"].unique().sort().to_list()
        if not query_ids:
            raise InputError("there are no scores to compare")
        bad = scores.filter(~pl.col("value").is_finite().fill_null(False))
        if bad.height:
            label, query_id = bad.select("label", "query_id").row(0)
            raise InputError(f"the score of {label} for query {query_id} is not a finite number", value=bad["value"][0])
        shape = (len(labels), len(measures), len(query_ids))
        keys = ["label", "measure", "query_id"]
        if scores.height != np.prod(shape) or scores.select(keys).is_duplicated().any():
            raise InputError(
                f"{shape[0]} systems, {shape[1]} measures and {shape[2]} queries need one score each",
                value=f"{scores.height} scores",
                remedy="Score every system on the same queries",
            )
        ordered = scores.with_columns(
            pl.col("label").replace_strict(labels, list(range(shape[0]))).alias("_label"),
            pl.col("measure").replace_strict(measures, list(range(shape[1]))).alias("_measure"),
        ).sort("_label", "_measure", "query_id")
        return cls(tuple(labels), tuple(measures), tuple(query_ids), ordered["value"].to_numpy().reshape(shape))


def mean_schema() -> dict[str, pl.DataType | type[pl.DataType]]:
    """Columns of `summarise`'s first frame."""
    return {
        "label": pl.String,
        "measure": pl.String,
        "mean": pl.Float64,
        "ci_low": pl.Float64,
        "ci_high": pl.Float64,
        "queries": pl.Int64,
    }


def pair_schema() -> dict[str, pl.DataType | type[pl.DataType]]:
    """Columns of `summarise`'s second frame."""
    return {
        "measure": pl.String,
        "a": pl.String,
        "b": pl.String,
        "difference": pl.Float64,
        "ci_low": pl.Float64,
        "ci_high": pl.Float64,
        "effect": pl.Float64,
        "p": pl.Float64,
        "p_holm": pl.Float64,
        "significant": pl.Boolean,
        "queries": pl.Int64,
    }


def summarise(
    scores: Scores,
    *,
    resamples: int = RESAMPLES,
    seed: int = 0,
    comparable: Callable[[str, str], bool] = lambda a, b: True,
    progress: Progress = silent,
) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Means with intervals, and every pair of comparable systems with its test.

    The signs of a pair come from a generator made of the seed and the pair's two labels, and the sign of a query from
    its place among the sorted query ids: p depends neither on the other systems nor on the order of anything. The
    bootstrap draws its queries once and uses them for all systems, so that intervals of differences are paired.

    Args:
        scores: what was measured.
        resamples: B, of the test and of the bootstrap.
        seed: of both.
        comparable: whether two labels are a pair at all; all are by default.
        progress: told after each pair.

    Returns:
        `mean_schema` (percentile bootstrap intervals of each mean), and `pair_schema`: for each measure and each
        comparable pair a < b, the mean of a - b with its percentile bootstrap interval, the effect size d_z
        (`paired_effect`), p, and p after Holm. The family that Holm corrects for is these pairs within one measure.

    Raises:
        OptionError: as in `check_resamples`.
    """
    check_resamples(resamples)
    systems, measures, queries = scores.values.shape
    flat = scores.values.reshape(systems * measures, queries)
    resampled = bootstrap_means(flat, resamples, generator(seed, "bootstrap")).reshape(systems, measures, resamples)
    ends = np.quantile(resampled, _ENDS, axis=2)
    means = [
        (label, measure, float(scores.values[i, m].mean()), float(ends[0, i, m]), float(ends[1, i, m]), queries)
        for i, label in enumerate(scores.labels)
        for m, measure in enumerate(scores.measures)
    ]
    ordered = sorted(range(systems), key=lambda i: scores.labels[i])
    couples = [(i, j) for i, j in combinations(ordered, 2) if comparable(scores.labels[i], scores.labels[j])]
    rows = _pairs(scores, couples, resampled, resamples, seed, progress)
    pairs = pl.DataFrame(rows, schema=pair_schema(), orient="row")
    return pl.DataFrame(means, schema=mean_schema(), orient="row"), pairs


def check_resamples(resamples: int) -> None:
    """Refuse a number of resamples with which no p could be small.

    Raises:
        OptionError: fewer than 100.
    """
    if resamples < 100:
        raise OptionError("too few resamples", value=resamples, remedy="Use at least 100; 10000 is usual")


def _pairs(
    scores: Scores, couples: list[tuple[int, int]], resampled: Floats, resamples: int, seed: int, progress: Progress
) -> list[tuple[object, ...]]:
    p = np.empty((len(scores.measures), len(couples)))
    ends = np.empty((2, len(scores.measures), len(couples)))
    for c, (i, j) in enumerate(couples):
        signs = generator(seed, "sign flips", f"{scores.labels[i]}\x1f{scores.labels[j]}")
        p[:, c] = sign_flip_test(scores.values[i] - scores.values[j], resamples, signs)
        ends[:, :, c] = np.quantile(resampled[i] - resampled[j], _ENDS, axis=1)
        progress(c + 1, len(couples), "pairs tested")
    rows: list[tuple[object, ...]] = []
    for m, measure in enumerate(scores.measures):
        adjusted = holm(p[m])
        for c, (i, j) in enumerate(couples):
            gap = scores.values[i, m] - scores.values[j, m]
            low, high = map(float, ends[:, m, c])
            names = (measure, scores.labels[i], scores.labels[j])
            test = (float(p[m, c]), float(adjusted[c]), bool(adjusted[c] < LEVEL))
            rows.append((*names, float(gap.mean()), low, high, paired_effect(gap), *test, gap.size))
    return rows


def sign_flip_test(differences: Floats, resamples: int, rng: np.random.Generator) -> Floats:
    """Two-sided p-values of the paired randomisation test, all measures under the same sign vectors.

    Eight queries share a byte of random bits. For each group of eight there are only 256 signed sums, which are
    tabulated; a resample's sum is then one look-up per group instead of eight additions.

    Args:
        differences: shape (measures, queries), the scores of one system less those of the other.
        resamples: B, how many sign vectors.
        rng: gives the signs.

    Returns:
        shape (measures,), (b + 1) / (B + 1), where b counts the resamples whose sum is as far from zero as the seen
        one, or further. Sums that only rounding tells apart count as equal.
    """
    measures, queries = differences.shape
    patterns = np.unpackbits(np.arange(256, dtype=np.uint8)[:, None], axis=1) * 2.0 - 1.0
    sums, part = np.zeros((resamples, measures)), np.empty((resamples, measures))
    for first in range(0, queries, 8 * _CHUNK):
        chunk = differences[:, first : first + 8 * _CHUNK]
        groups = -(-chunk.shape[1] // 8)
        padded = np.zeros((measures, groups * 8))
        padded[:, : chunk.shape[1]] = chunk
        # (groups, 256, measures): one look-up fetches all measures of a group.
        tables = np.ascontiguousarray(np.einsum("mgk,pk->gpm", padded.reshape(measures, groups, 8), patterns))
        codes = np.frombuffer(rng.bytes(groups * resamples), dtype=np.uint8).reshape(groups, resamples)
        for g in range(groups):
            # A byte is never out of range; "clip" lets take write into `part` without a copy.
            np.take(tables[g], codes[g], axis=0, out=part, mode="clip")
            sums += part
    seen, sizes = np.abs(differences.sum(axis=1)), np.abs(differences).sum(axis=1)
    extreme = (np.abs(sums) >= seen - _TIE * sizes).sum(axis=0)
    return np.asarray((extreme + 1) / (resamples + 1))


def holm(p: Sequence[float] | Floats) -> Floats:
    """Holm's step-down adjusted p-values (Holm 1979), in the order given.

    The i-th smallest of n is multiplied by n - i + 1; adjusted values never fall, and stop at 1.

    >>> holm([0.01, 0.04, 0.03]).tolist()
    [0.03, 0.06, 0.06]
    """
    values = np.asarray(p, dtype=np.float64)
    order = np.argsort(values, kind="stable")
    steps = np.maximum.accumulate(values[order] * (values.size - np.arange(values.size)))
    adjusted = np.empty_like(values)
    adjusted[order] = np.minimum(steps, 1.0)
    return adjusted


def paired_effect(differences: Floats) -> float | None:
    """Cohen's d_z: the mean difference in units of the differences' standard deviation (n - 1).

    Args:
        differences: shape (queries,).

    Returns:
        0.0 where all differences are zero; None where it is undefined: one query, or a difference that never varies.
    """
    if not differences.any():
        return 0.0
    if differences.size < 2:
        return None
    deviation = float(differences.std(ddof=1))
    mean = float(differences.mean())
    return mean / deviation if deviation > _TIE * abs(mean) else None


def bootstrap_means(values: Floats, resamples: int, rng: np.random.Generator) -> Floats:
    """Means of queries drawn with replacement, the same draws for every row.

    Args:
        values: shape (rows, queries).
        resamples: how many draws of as many queries.
        rng: draws them.

    Returns:
        shape (rows, resamples).
    """
    rows, queries = values.shape
    means = np.empty((rows, resamples))
    block = max(1, _BLOCK_CELLS // queries)
    for first in range(0, resamples, block):
        count = min(block, resamples - first)
        draws = rng.integers(0, queries, size=(count, queries)) + np.arange(count)[:, None] * queries
        times = np.bincount(draws.ravel(), minlength=count * queries).reshape(count, queries)
        means[:, first : first + count] = values @ times.T.astype(np.float64) / queries
    return means
