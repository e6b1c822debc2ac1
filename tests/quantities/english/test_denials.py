"""Bounds that words further off turn round, in sentences of our own."""

import pytest

from qbench.quantities.extractors import ExtractorOptions, get_extractor

RULES = get_extractor(ExtractorOptions(spacy_model="none"))


@pytest.mark.parametrize(
    ("text", "comparator"),
    [
        ("No grant will be made of more than 12 million euros.", "<="),
        ("A grant will be made of more than 12 million euros.", ">"),
        ("The club is unlikely to lend more than 40 boats.", "<="),
        ("It is unlikely that repairs would exceed 9 million euros.", "<="),
        ("It was unlikely that the crew would need more than 30 barrels.", "<="),
        ("The crew is unlikely to pay more than 30 euros.", "<="),
        ("It was unlikely, but they sold more than 30 barrels.", ">"),
        ("It is unlikely that a yard which sold more than 30 boats closes.", ">"),
        ("The yard is likely to need more than 30 barrels.", ">"),
        ("The tank can hold up to 40 litres.", "<="),
        ("The card can store at least 500 songs.", ">="),
        ("A shelf can't hold more than 40 kg.", "<="),
        ("A shelf cant hold more than 40 kg.", "<="),
        ("The crew won't carry more than 40 kg.", "<="),
        ("The crew won at least 30 games.", ">="),
        ("You cannot carry more than 40 kg.", "<="),
    ],
)
def test_bounds(text, comparator):
    assert [q.comparator for q in RULES.extract(text)] == [comparator]
