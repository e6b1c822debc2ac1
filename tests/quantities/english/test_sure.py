"""What the form of a sentence says for sure of what its numbers measure, in sentences of our own."""

import pytest

from qbench.quantities.extractors import ExtractorOptions, get_extractor

EXTRACTOR = get_extractor(ExtractorOptions())


def words(text):
    return [{*quantity.concept, *quantity.subject} for quantity in EXTRACTOR.extract(text)]


@pytest.mark.parametrize(
    ("text", "second"),
    [
        ("Sensitivity was 91.2% and specificity 84.5%.", {"specificity"}),
        ("Inflation is 3.2%, unemployment 5.1% and growth 1.4%.", {"unemployment"}),
        ("The drug cut deaths by 20% and strokes 15%.", {"strokes"}),
    ],
)
def test_a_clause_without_its_verb_has_a_subject_of_its_own(text, second):
    assert words(text)[1] == second


def test_a_clause_without_its_verb_says_where_its_subject_went():
    exports, imports = EXTRACTOR.extract("Exports rose 5% and imports 7%.")
    assert (exports.change, imports.change) == ("up", "up")
    sales, margin = EXTRACTOR.extract("Sales rose 5% and the margin 12%.")
    assert (sales.change, margin.change) == ("up", "")


def test_many_clauses_without_verbs():
    text = "The first is 1 cm" + ", the next 2 cm" * 2_000
    assert len(EXTRACTOR.extract(text)) == 2_001


@pytest.mark.parametrize(
    ("text", "nothing"),
    [
        ("You'll drive 10 miles.", "you'll"),
        ("Eighty infants aged four weeks were enrolled.", "aged"),
        ("We recorded costs of $5 million included in other items.", "included"),
    ],
)
def test_words_that_name_nothing(text, nothing):
    assert nothing not in words(text)[0]


def test_what_is_compared_with_a_quantity_is_one():
    values = [
        q.value for q in EXTRACTOR.extract("The index (8.4 vs. 7.3; 12.5 vs. 9.3) of the second arm was greater.")
    ]
    assert values == [8.4, 7.3, 12.5, 9.3]


@pytest.mark.parametrize(
    ("text", "head"),
    [
        ("The price of gold is $1,900 and silver $24.", "price"),
        ("Unemployment among men was 5.1% and women 4.2%.", "unemployment"),
        ("The life expectancy of women is 83 years and men 79 years.", "expectancy"),
    ],
)
def test_what_the_first_clause_measures_is_kept_where_only_its_owner_changes(text, head):
    assert head in words(text)[1]


@pytest.mark.parametrize("text", ["Prices rose 5% and turnout 62%.", "Sales rose 5% and the margin 12%."])
def test_a_level_behind_a_change_is_none(text):
    assert [quantity.change for quantity in EXTRACTOR.extract(text)] == ["up", ""]


def test_words_of_names_are_no_words_that_tie():
    assert words("Associated Press employs 3,300 people.") == [{"associated", "press"}]
    assert "aged" in words("Spending on aged care rose 5%.")[0]


def test_what_is_compared_with_no_quantity_is_none():
    assert EXTRACTOR.extract("The iPhone 12 vs 13 question is common.") == []
