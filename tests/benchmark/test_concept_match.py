import pytest
from hypothesis import given
from hypothesis import strategies as st

from qbench.quantities import concept_match
from qbench.quantities.concept_match import (
    UNCLEAR,
    concept_alternatives,
    concept_grade,
    concept_words,
    join_alternatives,
    stated_concept,
    stated_concepts,
)
from tests.factories import tiny_benchmark

words = st.text("abcd", min_size=1, max_size=3)
BEST = (2, 1, UNCLEAR, 0)
concepts = st.lists(words, min_size=1, max_size=4).map(tuple)


@pytest.mark.parametrize("given", [False, True])
def test_the_concepts_of_a_table_are_those_of_its_rows(given, monkeypatch):
    table = tiny_benchmark().quantities
    rows = table.select("concept", "unit", "family", "concept_spans").iter_rows()
    expected = [stated_concept(tuple(c.split()), unit, family, "en", () if given else s) for c, unit, family, s in rows]
    for block in (1, 2, table.height, 100_000):
        monkeypatch.setattr(concept_match, "BLOCK", block)
        assert stated_concepts(table, given=given).to_list() == [" ".join(words) for words in expected]
    assert stated_concepts(table.clear(), given=given).to_list() == []


@pytest.mark.parametrize(
    ("query", "mention", "grade"),
    [
        ("net income", "net income", 2),
        ("net income", "Net Incomes", 2),
        ("follow-up visits", "follow up visit", 2),
        ("net income", "net net income", 2),
        ("treatment", "post-treatment", 0),  # after it
        ("net income", "income net", UNCLEAR),  # the same words in another order may be something else
        ("income", "annual net income", 1),
        ("income", "adjusted net income", UNCLEAR),  # it may be a part
        ("sales", "copper sales", UNCLEAR),
        ("sales", "1986 total sales", 1),
        ("net sales", "full-year net sales", 1),
        ("weight", "copper weight", 1),
        ("tax", "after-tax", UNCLEAR),
        ("weight", "pre-treatment weight", 1),
        ("net income", "net interest income", UNCLEAR),
        ("income", "income tax rate", UNCLEAR),
        ("net income", "income", UNCLEAR),
        ("net income", "gross margin", 0),
        ("net income | profit", "profit", 2),
        ("net income | profit", "gross profit", UNCLEAR),
        ("net income | margin", "gross margin", 1),
        ("net income | profit", "income", UNCLEAR),
        ("net income", "", UNCLEAR),
        ("", "anything", 2),
        ("", "", 2),
        ("staff", "staff | staff employee", 2),
        ("employees", "staff | staff employee", 1),
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
    grades = {concept_grade(one, mention) for one in alternatives}
    assert concept_grade(joined, mention) == next(grade for grade in BEST if grade in grades)


@given(concepts, st.lists(words, max_size=3))
def test_words_before_a_concept_never_lose_it(concept, more):
    same = concept_words((*more, *concept)) == concept_words(concept)
    assert concept_grade(concept, (*more, *concept)) == (2 if same else 1)


@pytest.mark.parametrize(
    ("concept", "unit", "family", "stated"),
    [
        ("", "participant", "count", "participant"),
        ("study", "participant", "count", "study | study participant"),
        ("young patients", "patient", "count", "young patients"),
        ("weight", "kilogram", "mass", "weight"),
        ("", "kilogram", "mass", ""),
    ],
)
def test_a_counted_noun_is_part_of_what_is_stated(concept, unit, family, stated):
    assert " ".join(stated_concept(tuple(concept.split()), unit, family)) == stated


def test_words_that_make_another_thing():
    assert concept_grade(("revenue",), ("unearned", "revenue")) == UNCLEAR
    assert concept_grade(("unearned", "revenue"), ("unearned", "revenue")) == 2
    assert concept_grade(("pretax", "profit"), ("pre-tax", "profits")) == 2
    assert concept_grade(("follow-up",), ("yearly", "follow-ups")) == 1


@pytest.mark.parametrize("spread", [("sd", "weight"), ("standard", "deviation", "weight"), ("weight", "ci")])
def test_a_spread_is_not_what_it_is_the_spread_of(spread):
    assert concept_grade(("weight",), spread) == UNCLEAR
    assert concept_grade(("weight",), ("mean", "weight")) == 1
