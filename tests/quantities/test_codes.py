"""Codes of comparators and changes, those that no table should have among them."""

import numpy as np
import polars as pl
import pytest

from qbench.quantities.codes import UNKNOWN, change_signs, comparator_codes
from qbench.quantities.conditions import BROKEN, MET, UNDECIDED, verdicts
from qbench.quantities.types import MENTION_COMPARATORS, Condition


@pytest.mark.parametrize("dtype", [pl.String, pl.Categorical, pl.Enum(["", "up", "down", "rise"])])
def test_a_column_has_the_codes_of_its_strings(dtype):
    names = ["", "up", "rise", None, "down"]
    column = pl.Series(names, dtype=dtype)
    for codes in (change_signs(column), change_signs(names)):
        assert codes.dtype == np.int8
        assert codes.tolist() == [0, 1, UNKNOWN, UNKNOWN, -1]


def test_comparators_are_their_places():
    assert comparator_codes(MENTION_COMPARATORS).tolist() == list(range(len(MENTION_COMPARATORS)))
    assert comparator_codes(pl.Series(["=", "=="])).tolist() == [0, UNKNOWN]
    assert comparator_codes(pl.Series([], dtype=pl.String)).tolist() == []
    assert comparator_codes(pl.Series([None], dtype=pl.Null)).tolist() == [UNKNOWN]


@pytest.mark.parametrize(("asked", "expected"), [("", UNDECIDED), ("up", BROKEN), ("down", BROKEN)])
def test_an_unknown_change_is_none_that_is_asked_for(asked, expected):
    condition = Condition("=", 5.0, 5.0, "", "", 5.0, 5.0, change=asked)
    one = np.array([5.0])
    assert verdicts(one, one, comparator_codes(["="]), condition, change_signs(["rise"])) == [expected]
    assert verdicts(one, one, comparator_codes(["="]), condition, change_signs([asked])) == [MET]


def test_strings_are_refused():
    one = np.array([5.0])
    with pytest.raises(TypeError, match="comparator_codes"):
        verdicts(one, one, np.array([">"], dtype=object), Condition("<", 10.0, 10.0, "", "", 10.0, 10.0))
