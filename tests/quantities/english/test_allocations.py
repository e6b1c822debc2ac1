"""Ratios of an allocation."""

import pytest

from qbench.quantities.extractors import ExtractorOptions, get_extractor

RULES = get_extractor(ExtractorOptions())


@pytest.mark.parametrize(
    ("text", "concept"),
    [
        ("Patients were randomised 1:1 to the drug or placebo.", "patients randomised"),
        ("Women were treated with placebo and then randomized (1:1) to the drug.", "women randomized"),
        ("A total of 409 patients were randomly assigned (2:1) to two arms.", "patients randomly assigned"),
        ("The men, who were allocated 2:1, took it.", "men allocated"),
        ("Participants randomised 3:1 took it.", "participants randomised"),
        # another thing
        ("Patients were randomised in a ratio of 2:1.", "ratio"),
        ("A mixture of 3:1 was randomly assigned.", "mixture"),
    ],
)
def test_a_ratio_is_of_whom_it_allocates(text, concept):
    (quantity,) = [quantity for quantity in RULES.extract(text) if quantity.unit == ""]
    assert " ".join(quantity.concept) == concept


@pytest.mark.parametrize("text", ["They were assigned at 10:30 to a bed.", "It was assigned by 10:30 on Monday."])
def test_a_time_of_day_is_no_ratio(text):
    assert RULES.extract(text) == []


def test_a_dilution_may_stand_where_a_time_does():
    assert [quantity.value for quantity in RULES.extract("It was diluted at 1:10 with water.")] == [0.1]
