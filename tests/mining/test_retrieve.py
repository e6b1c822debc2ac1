"""From a description to quantities with evidence."""

import json

import polars as pl
import pytest

from qbench.errors import InputError, OptionError, UnknownNameError
from qbench.index import build_index
from qbench.index.disk import open_index
from qbench.mining.describe import describe
from qbench.mining.english.asked_kinds import asked_family
from qbench.mining.paraphrases import mine_paraphrases
from qbench.mining.questions import read_questions
from qbench.mining.retrieve import open_descriptions, retrieve_quantity
from qbench.mining.test_set import make_test_set


def test_the_best_answer_states_the_fact(descriptions):
    asked = ["population of Dunmere in 2019", "books that the library of Greywater lent", "zzz"]
    population, books, nothing = retrieve_quantity(descriptions, asked, top=2)
    assert {answer.value for answer in population} == {64_276.0}
    assert {answer.source_id for answer in population} == {"Dunmere-a", "Dunmere-b"}
    best = books[0]
    assert (best.value, best.unit) == (9_229.0, "book")
    assert next(best.sentence[a:b] for a, b in best.mention) == "9,229"
    assert "Greywater" in best.description
    assert nothing == []


def test_an_index_is_described_once_beside_itself(index):
    made = open_descriptions(index)
    assert made.path.name == ".index.descriptions"
    assert not open_descriptions(index).new
    assert made.manifest.digest == open_descriptions(made.path).manifest.digest


def test_what_cannot_be(descriptions, corpus):
    with pytest.raises(OptionError, match="only a first stage"):
        retrieve_quantity(descriptions, ["tea"], system="QBM25")
    with pytest.raises(UnknownNameError):
        retrieve_quantity(descriptions, ["tea"], system="BM52")
    with pytest.raises(OptionError, match="top is at least 1"):
        retrieve_quantity(descriptions, ["tea"], top=0)
    with pytest.raises(InputError):
        open_descriptions(corpus.parent / "none")


SHOP = {
    "kestrel": "The Kestrel 9 weighs 1.2 kg. It costs $1,199 and has 16 GB of memory. Its battery lasts 12 hours.",
    "heron": "The Heron Slim weighs 1.4 kg. The price of the Heron Slim is 899 dollars. It has a screen of 13 inches.",
    "plover": "The Plover Max weighs 2.3 kg and costs at least $1,500. It has a cost of capital of 8%.",
}


@pytest.fixture(scope="module")
def shop(tmp_path_factory):
    folder = tmp_path_factory.mktemp("shop")
    lines = [json.dumps({"doc_id": name, "text": text}) for name, text in SHOP.items()]
    (folder / "shop.jsonl").write_text("\n".join(lines) + "\n")
    return open_descriptions(build_index(folder / "shop.jsonl", folder / "index", workers=1).path)


@pytest.mark.parametrize(
    ("asked", "value", "unit"),
    [
        ("price of the Kestrel 9", 1199, "dollar"),
        ("Kestrel 9 price", 1199, "dollar"),
        ("price of the Heron Slim", 899, "dollar"),
        ("how heavy is the Plover Max", 2.3, "kilogram"),
        ("battery life of the Kestrel 9", 12, "hour"),
        ("cost of capital", 8, "percentage"),  # all words are there, whatever the unit
        ("Heron screen", 13, "inch"),
    ],
)
def test_a_question_for_a_price_is_answered_with_a_price(shop, asked, value, unit):
    (answers,) = retrieve_quantity(shop, [asked], top=3)
    assert (answers[0].value, answers[0].unit) == (value, unit)
    assert [answer.score for answer in answers] == sorted((answer.score for answer in answers), reverse=True)


def test_what_no_document_names_is_no_answer(shop):
    assert retrieve_quantity(shop, ["price of the zzz"], top=1)[0][0].unit == "dollar"  # it shares the word
    assert retrieve_quantity(shop, ["salary zzz"], top=3) == [[]]


@pytest.mark.parametrize(
    ("text", "family"),
    [
        ("PRICE of tea", "currency"),
        ("how long is the flight", "time"),
        ("half-life of radon", "time"),
        ("storage of the phone", "data"),
        ("price and weight of tea", None),
        ("price", None),
        ("number of agents in Pricetown", None),
        ("low-cost airline routes", None),
    ],
)
def test_which_kind_is_asked_for(text, family):
    found = asked_family(text)
    assert (found and found[0]) == family


@pytest.mark.parametrize(
    ("asked", "values"),
    [
        ("price below $1000", [899]),
        ("price of the Plover Max, over 1,000 dollars", [1500]),
        ("Kestrel 9 price above $1000", [1199]),
        ("Kestrel 9 weight under 1300 g", [1.2]),
        ("Heron weighs more than 1 kg", [1.4]),
    ],
)
def test_a_condition_is_searched_as_one_and_not_as_words(shop, asked, values):
    (answers,) = retrieve_quantity(shop, [asked], top=10)
    unit = "dollar" if "price" in asked else "kilogram"
    assert sorted(answer.value for answer in answers if answer.unit == unit) == values


def test_a_number_in_names_is_searched_as_words():
    told = pl.Series(["yield of 10-year notes", "yield of 2-year notes"])
    (notes,) = read_questions(["yield of 10-year notes"], told, "en")
    assert "10-year" in notes.words
    assert notes.conditions == ()
    (model,) = read_questions(["price of the Kestrel 9"], told, "en")
    assert model.words == "price of the Kestrel 9"


def test_an_index_that_describes_nothing_answers_nothing(tmp_path):
    lines = [
        json.dumps({"doc_id": f"kestrel {n}", "text": f"The Kestrel {n} is new. It costs ${900 + n}."}) for n in (2, 3)
    ]
    (tmp_path / "shop.jsonl").write_text("\n".join(lines) + "\n")
    descriptions = open_descriptions(build_index(tmp_path / "shop.jsonl", tmp_path / "index", workers=1).path)
    assert retrieve_quantity(descriptions, ["price of the Kestrel 2"]) == [[]]


def test_opened_artefacts_do_as_well_as_their_folders(corpus, tmp_path):
    index = open_index(build_index(corpus, tmp_path / "index", workers=1).path)
    descriptions = describe(index, tmp_path / "descriptions", workers=1)
    assert descriptions.new
    assert not describe(tmp_path / "index", tmp_path / "descriptions", workers=1).new
    assert retrieve_quantity(descriptions, ["tea"]) == retrieve_quantity(str(tmp_path / "descriptions"), ["tea"])
    pairs = mine_paraphrases(descriptions, tmp_path / "pairs", threads=1)
    assert not mine_paraphrases(tmp_path / "descriptions", tmp_path / "pairs", threads=1).new
    made = make_test_set(pairs, tmp_path / "set")
    assert made.digest == make_test_set(tmp_path / "pairs", tmp_path / "set").digest
