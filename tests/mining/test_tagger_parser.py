"""The parser "tagger": the contract of `DescriptionParser`."""

from __future__ import annotations

from dataclasses import replace

import pytest

from qbench.errors import InputError, OptionError, UnknownNameError
from qbench.mining.gold import GoldSample
from qbench.mining.parsers import get_parser, score_parser
from qbench.mining.tagger_parser import KIND, pivot_of
from qbench.mining.types import Description
from qbench.quantities.types import Quantity
from qbench.store import drafting
from tests.encoder_factories import tiny_bert
from tests.gold_factories import ENGLISH, english

NEUTRAL = Quantity(1, 1, "=", "", "", "", 1, 1)


def checkpoint(folder, encoder, seed):
    from qbench.models.tagger import Tagger

    with drafting(folder, KIND, f"seed {seed}", {}) as draft:
        Tagger.new(encoder, seed, 16).save(draft.folder)
    return folder


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    root = tmp_path_factory.mktemp("parser")
    return checkpoint(root / "one", tiny_bert(root / "bert", ENGLISH), 1)


@pytest.fixture(scope="module")
def parser(folder):
    return get_parser("tagger", folder=folder)


def sentences():
    for row in english(24):
        text, (start, end) = row["text"], row["pivot"]
        amount = replace(NEUTRAL, value_span=(start, end - 3), unit_span=(end - 2, end))
        yield (
            text,
            [amount, replace(NEUTRAL, value_span=(0, 2)), replace(NEUTRAL, value_span=(len(text) - 1, len(text)))],
        )


def test_one_description_a_mention_in_order_apart_from_it(parser):
    rows = [*sentences(), ("nothing here", []), *sentences()]
    found = parser.parse_many(rows)
    assert [len(row) for row in found] == [len(quantities) for _, quantities in rows]
    assert found[:24] == found[25:]
    assert sum(description.factual for row in found for description in row) > 5
    for (text, quantities), row in zip(rows, found, strict=True):
        for quantity, description in zip(quantities, row, strict=True):
            places = [0, *(place for span in description.segments for place in span), len(text)]
            assert places == sorted(places)
            assert description.factual == bool(description.segments)
            for start, end in description.segments:
                for span in (quantity.value_span, quantity.unit_span or quantity.value_span):
                    assert end <= span[0] or span[1] <= start


def test_a_unit_elsewhere_in_the_sentence_is_never_part_of_the_description(parser):
    text = "the staff of acme was 120 - 2020 up to 3 mn"
    apart = replace(NEUTRAL, value_span=(22, 25))
    (free,), (bound,) = parser.parse_many([(text, [apart]), (text, [replace(apart, unit_span=(4, 9))])])
    assert any(start < 9 and end > 4 for start, end in free.segments), "or this test says nothing"
    assert bound.segments == tuple(span for span in free.segments if span[1] <= 4 or span[0] >= 9)


def test_the_pivot_is_the_mention_as_annotators_mark_it():
    text = "(over $ 5 bn, or 5%)"
    five = replace(NEUTRAL, value_span=(8, 12), unit_span=(6, 7), comparator_span=(1, 5))
    assert text[slice(*pivot_of(text, five))] == "over $ 5 bn"
    assert pivot_of(text, replace(five, unit_span=(18, 19), comparator_span=None)) == (8, 12)


def test_nothing_to_parse(parser):
    assert parser.parse_many([]) == []
    assert parser.parse_many([("", [NEUTRAL]), ("text", [])])[1] == []


def test_the_key_names_the_bytes_of_the_checkpoint(parser, folder, tmp_path):
    assert parser.name == "tagger"
    assert parser.key() == get_parser("tagger", folder=folder).key()
    other = checkpoint(tmp_path / "two", folder.parent / "bert", 2)
    assert get_parser("tagger", folder=other).key() != parser.key()


def test_parsers_by_name(tmp_path):
    with pytest.raises(UnknownNameError, match="tagger"):
        get_parser("oracle")
    with pytest.raises(OptionError, match="needs the folder of its checkpoint"):
        get_parser("tagger")
    with pytest.raises(InputError, match=r"manifest\.json"):
        get_parser("tagger", folder=tmp_path)


class Told:
    """A parser that knows the answers, and sees to it that the mentions of a text come together."""

    name = "told"

    def __init__(self, gold):
        self.gold = gold

    def key(self):
        return {}

    def parse_many(self, sentences):
        assert len({text for text, _ in sentences}) == len(sentences)
        return [
            [Description(self.gold[text, quantity.value_span]) for quantity in quantities]
            for text, quantities in sentences
        ]


def test_scores_of_a_parser_that_is_told_the_pivots():
    samples = [
        GoldSample("a of b is 3 and 4", (10, 11), ((0, 1), (5, 6)), "x"),
        GoldSample("none is 7", (8, 9), (), "y"),
        GoldSample("a of b is 3 and 4", (16, 17), ((0, 6),), "x"),
    ]
    answers = {(sample.text, sample.pivot): sample.segments for sample in samples}
    assert score_parser(Told(answers), samples)["strict"].accuracy == 1
    answers["none is 7", (8, 9)] = ((0, 4),)
    answers["a of b is 3 and 4", (16, 17)] = ((0, 4),)
    scores = score_parser(Told(answers), samples)
    assert (scores["strict"].precision, scores["partial"].precision) == (2 / 4, 3 / 4)
