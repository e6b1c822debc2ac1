"""Whether two systems differ, by how much, and how sure that is.

Every figure is a mean over queries. How sure it is depends on topics: queries of one topic (a group of concepts) are
answered well or badly together, so that a topic, and not a query, is what is drawn, flipped and counted.

- The paired randomisation test (*Numbers Matter*, section 4, after Riezler and Maxwell 2005; for retrieval Smucker,
  Allan and Carterette 2007), with one sign for all queries of a topic: if two systems were the same, a topic's
  differences could as well have the other sign, all at once. This is randomisation by cluster (Gail et al. 1996 for
  trials whose groups are assigned as a whole; Canay, Romano and Shaikh 2017 for signs of clusters), exact whatever the
  dependence within a topic. The p-value of a pair is the share of random sign vectors whose mean difference is at
  least as far from zero as the one seen; the seen one counts among them, p = (b + 1) / (B + 1), so that p is never 0
  and the test keeps its level (Phipson and Smyth 2010). Where there are no more sign vectors than resamples (2^13 for
  13 topics), each is taken once, and p is exact: no seed changes it.
- The bootstrap draws topics with all their queries (the cluster bootstrap: Davison and Hinkley 1997, section 3.8; Field
  and Welsh 2007). The mean over the queries of a draw is a ratio, since topics differ in size.
- Percentile intervals of few topics are too narrow. Their ends are taken further out, where a t interval's would lie
  (the expanded percentile interval of Hesterberg 2015).

Where every query is a topic of its own, all this is the usual test and the usual bootstrap over queries.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import combinations
from statistics import NormalDist
from typing import TYPE_CHECKING, Literal, get_args

import numpy as np
import polars as pl
from numpy.typing import NDArray

from qbench.errors import InputError, OptionError
from qbench.progress import Progress, silent
from qbench.randomness import generator

if TYPE_CHECKING:
    Floats = NDArray[np.float64]

By = Literal["topic", "query"]
"""What is flipped and drawn as a whole: the queries of a topic, or each query by itself. By query, queries of one topic
count as independent, and differences look surer than they are."""

RESAMPLES = 10_000
LEVEL = 0.05
"""Differences with an adjusted p below this are called significant; intervals have the matching 95 %."""

_TIE = 1e-10
"""Two sums of differences are equal if they differ by less than this share of the sum of their sizes."""

_CHUNK = 64
"""Bytes of signs per resample that are in memory at once: 512 topics."""

_BLOCK_CELLS = 1 << 20
"""Topic draws of the bootstrap that are in memory at once."""


@dataclass(frozen=True)
class SignificanceTests:
    """How differences are tested.

    Attributes:
        by: what is flipped and drawn as a whole.
        resamples: B, of the test and of the bootstrap.
        seed: of both.

    Raises:
        OptionError: `by` is something else, or with fewer than 100 resamples no p could be small.
    """

    by: By = "topic"
    resamples: int = RESAMPLES
    seed: int = 0

    def __post_init__(self) -> None:
        if self.resamples < 100:
            raise OptionError("too few resamples", value=self.resamples, remedy="Use at least 100; 10000 is usual")
        if self.by not in get_args(By):
            remedy = f"Use {' or '.join(get_args(By))}"
            raise OptionError("tests go by topic or by query", value=self.by, remedy=remedy)


@dataclass(frozen=True)
class Scores:
    """The scores of several systems on the same queries, ready for arithmetic.

    Attributes:
        labels: names of the systems.
        measures: names of the measures.
        query_ids: sorted.
        values: shape (systems, measures, queries).
        topics: the topic of each query, "" for one that is a topic of its own; () if all are.
    """

    labels: tuple[str, ...]
    measures: tuple[str, ...]
    query_ids: tuple[str, ...]
    values: Floats
    topics: tuple[str, ...] = ()

    @classmethod
    def from_frame(cls, scores: pl.DataFrame) -> Scores:
        """Arrange a frame of scores; labels and measures keep the order of their first appearance.

        Args:
            scores: columns label, query_id, measure, value; one row per system, query and measure. A column topic, if
                there is one, has the query's topic, or "" for a query that is a topic of its own.

        Raises:
            InputError: there is no score, one is missing, given twice, or not finite, or a query has two topics.
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
        values = ordered["value"].to_numpy().reshape(shape)
        return cls(tuple(labels), tuple(measures), tuple(query_ids), values, _topics(scores, query_ids))

    def clusters(self, by: By = "topic") -> NDArray[np.int64]:
        """Shape (queries,): the number of each query's topic, topics ordered by name; by query each has its own."""
        if by == "query" or not self.topics:
            return np.arange(len(self.query_ids))
        return topic_numbers(self.topics, self.query_ids)


def topic_numbers(topics: Sequence[str], query_ids: Sequence[str]) -> NDArray[np.int64]:
    """The number of each query's topic, topics ordered by name; a query without one is a topic under its own id.

    >>> topic_numbers(["price", "", "age", "price"], ["q1", "q2", "q3", "q4"]).tolist()
    [1, 2, 0, 1]
    """
    names = [(topic or query_id, bool(topic)) for topic, query_id in zip(topics, query_ids, strict=True)]
    number = {name: i for i, name in enumerate(sorted(set(names)))}
    return np.array([number[name] for name in names], dtype=np.int64)


def _topics(scores: pl.DataFrame, query_ids: Sequence[str]) -> tuple[str, ...]:
    if "topic" not in scores.columns:
        return ()
    named = scores.select("query_id", "topic").unique().sort("query_id")
    if named.height != len(query_ids):
        raise InputError("a query has two topics", value=named.filter(named["query_id"].is_duplicated())["query_id"][0])
    return tuple(named["topic"]) if (named["topic"] != "").any() else ()


def mean_schema() -> dict[str, pl.DataType | type[pl.DataType]]:
    """Columns of `summarise`'s first frame."""
    return {
        "label": pl.String,
        "measure": pl.String,
        "mean": pl.Float64,
        "ci_low": pl.Float64,
        "ci_high": pl.Float64,
        "queries": pl.Int64,
        "topics": pl.Int64,
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
        "topics": pl.Int64,
    }


def summarise(
    scores: Scores,
    tests: SignificanceTests = SignificanceTests(),
    *,
    comparable: Callable[[str, str], bool] = lambda a, b: True,
    progress: Progress = silent,
) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Means with intervals, and every pair of comparable systems with its test.

    All pairs are tested under the same sign vectors, made of the seed; the sign of a topic comes from its place among
    the sorted topics: p depends neither on the other systems, nor on names, nor on the order of anything. The
    bootstrap draws its topics once and uses them for all systems, so that intervals of differences are paired.

    Args:
        scores: what was measured.
        tests: how they are tested.
        comparable: whether two labels are a pair at all; all are by default.
        progress: called after each pair.

    Returns:
        `mean_schema` (bootstrap intervals of each mean), and `pair_schema`: for each measure and each comparable pair
        a < b, the mean of a - b over the queries with its bootstrap interval, the effect size (`paired_effect`), p,
        and p after Holm. The family that Holm corrects for is these pairs within one measure. `topics` is the number
        of topics among the queries, whatever the tests go by.
    """
    systems, measures, queries = scores.values.shape
    clusters, topics = scores.clusters(tests.by), int(scores.clusters().max()) + 1
    flat = scores.values.reshape(systems * measures, queries)
    drawn = bootstrap_means(flat, tests.resamples, generator(tests.seed, "bootstrap"), clusters)
    resampled = drawn.reshape(systems, measures, tests.resamples)
    ends = np.quantile(resampled, interval_ends(int(clusters.max()) + 1), axis=2)
    counts = (queries, topics)
    means = [
        (label, measure, float(scores.values[i, m].mean()), float(ends[0, i, m]), float(ends[1, i, m]), *counts)
        for i, label in enumerate(scores.labels)
        for m, measure in enumerate(scores.measures)
    ]
    ordered = sorted(range(systems), key=lambda i: scores.labels[i])
    couples = [(i, j) for i, j in combinations(ordered, 2) if comparable(scores.labels[i], scores.labels[j])]
    rows = [(*row, *counts) for row in _pairs(scores, clusters, couples, resampled, tests.seed, progress)]
    pairs = pl.DataFrame(rows, schema=pair_schema(), orient="row")
    return pl.DataFrame(means, schema=mean_schema(), orient="row"), pairs


def _pairs(
    scores: Scores,
    clusters: NDArray[np.int64],
    couples: list[tuple[int, int]],
    resampled: Floats,
    seed: int,
    progress: Progress,
) -> list[tuple[object, ...]]:
    resamples, levels = resampled.shape[2], interval_ends(int(clusters.max()) + 1)
    p = np.empty((len(scores.measures), len(couples)))
    ends = np.empty((2, len(scores.measures), len(couples)))
    for c, (i, j) in enumerate(couples):
        gaps = cluster_sums(scores.values[i] - scores.values[j], clusters)
        p[:, c] = sign_flip_test(gaps, resamples, generator(seed, "sign flips"))
        ends[:, :, c] = np.quantile(resampled[i] - resampled[j], levels, axis=1)
        progress(c + 1, len(couples), "pairs tested")
    rows: list[tuple[object, ...]] = []
    for m, measure in enumerate(scores.measures):
        adjusted = holm(p[m])
        for c, (i, j) in enumerate(couples):
            gap = scores.values[i, m] - scores.values[j, m]
            low, high = map(float, ends[:, m, c])
            names = (measure, scores.labels[i], scores.labels[j])
            test = (float(p[m, c]), float(adjusted[c]), bool(adjusted[c] < LEVEL))
            rows.append((*names, float(gap.mean()), low, high, paired_effect(gap, clusters), *test))
    return rows


def cluster_sums(values: Floats, clusters: NDArray[np.int64]) -> Floats:
    """The sums of each row's values by cluster.

    Args:
        values: shape (rows, queries).
        clusters: shape (queries,), numbers of clusters from 0.

    Returns:
        shape (rows, clusters).
    """
    return np.stack([np.bincount(clusters, weights=row) for row in values])


def interval_ends(clusters: int) -> tuple[float, float]:
    """The quantiles of the bootstrap distribution between which a 95 % interval lies.

    Those of the expanded percentile interval (Hesterberg 2015): Phi(-sqrt(n / (n - 1)) t) instead of 0.025,
    where t is the quantile of Student's distribution with n - 1 degrees of freedom. With many clusters they are 0.025
    and 0.975; with one nothing can be said, and the whole of the distribution is taken.

    Args:
        clusters: n, what is drawn.

    >>> [round(end, 4) for end in (*interval_ends(10), *interval_ends(1000))]
    [0.0086, 0.9914, 0.0248, 0.9752]
    """
    if clusters < 2:
        return 0.0, 1.0
    normal, n = NormalDist(), clusters - 1
    z = -normal.inv_cdf(LEVEL / 2)
    # Student's quantile by the expansion of Abramowitz and Stegun, 26.7.5; for three degrees of freedom 1 % too small.
    t = z + (z**3 + z) / (4 * n) + (5 * z**5 + 16 * z**3 + 3 * z) / (96 * n**2)
    t += (3 * z**7 + 19 * z**5 + 17 * z**3 - 15 * z) / (384 * n**3)
    low = normal.cdf(-math.sqrt(clusters / n) * t)
    return low, 1 - low


def sign_flip_test(differences: Floats, resamples: int, rng: np.random.Generator) -> Floats:
    """Two-sided p-values of the paired randomisation test, all measures under the same sign vectors.

    Eight items (topics, or queries) share a byte of random bits. For each group of eight there are only 256 signed
    sums, which are tabulated; a resample's sum is then one look-up per group instead of eight additions.

    Args:
        differences: shape (measures, items), the scores of one system less those of the other, summed by topic
            (`cluster_sums`) or of each query.
        resamples: B, how many sign vectors; with 2^items <= B every vector is taken once instead.
        rng: gives the signs.

    Returns:
        shape (measures,), (b + 1) / (B + 1), where b counts the resamples whose sum is as far from zero as the seen
        one, or further; the share of such vectors where every vector is taken. Sums that only rounding tells apart
        count as equal.
    """
    measures, items = differences.shape
    exact = items < resamples.bit_length()
    vectors = 1 << items if exact else resamples
    patterns = np.unpackbits(np.arange(256, dtype=np.uint8)[:, None], axis=1) * 2.0 - 1.0
    sums, part = np.zeros((vectors, measures)), np.empty((vectors, measures))
    for first in range(0, items, 8 * _CHUNK):
        chunk = differences[:, first : first + 8 * _CHUNK]
        groups = -(-chunk.shape[1] // 8)
        padded = np.zeros((measures, groups * 8))
        padded[:, : chunk.shape[1]] = chunk
        # (groups, 256, measures): one look-up fetches all measures of a group.
        tables = np.ascontiguousarray(np.einsum("mgk,pk->gpm", padded.reshape(measures, groups, 8), patterns))
        codes = _every_code(items) if exact else _drawn_codes(groups, resamples, rng)
        for g in range(groups):
            # A byte is never out of range; "clip" lets take write into `part` without a copy.
            np.take(tables[g], codes[g], axis=0, out=part, mode="clip")
            sums += part
    seen, sizes = np.abs(differences.sum(axis=1)), np.abs(differences).sum(axis=1)
    extreme = (np.abs(sums) >= seen - _TIE * sizes).sum(axis=0)
    return np.asarray(extreme / vectors if exact else (extreme + 1) / (resamples + 1))


def _drawn_codes(groups: int, resamples: int, rng: np.random.Generator) -> NDArray[np.uint8]:
    """Shape (groups, resamples): random signs of eight items each."""
    return np.frombuffer(rng.bytes(groups * resamples), dtype=np.uint8).reshape(groups, resamples)


def _every_code(items: int) -> NDArray[np.uint8]:
    """Shape (groups, 2^items): every vector of signs once, eight items a byte, the first item in its highest bit."""
    groups = -(-items // 8)
    vectors = np.arange(1 << items) << (8 * groups - items)
    return np.stack([(vectors >> 8 * g & 255).astype(np.uint8) for g in reversed(range(groups))])


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


def paired_effect(differences: Floats, clusters: NDArray[np.int64] | None = None) -> float | None:
    """Cohen's d_z by topic: the mean difference in units of its standard deviation from topic to topic.

    The mean over queries is a ratio of sums over topics. Its deviation is that of the ratio's residuals S_t - n_t mean
    (S_t: the sum over the n_t queries of topic t), in units of the mean size of a topic (Cochran 1977):
    sqrt(sum (S_t - n_t mean)^2 / (T - 1)) T / N. With one query per topic this is the standard deviation of the
    differences, and d_z is Cohen's.

    Args:
        differences: shape (queries,).
        clusters: shape (queries,), numbers of the queries' topics from 0; each query is one of its own by default.

    Returns:
        0.0 where all differences are zero; None where it is undefined: one topic, or a difference that never varies.
    """
    if not differences.any():
        return 0.0
    clusters = np.arange(differences.size) if clusters is None else clusters
    sizes = np.bincount(clusters)
    if sizes.size < 2:
        return None
    mean = float(differences.mean())
    residuals = cluster_sums(differences[None, :], clusters)[0] - sizes * mean
    deviation = math.sqrt(float(residuals @ residuals) / (sizes.size - 1)) * sizes.size / differences.size
    return mean / deviation if deviation > _TIE * abs(mean) else None


def bootstrap_means(
    values: Floats, resamples: int, rng: np.random.Generator, clusters: NDArray[np.int64] | None = None
) -> Floats:
    """Means over the queries of topics drawn with replacement, the same draws for every row.

    Args:
        values: shape (rows, queries).
        resamples: how many draws of as many topics.
        rng: draws them.
        clusters: shape (queries,), numbers of the queries' topics from 0; each query is one of its own by default.

    Returns:
        shape (rows, resamples); a draw's sum over its queries, divided by their number.
    """
    rows, queries = values.shape
    clusters = np.arange(queries) if clusters is None else clusters
    sums, sizes = cluster_sums(values, clusters), np.bincount(clusters).astype(np.float64)
    means, topics = np.empty((rows, resamples)), sizes.size
    block = max(1, _BLOCK_CELLS // topics)
    for first in range(0, resamples, block):
        count = min(block, resamples - first)
        draws = rng.integers(0, topics, size=(count, topics)) + np.arange(count)[:, None] * topics
        drawn = np.bincount(draws.ravel(), minlength=count * topics).reshape(count, topics).T.astype(np.float64)
        means[:, first : first + count] = (sums @ drawn) / (sizes @ drawn)
    return means
