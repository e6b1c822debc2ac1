"""Tokens."""

from __future__ import annotations

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from qbench.retrieval import analysis
from qbench.retrieval.analysis import token_ids, token_lists, tokens


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", []),
        ("The BMW M3: 530hp!", ["the", "bmw", "m3", "530", "hp"]),
        ("3.5%, $10,000 or €7.", ["3.5", "%", "$", "10,000", "or", "€", "7"]),
        ("don't re-enter café №5", ["don", "t", "re", "enter", "café", "5"]),
        ("max_speed ₹5 5‰", ["max_speed", "₹", "5", "5", "‰"]),
    ],
)
def test_tokens(text, expected):
    assert tokens(text) == expected


@given(st.lists(st.text(alphabet="ab1.,% $é", max_size=12), max_size=9), st.integers(1, 4))
@settings(max_examples=30, deadline=None)
def test_ids_say_the_same_as_tokens_whatever_the_chunks(texts, chunk):
    whole = analysis.CHUNK
    analysis.CHUNK = chunk
    try:
        vocabulary, ids, lengths = token_ids(pl.Series(texts, dtype=pl.String))
    finally:
        analysis.CHUNK = whole
    flat = [token for text in token_lists(texts) for token in text]
    assert [vocabulary[i] for i in ids] == flat
    assert lengths.tolist() == [len(tokens(text)) for text in texts]
    assert vocabulary == list(dict.fromkeys(flat))
