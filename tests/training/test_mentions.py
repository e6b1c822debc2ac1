"""Mentions of what is learnt from: in samples that were made by a change, in documents with titles."""

from __future__ import annotations

from dataclasses import replace

import pytest

from qbench.quantities.types import Quantity, to_row
from qbench.training.mentions import Changed, sample_mentions
from qbench.training.triples import read_triples
from tests.encoder_factories import regular_benchmark
from tests.factories import frame, quantity

DOCUMENT = "about 5 kg in 2 boxes for $30"
MENTIONS = (
    Quantity(5, 5, "~", "kilogram", "mass", "kilogram", 5, 5, value_span=(6, 7), unit_span=(8, 10)),
    Quantity(2, 2, "=", "box", "count", "box", 2, 2, value_span=(14, 15), unit_span=(16, 21)),
    Quantity(30, 30, "=", "dollar", "currency", "dollar", 30, 30, value_span=(27, 29), unit_span=(26, 27)),
)


@pytest.mark.parametrize(
    ("sample", "changed", "written"),
    [
        ("about 12.5 kg in 2 boxes for $30", Changed(12.5, "kilogram", (6, 10)), ("12.5", "kg", 12.5)),
        ("about 55 kg in 2 boxes for $30", Changed(55, "kilogram", (6, 8)), ("55", "kg", 55)),
        ("about 5 pounds in 2 boxes for $30", Changed(5, "pound-mass", (6, 7)), ("5", "pounds", 5 * 0.45359237)),
        ("about £5 in 2 boxes for $30", Changed(5, "pound sterling", (7, 8)), ("5", "£", 5)),
        ("about 5 kg in 2 boxes for 30 euros", Changed(30, "euro", (26, 28)), ("30", "euros", 30)),
    ],
)
def test_a_changed_sample_has_the_new_quantity_and_the_others_where_they_are_now(sample, changed, written):
    mentions = sample_mentions(DOCUMENT, MENTIONS, sample, changed)
    spans = [(sample[slice(*one.value_span)], sample[slice(*one.unit_span)], one.base_value) for one in mentions]
    assert len(spans) == 3
    assert {written, ("2", "boxes", 2)} < set(spans)
    own = next(one for one in mentions if one.value_span == changed.span)
    assert (own.value, own.unit) == (changed.value, changed.unit)


def test_a_mention_that_the_change_may_have_touched_is_left_out():
    document, sample = "5 or 6 kg", "5 or 6 pounds"
    both = [replace(MENTIONS[0], value_span=span, unit_span=(7, 9)) for span in ((0, 1), (5, 6))]
    (own,) = sample_mentions(document, both, sample, Changed(6, "pound-mass", (5, 6)))
    assert (own.value, own.unit, sample[slice(*own.unit_span)]) == (6, "pound-mass", "pounds")


def test_documents_have_their_extracted_mentions_behind_the_title():
    benchmark = regular_benchmark()
    text = benchmark.corpus["text"][0]
    rows = [to_row("d000", quantity(text, "5", 5))]
    none = {"samples": benchmark.samples.clear(), "triples": benchmark.triples.clear()}
    titled = benchmark.corpus.with_columns(title="source_id", source_id="doc_id")
    data = read_triples(replace(benchmark, corpus=titled, quantities=frame("quantities", rows), **none))
    (mention,) = data.mentions(0)
    assert data.texts[0][slice(*mention.value_span)] == "5"
    assert data.texts[0].endswith(f"\n{text}")
    assert data.mentions(1) == ()
