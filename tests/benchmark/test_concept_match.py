import pytest
from hypothesis import given
from hypothesis import strategies as st

from qbench.quantities.concept_match import concept_alternatives, concept_grade, join_alternatives

words = st.text("abcd", min_size=1, max_size=3)
concepts = st.lists(words, min_size=1, max_size=4).map(tuple)


@pytest.mark.parametrize(
    ("query", "mention", "grade"),
    [
        ("net income", "net income", 2),
        ("net income", "income net", 1),  # the same words in another order are not the very concept
        ("income", "adjusted net income", 1),
        ("net income", "income", 0),
        ("net income | profit", "profit", 2),
        ("net income | profit", "gross profit", 1),
        ("net income | profit", "income", 0),
        ("net income", "", 0),
        ("", "anything", 2),
        ("", "", 2),
    ],
)
def test_grades(query, mention, grade):
    assert concept_grade(tuple(query.split()), tuple(mention.split())) == grade


@given(st.lists(concepts, min_size=1, max_size=4, unique=True))
def test_alternatives_join_and_part_again(alternatives):
    assert concept_alternatives(join_alternatives(tuple(alternatives))) == tuple(alternatives)


@given(st.lists(concepts, min_size=1, max_size=3), concepts)
def test_several_alternatives_grade_as_the_best_of_them(alternatives, mention):
    joined = join_alternatives(tuple(alternatives))
    assert concept_grade(joined, mention) == max(concept_grade(one, mention) for one in alternatives)


@given(concepts, st.lists(words, max_size=3))
def test_more_words_never_lose_the_concept(concept, more):
    assert concept_grade(concept, concept + tuple(more)) == (1 if more else 2)
