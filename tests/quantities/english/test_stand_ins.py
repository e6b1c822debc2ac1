"""What the parser reads in place of amounts."""

import itertools

import pytest

from qbench.quantities.english.amounts import AmountFinder
from qbench.quantities.english.stand_ins import stand_ins
from qbench.quantities.english.tokens import tokenize
from qbench.quantities.units import load_units

FINDER = AmountFinder(load_units())


def read(text):
    """The text as the parser reads it."""
    tokens = tokenize(text)
    found = stand_ins(tokens, FINDER.find(tokens, text))
    assert all(a.last <= b.first for a, b in itertools.pairwise(found))
    words, k = [], 0
    for mention in found:
        assert k <= mention.first < mention.last <= len(tokens)
        words += [t.text for t in tokens[k : mention.first]] + list(mention.words)
        k = mention.last
    return " ".join([*words, *(t.text for t in tokens[k:])])


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("It has 1,200 doors.", "It has 5 doors ."),
        ("It has one door.", "It has one door ."),
        ("It costs HK$3.7bn now.", "It costs $ 5 now ."),
        ("It costs 3.7 million euros now.", "It costs $ 5 now ."),
        ("It holds 42.5 per cent of it.", "It holds 5 percent of it ."),
        ("It holds 42.5% of it.", "It holds 5 percent of it ."),
        ("It weighs 3.5 kilograms.", "It weighs 5 kilograms ."),
        ("It weighs 3.5 kg.", "It weighs 5 miles ."),
        ("a 42-kilometre run", "a 5 - kilometre run"),
        # a restatement in brackets is left out, another bracket is read
        ("It is 7 miles (11 km) long.", "It is 5 miles long ."),
        ("It is long (11 km).", "It is long ( 5 miles ) ."),
        # a year is a word like others, unless it may count something
        ("It was built in 1990.", "It was built in 1990 ."),
        ("It sold 2019 cars.", "It sold 5 cars ."),
        ("nothing here", "nothing here"),
        ("", ""),
    ],
)
def test_reads_plain_words(text, expected):
    assert read(text) == expected
