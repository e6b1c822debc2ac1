"""Codes of words behind token vectors, and what a word of a query is worth."""

from __future__ import annotations

import math

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from qbench.retrieval.coded_words import WordCodes
from qbench.scoring.value_code import WORD_SIGNS

TEXTS = pl.Series(["Two boats sail.", "A boat of 3.5 m", "trains, trains", ""])


def offsets_of(text):
    """One token a word, and a marker before and behind."""
    spans, at = [], 0
    for word in text.split():
        start = text.index(word, at)
        at = start + len(word)
        spans.append((start, at))
    return [(0, 0), *spans, (0, 0)]


def test_shares_follow_from_the_number_of_texts_with_a_word():
    shares = WordCodes.of(TEXTS).shares
    most = math.log1p(4.5 / 0.5)
    assert shares["boat"] == pytest.approx(math.log1p(2.5 / 2.5) / most)
    assert shares["train"] == pytest.approx(math.log1p(3.5 / 1.5) / most)


@given(st.lists(st.text(alphabet="ab c.5é\n", max_size=20), max_size=6))
def test_shares_are_between_zero_and_one_whatever_the_texts(texts):
    shares = WordCodes.of(pl.Series(texts, dtype=pl.String)).shares
    assert all(0 < share <= 1 for share in shares.values())


def test_words_in_other_forms_have_the_same_code_and_markers_none():
    words = WordCodes.of(TEXTS)
    one, other = (words.codes(text, offsets_of(text)) for text in ("BOATS sail", "sail boat"))
    assert one.shape == (4, WORD_SIGNS)
    assert not one[[0, -1]].any()
    np.testing.assert_allclose(one[1], other[2])
    assert one[1] @ one[1] == pytest.approx(1)
    assert abs(one[1] @ one[2]) < 0.5


def test_a_word_of_many_tokens_counts_once_and_only_where_it_is_searched():
    words, text = WordCodes.of(TEXTS), "trains boats ships"
    pieces = [(0, 3), (3, 6), (7, 12), (13, 18)]
    worth = words.worth(text, pieces, [0, 1, 3])
    assert worth[:2].sum() == pytest.approx(words.shares["train"])
    # Boats are not searched, ships are in no text.
    assert worth[2:].tolist() == [0, 0]
