"""Which numbers of a sentence are tied to others of it, and which values suit it."""

from __future__ import annotations

import numpy as np
import pytest

from qbench.generation.arithmetic import (
    AGAIN,
    ALIKE,
    COUNTED_APART,
    IN_TURNS,
    PORTION,
    RATED,
    RECKONED,
    SPREAD,
    Among,
)
from qbench.quantities.extractors import get_extractor

EXTRACTOR = get_extractor()


def among(text, value):
    mentions = EXTRACTOR.extract(text)
    position = next(number for number, mention in enumerate(mentions) if mention.value == value)
    return Among(text, mentions, position)


@pytest.mark.parametrize(
    ("text", "value", "reason"),
    [
        ("The scheme was taken up by 44 sailors (61%).", 44, PORTION),
        ("Scurvy was cured in 28 of 41 sailors.", 28, PORTION),
        ("The cook gave 20 mg of quinine, and again 20 mg of quinine after supper.", 20, AGAIN),
        ("The voyage lasted 9 weeks (weeks 0 to 9).", 9, AGAIN),
        ("We took aboard 120 sailors, 60 in each ship.", 120, COUNTED_APART),
        ("The crew had 75 sailors [n = 90; 15 cooks].", 75, COUNTED_APART),
        ("Of 60 sailors the oldest 30 went ashore.", 60, COUNTED_APART),
        ("In three ships of 8 cabins each there were 24 sailors.", 24, RECKONED),
        ("The 12 sailors were 5 cooks and 7 gunners.", 12, RECKONED),
        ("The 96 sailors were divided equally.", 96, RECKONED),
        ("The wool of the herd weighed 9 kg, and the whole load weighed 36 kg.", 9, RECKONED),
        ("Profit rose to $5 million from $4 million.", 5_000_000, ALIKE),
        ("The harbour had revenue of $8 million, and a year before its revenue was $3 million.", 8_000_000, ALIKE),
        ("Their average load was 75 kg (SD 8).", 75, SPREAD),
        ("The average weight was 26 ± 5 kg.", 26, SPREAD),
        ("Net income was $7 million, or 32 cents a share, and revenue was $90 million.", 7_000_000, RATED),
        ("Rent was $7 million, or $3 per share.", 7_000_000, RATED),
        ("Training took 4 weeks in 10 sessions, 3 times per week.", 4, IN_TURNS),
        ("The mean age of the boys was 12 years.", 12, IN_TURNS),
        ("Net income was $7 million, and revenue was $90 million.", 7_000_000, None),
        ("Training took 4 weeks.", 4, None),
        ("We took aboard 120 sailors in two ships.", 120, None),
        ("A response rate of 59 % was seen.", 59, None),
        ("Of 30 sailors who were asked 20 answered, a response rate of 67 %.", 67, RECKONED),
        ("A response rate of 59 % was seen, as 40 out of 90 sailors answered.", 59, RECKONED),
        ("Rope demand was 64 tonnes, hemp supply was 43 tonnes, and store sales were 20 tonnes.", 20, RECKONED),
        ("The premium of 10 % is over the price: $55 for hemp, $50 for flax.", 10, RECKONED),
        ("The cargo weighed 40 tonnes and cost $3 million.", 40, None),
    ],
)
def test_ties(text, value, reason):
    assert among(text, value).tie() == reason


@pytest.mark.parametrize(
    ("text", "value", "asked", "fitting"),
    [
        ("We took aboard 120 sailors.", 120, [2, 23, 30, 300, 700], [30, 300]),
        ("We took aboard 12 sailors.", 12, [3, 9, 10, 50], [10, 50]),
        ("We took aboard 40 sailors (of whom 45% could swim).", 40, [20, 25, 31, 60], [20, 31, 60]),
        ("Revenue was $5 million, and net income was $2 million.", 2_000_000, [1e6, 4e6, 6e6], [1e6, 4e6]),
        ("The mean age was 60 years.", 60, [20, 45, 80, 95], [45, 80]),
    ],
)
def test_other_values_keep_the_order_of_the_sentence(text, value, asked, fitting):
    number = among(text, value)
    base = np.array(asked, dtype=float) * number.mention.base_value / number.mention.value
    assert np.array(asked)[number.fitting(base)].tolist() == fitting


def test_a_table_is_never_changed():
    masses = ", ".join(
        f"cargo {name} was {value} kg" for name, value in zip("abcdefghijklmnop", range(103, 887, 49), strict=True)
    )
    assert among(f"The {masses}.", 103).tie() in (RECKONED, ALIKE)
