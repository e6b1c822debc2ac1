"""quantulum3 behind our extractor's interface."""

import pytest

from qbench.quantities.extractors import ExtractorOptions, get_extractor

EXTRACTOR = get_extractor(ExtractorOptions("quantulum3"))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("The laptop weighs 2 kilograms.", [("=", 2, 2, "kilogram")]),
        ("It stores more than 64 gigabytes.", [(">", 64, 64, "gigabyte")]),
        ("no numbers", []),
    ],
)
def test_reads(text, expected):
    assert [(q.comparator, q.value, q.high, q.unit) for q in EXTRACTOR.extract(text)] == expected


def test_spans_lie_in_the_text():
    text = "The tower is 300 metres tall and 130 years old."
    for q in EXTRACTOR.extract(text):
        assert text[slice(*q.value_span)] in ("300", "130")
