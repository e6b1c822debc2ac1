"""The scores of section 4.2: laws that they keep, whatever is predicted."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from qbench.errors import InputError
from qbench.mining.segment_scores import overlaps, partial, strict


@st.composite
def descriptions(draw):
    """Segments of one quantity, apart from each other."""
    places = sorted(draw(st.sets(st.integers(0, 30), max_size=8)))
    return list(zip(places[::2], places[1::2], strict=False))


pairs = st.lists(st.tuples(descriptions(), descriptions()), min_size=1, max_size=6)


def scored(mode, rows):
    return mode([one for one, _ in rows], [other for _, other in rows])


def brute_partial(predicted, gold):
    """Peer: sets of characters."""

    def right(one, others):
        sets = [set(range(*other)) for other in others]
        own = set(range(*one))
        return any(len(own & other) / len(own | other) > 1 / 3 + 1e-12 for other in sets)

    hits = [right(one, wanted) for given, wanted in zip(predicted, gold, strict=True) for one in given]
    found = [right(one, given) for given, wanted in zip(predicted, gold, strict=True) for one in wanted]
    return sum(hits) / max(len(hits), 1), sum(found) / max(len(found), 1)


@given(pairs)
def test_partial_is_what_sets_of_characters_say(rows):
    scores = scored(partial, rows)
    assert (scores.precision, scores.recall) == pytest.approx(brute_partial(*zip(*rows, strict=True)))


@given(pairs)
def test_partial_never_scores_less_than_strict(rows):
    lenient, exact = scored(partial, rows), scored(strict, rows)
    assert lenient.precision >= exact.precision
    assert lenient.recall >= exact.recall
    assert lenient.f1 >= exact.f1
    assert lenient.accuracy >= exact.accuracy


@pytest.mark.parametrize("mode", [strict, partial])
@given(rows=pairs)
def test_exchange_of_the_sides_exchanges_precision_and_recall(mode, rows):
    one, other = scored(mode, rows), scored(mode, [(b, a) for a, b in rows])
    assert (one.precision, one.recall, one.accuracy) == (other.recall, other.precision, other.accuracy)
    assert min(one.precision, one.recall) <= one.f1 + 1e-12
    assert one.f1 <= max(one.precision, one.recall) + 1e-12


@pytest.mark.parametrize("mode", [strict, partial])
@given(rows=pairs)
def test_gold_against_itself_is_perfect(mode, rows):
    scores = scored(mode, [(a, a) for a, _ in rows])
    segments = any(a for a, _ in rows)
    assert (scores.precision, scores.recall, scores.f1) == (segments, segments, segments)
    assert scores.accuracy == 1


def test_counts_segments_over_all_quantities_and_not_by_quantity():
    scores = strict([[(0, 1), (2, 3), (4, 5)], [(0, 1)]], [[(0, 1)], [(0, 1), (7, 9)]])
    assert (scores.precision, scores.recall) == (2 / 4, 2 / 3)
    assert scores.accuracy == 0


def test_a_third_of_the_union_is_too_little():
    assert not overlaps((0, 1), (0, 3))
    assert overlaps((0, 101), (0, 300))


def test_a_quantity_without_a_fact_counts_by_accuracy_and_by_false_segments():
    assert strict([[], [(0, 1)]], [[], [(0, 1)]]).accuracy == 1
    wrong = strict([[(3, 4)], [(0, 1)]], [[], [(0, 1)]])
    assert (wrong.precision, wrong.recall, wrong.accuracy) == (0.5, 1, 0.5)


def test_lists_of_different_lengths_are_an_error():
    with pytest.raises(InputError, match="different lengths"):
        strict([[]], [])
