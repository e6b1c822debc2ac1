"""Bind's parts against sums by hand, and its loops against the rules of conditions."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from qbench.quantities.codes import comparator_codes
from qbench.quantities.conditions import MET, verdicts
from qbench.quantities.types import COMPARATORS, MENTION_COMPARATORS, Condition
from qbench.scoring.binding import PARTS, Asked, Target, best_satisfying, entries_of, parts, satisfied
from qbench.scoring.binding_kernel import met
from qbench.scoring.records import AGE, BARE, COUNTED, OTHER, PLACES, YEAR, Mentions, Texts, records_of

numbers = st.one_of(st.integers(-4, 6).map(float), st.sampled_from([0.1, 0.3, 1e6, 1e6 + 1]))


@given(numbers, numbers, st.sampled_from(range(7)), st.sampled_from(range(7)), numbers, numbers)
def test_a_value_satisfies_what_the_rules_of_conditions_say(x, y, comparator, asked, a, b):
    low, high = sorted((x, y)) if MENTION_COMPARATORS[comparator] == "between" else (x, x)
    a, b = sorted((a, b)) if COMPARATORS[asked] == "between" else (a, a)
    condition = Condition(COMPARATORS[asked], a, b, "", "", a, b)
    mention = comparator_codes([MENTION_COMPARATORS[comparator]])
    expected = verdicts(np.array([low]), np.array([high]), mention, condition)[0] == MET
    assert met(low, high, comparator, asked, a, b) == expected


def mentions(rows, documents):
    """Mentions of (doc, base unit, kind, value, words by place [, comparator, change]), ascending by document."""
    docs = np.array([row[0] for row in rows], dtype=np.int64)
    words = [sorted(row[4].items()) for row in rows]
    values = np.array([row[3] for row in rows], dtype=np.float64)
    codes = [
        (row[1], row[2], MENTION_COMPARATORS.index((*row, "=")[5]), row[6] if len(row) > 6 else 0, -1) for row in rows
    ]
    return Mentions(
        starts=np.searchsorted(docs, np.arange(documents + 1)).astype(np.int64),
        codes=np.array(codes, dtype=np.int32).reshape(-1, 5),
        numbers=np.array([[value] * 4 + [1.0] for value in values], dtype=np.float64).reshape(-1, 5),
        word_starts=np.append(0, np.cumsum([len(some) for some in words])).astype(np.int64),
        words=np.array([4 * word + PLACES.index(place) for some in words for word, place in some], dtype=np.int32),
    )


def texts(*lists):
    starts = np.append(0, np.cumsum([len(some) for some in lists])).astype(np.int64)
    return Texts(starts, np.array([term for some in lists for term in some], dtype=np.int32))


def of_targets(*targets, bindings):
    return Asked(
        np.array([0, 1, 2], dtype=np.int32), np.zeros(3), np.zeros((3, 3)), targets, np.array(bindings, dtype=float)
    )


def scored(made, asked, docs):
    held = texts(*([] for _ in range(made.starts.size - 1)))
    rows = parts(records_of(made, held), asked, np.array(docs))
    return [dict(zip(PARTS, row.tolist(), strict=True)) for row in rows]


def above(value, base=0, kind=OTHER, **others):
    return Target(base, kind, ">", value, value, value, value, **others)


def test_the_value_that_the_words_name_by_hand():
    # Two phones: the first weighs 900 and costs 200, the second the other way round; "price (0) over 500", unit 0.
    made = mentions(
        [(0, 0, OTHER, 900.0, {1: "concept"}), (0, 0, OTHER, 200.0, {0: "concept"}),
         (1, 0, OTHER, 200.0, {1: "concept"}), (1, 0, OTHER, 900.0, {0: "near", 2: "near"})],
        2,
    )  # fmt: skip
    first, second = scored(made, of_targets(above(500), bindings=[[0.8, 0.0, 0.2]]), [0, 1])
    assert first["satisfied"] == second["satisfied"] == 1.0
    # 900 is not the price: no word binds it, and 0.15 / 1.15 is left; the price's own 200 has (0.8 + 0.15) / 1.15.
    assert first["binding"] == pytest.approx(0.15 / 1.15)
    assert first["ratio"] == pytest.approx(0.15 / 0.95)
    # Both words of the second stand near: 0.6 * (0.8 + 0.2).
    assert second["binding"] == pytest.approx((0.6 + 0.15) / 1.15)
    assert second["ratio"] == 1.0


def test_several_conditions_are_averaged():
    made = mentions([(0, 0, OTHER, 900.0, {0: "concept"}), (0, 1, OTHER, 3.0, {1: "unit"})], 1)
    (row,) = scored(made, of_targets(above(500), above(5, base=1), bindings=[[1, 0, 0], [0, 1, 0]]), [0])
    assert row["satisfied"] == row["ratio"] == 0.5
    assert row["binding"] == pytest.approx(0.5)


@pytest.mark.parametrize(
    ("mention", "target", "satisfying", "binding"),
    [
        ((0, COUNTED), above(5, base=1, kind=COUNTED), 0.7, 0.7),
        ((0, BARE), above(5, base=1, kind=COUNTED), 0.7, 0.7),
        ((0, COUNTED), above(5, base=1, kind=BARE), 0.7, 0.7),
        ((0, AGE), above(5, base=1, kind=YEAR), 0.6, 0.6),
        ((0, BARE), above(5, base=1, kind=OTHER), 0.0, 0.3 / 1.15),  # the words alone bind it
        ((0, OTHER), above(5, base=-1, kind=BARE), 0.0, 0.3 / 1.15),
        ((0, OTHER), above(5, base=1, kind=COUNTED), 0.0, 0.0),
        ((0, OTHER), above(5, base=-1), 0.0, 0.0),
    ],
)
def test_comparability_comes_in_tiers(mention, target, satisfying, binding):
    made = mentions([(0, *mention, 9.0, {0: "concept"})], 1)
    asked = of_targets(target, bindings=[[1, 0, 0]])
    (row,) = scored(made, asked, [0])
    assert row["satisfied"] == pytest.approx(satisfying)
    assert row["binding"] == pytest.approx(binding)
    assert satisfied(entries_of(made, 2), asked).tolist() == pytest.approx([satisfying])


def test_rates_are_compared_with_amounts_both_ways():
    # Unit 0 is dollars, unit 1 dollars per second: 20 a second are 100 in a period of 5 seconds.
    made = mentions([(0, 1, OTHER, 20.0, {}), (1, 0, OTHER, 100.0, {})], 2)
    made.codes[:, 4] = 0, -1
    made.numbers[:, 4] = 5.0, 1.0
    amount, rate = above(90), above(19, base=1, amount=0, amount_low=95.0, amount_high=95.0)
    for target, expected in ((amount, [0.8, 1.0]), (rate, [1.0, 0.8])):
        asked = of_targets(target, bindings=[[0, 0, 0]])
        assert [row["satisfied"] for row in scored(made, asked, [0, 1])] == pytest.approx(expected)
        assert satisfied(entries_of(made, 2), asked).tolist() == pytest.approx(expected)


def test_a_change_is_worth_half_of_a_level():
    made = mentions([(0, 0, OTHER, 9.0, {}, "=", 1)], 1)
    asked = [of_targets(above(5, change=change), bindings=[[0, 0, 0]]) for change in (0, 1, -1)]
    values = [scored(made, one, [0])[0]["satisfied"] for one in asked]
    assert values == [0.5, 1.0, 0.5]


def test_words_and_pairs_count_once():
    asked = Asked(
        np.array([4, 2], np.int32), np.array([0.75, 0.25]), np.array([[0.0, 0.9], [0.1, 0.0]]), (), np.empty((0, 2))
    )
    made = mentions([], 4)
    rows = parts(records_of(made, texts([4, 2, 4, 2], [2, 1, 4], [], [4, 4])), asked, np.array([0, 1, 2, 3]))
    np.testing.assert_allclose(rows[:, 0], [1.0, 1.0, 0.0, 0.75])
    np.testing.assert_allclose(rows[:, 1], [1.0, 0.0, 0.0, 0.0])
    assert not rows[:, 2:].any()
    assert satisfied(entries_of(made, 0), asked).tolist() == [0.0] * 4


def test_a_record_is_the_same_whatever_stands_before_it():
    held = texts([5], [0, 1, 2], [])
    made = mentions([(0, 0, OTHER, 1.0, {2: "near"}), (1, 0, OTHER, 7.0, {0: "unit", 1: "concept"})], 3)
    asked = replace(of_targets(above(5), bindings=[[0.5, 0.3, 0.2]]), words=np.array([0.5, 0.25, 0.25]))
    rows = parts(records_of(made, held), asked, np.array([2, 1, 0, 1]))
    alone = parts(records_of(made.alone(1), texts([0, 1, 2])), asked, np.array([0]))
    np.testing.assert_array_equal(rows[[1, 3]], np.repeat(alone, 2, axis=0))
    assert rows[1].tolist() == pytest.approx([1.0, 0.0, 1.0, 0.95 / 1.15, 1.0])
    assert not rows[[0, 2]].any()


KINDS = [OTHER, COUNTED, BARE, AGE, YEAR, COUNTED]
"""Of each base unit; the last is that of a unit that no mention has, too."""

rows_of_mentions = st.lists(
    st.tuples(
        st.integers(0, 3), st.integers(0, 5), numbers,
        st.dictionaries(st.integers(0, 2), st.sampled_from(PLACES), max_size=3),
        st.sampled_from(["=", "~", "<", "<=", ">", ">="]), st.sampled_from([-1, 0, 1]),
    ),
    max_size=12,
)  # fmt: skip
targets = st.builds(
    lambda base, comparator, x, y, change: Target(
        base, KINDS[base], comparator, *(sorted((x, y)) if comparator == "between" else (x, x)) * 2, change
    ),
    st.integers(-1, 5), st.sampled_from(COMPARATORS),
    numbers, numbers, st.sampled_from([-1, 0, 1]),
)  # fmt: skip


@settings(max_examples=200)
@given(rows_of_mentions, st.lists(targets, min_size=1, max_size=3))
@example(
    rows=[*[(0, 0, 0.0, {}, "=", -1)] * 6, (1, 1, 0.0, {}, "=", -1), (1, 1, 0.0, {}, "=", 0), (3, 2, 0.0, {}, "=", -1)],
    asked_targets=[
        Target(base, KINDS[base], "=", 0.0, 0.0, 0.0, 0.0, change) for base, change in ((0, -1), (1, -1), (2, 0))
    ],
)
def test_all_documents_at_once_give_what_each_gives(rows, asked_targets):
    made = mentions(sorted(((*row[:2], KINDS[row[1]], *row[2:]) for row in rows), key=lambda row: row[0]), 4)
    asked = of_targets(*asked_targets, bindings=np.full((len(asked_targets), 3), 1 / 3))
    each = scored(made, asked, range(4))
    means = satisfied(entries_of(made, 6), asked)
    np.testing.assert_allclose(means, [row["satisfied"] for row in each], rtol=1e-6)
    sums = np.array([0.0, 0.5, 0.0, 2.0])
    for weight in (2.0, 9.0):
        rough = sums + weight * means  # in the precision of `means`, which decides between sums that are nearly equal
        for k in (1, 2, 3):
            best = best_satisfying(sums, 2.0, entries_of(made, 6), asked, weight, k)
            assert best.tolist() == sorted(np.argsort(-rough, kind="stable")[: min(k, np.count_nonzero(rough))])
            assert sums.tolist() == [0.0, 0.5, 0.0, 2.0]
    assert all(0 <= row[part] <= 1 + 1e-12 for row in each for part in PARTS)


@pytest.mark.parametrize("comparator", ["<", ">", "=", "!="])
@pytest.mark.parametrize("k", [1, 40, 5000])
def test_the_best_of_a_large_corpus_are_those_of_all_scores(comparator, k, monkeypatch):
    rng = np.random.default_rng(7)
    docs, bases = np.sort(rng.integers(0, 30_000, 3000)).tolist(), rng.integers(0, 3, 3000).tolist()
    values, changes = rng.integers(0, 50, 3000).tolist(), rng.integers(-1, 2, 3000).tolist()
    rows = [
        (doc, base, KINDS[base], float(value), {}, "=", change)
        for doc, base, value, change in zip(docs, bases, values, changes, strict=True)
    ]
    entries = entries_of(mentions(rows, 30_000), 6)
    asked = of_targets(Target(1, KINDS[1], comparator, 20.0, 20.0, 20.0, 20.0, 0), bindings=np.full((1, 3), 1 / 3))
    sums = np.where(rng.random(30_000) < 0.5, rng.integers(0, 400, 30_000) / 8, 0.0)
    # From the scores of all documents, the lower document first of equal ones.
    expected = np.sort(np.argsort(-(sums + 90.0 * satisfied(entries, asked).astype(float)), kind="stable")[:k])
    monkeypatch.setattr("qbench.scoring.binding._satisfying", lambda *_: pytest.fail("the general way"))
    assert best_satisfying(sums, float(sums.max()), entries, asked, 90.0, k).tolist() == expected.tolist()
