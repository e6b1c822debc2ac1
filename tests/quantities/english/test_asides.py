"""What is no part of a concept: words of an aside, and the opposite in a comparison."""

import pytest

from qbench.quantities.english.binder.asides import corrected
from qbench.quantities.english.concepts import MentionTokens
from qbench.quantities.english.parse import Parse
from qbench.quantities.english.tokens import tokenize
from qbench.quantities.extractors import ExtractorOptions, get_extractor

READER = get_extractor(ExtractorOptions())


def concepts(text):
    return [" ".join(sorted([*q.concept, *q.subject])) for q in READER.extract(text)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("The payload, after deducting fuel reserves, was 18 tonnes.", ["payload"]),
        ("Daily energy intake, excluding alcohol, averaged 2,150 kcal.", ["daily energy intake"]),
        ("Net profit 622,000 vs loss 564,000.", ["net profit", "loss net"]),
        ("Migration: net inflow 12,400 vs outflow 3,100.", ["inflow net", "net outflow"]),
        ("Operating loss was 5 euros, down from a profit of 7 euros.", ["loss operating", "operating profit"]),
        # the label of another number, and its own in place of it
        (
            "Delivery time for the courier (2.4 days) was shorter than for the postal van (4.1 days).",
            ["courier delivery time", "delivery postal time van"],
        ),
        # who does something, and not what is done
        ("The 36-year-old showed a knitted coat in the hall.", [""]),
        ("The shy 36-year-old will sing an aria.", ["shy"]),
        ("The 36-year-old singer showed a coat.", ["singer"]),
        # when something was, and not how long
        ("The guests left the hall five minutes ago.", [""]),
        ("The guests came to the mill, which was built 80 years ago.", ["mill"]),
        ("Operating profit for the 12-month period decreased.", [""]),
        ("Almost half of Lund Timber 's net sales came from chairs.", ["lund net sales timber"]),
        # a conversion is of what it converts
        ("The yard won a EUR 13 million (USD 16.6 m) contract for hatch covers.", ["contract covers hatch"] * 2),
        ("The printer ships two months earlier than planned.", ["printer"]),
        # the names of results, and words that only tie a number to a thing
        ("Profit before taxes was 5 million euros.", ["before profit taxes"]),
        ("Income (loss) before income taxes was $4 million.", ["before income income taxes"]),
        ("Operating loss after non-recurring items was 3 million euros.", ["after items loss non-recurring operating"]),
        ("Profit rose to 3 million euros after the merger.", ["profit"]),
        ("The mill has a pond, valued at 3 million euros.", ["pond"]),
        ("Rent expense was $5 million in fiscal 2019.", ["expense rent"]),
        ("The fiscal deficit was 3 percent.", ["deficit fiscal"]),
    ],
)
def test_readings(text, expected):
    assert concepts(text) == expected


def found_and_right(tokens, mentions, m, words):
    """The tokens that are some words, and those that a mention keeps of them, without a parse."""
    parse = Parse(tags=[""] * len(tokens), heads=list(range(len(tokens))), relations=[""] * len(tokens))
    found = {k for k, token in enumerate(tokens) if token.low in words.split()}
    inside = {k for mention in mentions for k in range(mention.first, mention.last)}
    return found, corrected(tokens, mentions, m, parse, found, inside)


def left(text, number, words):
    tokens = tokenize(text)
    at = [token.text for token in tokens].index(number)
    mention = MentionTokens(at, at + 1, at, "")
    named, right = found_and_right(tokens, [mention], 0, words)
    return sorted(tokens[k].low for k in named - right)


@pytest.mark.parametrize(
    ("text", "number", "words", "expected"),
    [
        ("The load, net of bark, was 12 tonnes.", "12", "load net bark", ["bark", "net"]),
        ("The load (excluding bark) was 12 tonnes.", "12", "load bark", ["bark"]),
        # the number is in the aside, the aside is open, or nothing else would be left
        ("The load, net of bark of 3 tonnes, was weighed.", "3", "load bark", []),
        ("The load net of bark was 12 tonnes.", "12", "load bark", []),
        ("The load, net of bark, was 12 tonnes.", "12", "bark", []),
        ("Profit was 9 vs a loss of 4 in May.", "4", "profit loss", ["profit"]),
        ("Profit was 9 compared to a loss of 4.", "4", "profit loss", ["profit"]),
        ("Profit amounted to a loss of 4.", "4", "profit loss", []),
        ("Profit was 9 after a loss of 4.", "4", "profit loss", []),
        ("Profit was 9 vs 4.", "4", "profit", []),
        ("vs loss 4", "4", "loss", []),
    ],
)
def test_rules(text, number, words, expected):
    assert left(text, number, words) == expected


@pytest.mark.parametrize(
    ("text", "words", "expected"),
    [
        ("It rose more in rye (5) than in oats (9).", "it rye", "it oats"),
        ("It rose more in rye (5) than in oats (9).", "it", "it"),
        ("It rose more in rye (5) than for oats (9).", "it rye", "it rye"),
        ("It rose more in rye (5) than in them (9).", "it rye", "it rye"),
        ("It rose more in rye (5) than in oats, by 9.", "it rye", "it rye"),
        ("It rose from rye fell to (5) than from oats (9).", "it rye", "it rye"),
        ("It rose more in rye (5) than in oats (9).", "rye", "rye"),
    ],
)
def test_own_labels(text, words, expected):
    tokens = tokenize(text)
    numbers = [k for k, token in enumerate(tokens) if token.kind == "number"]
    mentions = [MentionTokens(k, k + 1, k, "") for k in numbers]
    _, right = found_and_right(tokens, mentions, 1, words)
    assert " ".join(tokens[k].low for k in sorted(right)) == expected
