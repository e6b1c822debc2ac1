"""Which pairs somebody would ask about."""

from __future__ import annotations

import polars as pl
import pytest

from qbench.errors import InputError
from qbench.generation import gate
from qbench.generation.gate import Gate, usable_pairs
from qbench.generation.mentions import load_mentions
from qbench.generation.options import GenerationOptions
from qbench.generation.pairs import Pair, pair_table, phrase
from qbench.mining.english import content
from qbench.quantities.english import heads
from qbench.quantities.types import Quantity, quantity_schema, to_row
from qbench.quantities.units import load_units

UNITS = load_units()


def mentions_of(*said, wording="the {concept} was {value}"):
    """One sentence, "the CONCEPT was VALUE UNIT", for each (concept, value, unit) or (..., change)."""
    texts, rows = [], []
    for number, (concept, value, unit, *change) in enumerate(said):
        known = UNITS.get(unit)
        article = "a" if number % 2 else "the"
        text = f"In case {number} {wording.format(concept=concept, value=value, article=article)} {unit}."
        at, end = text.index(concept), text.index(concept) + len(concept)
        joint = concept.partition(" for ")
        places = ((at, at + len(joint[0])), (end - len(joint[2]), end)) if joint[1] else ((at, end),)
        start = text.index(f" {value} ", end) + 1
        words = tuple(word for word in concept.lower().split() if word != "for")
        mention = Quantity(
            value, value, "=", unit, known.family, known.base_unit, known.factor * value, known.factor * value, words,
            value_span=(start, start + len(str(value))), concept_spans=places, change="".join(change),
        )  # fmt: skip
        texts.append((f"d{number}", text))
        rows.append(to_row(f"d{number}", mention))
    table = pl.DataFrame(texts, schema=["doc_id", "text"], orient="row")
    return load_mentions(table, pl.DataFrame(rows, schema=quantity_schema()))


def reason_of(concept, unit, *, value=3.0, change="", more=(), **wording):
    words = tuple(word for word in concept.lower().split() if word != "for")
    mentions = mentions_of(*((concept, value + n, unit, change) for n in range(5)), *more, **wording)
    table = pair_table(mentions)
    rows = table.drop("values").iter_rows()
    return Gate(mentions, {Pair(tuple(c.split()), u, m): n for c, u, m, n in rows}).reason(Pair(words, unit, change))


@pytest.mark.parametrize(
    ("concept", "unit", "reason"),
    [
        ("follow-up", "month", None),
        ("RAM", "gigabyte", None),
        ("ACME", "ton", gate.NAME),
        ("flash storage storage", "gigabyte", gate.REPEATED),
        ("debt maturity", "year", None),
        ("effective tax rate", "month", gate.TIME),
        ("operating income", "year", gate.TIME),
        ("unemployment rate", "percentage", None),
        ("patients", "percentage", gate.POPULATION),
        ("placebo group", "percentage", gate.NOTHING),
        ("charges", "dollar", gate.NOTHING),
        ("severance charges", "dollar", None),
        ("service", "year", gate.NOTHING),
        ("women", "percentage", gate.POPULATION),
        ("net", "dollar", gate.NOTHING),
        ("people", "people", gate.NOTHING),
        ("following table", "dollar", gate.NOTHING),
        ("net increase", "dollar", gate.MOVED),
        ("cost decrease", "dollar", gate.MOVED),
        ("march sales", "dollar", gate.DATE),
        ("income 2022", "dollar", gate.DATE),
        ("net profit loss", "dollar", gate.REPEATED),
        ("loss share loss", "dollar", gate.REPEATED),
        ("net income", "dollar", None),
        ("hazard ratio", "", None),
        ("women", "", gate.CODE),
        ("page footer", "", gate.CODE),
        ("Northern Bay", "dollar", gate.NAME),
        ("2022net sales", "dollar", gate.WORDLESS),
        ("st half sales", "dollar", gate.WORDLESS),
        ("provision for losses", "dollar", None),
        ("head", "head", gate.NOUN),
        ("score", "", gate.NOTHING),
        ("age", "year of age", gate.NOTHING),
        ("pain score", "", None),
        ("worth of fish", "dollar", gate.NOTHING),
        ("patients mean age", "year of age", gate.NOTHING),
        ("children aged", "year of age", None),
        ("crop 1985/86", "tonne", gate.DATE),
        ("after-tax", "dollar", gate.NOTHING),
        ("after-tax profit", "dollar", None),
        ("net benefit", "dollar", gate.NOTHING),
        ("pension benefit", "dollar", None),
        ("total cost", "dollar", gate.NOTHING),
        ("mooring cost", "dollar", None),
        ("net included income", "dollar", gate.NOTHING),
        ("dollar equivalent", "dollar", gate.NOTHING),
        ("Ruritania", "tonne", gate.NAME),
    ],
)
def test_reasons(concept, unit, reason):
    assert reason_of(concept, unit) == reason


def test_mining_and_the_gate_share_their_words():
    """A word that both rooms know stands in the list that they share, once."""
    assert heads.LASTING == gate._LASTING & content._LASTING
    assert heads.POPULATIONS <= gate._PEOPLE
    assert heads.EMPTY <= gate._EMPTY & content._EMPTY
    for word in ("warranty", "pregnancy"):
        lasts = content.lack(f"{word} time", f"The {word} is 9 weeks.", weeks(word)) == ""
        assert lasts
        assert (reason_of(word, "week") is None) is (word in heads.LASTING)


def weeks(concept):
    return Quantity(9, 9, "=", "week", "time", "week", 9, 9, (concept,))


def test_bare_numbers_are_asked_for_where_they_measure():
    assert reason_of("newspaper circulation", "", value=40_000.0) is None
    assert reason_of("shipments", "", value=40_000.0) == gate.CODE  # of tonnes, or of boxes


@pytest.mark.parametrize(
    "concept", ["prior-year charge", "previous dividend", "current quarter sales", "100 million mark", "such loans"]
)
def test_nobody_asks_for_what_only_the_text_points_to(concept):
    assert reason_of(concept, "dollar") == gate.NOTHING


def test_current_assets_are_a_name():
    assert reason_of("current assets", "dollar") is None


def dollars(concept):
    return [(concept, 7.0 + n, "dollar") for n in range(5)]


def test_what_is_stated_as_a_whole_is_not_asked_for_per_share():
    assert reason_of("revenue", "dollar per share", more=dollars("revenue")) == gate.PER_SHARE
    assert reason_of("dividend", "dollar per share") is None


def test_cents_of_a_profit_are_those_of_a_share():
    more = [("profit", 4e6 + n, "dollar") for n in range(6)]
    assert reason_of("profit", "cent", more=more) == gate.CENTS
    assert reason_of("ferry fare", "cent", more=more) is None


def test_a_percentage_of_an_amount_may_be_growth_or_share():
    assert reason_of("exports", "percentage", more=dollars("exports")) == gate.SHARE_OR_GROWTH
    assert reason_of("exports", "percentage", change="up", more=dollars("exports")) is None
    assert reason_of("humidity", "percentage") is None


def test_counted_nouns():
    assert reason_of("workers", "worker", value=30.0) is None
    assert reason_of("staff", "worker", value=30.0) is None
    assert reason_of("houses", "house", value=2.0) == gate.NOUN
    assert reason_of("ferries", "ferry", value=2.0) == gate.FEW_COUNTED
    assert reason_of("ferry passage", "worker", value=30.0) == gate.NOT_COUNTED
    assert reason_of("surplus", "surplus", value=30.0, more=dollars("surplus")) == gate.NOUN
    assert reason_of("patients", "group") == gate.NOUN


def test_levels_and_changes_are_different_pairs():
    said = [("sales", float(n), "percentage", change) for n in range(6) for change in ("", "up")]
    table = pair_table(mentions_of(*said))
    assert table.select("concept", "unit", "change", "sentences").rows() == [
        ("sales", "percentage", "", 6),
        ("sales", "percentage", "up", 6),
    ]


def test_singular_and_plural_are_one_pair_under_the_more_frequent_name():
    said = [("net incomes", 1.0, "dollar"), *(("net income", float(n), "dollar") for n in range(3))]
    assert pair_table(mentions_of(*said)).rows() == [("net income", "dollar", "", 4, 3)]


def test_queries_say_a_concept_as_the_corpus_does():
    mentions = mentions_of(*(("Provision for losses", float(n), "dollar") for n in range(3)))
    assert phrase(mentions, Pair(("provision", "losses"), "dollar")) == "provision for losses"
    counted = mentions_of(*(("worker", float(n), "worker") for n in range(3)))
    assert phrase(counted, Pair(("worker",), "worker")) == "workers"


def test_what_is_left_out_is_counted_and_nothing_left_is_an_error():
    many = [("net income", float(n), "dollar") for n in range(6)] + [("net", float(n), "dollar") for n in range(6)]
    pairs, refused = usable_pairs(mentions_of(*many, ("margin", 2.0, "dollar")), GenerationOptions())
    assert pairs == [Pair(("net", "income"), "dollar")]
    assert refused == {"too few sentences": 1, gate.NOTHING: 1}
    with pytest.raises(InputError, match=f"{gate.NOTHING}: 1"):
        usable_pairs(mentions_of(*many[6:]), GenerationOptions())
    every = usable_pairs(mentions_of(*many), GenerationOptions(gate=False))[0]
    assert every == [Pair(("net",), "dollar"), Pair(("net", "income"), "dollar")]


def test_a_word_between_an_article_and_the_number_names_nothing():
    assert reason_of("astounding", "dollar", wording="it generates an {concept} {value}") == gate.NOTHING
    assert reason_of("fine", "dollar", wording="it paid a {concept} of {value}") is None
    for passes in ("it generates {concept} {value}", "an {concept}: {value}", "an {concept} 1987 of {value}"):
        assert reason_of("astounding", "dollar", wording=passes) is None
    assert reason_of("content", "milligram", wording="vitamin A {concept} {value}") is None
    assert reason_of("BMI", "kilogram", wording="patients with a {concept} {value}") == gate.NAME


def test_a_name_that_stands_elsewhere_too_passes_behind_an_article():
    assert reason_of("surplus", "dollar", wording="{article} {concept} {value}") is None
    assert reason_of("surplus", "dollar", wording="a {concept} {value}") == gate.NOTHING


def test_a_heading_that_ran_into_the_words_after_it():
    said = [(concept, 3.0 + n, "dollar") for concept in ("harbour tolls", "cash paid") for n in range(5)]
    assert reason_of("TollsCash paid", "dollar", more=said) == gate.RAN_IN
    assert reason_of("TarlineCash paid", "dollar", more=said) is None
    assert reason_of("cash paid", "dollar", more=said[:5]) is None
