"""Names of statistics, labels in brackets, and clauses without verbs, in sentences of our own."""

import pytest

from qbench.quantities.extractors import ExtractorOptions, get_extractor

EXTRACTOR = get_extractor(ExtractorOptions())
RULES = get_extractor(ExtractorOptions(language="en"))


def words(text):
    return [{*quantity.concept, *quantity.subject} for quantity in EXTRACTOR.extract(text)]


def test_an_interval_measures_what_its_estimate_does():
    text = "Median survival was 14.2 months (95% CI 11.8-16.9) with the drug and 9.8 months (8.1 to 11.2) with placebo."
    first, interval, second, unnamed = words(text)
    assert interval == first | {"ci"}
    assert unnamed == second | {"ci"}
    assert "survival" in first & second


def test_a_p_value_between_an_estimate_and_its_interval_is_passed_over():
    estimate, _, interval = words("Weight fell more with the diet (difference 2.1 kg, P = 0.04, 95% CI 0.9 to 3.3).")
    assert interval == estimate | {"ci"}


def test_the_name_before_a_figure_is_that_figures_alone():
    ratio, interval, _, share = words(
        "The odds of relapse were lower (OR 0.52, 95% CI 0.31 to 0.88; P = 0.01), at 12.1% in the drug group."
    )
    assert "or" in ratio
    assert {"or", "ci"} <= interval
    assert share.isdisjoint({"or", "ci", "p"})


@pytest.mark.parametrize(
    ("text", "location", "spread"),
    [
        ("The mean (SD) pain score fell to 3.2 (1.1) after a week.", "mean", "sd"),
        ("The mean [SD] pain score fell to 3.2 [1.1] after a week.", "mean", "sd"),
        ("The mean (±SD) pain score fell to 3.2 (±1.1) after a week.", "mean", "sd"),
        ("The median (IQR) pain score fell to 3 (2-5) after a week.", "median", "iqr"),
        ("The median [interquartile range (IQR)] pain score fell to 3 [2-5] after a week.", "median", "iqr"),
    ],
)
def test_a_header_names_the_estimate_and_its_spread(text, location, spread):
    estimate, around = words(text)[:2]
    assert {location, "pain", "score"} <= estimate
    assert spread not in estimate
    assert {spread, "pain", "score"} <= around
    assert location not in around


def test_a_name_is_shared_by_what_it_lists():
    *_, first, second = words("Both arms had similar numbers of patients at 15 days (n = 86 vs 84).")
    assert "n" in first & second


@pytest.mark.parametrize(
    "text",
    [
        "The lives of the machines range from 3 to 7 years.",
        "The mean HR was 72 bpm in the hall and 80 bpm outside.",
        "Pay rose in 40 of 50 towns (80%).",
    ],
)
def test_words_that_only_look_like_names_change_nothing(text):
    assert words(text)
    for found in words(text):
        assert found.isdisjoint({"range", "ci", "sd"})


def test_labelled_figures_measure_what_the_first_of_them_does():
    found = RULES.explain_many(["The fall in blood pressure was alike in both arms (drug: 7.6%; placebo: 7.8%)."])[0]
    assert all("concept labelled in brackets" in rules for _, rules in found)
    drug, placebo = words("The fall in blood pressure was alike in both arms (drug: 7.6%; placebo: 7.8%).")
    assert {"blood", "pressure", "drug"} <= drug
    assert placebo - {"placebo"} == drug - {"drug"}


def test_a_label_keeps_what_is_glued_to_it():
    first, second = words("Severe falls of sugar were rare (GX-300: 2.3%; GX-100: 2.6%).")
    assert ("gx-300" in first, "gx-100" in second) == (True, True)


@pytest.mark.parametrize(
    "text",
    [
        "The wing is thin (span: 34 m; mass: 70 kg).",  # of different things
        "The groups were alike (mean: 23 points; range: 19 points).",
        "The wing is thin (span: 34 m).",
    ],
)
def test_figures_of_different_kinds_and_statistics_are_no_list(text):
    assert all("concept labelled in brackets" not in rules for _, rules in RULES.explain_many([text])[0])


def test_what_is_compared_with_a_quantity_is_one():
    values = [
        q.value for q in EXTRACTOR.extract("The index (8.4 vs. 7.3; 12.5 vs. 9.3) of the second arm was greater.")
    ]
    assert values == [8.4, 7.3, 12.5, 9.3]


@pytest.mark.parametrize("dash", ["-", "–", "\u2010", "\u2011", "\u2012"])
def test_typeset_hyphens_and_dashes_are_hyphens_and_dashes(dash):
    (age,) = EXTRACTOR.extract(f"The age was 20{dash}40 years.")
    assert (age.value, age.high, age.unit) == (20, 40, "year of age")


def test_letters_with_combining_marks_are_letters():
    (weight,) = EXTRACTOR.extract("The weight of Ma\u0308rin is 50 kg.")
    assert weight.subject + weight.concept == ("weight", "ma\u0308rin")


def test_an_interval_keeps_the_name_of_its_estimate():
    *_, ratio, interval = words("Bleeding was rarer with the drug (317 mL vs. 615 mL; RR 0.66, 95% C.I. 0.43 to 1.03).")
    assert "rr" in ratio
    assert interval == ratio | {"c.i"}


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


@pytest.mark.parametrize(
    ("text", "second"),
    [
        ("Sensitivity was 91.2% and specificity 84.5%.", {"specificity"}),
        ("Inflation is 3.2%, unemployment 5.1% and growth 1.4%.", {"unemployment"}),
        ("The length of the bench is 5 m and its width 3 m.", {"width"}),
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
