"""Numbers as people write them, in sentences of our own: digits, words, magnitudes, fractions, powers, signs."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from qbench.quantities.english.amounts import AmountFinder
from qbench.quantities.english.numbers import Number, read_number, significant_digits
from qbench.quantities.english.ranges import join
from qbench.quantities.english.tokens import glued, tokenize
from qbench.quantities.units import load_units

FINDER = AmountFinder(load_units())


def amounts(text):
    tokens = tokenize(text)
    return [a for a in join(tokens, FINDER.find(tokens, text)) if not a.year]


def values(text):
    return [(a.low, a.high) if a.is_range else a.low for a in amounts(text)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        # magnitudes around currencies, figures that a text has parted
        ("75 USD million", [75e6]),
        ("MUSD 5 and 30 MEUR", [5e6, 30e6]),
        ("mSEK 7, TEUR 3", [7e6, 3000]),
        ("EUR4 .5 m", [4.5e6]),
        ("EUR 3 million USD 4.3 m", [3e6, 4.3e6]),
        ("EUR -24.9 mn", [-24.9e6]),
        ("a three-mln dlr cost", [3e6]),
        ("a loss of (1,234)", [1234]),
        # powers whose raise is lost
        ("5 × 10 6 cells", [5e6]),
        ("3 × 10 −4 kg", [3e-4]),
        ("10 −4 M", [1e-4]),
        ("10 - 4 = 6", [10, 4, 6]),
        # fractions
        ("one fifth of it", [0.2]),
        ("by one fifth in a year", [0.2]),
        ("37/53 boats", [37, 53]),
        # separators
        ("1,200 boats", [1200]),
        ("1,234,567.5 kg", [1234567.5]),
        ("1\u2009200\u2009000 boats", [1.2e6]),
        ("40\u202f000 boats", [40000]),
        ("75\u00a0000 boats", [75000]),
        ("50 000 boats and 2 000 000 more", [50000, 2e6]),
        ("1,00,000 rupees", [1e5]),
        ("12,34,567 rupees", [1234567]),
        ("1.200,50 euros", [1200.5]),
        (".500 inches", [0.5]),
        ("13000 boats", [13000]),
        ("2.300.000 boats", [2.3e6]),
        ("the 1.200.300 and 1.2.3 releases", [1200300]),
        ("the host 192.168.100.200", []),
        ("a town of 12 500 people", [12500]),
        ("it covers 1 234 567 square metres", [1234567]),
        ("costs of EUR 12 500", [12500]),
        ("it holds 1 250 000 euros", [1.25e6]),
        ("it costs 1 299 €, now 999 €", [1299, 999]),
        ("a set for 12 500 SEK", [12500]),
        ("the Nexa 11 128 €", [128]),
        ("a tablet 11 128 €", [11, 128]),
        ("prices from 1 200 to 1 500 €", [(1200, 1500)]),
        ("either 1 200 or 1 500 people", [1200, 1500]),
        ("between 5 300 and 600", [5, 300, 600]),
        ("the Nexa 11 128 GB", [128]),
        ("12 500 g bags", [12, 500]),
        ("rows 5 120 340 300 600", [5, 120, 340, 300, 600]),
        # decimal points at half height and decimal commas
        ("a ratio of 0·76", [0.76]),
        ("50·3% (48·1–52·5)", [50.3, (48.1, 52.5)]),
        ("1.2·10^6 cells", [1.2e6]),
        ("5·10−3 kg", [5e-3]),
        ("it costs 5,99 EUR", [5.99]),
        ("it costs €7,5 million", [7.5e6]),
        ("1,5 million readers", [1.5e6]),
        ("a bag of 2,5 kg", [2.5]),
        ("3,2 % of them", [3.2]),
        ("cells 1,2 and 3", [1, 2, 3]),
        ("cells 1,2,3 kg", [1, 2, 3]),
        # a number said twice
        ("thirty (30) days", [30]),
        ("three (3) million shares", [3e6]),
        ("five million (5,000,000) shares", [5e6]),
        ("3 (three) boats", [3]),
        ("five (6) boats", [5, 6]),
        ("eighty‐one boats", [81]),
        # weeks and days, and prices for buying and selling
        ("scans at 16+0 to 18+6 weeks", [(16, 18.8571)]),
        ("it scored 16+2 points", [16, 2]),
        ("quoted at 1.6175/85", [(1.6175, 1.6185)]),
        ("quoted at 1.8295/05", [(1.8295, 1.8305)]),
        ("at 145.80/90 yen", [(145.8, 145.9)]),
        ("0.25/35 mg", [0.25, 35]),
        ("gold at 418.10/60 in Utopia", [(418.1, 418.6)]),
        ("at least EUR10 ,000", [10_000]),
        ("about euro1 .6 billion", [1.6e9]),
        ("there were 26 885 540.", [26_885_540]),
        ("2.5+million shares", [2.5e6]),
        # Unicode digits are digits
        ("\u0663\u0665 kg", [35]),
        ("\uff15\uff10 kg", [50]),
        # magnitudes
        ("$3.5mn", [3.5e6]),
        ("a 25k crowd", [25000]),
        ("4.3M readers", [4.3e6]),
        ("35m users", [35e6]),
        ("8 B people", [8e9]),
        ("a pool of 35m", [35]),
        ("INR1 trillion", [1e12]),
        ("USD10m", [1e7]),
        ("RM23.50", [23.5]),
        ("3 lakh crore rupees", [3e12]),
        ("5 lacs", [5e5]),
        ("5 millions", [5e6]),
        ("3 dozens of eggs", [36]),
        ("3 million and a half", [3.5e6]),
        # signs
        ("-5 kg", [-5]),
        ("\u22125 kg", [-5]),
        ("minus 5 degrees", [-5]),
        ("minus-45 degrees", [-45]),
        ("a loss of $-50.8bn", [-50.8e9]),
        ("-$4 million", [-4e6]),
        ("($1,062)", [1062]),
        ("+5%", [5]),
        ("plus or minus 5 kg", [5]),
        ("sub-9 micron", [9]),
        # powers
        ("1.2 x 10^6 cells", [1.2e6]),
        ("3.5\u00d710\u22124 kg", [3.5e-4]),
        ("5 \u00d7 10\u207b\u00b3 kg", [5e-3]),
        ("6 \u00d7 106 kg", [6e6]),
        ("4 \u00d7 100 m", [4, 100]),
        ("10\u2079 cells", [1e9]),
        ("10^9 cells", [1e9]),
        ("3e-5 kg", [3e-5]),
        ("2.5E+06 kg", [2.5e6]),
        # fractions
        ("5 1/2 hours", [5.5]),
        ("22-1/2 dlrs", [22.5]),
        ("½ hour", [0.5]),
        ("2½ hours", [2.5]),
        ("3/4 inch", [0.75]),
        ("2 and a half hours", [2.5]),
    ],
)
def test_digits(text, expected):
    got = values(text)
    assert len(got) == len(expected)
    for g, e in zip(got, expected, strict=True):
        assert g == pytest.approx(e, rel=1e-12)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("twenty-five thousand seats", [25000]),
        ("one hundred and five seats", [105]),
        ("a hundred and fifty thousand seats", [150000]),
        ("two million five hundred thousand seats", [2.5e6]),
        ("twenty-five hundred seats", [2500]),
        ("two and a half hours", [2.5]),
        ("three and three quarters hours", [3.75]),
        ("one and a half million", [1.5e6]),
        ("a million and a half", [1.5e6]),
        ("two million and one half", [2.5e6]),
        ("two point five million", [2.5e6]),
        ("half a dozen eggs", [6]),
        ("a half-dozen eggs", [6]),
        ("half a million", [5e5]),
        ("a dozen eggs", [12]),
        ("two dozen eggs", [24]),
        ("a third of them", [1 / 3]),
        ("a quarter of the votes", [1 / 4]),
        ("a quarter of a million votes", [250000]),
        ("a quarter million votes", [250000]),
        ("two thirds of a million", [2e6 / 3]),
        ("one fourth of the votes", [1 / 4]),
        ("two-thirds of the votes", [2 / 3]),
        ("three-quarters of the votes", [3 / 4]),
        ("nine tenths", [0.9]),
        ("half of the votes", [0.5]),
        ("half an hour", [0.5]),
        ("a half-inch gap", [0.5]),
        ("a sixfold rise", [6]),
        ("a couple of thousand seats", [2000]),
        ("six and seven", [6, 7]),
        ("five, twenty and sixty", [5, 20, 60]),
        ("a hundred", [100]),
        # an indefinite plural reaches to the next order of magnitude
        ("dozens of seats", [(12, 120)]),
        ("hundreds of miles", [(100, 1000)]),
        ("tens of thousands of seats", [(1e4, 1e5)]),
        ("hundreds of millions", [(1e8, 1e9)]),
        ("millions of readers", [(1e6, 1e7)]),
    ],
)
def test_words(text, expected):
    got = values(text)
    assert len(got) == len(expected)
    for g, e in zip(got, expected, strict=True):
        assert g == pytest.approx(e, rel=1e-12)


@pytest.mark.parametrize(
    "text",
    [
        "the twenty-first century", "the two hundredth visitor", "the second half of the game", "at half-time",
        "for three months, in millions, except per share", "they came by the dozens", "a quarter of weak sales",
        "a few boats", "a boat and an oar", "halfway", "tens of boats", "stone fold", "1" * 10_000, "someone else",
        "123456789012 there",
    ],
)  # fmt: skip
def test_no_numbers(text):
    assert [v for v in values(text) if v != 3] == []


def test_a_fold_counts():
    (amount,) = amounts("It grew tenfold.")
    assert (amount.low, amount.unit.name, amount.how) == (10, "count", ("fold",))
    (amount,) = amounts("It was 2.5-fold.")
    assert (amount.low, amount.unit.name) == (2.5, "count")


def test_units_after_of():
    assert [a.unit.name for a in amounts("thousands of dollars and a couple of miles")] == ["dollar", "mile"]


def test_rules_are_named():
    assert [a.how[0] for a in amounts("5 kg, five kg, ½ kg, 3e5 kg, dozens of people")] == [
        "digits", "words", "fraction", "power of ten", "indefinite plural",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("text", "digits"),
    [("1,200.50 kg", 6), ("4.60", 3), ("5,000", 1), ("1.200,50", 6), ("twelve", 2), ("3,40 EUR", 3), ("0·050", 2)],
)
def test_significant_digits(text, digits):
    number = read_number(tokenize(text), 0)
    assert isinstance(number, Number)
    assert number.digits == digits


def test_significant_digits_of_text():
    assert [significant_digits(t) for t in ("4,587", "0.050", "0")] == [4, 2, 1]


def test_tokens_are_the_text():
    text = "a½b 1.200,5 x²"
    tokens = tokenize(text)
    assert [text[t.start : t.end] for t in tokens] == [t.text for t in tokens]
    assert [t.text for t in tokens] == ["a", "½", "b", "1.200,5", "x²"]
    assert glued(tokens[0], tokens[1])


PIECES = st.sampled_from(
    (
        "0 5 12 1,000 1.5 ½ five twenty hundred thousands tens of and a half third - – − ± to from between million k m "
        "$ € % ° x × 10 ^ ⁻ ³ e . , ; : ( ) [ ] / ' \" Dec May p = AD BC S&P Smith # \u0301 \u0663 \uff15 \u2168"
    ).split()
) | st.sampled_from([" ", "  ", "\n", "\u00a0", "\u202f", "\x00"])
TEXTS = st.one_of(st.text(max_size=80), st.lists(PIECES, max_size=25).map("".join), st.lists(PIECES).map(" ".join))


@settings(max_examples=400, deadline=None)
@given(TEXTS)
def test_any_text_gives_ordered_finite_amounts(text):
    found = amounts(text)
    tokens = tokenize(text)
    end = 0
    for amount in found:
        start, stop = tokens[amount.number.first].start, tokens[amount.number.last - 1].end
        assert end <= start < stop <= len(text)
        end = stop
        assert 0 <= amount.first <= amount.number.first < amount.number.last <= amount.last <= len(tokens)
        assert -float("inf") < amount.low <= amount.high < float("inf")
        assert amount.low <= amount.high
        assert amount.how
        if amount.unit_span is not None:
            assert 0 <= amount.unit_span[0] < amount.unit_span[1] <= len(text)
    assert amounts(text) == found


@settings(max_examples=200, deadline=None)
@given(st.integers(1, 999_999))
def test_words_come_back(n):
    assert values(f"{_spell(n)} boats") == [n]


SMALL = (
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen "
    "seventeen eighteen nineteen"
).split()
TENS = "- - twenty thirty forty fifty sixty seventy eighty ninety".split()


def _spell(n):
    if n < 20:
        return SMALL[n]
    if n < 100:
        return TENS[n // 10] + (f"-{SMALL[n % 10]}" if n % 10 else "")
    for scale, name in ((1000, "thousand"), (100, "hundred")):
        if n >= scale:
            rest = n % scale
            return f"{_spell(n // scale)} {name}" + (
                f" and {_spell(rest)}" if 0 < rest < 100 else f" {_spell(rest)}" if rest else ""
            )
    return ""
