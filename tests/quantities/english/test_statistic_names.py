"""Names of statistics, and labels in brackets, in sentences of our own."""

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


def test_an_interval_keeps_the_name_of_its_estimate():
    *_, ratio, interval = words("Bleeding was rarer with the drug (317 mL vs. 615 mL; RR 0.66, 95% C.I. 0.43 to 1.03).")
    assert "rr" in ratio
    assert interval == ratio | {"c.i"}


@pytest.mark.parametrize(
    ("text", "which", "name"),
    [
        ("The Zeta SE 64 GB costs $399.", 1, "se"),  # a name of a phone
        ("The pressure P = 5 MPa was held for 3 h.", 1, "p"),
        ("The battery capacity is 60 kWh (range: 400 km).", 0, "capacity"),
    ],
)
def test_words_that_only_look_like_names_stay_where_they_are(text, which, name):
    assert name in words(text)[which]


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("In the OR 5 nurses assisted.", "or"),
        ("The shop in Portland, OR, 5 miles from the river, is open.", "or"),
        ("The lives of the machines range from 3 to 7 years.", "range"),
        ("The mean (SD) weight was 70 (12) kg, and 12 (5) were smokers.", "mean"),
    ],
)
def test_words_that_only_look_like_names_are_given_to_no_figure(text, name):
    assert name not in words(text)[-2 if name == "mean" else 0]


def test_a_ratio_is_what_its_interval_is_of():
    ratio, interval = words("The odds ratio (95% CI) for tall people was 1.2 (1.0-1.4).")
    assert {"odds", "ratio"} <= ratio & interval
    assert "ci" in interval - ratio


@pytest.mark.parametrize("piece", ["It was 5 kg (95% CI 3 to 6). ", "P = 0.05, ", "n = 5, ", "5 (n = 2), "])
def test_many_names_are_read(piece):
    assert len(EXTRACTOR.extract(piece * 700)) >= 700


@pytest.mark.parametrize(
    ("text", "estimate", "spread"),
    [
        ("The rate increased (HR; 95% CI: 1.19; 0.94–1.50).", {"hr"}, {"hr", "ci"}),
        ("The risk was lower (RR 95% CI, 0.52; 0.32 to 0.84).", {"rr"}, {"rr", "ci"}),
        ("The risk was lower (OR [95% CI]: 0.52 [0.32–0.84]).", {"or"}, {"or", "ci"}),
        ("It was lower (odds ratio and 95% confidence interval: 0.5, 0.3-0.8).", {"odds", "ratio"}, {"confidence"}),
    ],
)
def test_two_names_before_two_figures_are_dealt_out(text, estimate, spread):
    first, second = words(text)
    assert estimate <= first
    assert first.isdisjoint(spread - estimate)
    assert spread <= second


def test_an_interquartile_range_is_named_whole():
    _, spread = words("Blood loss was lower (median, 300 mL; interquartile range, 200 to 400 mL).")
    assert {"interquartile", "range"} <= spread


def test_labels_may_end_in_commas():
    drug, placebo, other = words("Mortality differed (mesolin, 60.0%; placebo, 70.5%; and fluoxin, 64.3%).")
    assert ("mesolin" in drug, "placebo" in placebo, "fluoxin" in other) == (True, True, True)
    assert "mesolin" not in placebo | other


def test_a_number_with_a_spread_is_no_part_of_a_name():
    times = EXTRACTOR.extract("Patients stayed longer in the PACU 108± 37 min versus 78±31 min.")
    assert [quantity.value for quantity in times] == [108, 78]
