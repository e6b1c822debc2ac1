"""The test against plain loops and exact enumeration; Holm, effect and bootstrap against their definitions."""

from __future__ import annotations

import itertools
import math
import statistics

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from qbench.errors import InputError, OptionError
from qbench.evaluation.significance import (
    Scores,
    SignificanceTests,
    bootstrap_means,
    cluster_sums,
    holm,
    interval_ends,
    mean_schema,
    pair_schema,
    paired_effect,
    sign_flip_test,
    summarise,
)

CHUNK = 512
"""Queries whose random bits are drawn together."""


def plain_loop(differences: np.ndarray, resamples: int, rng: np.random.Generator) -> list[float]:
    """The test in its plain form: flip, sum and compare each resample by itself, on the same random bits."""
    measures, queries = differences.shape
    bits = []
    for first in range(0, queries, CHUNK):
        groups = -(-min(CHUNK, queries - first) // 8)
        codes = np.frombuffer(rng.bytes(groups * resamples), dtype=np.uint8).reshape(groups, resamples)
        bits.append(np.unpackbits(codes, axis=0).reshape(groups * 8, resamples))
    # A byte's highest bit belongs to its first query: groups of eight rows, one for each bit.
    table = np.concatenate(bits)[:queries]
    p = []
    for m in range(measures):
        values = differences[m].tolist()
        seen = abs(math.fsum(values))
        extreme = 0
        for r in range(resamples):
            flipped = math.fsum(v if bit else -v for v, bit in zip(values, table[:, r].tolist(), strict=True))
            extreme += abs(flipped) >= seen or math.isclose(abs(flipped), seen, rel_tol=1e-9, abs_tol=1e-12)
        p.append((extreme + 1) / (resamples + 1))
    return p


def exact(differences: list[int]) -> float:
    """The share of all 2^n sign vectors whose sum is at least as far from zero; whole numbers, so no rounding."""
    seen = abs(sum(differences))
    signs = list(itertools.product((1, -1), repeat=len(differences)))
    return sum(abs(sum(s * d for s, d in zip(vector, differences, strict=True))) >= seen for vector in signs) / len(
        signs
    )


def frame(values: dict[str, dict[str, float]], measure: str = "AP") -> pl.DataFrame:
    rows = [(label, q, measure, v) for label, queries in values.items() for q, v in queries.items()]
    return pl.DataFrame(rows, schema=["label", "query_id", "measure", "value"], orient="row")


def pair(scores: pl.DataFrame, a: str, b: str, **options) -> dict:
    """The row of one pair, whichever way round."""
    _, pairs = summarise(Scores.from_frame(scores), SignificanceTests(**{"resamples": 500, **options}))
    (row,) = pairs.filter(pl.col("a").is_in([a, b]) & pl.col("b").is_in([a, b])).to_dicts()
    return row


def random_scores(labels: str, queries: int, seed: int = 0) -> dict[str, dict[str, float]]:
    rng = np.random.default_rng(seed)
    base = rng.random(queries)
    return {
        label: {f"q{i}": float(v) for i, v in enumerate(np.clip(base + rng.normal(0.02 * n, 0.2, queries), 0, 1))}
        for n, label in enumerate(labels)
    }


@pytest.mark.parametrize("queries", [8, 9, 100, 512, 513, 530])
def test_look_ups_equal_the_plain_loop(queries):
    rng = np.random.default_rng(queries)
    # Means of about one standard error: p lies well inside (0, 1).
    smooth = rng.normal(0, 0.2, queries)
    smooth += 0.2 / math.sqrt(queries) - smooth.mean()
    coarse = rng.integers(-3, 4, queries) / 10
    differences = np.stack([smooth, coarse, np.zeros(queries)])
    fast = sign_flip_test(differences, 150, np.random.default_rng(9))
    assert fast.tolist() == plain_loop(differences, 150, np.random.default_rng(9))


@settings(max_examples=40, deadline=None)
@given(st.lists(st.integers(-4, 4), min_size=1, max_size=11))
def test_few_items_are_tested_exactly(differences):
    """Tenths are not exact in binary: sums that are equal must still count as equal."""
    (p,) = sign_flip_test(np.array([differences]) / 10, 2 ** len(differences), np.random.default_rng(1))
    assert p == exact(differences)


@settings(max_examples=30, deadline=None)
@given(st.lists(st.integers(-4, 4), min_size=8, max_size=11))
def test_drawn_signs_come_close_to_the_exact_test(differences):
    resamples = 2 ** len(differences) - 1
    truth = exact(differences)
    (p,) = sign_flip_test(np.array([differences]) / 10, resamples, np.random.default_rng(1))
    assert abs(p - truth) <= 5 * math.sqrt(truth * (1 - truth) / resamples) + 1 / resamples
    if truth == 1:
        assert p == 1


def test_of_few_topics_no_seed_changes_p_and_equal_scores_have_equal_tests():
    values = random_scores("ab", 9)
    scores = frame({**values, "c": values["a"]})
    rows = [pair(scores, name, "b", seed=seed, resamples=512) for name in "ac" for seed in (0, 1)]
    assert len({row["p"] for row in rows}) == 1
    many = random_scores("ab", 60)
    rows = [pair(frame({**many, "z": many["a"]}), name, "b") for name in "az"]
    assert rows[0]["p"] == rows[1]["p"]
    assert rows[0]["difference"] == -rows[1]["difference"]


def by_topic(scores: pl.DataFrame, topics: dict[str, str]) -> pl.DataFrame:
    return scores.with_columns(topic=pl.col("query_id").replace_strict(topics, default=""))


@settings(max_examples=30, deadline=None)
@given(st.lists(st.tuples(st.integers(-4, 4), st.integers(0, 5)), min_size=1, max_size=12))
def test_all_queries_of_a_topic_have_one_sign(drawn):
    """Against enumeration: one sign per topic, sums over the queries."""
    names = sorted({topic for _, topic in drawn})
    clusters = np.array([names.index(topic) for _, topic in drawn])
    differences = np.array([[value for value, _ in drawn]])
    sums = [sum(value for value, topic in drawn if topic == name) for name in names]
    assert cluster_sums(differences, clusters).tolist() == [sums]
    (p,) = sign_flip_test(cluster_sums(differences, clusters), 4000, np.random.default_rng(1))
    assert p == exact(sums)


def test_queries_of_their_own_topics_are_tested_as_queries():
    scores = frame(random_scores("abc", 40))
    expected = summarise(Scores.from_frame(scores), SignificanceTests(resamples=200))
    own = by_topic(scores, {f"q{i}": f"the topic of q{i}" for i in range(40)})
    for topics in (own, by_topic(scores, {}), by_topic(scores, {"q0": "alone"})):
        for found, frames in zip(
            summarise(Scores.from_frame(topics), SignificanceTests(resamples=200)), expected, strict=True
        ):
            assert found.drop("p", "p_holm", "ci_low", "ci_high", strict=False).equals(
                frames.drop("p", "p_holm", "ci_low", "ci_high", strict=False)
            )
    assert all(
        f.equals(e)
        for f, e in zip(summarise(Scores.from_frame(own), SignificanceTests(resamples=200)), expected, strict=True)
    )


def test_by_query_topics_do_not_matter_but_are_counted():
    scores = frame(random_scores("ab", 40))
    topics = by_topic(scores, {f"q{i}": f"t{i % 7}" for i in range(40)})
    means, pairs = summarise(Scores.from_frame(topics), SignificanceTests("query", 200))
    expected = summarise(Scores.from_frame(scores), SignificanceTests(resamples=200))
    assert means.drop("topics").equals(expected[0].drop("topics"))
    assert pairs.drop("topics").equals(expected[1].drop("topics"))
    assert (means["topics"].unique().to_list(), expected[0]["topics"].unique().to_list()) == ([7], [40])
    with pytest.raises(OptionError, match="by topic or by query"):
        SignificanceTests("document")


def test_a_topic_and_a_query_of_one_name_are_two():
    scores = by_topic(frame(random_scores("a", 3)), {"q1": "q0", "q2": "q0"})
    assert Scores.from_frame(scores).clusters().tolist() == [0, 1, 1]


def test_a_query_with_two_topics_is_an_error():
    scores = frame(random_scores("ab", 4)).with_row_index("n").with_columns(topic=pl.format("t{}", "n")).drop("n")
    with pytest.raises(InputError, match="two topics"):
        Scores.from_frame(scores)


def test_copies_of_every_query_change_nothing():
    """Ten queries, each asked seven times under its topic: the very test, interval and effect of the ten alone."""
    values = random_scores("ab", 10)
    alone = pair(frame(values), "a", "b")
    copies = {label: {f"{q} {n}": v for q, v in row.items() for n in range(7)} for label, row in values.items()}
    scores = frame(copies)
    many = pair(by_topic(scores, {q: q.split()[0] for q in scores["query_id"]}), "a", "b")
    for key in ("difference", "p", "ci_low", "ci_high", "effect"):
        assert many[key] == pytest.approx(alone[key])
    assert (many["queries"], many["topics"]) == (70, 10)


def test_p_is_never_zero():
    (p,) = sign_flip_test(np.ones((1, 200)), 999, np.random.default_rng(0))
    assert p == 1 / 1000


def test_equal_systems_have_p_one_and_no_effect():
    values = random_scores("a", 20)
    row = pair(frame({"a": values["a"], "b": values["a"]}), "a", "b")
    assert (row["p"], row["p_holm"], row["effect"], row["difference"]) == (1, 1, 0, 0)
    assert (row["ci_low"], row["ci_high"], row["significant"]) == (0, 0, False)


def test_one_query_decides_nothing():
    row = pair(frame({"a": {"q": 0.0}, "b": {"q": 1.0}}), "a", "b")
    assert row["p"] == 1
    assert row["effect"] is None
    assert row["queries"] == 1


def test_p_does_not_depend_on_who_is_called_first():
    values = random_scores("ab", 60)
    there = pair(frame({"x": values["a"], "y": values["b"]}), "x", "y")
    back = pair(frame({"x": values["b"], "y": values["a"]}), "x", "y")
    assert there["p"] == back["p"]
    assert there["difference"] == pytest.approx(-back["difference"])
    assert there["effect"] == pytest.approx(-back["effect"])
    assert there["ci_low"] == pytest.approx(-back["ci_high"])


def test_order_of_rows_and_systems_does_not_matter():
    scores = frame(random_scores("abc", 50))
    expected = summarise(Scores.from_frame(scores), SignificanceTests(resamples=200))[1].sort("a", "b")
    for seed in range(3):
        shuffled = scores.sample(fraction=1.0, shuffle=True, seed=seed)
        assert (
            summarise(Scores.from_frame(shuffled), SignificanceTests(resamples=200))[1].sort("a", "b").equals(expected)
        )


def test_a_pair_does_not_depend_on_the_other_systems():
    values = random_scores("abcd", 50)
    alone = pair(frame({key: values[key] for key in "bd"}), "b", "d")
    among = pair(frame(values), "b", "d")
    for key in ("p", "difference", "effect"):
        assert alone[key] == among[key]
    for key in ("ci_low", "ci_high"):
        assert alone[key] == pytest.approx(among[key])
    assert among["p_holm"] >= alone["p_holm"]


def test_pairs_with_the_same_differences_have_the_same_p():
    rng = np.random.default_rng(6)
    # Multiples of 1/64 are exact: both differences are equal to the last bit.
    gap = rng.integers(-20, 24, 40) / 64
    values = {"a": gap, "bc": np.zeros(40), "ab": gap + 1, "c": np.ones(40)}
    scores = frame({label: dict(zip(map(str, range(40)), row, strict=True)) for label, row in values.items()})
    one, other = pair(scores, "a", "bc", resamples=200), pair(scores, "ab", "c", resamples=200)
    assert one["difference"] == other["difference"]
    assert 0.05 < one["p"] < 0.95
    assert one["p"] == other["p"]


def test_pairs_that_are_not_comparable_are_not_tested():
    scores = Scores.from_frame(frame(random_scores("abcd", 50)))
    _, whole = summarise(scores, SignificanceTests(resamples=200))
    told = []
    _, some = summarise(
        scores,
        SignificanceTests(resamples=200),
        comparable=lambda a, b: {a, b} != {"a", "c"},
        progress=lambda done, total=None, what="": told.append((done, total)),
    )
    assert some.height == whole.height - 1 == len(told)
    same = ["a", "b", "difference", "ci_low", "ci_high", "p"]
    assert some.select(same).equals(whole.filter((pl.col("a") != "a") | (pl.col("b") != "c")).select(same))
    assert some["p_holm"].to_list() == holm(some["p"].to_numpy()).tolist()


def test_the_seed_changes_p_and_nothing_else():
    scores = frame(random_scores("ab", 50))
    rows = [pair(scores, "a", "b", seed=seed) for seed in (0, 0, 1)]
    assert rows[0] == rows[1]
    assert rows[0]["p"] != rows[2]["p"]
    assert rows[0]["difference"] == rows[2]["difference"]


def test_the_test_keeps_its_level():
    """Without a difference p <= 0.05 in about 5 % of experiments: of 400 expect 20, and 42 is 5 sigma away."""
    rng = np.random.default_rng(3)
    p = [float(sign_flip_test(rng.normal(0, 1, (1, 15)), 199, rng)[0]) for _ in range(400)]
    assert sum(value <= 0.05 for value in p) <= 42
    assert 0.4 < float(np.mean(p)) < 0.6


def test_holm_corrects_within_one_measure():
    values = random_scores("abc", 80)
    both = pl.concat([frame(values, "AP"), frame(random_scores("abc", 80, seed=5), "P@10")])
    _, pairs = summarise(Scores.from_frame(both), SignificanceTests(resamples=300))
    assert pairs.height == 6
    for measure in ("AP", "P@10"):
        part = pairs.filter(measure=measure)
        assert part["p_holm"].to_list() == holm(part["p"].to_numpy()).tolist()
        assert part["significant"].to_list() == [p < 0.05 for p in part["p_holm"]]


def test_significance_is_decided_after_holm():
    """Differences of one system to three equal others: p just below the level alone, above it after correction."""
    rng = np.random.default_rng(4)
    base = rng.normal(0, 1, 40)
    gap = rng.normal(0, 1, 40)
    gap += 0.38 - gap.mean()
    values = {name: dict(zip(map(str, range(40)), base, strict=True)) for name in "abc"}
    values["d"] = dict(zip(map(str, range(40)), base + gap, strict=True))
    _, pairs = summarise(Scores.from_frame(frame(values)), SignificanceTests(resamples=2000))
    part = pairs.filter(b="d")
    assert (part["p"] < 0.05).all()
    assert (part["p_holm"] > 0.05).all()
    assert not pairs["significant"].any()


def test_holm_by_hand():
    assert holm([0.01, 0.04, 0.03, 0.005]).tolist() == pytest.approx([0.03, 0.06, 0.06, 0.02])
    assert holm([0.6, 0.5]).tolist() == [1, 1]
    assert holm([]).tolist() == []


@settings(deadline=None)
@given(st.lists(st.floats(0.0001, 1), min_size=1, max_size=12), st.randoms())
def test_holm_keeps_order_and_lies_between_p_and_bonferroni(p, random):
    adjusted = holm(p)
    assert (adjusted >= np.array(p)).all()
    assert (adjusted <= np.minimum(1, np.array(p) * len(p)) + 1e-12).all()
    assert all(adjusted[i] <= adjusted[j] for i in range(len(p)) for j in range(len(p)) if p[i] < p[j])
    places = list(range(len(p)))
    random.shuffle(places)
    assert holm([p[i] for i in places]).tolist() == [adjusted[i] for i in places]


def test_effect_by_hand():
    assert paired_effect(np.array([1.0, 2.0, 3.0])) == pytest.approx(2.0)
    assert paired_effect(np.zeros(5)) == 0.0
    assert paired_effect(np.array([0.5])) is None
    assert paired_effect(np.full(5, 0.1)) is None


def test_bootstrap_draws_whole_queries_for_all_rows_alike():
    values = np.array([[0.0, 1.0, 2.0], [10.0, 11.0, 12.0]])
    means = bootstrap_means(values, 400, np.random.default_rng(0))
    assert means.shape == (2, 400)
    assert np.allclose(means[1] - means[0], 10)
    assert np.allclose(means[0] * 3, np.round(means[0] * 3))
    # Mean and variance of the bootstrap distribution are known: the mean, and the population variance over n.
    assert means[0].mean() == pytest.approx(1.0, abs=5 * math.sqrt(2 / 9 / 400))
    assert means[0].var() == pytest.approx(2 / 9, rel=0.3)


def test_bootstrap_draws_whole_topics():
    """Two topics of one and three queries: a draw is all of the one, all of the other, or four queries."""
    values = np.array([[1.0, 2.0, 3.0, 8.0]])
    clusters = np.array([0, 0, 0, 1])
    means = bootstrap_means(values, 2000, np.random.default_rng(0), clusters)
    found, counts = np.unique(means, return_counts=True)
    assert found.tolist() == [2.0, 3.5, 8.0]
    assert counts[1] / 2000 == pytest.approx(0.5, abs=0.06)


def test_interval_ends_are_those_of_a_t_interval():
    """t quantiles from tables, for 2, 4, 9 and 99 degrees of freedom; the expansion is 4 % off at 2."""
    for clusters, t in ((3, 4.303), (5, 2.776), (10, 2.262), (100, 1.984)):
        low, high = interval_ends(clusters)
        z = -statistics.NormalDist().inv_cdf(low) * math.sqrt((clusters - 1) / clusters)
        assert z == pytest.approx(t, rel=0.05 if clusters == 3 else 0.005)
        assert low + high == pytest.approx(1)
    assert interval_ends(1) == (0, 1)
    assert interval_ends(10**6)[0] == pytest.approx(0.025, abs=1e-5)


def test_effect_by_topic_by_hand():
    """Topics of 1 and 3 queries with sums 0 and 4: mean 1, residuals -1 and 1, deviation sqrt(2) 2 / 4."""
    assert paired_effect(np.array([0.0, 2.0, 1.0, 1.0]), np.array([0, 1, 1, 1])) == pytest.approx(math.sqrt(2))
    assert paired_effect(np.array([0.5, 1.0]), np.array([0, 0])) is None


def test_bootstrap_blocks_do_not_change_the_draws(monkeypatch):
    values = np.random.default_rng(0).random((3, 40))
    whole = bootstrap_means(values, 100, np.random.default_rng(2))
    monkeypatch.setattr("qbench.evaluation.significance._BLOCK_CELLS", 130)
    assert np.allclose(bootstrap_means(values, 100, np.random.default_rng(2)), whole, atol=1e-15)


def test_intervals_hold_the_mean_and_shrink_with_more_queries():
    widths = []
    for queries in (30, 480):
        means, pairs = summarise(
            Scores.from_frame(frame(random_scores("ab", queries))), SignificanceTests(resamples=500)
        )
        assert dict(means.schema) == mean_schema()
        assert dict(pairs.schema) == pair_schema()
        for table, middle in ((means, "mean"), (pairs, "difference")):
            assert (table["ci_low"] <= table[middle]).all()
            assert (table[middle] <= table["ci_high"]).all()
        widths.append(float((means["ci_high"] - means["ci_low"])[0]))
    assert widths[1] < widths[0] / 2


def test_one_system_has_means_and_no_pairs():
    means, pairs = summarise(Scores.from_frame(frame(random_scores("a", 10))), SignificanceTests(resamples=100))
    assert means.height == 1
    assert pairs.height == 0
    assert dict(pairs.schema) == pair_schema()


def test_progress_counts_pairs():
    told = []
    scores = Scores.from_frame(frame(random_scores("abc", 10)))
    summarise(
        scores, SignificanceTests(resamples=100), progress=lambda done, total=None, what="": told.append((done, total))
    )
    assert told == [(1, 3), (2, 3), (3, 3)]


@pytest.mark.parametrize("value", [float("nan"), float("inf"), None])
def test_a_score_that_is_no_number_is_an_error(value):
    with pytest.raises(InputError, match="score of b for query q1 is not a finite number"):
        Scores.from_frame(frame({"a": {"q1": 0.5}, "b": {"q1": value}}))


def test_scores_on_different_queries_are_an_error():
    with pytest.raises(InputError, match="need one score each"):
        Scores.from_frame(frame({"a": {"q1": 0.5, "q2": 0.1}, "b": {"q1": 0.5}}))
    twice = frame({"a": {"q1": 0.5, "q2": 0.1}, "b": {"q1": 0.5}})
    with pytest.raises(InputError, match="need one score each"):
        Scores.from_frame(pl.concat([twice, twice.tail(1)]))


def test_no_scores_is_an_error():
    with pytest.raises(InputError, match="no scores"):
        Scores.from_frame(frame({"a": {"q": 1.0}}).clear())


def test_too_few_resamples_is_an_error():
    with pytest.raises(OptionError, match="at least 100"):
        SignificanceTests(resamples=99)


def equal_systems(rng: np.random.Generator, topics: int, rho: float) -> tuple[np.ndarray, np.ndarray]:
    """Differences of two equal systems; queries of one topic correlate by rho, and topics have 1 to about 20."""
    clusters = np.repeat(np.arange(topics), rng.geometric(1 / 6, topics))
    effects, noise = rng.normal(0, 1, topics)[clusters], rng.normal(0, 1, clusters.size)
    return (math.sqrt(rho) * effects + math.sqrt(1 - rho) * noise)[None, :], clusters


def test_by_topic_the_test_keeps_its_level_where_queries_depend_on_each_other():
    """Of 400 experiments 20 reject at 5 %, and 42 is 5 sigma away. By query more than every fourth rejects."""
    rng = np.random.default_rng(11)
    by_topic = by_query = held = plain = 0
    for _ in range(400):
        differences, clusters = equal_systems(rng, 20, 0.4)
        by_topic += sign_flip_test(cluster_sums(differences, clusters), 199, rng)[0] <= 0.05
        by_query += sign_flip_test(differences, 199, rng)[0] <= 0.05
        draws = bootstrap_means(differences, 400, rng, clusters)[0]
        for ends in (interval_ends(20), (0.025, 0.975)):
            low, high = np.quantile(draws, ends)
            held += low <= 0 <= high and ends != (0.025, 0.975)
            plain += low <= 0 <= high and ends == (0.025, 0.975)
    assert by_topic <= 42
    assert by_query > 100
    # The interval holds the truth in about 94 %; without moving its ends outwards it would in fewer.
    assert 0.90 <= held / 400 <= 0.98
    assert plain <= held


def test_holm_over_topics_keeps_the_family():
    """Six pairs of four equal systems: at least one is significant in no more than about 5 % of experiments."""
    rng = np.random.default_rng(12)
    wrong = dict.fromkeys(("topic", "query"), 0)
    for _ in range(60):
        clusters = np.repeat(np.arange(25), rng.geometric(1 / 5, 25))
        values = rng.normal(0, 0.7, (4, 1, 25))[:, :, clusters] + rng.normal(0, 0.7, (4, 1, clusters.size))
        ids = tuple(f"q{i:03d}" for i in range(clusters.size))
        scores = Scores(tuple("abcd"), ("AP",), ids, values, tuple(f"t{t:02d}" for t in clusters))
        for by in ("topic", "query"):
            wrong[by] += bool(summarise(scores, SignificanceTests(by, 400))[1]["significant"].any())  # type: ignore[arg-type]
    assert wrong["topic"] <= 10
    assert wrong["query"] >= 20
