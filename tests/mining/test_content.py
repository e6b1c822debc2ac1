"""Descriptions that do not say what their number is, in sentences of our own."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from qbench.mining.english.content import lack, says
from qbench.mining.languages import (
    CAPITALS,
    GLUED,
    LABEL,
    MOMENT,
    NAME,
    NOTHING,
    ONLY_TIME,
    POPULATION,
    REASONS,
    ROW,
)
from qbench.quantities.types import Quantity

UNITS = {
    "": ("", 1.0),
    "%": ("percentage", "ratio"),
    "$": ("dollar", "currency"),
    "year": ("year", "time"),
    "week": ("week", "time"),
    "barge": ("barge", "count"),
    "group": ("group", "count"),
    "share": ("share", "count"),
    "people": ("people", "count"),
}


def mention(sentence, value, unit="$", concept=""):
    """The mention of a value that stands once in a sentence."""
    start = sentence.index(str(value))
    name, family = UNITS[unit] if unit else ("", "")
    span = (start, start + len(str(value)))
    return Quantity(value, value, "=", name, family, name, value, value, tuple(concept.split()), value_span=span)


def reason(words, sentence, value, unit="$", concept=""):
    spans, at = [], 0
    for word in words.split():
        start = sentence.find(word, at)
        if start >= 0:
            at = start + len(word)
            spans.append((start, at))
    return lack(words, sentence, mention(sentence, value, unit, concept), spans)


@pytest.mark.parametrize(
    ("expected", "words", "sentence", "value", "unit", "concept"),
    [
        (ONLY_TIME, "June 30, 2021", "It was $17 at June 30, 2021.", 17, "$", "june 30 2021"),
        (ONLY_TIME, "nine months ended May 2", "It was $17 for the nine months ended May 2.", 17, "$", ""),
        (NOTHING, "increase 2021", "An increase of $17 in 2021.", 17, "$", "increase"),
        (NOTHING, "Company total", "The Company had a total of $17.", 17, "$", "company"),
        (NOTHING, "groups versus", "It differed between groups (29 versus 17).", 17, "", "groups"),
        (NOTHING, "study groups", "There were 3 groups in the study.", 3, "group", ""),
        (NOTHING, "pain reduced p", "Pain was reduced (p = 0.02).", 0.02, "", "p"),
        (NOTHING, "Refer to Note", "Refer to Note 5 and 17 for taxes.", 17, "", "note 5"),
        (NAME, "paid Dunmere", "In all $17 was paid by Dunmere.", 17, "$", "dunmere"),
        (LABEL, "tax paid", "It was paid.4 Tax was higher.", 4, "", "tax"),
        (GLUED, "sales.In May tax", "The sales.In May a tax of $17.", 17, "$", "tax"),
        (GLUED, "2021Net income", "2021 and 2021Net income of $17.", 17, "$", "income"),
        (ROW, "Stocks of corn", "Stocks of corn 17 29 31", 29, "", "stocks corn"),
        (ROW, "Stocks of corn", "Stocks of corn 17 29 31", 17, "", "stocks corn"),
        (NOTHING, "Friday shares", "On Friday, up to 17 shares.", 17, "share", "shares"),
        (CAPITALS, "WHEAT CORN LOADING", "WHEAT 4 CORN 17 LOADING", 17, "", "corn"),
        (MOMENT, "pain assessed surgery", "The pain was assessed 6 weeks after surgery.", 6, "week", "pain"),
        (MOMENT, "yield of bills", "The yield of 6 week bills.", 6, "week", "bills"),
        (POPULATION, "women", "Among the women (17 %).", 17, "%", "women"),
    ],
)
def test_words_that_do_not_say_what_is_measured(expected, words, sentence, value, unit, concept):
    assert reason(words, sentence, value, unit, concept) == expected


@pytest.mark.parametrize(
    ("words", "sentence", "value", "unit", "concept"),
    [
        ("revenue 2021", "The revenue of 2021 was $17.", 17, "$", "revenue"),
        ("increase in sales", "An increase in sales of $17.", 17, "$", "increase sales"),
        ("discount rate", "A discount rate of 17 %.", 17, "%", "discount rate"),
        ("stake in Dunmere", "It has a stake in Dunmere of 17 %.", 17, "%", "stake dunmere"),
        ("operating costs", "The operating costs were $17.", 17, "$", "operating costs"),
        ("women smoked", "Of the women 17 % smoked.", 17, "%", "women"),
        ("Depreciation", "Depreciation was $17.", 17, "$", "depreciation"),
        ("profit Revenue", "The profit was small. Revenue $17.", 17, "$", "revenue"),
        ("Dunmere people", "Dunmere had 17 people.", 17, "people", ""),
        ("sold shares", "It sold 17 shares.", 17, "share", ""),
        ("Stocks of corn", "Stocks of corn 17 and 29", 17, "", "stocks corn"),
        ("barges", "There are 3 barges.", 3, "barge", ""),
        ("maturity of notes", "The maturity of the notes is 6 years.", 6, "year", "maturity notes"),
        ("Parental leave", "Parental leave of 6 weeks.", 6, "week", "parental leave"),
        ("GDP", "In May the GDP fell to $17.", 17, "$", "gdp"),
        ("heavy goods vehicles", "There were 3 heavy goods vehicles.", 3, "", "heavy goods vehicles"),
        ("年収", "年収 17", 17, "", ""),
    ],
)
def test_words_that_say_what_is_measured(words, sentence, value, unit, concept):
    assert reason(words, sentence, value, unit, concept) == ""


SOME = "total increase 2021 of net May company revenue patients reduced p".split()
WORDS = st.lists(st.sampled_from(SOME), max_size=6)


@given(WORDS, st.sampled_from(sorted(UNITS)))
def test_the_reason_is_one_of_the_list_and_one_more_noun_is_never_worse_for_money(words, unit):
    text = " ".join(words)
    sentence = f"{text} was 17."
    why = lack(text, sentence, mention(sentence, 17, unit))
    assert why in ("", *REASONS)
    if unit == "$":
        assert lack(f"{text} margin", f"{text} margin was 17.", mention(f"{text} margin was 17.", 17, unit)) == ""


@given(st.text(alphabet="abcdelnorstuy-", max_size=12))
def test_case_does_not_matter(word):
    assert says(word) == says(word.upper()) == says(word.capitalize())


@pytest.mark.parametrize("value", [float("inf"), float("nan")])
def test_a_value_that_is_no_number_is_no_label(value):
    assert lack("margin", "A margin of 9.", Quantity(value, value, "=", "", "", "", value, value)) == ""
