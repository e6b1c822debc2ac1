"""What a sentence's form says against a parse is mended, and trees stay trees."""

from hypothesis import given, settings
from hypothesis import strategies as st

from qbench.quantities.english.parse import Parse
from qbench.quantities.english.repairs import repaired
from qbench.quantities.english.tokens import tokenize

TOKENS = tokenize("doors of 5 kg and walls of 7 m")
SPANS = [(2, 4), (7, 9)]
TAGS = ["NNS", "IN", "CD", "NN", "CC", "NNS", "IN", "CD", "NN"]


def test_a_noun_joined_to_an_amount_joins_the_noun_before_it():
    heads = [0, 2, 0, 2, 5, 2, 7, 2, 7]
    relations = ["root", "case", "nmod", "part", "cc", "conj", "case", "nmod", "part"]
    found = repaired(TOKENS, SPANS, Parse(TAGS, heads, relations))
    assert found.heads == [0, 2, 0, 2, 5, 0, 7, 5, 7]
    assert found.relations == relations


def test_another_preposition_changes_nothing():
    tokens = tokenize("doors of 5 kg and walls at 7 m")
    parse = Parse(TAGS, [0, 2, 0, 2, 5, 2, 7, 2, 7], ["root", "", "nmod", "", "cc", "conj", "", "nmod", ""])
    assert repaired(tokens, SPANS, parse) == parse


@st.composite
def forests(draw, size=9):
    order = draw(st.permutations(range(size)))
    heads = list(range(size))
    for place, k in enumerate(order):
        heads[k] = draw(st.sampled_from([k, *order[:place]]))
    return heads


def test_of_two_subjects_side_by_side_the_first_belongs_to_the_second():
    tokens = tokenize("Acmes new sales rose 5 %")
    parse = Parse(
        ["NNP", "JJ", "NNS", "VBD", "CD", "NN"], [3, 2, 3, 3, 3, 4], ["nsubj", "amod", "nsubj", "root", "obl", "part"]
    )
    found = repaired(tokens, [(4, 6)], parse)
    assert found.heads == [2, 2, 3, 3, 3, 4]
    assert found.relations == ["nmod:poss", "amod", "nsubj", "root", "obl", "part"]


def test_subjects_that_stand_apart_stay_as_they_are():
    tokens = tokenize("Acme , which sales rose 5 %")
    parse = Parse(
        ["NNP", ",", "WDT", "NNS", "VBD", "CD", "NN"],
        [4, 4, 4, 4, 4, 4, 5],
        ["nsubj", "punct", "dep", "nsubj", "root", "obl", "part"],
    )
    assert repaired(tokens, [(5, 7)], parse) == parse


@settings(deadline=None)
@given(
    forests(),
    st.lists(st.sampled_from(["NN", "IN", "CD"]), min_size=9, max_size=9),
    st.lists(st.sampled_from(["conj", "nmod", "nsubj"]), min_size=9, max_size=9),
)
def test_trees_stay_trees(heads, tags, relations):
    is_tree(repaired(TOKENS, SPANS, Parse(tags, heads, relations)).heads)


def is_tree(heads):
    for k in range(len(heads)):
        for _ in heads:
            k = heads[k]
        assert heads[k] == k
