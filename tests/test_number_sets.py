"""Sets of rows, by flags and by sorting."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from qbench.number_sets import MANY, in_both, in_several, sorted_set, sorted_set_below

NUMBERS = st.lists(st.integers(0, 99), max_size=30)


@given(NUMBERS, st.sampled_from([np.int32, np.int64]))
def test_each_number_once_whatever_the_size_of_the_whole(numbers, kind):
    rows = np.array(numbers, dtype=kind)
    expected = np.unique(rows).astype(np.int64)
    for size in (100, 100 * MANY * 30):  # flags, and sorting
        found = sorted_set_below(rows, size)
        assert found.dtype == np.int64
        assert found.tolist() == expected.tolist()
    assert sorted_set(rows).tolist() == expected.tolist()


@given(st.lists(NUMBERS, max_size=4), st.integers(1, 3))
def test_what_is_in_several(lists, least):
    sets = [np.unique(np.array(each, dtype=np.int32)) for each in lists]
    expected = [number for number in range(100) if sum(number in some for some in sets) >= least]
    for size in (100, 100 * MANY * 120):
        found = in_several(sets, least, size)
        assert found.dtype == np.int64
        assert found.tolist() == expected


@given(NUMBERS, NUMBERS)
def test_what_is_in_both(a, b):
    one, other = (np.unique(np.array(each, dtype=np.int64)) for each in (a, b))
    assert in_both(one, other).tolist() == np.intersect1d(one, other).tolist()
