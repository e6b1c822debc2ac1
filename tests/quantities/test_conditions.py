"""Whether a quantity meets a condition: worked cases, and laws that hold for all numbers."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from qbench.errors import OptionError
from qbench.quantities.codes import comparator_codes
from qbench.quantities.conditions import BROKEN, MET, UNDECIDED, frame_verdicts, verdict, verdicts
from qbench.quantities.extractors import ExtractorOptions, extract_table, get_extractor
from qbench.quantities.types import COMPARATORS, Condition

EXTRACTOR = get_extractor(ExtractorOptions())
numbers = st.floats(-1e12, 1e12, allow_nan=False)


def condition(comparator, value, high=None, unit=""):
    units = EXTRACTOR.units
    high = value if high is None else high
    base = units.get(unit).base_unit
    return Condition(comparator, value, high, unit, base, units.to_base(value, unit), units.to_base(high, unit))


@pytest.mark.parametrize(
    ("text", "asked", "answer"),
    [
        ("5 kg", (">", 4, None, "kilogram"), "met"),
        ("5 kg", (">", 5, None, "kilogram"), "broken"),
        ("5 kg", (">=", 5, None, "kilogram"), "met"),
        ("2 lb", ("<", 1, None, "kilogram"), "met"),
        ("2 lb", (">", 0.9, None, "kilogram"), "met"),
        ("5 kg", (">", 4, None, "metre"), "broken"),
        ("more than 500 users", (">", 400, None, "user"), "met"),
        ("more than 500 users", (">", 500, None, "user"), "met"),
        ("more than 500 users", (">", 600, None, "user"), "undecided"),
        ("more than 500 users", ("<", 500, None, "user"), "broken"),
        ("more than 500 users", ("<=", 500, None, "user"), "broken"),
        ("at least 500 users", (">", 500, None, "user"), "undecided"),
        ("at most 500 users", ("<", 600, None, "user"), "met"),
        ("about 500 users", ("=", 500, None, "user"), "met"),
        ("5 to 8 kg", ("between", 4, 9, "kilogram"), "met"),
        ("5 to 8 kg", ("between", 6, 9, "kilogram"), "undecided"),
        ("5 to 8 kg", ("=", 5, None, "kilogram"), "undecided"),
        ("5 to 8 kg", ("!=", 9, None, "kilogram"), "met"),
        ("5 kg", ("!=", 5, None, "kilogram"), "broken"),
        ("5 kg", ("!=", 6, None, "kilogram"), "met"),
        ("fewer than 500 users", ("!=", 500, None, "user"), "met"),
    ],
)
def test_worked_cases(text, asked, answer):
    (quantity,) = EXTRACTOR.extract(text)
    assert verdict(quantity, condition(*asked)) == answer


def codes(value, asked):
    return verdicts(np.array([value]), np.array([value]), comparator_codes(["="]), asked)[0]


@given(numbers, numbers)
def test_a_plain_number_is_never_undecided(value, bound):
    for comparator in COMPARATORS:
        assert codes(value, condition(comparator, bound)) in (MET, BROKEN)


@given(numbers, numbers)
def test_comparators_complement_each_other(value, bound):
    assert codes(value, condition("=", bound)) == -codes(value, condition("!=", bound))
    assert codes(value, condition("<", bound)) == -codes(value, condition(">=", bound))
    assert codes(value, condition(">", bound)) == -codes(value, condition("<=", bound))


@given(numbers, numbers, numbers)
def test_an_open_mention_is_at_least_as_cautious_as_its_number(value, low, high):
    low, high = sorted((low, high))
    for bound in (">", "<", ">=", "<="):
        for comparator in COMPARATORS:
            asked = condition(comparator, low, high if comparator == "between" else None)
            got = verdicts(np.array([value]), np.array([value]), comparator_codes([bound]), asked)[0]
            if got == MET and bound in (">=", "<="):
                assert codes(value, asked) == MET
            if got == BROKEN and bound in (">=", "<="):
                assert codes(value, asked) == BROKEN


def test_columns_answer_as_pairs_do():
    texts = ["5 kg", "more than 5 kg", "5 to 8 kg", "2 lb", "5 metres", "at most 3 kg"]
    table = extract_table([str(i) for i in range(len(texts))], texts, EXTRACTOR)
    for comparator in COMPARATORS:
        asked = condition(comparator, 5, 7 if comparator == "between" else None, "kilogram")
        expected = [
            {"met": MET, "broken": BROKEN, "undecided": UNDECIDED}[verdict(EXTRACTOR.extract(t)[0], asked)]
            for t in texts
        ]
        assert frame_verdicts(table, asked).tolist() == expected


@pytest.mark.parametrize(
    "bad", [("≈", 1, 1), ("=", float("nan"), 1), ("between", 5, 4), (">", float("inf"), float("inf"))]
)
def test_senseless_conditions_are_refused(bad):
    with pytest.raises(OptionError):
        condition(*bad)


def test_conditions_come_back_from_dicts():
    asked = Condition("<", 2, 2, "pound-mass", "kilogram", 0.9, 0.9, ("laptop", "weight"), "2", "lb")
    assert Condition.from_dict(asked.to_dict()) == asked
