"""The compact letter display against its definition, for any graph and for groups that lie in a row."""

from __future__ import annotations

from itertools import combinations

from hypothesis import given, settings
from hypothesis import strategies as st

from qbench.evaluation.letters import compact_letters


@st.composite
def graphs(draw):
    n = draw(st.integers(1, 9))
    pairs = list(combinations(range(n), 2))
    return n, draw(st.sets(st.sampled_from(pairs))) if pairs else set()


@settings(max_examples=300, deadline=None)
@given(graphs(), st.randoms())
def test_two_share_a_group_if_and_only_if_they_are_the_same(graph, random):
    """Whatever the differences: nothing about them need be transitive."""
    n, same = graph
    turned = [pair if random.random() < 0.5 else pair[::-1] for pair in same]
    groups = compact_letters(n, turned)
    for a, b in combinations(range(n), 2):
        assert any(a in group and b in group for group in groups) == ((a, b) in same)
    assert set().union(*groups) == set(range(n))
    assert groups == sorted(map(sorted, groups))
    # No group can be left out.
    for group in groups:
        others = [other for other in groups if other is not group]
        assert len(group) == 1 or any(
            not any({a, b} <= set(other) for other in others) for a, b in combinations(group, 2)
        )


@settings(max_examples=200, deadline=None)
@given(st.lists(st.floats(0, 10), min_size=1, max_size=12), st.floats(0.1, 5))
def test_groups_in_a_row_are_the_fewest(values, width):
    """Items that are the same if they lie close enough: each longest stretch is a group, and there are no others."""
    values = sorted(values)
    n = len(values)
    same = [(a, b) for a, b in combinations(range(n), 2) if values[b] - values[a] <= width]
    reach = [max(b for b in range(n) if b == a or (a, b) in same) for a in range(n)]
    longest = [list(range(a, reach[a] + 1)) for a in range(n) if a == 0 or reach[a] > reach[a - 1]]
    assert compact_letters(n, same) == longest


def test_by_hand():
    assert compact_letters(3, [(0, 1), (1, 2)]) == [[0, 1], [1, 2]]
    assert compact_letters(3, []) == [[0], [1], [2]]
    # A ring of four: no three are the same.
    assert compact_letters(4, [(0, 1), (1, 2), (2, 3), (0, 3)]) == [[0, 1], [0, 3], [1, 2], [2, 3]]
    assert compact_letters(0, []) == []
