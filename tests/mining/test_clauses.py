"""Headings glued to the word behind them: told from names, and blanked without moving anything."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from qbench.mining.english.clauses import MARK, sections, separate_headings
from qbench.quantities.english.tokens import tokenize


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Operating ActivitiesNet cash", "Net cash"),
        ("Total AssetsAs of May", "As of May"),
        ("Table of ContentsSupplemental flows", "Supplemental flows"),
        ("OverviewIn May", "In May"),
    ],
)
def test_a_glued_heading_ends_a_section(text, expected):
    blank = separate_headings(text)
    assert len(blank) == len(text)
    assert blank.partition(MARK)[2].strip() == expected


@pytest.mark.parametrize(
    "text", ["PayPal", "GlaxoSmithKline", "LexisNexis", "MasterCard", "iPhone", "McDonald", "JPMorgan", "Assets As", ""]
)
def test_names_stay(text):
    assert separate_headings(text) == text


@given(st.text(alphabet="aesntAESNT |.5", max_size=60))
def test_length_and_all_but_headings_stay(text):
    blank = separate_headings(text)
    assert len(blank) == len(text)
    assert all(b in (a, " ", MARK) for a, b in zip(text, blank, strict=True))


@given(st.text(alphabet="ab| ", max_size=30))
def test_sections_hold_each_token_once(text):
    tokens = tokenize(text)
    found = [k for section in sections(tokens) for k in section if k < len(tokens)]
    assert found == [k for k in range(len(tokens)) if tokens[k].text != MARK]
