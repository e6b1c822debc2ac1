"""Terms of Chinese text."""

from __future__ import annotations

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from qbench.quantities.chinese.tokens import pair_up, pieces, search_terms, tokenized, tokens
from qbench.retrieval.analysis import token_lists

HAN = st.text("净利润铜矿年产量亿元约", min_size=1, max_size=8)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("铜", ["铜"]),
        ("ＩＰＯ募资1,200.5万元", ["ipo", "募", "资", "募资", "1,200.5", "万", "元", "万元"]),
        ("5%；￥3", ["5", "%", "¥", "3"]),
        ("。，　", []),
    ],
)
def test_terms_are_characters_pairs_numbers_and_words(text, expected):
    assert search_terms(text) == expected


@given(HAN, HAN)
def test_the_terms_of_a_word_are_among_those_of_a_text_with_it(word, around):
    assert {*search_terms(word)} <= {*search_terms(around + word + around)}


@given(HAN.filter(lambda name: len(name) > 1))
def test_names_that_end_alike_have_parts_that_end_alike(name):
    assert tokens(f"总{name}")[-len(pair_up(name)) :] == list(pair_up(name))


@given(st.text(max_size=30))
def test_any_text_can_be_cut(text):
    assert all(term.strip() for term in search_terms(text))
    assert len(search_terms(text)) >= len(pieces(text))


def test_a_series_keeps_its_nulls_and_its_length():
    assert tokenized(pl.Series(["铜矿", None, ""])).to_list() == [["铜", "矿", "铜矿"], None, []]
    assert token_lists(["铜 矿"], "zh") == [["铜", "矿"]]
