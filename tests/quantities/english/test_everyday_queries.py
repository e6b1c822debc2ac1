"""Everyday queries are read as a person reads them: see `everyday`."""

import pytest

from tests.quantities.english.everyday import FILES, faults, load

RIGHT = (
    60, 60, 59, 60, 59, 60, 60, 60, 60, 60, 60, 60, 59, 59, 59, 60, 59, 59, 60, 60,
    59, 60, 60, 60, 60, 60, 60, 60, 60, 58, 59, 60, 60, 60, 59, 60, 60, 60, 59, 60,
    60, 60, 60, 60, 57, 58, 59, 59, 60, 56, 59, 58, 59, 59, 57, 59, 59, 58, 59, 60,
    59, 58, 59, 57, 59, 59,
)  # fmt: skip
"""How many queries of each file are read wholly right at least."""


@pytest.mark.parametrize(("name", "right"), zip(FILES, RIGHT, strict=True))
def test_most_are_wholly_right(name, right):
    cases = load(name)
    wrong = {case.query: found for case in cases if (found := faults(case))}
    assert len(cases) - len(wrong) >= right, wrong


def test_a_wrong_reading_is_noticed():
    case = load(FILES[0])[0]
    assert faults(case) == []
    other = load(FILES[0])[1]
    mixed = type(case)(other.query, case.words, case.loose, case.conditions)
    assert faults(mixed) != []
