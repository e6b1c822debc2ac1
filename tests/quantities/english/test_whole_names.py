"""Names in concepts are whole, or are not there."""

import pytest

from qbench.quantities.english.binder.whole_names import with_whole_names
from qbench.quantities.english.concepts import Concept
from qbench.quantities.english.rules import RulesExtractor
from qbench.quantities.languages import EMBEDDED
from qbench.quantities.units import load_units

RULES = RulesExtractor(load_units(), spacy_model=EMBEDDED)


@pytest.mark.parametrize(
    ("text", "words", "expected"),
    [
        # it belongs to another word of the concept
        ("Sales in Latin America rose by 42%.", "Sales Latin", "Sales Latin America"),
        ("Net sales of Kestra Foods Oyj rose 5%.", "Net sales Foods Oyj", "Net sales Kestra Foods"),
        ("The costs of Nordic Tyres Ltd. fell by 5%.", "costs Ltd", "costs Nordic Tyres"),
        ("Plans of the Overseas Co-operation Fund cost 5 million.", "Plans Co Fund", "Plans Co Fund"),
        # it does not
        ("Swiss Ore will buy the stock for $5 million.", "stock Ore", "stock"),
        ("Its offices, which lie in San Berto, have 40 rooms.", "offices Berto", "offices"),
        ("Net sales of Kestra, as Tern Oyj said, rose 5%.", "Net sales Oyj", "Net sales"),
        # there is nothing else
        ("Acme Brands Inc exported 49,822 cars.", "Brands", "Acme Brands"),
        ("The Lumen Air 13 weighs 1.2 kg.", "Lumen 13", "Lumen Air 13"),
        # whole, or no name
        ("Sales in Latin America rose by 42%.", "Sales America Latin", "Sales America Latin"),
        ("NET SALES for May rose by 42%.", "SALES", "SALES"),
        ("One Two Three Four Five Six Holdings rose by 42%.", "Holdings", "Holdings"),
        ("A-S Danske rose 3% in May.", "S", "S"),
    ],
)
def test_half_a_name(text, words, expected):
    (read,) = RULES.read_many([text])
    sentence = read.sentence()
    places = {token.text: k for k, token in enumerate(sentence.tokens)}
    concept = Concept(tuple(places[word] for word in words.split()), "given")
    found = with_whole_names(sentence, [concept])[0]
    assert " ".join(sentence.tokens[k].text for k in (*found.words, *found.subject)) == expected


def test_the_subject_takes_the_place_of_words_that_were_half_a_name():
    (read,) = RULES.read_many(["Swiss Ore will buy the stock for $5 million."])
    sentence = read.sentence()
    stock = [token.text for token in sentence.tokens].index("stock")
    (found,) = with_whole_names(sentence, [Concept((1,), "given", (stock,))])
    assert (found.words, found.subject) == ((stock,), ())
