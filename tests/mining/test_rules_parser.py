"""Descriptions by rules, in sentences of our own; and what every description must be."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from qbench.mining.english import rules_parser
from qbench.mining.english.rules_parser import RulesParser
from qbench.mining.types import Description
from qbench.quantities.english import rules
from qbench.quantities.english.binder.concepts import by_rules
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
            "Rents were $8.5 billion and $6.6 billion for the three months ended June 30, 2024 and 2023, respectively.",
            ["Rents | three months ended June 30, 2024", "Rents | three months ended June 30 | 2023", None],
        ),
        (
            "As of December 31, 2024 and 2023, the reserve was $33 million and $36 million, respectively.",
            ["December 31, 2024 | reserve", "December 31 | 2023 | reserve"],
        ),
        (
            "During the nine months ended May 31, 2023 and 2022, rents were $85 million and $7 million, respectively.",
            [None, "nine months ended May 31, 2023 | rents", "nine months ended May 31 | 2022 | rents"],
        ),
        (
            "Rents for the three and six months ended June 30, 2024 were $8.5 million and $16.6 million, respectively.",
            [None, None, "Rents | three | months ended June 30, 2024", "Rents | six months ended June 30, 2024"],
        ),
        (
            "Year 2023 versus Year 2022. During 2023, operating income was $7 million.",
            ["2023 | operating income"],
        ),
        (
            "Stocks rose to 5 million tons in 1986, while exports were 3 million tons.",
            ["Stocks | 1986", "exports"],
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
        # lists that "respectively" deals out: what the items share stays with each of them
        (
            "In 2022, the median rent in Norland showed a wide gap between urban and rural areas, "
            "reaching 912 euros and 531 euros respectively.",
            ["2022 | median rent in Norland | urban | areas", "2022 | median rent in Norland | rural areas"],
        ),
        (
            "Revenue and profit of Acme were $5.1 million and $1.2 million in 2020, respectively.",
            ["Revenue | Acme | 2020", "profit of Acme | 2020"],
        ),
        (
            "Sales in the north, the south and the east were $5 million, $6 million and $7 million, respectively, in "
            "2019, 2020 and 2021.",
            ["Sales in the north | 2019", "Sales | south | 2020", "Sales | east | 2021"],
        ),
        (
            "Norland, Sudland and Estland reported gains of six, five and four rigs, respectively.",
            ["Norland | gains | rigs", "Sudland | gains | rigs", "Estland | gains | rigs"],
        ),
        (
            "The federal and state tax losses (NOLs) as of December 30, 2023, were $295 million and $343 million, "
            "respectively.",
            ["federal | tax losses | December 30, 2023", "state tax losses | December 30, 2023"],
        ),
        # lists that their number deals out
        ("Urban and rural incomes were 47,412 and 18,931 yuan.", ["Urban | incomes", "rural incomes"]),
        ("Boys and girls weighed 3.5 kg and 3.2 kg.", ["Boys | weighed", "girls weighed"]),
        # but not what names one thing, nor amounts of two kinds, nor those that their years tell apart
        (
            "Research and development costs were $5 million and $6 million.",
            ["Research | development costs", "Research | development costs"],
        ),
        (
            "Tea and coffee sales were $5 million and $6 million in 2019 and 2020.",
            ["Tea | coffee sales | 2019", "Tea | coffee sales | 2020"],
        ),
        # a member has its own place, and what is counted
        (
            "The firm employed 10,000 people in Germany, 2,000 in France.",
            ["firm employed | people in Germany", "firm employed | people | France"],
        ),
        (
            "The mean age was 54.2 years in the treatment group and 53.8 years in the placebo group.",
            ["mean age | treatment group", "mean age | placebo group"],
        ),
        # parallel clauses, each with its own verb; brackets say the same once more
        (
            "In the trial, 45 (37.5%) received placebo and 75 (62.5%) received aspirin.",
            ["trial | received placebo", "trial | received placebo", "received aspirin", "received aspirin"],
        ),
        (
            "Sales of tea were $5 million and profits of the mill were $6 million.",
            ["Sales of tea", "profits of the mill"],
        ),
        # what a rate is per
        ("Net income was $4.59 billion, or $1.23 per diluted share.", ["Net income", "Net income | per diluted share"]),
        ("Tickets cost $5 a day.", ["Tickets cost | a day"]),
        # levels and sizes of a change, and what a value is compared with
        (
            "Sales rose 5% to $10 million from $9 million.",
            ["Sales rose", "Sales", "Sales | from"],
        ),
        ("Shr 17 cts vs 84 cts", ["Shr", "Shr | vs"]),
        (
            "Shr 17 cts vs 84 cts Year Shr 1.20 dlrs vs 2.10 dlrs Net 7 mln dlrs vs 8 mln dlrs",
            ["Shr", "Shr | vs", "Year Shr", "Year Shr | vs", "Year | Net", "Year | Net | vs"],
        ),
        ("Sales rose 5% on Monday. Acme fell.", ["Sales rose | Monday"]),
        # who, where the sentence says "it"
        ("Acme said it bought 5,000 shares of Bolt.", ["Acme | bought | shares of Bolt"]),
        ("The response at week 14 was 33.1%.", ["response | week 14"]),
        # no word twice in a row, no heading that a converter glued to the sentence
        ("The plant has an annual capacity of 500 tonnes of capacity.", ["annual capacity"]),
        ("Financing ActivitiesNet cash used was $5.2 million in 2020.", ["Net cash | 2020"]),
        ("OpenTable had sales of $5 million.", ["OpenTable | sales"]),
        # no facts
        ("If sales reach $5 million, the bonus will be $200,000.", [None, None]),
        ("Companies with more than 500 employees must file.", [None]),
        ("The offence is punishable by a fine of $200,000.", [None]),
        ("The court may order him to pay $5,000.", [None]),
        ("Each borrower shall pay a fee of $500.", [None]),
        ("The firm plans to deliver 200,000 bicycles.", [None]),
        ("The firm planned a plant of 500 tonnes.", ["firm planned a plant"]),
        # but facts beside what is none
        ("The board may act, since sales were $5 million.", ["sales"]),
        ("He may say that sales were $5 million.", ["sales"]),
        ("The court may impose a fine of $200,000.", [None]),
        ("If sales reach $5 million, a bonus is paid.", [None]),
        ("A change of 10 percent would reduce income by $4 million.", [None, None]),
    ],
)
def test_by_rules(parser, extractor, text, expected, monkeypatch):
    for module in (rules_parser, rules):
        monkeypatch.setattr(module, "bind", lambda sentences: [by_rules(sentence) for sentence in sentences])
    assert described(parser, extractor, text) == expected


def test_the_concept_is_the_binders(parser, extractor):
    text = "Expenses of the Harbour unit include severance charges of $41 million."
    (description,) = described(parser, extractor, text)
    assert "severance charges" in description
    assert "Expenses" not in description


def test_what_is_counted_may_lie_inside_the_unit_and_never_in_the_number(parser, extractor):
    text = "The farm employed 120 workers and paid $9.50 per hour."
    mentions = extractor.extract(text)
    staff, pay = parser.parse_many([(text, mentions)])[0]
    assert "workers" in staff.words(text)
    assert "per hour" in pay.words(text)
    assert not any(number in d.words(text) for d in (staff, pay) for number in ("120", "9.50"))


def test_descriptions_stay_short_in_a_long_table(parser, extractor):
    text = "Net 709,000 vs 605,000 " * 400
    found = parser.parse_many([(text, extractor.extract(text))])[0]
    assert len(found) == 800
    assert all(len(d.words(text).split()) < 40 for d in found)


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
