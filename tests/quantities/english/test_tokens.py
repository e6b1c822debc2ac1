"""Tokens: typeset hyphens, letters with marks, in texts of our own."""

import pytest

from qbench.quantities.english.tokens import tokenize
from qbench.quantities.extractors import ExtractorOptions, get_extractor

EXTRACTOR = get_extractor(ExtractorOptions())


@pytest.mark.parametrize("dash", ["-", "–", "\u2010", "\u2011", "\u2012"])
def test_typeset_hyphens_and_dashes_are_hyphens_and_dashes(dash):
    (age,) = EXTRACTOR.extract(f"The age was 20{dash}40 years.")
    assert (age.value, age.high, age.unit) == (20, 40, "year of age")


def test_letters_with_combining_marks_are_letters():
    (weight,) = EXTRACTOR.extract("The weight of Ma\u0308rin is 50 kg.")
    assert weight.subject + weight.concept == ("weight", "ma\u0308rin")


def test_tokens_are_where_they_say():
    text = "A co\u2010op sells 3\u20125 kg of na\u0308ive rye."
    tokens = tokenize(text)
    assert [token.text for token in tokens][1:4] == ["co", "-", "op"]
    assert all(len(token.text) == token.end - token.start for token in tokens)
    assert "na\u0308ive" in [token.text for token in tokens]
