"""Stratified samples: the same for a seed, nested, in proportion, one label of each query in turn."""

from __future__ import annotations

from collections import Counter

from hypothesis import given
from hypothesis import strategies as st

from qbench.annotation.drawing import draw, seats

LABELS = st.dictionaries(
    st.text("abcdefgh", min_size=1, max_size=4),
    st.lists(st.integers(0, 99).map(str), max_size=6, unique=True),
    max_size=12,
)
SIZES = st.dictionaries(st.sampled_from("abcdef"), st.tuples(st.integers(1, 50), st.integers(1, 60)), min_size=1)


def strata_of(labels):
    return {query: query[0] for query in labels}


@given(LABELS, st.integers(0, 40), st.integers(0, 5))
def test_a_sample_is_of_the_labels_each_once_and_as_large_as_they_allow(labels, number, seed):
    sample = draw(labels, strata_of(labels), number, seed)
    whole = [(query, one) for query, some in labels.items() for one in some]
    assert len(sample) == len(set(sample)) == min(number, len(whole))
    assert set(sample) <= set(whole)


@given(LABELS, st.integers(0, 20), st.integers(0, 20), st.integers(0, 5))
def test_a_larger_sample_holds_the_smaller_one(labels, number, more, seed):
    strata = strata_of(labels)
    assert draw(labels, strata, number + more, seed)[:number] == draw(labels, strata, number, seed)[:number]


@given(LABELS, st.integers(1, 30), st.randoms(use_true_random=False))
def test_the_order_of_the_labels_is_of_no_account(labels, number, random):
    strata = strata_of(labels)
    names = list(labels)
    random.shuffle(names)
    shuffled = {name: random.sample(labels[name], len(labels[name])) for name in names}
    assert draw(labels, strata, number, 3) == draw(shuffled, strata, number, 3)


@given(LABELS, st.integers(1, 40))
def test_queries_of_a_stratum_take_turns(labels, number):
    """While a query of the stratum has labels left, none gets two more than it."""
    strata = strata_of(labels)
    drawn = Counter(query for query, _ in draw(labels, strata, number, 1))
    for query, some in labels.items():
        for other in labels:
            if some and strata[query] == strata[other] and drawn[query] < len(some):
                assert drawn[other] <= drawn[query] + 1


@given(SIZES, st.integers(1, 100))
def test_shares_are_in_proportion_where_nothing_runs_out(sizes, number):
    sizes = {name: (weight, 1000) for name, (weight, _) in sizes.items()}
    got = Counter(seats(sizes, number))
    total = sum(weight for weight, _ in sizes.values())
    for name, (weight, _) in sizes.items():
        for other, (rival, _) in sizes.items():
            # Webster: no draw would be nearer to the shares in another stratum's hands.
            assert rival * (2 * got[name] - 1) <= weight * (2 * got[other] + 1) or not got[name]
        assert abs(got[name] - number * weight / total) < max(1, len(sizes) / 2)


@given(SIZES, st.integers(1, 400))
def test_nothing_gives_more_than_it_has(sizes, number):
    got = Counter(seats(sizes, number))
    assert all(got[name] <= most for name, (_, most) in sizes.items())
    assert got.total() == min(number, sum(most for _, most in sizes.values()))


def test_another_seed_draws_others():
    labels = {f"q{n}": ["a", "b"] for n in range(40)}
    strata = dict.fromkeys(labels, "")
    samples = {tuple(draw(labels, strata, 10, seed)) for seed in range(20)}
    assert len(samples) == 20


def test_every_query_is_as_likely_as_any_other():
    """A query with many labels is drawn no more often than one with a single label."""
    labels = {f"q{n}": [str(i) for i in range(1 if n < 5 else 50)] for n in range(10)}
    strata = dict.fromkeys(labels, "")
    few = sum(query in ("q0", "q1", "q2", "q3", "q4") for s in range(400) for query, _ in draw(labels, strata, 1, s))
    assert 150 < few < 250


def test_queries_of_a_topic_stand_apart():
    labels = {f"q{n}": ["a"] for n in range(40)}
    topics = {f"q{n}": "fares" if n < 20 else f"topic {n}" for n in range(40)}
    strata = dict.fromkeys(labels, "")
    for seed in range(10):
        for number in (10, 20, 30):
            drawn = draw(labels, strata, number, seed, topics=topics)
            fares = sum(topics[query] == "fares" for query, _ in drawn)
            assert number / 2 - 6 <= fares <= number / 2 + 6
        for number in (4, 12, 24):
            assert draw(labels, strata, number + 6, seed, topics=topics)[:number] == draw(
                labels, strata, number, seed, topics=topics
            )


def test_large_topics_have_their_share():
    labels = {f"q{n}": ["a"] for n in range(10)}
    topics = {f"q{n}": "fares" if n < 5 else "" for n in range(10)}
    strata = dict.fromkeys(labels, "")
    fares = sum(topics[query] == "fares" for s in range(200) for query, _ in draw(labels, strata, 4, s, topics=topics))
    assert 0.45 < fares / 800 < 0.55


def test_one_text_is_drawn_once():
    labels = {f"q{n}": [f"{n} a", f"{n} b"] for n in range(6)}
    texts = {one: "same" if one.endswith("a") else one for some in labels.values() for one in some}
    drawn = draw(labels, dict.fromkeys(labels, ""), 50, 1, texts=texts)
    assert sorted(texts[one] for _, one in drawn) == ["0 b", "1 b", "2 b", "3 b", "4 b", "5 b", "same"]
