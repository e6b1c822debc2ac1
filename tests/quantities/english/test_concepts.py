"""What a quantity is about by the rules alone, in plain sentences that any parser reads alike."""

import pytest

from qbench.quantities.english.concepts import MentionTokens, find_concepts
from qbench.quantities.english.parse import Parse
from qbench.quantities.english.tokens import tokenize

pytestmark = pytest.mark.usefixtures("no_binder")


def concepts(extractor, text):
    """The concept of each mention, and after a bar its subject, where one is told apart."""
    found = extractor.extract(text)
    for q in found:
        said = " ".join(text[a:b].lower() for a, b in q.concept_spans)
        assert all(word in said for word in (*q.concept, *q.subject))
    return [" | ".join(filter(None, (" ".join(q.concept), " ".join(q.subject)))) for q in found]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        # columns of figures
        ("Net 1,300,000 vs 950,000 Sales 24.7 mln vs 11.2 mln", ["net", "net", "sales", "sales"]),
        (
            "Avg shrs 12.1 mln vs 9.4 mln Oper shr loss 20 cts vs profit 4 cts",
            ["avg shrs"] * 2 + ["oper shr loss", "oper shr loss profit"],
        ),  # the subject
        ("The price of the phone is $300.", ["price phone"]),
        ("The population of the town is 60,000.", ["population town"]),
        ("The battery lasts 10 hours.", ["battery"]),
        ("Unemployment fell to 4 percent.", ["unemployment"]),
        ("Net sales rose 5%.", ["net sales"]),
        ("The R&D budget was $5 million.", ["r&d budget"]),
        ("Revenue rose 5% to $3.5 million.", ["revenue", "revenue"]),
        ("The laptop weighs 1.2 kg and costs 900 euros.", ["laptop", "laptop"]),
        # the noun that has the mention, and the subject that has the noun
        ("It has a 3300 mAh battery.", ["battery"]),
        ("The town has a population of 60,000.", ["population | town"]),
        ("The battery has a capacity of 4,000 mAh.", ["capacity | battery"]),
        # the complement
        ("About 60% of the workers left.", ["workers"]),
        ("It has 64 GB of storage.", ["storage"]),
        # the object
        ("The company raised the price by 5%.", ["price"]),
        # what stands before the bracket
        ("The bridge (1,200 m) was built in 1990.", ["bridge"]),
        # pronouns name nothing
        ("It weighs 5 kg.", [""]),
        ("He ran 5 miles.", [""]),
        # each its own
        (
            "The company reported revenue of $5 million and profit of $2 million.",
            ["revenue | company", "profit | company"],
        ),
        ("The firm bought shares for $5 and bonds for $3.", ["shares", "bonds"]),
        ("The laptop has a weight of 1.2 kg and a price of 900 euros.", ["weight | laptop", "price | laptop"]),
        # what money buys
        ("The passengers paid $200 for the flights.", ["flights | passengers"]),
        ("The firm spent $5 million on robots.", ["robots | firm"]),
        ("The firm lost $5 million on Monday.", ["firm"]),
        # nouns that only say how much
        ("The houses sold after an average of 70 days.", ["houses"]),
        ("The visitors paid a total of $500 for tickets.", ["tickets | visitors"]),
        ("Some of the best deals include $50 off a laptop.", ["laptop | best deals"]),
        # whoever is counted has the rest
        ("The two brothers have a net worth of $3.5 billion.", ["", "net worth | brothers"]),
        ("Oil/gas prices rose 5%.", ["oil gas prices"]),
        # when it was, and pronouns of an aside
        ("In the last three months the price rose 5%.", ["", "price"]),
        ("Its shares fell 3% although it was traded at $5.", ["shares", ""]),
        ("Revenue and profit were $5 million and $2 million, respectively.", ["revenue", "profit"]),
        ("Sales in Japan and India rose 2% and 4%, respectively.", ["sales japan", "sales india"]),
        ("Revenue and profit of Acme were $5 million and $2 million, respectively.", ["revenue acme", "profit acme"]),
        ("Urban and rural rents were $500 and $200, respectively.", ["urban rents", "rural rents"]),
        ("The number of students in schools rose 5%.", ["students schools"]),
        ("One of the windows broke.", [""]),
        # the same said again
        ("The firm lost 60% of its market value, or $30 million.", ["market value | firm", "market value | firm"]),
        # what is said of those who are counted
        ("Two workers were absent for three weeks.", ["", "absent"]),
        # two things that one subject has
        ("The cabin offers 38 inches of legroom and 2 cubic metres of space.", ["legroom | cabin", "space | cabin"]),
        # the head of a chain of nouns
        ("The survey has a margin of error of 3 points.", ["margin error | survey"]),
        # asides
        ("The firm, founded in 2016, has a debt of $5 million.", ["debt | firm"]),
        ("The firm posted a loss of $4 million on revenue of $9 million.", ["loss | firm", "revenue | firm"]),
        ("The contract is worth $5 million.", ["contract"]),
        ("The tunnel cut the journey time by 45 minutes.", ["journey time"]),
        ("There were 40% more complaints.", ["complaints"]),
        ("The 200 workers earn $5 an hour.", ["", "workers"]),
        # nouns inside prepositions
        ("They pay $30 on top of a penalty of 5 percent.", ["", "penalty"]),
        # abbreviations keep their full stop
        ("Acme Inc. grew by 5%.", ["acme inc."]),
        ("The U.S. budget is $5 million.", ["u.s. budget"]),
    ],
)
def test_by_the_parse(rules, text, expected):
    assert concepts(rules, text) == expected


def test_units_and_other_mentions_are_no_concept(rules):
    for q in rules.extract("The 12 red doors of the house cost $900 and weigh 40 kg."):
        assert not {*q.concept, *q.subject} & {"12", "$", "900", "40", "kg"}


def test_concepts_need_no_capital_and_keep_the_order(rules):
    assert concepts(rules, "The net worth of the singer is $40 million.") == ["net worth singer"]


@pytest.mark.parametrize(
    "heads",
    [
        [0, 0, 0, 0, 0, 0, 0],
        [6, 6, 6, 6, 6, 6, 6],
        [1, 2, 3, 4, 5, 6, 6],
        [0, 0, 1, 2, 3, 4, 5],
    ],
)
@pytest.mark.parametrize("relation", ["nsubj", "obj", "nmod", "conj", "acl", "compound", "dep", "nummod", "root", ""])
@pytest.mark.parametrize("tag", ["NN", "VBD", "CD", ""])
def test_any_tree_gives_words_outside_the_mentions(heads, relation, tag):
    tokens = tokenize("doors 5 kg and 7 men (")
    assert len(tokens) == len(heads)
    places = [MentionTokens(1, 3, 1), MentionTokens(4, 6, 4, "count")]
    found = find_concepts(tokens, places, Parse([tag] * 7, heads, [relation] * 7))
    assert len(found) == 2
    for concept in found:
        words = [*concept.words, *concept.subject]
        assert set(words) <= {0, 3, 6}
        assert list(dict.fromkeys(words)) == words
        assert concept.how
