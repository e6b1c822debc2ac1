"""Descriptions by rules, in sentences of our own; and what every description must be."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from qbench.mining.rules_parser import RulesParser
from qbench.mining.types import Description
from qbench.quantities.extractors import get_extractor


@pytest.fixture(scope="module")
def parser():
    return RulesParser()


@pytest.fixture(scope="module")
def extractor():
    return get_extractor()


def described(parser, extractor, text):
    """The description of each mention, segments apart by bars; None where it states no fact."""
    found = parser.parse_many([(text, extractor.extract(text))])[0]
    return [" | ".join(text[a:b] for a, b in d.segments) if d.factual else None for d in found]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        # indicator, subject, place, time
        ("In 2021, the population of the town was 60,000.", ["2021 | population of the town"]),
        ("The bakery had sales of $3.5 million in 2019.", ["bakery | sales | 2019"]),
        ("The farm employed 120 workers in Spain.", ["farm employed | workers in Spain"]),
        # the verb says what happened; "was" does not
        ("The museum sold 4,500 tickets on Friday.", ["museum sold | tickets | Friday"]),
        ("Tickets cost 15 euros.", ["Tickets cost"]),
        # lists, dealt out
        (
            "The budget was $5 million and $6 million in 2019 and 2020, respectively.",
            ["budget | 2019", "budget | 2020"],
        ),
        (
            "Revenue was $5.1 million for 2023 compared to $4.6 million for 2022.",
            ["Revenue | 2023", "Revenue | 2022"],
        ),
        ("Sales of tea and coffee were $5 million and $8 million, respectively.", ["Sales of tea", "Sales | coffee"]),
        (
            "Sales were $5.2 million and $6.1 million for the years ended June 30, 2024 and 2023, respectively.",
            ["Sales | years ended June 30, 2024", "Sales | years ended June 30 | 2023"],
        ),
        (
            "Year 2023 versus Year 2022. During 2023, operating income was $7 million.",
            ["2023 | operating income"],
        ),
        (
            "Stocks rose to 5 million tons in 1986, while exports were 3 million tons.",
            ["Stocks rose | 1986", "exports"],
        ),  # what a list shares
        (
            "The rate of errors was 7% in the north, 3% at sea and 2% in the old factory.",
            ["rate of errors | north", "rate of errors | sea", "rate of errors | old factory"],
        ),
        (
            "2021, 2020 and 2019 include losses of $8 million, $7 million and $9 million, respectively.",
            ["2021 | losses", "2020 | losses", "2019 | losses"],
        ),
        # the length of a dated period is no fact of its own
        (
            "Profit was $7 million for the nine months ended June 30, 2022.",
            ["Profit | nine months ended June 30, 2022", None],
        ),
        # no facts
        ("The court may impose a fine of $200,000.", [None]),
        ("If sales reach $5 million, a bonus is paid.", [None]),
        ("A change of 10 percent would reduce income by $4 million.", [None, None]),
    ],
)
def test_by_rules(parser, extractor, text, expected):
    assert described(parser, extractor, text) == expected


def test_a_mention_without_a_word_about_it_has_no_segments(parser, extractor):
    assert parser.parse_many([("It was 5 kg.", extractor.extract("It was 5 kg."))])[0] == [Description()]


def test_sentences_do_not_touch_each_other(parser, extractor):
    texts = ["The bakery had sales of $3.5 million in 2019.", "", "Tickets cost 15 euros.", "No number here."]
    pairs = [(text, extractor.extract(text)) for text in texts]
    together = parser.parse_many(pairs)
    assert together == [parser.parse_many([pair])[0] for pair in pairs]
    assert [len(found) for found in together] == [1, 0, 1, 0]


WORDS = (
    "The a revenue of profit rose fell to from in by and , respectively 2019 2020 March June ended the months may if "
    "5 12.5% $3.5 million $4 7,200 employees three ( ) ; : . vs compared with Q3 year last"
).split()


@settings(max_examples=60)
@given(st.lists(st.sampled_from(WORDS), min_size=1, max_size=40))
def test_segments_lie_in_the_sentence_in_order_and_outside_the_number(words):
    text = " ".join(words)
    extractor, parser = get_extractor(), RulesParser()
    mentions = extractor.extract(text)
    found = parser.parse_many([(text, mentions)])[0]
    assert len(found) == len(mentions)
    for mention, description in zip(mentions, found, strict=True):
        edges = [edge for span in description.segments for edge in span]
        assert edges == sorted(edges)
        assert all(0 <= start < end <= len(text) for start, end in description.segments)
        assert all(
            end <= mention.value_span[0] or mention.value_span[1] <= start for start, end in description.segments
        )
        assert description.factual or not description.segments


def test_the_key_names_the_parser_and_its_rules(parser):
    key = parser.key()
    assert key["descriptions"] == "rules"
    assert key == RulesParser("none").key()  # without a parse there are no clauses: the embedded one serves
