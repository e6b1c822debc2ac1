"""Money by what another amount beside it is by."""

import pytest

from qbench.quantities.extractors import ExtractorOptions, get_extractor

RULES = get_extractor(ExtractorOptions())


def read(text):
    return [(quantity.high, quantity.unit) for quantity in RULES.extract(text)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        # a change of the rate, and what a change leads to
        ("Crude rose 50 cents to $18 a barrel.", [(50, "cent per barrel"), (18, "dollar per barrel")]),
        ("Wheat was 2.61 dlrs a bushel, up four cents.", [(2.61, "dollar per bushel"), (4, "cent per bushel")]),
        ("The fee is $15 an hour, $2 less than before.", [(15, "dollar per hour"), (2, "dollar per hour")]),
        ("The dividend rose 2 cents from 35 cents a share.", [(2, "cent per share"), (35, "cent per share")]),
        # one more level of the same thing
        ("The spread was 19 cts a bushel and widened to 31 cts.", [(19, "cent per bushel"), (31, "cent per bushel")]),
        (
            "Tin was $4 a pound and traded between $3 and $5.",
            [(4, "dollar per pound-mass"), (5, "dollar per pound-mass")],
        ),
        # what it is compared with
        ("The cost was $1.20 a mile versus $1.05.", [(1.2, "dollar per mile"), (1.05, "dollar per mile")]),
        (
            "A loss of EUR 0.05 per share compared with a profit of EUR 0.11.",
            [(0.05, "euro per share"), (0.11, "euro per share")],
        ),
        (
            "It made $2 million, or 40 cents a share, against $1 million, or 21 cents.",
            [(2e6, "dollar"), (40, "cent per share"), (1e6, "dollar"), (21, "cent per share")],
        ),
        # other things, other money, sums
        ("The plan costs $5 per user plus a $10 setup fee.", [(5, "dollar per user"), (10, "dollar")]),
        ("The room costs $90 per night, and breakfast is $12.", [(90, "dollar per night"), (12, "dollar")]),
        ("The room costs $90 per night, up to $200.", [(90, "dollar per night"), (200, "dollar")]),
        ("The fee was $5 per user and rose to $100.", [(5, "dollar per user"), (100, "dollar")]),
        ("Tin fell to $4 a pound, down €1.", [(4, "dollar per pound-mass"), (1, "euro")]),
        ("Sales were $4 a head, up $3 million.", [(4, "dollar per head"), (3e6, "dollar")]),
        ("Tin was $4 a pound. It rose $1.", [(4, "dollar per pound-mass"), (1, "dollar")]),
        (
            "It made 40 cents a share and $1 million, or 21 cents.",
            [(40, "cent per share"), (1e6, "dollar"), (21, "cent")],
        ),
    ],
)
def test_money_is_by_what_the_amount_beside_it_is_by(text, expected):
    assert read(text) == expected
