"""Wordings of queries about things: the domains that come with qbench, and files of users."""

from __future__ import annotations

import re
from typing import get_args

import pytest

from qbench.errors import InputError
from qbench.generation.options import Domain
from qbench.generation.wording import ASKED, Attribute, Written, load_wording, wording_file
from qbench.quantities.extractors import ExtractorOptions, get_extractor
from qbench.randomness import generator

WEIGHT = Attribute("w", "weight", ("mass",), "kilogram")
SUGAR = Attribute("s", "sugar", (), "gram", "100 g", uncountable=True)


@pytest.mark.parametrize("domain", get_args(Domain))
@pytest.mark.parametrize("comparator", ASKED)
def test_every_domain_words_every_comparator(domain, comparator):
    wording = load_wording(wording_file(domain))
    written = Written("2", "3 kg") if comparator == "between" else Written("2 kg", "2 kg")
    texts = set()
    for number in range(30):
        rng = generator(number, "wording")
        text, name = wording.constraint(WEIGHT, comparator, written, "mass", rng, alone=True)
        texts.add(text)
        assert "{" not in text
        assert "2" in text
        assert name in ("", "weight", "mass")
        assert not name or name in text
        several = [text, *(wording.constraint(SUGAR, "<", Written("5 g", "5 g"), "mass", rng, alone=False)[0],) * 2]
        query = wording.query("steel kettle", several[: 1 + number % 3], rng)
        assert "steel kettle" in query
        assert "{" not in query
    assert len(texts) > 2


@pytest.mark.parametrize("domain", get_args(Domain))
@pytest.mark.parametrize("comparator", ["<", "<=", ">", ">=", "between"])
def test_a_phrase_means_its_comparator(domain, comparator):
    """The parser of queries reads each phrase as what it stands for."""
    wording = load_wording(wording_file(domain))
    read = get_extractor(ExtractorOptions(spacy_model="none")).parse_query
    phrases = [*wording.plain[comparator], *wording.named[comparator], *wording.stuff[comparator]]
    phrases += [phrase for table in wording.families.values() for phrase in table[comparator]]
    wrong = []
    for phrase in phrases:
        text = "kettle " + phrase.format(name="weight", value="5 kg", low="5", high="7 kg")
        found = [condition.comparator for condition in read(text).conditions]
        if found != [comparator]:
            wrong.append((phrase, found))
    assert wrong == []


@pytest.mark.parametrize("comparator", ["<", "<=", ">", ">=", "between"])
def test_a_chinese_phrase_means_its_comparator(comparator):
    wording = load_wording(wording_file("products", language="zh"))
    assert wording_file("finance", language="zh") == wording_file("products", language="zh")
    read = get_extractor(ExtractorOptions(language="zh")).parse_query
    wrong = []
    for phrase in (*wording.plain[comparator], *wording.named[comparator], *wording.stuff[comparator]):
        text = phrase.format(name="重量", value="5公斤", low="5", high="7公斤")
        for frame in wording.frames:
            found = [one.comparator for one in read(frame.format(category="水壶", constraints=text)).conditions]
            if found != [comparator]:
                wrong.append((frame, phrase, found))
    assert wrong == []


def test_chinese_wording_has_no_spaces_and_says_what_it_refers_to():
    wording = load_wording(wording_file("products", language="zh"))
    sugar = Attribute("糖", "糖", (), "gram", "100克", uncountable=True)
    text, name = wording.constraint(sugar, "<", Written("5克", "5克"), "mass", generator(1, "x"), alone=True)
    assert (text[:5], name) == ("每100克", "糖")
    assert " " not in wording.query("果汁", [text, "价格低于9元"], generator(2, "x"))
    assert wording.wanted(Attribute("p", "整机重量")) == "little"
    assert wording.wanted(Attribute("p", "电池容量")) == "much"
    assert wording.wanted(Attribute("p", "屏幕尺寸")) == "either"


def test_what_is_asked_per_something_says_so():
    wording = load_wording(wording_file("products"))
    text, name = wording.constraint(SUGAR, "<", Written("5 g", "5 g"), "mass", generator(1, "x"), alone=True)
    assert name == "sugar"
    assert text.endswith("per 100 g")


def test_articles_and_plurals():
    wording = load_wording(wording_file("finance"))
    income = Attribute("i", "income", (), "dollar")
    texts = {
        wording.constraint(income, ">", Written("$5", "$5"), "currency", generator(n, "x"), alone=False)[0]
        for n in range(40)
    }
    assert "with an income above $5" in texts
    queries = {wording.query("company", ["with $5"], generator(n, "y")) for n in range(20)}
    assert queries == {"companies with $5", "company with $5"}


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('"<" = ["under {value}"', '"<" = ["under {price}"', "unknown slot {price}"),
        ("{category} {constraints}", "{constraints}", "the slot {category} must stand there once"),
        ('"between" = ["between {low} and {high}", "{low} to {high}", "with', '"between" = ["{low}", "with', "{high}"),
        ('2 = ["{0} {1}", ', '2 = ["{0}", ', "the slot {1} must stand there once"),
        ("low =", "lower =", "lower"),
    ],
)
def test_a_file_that_cannot_be_used_is_refused_with_its_line(tmp_path, old, new, message):
    text = wording_file("products").read_text(encoding="utf-8")
    assert old in text
    path = tmp_path / "mine.toml"
    path.write_text(text.replace(old, new, 1), encoding="utf-8")
    with pytest.raises(InputError) as fault:
        load_wording(path)
    assert message in str(fault.value)
    assert "mine.toml" in str(fault.value)


def test_nobody_asks_a_shop_for_less_of_what_people_want():
    wording = load_wording(wording_file("products"))
    memory = wording.weights(Attribute("m", "main memory", (), "gigabyte"))
    price = wording.weights(Attribute("p", "cost of delivery", (), "euro"))
    assert memory.keys() == {">=", ">", "between", "="}
    assert price.keys() == {"<", "<=", "between", "="}
    assert wording.weights(Attribute("d", "diameter", (), "metre")).keys() == set(ASKED)
    # An analyst may well look for companies with little profit.
    finance = load_wording(wording_file("finance"))
    assert all(finance.weights(Attribute("p", "profit", (), "dollar")).get(comparator) for comparator in ASKED)


@pytest.mark.parametrize("weights", ['{ "<" = -1, "=" = 2 }', '{ "between" = 3 }', "{ }"])
def test_weights_that_leave_nothing_are_refused(tmp_path, weights):
    text = wording_file("products").read_text(encoding="utf-8")
    path = tmp_path / "mine.toml"
    path.write_text(re.sub(r"(?m)^little = .*$", f"little = {weights}", text), encoding="utf-8")
    with pytest.raises(InputError, match="little"):
        load_wording(path)


@pytest.mark.parametrize("kind", ["cookies", "rice", "brown rice", "glasses for readers"])
def test_kinds_without_another_plural_stay_as_they_are(kind):
    wording = load_wording(wording_file("products"))
    assert {wording.query(kind, ["under 2 kg"], generator(n, "x")) for n in range(20)} == {f"{kind} under 2 kg"}


def test_the_plural_of_a_kind_is_that_of_its_head():
    wording = load_wording(wording_file("products"))
    texts = {wording.query("laptop for gamers", ["under 2 kg"], generator(n, "x")) for n in range(30)}
    assert any(text.startswith("laptops for gamers") for text in texts)
    assert not any("gamerses" in text for text in texts)
