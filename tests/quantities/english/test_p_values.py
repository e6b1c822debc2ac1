"""P-values, in sentences of our own."""

import pytest

from qbench.quantities.extractors import ExtractorOptions, get_extractor

WITH = get_extractor(ExtractorOptions(spacy_model="none"))
WITHOUT = get_extractor(ExtractorOptions(spacy_model="none", p_values=False))


@pytest.mark.parametrize(
    ("text", "comparator", "value"),
    [
        ("Grip was stronger (p < 0.05).", "<", 0.05),
        ("Grip was stronger (P<.001).", "<", 0.001),
        ("Grip was stronger, p=0.04", "=", 0.04),
        ("Grip did not differ (P > 0.3).", ">", 0.3),
        ("Grip was stronger (all p ≤ 0.01 against rest).", "<=", 0.01),
        ("the P value = 0.2", "=", 0.2),
        ("a p-value of 0.2", "=", 0.2),
        ("p values below 0.1", "<", 0.1),
        ("p for trend < 0.03", "<", 0.03),
        ("it was no chance (p = 0.03 in women)", "=", 0.03),
    ],
)
def test_p_values(text, comparator, value):
    (found,) = WITH.extract(text)
    assert (found.comparator, found.value, found.unit) == (comparator, value, "")
    assert found.concept[0] in ("p", "P")
    assert WITHOUT.extract(text) == []


@pytest.mark.parametrize(
    "text",
    [
        "a pressure of p = 0.5 bar",
        "p = 4 rooms",
        "group P 0.5 kg",
        "at P 0.4 of them",
        "the value is 0.5",
        "values of 0.2 and 0.3",
    ],
)
def test_other_numbers(text):
    (mentions,) = WITH.explain_many([text])
    assert mentions
    assert all("p-value" not in how for _, how in mentions)


def test_what_stands_beside_a_p_value_does_not_change():
    text = "Pace rose by 4 km/h (p = 0.01) and rest fell to 30 minutes (p-value 0.2)."
    read = [(m.value, m.unit, m.comparator, m.change, m.concept) for m in WITH.extract(text)]
    rest = [(m.value, m.unit, m.comparator, m.change, m.concept) for m in WITHOUT.extract(text)]
    assert len(read) == 4
    assert [m for m in read if m[1]] == rest


def test_both_numbers_of_one_p():
    assert [m.value for m in WITH.extract("(P < 0.05 or 0.01)")] == [0.05, 0.01]
