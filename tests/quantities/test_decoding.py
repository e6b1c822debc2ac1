"""UTF-8 that was taken for Latin-1 or Windows-1252."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from qbench.quantities.decoding import decoded
from qbench.quantities.extractors import ExtractorOptions, get_extractor

READER = get_extractor(ExtractorOptions())
MEANT = "the 34‐year‐old’s 5½ inch pipe – at 32 °F – costs £12 or €15, 3 µg of it, “hot” … at −196 °C"


def broken_as(text, wrong):
    """A text whose UTF-8 was decoded wrongly; bytes that Windows-1252 has no character for stay control characters."""
    bytes_of = ([byte] for byte in text.encode())
    return "".join(bytes(b).decode("latin-1" if b[0] in (0x81, 0x8D, 0x8F, 0x90, 0x9D) else wrong) for b in bytes_of)


@pytest.mark.parametrize("wrong", ["latin-1", "cp1252"])
def test_it_is_undone(wrong):
    assert broken_as(MEANT, wrong) != MEANT
    assert decoded(broken_as(MEANT, wrong)).text == MEANT


@pytest.mark.parametrize(
    "text", ["château", "Ânes", "café”—", "MANHÃ” – 5 km", "Ïle", "Â", "â", "", "naïve 32 °F", "â€", "Ã("]
)
def test_other_texts_stay(text):
    assert decoded(text) == (text, None)


@given(st.text(st.sampled_from("aÂâÃÎÏ°£€™\x80\x99\xb0\xa0½ 5é”"), max_size=20))
def test_places_lead_back(text):
    found = decoded(text)
    places = found.places if found.places is not None else range(len(text) + 1)
    assert len(places) == len(found.text) + 1
    assert places[0] == 0
    assert places[-1] == len(text)
    assert all(a < b for a, b in pairwise(places))
    kept = [k for k in range(len(found.text)) if places[k + 1] - places[k] == 1]
    assert all(found.text[k] == text[places[k]] for k in kept)


@pytest.mark.parametrize("wrong", ["latin-1", "cp1252"])
def test_mentions_point_into_the_text_as_it_is(wrong):
    text = broken_as("The fee was €33 at 32 °F near the château.", wrong)
    fee, cold = READER.extract(text)
    assert [(q.value, q.unit) for q in (fee, cold)] == [(33, "euro"), (32, "fahrenheit")]
    assert text[slice(*fee.unit_span)] == broken_as("€", wrong)
    assert [text[slice(*q.value_span)] for q in (fee, cold)] == ["33", "32"]
    assert text[slice(*cold.unit_span)] == broken_as("°F", wrong)
    assert [text[slice(*span)] for span in fee.concept_spans] == ["fee"]


def test_what_was_lost_is_read():
    broken = broken_as("It takes 2–5 days.", "latin-1")
    (days,) = READER.extract(broken)
    assert (days.value, days.high, days.unit) == (2, 5, "day")
    assert broken[slice(*days.value_span)] == broken_as("2–5", "latin-1")
