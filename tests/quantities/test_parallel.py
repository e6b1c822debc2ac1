"""Halves that are alike: nouns join nouns, whatever a parser said, and trees stay trees."""

from hypothesis import given, settings
from hypothesis import strategies as st

from qbench.quantities.parallel import parallel
from qbench.quantities.parse import Parse
from qbench.quantities.tokens import tokenize

TOKENS = tokenize("doors of 5 kg and walls of 7 m")
SPANS = [(2, 4), (7, 9)]
TAGS = ["NNS", "IN", "CD", "NN", "CC", "NNS", "IN", "CD", "NN"]


def test_a_noun_joined_to_an_amount_joins_the_noun_before_it():
    heads = [0, 2, 0, 2, 5, 2, 7, 2, 7]
    relations = ["root", "case", "nmod", "part", "cc", "conj", "case", "nmod", "part"]
    found = parallel(TOKENS, SPANS, Parse(TAGS, heads, relations))
    assert found.heads == [0, 2, 0, 2, 5, 0, 7, 5, 7]
    assert found.relations == relations


def test_another_preposition_changes_nothing():
    tokens = tokenize("doors of 5 kg and walls at 7 m")
    parse = Parse(TAGS, [0, 2, 0, 2, 5, 2, 7, 2, 7], ["root", "", "nmod", "", "cc", "conj", "", "nmod", ""])
    assert parallel(tokens, SPANS, parse) == parse


@st.composite
def forests(draw):
    order = draw(st.permutations(range(9)))
    heads = list(range(9))
    for place, k in enumerate(order):
        heads[k] = draw(st.sampled_from([k, *order[:place]]))
    return heads


@settings(deadline=None)
@given(
    forests(),
    st.lists(st.sampled_from(["NN", "IN", "CD"]), min_size=9, max_size=9),
    st.lists(st.sampled_from(["conj", "nmod"]), min_size=9, max_size=9),
)
def test_trees_stay_trees(heads, tags, relations):
    found = parallel(TOKENS, SPANS, Parse(tags, heads, relations))
    for k in range(9):
        for _ in range(9):
            k = found.heads[k]
        assert found.heads[k] == k
