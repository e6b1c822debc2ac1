"""BIEO tags: there and back, and whatever a model writes."""

from __future__ import annotations

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from qbench.models.bieo import BEGIN, END, INSIDE, OUTSIDE, TAGS, segments_of, tags_of
from qbench.models.marked import window


@st.composite
def tokens(draw):
    """Spans of tokens in a text, with and without spaces between; some may not be tagged."""
    spans, place = [], 0
    for _ in range(draw(st.integers(0, 12))):
        place += draw(st.integers(0, 1))
        end = place + draw(st.integers(1, 3))
        spans.append((place, end) if draw(st.integers(0, 5)) else None)
        place = end
    return "x" * place, spans


@given(tokens(), st.data())
def test_segments_of_whole_tokens_come_back(drawn, data):
    text, spans = drawn
    segments, start = [], None
    for span in spans:
        what = data.draw(st.sampled_from("-+."))  # leave out, go on, begin anew
        if span is None or what == "-":
            start = None
        elif what == "+" and start is not None:
            segments[-1] = (start, span[1])
        else:
            start = span[0]
            segments.append(span)
    assert segments_of(text, spans, tags_of(spans, segments)) == tuple(segments)


@given(tokens(), st.data())
def test_any_tags_give_segments_in_order_apart_and_of_tagged_tokens(drawn, data):
    text, spans = drawn
    tags = data.draw(st.lists(st.integers(0, 3), min_size=len(spans), max_size=len(spans)))
    found = segments_of(text, spans, tags)
    assert all(start < end for start, end in found)
    assert all(one[1] <= other[0] for one, other in pairwise(found))
    held = {c for a, b in found for c in range(a, b)}
    marked = {c for span, tag in zip(spans, tags, strict=True) if span and tag != OUTSIDE for c in range(*span)}
    assert marked <= held
    # Nothing between two tokens that are apart from each other by an untagged one.
    for span, tag in zip(spans, tags, strict=True):
        if span and tag == OUTSIDE:
            assert not held & set(range(*span))


def test_what_a_model_may_write():
    text, spans = "ab cd ef", [(0, 2), (3, 5), (6, 8)]
    assert segments_of(text, spans, [INSIDE, INSIDE, OUTSIDE]) == ((0, 5),)
    assert segments_of(text, spans, [OUTSIDE, END, OUTSIDE]) == ((3, 5),)
    assert segments_of(text, spans, [BEGIN, INSIDE, INSIDE]) == ((0, 8),)
    assert segments_of(text, spans, [BEGIN, END, END]) == ((0, 8),)
    assert segments_of(text, [(0, 2), None, (6, 8)], [BEGIN, END, END]) == ((0, 2), (6, 8))


def test_tokens_with_a_space_at_the_front_and_bytes_of_one_letter():
    assert segments_of("a bc ", [(0, 1), (1, 4), (4, 5)], [OUTSIDE, BEGIN, BEGIN]) == ((2, 4),)
    assert segments_of("é!", [(0, 1), (0, 1), (1, 2)], [BEGIN, BEGIN, OUTSIDE]) == ((0, 1),)


def test_a_token_that_holds_more_than_the_segment_belongs_to_it():
    assert [TAGS[tag] for tag in tags_of([(0, 3), (3, 8), (8, 9)], [(2, 5)])] == ["B", "E", "O"]


@given(st.integers(0, 90), st.integers(0, 90), st.integers(0, 90), st.integers(1, 60))
def test_a_window_fills_the_room_and_prefers_the_pivot(before, pivot, after, room):
    left, middle, right = window(before, pivot, after, room)
    assert left + middle + right == min(room, before + pivot + after)
    assert middle == min(pivot, room)
    assert 0 <= left <= before
    assert 0 <= right <= after
    if min(before, after) >= (room - middle + 1) // 2:
        assert abs(left - right) <= 1
