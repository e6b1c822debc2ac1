"""The same-value rule, case by case, and the search by sorted values against the rule itself."""

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from qbench.errors import OptionError
from qbench.mining.same_value import DIFFERENT, SAME, UNDECIDED, Values, agreeing, compare
from qbench.quantities.extractors import get_extractor


def table(*texts):
    """Quantities as one writes them, as a table of descriptions."""
    extractor = get_extractor()
    rows = []
    for text in texts:
        (q,) = extractor.extract(text)
        rows.append({name: getattr(q, name) for name in COLUMNS})
    return pl.DataFrame(rows)


COLUMNS = ("value", "high", "comparator", "change", "unit", "family", "base_unit", "base_value", "base_high", "digits")


@pytest.mark.parametrize(
    ("one", "other", "expected", "digits"),
    [
        ("sales of $4,587 million", "sales of $4,587,000,000", SAME, 4),
        ("sales of $4.59 billion", "sales of $4,587 million", SAME, 3),
        ("sales of $4.58 billion", "sales of $4,587 million", DIFFERENT, 0),
        ("sales of $4.6 billion", "sales of $4,587 million", UNDECIDED, 0),  # two digits are too few
        ("a share of 0.125 of sales", "a share of 12.5% of sales", SAME, 3),
        ("a share of 0.137 of sales", "a share of 12.5% of sales", DIFFERENT, 0),
        ("a factor of 1.25", "a share of 125% of sales", UNDECIDED, 0),  # from 1 on a bare number is no share
        ("a weight of 45.9 kg", "a weight of 45.87 kg", UNDECIDED, 0),  # written below 1,000: not taken for rounded
        ("a road of 4.59 km", "a road of 4,587 m", SAME, 3),
        ("a price of $5", "a price of $5", UNDECIDED, 0),
        ("a price of $5", "a price of $6", DIFFERENT, 0),
        ("a road of 1.25 km", "a road of 1,250 m", SAME, 3),
        ("a weight of 12.5 kg", "a road of 12.5 km", UNDECIDED, 0),  # may be the same number, with a unit misread
        ("a weight of 12.5 kg", "a road of 47 km", DIFFERENT, 0),
        ("sales of $4,587", "sales of $4.587 billion", UNDECIDED, 0),  # a table in millions
        ("sales of $4,587", "sales of $458.7 billion", DIFFERENT, 0),  # but in no power of a thousand
        ("a share of 12.5%", "a share of 12.5 percent", SAME, 3),
        ("about $4,587 million", "sales of $4,587 million", UNDECIDED, 0),
        ("more than $4,587", "sales of $4,587", UNDECIDED, 0),
        ("Sales rose $4,587 million.", "sales of $4,587 million", UNDECIDED, 0),  # a change is no level
    ],
)
def test_the_rule(one, other, expected, digits):
    values = Values.of(table(one, other))
    for a, b in ((0, 1), (1, 0)):
        result, agreed = compare(values, np.array([a]), np.array([b]))
        assert (int(result[0]), int(agreed[0])) == (expected, digits)


def test_a_lower_bar_lets_two_digits_count():
    values = Values.of(table("sales of $4.6 billion", "sales of $4,587 million"))
    result, digits = compare(values, np.array([0]), np.array([1]), least=2)
    assert (int(result[0]), int(digits[0])) == (SAME, 2)
    result, digits = compare(values, np.array([0]), np.array([1]), rounded=2)
    assert (int(result[0]), int(digits[0])) == (SAME, 2)
    short = Values.of(table("sales of $4.6 billion", "sales of $4.6 billion"))
    assert int(compare(short, np.array([0]), np.array([1]), rounded=2)[0][0]) == UNDECIDED
    with pytest.raises(OptionError, match="at least one digit"):
        compare(values, np.array([0]), np.array([1]), least=0)


def records(values, units, digits):
    count = len(values)
    return pl.DataFrame(
        {
            "value": values,
            "high": values,
            "comparator": ["="] * count,
            "change": [""] * count,
            "unit": units,
            "family": units,
            "base_unit": units,
            "base_value": values,
            "base_high": values,
            "digits": digits,
        },
        schema_overrides={"value": pl.Float64, "base_value": pl.Float64, "high": pl.Float64},
    )


RECORD = st.tuples(st.integers(100, 99_999), st.sampled_from(["kilogram", "dollar"]), st.integers(-3, 6))


@given(st.lists(RECORD, min_size=1, max_size=30), st.integers(1, 4), st.none() | st.integers(1, 4))
def test_the_search_finds_what_the_rule_says(items, least, rounded):
    found = records(
        [n * 10.0**power for n, _, power in items],
        [unit for _, unit, _ in items],
        [len(str(n).rstrip("0")) for n, _, _ in items],
    )
    values, everyone = Values.of(found), np.arange(len(items))
    pairs = agreeing(found, everyone, least=least, rounded=rounded)
    expected = [
        (i, j)
        for i in everyone
        for j in everyone
        if i != j and compare(values, np.array([i]), np.array([j]), least=least, rounded=rounded)[0][0] == SAME
    ]
    assert list(zip(pairs["query_row"], pairs["doc_row"], strict=True)) == expected


def test_a_value_that_too_many_share_is_left_out():
    found = records([125.0] * 50 + [126.0, 126.0], ["dollar"] * 52, [3] * 52)
    assert set(agreeing(found, np.arange(52), most=10)["query_row"]) == {50, 51}
    assert agreeing(found, np.arange(52)).height == 50 * 49 + 2


def test_a_number_like_a_year_says_nothing():
    found = records([1985.0, 1985.0, 1985.5, 1985.5, 2985.0, 2985.0], ["dollar"] * 6, [4, 4, 5, 5, 4, 4])
    assert set(agreeing(found, np.arange(6), least=4)["query_row"]) == {2, 3, 4, 5}


def test_only_large_numbers_are_taken_for_rounded():
    found = records([101.0, 101.25, 101_000.0, 101_250.0], ["dollar"] * 4, [3, 5, 3, 5])
    assert [tuple(row) for row in agreeing(found, np.arange(4)).iter_rows()] == [(2, 3, 3), (3, 2, 3)]
    values = Values.of(found)
    assert compare(values, np.array([0]), np.array([1]))[0][0] == UNDECIDED


def test_nothing_agrees_with_zero_or_nan():
    found = records([0.0, 0.0, float("nan"), float("nan")], ["dollar", "kilogram"] * 2, [3] * 4)
    assert agreeing(found, np.arange(4)).is_empty()
    both = np.arange(4)
    assert set(compare(Values.of(found), both, both[::-1])[0].tolist()) == {UNDECIDED}
