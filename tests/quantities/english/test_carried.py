"""Sentences about what the sentence before them is about, in sentences of our own."""

import pytest

from qbench.quantities.extractors import ExtractorOptions, get_extractor

EXTRACTOR = get_extractor(ExtractorOptions())


def concepts(text):
    return [" ".join(quantity.concept + quantity.subject) for quantity in EXTRACTOR.extract(text)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("The Zenbook 13 is a thin laptop. Weighs 1.37kg. It costs 999 euros.", ["zenbook 13", "zenbook 13"]),
        ("A light tent. Weighs 900 g.", ["light tent"]),
        ("The kettle is made of steel. It weighs 1.1 kg.", ["kettle"]),
        ("Our new scooter folds in seconds. Costs 400 dollars.", ["new scooter"]),
        ("Zenbook 13. Weighs 1.37kg.", ["zenbook 13"]),
        # what stands between names no thing
        ("The kettle is fine. It is nice. It comes in blue. It weighs 2 kg.", ["kettle"]),
        (
            "The Zenbook is a laptop. It has 8 GB of RAM. It weighs 2 kg and costs 900 euros.",
            ["ram", "zenbook", "zenbook"],
        ),
        ("Asus Zenbook (laptop). 8 GB RAM, HD Graphics 620. Weighs 2 kg.", ["ram", "asus zenbook"]),
        # a sentence with a subject of its own
        ("The bag is new. The tent weighs 2 kg.", ["tent"]),
        # nouns
        ("Sales were flat. Costs rose 5 percent.", ["costs"]),
        # nothing before it
        ("It costs 5 dollars.", [""]),
        ("Weighs 2 kg.", [""]),
    ],
)
def test_the_subject_is_that_of_the_sentence_before(text, expected):
    assert concepts(text) == expected


def test_the_sentence_before_is_shown_in_the_text():
    text = "The kettle is made of steel. It weighs 1.1 kg."
    (mention,) = EXTRACTOR.extract(text)
    assert [text[start:end] for start, end in mention.concept_spans] == ["kettle"]


def test_what_stands_in_the_sentence_before_is_read_as_it_is_alone():
    alone = EXTRACTOR.extract("The tent sleeps 2 hikers.")
    together = EXTRACTOR.extract("The tent sleeps 2 hikers. Weighs 900 g.")
    assert together[0] == alone[0]
